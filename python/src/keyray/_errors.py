"""Errors: a class for each group of statuses, which is also the class of Python's that callers expect."""
from __future__ import annotations

from . import _structs as c


class KeyrayError(Exception):
    """What a call of keyray refused, and why. `status` is the number, `status_name` the name in keyray's headers."""

    status: int = c.KR_ERR_INTERNAL
    vendor_code: int = 0
    vendor_call: str = ""

    @property
    def status_name(self) -> str:
        """The status as the headers write it, "KR_ERR_SPEC" for example."""
        return STATUS_NAMES.get(self.status, f"status {self.status}")


class ArgumentError(KeyrayError, ValueError):
    """The call is wrong: lengths that differ, a wrong option, an object that is closed."""

    status = c.KR_ERR_ARGUMENT


class ColumnTypeError(KeyrayError, TypeError):
    """A column has a type that is not possible here, or that does not go with another one."""

    status = c.KR_ERR_TYPE


class SpecError(KeyrayError, ValueError):
    """An unknown kind of index, option or value."""

    status = c.KR_ERR_SPEC


class LimitError(KeyrayError, ValueError):
    """More rows, or a larger result, than a call can hold."""

    status = c.KR_ERR_LIMIT


class UnsupportedError(KeyrayError, NotImplementedError):
    """The kind of index cannot do that on this device."""

    status = c.KR_ERR_UNSUPPORTED


class NoDeviceError(KeyrayError, OSError):
    """There is no such device on this machine."""

    status = c.KR_ERR_NO_DEVICE


class OutOfMemoryError(KeyrayError, MemoryError):
    """Memory of the host or of the device does not suffice, or a cap is reached."""

    status = c.KR_ERR_HOST_MEMORY


class DeviceError(KeyrayError, RuntimeError):
    """The device failed. With KR_ERR_DEVICE_LOST only a new process helps."""

    status = c.KR_ERR_DEVICE


class FileError(KeyrayError, OSError):
    """The system refused to open, read, write or rename a file."""

    status = c.KR_ERR_IO


class FormatError(KeyrayError, ValueError):
    """A file, or bytes, are malformed; the text names the place."""

    status = c.KR_ERR_FORMAT


class InvariantError(KeyrayError, RuntimeError):
    """`validate` found an index broken."""

    status = c.KR_ERR_INVARIANT


class CancelledError(KeyrayError, RuntimeError):
    """A callback of `progress` asked to stop; nothing has changed."""

    status = c.KR_ERR_CANCELLED


class InternalError(KeyrayError, RuntimeError):
    """A fault of keyray itself."""

    status = c.KR_ERR_INTERNAL


STATUS_NAMES = {value: name for name, value in vars(c).items() if name.startswith("KR_ERR_")}
STATUS_NAMES[c.KR_OK] = "KR_OK"

_CLASSES: dict[int, type[KeyrayError]] = {kind.status: kind for kind in (
    ArgumentError, ColumnTypeError, SpecError, LimitError, UnsupportedError, NoDeviceError, OutOfMemoryError,
    DeviceError, FileError, FormatError, InvariantError, CancelledError, InternalError)}
_CLASSES[c.KR_ERR_DEVICE_MEMORY] = OutOfMemoryError
_CLASSES[c.KR_ERR_DEVICE_LOST] = DeviceError


def error_of(err: c.kr_error) -> KeyrayError:
    """The exception that a failed call's kr_error describes."""
    made = _CLASSES.get(err.status, InternalError)(err.text.decode(errors="replace"))
    made.status = err.status
    made.vendor_code = err.vendor_code
    made.vendor_call = err.vendor_call.decode(errors="replace")
    if err.status == c.KR_ERR_IO and err.vendor_code:
        made.errno = err.vendor_code  # type: ignore[attr-defined]
    return made
