"""Ranges of keys, and joins with an index."""
from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _structs as c
from ._columns import as_column, is_scalar
from ._errors import ArgumentError, LimitError, UnsupportedError
from ._library import call, lib
from ._query import Query, answer, answer_many, chosen, gather, want_of
from ._results import Answers
from ._types import DTYPES, FLOATS, TEXTS, Column

if TYPE_CHECKING:
    from ._index import Index

JOINS = {"inner": c.KR_JOIN_INNER, "left": c.KR_JOIN_LEFT, "semi": c.KR_JOIN_SEMI, "anti": c.KR_JOIN_ANTI}


class Range:
    """Keys between bounds, a range for each row of the bounds. Each method is a search of its own."""

    __slots__ = ("_index", "_query")

    def __init__(self, index: Index, query: Query) -> None:
        self._index, self._query = index, query

    @classmethod
    def of_bounds(cls, index: Index, lower: Any, upper: Any) -> Range:
        """What Index.range gives."""
        if index._many:
            return cls(index, _columns_query(index, lower, upper))
        like = index._likes[0]
        if like.type in TEXTS and (lower is None) != (upper is None):
            return cls.of_texts(index, upper if lower is None else lower,
                                c.KR_TEXTS_TO if lower is None else c.KR_TEXTS_FROM)
        if like.type in TEXTS and lower is None:
            return cls.of_texts(index, "", c.KR_TEXTS_FROM)
        if lower is not None and upper is not None:
            if is_scalar(lower) != is_scalar(upper):
                many = as_column(upper if is_scalar(lower) else lower, like)
                lower, upper = (_repeated(bound, many.count) if is_scalar(bound) else many for bound in (lower, upper))
            low, high = as_column(lower, like, "lower"), as_column(upper, like, "upper")
        else:
            known = as_column(upper if lower is None else lower, like) if lower is not upper else None
            count = 1 if known is None else known.count
            low = known if lower is not None and known is not None else _border(like, count, -1)
            high = known if upper is not None and known is not None else _border(like, count, 1)
        return cls(index, Query([low], upper=high))

    @classmethod
    def of_texts(cls, index: Index, texts: Any, how: int) -> Range:
        """Keys by one bound of texts, or a prefix."""
        columns = index._columns(texts)
        return cls(index, Query(columns, how=how, many=index._many))

    def count(self) -> Any:
        """How many keys each range holds."""
        return self._answer("count")

    def exists(self) -> Any:
        """Whether each range holds a key."""
        return self._answer("exists")

    def row(self) -> Any:
        """The smallest row id of each range."""
        return self._answer("row")

    def sum(self, values: Any = None) -> Any:
        """The sum of values, by name or as a column, over the rows of each range; integers modulo 2^64."""
        return self._answer(("sum", values))

    def sum_wide(self, values: Any = None) -> Any:
        """The exact sum of integers."""
        return self._answer(("sum_wide", values))

    def min(self, values: Any = None) -> Any:
        """The smallest value of each range."""
        return self._answer(("min", values))

    def max(self, values: Any = None) -> Any:
        """The largest value of each range."""
        return self._answer(("max", values))

    def many(self, **results: Any) -> dict[str, Any]:
        """Several results of one search, as Index.lookup_many."""
        index = self._index
        return answer_many(index, self._query, {name: want_of(result, index._values)
                                                for name, result in results.items()})

    def rows(self, limit: int = 0, order: str = "row") -> Any:
        """All row ids of each range, as Index.lookup_all gives them."""
        answers, offsets, rows = gather(self._index, self._query, limit, order)
        return answers.lists(offsets, rows, self._index._wide)

    def chunks(self, size: str | int = "64MB", order: str = "row") -> Iterator[tuple[int, Any]]:
        """All row ids, in pieces of at most `size` bytes of them: (first range of the piece, what rows() gives).

        Pieces are cut between ranges. A range that is larger than `size` is a LimitError.
        """
        index, query = self._index, self._query
        room = max(parse_size(size) // 4, 1)
        version = index._version
        counts = self._counts()
        ends = np.cumsum(counts, dtype=np.uint64)
        if len(counts) and int(counts.max()) > room:
            first = int(np.argmax(counts > room))
            raise LimitError(f"range {first} has {int(counts[first])} rows, which take {4 * int(counts[first])} bytes; "
                             f"a piece has at most {4 * room}: give a larger size")
        first = 0
        while first < query.count:
            before = int(ends[first - 1]) if first else 0
            end = int(np.searchsorted(ends, before + room, side="right"))
            if index._version != version:
                raise ArgumentError("the index was changed while its rows were read in chunks: begin again")
            yield first, Range(index, query.part(first, end)).rows(order=order)
            first = end

    def _counts(self) -> np.ndarray[Any, Any]:
        if self._query.like.on_device:
            raise UnsupportedError("chunks() takes bounds in host memory; rows() takes them anywhere")
        answers = Answers("numpy", self._query.count)
        made, at = answers.array(np.dtype("u8"), self._query.count)
        sink = c.kr_sink(ctypes.sizeof(c.kr_sink), c.KR_RESULT_COUNT, 0, None, at)
        function, arguments = self._query.bound()
        self._index._look(function, self._query, *arguments, ctypes.byref(sink))
        return made  # type: ignore[no-any-return]

    def _answer(self, result: Any) -> Any:
        number, values = want_of(result, self._index._values)
        return answer(self._index, [self._query], number, values)

    def __len__(self) -> int:
        return self._query.count

    def __repr__(self) -> str:
        return f"<keyray.Range: {self._query.count} ranges of {self._index!r}>"


def _repeated(value: Any, count: int) -> list[Any]:
    return [value] * count


def _columns_query(index: Index, lower: Any, upper: Any) -> Query:
    if lower is None:
        raise ArgumentError("a range of an index over several columns takes a list of columns, the last of them with "
                            "lower bounds")
    columns = index._columns(lower, "lower")
    like = index._likes[len(columns) - 1]
    if upper is None:
        if like.type in TEXTS:
            return Query(columns, how=c.KR_TEXTS_FROM, many=True)
        high = _border(like, columns[0].count, 1)
    elif is_scalar(upper):
        high = as_column(_repeated(upper, columns[0].count), like, "upper")
    else:
        high = as_column(upper, like, "upper")
    return Query(columns, upper=high, many=True)


def _border(like: Column, count: int, side: int) -> Column:
    """A column of the smallest, or largest, values of a type; NaN is the largest float."""
    dtype = DTYPES[like.type]
    if like.type in FLOATS:
        value: Any = np.nan if side > 0 else -np.inf
    else:
        value = np.iinfo(dtype).max if side > 0 else np.iinfo(dtype).min
    values = np.full(count, value, dtype)
    return Column("scalar", like.type, count, values.ctypes.data, values, unit=like.unit, zone=like.zone)


def parse_size(size: str | int) -> int:
    """Bytes of 67108864, "64MB", "64 MiB" or "1.5GB"."""
    if isinstance(size, (int, np.integer)) and not isinstance(size, bool):
        if size <= 0:
            raise ArgumentError(f"a size is {size} bytes; it is above 0")
        return int(size)
    text = str(size).strip().upper().replace(" ", "")
    digits = text.rstrip("KMGTIB")
    unit = text[len(digits):].rstrip("B")
    power = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "KI": 2**10, "MI": 2**20, "GI": 2**30,
             "TI": 2**40}.get(unit)
    try:
        number = float(digits)
    except ValueError:
        power = None
    if power is None or not 0 < number * power < 2**63:
        raise ArgumentError(f"a size is {size!r}; it is a number of bytes, or a text such as \"64MB\" or \"1GiB\"")
    return int(number * power)


def joined(index: Index, left: Any, how: str, upper: Any, unordered: bool) -> Any:
    """What Index.join gives."""
    if index._many:
        raise UnsupportedError("an index over several columns does not join: lookup_all() gives its rows")
    if how in ("right", "full"):
        raise UnsupportedError(f"join({how!r}) would need the rows of the index that no probe finds: keyray.join makes it "
                               "of two columns")
    options = c.kr_join_options(ctypes.sizeof(c.kr_join_options), chosen(JOINS, how, "how"))
    options.unordered = int(bool(unordered))
    column = as_column(left, index._likes[0], "left")
    above = None if upper is None else as_column(upper, index._likes[0], "upper")
    if above is not None and above.count != column.count:
        raise ArgumentError(f"there are {column.count} lower bounds and {above.count} upper ones")
    handle = ctypes.c_void_p()
    query = Query([column], upper=above)

    def create(index_handle: int, *arguments: Any) -> int:
        return int(lib.kr_join_create_prepared(index_handle, *arguments[:-2], ctypes.byref(handle), arguments[-1]))

    try:
        index._look(create, query, column.reference, None if above is None else above.reference,
                    ctypes.byref(options))
        return _read_join(handle.value, query.like, how in ("semi", "anti"), index._wide, column.count > 1 << 31)
    finally:
        lib.kr_join_destroy(handle)


def _read_join(handle: int | None, like: Column, left_alone: bool, wide: bool, wide_left: bool) -> Any:
    info = c.kr_join_info(struct_size=ctypes.sizeof(c.kr_join_info))
    call(lib.kr_join_query, handle, ctypes.byref(info))
    pairs = info.pairs
    answers = Answers(like, pairs)
    if answers.kind in ("pandas", "pandas-arrow"):  # pairs have no place in the caller's index
        answers.caller = None
    if answers.kind == "scalar":
        answers.kind = "numpy"
    left, left_at = answers.array(np.dtype("u4"), pairs)
    right, right_at = (None, None) if left_alone else answers.array(np.dtype("u4"), pairs)
    call(lib.kr_join_read, handle, 0, pairs, left_at, right_at)
    if left_alone:
        return answers.rows(left, wide_left)
    return answers.rows(left, wide_left), answers.rows(right, wide)


__all__ = ["Range", "joined", "parse_size"]
