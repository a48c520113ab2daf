"""Tables in files and in pickles: what the library saves, with the caller's frame beside it."""
from __future__ import annotations

import ctypes
import io
import os
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _progress
from . import _saved
from . import _structs as c
from ._columns import as_column
from ._devices import Device, device_of
from ._errors import ArgumentError, FormatError
from ._library import call, lib
from ._sources import Source, source_of
from ._types import Column

if TYPE_CHECKING:
    from ._table import Table

_FRAME = "frame"


def _described(table: Table, frame: bool) -> _saved.Attachments:
    source = table._whole() if frame else None
    made = _saved.Attachments({
        "columns": [[one.name, one.type, one.unit, one.zone, one.is_bool] for one in table._columns],
        "kind": table.kind, "device": table.device.name, "frame": frame,
    })
    if source is not None:
        made.add(_FRAME, np.frombuffer(_bytes_of(source), np.uint8))
    return made


def _bytes_of(source: Source) -> bytes:
    """A frame in Arrow's IPC format; a dict of arrays in numpy's."""
    out = io.BytesIO()
    if source.kind == "polars":
        source.frame.write_ipc(out)
    elif source.kind == "numpy":
        arrays: dict[str, Any] = {}
        for i, (name, column) in enumerate(source.columns):
            array = np.asarray(column)
            if not isinstance(column, np.ndarray) and as_column(column, name=name).valid() is not None:
                raise ArgumentError(f"column {name!r} of the dict has NULLs and is none of numpy's, which alone are saved with it: "
                                    "make the table of a frame, or save with frame=False")
            if array.dtype == object:
                raise ArgumentError(f"column {name!r} of the dict holds objects of Python, which are not saved with it: "
                                    "make the table of a frame, or save with frame=False")
            arrays[f"c{i}"] = array
            if isinstance(column, np.ma.MaskedArray):
                arrays[f"m{i}"] = np.ma.getmaskarray(column)
        np.savez(out, **arrays)
    else:
        pyarrow = _pyarrow()
        frame = source.frame if source.kind == "arrow" else pyarrow.Table.from_pandas(source.frame)
        with pyarrow.ipc.new_file(out, frame.schema) as writer:
            writer.write_table(frame)
    return out.getvalue()


def _frame_of(raw: np.ndarray[Any, Any], kind: str, names: list[str]) -> Any:
    if kind == "polars":
        import polars
        return polars.read_ipc(io.BytesIO(raw.tobytes()))
    if kind == "numpy":
        with np.load(io.BytesIO(raw.tobytes()), allow_pickle=False) as arrays:
            return {name: np.ma.MaskedArray(arrays[f"c{i}"], arrays[f"m{i}"]) if f"m{i}" in arrays else arrays[f"c{i}"]
                    for i, name in enumerate(names)}
    pyarrow = _pyarrow()
    table = pyarrow.ipc.open_file(pyarrow.py_buffer(raw.tobytes())).read_all()
    return table if kind == "arrow" else table.to_pandas()


def _pyarrow() -> Any:
    try:
        import pyarrow
        import pyarrow.ipc
    except ImportError:
        raise ArgumentError("frames of pandas and Arrow are saved in Arrow's format, which takes pyarrow: install it, or "
                            "save with frame=False") from None
    return pyarrow


def save_table(table: Table, path: str | os.PathLike[str], frame: bool) -> None:
    """Table.save."""
    try:
        table._gate.enter()
        beside = _described(table, frame)
        _progress.run_long(lib.kr_table_save, table._used(), os.fsencode(path), beside.options(), _progress.POINTER)
    finally:
        table._gate.leave()


def load_table(path: str | os.PathLike[str], device: str | Device, verify: bool) -> Table:
    """Table.load."""
    saved = _saved.Saved.open(path, verify)
    if saved.info["what"] != c.KR_SAVED_TABLE:
        raise FormatError(f"{os.fspath(path)!r} holds an index, not a table: keyray.load opens both")
    return table_of(saved, device)


def table_of(saved: _saved.Saved, device: str | Device) -> Table:
    """The table of an open file."""
    from ._table import Table
    head = saved.head()
    columns = _columns(saved, head)
    made = Table.__new__(Table)
    raw = saved.attachment(_FRAME) if head.get("frame") else None
    source = None if raw is None else source_of(_frame_of(raw, head["kind"], [one.name for one in columns]), "never")
    made._setup(device_of(device), source)
    made._columns, made._owners = columns, [saved]
    made._adopt(_progress.create(lib.kr_table_load, lib.kr_table_destroy, made.device.usable(), saved.handle, None, None))
    return made


def _columns(saved: _saved.Saved, head: dict[str, Any]) -> list[Column]:
    columns = []
    for i in range(saved.info["n_columns"]):
        name, type, unit, texts = ctypes.c_char_p(), ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
        call(lib.kr_saved_column, saved.handle, i, ctypes.byref(name), ctypes.byref(type), ctypes.byref(unit),
             ctypes.byref(texts))
        column = Column("numpy", c.KR_LARGE_STRING if texts.value == 2 else type.value, 0, None, None, unit=unit.value)
        column.name = (name.value or b"").decode()
        columns.append(column)
    for column, (_, kind, _, zone, is_bool) in zip(columns, head.get("columns", [])):
        column.type, column.zone, column.is_bool = kind, zone, is_bool
    return columns


_saved.LOADERS[c.KR_SAVED_TABLE] = table_of


def reduce_table(table: Table) -> Any:
    """What pickle keeps: the bytes of a file, with the frame if there is one."""
    pieces = ctypes.c_void_p()
    try:
        table._gate.enter()
        beside = _described(table, table._source is not None)
        call(lib.kr_table_pieces, table._used(), beside.options(), ctypes.byref(pieces))
        try:
            data = _saved._gathered(pieces)
        finally:
            lib.kr_pieces_destroy(pieces)
    finally:
        table._gate.leave()
    return _table_from_pickle, (bytes(data), table.device.kind)


def _table_from_pickle(data: bytes, device: str) -> Table:
    return table_of(_saved.Saved.of_bytes(data), device)
