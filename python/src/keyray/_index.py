"""Index: keys that are looked up again and again."""
from __future__ import annotations

import ctypes
import os
import threading
import weakref
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import numpy as np

from . import _progress
from . import _structs as c
from ._columns import as_chunks, as_column, as_columns, is_scalar
from ._convert import convert
from ._devices import FORKED, Device, Gate, _size, _text, device_of, facts, names_of, watch_forks
from ._errors import ArgumentError, ColumnTypeError, error_of
from ._library import call, lib, thread_error
from ._prepared import Prepared
from ._query import Query, Values, answer, answer_many, gather, nearest_options, split, want_of
from ._range import Range, joined
from ._types import DTYPES, FLOATS, INTEGERS, TEXTS, Column

# Batches up to this many probes are copied into memory whose address is known, which costs less than asking numpy.
SMALL = 1024

T = TypeVar("T")


class IndexInfo(NamedTuple):
    """What an index is."""

    spec: str
    device: str
    tracer: str
    types: tuple[str, ...]
    rows: int
    next_row: int
    footprint_nbytes: int
    peak_nbytes: int


class _Changes(NamedTuple):
    """Arguments of an update, and what they are made of, which stays as long."""

    arguments: tuple[Any, ...]
    nulls: np.ndarray[Any, Any] | None
    has_ids: bool
    kept: Any

    def nulls_from(self, before: np.ndarray[Any, Any] | None, first: int) -> np.ndarray[Any, Any] | None:
        """The rows of NULLs afterwards; inserted rows without ids have those from `first` on."""
        if self.nulls is None:
            return before
        rows = self.nulls if self.has_ids else self.nulls + np.uint32(first)
        return rows if before is None else np.concatenate([before, rows])


class Index:
    """An index over a column, or over several.

    keys      a column of anything: numpy, pandas, polars, Arrow, torch, cupy, a list; or a list, dict or frame of up to
              8 columns, whose rows are ordered by the first, then the second, and so on
    spec      the kind and its options; "best" chooses, "best:ranges=off" for points alone, "best:updates=on" for changes,
              "lookups=N", "batch=N" and "hits=PERCENT" say how lookups come
    values    columns by name (a dict or frame), or one column: a value for each row id, for sums, minima and maxima
    row_ids   the ids of the rows; without them 0, 1, 2, ...
    device    "cpu", "cuda", "auto" or a keyray.Device

    Keys are not needed afterwards; values are kept. Any number of threads may look up; a change waits for them.
    """

    __slots__ = ("_handle", "_device", "_gate", "_likes", "_many", "_values", "_wide", "_next_row", "_dtype", "_small", "_nulls",
                 "_prepared", "_finalizer", "_closed", "_version", "_unique", "_keys", "__weakref__")

    def __init__(self, keys: Any, spec: str = "best", *, values: Any = None, row_ids: Any = None,
                 device: str | Device = "auto") -> None:
        named = split(keys)
        columns = as_columns(keys if named is None else dict(enumerate_names(named))) if named else [as_column(keys)]
        if named is not None and not named:
            raise ArgumentError("an index takes at least one column of keys")
        where = "cuda" if device == "auto" and columns[0].on_device else device
        ids = _ids(row_ids, columns[0].count)
        made_on = device_of(where)
        kept = Values(values)
        made_on.check(*columns, ids, *kept.columns.values())
        stream = made_on.stream_of(columns[0].stream)
        given = None if ids is None else ids.struct.data
        if len(columns) == 1:
            handle = _progress.create(lib.kr_index_create, lib.kr_index_destroy, made_on.usable(), _text(spec),
                                      columns[0].reference, given, stream)
        else:
            together = (c.kr_column * len(columns))(*(column.struct for column in columns))
            handle = _progress.create(lib.kr_index_create_columns, lib.kr_index_destroy, made_on.usable(), _text(spec),
                                      together, len(columns), given, stream)
        self._set_up(handle, made_on, columns, kept, _nulls_of(columns, ids))

    def _set_up(self, handle: int, device: Device, keys: list[Column], values: Values, nulls: Any) -> None:
        """Takes over an index of the library; of `keys` only types, units and zones matter."""
        self._handle: int | None = handle
        self._device, self._gate = device, Gate()
        self._likes = [like_of(column) for column in keys]
        self._many = len(keys) > 1
        self._values, self._nulls = values, nulls
        self._small = threading.local()
        self._prepared: weakref.WeakSet[Prepared] = weakref.WeakSet()
        self._closed, self._version = "", 0
        self._unique: bool | None = None
        # pandas' calls ask whether keys repeat, for which they look the caller's keys up, while these are there.
        self._keys = None if keys[0].caller is None else _weak(keys[0].caller)
        simple = not self._many and keys[0].type in INTEGERS | FLOATS
        self._dtype: np.dtype[Any] | None = DTYPES[keys[0].type] if simple else None
        self._finalizer = weakref.finalize(self, _destroy, handle, device, os.getpid())
        self._finalizer.atexit = False
        self._know()
        watch_forks(self)

    def _know(self) -> None:
        info = c.kr_index_info(struct_size=ctypes.sizeof(c.kr_index_info))
        call(lib.kr_index_query, self._handle, ctypes.byref(info))
        self._next_row = info.next_row
        self._wide = info.next_row > 1 << 31

    # ---- Calls ----

    def _gone(self) -> int:
        raise ArgumentError(self._closed or "the index is closed")

    def _look(self, function: Any, query: Query, *arguments: Any) -> None:
        """Calls a function that reads the index; changes wait for it."""
        try:
            self._gate.enter()
            self._ask(function, query, *arguments)
        finally:
            self._gate.leave()

    def _ask(self, function: Any, query: Query, *arguments: Any) -> None:
        """The same by a caller that is in the gate, where it stays from one call to the next."""
        handle = self._handle or self._gone()
        like = query.like
        if like.on_device:
            self._device.check(like)
        stream = self._device.stream_of(query.stream)
        if query.count >= _progress.LONG:
            _progress.run_long(function, handle, *arguments, stream)
        else:
            call(function, handle, *arguments, stream)
        if like.on_device and (like.kind in ("cuda", "arrow") or stream is None):
            # Nobody orders the end of these columns behind our work.
            call(lib.kr_device_sync, self._device.usable(), stream)

    def _read(self, function: Callable[[int], T]) -> T:
        """Calls a function that reads facts of the index, and returns what it returns."""
        try:
            self._gate.enter()
            return function(self._handle or self._gone())
        finally:
            self._gate.leave()

    def _change(self, function: Any, *arguments: Any, then: Callable[[int], None] | None = None) -> None:
        """Calls a function that changes the index; waits for lookups. `then` gets the next_row that was before."""
        def changed() -> None:
            first = self._next_row
            self._know()
            if then is not None:
                then(first)

        try:
            self._gate.enter_alone()
            self._version += 1
            self._unique = None
            _progress.run_change(function, changed, self._handle or self._gone(), *arguments)
        finally:
            self._gate.leave_alone()

    # ---- Probes ----

    def _columns(self, probes: Any, what: str = "probes") -> list[Column]:
        """Probes as columns that compare with the keys."""
        if not self._many:
            return [as_column(probes, self._likes[0])]
        if isinstance(probes, (list, tuple)) and probes and all(is_scalar(value) for value in probes):
            probes = [[value] for value in probes]
        named = split(probes)
        if named is None:
            named = [("", probes)]
        if len(named) > len(self._likes):
            raise ArgumentError(f"{what}: {len(named)} columns were given; the index has {len(self._likes)}")
        return as_columns([column for _, column in named], self._likes)

    def _query(self, probes: Any) -> Query:
        return Query(self._columns(probes), many=self._many)

    def _queries(self, probes: Any, result: int) -> list[Query]:
        """A query for each chunk of the probes, where results of chunks lie one behind the other."""
        if self._many or result in (c.KR_RESULT_EXISTS, c.KR_RESULT_MIN, c.KR_RESULT_MAX):
            return [self._query(probes)]
        return [Query([column]) for column in as_chunks(probes, self._likes[0])]

    # ---- Lookups ----

    def lookup(self, probes: Any, result: Any = "row", *, out: Any = None) -> Any:
        """For each probe the smallest row id that has its key, or another result.

        result  "row", "count", "exists", "sum_rows", or of values ("sum", "price"), ("sum_wide", ...), ("min", ...),
                ("max", ...), with a name of Index(values=...) or a column
        out     an array to write the answers to, and to be returned

        No row is -1 in numpy, pandas, cupy and torch, NULL in Arrow, polars and pandas' Arrow types. An index over
        several columns takes a list of as many, or of the first few of them.
        """
        if type(probes) is np.ndarray and result == "row" and out is None and probes.dtype == self._dtype:
            if probes.ndim == 1 and probes.size <= SMALL and not self._wide:
                return self._lookup_small(probes)
        elif type(probes) is int and result == "row" and out is None and self._dtype is not None and not self._wide:
            one = _exact(probes, self._dtype)
            if one is not None:
                return self._lookup_small(one).item()
        number, values = want_of(result, self._values)
        return answer(self, self._queries(probes, number), number, values, out)

    def _lookup_small(self, probes: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """lookup() of few numbers, with structs and memory that the thread keeps."""
        try:
            kit = self._small.kit
        except AttributeError:
            kit = self._small.kit = _Kit(self._likes[0])
        if kit.busy:  # a callback of this thread's own call
            return answer(self, [Query([as_column(probes)])], c.KR_RESULT_ROW, None)  # type: ignore[no-any-return]
        count = probes.size
        gate = self._gate
        try:
            gate.enter()
            kit.busy = True
            kit.probes[:count] = probes
            kit.column.count = count
            status = lib.kr_index_lookup(self._handle or self._gone(), kit.column_at, kit.sink_at, None, kit.err_at)
            if status:
                raise error_of(kit.err)
            return kit.rows[:count].copy()  # type: ignore[no-any-return]
        finally:
            kit.busy = False
            gate.leave()

    def lookup_many(self, probes: Any, **results: Any) -> dict[str, Any]:
        """Several results of one search: lookup_many(q, n="count", total=("sum", "price")) has "n" and "total"."""
        wanted = {name: want_of(result, self._values) for name, result in results.items()}
        return answer_many(self, self._query(probes), wanted)

    def lookup_all(self, probes: Any, limit: int = 0, order: str = "row") -> Any:
        """All row ids of each probe, at most `limit` of each: (offsets, rows), or a column of lists in Arrow's kinds.

        Those of probe i are rows[offsets[i]:offsets[i + 1]]. They ascend, or with order="key" are in the order of keys.
        """
        query = self._query(probes)
        answers, offsets, rows = gather(self, query, limit, order, guess=query.count)
        return answers.lists(offsets, rows, self._wide)

    def contains(self, probes: Any) -> Any:
        """Whether each probe is a key."""
        return self.lookup(probes, "exists")

    def __contains__(self, key: Any) -> bool:
        return bool(self.lookup([key] if not self._many else [[value] for value in key], "exists")[0])

    def range(self, lower: Any = None, upper: Any = None) -> Range:
        """The keys between bounds, both included, as columns or single values; None: no bound.

        Of an index over several columns `lower` is a list, whose last column has the lower bounds; `upper` are the
        upper bounds of that column.
        """
        return Range.of_bounds(self, lower, upper)

    def prefix(self, texts: Any) -> Range:
        """The keys that begin with each text."""
        return Range.of_texts(self, texts, c.KR_TEXTS_PREFIX)

    def nearest(self, probes: Any, side: str = "below", strict: bool = False, tolerance: Any = None,
                result: Any = "row", *, out: Any = None) -> Any:
        """For each probe the row of the nearest key; of equal keys the last row from below, the first one from above.

        side       "below" (the largest key <= probe), "above", or "either"
        strict     leave out keys that equal the probe
        tolerance  how far away the key may be: a number, or a timedelta for dates and times
        result     as in lookup()
        """
        columns = self._columns(probes)
        options = nearest_options(side, strict, tolerance, self._likes[len(columns) - 1])
        number, values = want_of(result, self._values)
        return answer(self, [Query(columns, nearest=options, many=self._many)], number, values, out)

    def join(self, left: Any, how: str = "inner", upper: Any = None, *, unordered: bool = False) -> Any:
        """Joins a column with the keys: (left rows, rows of the index), sorted by both unless `unordered`.

        how    "inner", "left" (rows without a partner, too), "semi" and "anti" (left rows alone)
        upper  upper bounds: `left` has the lower ones then, and pairs have keys between both
        """
        return joined(self, left, how, upper, unordered)

    def prepare(self, probes: Any, out: Any = None, result: Any = "row") -> Prepared:
        """Binds probes and an array for answers once, to run many times: index.prepare(q, out).run()."""
        number, values = want_of(result, self._values)
        return Prepared(self, self._query(probes), number, values, out)

    # ---- Changes ----

    def update(self, insert: Any = None, insert_rows: Any = None, delete: Any = None) -> None:
        """Deletes all rows that have one of the keys `delete`, then inserts keys. Needs a kind that can.

        insert_rows  ids of the inserted rows; without them next_row (see `info`) and those after it
        """
        change = self._changes(insert, insert_rows, delete)

        def note(first: int) -> None:
            self._nulls = change.nulls_from(self._nulls, first)

        function = lib.kr_index_update_columns if self._many else lib.kr_index_update
        self._change(function, *change.arguments, then=note)

    def next_version(self, insert: Any = None, insert_rows: Any = None, delete: Any = None) -> Index:
        """Another index, as update() would leave this one, which stays as it is: lookups in it go on.

        Both are closed by their owners, in any order. Values are those of this index: where rows were inserted, give the
        new one columns that reach their row ids, with set_values(). Prepared lookups go over with Prepared.rebind().
        """
        change = self._changes(insert, insert_rows, delete)
        function = lib.kr_index_next_version_columns if self._many else lib.kr_index_next_version
        made = Index.__new__(Index)
        try:
            self._gate.enter()
            first = self._next_row
            handle = _progress.create(function, lib.kr_index_destroy, self._handle or self._gone(), *change.arguments)
            made._set_up(handle, self._device, self._likes, self._values, change.nulls_from(self._nulls, first))
        finally:
            self._gate.leave()
        return made

    def _changes(self, insert: Any, insert_rows: Any, delete: Any) -> _Changes:
        """What an update inserts and deletes."""
        added = None if insert is None else self._columns(insert, "insert")
        gone = None if delete is None else self._columns(delete, "delete")
        ids = None if insert_rows is None else _ids(insert_rows, added[0].count if added else 0)
        self._device.check(*(added or []), *(gone or []), ids)
        stream = self._device.stream_of(next((column.stream for column in [*(added or []), *(gone or [])]), None))
        given = None if ids is None else ids.struct.data
        more = _nulls_of(added, ids) if added and added[0].struct.validity else None
        if self._many:
            arguments = (self._whole(added), given, self._whole(gone), stream)
        else:
            arguments = (added and added[0].reference, given, gone and gone[0].reference, stream)
        return _Changes(arguments, more, ids is not None, (added, gone, ids))

    def _whole(self, columns: list[Column] | None) -> Any:
        if columns is None:
            return None
        if len(columns) != len(self._likes):
            raise ArgumentError(f"a change takes all {len(self._likes)} columns of the index; {len(columns)} were given")
        return (c.kr_column * len(columns))(*(column.struct for column in columns))

    def set_keys(self, rows: Any, keys: Any) -> None:
        """Gives other keys to rows: row rows[i] gets keys[i]. Needs a kind that can."""
        column = as_column(keys, self._likes[0])
        ids = _ids(rows, column.count)
        assert ids is not None
        self._device.check(column, ids)
        self._change(lib.kr_index_set_keys, ids.struct.data, column.reference, self._device.stream_of(column.stream))

    def set_values(self, values: Any) -> None:
        """Gives other columns of values, as Index(values=...) does: after rows were inserted, for example."""
        kept = Values(values)
        self._device.check(*kept.columns.values())
        self._values = kept

    # ---- Facts ----

    @property
    def info(self) -> IndexInfo:
        """Kind, device, types, rows, memory."""
        made = c.kr_index_info(struct_size=ctypes.sizeof(c.kr_index_info))
        try:
            self._gate.enter()
            call(lib.kr_index_query, self._handle or self._gone(), ctypes.byref(made))
        finally:
            self._gate.leave()
        types = tuple(like.type_name for like in self._likes)
        return IndexInfo(made.spec.decode(), made.device.decode(), made.tracer.decode(), types, made.rows,
                         made.next_row, made.footprint_nbytes, made.peak_nbytes)

    @property
    def components(self) -> dict[str, int]:
        """What the memory is used for, in bytes."""
        return self._read(lambda handle: names_of(lib.kr_index_component_count, lib.kr_index_component_name,
                                                  lib.kr_index_component_nbytes, handle))

    @property
    def phases(self) -> dict[str, float]:
        """The steps of the build or the last change, in seconds."""
        return self._read(lambda handle: names_of(lib.kr_index_phase_count, lib.kr_index_phase_name,
                                                  lib.kr_index_phase_seconds, handle))

    @property
    def counters(self) -> dict[str, int]:
        """What the kind counts of its structure; most kinds count nothing."""
        return self._read(lambda handle: names_of(lib.kr_index_counter_count, lib.kr_index_counter_name,
                                                  lib.kr_index_counter_value, handle))

    @property
    def device(self) -> Device:
        """The device that the index is on."""
        return self._device

    @property
    def values(self) -> list[str]:
        """The names of the columns of values."""
        return list(self._values.columns)

    def explain(self, probes: int = 1 << 20, operation: str = "point") -> dict[str, Any]:
        """What a batch of so many probes would do, and why: order, memory accesses, rays. Does nothing."""
        number = {"point": c.KR_OP_POINT, "range": c.KR_OP_RANGE, "build": c.KR_OP_BUILD, "join": c.KR_OP_JOIN}
        if operation not in number:
            raise ArgumentError(f"operation is {operation!r}; it is one of {', '.join(number)}")
        info = self.info
        keys = c.kr_column(self._likes[0].type if not self._many else c.KR_U64, 0, info.rows)
        if keys.type in TEXTS:
            keys.type = c.KR_U32
        made = c.kr_explanation(struct_size=ctypes.sizeof(c.kr_explanation))
        call(lib.kr_index_explain, self._device.usable(), number[operation], info.spec.encode(), ctypes.byref(keys),
             probes, ctypes.byref(made))
        return facts(made)

    def validate(self) -> None:
        """Checks every invariant; InvariantError names the first that is broken."""
        try:
            self._gate.enter()
            _progress.run_long(lib.kr_index_validate, self._handle or self._gone())
        finally:
            self._gate.leave()

    def __len__(self) -> int:
        return self.info.rows

    def __repr__(self) -> str:
        if not self._handle:
            return f"<keyray.Index: {self._closed or 'closed'}>"
        info = self.info
        values = f", values {', '.join(map(repr, self.values))}" if any(self.values) else ""
        return (f"<keyray.Index {info.spec.partition(':')[0]} on {info.device}: {info.rows} rows of "
                f"{', '.join(info.types)}, {_size(info.footprint_nbytes)}{values}>")

    # ---- pandas' calls ----

    def get_indexer(self, target: Any, method: str | None = None, limit: int | None = None,
                    tolerance: Any = None) -> np.ndarray[Any, Any]:
        """pandas' Index.get_indexer: a row for each target, -1 where there is none.

        pandas refuses every index whose keys repeat. Here that is found out as long as the caller's keys are there; later,
        where a target has several rows.
        """
        from ._pandas import get_indexer
        return get_indexer(self, target, method, limit, tolerance)

    def get_indexer_non_unique(self, target: Any) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        """pandas' call of that name: all rows of each target, -1 where there is none, and which have none."""
        from ._pandas import get_indexer_non_unique
        return get_indexer_non_unique(self, target)

    # ---- Files, pickles, the end ----

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the index and its values to a file, which keyray.load reads; an older file is replaced as a whole."""
        from ._saved import save_index
        save_index(self, path)

    def __reduce_ex__(self, protocol: Any) -> Any:
        from ._saved import index_from_pickle, pickled_index
        return index_from_pickle, pickled_index(self, int(protocol))

    def close(self) -> None:
        """Releases the memory. Waits for lookups; later calls are errors."""
        try:
            self._gate.enter_alone()
            for prepared in list(self._prepared):
                prepared.end()
            self._handle = None
            self._closed = "the index is closed"
            self._finalizer()
        finally:
            self._gate.leave_alone()

    def __enter__(self) -> Index:
        return self

    def __exit__(self, *_why: Any) -> None:
        self.close()

    def after_fork(self) -> None:
        """In a forked child: an index of a GPU is not there."""
        if self._device.kind != "cpu":
            self._handle = None
            self._closed = FORKED


class _Kit:
    """Structs and memory of one thread for lookups of few probes."""

    __slots__ = ("probes", "rows", "column", "sink", "err", "column_at", "sink_at", "err_at", "busy")

    def __init__(self, like: Column) -> None:
        self.probes = np.empty(SMALL, DTYPES[like.type])
        self.rows = np.empty(SMALL, np.int32)
        self.column = c.kr_column(like.type, 0, 0, self.probes.ctypes.data)
        self.sink = c.kr_sink(ctypes.sizeof(c.kr_sink), c.KR_RESULT_ROW, 0, None, self.rows.ctypes.data)
        thread_error()
        self.err = c.kr_error()
        self.column_at, self.sink_at = ctypes.byref(self.column), ctypes.byref(self.sink)
        self.err_at = ctypes.byref(self.err)
        self.busy = False


def _destroy(handle: int, device: Device, pid: int) -> None:
    """Of a GPU's index, in forked children: nothing."""
    if pid == os.getpid() or device.kind == "cpu":
        lib.kr_index_destroy(handle)


def _exact(value: int, dtype: np.dtype[Any]) -> np.ndarray[Any, Any] | None:
    """An int as an array of one element; None where the type may not hold it."""
    try:
        return np.array([value], dtype) if dtype.kind != "f" else None
    except OverflowError:
        return None


def _weak(obj: Any) -> Any:
    """A weak reference; None of what has none, as a list."""
    try:
        return weakref.ref(obj)
    except TypeError:
        return None


def like_of(column: Column) -> Column:
    """A column of no rows with the same type, to compare others with."""
    return Column("numpy", column.type, 0, None, None, unit=column.unit, zone=column.zone)


def enumerate_names(named: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """Columns with names that differ, for errors."""
    return [(name or f"column {i}", column) for i, (name, column) in enumerate(named)]


def _ids(rows: Any, count: int) -> Column | None:
    """Row ids as u32."""
    if rows is None:
        return None
    given = as_column(rows, name="row ids")
    if given.is_bool:
        raise ColumnTypeError("row ids are integers, not a mask of booleans: give np.flatnonzero(mask)")
    try:
        column = convert(given, c.KR_U32, name="row ids")
    except ColumnTypeError as cause:
        raise ColumnTypeError(f"row ids are integers from 0 to 4294967294: {cause}") from None
    if column.count != count:
        raise ArgumentError(f"there are {count} keys and {column.count} row ids")
    if column.valid() is not None if not column.on_device else column.struct.validity:
        raise ArgumentError("row ids must not be NULL")
    return column


def _nulls_of(columns: list[Column], ids: Column | None) -> np.ndarray[Any, Any] | None:
    """Row ids of keys that are NULL, which pandas' calls answer."""
    if len(columns) > 1 or columns[0].on_device or (ids is not None and ids.on_device):
        return None
    valid = columns[0].valid()
    if valid is None or valid.all():
        return None
    positions = np.flatnonzero(~valid).astype(np.uint32)
    return positions if ids is None else ids.values()[positions]


__all__ = ["Index", "IndexInfo"]
