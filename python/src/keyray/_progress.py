"""Progress of long calls, and Ctrl-C.

The library calls back from long calls on the thread that made them. An exception in such a callback would be lost, so
the callback returns a number that cancels the call, and what should be raised is raised when the call is back.

Python runs handlers of signals between instructions of the main thread, thus in the callback, where the usual
KeyboardInterrupt would be lost, too. So long calls of the main thread have a handler of their own meanwhile, which only
notes the signal; the old one is put back and called behind the call.
"""
from __future__ import annotations

import ctypes
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from . import _structs as c
from ._errors import error_of
from ._library import thread_error

# Lookups of fewer probes never call back: the library does so after every 2^22 elements.
LONG = 1 << 22

Report = Callable[[str, float], Any]


class _Watched(threading.local):
    """What this thread wants to be told, and what has come up in its call."""

    report: Report | None = None
    raised: BaseException | None = None
    interrupted: bool = False


_watched = _Watched()


def _call_back(_ctx: int | None, phase: bytes, fraction: float) -> int:
    if _watched.interrupted or _watched.raised:
        return 1
    if _watched.report is None:
        return 0
    try:
        return 1 if _watched.report(phase.decode(), fraction) else 0
    except BaseException as raised:  # noqa: BLE001 - handed on by run_long
        _watched.raised = raised
        return 1


_CALLBACK = dict(c.kr_progress._fields_)["call"](_call_back)  # type: ignore[arg-type]
STRUCT = c.kr_progress(call=_CALLBACK)
POINTER = ctypes.byref(STRUCT)


def run_long(function: Callable[..., int], *arguments: Any) -> None:
    """Calls a function as `_library.call` does, so that Ctrl-C and `progress` reach it."""
    old = _replaced_signal()
    err = thread_error()
    try:
        if old is not None:
            signal.signal(signal.SIGINT, _note_interrupt)
        status = function(*arguments, err)
    finally:
        if old is not None:
            _put_back(old)
        interrupted, raised = _watched.interrupted, _watched.raised
        _watched.interrupted, _watched.raised = False, None
    if interrupted and callable(old):
        old(signal.SIGINT, sys._getframe())
    if raised is not None:
        raise raised
    if status != c.KR_OK:
        raise error_of(err._obj)


def run_change(function: Callable[..., int], then: Callable[[], None], *arguments: Any) -> None:
    """As run_long, of a change. `then` is called once it is made, also where Ctrl-C came too late to stop it."""
    def noted(*given: Any) -> int:
        status = function(*given)
        if status == c.KR_OK:
            then()
        return status

    run_long(noted, *arguments)


def create(function: Callable[..., int], destroy: Callable[[Any], None], *arguments: Any) -> int:
    """Calls a function that makes an object, and returns its handle. Interrupted when it was made, it is destroyed."""
    handle = ctypes.c_void_p()
    try:
        run_long(function, *arguments, ctypes.byref(handle))
    except BaseException:
        if handle.value:
            destroy(handle)
        raise
    return handle.value or 0


def _replaced_signal() -> Any:
    """The handler written in Python in whose place ours is put; None: there is none, or we are not in the main thread."""
    if threading.current_thread() is not threading.main_thread():
        return None
    old = signal.getsignal(signal.SIGINT)
    if not callable(old) or old is _note_interrupt:
        return None
    try:
        signal.signal(signal.SIGINT, old)
    except ValueError:  # a main thread of an interpreter that is not the main one
        return None
    return old


def _put_back(old: Any) -> None:
    try:
        signal.signal(signal.SIGINT, old)
    except BaseException:  # the handler of another signal has raised
        signal.signal(signal.SIGINT, old)
        raise


def _note_interrupt(_number: int, _frame: Any) -> None:
    _watched.interrupted = True


@contextmanager
def progress(report: Report | str | None = None) -> Iterator[None]:
    """Within this context, long calls of this thread tell how far they are.

    `report` is called with the name of a phase and a fraction from 0 to 1; where it returns something true the call
    is cancelled (CancelledError), and what it raises is raised by the call. Another thread can cancel by way of it:
    `with keyray.progress(lambda phase, fraction: event.is_set())`. Without `report`, or with a text to begin the line
    with, a bar is drawn on standard error.
    """
    before = _watched.report
    bar = None if callable(report) else Bar(report or "keyray")
    _watched.report = report if callable(report) else bar
    try:
        yield
    finally:
        _watched.report = before
        if bar is not None:
            bar.close()


class Bar:
    """A line on standard error, of the look of tqdm's: `keyray: sort:  45%|####      | [00:01<00:01]`."""

    WIDTH = 24

    def __init__(self, title: str, out: Any = None) -> None:
        self._title, self._out = title, out or sys.stderr
        self._start = self._last = time.monotonic()
        self._phase = ""
        self._drawn = 0

    def __call__(self, phase: str, fraction: float) -> None:
        now = time.monotonic()
        if phase != self._phase:
            self._phase, self._start = phase, now
        elif now - self._last < 0.1 and fraction < 1:
            return
        self._last = now
        fraction = min(max(fraction, 0.0), 1.0)
        spent = now - self._start
        left = _clock(spent / fraction - spent) if fraction > 0 else "?"
        full = int(self.WIDTH * fraction)
        line = (f"{self._title}: {phase}: {100 * fraction:3.0f}%|{'█' * full}{' ' * (self.WIDTH - full)}| "
                f"[{_clock(spent)}<{left}]")
        self._out.write("\r" + line.ljust(self._drawn))
        self._out.flush()
        self._drawn = len(line)

    def close(self) -> None:
        """Ends the line, if anything was drawn."""
        if self._drawn:
            self._out.write("\n")
            self._out.flush()


def _clock(seconds: float) -> str:
    minutes, second = divmod(int(seconds), 60)
    return f"{minutes:02d}:{second:02d}"
