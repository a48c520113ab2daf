"""keyray: indexes over columns in the memory of a GPU or CPU, which answer lookups in bulk.

    import keyray
    index = keyray.Index(keys, values={"price": price})
    index.lookup(probes)                          # row ids
    index.range(low, high).sum("price")
"""
from ._devices import Device, devices
from ._errors import (ArgumentError, CancelledError, ColumnTypeError, DeviceError, FileError, FormatError,
                      InternalError, InvariantError, KeyrayError, LimitError, NoDeviceError, OutOfMemoryError,
                      SpecError, UnsupportedError)
from ._index import Index, IndexInfo
from ._library import lib as _lib
from ._prepared import Prepared
from ._progress import progress
from ._range import Range
from ._saved import load

__version__: str = _lib.kr_version().decode()

__all__ = ["ArgumentError", "CancelledError", "ColumnTypeError", "Device", "DeviceError", "FileError", "FormatError",
           "Index", "IndexInfo", "InternalError", "InvariantError", "KeyrayError", "LimitError", "NoDeviceError",
           "OutOfMemoryError", "Prepared", "Range", "SpecError", "UnsupportedError", "devices", "load", "progress"]
