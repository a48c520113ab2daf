"""pandas' get_indexer and get_indexer_non_unique: the same results from an index of keyray."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from . import _structs as c
from ._columns import as_column
from ._convert import convert_or_null, convert_towards
from ._errors import ArgumentError, ColumnTypeError, UnsupportedError
from ._query import Query, answer, answer_many, gather, nearest_options
from ._types import Column

if TYPE_CHECKING:
    from ._index import Index

_SIDES = {"pad": "below", "ffill": "below", "backfill": "above", "bfill": "above"}


def _target(index: Index, target: Any, side: str = "",
            limited: bool = False) -> tuple[Column | None, np.ndarray[Any, Any] | None]:
    """The target as a column like the keys, and which of its values are there (None: all).

    What the keys' type has not is NULL, or with a side the next value on it that the type has, which is as near a key but
    not as far away, so there is no such value where distances are limited. None: the target has nothing of the type.
    """
    if index._many:
        raise UnsupportedError("get_indexer takes an index over one column; lookup() answers several")
    like = index._likes[0]
    try:
        column: Column | None = as_column(target, like)
        assert column is not None
        valid = None if column.on_device else column.valid()
    except ColumnTypeError:
        made = as_column(target)
        if made.on_device or limited:
            raise
        valid = made.valid()
        column = convert_towards(made, like, side == "above") if side else convert_or_null(made, like)
        if column is None and side:
            raise
    if column is not None:
        column.kind = "numpy" if not column.on_device else column.kind
    return column, valid


def _invalid() -> Exception:
    text = "Reindexing only valid with uniquely valued Index objects"
    try:
        from pandas.errors import InvalidIndexError
    except ImportError:
        return ArgumentError(text)
    return InvalidIndexError(text)  # type: ignore[no-any-return]


def get_indexer(index: Index, target: Any, method: str | None, limit: int | None,
                tolerance: Any) -> np.ndarray[Any, Any]:
    """Index.get_indexer."""
    if limit is not None:
        raise UnsupportedError("get_indexer has no limit here")
    if method == "nearest":
        raise UnsupportedError("get_indexer has no method=\"nearest\" here, since pandas takes the larger of two equally "
                               "near keys: nearest(side=\"either\") takes the smaller one")
    if method is not None and method not in _SIDES:
        raise ArgumentError(f"method is {method!r}; it is one of None, {', '.join(_SIDES)}")
    if method is None and tolerance is not None:
        raise ArgumentError("tolerance goes with a method")
    try:
        index._gate.enter()  # several calls of one state
        return _found(index, target, _SIDES.get(method or "", ""), tolerance)
    finally:
        index._gate.leave()


def _found(index: Index, target: Any, side: str, tolerance: Any) -> np.ndarray[Any, Any]:
    column, valid = _target(index, target, side, tolerance is not None)
    if index._unique is False:
        raise _invalid()
    if column is None:
        return np.full(len(target), -1, np.intp)
    if side:
        options = nearest_options(side, False, tolerance, index._likes[0])
        rows = answer(index, [Query([column], nearest=options)], c.KR_RESULT_ROW, None)
        return rows.astype(np.intp)  # type: ignore[no-any-return]
    rows = _unique_rows(index, column).astype(np.intp)
    nulls = index._nulls
    if nulls is not None and len(nulls) > 1:
        raise _invalid()
    if nulls is not None and valid is not None:
        rows[~valid] = nulls[0]
    return rows


def _unique_rows(index: Index, column: Column) -> np.ndarray[Any, Any]:
    """The row of each target; an error where a target has several, as pandas has it for any key with several."""
    if index._unique is None:
        index._unique = _is_unique(index)
    if index._unique is False:
        raise _invalid()
    if index._unique:
        return answer(index, [Query([column])], c.KR_RESULT_ROW, None)  # type: ignore[no-any-return]
    made = answer_many(index, Query([column]), {"rows": (c.KR_RESULT_ROW, None), "counts": (c.KR_RESULT_COUNT, None)})
    if len(made["counts"]) and made["counts"].max() > 1:
        index._unique = False
        raise _invalid()
    return made["rows"]  # type: ignore[no-any-return]


def _is_unique(index: Index) -> bool | None:
    """Whether each key has one row; None: it is not known here."""
    if index.counters.get("keys") == len(index):
        return True
    keys = index._keys() if index._keys is not None and index._version == 0 else None
    if keys is None:
        return None
    column = as_column(keys, index._likes[0])
    column.kind = "numpy"
    if column.on_device:
        return None
    counts = answer(index, [Query([column])], c.KR_RESULT_COUNT, None)
    if len(counts) and counts.max() > 1:
        return False
    # Keys that were changed since would not find every row.
    return True if int(counts.sum()) == len(index) else None


def get_indexer_non_unique(index: Index, target: Any) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Index.get_indexer_non_unique: rows in the order of targets, -1 in the place of one without rows."""
    try:
        index._gate.enter()
        return _found_non_unique(index, target)
    finally:
        index._gate.leave()


def _found_non_unique(index: Index, target: Any) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    column, valid = _target(index, target)
    if column is None:
        return np.full(len(target), -1, np.intp), np.arange(len(target), dtype=np.intp)
    _, offsets, rows = gather(index, Query([column]), 0, "row", guess=column.count)
    counts = np.diff(offsets.view(np.int64))
    nulls = index._nulls
    null_rows = np.empty(0, np.int64) if nulls is None else nulls.astype(np.int64)
    if valid is not None and len(null_rows):
        counts[~valid] = len(null_rows)
    missing = np.flatnonzero(counts == 0)
    places = np.maximum(counts, 1)
    ends = np.cumsum(places)
    made = np.full(int(ends[-1]) if len(ends) else 0, -1, np.intp)
    found = np.repeat(counts > 0, places)
    if valid is not None and len(null_rows):
        of_nulls = np.repeat(~valid, places)
        made[found & ~of_nulls] = rows
        made[of_nulls] = np.tile(null_rows, int((~valid).sum()))
    else:
        made[found] = rows
    return made, missing.astype(np.intp)
