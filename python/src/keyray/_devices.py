"""Devices, which all objects share, and what guards an object: changes against lookups, and forks."""
from __future__ import annotations

import ctypes
import os
import threading
import weakref
from collections.abc import Callable
from typing import Any

from . import _progress
from . import _structs as c
from ._errors import ArgumentError
from ._library import call, lib, thread_error


class Device:
    """A device of this machine: "cpu", "cuda" (the first GPU), "cuda:1", or "auto" (a GPU if there is one).

    Objects made with one name share one Device. Make one of your own for fewer threads or a cap of memory:
    `Device("cpu", threads=1)`.
    """

    def __init__(self, name: str = "auto", *, threads: int = 0, memory_cap: int = 0) -> None:
        options = c.kr_device_options(struct_size=ctypes.sizeof(c.kr_device_options), threads=threads,
                                      memory_cap_nbytes=memory_cap, progress=_progress.STRUCT)
        self._options = options
        handle = ctypes.c_void_p()
        call(lib.kr_device_open, _text(name), ctypes.byref(options), ctypes.byref(handle))
        self.handle: int | None = handle.value
        self._streams: dict[int, int] = {}
        self.name: str = str(self.info["name"])
        self.kind: str = self.name.partition(":")[0]
        self._finalizer = weakref.finalize(self, _close_device, handle.value or 0, self._streams, os.getpid())
        self._finalizer.atexit = False
        _alive.add(self)

    @property
    def info(self) -> dict[str, Any]:
        """What the device is, and the memory that is in use there."""
        made = c.kr_device_info(struct_size=ctypes.sizeof(c.kr_device_info))
        call(lib.kr_device_query, self.usable(), ctypes.byref(made))
        return facts(made)

    def usable(self) -> int:
        """The handle, or an error: devices of a GPU do not live on in forked processes."""
        if self.handle is None:
            raise ArgumentError(FORKED)
        return self.handle

    def stream_of(self, native: int | None) -> int | None:
        """The kr_stream of a cudaStream_t, wrapped once; None: the device's own."""
        if native is None or self.kind != "cuda":
            return None
        if native not in self._streams:
            handle = ctypes.c_void_p()
            call(lib.kr_stream_wrap_cuda, self.usable(), native, ctypes.byref(handle))
            self._streams[native] = handle.value or 0
        return self._streams[native]

    def check(self, *columns: Any) -> None:
        """Refuses columns that the device cannot read: those in device memory, where the device is a CPU."""
        if self.kind == "cpu":
            for column in columns:
                if column is not None and column.on_device:
                    raise ArgumentError(f"column {column.name or 'given'!r} is in device memory, and this works on the "
                                        "CPU: bring the column to the host, or ask for device=\"cuda\"")

    def settle(self, *columns: Any) -> None:
        """The same, and waits for the streams that columns are made on, for calls that take no stream."""
        self.check(*columns)
        for native in {column.stream for column in columns if column is not None and column.on_device}:
            if native is not None:
                call(lib.kr_device_sync, self.usable(), self.stream_of(native))

    def after_fork(self) -> None:
        """In the child: a CPU goes on, a GPU cannot."""
        if self.kind != "cpu":
            self.handle = None

    def __repr__(self) -> str:
        if self.handle is None:
            return f"<keyray.Device {self.name!r}, not usable in a forked process>"
        info = self.info
        return (f"<keyray.Device {self.name!r}: {info['description']}, {info['software']}, "
                f"{_size(info['in_use_nbytes'])} in use>")


FORKED = ("this object is of a GPU and was made before the process forked; CUDA does not live on in the child: make or "
          "load it there, or start processes with the method \"spawn\"")

_shared: dict[str, Device] = {}
_shared_lock = threading.Lock()
_alive: weakref.WeakSet[Any] = weakref.WeakSet()


def _close_device(handle: int, streams: dict[int, int], pid: int) -> None:
    if pid == os.getpid():
        for stream in streams.values():
            lib.kr_stream_destroy(stream)
        lib.kr_device_close(handle)


def device_of(wanted: str | Device) -> Device:
    """The shared device of that name; a Device is returned as it is."""
    if isinstance(wanted, Device):
        return wanted
    if not isinstance(wanted, str):
        raise ArgumentError(f"a device is a name such as \"cpu\" or a keyray.Device, not {type(wanted).__name__}")
    with _shared_lock:
        device = _shared.get(wanted)
        if device is None:
            device = Device(wanted)
            device = _shared.setdefault(device.name, device)
            _shared[wanted] = device
    return device


def devices() -> list[dict[str, Any]]:
    """What this machine has: the CPU first, then GPUs. Starts nothing on them."""
    found = []
    for ordinal in range(lib.kr_device_count()):
        made = c.kr_device_info(struct_size=ctypes.sizeof(c.kr_device_info))
        call(lib.kr_device_describe, ordinal, ctypes.byref(made))
        found.append(facts(made))
    return found


def facts(struct: Any) -> dict[str, Any]:
    """The fields of an output struct, texts as str."""
    made = {}
    for name, _kind in struct._fields_:
        value = getattr(struct, name)
        if name not in ("struct_size", "reserved"):
            made[name] = value.decode(errors="replace") if isinstance(value, bytes) else value
    return made


def names_of(count: Any, name: Any, value: Any, handle: int) -> dict[str, Any]:
    """A list by ordinal as a dict: phases, components, counters. Equal names are added up."""
    made: dict[str, Any] = {}
    for ordinal in range(count(handle)):
        key = name(handle, ordinal).decode()
        made[key] = made.get(key, 0) + value(handle, ordinal)
    return made


def _text(value: str) -> bytes:
    if "\0" in value:
        raise ArgumentError(f"a text has a zero byte: {value!r}")
    return value.encode()


def _size(nbytes: int) -> str:
    for unit in ("B", "KiB", "MiB"):
        if nbytes < 1024:
            return f"{nbytes:.0f} {unit}" if unit == "B" else f"{nbytes:.1f} {unit}"
        nbytes /= 1024  # type: ignore[assignment]
    return f"{nbytes:.2f} GiB"


class Gate:
    """Lets any number of threads look up, or one thread change: the change waits for lookups, lookups for it.

    Lookups call enter() and leave(), changes enter_alone() and leave_alone(). Each pair is written with the first inside
    `try` and the second in `finally`, since Ctrl-C may come between a call and a `try` behind it; leave() without enter()
    does nothing. A change that waits goes before lookups that come later. A thread may enter again while it is inside, as in
    a callback; a change there would wait for itself: an error.
    """

    __slots__ = ("_lock", "_condition", "_inside", "_changer", "_waiting", "_locked", "_broken", "beside", "__weakref__")

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._condition = threading.Condition(self._lock)
        self._inside: dict[int, int] = {}  # how often each thread has entered
        self._waiting = 0
        self._changer: int | None = None
        self._broken = False  # a change of a thread that a fork left behind
        # Locks of others that look up, as pairs of functions: before a change, and after it.
        self.beside: list[tuple[Callable[[], None], Callable[[], None]]] = []
        self._locked: list[Callable[[], None]] = []
        _alive.add(self)

    def enter(self) -> None:
        """Before a lookup."""
        me = threading.get_ident()
        with self._lock:
            if self._changer is not None or self._waiting:
                self._wait_to_enter(me)
            self._inside[me] = self._inside.get(me, 0) + 1

    def _wait_to_enter(self, me: int) -> None:
        if self._changer == me:
            raise ArgumentError("this thread is changing the object: it cannot be used before that has ended")
        self._check_whole()
        if me in self._inside:  # the change waits for this thread
            return
        while self._changer is not None or self._waiting:
            self._condition.wait()

    def _check_whole(self) -> None:
        if self._broken:
            raise ArgumentError("another thread was changing the object when this process was forked, and left it half "
                                "changed: make or load it anew here")

    def leave(self) -> None:
        """After a lookup."""
        me = threading.get_ident()
        with self._lock:
            depth = self._inside.get(me, 0) - 1
            if depth > 0:
                self._inside[me] = depth
            elif depth == 0:
                del self._inside[me]
                if self._waiting and not self._inside:
                    self._condition.notify_all()

    def enter_alone(self) -> None:
        """Before a change."""
        me = threading.get_ident()
        with self._lock:
            if self._changer == me:
                raise ArgumentError("this thread is changing the object already")
            self._check_whole()
            if me in self._inside:
                raise ArgumentError("this thread is in a lookup of the object, whose callback cannot change it: change it "
                                    "when the lookup has ended")
            self._waiting += 1
            try:
                while self._inside or self._changer is not None:
                    self._condition.wait()
                self._changer = me
            except BaseException:  # Ctrl-C: lookups that let this change go first must not wait for it
                self._condition.notify_all()
                raise
            finally:
                self._waiting -= 1
        for before, after in self.beside:
            before()
            self._locked.append(after)

    def leave_alone(self) -> None:
        """After a change."""
        if self._changer != threading.get_ident():
            return
        while self._locked:
            self._locked.pop()()
        with self._lock:
            self._changer = None
            self._condition.notify_all()

    def after_fork(self) -> None:
        """In the child, where of all threads only the one lives that forked."""
        self._lock = threading.Lock()
        self._condition = threading.Condition(self._lock)
        me = threading.get_ident()
        self._inside = {me: self._inside[me]} if me in self._inside else {}
        self._waiting = 0
        self._broken = self._changer not in (None, me)


def watch_forks(made: Any) -> None:
    """Calls made.after_fork() in processes that are forked from this one, as long as it lives."""
    _alive.add(made)


def _after_fork() -> None:
    global _shared_lock
    _shared_lock = threading.Lock()
    for name, device in list(_shared.items()):
        if device.kind != "cpu":
            del _shared[name]
    for made in list(_alive):
        made.after_fork()


os.register_at_fork(after_in_child=_after_fork)

__all__ = ["Device", "Gate", "device_of", "devices", "facts", "names_of", "thread_error", "watch_forks"]
