"""The shared library: where it is, its functions, and how a call fails.

    lib.kr_index_query(...)     a function of the headers, with the types that _structs.py has
    call(lib.kr_x, a, b)        calls kr_x(a, b, err) and raises what it reports
"""
from __future__ import annotations

import ctypes
import os
import threading
from pathlib import Path
from typing import Any

from . import _structs as c
from ._errors import error_of

__all__ = ["address", "call", "check", "lib", "library_path", "thread_error"]


def _find() -> str:
    chosen = os.environ.get("KEYRAY_LIBRARY")
    if chosen:
        if not os.path.exists(chosen):
            raise ImportError(f"KEYRAY_LIBRARY names {chosen}, which is not there")
        return chosen
    packed = Path(__file__).with_name("libkeyray.so")
    if packed.exists():
        return str(packed)
    raise ImportError(f"keyray's library is not in the package: {packed} is missing. Install the wheel, build with "
                      "`pip install ./python`, or let the environment variable KEYRAY_LIBRARY name a libkeyray.so")


class _Library:
    """The functions of the library, each with its types. Those that an older library lacks fail when used."""

    def __init__(self, path: str) -> None:
        try:
            self._cdll = ctypes.CDLL(path)
        except OSError as cause:
            raise ImportError(f"keyray's library {path} cannot be loaded: {cause}") from None
        for name, (result, arguments) in c.FUNCTIONS.items():
            try:
                function = getattr(self._cdll, name)
            except AttributeError:
                continue
            function.restype = result
            function.argtypes = arguments
            setattr(self, name, function)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"{library_path} is keyray {self._version()}, which has no function {name}; this package "
                             f"is made for {c.KR_VERSION_STRING}")

    def _version(self) -> str:
        return str(self._cdll.kr_version().decode())


library_path: str = _find()
lib: Any = _Library(library_path)

if lib.kr_version().decode().split(".")[:2] != c.KR_VERSION_STRING.split(".")[:2]:
    raise ImportError(f"{library_path} is keyray {lib.kr_version().decode()}; this package is made for "
                      f"{c.KR_VERSION_STRING}")

_local = threading.local()


def thread_error() -> Any:
    """A reference to the kr_error of this thread, to hand to one call at a time."""
    try:
        return _local.reference
    except AttributeError:
        _local.error = c.kr_error()
        _local.reference = ctypes.byref(_local.error)
        return _local.reference


def check(status: int, err: Any = None) -> None:
    """Raises what a call reported with a status other than KR_OK; `err`: what was passed, None: thread_error()."""
    if status != c.KR_OK:
        raise error_of(_local.error if err is None else getattr(err, "_obj", err))


def call(function: Any, *arguments: Any) -> None:
    """Calls a function that returns a status and takes a kr_error last; raises what it reports."""
    if function(*arguments, thread_error()) != c.KR_OK:
        raise error_of(_local.error)


def address(struct: Any) -> int:
    """Where a ctypes struct or array lies."""
    return ctypes.addressof(struct)
