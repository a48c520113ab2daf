"""Indexes in files and in pickles: what the library saves, with the values and the types of the keys beside it."""
from __future__ import annotations

import ctypes
import json
import os
import pickle
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _progress
from . import _structs as c
from ._devices import Device, device_of, facts
from ._errors import FormatError
from ._library import call, lib
from ._query import Values
from ._types import DTYPES, Column, array_at

if TYPE_CHECKING:
    from ._index import Index

FORMAT = 1
_HEAD = "python"


class Saved:
    """A file, or bytes, that are open; what was loaded from a file may go on using its mapped memory."""

    def __init__(self, handle: int, memory: Any = None) -> None:
        self.handle, self.memory = handle, memory
        weakref.finalize(self, _close, handle, memory).atexit = False

    @classmethod
    def open(cls, path: str | os.PathLike[str], verify: bool = True) -> Saved:
        """Opens a file. Without `verify` its bytes are trusted."""
        return cls(_open(lib.kr_saved_open, os.fsencode(path), verify=verify))

    @classmethod
    def of_bytes(cls, data: Any) -> Saved:
        """Opens bytes."""
        raw = np.frombuffer(data, np.uint8)
        if raw.ctypes.data % 8:
            raw = raw.copy()
        return cls(_open(lib.kr_saved_open_memory, raw.ctypes.data, len(raw)), raw)

    @property
    def info(self) -> dict[str, Any]:
        """What it holds."""
        made = c.kr_saved_info(struct_size=ctypes.sizeof(c.kr_saved_info))
        call(lib.kr_saved_query, self.handle, ctypes.byref(made))
        return facts(made)

    def attachment(self, name: str) -> np.ndarray[Any, Any] | None:
        """The bytes that were saved under a name, where they lie; None: there are none."""
        nbytes = ctypes.c_uint64()
        at = lib.kr_saved_attachment(self.handle, name.encode(), ctypes.byref(nbytes))
        return array_at(at, np.dtype("u1"), nbytes.value) if at else None

    def head(self) -> dict[str, Any]:
        """What this package wrote beside an index or a table; {} where another program saved it."""
        raw = self.attachment(_HEAD)
        if raw is None:
            return {}
        try:
            head = json.loads(raw.tobytes())
            version = int(head["format"])
        except (ValueError, KeyError, TypeError):
            raise FormatError("the file was saved by this package, but what it says of its columns is broken") from None
        if version > FORMAT:
            raise FormatError(f"the file was saved by a newer package, keyray {head.get('package')}, in format {version}; "
                              f"this one, {c.KR_VERSION_STRING}, reads formats up to {FORMAT}: upgrade it")
        return dict(head)


def _close(handle: int, _memory: Any) -> None:
    lib.kr_saved_close(handle)


def _open(function: Any, *arguments: Any, verify: bool = True) -> int:
    options = c.kr_saved_options(struct_size=ctypes.sizeof(c.kr_saved_options),
                                 verify=c.KR_VERIFY_ALL if verify else c.KR_VERIFY_HEADER,
                                 progress=ctypes.pointer(_progress.STRUCT))
    return _progress.create(function, lib.kr_saved_close, *arguments, ctypes.byref(options))


# ---- What is written beside an index ----


class Attachments:
    """Bytes by name, as the library takes them."""

    def __init__(self, head: dict[str, Any]) -> None:
        self.head = {"format": FORMAT, "package": c.KR_VERSION_STRING, **head}
        self.parts: list[tuple[str, np.ndarray[Any, Any]]] = []

    def add(self, name: str, data: np.ndarray[Any, Any]) -> None:
        """Adds bytes, which are kept."""
        self.parts.append((name, np.ascontiguousarray(data)))

    def options(self) -> Any:
        """The kr_save_options, which point into this object."""
        self._text = json.dumps(self.head).encode()
        self._struct = (c.kr_attachment * (len(self.parts) + 1))()
        head = np.frombuffer(self._text, np.uint8)
        for made, (name, data) in zip(self._struct, [(_HEAD, head), *self.parts]):
            made.name, made.data, made.nbytes = name.encode(), data.ctypes.data, data.nbytes
        self._options = c.kr_save_options(ctypes.sizeof(c.kr_save_options), self._struct, len(self._struct))
        return ctypes.byref(self._options)


def _described(index: Index) -> Attachments:
    columns = index._values.columns
    made = Attachments({
        "keys": [[like.type, like.unit, like.zone] for like in index._likes],
        "values": [[name, column.type, column.unit, column.zone, column.count] for name, column in columns.items()],
        "device": index._device.name,
    })
    for i, column in enumerate(columns.values()):
        made.add(f"values {i}", _on_host(column, index._device))
        if column.struct.validity:
            valid: Any = column.valid() if not column.on_device else _bits_on_host(column, index._device)
            made.add(f"validity {i}", np.packbits(valid, bitorder="little"))
    if index._nulls is not None:
        made.add("nulls", index._nulls)
    return made


def _on_host(column: Column, device: Device) -> np.ndarray[Any, Any]:
    if not column.on_device:
        return column.values()
    return _copied(device, column.struct.data, column.count * DTYPES[column.type].itemsize)


def _bits_on_host(column: Column, device: Device) -> np.ndarray[Any, Any]:
    first = column.struct.validity_offset
    raw = _copied(device, column.struct.validity + first // 8, (first % 8 + column.count + 7) // 8)
    return np.unpackbits(raw, count=first % 8 + column.count, bitorder="little")[first % 8:]


def _copied(device: Device, start: int, nbytes: int) -> np.ndarray[Any, Any]:
    made = np.empty(nbytes, np.uint8)
    if nbytes:
        call(lib.kr_memory_copy, device.usable(), made.ctypes.data, start, nbytes, None)
    return made


def save_index(index: Index, path: str | os.PathLike[str]) -> None:
    """Index.save."""
    try:
        index._gate.enter()
        beside = _described(index)
        _progress.run_long(lib.kr_index_save, index._handle or index._gone(), os.fsencode(path), beside.options(),
                           _progress.POINTER)
    finally:
        index._gate.leave()


# ---- Loading ----


def load(path: str | os.PathLike[str], *, device: str | Device = "auto", verify: bool = True) -> Any:
    """The index, or the table, that was saved to a file.

    On a CPU it stays in the mapped file, so that processes share one copy. `verify=False` trusts the file: only what
    lookups touch is read.
    """
    return loaded(Saved.open(path, verify), device)


def loaded(saved: Saved, device: str | Device) -> Any:
    """What an open file holds."""
    what = saved.info["what"]
    if what not in LOADERS:
        raise FormatError("the file holds a table, which this package cannot load")
    return LOADERS[what](saved, device)


def load_index(saved: Saved, device: str | Device) -> Index:
    """The index of an open file."""
    from ._index import Index
    head, where = saved.head(), device_of(device)
    handle = _progress.create(lib.kr_index_load, lib.kr_index_destroy, where.usable(), saved.handle, None)
    made = Index.__new__(Index)
    values = Values(None)
    for i, (name, type, unit, zone, count) in enumerate(head.get("values", [])):
        values.columns[name] = _column(saved, i, type, unit, zone, count)
    nulls = saved.attachment("nulls")
    made._set_up(handle, where, _keys(saved, head), values,
                 None if nulls is None else nulls.view(np.uint32).copy())
    return made


def _keys(saved: Saved, head: dict[str, Any]) -> list[Column]:
    if "keys" in head:
        return [Column("numpy", type, 0, None, None, unit=unit, zone=zone) for type, unit, zone in head["keys"]]
    keys = []
    for i in range(saved.info["n_columns"]):
        type, unit, texts = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
        call(lib.kr_saved_column, saved.handle, i, None, ctypes.byref(type), ctypes.byref(unit), ctypes.byref(texts))
        kind = c.KR_LARGE_STRING if texts.value == 2 else type.value
        keys.append(Column("numpy", kind, 0, None, None, unit=unit.value))
    return keys


def _column(saved: Saved, i: int, type: int, unit: int, zone: str, count: int) -> Column:
    data, bits = saved.attachment(f"values {i}"), saved.attachment(f"validity {i}")
    if data is None or len(data) != count * DTYPES[type].itemsize or (bits is not None and 8 * len(bits) < count):
        if count:
            raise FormatError(f"the file lacks bytes of values {i}")
        data = np.empty(0, np.uint8)
    if data.ctypes.data % DTYPES[type].itemsize:
        data = data.copy()
    return Column("numpy", type, count, data.ctypes.data, (saved, data, bits), unit=unit, zone=zone,
                  validity=None if bits is None else bits.ctypes.data)


LOADERS: dict[int, Callable[[Saved, Any], Any]] = {c.KR_SAVED_INDEX: load_index}


# ---- Pickles ----


def pickled_index(index: Index, protocol: int) -> tuple[Any, str]:
    """The bytes of an index and the device that it is on. With protocol 5 the bytes may travel apart."""
    handle = ctypes.c_void_p()
    try:
        index._gate.enter()
        beside = _described(index)
        call(lib.kr_index_pieces, index._handle or index._gone(), beside.options(), ctypes.byref(handle))
        try:
            data = _gathered(handle)
        finally:
            lib.kr_pieces_destroy(handle)
    finally:
        index._gate.leave()
    return (pickle.PickleBuffer(data) if protocol >= 5 else bytes(data)), index._device.kind


def _gathered(pieces: ctypes.c_void_p) -> bytearray:
    data = bytearray(lib.kr_pieces_nbytes(pieces))
    view = np.frombuffer(data, np.uint8)
    piece, nbytes, fraction, at = ctypes.c_void_p(), ctypes.c_uint64(), ctypes.c_double(), 0
    while True:
        call(lib.kr_pieces_next, pieces, ctypes.byref(piece), ctypes.byref(nbytes), ctypes.byref(fraction))
        if not nbytes.value:
            return data
        view[at:at + nbytes.value] = array_at(piece.value, np.dtype("u1"), nbytes.value)
        at += nbytes.value


def index_from_pickle(data: Any, device: str) -> Index:
    """What pickle calls to make an index again, on the kind of device that it was on."""
    return load_index(Saved.of_bytes(data), device)
