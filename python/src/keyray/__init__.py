"""keyray: indexes over columns in the memory of a GPU or CPU."""
from ._devices import Device, devices
from ._errors import (ArgumentError, CancelledError, ColumnTypeError, DeviceError, FileError, FormatError,
                      InternalError, InvariantError, KeyrayError, LimitError, NoDeviceError, OutOfMemoryError,
                      SpecError, UnsupportedError)
from ._library import lib as _lib
from ._progress import progress

__version__: str = _lib.kr_version().decode()
