"""keyray: indexes over columns in the memory of a GPU or CPU, which answer lookups in bulk.

    import keyray
    index = keyray.Index(keys, values={"price": price})
    index.lookup(probes)                          # row ids
    index.range(low, high).sum("price")
    table = keyray.Table(frame)
    table.where("a < 5 and b between 3 and 7").count()
    keyray.merge_asof(trades, quotes, on="time", by="symbol")
"""
from . import _table_files as _table_files
from ._advise import Advice, AdviceKind, advise
from ._conditions import Condition, col
from ._devices import Device, devices
from ._errors import (ArgumentError, CancelledError, ColumnTypeError, DeviceError, FileError, FormatError,
                      InternalError, InvariantError, KeyrayError, LimitError, NoDeviceError, OutOfMemoryError,
                      SpecError, UnsupportedError)
from ._frames import merge, merge_asof, merge_overlap
from ._index import Index, IndexInfo
from ._joins import join, join_asof, join_chunks, join_overlap, join_range
from ._library import lib as _lib
from ._prepared import Prepared
from ._progress import progress
from ._range import Range
from ._saved import load
from ._table import Selection, Table

__version__: str = _lib.kr_version().decode()

__all__ = ["Advice", "AdviceKind", "ArgumentError", "CancelledError", "ColumnTypeError", "Condition", "Device", "DeviceError", "FileError",
           "FormatError", "Index", "IndexInfo", "InternalError", "InvariantError", "KeyrayError", "LimitError",
           "NoDeviceError", "OutOfMemoryError", "Prepared", "Range", "Selection", "SpecError", "Table",
           "UnsupportedError", "advise", "col", "devices", "join", "join_asof", "join_chunks", "join_overlap", "join_range", "load",
           "merge", "merge_asof", "merge_overlap", "progress"]
