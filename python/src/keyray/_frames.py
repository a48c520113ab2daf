"""Joins of frames: rows of both sides beside each other, in the left frame's kind."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ._columns import as_column, root_of
from ._devices import Device
from ._errors import ArgumentError
from ._joins import join, join_asof, join_overlap
from ._sources import Source, assembled, coalesced, gathered, source_of
from ._types import Column

__all__ = ["merge", "merge_asof", "merge_overlap"]

Names = str | Sequence[str] | None
DIRECTIONS = {"backward": "below", "forward": "above", "nearest": "either"}


class _Pair:
    """Two frames of one kind, and the names of what they are joined by."""

    def __init__(self, left: Any, right: Any) -> None:
        self.left, self.right = source_of(left, "never"), source_of(right, "never")
        if self.left.kind != self.right.kind:
            raise ArgumentError(f"the left frame is of {self.left.kind}, the right one of {self.right.kind}: convert one")
        self.labels: dict[str, Any] = {}
        if self.left.kind == "pandas":
            for frame in (self.left.frame, self.right.frame):
                self.labels.update({str(label): label for label in frame.columns})

    def columns(self, which: str, names: Sequence[str]) -> list[Any]:
        """Columns of one side; errors say of which."""
        source: Source = getattr(self, which)
        for name in names:
            if name not in source.names:
                raise ArgumentError(f"the {which} frame has no column {name!r}; it has "
                                    f"{', '.join(map(repr, source.names))}")
        return [source.column(name) for name in names]


def _list(names: Names, what: str) -> list[str]:
    made = [names] if isinstance(names, str) or not isinstance(names, (list, tuple)) else list(names)
    if not made:
        raise ArgumentError(f"{what} names no column")
    return [str(name) for name in made]


def _keys(on: Names, left_on: Names, right_on: Names, what: str = "on") -> tuple[list[str], list[str]]:
    """Names on both sides."""
    if on is not None:
        if left_on is not None or right_on is not None:
            raise ArgumentError(f"give {what}, or left_{what} and right_{what}, not all of them")
        return _list(on, what), _list(on, what)
    if left_on is None or right_on is None:
        raise ArgumentError(f"give {what}, or both left_{what} and right_{what}")
    return _list(left_on, f"left_{what}"), _list(right_on, f"right_{what}")


def _as_arrays(columns: list[Any], others: list[Any]) -> tuple[Any, Any]:
    """Columns to be joined; categories that both sides share are compared by their codes, which needs no texts."""
    lefts, rights = [], []
    for one, other in zip(columns, others):
        codes = _codes(one, other)
        lefts.append(codes[0] if codes else as_column(one))
        rights.append(codes[1] if codes else as_column(other))
    for made in (*lefts, *rights):
        made.kind = "numpy" if not made.on_device else made.kind
    return (lefts, rights) if len(lefts) > 1 else (lefts[0], rights[0])


def _codes(one: Any, other: Any) -> tuple[Column, Column] | None:
    if root_of(one) != "pandas" or type(one.dtype).__name__ != "CategoricalDtype" or one.dtype != other.dtype:
        return None
    if not one.cat.categories.equals(other.cat.categories):
        return None
    made = []
    for column in (one, other):
        codes = np.asarray(column.cat.codes)
        made.append(as_column(np.ma.MaskedArray(codes, codes < 0) if (codes < 0).any() else codes))
    return made[0], made[1]


def _named(pair: _Pair, lefts: list[str], rights: list[str], suffixes: Sequence[str | None]) -> None:
    """Renames what both sides have, in place: as pandas does, with suffixes."""
    both = set(lefts) & set(rights)
    if not both:
        return
    if len(suffixes) != 2 or not (suffixes[0] or suffixes[1]):
        raise ArgumentError(f"both frames have columns {sorted(both)}: give two suffixes, one of them not empty")
    for names, suffix in ((lefts, suffixes[0]), (rights, suffixes[1])):
        for i, name in enumerate(names):
            if name in both:
                names[i] = f"{pair.labels.get(name, name)}{suffix or ''}"
    every = lefts + rights
    if len(set(every)) != len(every):
        raise ArgumentError(f"the suffixes {tuple(suffixes)} make two columns of one name")


def merge(left: Any, right: Any, on: Names = None, how: str = "inner", left_on: Names = None, right_on: Names = None,
          suffixes: Sequence[str | None] = ("_x", "_y"), spec: str = "best", device: str | Device = "auto") -> Any:
    """Joins two frames on equal values of one column or up to eight, as pandas.merge does.

    how  "inner", "left", "right", "outer"; "semi" and "anti": rows of the left frame alone

    Rows come in the order of the left frame ("right": of the right one); of "outer", right rows without a partner come
    last. A NULL (None, NaT, NA) equals nothing, where pandas pairs them with each other; NaN equals NaN in both.
    Columns that both frames have get suffixes, and the key columns come once.
    """
    pair = _Pair(left, right)
    lefts, rights = _keys(on, left_on, right_on)
    sides = _as_arrays(pair.columns("left", lefts), pair.columns("right", rights))
    found = join(*sides, how=how, spec=spec, device=device)
    if how in ("semi", "anti"):
        return pair.left.take(found)
    rows, others = found
    if how == "right":
        order = np.lexsort((rows, others))
        rows, others = rows[order], others[order]
    shared = {name for name, other in zip(lefts, rights) if name == other}
    return _beside(pair, rows, others, shared, suffixes, how)


def _beside(pair: _Pair, rows: Any, others: Any, shared: set[str], suffixes: Sequence[str | None], how: str) -> Any:
    """The rows of both frames; `shared` columns once, of the side that has the row."""
    mine = list(pair.left.names)
    theirs = [name for name in pair.right.names if name not in shared]
    gaps, other_gaps = how in ("right", "outer", "full"), how in ("left", "outer", "full")
    made = []
    for name in mine:
        column = pair.left.column(name)
        if name in shared and gaps:
            made.append(coalesced(pair.left, column, pair.right.column(name), rows, others))
        else:
            made.append(gathered(column, rows, gaps and bool((rows < 0).any())))
    missing = other_gaps and bool((others < 0).any())
    made += [gathered(pair.right.column(name), others, missing) for name in theirs]
    _named(pair, mine, theirs, suffixes)
    return assembled(pair.left, list(zip(mine + theirs, made)), pair.labels)


def merge_asof(left: Any, right: Any, on: str | None = None, left_on: str | None = None, right_on: str | None = None,
               left_index: bool = False, right_index: bool = False, by: Names = None, left_by: Names = None,
               right_by: Names = None, suffixes: Sequence[str | None] = ("_x", "_y"), tolerance: Any = None,
               allow_exact_matches: bool = True, direction: str = "backward", spec: str = "best",
               device: str | Device = "auto") -> Any:
    """For each left row the nearest right row of its group, as pandas.merge_asof, of frames in any order.

    direction  "backward": the last right row at or before; "forward": the first at or after; "nearest"
    by         columns in which both rows must be equal: one, or a list

    The result has the rows of the left frame in its order. A NULL in a group, or as a time, finds nothing. Frames that
    are sorted need no index; others are joined, too, where pandas wants a sort first.
    """
    if direction not in DIRECTIONS:
        raise ArgumentError(f"direction is {direction!r}; it is one of {', '.join(DIRECTIONS)}")
    if on is not None and (left_on is not None or right_on is not None or left_index or right_index):
        raise ArgumentError("give on, or a column or the index of each side (left_on or left_index, right_on or "
                            "right_index), not both")
    pair = _Pair(left, right)
    mine, name = _time(pair.left, "left", left_on if on is None else on, left_index)
    theirs, other = _time(pair.right, "right", right_on if on is None else on, right_index)
    groups: dict[str, Any] = {}
    shared = {name} if name is not None and name == other else set()
    if by is not None or left_by is not None or right_by is not None:
        lefts, rights = _keys(by, left_by, right_by, "by")
        groups = dict(zip(("left_by", "right_by"), _as_arrays(pair.columns("left", lefts),
                                                               pair.columns("right", rights))))
        shared |= {one for one, two in zip(lefts, rights) if one == two}
    times = _as_arrays([mine], [theirs])
    found = join_asof(*times, how="left", side=DIRECTIONS[direction], strict=not allow_exact_matches,
                      tolerance=tolerance, spec=spec, device=device, **groups)
    return _beside_left(pair, found[1], shared, suffixes, left_index)


def _time(source: Source, which: str, name: Any, index: bool) -> tuple[Any, str | None]:
    """The column of times of a side: one that is named, or pandas' index."""
    if index:
        if name is not None:
            raise ArgumentError(f"give {which}_index, or the name of a column of the {which} frame, not both")
        if source.kind != "pandas":
            raise ArgumentError(f"{which}_index is for frames of pandas")
        return source.frame.index.to_series(), None
    if isinstance(name, (list, tuple)) and len(name) == 1:
        name = name[0]
    if name is None or isinstance(name, (list, tuple)):
        raise ArgumentError(f"give on, or the column of the {which} frame: {which}_on, one name")
    name = str(name)
    if name not in source.names:
        raise ArgumentError(f"the {which} frame has no column {name!r}; it has {', '.join(map(repr, source.names))}")
    return source.column(name), name


def _beside_left(pair: _Pair, others: Any, shared: set[str], suffixes: Sequence[str | None], index: bool) -> Any:
    """The left frame as it is, with the columns of the right rows."""
    mine = list(pair.left.names)
    theirs = [name for name in pair.right.names if name not in shared]
    gaps = bool((others < 0).any())
    made = [gathered(pair.right.column(name), others, gaps) for name in theirs]
    _named(pair, mine, theirs, suffixes)
    if pair.left.kind != "pandas":
        return assembled(pair.left, list(zip(mine + theirs, [column for _, column in pair.left.columns] + made)))
    import pandas
    start = pair.left.frame.copy(deep=False)
    if not index:
        start.index = pandas.RangeIndex(len(start))
    start.columns = pandas.Index([pair.labels.get(name, name) for name in mine])
    more = assembled(pair.left, list(zip(theirs, made)), pair.labels)
    more.index = start.index
    return pandas.concat([start, more], axis=1) if theirs else start


def merge_overlap(left: Any, right: Any, start: str | Sequence[str], end: str | Sequence[str], by: Names = None,
                  closed: str = "both", how: str = "inner", suffixes: Sequence[str | None] = ("_x", "_y"),
                  spec: str = "best", device: str | Device = "auto") -> Any:
    """Pairs of rows whose intervals overlap.

    start, end  names of the columns with starts and ends; a tuple, if the right frame has other names
    by          columns in which both rows must be equal, too
    closed      "both": intervals that only touch overlap; "left", "right", "neither": they do not
    how         "inner", "left"; "semi" and "anti": rows of the left frame alone
    """
    pair = _Pair(left, right)
    starts, ends = _two(start, "start"), _two(end, "end")
    shared: set[str] = set()
    groups: dict[str, Any] = {}
    if by is not None:
        names = _list(by, "by")
        groups = dict(zip(("left_by", "right_by"), _as_arrays(pair.columns("left", names),
                                                               pair.columns("right", names))))
        shared = set(names)
    left_ends = pair.columns("left", [starts[0], ends[0]])
    right_ends = pair.columns("right", [starts[1], ends[1]])
    first, other_first = _as_arrays(left_ends[:1], right_ends[:1])
    last, other_last = _as_arrays(left_ends[1:], right_ends[1:])
    found = join_overlap(first, last, other_first, other_last, how=how, closed=closed, spec=spec, device=device, **groups)
    if how in ("semi", "anti"):
        return pair.left.take(found)
    return _beside(pair, found[0], found[1], shared, suffixes, how)


def _two(names: str | Sequence[str], what: str) -> tuple[str, str]:
    if isinstance(names, str):
        return names, names
    if len(names) != 2:
        raise ArgumentError(f"{what} is one name, or two: of the left and of the right frame")
    return names[0], names[1]
