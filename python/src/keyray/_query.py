"""What is asked of an index, and how the library is called for it."""
from __future__ import annotations

import ctypes
import datetime
from collections.abc import Mapping
from typing import Any

import numpy as np

from . import _structs as c
from ._columns import Chunks, as_column, columns_of, is_column, root_of
from ._errors import ArgumentError, ColumnTypeError, LimitError
from ._library import lib
from ._results import Answers, Room
from ._types import FLOATS, INTEGERS, PER_SECOND, TEXTS, Column

RESULTS = {"row": c.KR_RESULT_ROW, "count": c.KR_RESULT_COUNT, "exists": c.KR_RESULT_EXISTS,
           "sum_rows": c.KR_RESULT_SUM_ROWS, "sum": c.KR_RESULT_SUM, "sum_wide": c.KR_RESULT_SUM_WIDE,
           "min": c.KR_RESULT_MIN, "max": c.KR_RESULT_MAX}
_OF_VALUES = ("sum", "sum_wide", "min", "max")
ORDERS = {"row": c.KR_ORDER_ROW, "key": c.KR_ORDER_KEY}
SIDES = {"below": c.KR_NEAREST_BELOW, "above": c.KR_NEAREST_ABOVE, "either": c.KR_NEAREST_EITHER}


def chosen(words: Mapping[str, int], word: Any, what: str) -> int:
    """The number of a word; an error that lists the words."""
    try:
        return words[word]
    except (KeyError, TypeError):
        raise ArgumentError(f"{what} is {word!r}; it is one of {', '.join(words)}") from None


def split(obj: Any) -> list[tuple[str, Any]] | None:
    """The columns of what is several, with names; None: it is one column."""
    if isinstance(obj, Mapping):
        return columns_of(obj)
    if isinstance(obj, (list, tuple)):
        return columns_of(obj) if obj and all(is_column(column) for column in obj) else None
    root = root_of(obj)
    if root in ("numpy", "torch", "cupy"):
        return None
    if (root in ("pandas", "polars", "cudf") and hasattr(obj, "columns")) or hasattr(obj, "get_level_values"):
        return columns_of(obj) if not hasattr(obj, "get_level_values") or obj.nlevels > 1 else None
    if root == "pyarrow" and hasattr(obj, "column_names"):
        return columns_of(obj)
    if isinstance(obj, Chunks) or root in ("pandas", "polars", "pyarrow", "cudf"):
        return None
    if hasattr(obj, "__arrow_c_stream__") and not hasattr(obj, "__cuda_array_interface__"):
        return columns_of(obj)
    return None


class Values:
    """Columns of values by name, a value for each row id."""

    def __init__(self, given: Any) -> None:
        self.columns: dict[str, Column] = {}
        if given is None:
            return
        named = split(given)
        for name, column in named if named is not None else [("", given)]:
            self.columns[name] = as_column(column, name=name)
        for name, made in self.columns.items():
            _check_values(made, name)

    def pick(self, wanted: Any) -> Column:
        """The column of that name; a column is taken as it is; None: the only one."""
        if wanted is not None and not isinstance(wanted, str):
            return _check_values(as_column(wanted, name="values"), "given")
        if wanted is None and len(self.columns) == 1:
            return next(iter(self.columns.values()))
        if wanted in self.columns:
            return self.columns[wanted]
        if not self.columns:
            raise ArgumentError("the index has no values: give Index(keys, values=...), or the column itself, "
                                "as in (\"sum\", column)")
        raise ArgumentError(f"there are no values {wanted!r}; there are {', '.join(map(repr, self.columns))}")


def _check_values(column: Column, name: str) -> Column:
    if column.type in TEXTS:
        raise ColumnTypeError(f"values {name!r} are {column.type_name}: only numbers, dates and times are added up or compared")
    return column


def want_of(result: Any, values: Values) -> tuple[int, Column | None]:
    """The result that words such as "row" or ("sum", "price") ask for, and the values it is made of."""
    name = None
    if isinstance(result, (tuple, list)) and len(result) == 2:
        result, name = result
        if result not in _OF_VALUES:
            raise ArgumentError(f"result {result!r} takes no values; {', '.join(_OF_VALUES)} do")
    number = chosen(RESULTS, result, "result")
    return number, values.pick(name) if result in _OF_VALUES else None


class Query:
    """Probes, with upper bounds, nearest keys or a bound of texts where they are asked for."""

    __slots__ = ("columns", "upper", "nearest", "how", "count", "many", "_probes", "_keep")

    def __init__(self, columns: list[Column], *, upper: Column | None = None,
                 nearest: c.kr_nearest_options | None = None, how: int = 0, many: bool = False) -> None:
        self.columns, self.upper, self.nearest, self.how, self.many = columns, upper, nearest, how, many
        self.count = columns[0].count
        if upper is not None and upper.count != self.count:
            raise ArgumentError(f"there are {self.count} lower bounds and {upper.count} upper ones")
        if not many:
            return
        made = (c.kr_column * len(columns))(*(column.struct for column in columns))
        self._keep = (made, upper)
        self._probes = c.kr_column_probes(
            ctypes.sizeof(c.kr_column_probes), made, len(columns), how,
            ctypes.pointer(upper.struct) if upper is not None else None,
            ctypes.pointer(nearest) if nearest is not None else None)

    @property
    def like(self) -> Column:
        """The column whose kind answers get: one in device memory, one that is no scalar, or the first."""
        everything = [*self.columns, *([self.upper] if self.upper is not None else [])]
        for column in everything:
            if column.on_device:
                return column
        return next((column for column in everything if column.kind != "scalar"), everything[0])

    @property
    def stream(self) -> int | None:
        """The native stream of the probes."""
        return next((column.stream for column in self.columns if column.stream is not None), None)

    def bound(self) -> tuple[Any, tuple[Any, ...]]:
        """The function of the library, and its arguments between the index and the sink."""
        if self.many:
            return lib.kr_index_lookup_columns, (ctypes.byref(self._probes),)
        probes = self.columns[0].reference
        if self.how:
            return lib.kr_index_lookup_texts, (probes, self.how)
        if self.nearest is not None:
            return lib.kr_index_nearest, (probes, ctypes.byref(self.nearest))
        if self.upper is not None:
            return lib.kr_index_range, (probes, self.upper.reference)
        return lib.kr_index_lookup, (probes,)

    def preparer(self) -> Any:
        """The function that prepares what bound() calls, with the same arguments."""
        if self.many:
            return lib.kr_prepare_lookup_columns
        if self.how:
            return lib.kr_prepare_texts
        if self.nearest is not None:
            return lib.kr_prepare_nearest
        return lib.kr_prepare_range if self.upper is not None else lib.kr_prepare_lookup

    def part(self, first: int, end: int) -> Query:
        """The probes from `first` to before `end`, of columns in host memory."""
        return Query([cut(column, first, end) for column in self.columns],
                     upper=None if self.upper is None else cut(self.upper, first, end), nearest=self.nearest,
                     how=self.how, many=self.many)


def cut(column: Column, first: int, end: int) -> Column:
    """Rows of a column, with no copy."""
    struct = column.struct
    size = {c.KR_STRING: 4, c.KR_BINARY: 4, c.KR_LARGE_STRING: 8, c.KR_LARGE_BINARY: 8, c.KR_STRING_VIEW: 16,
            c.KR_BINARY_VIEW: 16}.get(column.type) or lib.kr_type_nbytes(column.type)
    made = Column(column.kind, column.type, end - first, (struct.data or 0) + first * size or None, column,
                  unit=column.unit, zone=column.zone, validity=struct.validity,
                  validity_offset=struct.validity_offset + first, words=tuple(struct.reserved_words))
    made.stream, made.on_device = column.stream, column.on_device
    return made


def nearest_options(side: str, strict: bool, tolerance: Any, like: Column) -> c.kr_nearest_options:
    """kr_nearest_options for keys like `like`."""
    made = c.kr_nearest_options(ctypes.sizeof(c.kr_nearest_options), chosen(SIDES, side, "side"), int(bool(strict)))
    if tolerance is None:
        return made
    made.limited = 1
    if like.type in FLOATS:
        if isinstance(tolerance, bool) or not isinstance(tolerance, (int, float, np.integer, np.floating)):
            raise ColumnTypeError(f"tolerance is {type(tolerance).__name__}; keys of {like.type_name} take a number")
        made.float_tolerance = float(tolerance)
        return made
    if like.type in INTEGERS:
        if isinstance(tolerance, bool) or not isinstance(tolerance, (int, np.integer)):
            raise ColumnTypeError(f"tolerance is {type(tolerance).__name__}; keys of {like.type_name} take an int")
        number = int(tolerance)
    elif like.type in TEXTS:
        raise ColumnTypeError("texts have no distances, so there is no tolerance")
    else:
        number = _steps(tolerance, like)
    if not 0 <= number < 2**63:
        raise ArgumentError(f"tolerance is {tolerance}; it is 0 or more, and below 2^63")
    made.tolerance = number
    return made


def _steps(tolerance: Any, like: Column) -> int:
    """A span of time in the steps of the keys. What is less than a step tells no two keys apart."""
    per_second = PER_SECOND.get(like.unit, 1)
    if isinstance(tolerance, (int, np.integer)) and not isinstance(tolerance, (bool, np.timedelta64)):
        return int(tolerance)
    if hasattr(tolerance, "to_timedelta64"):  # pandas.Timedelta, which has nanoseconds
        tolerance = tolerance.to_timedelta64()
    if isinstance(tolerance, np.timedelta64) and not np.isnat(tolerance):
        unit, step = np.datetime_data(tolerance.dtype)
        lengths = {"W": 604800, "D": 86400, "h": 3600, "m": 60, "s": 1}
        parts = {"ms": 10**3, "us": 10**6, "ns": 10**9}
        if unit in lengths or unit in parts:
            count = int(tolerance.astype(np.int64)) * step
            if like.type == c.KR_DATE32:
                return count * lengths.get(unit, 1) // (86400 * parts.get(unit, 1))
            return count * lengths.get(unit, 1) * per_second // parts.get(unit, 1)
    elif isinstance(tolerance, datetime.timedelta):
        micros = (tolerance.days * 86400 + tolerance.seconds) * 10**6 + tolerance.microseconds
        if like.type == c.KR_DATE32:
            return micros // (86400 * 10**6)
        return micros * per_second // 10**6
    raise ColumnTypeError(f"tolerance is {tolerance!r}; keys of {like.type_name} take a timedelta, or an int of their "
                          "unit")


# ---- Answers ----


def answer(index: Any, queries: list[Query], result: int, values: Column | None, out: Any = None) -> Any:
    """Calls the library for each query, into one result."""
    like = queries[0].like
    index._device.check(like, values)
    answers = Answers(like, sum(query.count for query in queries))
    room = Room(answers, result, values, out)
    try:
        index._gate.enter()
        for query in queries:
            function, arguments = query.bound()
            index._ask(function, query, *arguments, room.reference)
            room.advance(query.count)
        wide = index._wide
    finally:
        index._gate.leave()
    made = room.made(wide)
    return made if out is None else out


def answer_many(index: Any, query: Query, wanted: dict[str, tuple[int, Column | None]]) -> dict[str, Any]:
    """Several results of one search."""
    index._device.check(query.like, *(values for _, values in wanted.values()))
    answers = Answers(query.like, query.count)
    rooms = {name: Room(answers, result, values) for name, (result, values) in wanted.items()}
    try:
        index._gate.enter()
        if query.many or query.how:  # the library has no such call for these
            function, arguments = query.bound()
            for room in rooms.values():
                index._ask(function, query, *arguments, room.reference)
        elif rooms:
            sinks = (ctypes.POINTER(c.kr_sink) * len(rooms))(*(ctypes.pointer(room.sink) for room in rooms.values()))
            index._ask(lib.kr_index_lookup_many, query, query.columns[0].reference,
                       None if query.upper is None else query.upper.reference,
                       None if query.nearest is None else ctypes.byref(query.nearest), sinks, len(rooms))
        wide = index._wide
    finally:
        index._gate.leave()
    return {name: room.made(wide) for name, room in rooms.items()}


def gather(index: Any, query: Query, limit: int, order: str, guess: int = 0) -> tuple[Answers, Any, Any]:
    """Offsets and row ids of each probe. `guess`: how many row ids are tried before they are counted."""
    if limit < 0:
        raise ArgumentError(f"limit is {limit}; it is 0 (all) or more")
    index._device.check(query.like)
    answers = Answers(query.like, query.count)
    offsets, at = answers.array(np.dtype("u8"), query.count + 1)
    sink = c.kr_sink(ctypes.sizeof(c.kr_sink), c.KR_RESULT_ROWS, chosen(ORDERS, order, "order"), None, at)
    sink.limit = limit
    try:
        index._gate.enter()  # what is counted must be what is read
        rows, needed = _gather_into(index, query, answers, offsets, sink, guess)
    finally:
        index._gate.leave()
    if rows is None:
        rows, _ = answers.array(np.dtype("u4"), 0)
    return answers, offsets, rows[:needed]


def _gather_into(index: Any, query: Query, answers: Answers, offsets: Any, sink: Any, guess: int) -> tuple[Any, int]:
    """The row ids, by a caller that is in the gate, and how many there are."""
    function, arguments = query.bound()
    rows = None
    if guess:
        rows, sink.rows = answers.array(np.dtype("u4"), guess)
        sink.rows_capacity = guess
    while True:
        try:
            index._ask(function, query, *arguments, ctypes.byref(sink))
            needed = int(offsets[query.count])
            if needed <= sink.rows_capacity:
                return rows, needed
        except LimitError:
            if not guess:
                raise
            sink.rows, sink.rows_capacity, guess = None, 0, 0
            continue
        rows, sink.rows = answers.array(np.dtype("u4"), needed)
        sink.rows_capacity = needed
