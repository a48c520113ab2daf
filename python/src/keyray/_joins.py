"""Joins of columns: pairs of row ids, in the left side's kind."""
from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from . import _structs as c
from ._columns import Column, as_column
from ._convert import convert_or_null
from ._devices import Device, _text, device_of
from ._errors import ArgumentError, CancelledError, ColumnTypeError
from ._library import lib
from ._progress import run_long
from ._query import chosen, nearest_options, split
from ._range import _read_join
from ._types import TEXTS, TIMES, array_at

__all__ = ["join", "join_asof", "join_chunks", "join_overlap", "join_range"]

JOINS = {"inner": c.KR_JOIN_INNER, "left": c.KR_JOIN_LEFT, "right": c.KR_JOIN_RIGHT, "full": c.KR_JOIN_FULL,
         "outer": c.KR_JOIN_FULL, "semi": c.KR_JOIN_SEMI, "anti": c.KR_JOIN_ANTI}
# Keyword, and whether an interval takes in its start and its end.
CLOSED = {"both": c.KR_ENDS_CLOSED, "left": c.KR_ENDS_OPEN, "right": c.KR_ENDS_OPEN, "neither": c.KR_ENDS_OPEN}


class _Sides:
    """Columns of both sides in pairs of one type, and the structs that a call reads."""

    def __init__(self, left: Any, right: Any, what: str = "") -> None:
        self.left, self.right = [], []
        lefts, rights = _columns(left), _columns(right)
        if len(lefts) != len(rights):
            raise ArgumentError(f"{what or 'the sides'}: {len(lefts)} columns on the left, {len(rights)} on the right")
        if len(lefts) > 8:
            raise ArgumentError(f"{what or 'the sides'}: {len(lefts)} columns; a join takes at most 8")
        for i, (one, other) in enumerate(zip(lefts, rights)):
            pair = pair_of(one, other, f"{what or 'column'} {i}" if len(lefts) > 1 else what, equal=True)
            self.left.append(pair[0])
            self.right.append(pair[1])
        self.count = len(self.left)

    def structs(self) -> tuple[Any, Any]:
        """Arrays of kr_column, left and right."""
        return _array(self.left), _array(self.right)

    def check(self, left: Column, right: Column, what: str) -> None:
        """Each column has a row for each row of its side."""
        for side, word, base in ((self.left, "left", left), (self.right, "right", right)):
            for column in side:
                if column.count != base.count:
                    raise ArgumentError(f"the {word} side has {base.count} rows and a column of {what} {column.count}")


def _columns(obj: Any) -> list[Any]:
    """One column, or those of a list of columns, a dict or a frame."""
    named = split(obj)
    return [obj] if named is None else [column for _, column in named]


def _array(columns: list[Column]) -> Any:
    return (c.kr_column * max(len(columns), 1))(*(column.struct for column in columns))


def pair_of(left: Any, right: Any, name: str = "", equal: bool = False) -> tuple[Column, Column]:
    """Two columns of one type: that of both, or the wider one, in which all values of both are exact.

    `equal`: only equality counts, so a value that the wider type has not, as -1 beside u64, is NULL, which equals nothing either.
    """
    try:
        one, other = as_column(left, name=name), as_column(right, name=name)
    except ColumnTypeError:
        # A side of NULLs alone, or an empty list, takes the type of the other one.
        other = as_column(right, name=name)
        one = as_column(left, like=other, name=name)
    if one.type == other.type and one.unit == other.unit:
        return one, as_column(other, like=one, name=name) if bool(one.zone) != bool(other.zone) else other
    if one.type in TEXTS and other.type in TEXTS:
        return one, other
    like = _wider(one, other)
    return _widened(one, like, name, equal), _widened(other, like, name, equal)


def _widened(column: Column, like: Column, name: str, equal: bool) -> Column:
    try:
        return as_column(column, like=like, name=name)
    except ColumnTypeError:
        made = None if not equal or column.on_device else convert_or_null(column, like)
        if made is None:
            raise
        made.caller, made.name = column.caller, column.name
        return made


def _wider(one: Column, other: Column) -> Column:
    """The type that both convert to: the finer unit, 64 bits for integers, doubles only where one side is floats."""
    if one.type in TIMES and other.type in TIMES:
        unit = max(one.unit, other.unit)
        return Column("numpy", c.KR_TIMESTAMP64, 0, None, None, unit=unit, zone=one.zone or other.zone)
    if one.type in TIMES or other.type in TIMES or one.type in TEXTS or other.type in TEXTS:
        return one
    floats = {c.KR_F32, c.KR_F64}
    if one.type in floats or other.type in floats:
        return Column("numpy", c.KR_F64, 0, None, None)
    wide = c.KR_U64 if c.KR_U64 in (one.type, other.type) else c.KR_I64
    return Column("numpy", wide, 0, None, None)


def _options(how: str, unordered: bool, by: _Sides | None = None) -> tuple[Any, Any]:
    """kr_join_options, and what it points into."""
    made = c.kr_join_options(ctypes.sizeof(c.kr_join_options), chosen(JOINS, how, "how"))
    made.unordered = int(bool(unordered))
    kept = None
    if by is not None and by.count:
        kept = by.structs()
        made.left_by, made.right_by, made.n_by = kept[0], kept[1], by.count
    return made, kept


def _of(by: _Sides | None) -> list[Column]:
    return [] if by is None else [*by.left, *by.right]


def _device(device: str | Device, *columns: Column | None) -> Device:
    """Where the join runs, once its columns are made."""
    made = device_of("cuda" if device == "auto" and any(column is not None and column.on_device for column in columns) else device)
    made.settle(*columns)
    return made


def _joined(function: Any, where: Device, like: Column, other: Column, left_alone: bool, *arguments: Any) -> Any:
    """Runs a join, reads its pairs in the kind of `like`, the left side, and destroys it."""
    handle = ctypes.c_void_p()
    try:
        run_long(function, where.usable(), *arguments, ctypes.byref(handle))
        return _read_join(handle.value, like, left_alone, other.count > 1 << 31, like.count > 1 << 31)
    finally:
        lib.kr_join_destroy(handle)


def join(left: Any, right: Any, how: str = "inner", unordered: bool = False, spec: str = "best",
         device: str | Device = "auto") -> Any:
    """Joins rows that are equal in one column, or in up to eight: a pair (left rows, right rows) of row ids.

    left, right  a column each; or a list, a dict or a frame of columns each, in pairs
    how          "inner", "left", "right", "full"; "semi" and "anti": left rows alone, with or without a partner
    unordered    pairs in any order, which may save a sort; else they are sorted by both rows

    A row without a partner stands beside -1, or NULL. A NULL equals nothing (in pandas' merge, NULLs pair); NaN equals
    NaN. Integers of two types, and times of two units, are compared by value.
    """
    sides = _Sides(left, right)
    options, _ = _options(how, unordered)
    one, other = sides.left[0], sides.right[0]
    sides.check(one, other, "the join")
    where = _device(device, *sides.left, *sides.right)
    alone = how in ("semi", "anti")
    if sides.count == 1:
        return _joined(lib.kr_join_create, where, one, other, alone, _text(spec), one.reference, other.reference,
                       ctypes.byref(options))
    lefts, rights = sides.structs()
    return _joined(lib.kr_join_create_columns, where, one, other, alone, _text(spec), lefts, rights, sides.count,
                   ctypes.byref(options))


def join_range(left: Any, lower: Any, upper: Any, how: str = "inner", *, left_by: Any = None, right_by: Any = None,
               unordered: bool = False, spec: str = "best", device: str | Device = "auto") -> Any:
    """Pairs of a left row and a range that holds its value: between lower[i] and upper[i], both included.

    left_by, right_by  columns in which both must be equal, too: one or several each
    """
    one, low = pair_of(left, lower, "lower")
    high = as_column(upper, like=low, name="upper")
    if high.count != low.count:
        raise ArgumentError(f"there are {low.count} lower bounds and {high.count} upper ones")
    by = _by(left_by, right_by, one, low)
    options, kept = _options(how, unordered, by)
    made = _joined(lib.kr_join_create_range, _device(device, one, low, high, *_of(by)), one, low, how in ("semi", "anti"), _text(spec),
                   one.reference, low.reference, high.reference, ctypes.byref(options))
    del kept
    return made


def _by(left_by: Any, right_by: Any, left: Column, right: Column) -> _Sides | None:
    if (left_by is None) != (right_by is None):
        raise ArgumentError("left_by and right_by go together: columns of groups of both sides")
    if left_by is None:
        return None
    sides = _Sides(left_by, right_by, "by")
    sides.check(left, right, "by")
    return sides


def join_overlap(left_start: Any, left_end: Any, right_start: Any, right_end: Any, how: str = "inner", *,
                 closed: str = "both", left_by: Any = None, right_by: Any = None, unordered: bool = False,
                 spec: str = "best", device: str | Device = "auto") -> Any:
    """Pairs of intervals that overlap.

    closed  "both": intervals that only touch overlap; "left", "right" and "neither": they do not, and an interval whose
            start is its end is empty
    """
    start, other_start = pair_of(left_start, right_start, "start")
    end = as_column(left_end, like=start, name="end")
    other_end = as_column(right_end, like=start, name="end")
    for one, two in ((start, end), (other_start, other_end)):
        if one.count != two.count:
            raise ArgumentError(f"there are {one.count} starts and {two.count} ends")
    by = _by(left_by, right_by, start, other_start)
    options, kept = _options(how, unordered, by)
    made = _joined(lib.kr_join_create_overlap, _device(device, start, end, other_start, other_end, *_of(by)), start,
                   other_start, how in ("semi", "anti"), _text(spec), start.reference, end.reference, other_start.reference, other_end.reference,
                   chosen(CLOSED, closed, "closed"), ctypes.byref(options))
    del kept
    return made


def join_asof(left: Any, right: Any, how: str = "left", *, left_by: Any = None, right_by: Any = None,
              side: str = "below", strict: bool = False, tolerance: Any = None, spec: str = "best",
              device: str | Device = "auto") -> Any:
    """For each left row the right row whose value is nearest, among those whose groups are equal.

    left, right        times or numbers, in any order; sides that ascend are merged and no index is built
    left_by, right_by  columns of groups, one or several each
    side               "below" (the last at or before), "above", "either"
    strict             leave out values that are equal
    tolerance          how far away: a number, or a timedelta for dates and times
    how                "left": a pair for each left row; "inner", "semi", "anti"
    """
    one, other = pair_of(left, right, "on")
    by = _by(left_by, right_by, one, other)
    options, _ = _options(how, False)
    nearest = nearest_options(side, strict, tolerance, one)
    lefts, rights = by.structs() if by is not None else (None, None)
    return _joined(lib.kr_join_create_asof, _device(device, one, other, *_of(by)), one, other, how in ("semi", "anti"),
                   _text(spec), one.reference, other.reference, lefts, rights, by.count if by is not None else 0,
                   ctypes.byref(nearest), ctypes.byref(options))


def join_chunks(left: Any, right: Any, chunk: Any, *, upper: Any = None, how: str = "inner", cap: int = 64 << 20,
                spec: str = "best", device: str | Device = "auto") -> int:
    """Hands over the pairs of a join in chunks of at most `cap` bytes: for results larger than memory.

    chunk  called with two numpy arrays of row ids, which are valid during the call; of semi and anti joins the second
           is None. What it raises ends the join and is raised. None: pairs are only counted
    upper  upper bounds: `right` has the lower bounds of ranges then

    Returns how many pairs there are.
    """
    one, other = pair_of(left, right, equal=upper is None)
    above = None if upper is None else as_column(upper, like=other, name="upper")
    if above is not None and above.count != other.count:
        raise ArgumentError(f"there are {other.count} lower bounds and {above.count} upper ones")
    options, _ = _options(how, True)
    raised: list[BaseException] = []

    def call_back(_ctx: int | None, n: int, lefts: Any, rights: Any) -> int:
        try:
            chunk(_ids(lefts, n), _ids(rights, n))
            return 0
        except BaseException as cause:  # noqa: BLE001 - raised again behind the call
            raised.append(cause)
            return 1

    function = c.kr_pairs_chunk(call_back) if chunk is not None else c.kr_pairs_chunk()
    pairs = ctypes.c_uint64()
    try:
        run_long(lib.kr_join_chunks, _device(device, one, other, above).usable(), _text(spec), one.reference, other.reference,
                 None if above is None else above.reference, ctypes.byref(options), cap, function, None,
                 ctypes.byref(pairs))
    except CancelledError:
        if raised:
            raise raised[0] from None
        raise
    return pairs.value


def _ids(address: Any, n: int) -> np.ndarray[Any, Any] | None:
    if not address:
        return None
    at = address if isinstance(address, int) else ctypes.cast(address, ctypes.c_void_p).value or 0
    return array_at(at, np.dtype(np.uint32), n)
