"""Prepared lookups: bound once, run many times."""
from __future__ import annotations

import ctypes
import weakref
from typing import TYPE_CHECKING, Any

from . import _progress
from ._errors import ArgumentError, error_of
from ._library import call, lib, thread_error
from ._results import Answers, Room
from ._types import Column

if TYPE_CHECKING:
    from ._index import Index
    from ._query import Query


class Prepared:
    """Probes and an array for answers, bound to an index.

    The contents of the probes may change between runs, their memory may not. `result` has the answers of the last run
    in the caller's kind; it is a view of the array, where the kind allows it.
    """

    __slots__ = ("_index", "_query", "_room", "_handle", "_finalizer", "_err", "_err_at", "_out", "__weakref__")

    def __init__(self, index: Index, query: Query, result: int, values: Column | None, out: Any) -> None:
        self._index, self._query, self._out = index, query, out
        index._device.check(*query.columns, query.upper, values)
        self._room = Room(Answers(query.like, query.count), result, values, out)
        _, arguments = query.bound()
        try:
            index._gate.enter()
            self._handle: int | None = _progress.create(
                query.preparer(), lib.kr_prepared_destroy, index._handle or index._gone(), *arguments,
                self._room.reference)
            index._prepared.add(self)
        finally:
            index._gate.leave()
        # The index stays as long as this: the finalizer keeps it.
        self._finalizer = weakref.finalize(self, _destroy, self._handle, index)
        self._finalizer.atexit = False
        thread_error()
        from . import _structs as c
        self._err = c.kr_error()
        self._err_at = ctypes.byref(self._err)

    def run(self, stream: int | None = None) -> Any:
        """Looks up again and returns the array of answers. `stream`: a cudaStream_t as an int, to enqueue on."""
        index = self._index
        gate = index._gate
        try:
            gate.enter()
            if self._handle is None or index._handle is None:
                raise ArgumentError("the prepared lookup, or its index, is closed")
            native = None if stream is None else index._device.stream_of(stream)
            if lib.kr_prepared_run(self._handle, native, self._err_at):
                raise error_of(self._err)
        finally:
            gate.leave()
        return self._room.out if self._out is None else self._out

    def rebind(self, index: Index) -> None:
        """Goes on with another index of the same kind, device and key type, as a version of the one that it has
        (Index.next_version): later runs look up there. Close the old index afterwards, not before.
        """
        before = self._index
        try:
            before._gate.enter()
            try:
                index._gate.enter()
                if self._handle is None:
                    raise ArgumentError("the prepared lookup, or its index, is closed")
                call(lib.kr_prepared_rebind, self._handle, index._handle or index._gone())
                self._finalizer.detach()
                self._finalizer = weakref.finalize(self, _destroy, self._handle, index)
                self._finalizer.atexit = False
                self._index = index
                before._prepared.discard(self)
                index._prepared.add(self)
            finally:
                index._gate.leave()
        finally:
            before._gate.leave()

    @property
    def result(self) -> Any:
        """The answers of the last run, in the caller's kind."""
        return self._room.made(self._index._wide)

    @property
    def is_recorded(self) -> bool:
        """Whether runs replay a CUDA graph."""
        return bool(lib.kr_prepared_is_recorded(self._handle)) if self._handle else False

    @property
    def scratch_nbytes(self) -> int:
        """Device memory that it holds."""
        return int(lib.kr_prepared_scratch_nbytes(self._handle)) if self._handle else 0

    def close(self) -> None:
        """Releases it. Waits for runs of other threads."""
        gate = self._index._gate
        try:
            gate.enter_alone()
            self.end()
        finally:
            gate.leave_alone()

    def end(self) -> None:
        """What close() does, in the gate."""
        self._handle = None
        self._finalizer()

    def __repr__(self) -> str:
        state = "closed" if self._handle is None else f"{self._query.count} probes"
        return f"<keyray.Prepared: {state}>"


def _destroy(handle: int, index: Index) -> None:
    if index._device.handle is not None:
        lib.kr_prepared_destroy(handle)
