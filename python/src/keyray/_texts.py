"""Columns of texts: made of Python's objects, of dictionaries, and of several columns."""
from __future__ import annotations

import ctypes
import datetime
from collections.abc import Iterable
from typing import Any

import numpy as np

from . import _structs as c
from ._errors import ColumnTypeError
from ._types import BINARIES, DTYPES, TEXTS, Column, array_at, pack_bits

_VIEWS = (c.KR_STRING_VIEW, c.KR_BINARY_VIEW)
_CHUNK_BITS = 30  # views have offsets of 31 bits, so larger bytes count as several buffers


def is_missing(value: Any) -> bool:
    """None, NaN, NaT and pandas.NA."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float) and value != value


def column_of_objects(values: Iterable[Any], kind: str, name: str = "") -> Column:
    """A column of str, or of bytes; what is missing is NULL, and anything else an error."""
    texts: list[bytes] = []
    missing: list[int] = []
    strings = binaries = 0
    for row, value in enumerate(values):
        if isinstance(value, str):
            strings += 1
            try:
                texts.append(value.encode())
            except UnicodeEncodeError:
                raise ColumnTypeError(f"{_place(name, row)} is a text that is not UTF-8: {value!r}") from None
        elif isinstance(value, (bytes, bytearray)):
            binaries += 1
            texts.append(bytes(value))
        elif is_missing(value):
            missing.append(row)
            texts.append(b"")
        else:
            raise ColumnTypeError(f"{_place(name, row)} is of Python's type {type(value).__name__}; a column of objects "
                                  "holds texts (str or bytes) and None alone: give the column a type of "
                                  f"{'times, datetime64' if isinstance(value, datetime.date) else 'numbers'}")
    if strings and binaries:
        raise ColumnTypeError(f"{name or 'a column'} holds both str and bytes: make all of one type")
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    offsets = np.zeros(len(texts) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    data = np.frombuffer(b"".join(texts) or b"\0", np.uint8)
    bits = None
    if missing:
        valid = np.ones(len(texts), bool)
        valid[missing] = False
        bits = pack_bits(valid)
    return Column(kind, c.KR_LARGE_BINARY if binaries else c.KR_LARGE_STRING, len(texts), offsets.ctypes.data,
                  (offsets, data, bits), validity=None if bits is None else bits.ctypes.data,
                  words=(data.ctypes.data, int(offsets[-1])))


def _place(name: str, row: int) -> str:
    return f"{name}, row {row}," if name else f"row {row}"


def views_of(column: Column) -> tuple[np.ndarray[Any, Any], Any]:
    """The texts as Arrow's views, 16 bytes each as two u64, and the kr_text_buffer array that they point into."""
    count = column.count
    if column.type in _VIEWS:
        views = array_at(column.struct.data, np.dtype("u8"), 2 * count).reshape(count, 2)
        many = column.struct.reserved_words[1]
        buffers = (c.kr_text_buffer * many).from_address(column.struct.reserved_words[0]) if many else ()
        return views, buffers
    wide = column.type in (c.KR_LARGE_STRING, c.KR_LARGE_BINARY)
    offsets = array_at(column.struct.data, np.dtype("i8" if wide else "i4"), count + 1).astype(np.int64)
    start, total = column.struct.reserved_words[0], column.struct.reserved_words[1]
    raw = array_at(start, np.dtype("u1"), total)
    starts, lengths = offsets[:-1], np.diff(offsets)
    if count and (lengths.min() < 0 or lengths.max() >= 1 << 31):
        raise ColumnTypeError("a column of texts is broken: offsets descend, or a text has 2 GiB or more")
    views = np.zeros((count, 16), np.uint8)
    words = views.view("<i4")
    words[:, 0] = lengths
    longer = lengths > 12
    for i in range(12):
        rows = np.flatnonzero((lengths > i) & (~longer if i >= 4 else True))
        views[rows, 4 + i] = raw[starts[rows] + i]
    words[longer, 2] = starts[longer] >> _CHUNK_BITS
    words[longer, 3] = starts[longer] & ((1 << _CHUNK_BITS) - 1)
    many = (total >> _CHUNK_BITS) + 1
    buffers = (c.kr_text_buffer * many)(*((start + (i << _CHUNK_BITS), total - (i << _CHUNK_BITS))
                                          for i in range(many)))
    return views.view("u8"), buffers


def _column_of_views(kind: str, binary: bool, views: np.ndarray[Any, Any], buffers: Any,
                     valid: np.ndarray[Any, Any] | None, owner: Any) -> Column:
    views = np.ascontiguousarray(views)
    bits = None if valid is None or valid.all() else pack_bits(valid)
    words = (ctypes.addressof(buffers), len(buffers)) if len(buffers) else (0, 0)
    return Column(kind, c.KR_BINARY_VIEW if binary else c.KR_STRING_VIEW, len(views),
                  views.ctypes.data if len(views) else None, (views, buffers, bits, owner),
                  validity=None if bits is None else bits.ctypes.data, words=words)


def take(values: Column, codes: np.ndarray[Any, Any], valid: np.ndarray[Any, Any] | None, kind: str,
         owner: Any) -> Column:
    """The column that has values[codes[i]] in row i, NULL where `valid` is False or the value is NULL."""
    if valid is None:
        valid = np.ones(len(codes), bool)
    codes = np.where(valid, codes, 0).astype(np.int64)
    if len(codes) and valid.any() and (codes.min() < 0 or codes.max() >= values.count):
        raise ColumnTypeError("a column of dictionary codes has a code that its dictionary lacks")
    known = values.valid()
    if not values.count:
        codes, valid = codes[:0], valid[:0] if not len(valid) else np.zeros(len(valid), bool)
    elif known is not None:
        valid = valid & known[codes]
    if values.type in TEXTS:
        views, buffers = views_of(values)
        taken = views[codes] if values.count else np.zeros((len(valid), 2), np.uint64)
        return _column_of_views(kind, values.type in BINARIES, taken, buffers, valid, (values, owner))
    numbers = values.values()[codes] if values.count else np.zeros(len(valid), DTYPES[values.type])
    bits = None if valid.all() else pack_bits(valid)
    return Column(kind, values.type, len(numbers), numbers.ctypes.data, (numbers, bits), unit=values.unit,
                  zone=values.zone, validity=None if bits is None else bits.ctypes.data, is_bool=values.is_bool)


def column_of_dictionary(piece: Any, kind: str, offset: int, count: int) -> Column:
    """An Arrow array of dictionary codes as a column of the texts, or numbers, that they stand for."""
    from ._arrow import ROOM, Piece, column_of
    schema, array = piece.schema, piece.array
    values = column_of(Piece(schema.dictionary.contents, array.dictionary.contents, piece.owner), kind)
    dtype = DTYPES[ROOM[schema.format.decode()]]
    codes = array_at((array.buffers[1] or 0) + offset * dtype.itemsize, dtype, count)
    valid = None
    if array.null_count != 0 and array.buffers[0]:
        from ._types import unpack_bits
        valid = unpack_bits(array.buffers[0], offset, count)
    return take(values, codes, valid, kind, piece.owner)


def concatenate(columns: list[Column]) -> Column:
    """Columns of one type, one behind the other, as one column: elements are copied, the bytes of texts are not."""
    first = columns[0]
    if len(columns) == 1:
        return first
    for other in columns:
        if (other.type in TEXTS) != (first.type in TEXTS) or (
                other.type not in TEXTS and (other.type, other.unit, other.zone) != (
                    first.type, first.unit, first.zone)):
            raise ColumnTypeError(f"the chunks of a column have different types: {first.type_name} and "
                                  f"{other.type_name}")
    valid = None
    if any(column.struct.validity for column in columns):
        flags = [column.valid() for column in columns]
        valid = np.concatenate([np.ones(column.count, bool) if flag is None else flag
                                for column, flag in zip(columns, flags)])
    if first.type in TEXTS:
        return _concatenate_texts(columns, valid)
    values = np.concatenate([column.values() for column in columns])
    bits = None if valid is None else pack_bits(valid)
    return Column(first.kind, first.type, len(values), values.ctypes.data, (values, bits), unit=first.unit,
                  zone=first.zone, validity=None if bits is None else bits.ctypes.data, is_bool=first.is_bool)


def _concatenate_texts(columns: list[Column], valid: np.ndarray[Any, Any] | None) -> Column:
    parts: list[np.ndarray[Any, Any]] = []
    buffers: list[Any] = []
    for column in columns:
        views, own = views_of(column)
        if buffers:
            views = views.copy()
            words = views.view("<i4").reshape(-1, 4)
            longer = words[:, 0] > 12
            words[longer, 2] += len(buffers)
        parts.append(views)
        buffers += [(buffer.data, buffer.nbytes) for buffer in own]
    made = (c.kr_text_buffer * len(buffers))(*buffers)
    return _column_of_views(columns[0].kind, columns[0].type in BINARIES, np.concatenate(parts), made, valid,
                            list(columns))
