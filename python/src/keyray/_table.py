"""Table: columns that are asked with conditions, again and again."""
from __future__ import annotations

import ctypes
import datetime
import os
import threading
import weakref
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from . import _structs as c
from . import _table_versions as versions
from ._columns import as_column
from ._conditions import Condition, condition_of
from ._devices import Device, Gate, _text, device_of, facts, names_of
from ._errors import ArgumentError, ColumnTypeError
from ._library import call, lib
from ._progress import LONG, create, run_change, run_long
from ._sources import Source, mask_in, rows_in, source_of
from ._types import BINARIES, DTYPES, FLOATS, INTEGERS, SIGNED, TEXTS, UNITS, Column

__all__ = ["Selection", "Table"]

T = TypeVar("T")

_RESULTS = {"count": c.KR_SCAN_COUNT, "rows": c.KR_SCAN_ROWS, "mask": c.KR_SCAN_BITMAP, "sum": c.KR_SCAN_SUM,
            "min": c.KR_SCAN_MIN, "max": c.KR_SCAN_MAX}
_ROWS = Column("numpy", c.KR_U32, 0, None, None)  # what ids of rows are compared with


class Table:
    """Columns of one length, and what a kind of scan builds of them.

        t = keyray.Table(frame)
        t.where("a < 5 and b between 3 and 7").count()
        t.where((col("a") < 5) & col("b").between(3, 7)).frame()

    `frame` is of pandas, polars or pyarrow, a relation of DuckDB, a dict of columns, or anything that exports an Arrow
    stream. `copy`: "auto" copies what you could change behind the table, arrays of numpy that can be written; frames
    of pandas 3, polars and Arrow are shared. "always" copies all columns. "never" copies nothing: the columns must not
    change as long as the table is used.

    Rows have ids from 0 on, which stay when rows are deleted. len() is how many rows are alive.
    """

    def __init__(self, frame: Any, spec: str = "best", copy: str = "auto", device: str | Device = "auto") -> None:
        source = source_of(frame, copy)
        self._setup(device_of(device), source)
        columns = [as_column(column, name=name) for name, column in source.columns]
        if not columns:
            raise ArgumentError("a table needs a column")
        for column in columns:
            if column.count != columns[0].count:
                raise ArgumentError(f"columns differ in length: {columns[0].name!r} has {columns[0].count} rows, "
                                    f"{column.name!r} {column.count}")
        self._columns = [_without_data(column) for column in columns]
        self._owners: list[Any] = [column.owner for column in columns]
        self._create(spec, columns, copy)

    def _setup(self, device: Device, source: Source | None) -> None:
        self.device = device
        self._source = source
        self._more: list[tuple[Source, int]] = []  # what was appended, each with the rows that it ends at
        self._unsettled = False
        self._gate = Gate()
        self._handle: int | None = None
        self._joining = threading.Lock()
        self._pid = os.getpid()

    def _create(self, spec: str, columns: list[Column], copy: str) -> None:
        count = len(columns)
        structs = (c.kr_column * count)(*(column.struct for column in columns))
        names = (ctypes.c_char_p * count)(*(_name(column.name) for column in columns))
        units = (ctypes.c_int * count)(*(column.unit for column in columns))
        options = c.kr_table_options(struct_size=ctypes.sizeof(c.kr_table_options))
        options.units = ctypes.addressof(units)
        self.device.settle(*columns)
        on_device = any(column.on_device for column in columns)
        if copy == "always" and on_device:
            options.copy = c.KR_COPY_ALWAYS
        stream = self.device.stream_of(next((one.stream for one in columns if one.stream), None))
        self._adopt(create(lib.kr_table_create, lib.kr_table_destroy, self.device.usable(), _text(spec), structs, names,
                           count, ctypes.byref(options), stream))

    def _adopt(self, handle: int) -> None:
        self._handle = handle
        self._finalizer = weakref.finalize(self, _destroy, handle, os.getpid(), self.device)
        self._finalizer.atexit = False
        self._positions = {column.name: i for i, column in enumerate(self._columns)}
        self._count = int(self.info["rows"])

    # ---- Questions ----

    def where(self, condition: Any = True) -> Selection:
        """The rows for which a condition is true: a text, or made with keyray.col. Nothing is read yet."""
        return Selection(self, condition_of(condition))

    def scan(self, conditions: Sequence[Any], result: str = "count") -> list[Any]:
        """Answers up to 64 conditions in one call, which shares what it reads.

        Each is a condition, for which `result` is given, or a tuple of a condition and a result: ("a < 5", "count"),
        ("a < 5", "rows"), ("a < 5", "mask"), ("a < 5", "sum", "price"), also "min" and "max".
        """
        wanted = []
        for item in conditions:
            parts = item if isinstance(item, tuple) else (item, *(result if isinstance(result, tuple) else (result,)))
            wanted.append((condition_of(parts[0]), *self._wish(*parts[1:])))
        if not wanted:
            return []
        if len(wanted) > 64:
            raise ArgumentError(f"{len(wanted)} conditions were given; one call answers at most 64")
        return self._answer(wanted)

    def _wish(self, result: str = "count", column: str | None = None) -> tuple[int, int]:
        """A result as the library calls it, and the place of its column."""
        if result not in _RESULTS:
            raise ArgumentError(f"a scan gives one of {', '.join(_RESULTS)}; not {result!r}")
        kind = _RESULTS[result]
        if (kind in (c.KR_SCAN_SUM, c.KR_SCAN_MIN, c.KR_SCAN_MAX)) != (column is not None):
            raise ArgumentError(f"{result!r} {'takes no' if column is not None else 'needs the name of a'} column")
        if column is None:
            return kind, 0
        place = self._place(column)
        if kind == c.KR_SCAN_SUM:
            type = self._columns[place].type
            if type in INTEGERS:
                return c.KR_SCAN_SUM_WIDE, place
            if type not in FLOATS:
                raise ColumnTypeError(f"column {column!r} is {self._columns[place].type_name}, which has no sum")
        return kind, place

    def _place(self, name: str) -> int:
        if name not in self._positions:
            raise ArgumentError(f"the table has no column {name!r}; it has {', '.join(map(repr, self._positions))}")
        return self._positions[name]

    def _answer(self, wanted: list[tuple[Condition, int, int]]) -> list[Any]:
        """Answers of one scan. The gate keeps changes away, so sizes that are asked first hold."""
        rows_of = [i for i, (_, kind, _) in enumerate(wanted) if kind == c.KR_SCAN_ROWS]
        try:
            self._gate.enter()
            self._used()  # sizes of bitmaps are those of now
            if not rows_of:
                outs = [self._out(kind, place, 0) for _, kind, place in wanted]
                self._run(wanted, outs)
            else:
                counted = [(wanted[i][0], c.KR_SCAN_COUNT, 0) for i in rows_of]
                sizes = [self._out(c.KR_SCAN_COUNT, 0, 0) for _ in rows_of]
                self._run(counted, sizes)
                room = {i: size.words[0] for i, size in zip(rows_of, sizes)}
                outs = [self._out(kind, place, room.get(i, 0)) for i, (_, kind, place) in enumerate(wanted)]
                self._run(wanted, outs)
            return [self._given(out) for out in outs]
        finally:
            self._gate.leave()

    def _out(self, kind: int, place: int, room: int) -> _Out:
        return _Out(kind, place, room, self._count if kind == c.KR_SCAN_BITMAP else 0)

    def _run(self, wanted: list[tuple[Condition, int, int]], outs: list[_Out]) -> None:
        many = len(wanted)
        conditions = (ctypes.c_void_p * many)(*(condition.handle for condition, _, _ in wanted))
        sinks = (ctypes.c_void_p * many)(*(ctypes.addressof(out.sink) for out in outs))
        run = run_long if self._count * many >= LONG * 64 else call
        run(lib.kr_scan, self._used(), conditions, sinks, many, None, None)

    def _given(self, out: _Out) -> Any:
        kind = out.kind
        if kind == c.KR_SCAN_COUNT:
            return int(out.words[0])
        if kind == c.KR_SCAN_ROWS:
            return rows_in(self.kind, out.array)
        if kind == c.KR_SCAN_BITMAP:
            return mask_in(None if self._source is None else self._whole(), out.array.view(np.uint8), self._count)
        if not out.valid.value:
            return None
        column = self._columns[out.place]
        if kind == c.KR_SCAN_SUM_WIDE:
            total = int(out.words[0]) | int(out.words[1]) << 64
            return total - (1 << 128) if column.type in SIGNED and total >> 127 else total
        if kind == c.KR_SCAN_SUM:
            return float(out.words.view(np.float64)[0])
        return self._value(out.place, out.words)

    def _value(self, place: int, words: np.ndarray[Any, Any]) -> Any:
        """A least or greatest value as Python has it; times as numpy.datetime64."""
        column = self._columns[place]
        if column.type in TEXTS:
            return self._text(place, int(words.view(np.uint32)[0]), column.type in BINARIES)
        value = words.view(DTYPES[column.type])[0].item()
        if column.type == c.KR_DATE32:
            return datetime.date(1970, 1, 1) + datetime.timedelta(days=value)
        if column.type == c.KR_TIMESTAMP64:
            return np.int64(value).view(f"M8[{UNITS[column.unit]}]") if column.unit in UNITS else value
        return bool(value) if column.is_bool else value

    def _text(self, place: int, code: int, binary: bool) -> str | bytes:
        texts = lib.kr_table_texts(self._used(), place)
        codes = np.array([code], np.uint32)
        offsets = np.zeros(2, np.int64)
        call(lib.kr_texts_decode, texts, codes.ctypes.data, 1, offsets.ctypes.data, None, 0, None)
        room = np.zeros(int(offsets[1]) + 1, np.uint8)
        call(lib.kr_texts_decode, texts, codes.ctypes.data, 1, offsets.ctypes.data, room.ctypes.data, len(room), None)
        found = room[:int(offsets[1])].tobytes()
        return found if binary else found.decode(errors="surrogateescape")

    # ---- Changes ----

    def append(self, frame: Any) -> None:
        """Appends the rows of a frame that has the table's columns, by name; their ids count on."""
        columns, more, arguments = self._rows_of(frame)
        if not columns[0].count:  # the table goes on reading the memory that it references
            return

        try:
            self._gate.enter_alone()
            handle = self._used()
            self._unsettled = True
            if more is not None:
                self._more.append((more, self._count + columns[0].count))
            run_change(lib.kr_table_append, self._appended, handle, *arguments)
        finally:
            self._gate.leave_alone()

    def _rows_of(self, frame: Any) -> tuple[list[Column], Source | None, tuple[Any, ...]]:
        """Rows to append: columns of the table's types, what they come from, and arguments of an append."""
        source = source_of(frame, "auto")
        missing = [name for name in self._positions if name not in source.names]
        extra = [name for name in source.names if name not in self._positions]
        if missing or extra:
            raise ArgumentError("the columns of the rows to append are not those of the table: "
                                + "; ".join(filter(None, (f"missing {missing}" if missing else "",
                                                          f"unknown {extra}" if extra else ""))))
        columns = [as_column(source.column(one.name), like=one, name=one.name) for one in self._columns]
        for column in columns:
            if column.count != columns[0].count:
                raise ArgumentError(f"columns differ in length: {columns[0].name!r} has {columns[0].count} rows, "
                                    f"{column.name!r} {column.count}")
        self.device.settle(*columns)
        own = self._source
        structs = (c.kr_column * len(columns))(*(column.struct for column in columns))
        stream = self.device.stream_of(next((one.stream for one in columns if one.stream), None))
        return columns, None if own is None else own.like_this(source), (structs, len(columns), stream)

    def _appended(self) -> None:
        self._owners = []

    def _settle(self, handle: int) -> None:
        """Behind an append: an exception of a signal may have come before or after the rows were there."""
        made = c.kr_table_info(struct_size=ctypes.sizeof(c.kr_table_info))
        call(lib.kr_table_query, handle, ctypes.byref(made))
        with self._joining:
            self._more = [(source, end) for source, end in self._more if end <= made.rows]
            self._count = made.rows
            self._unsettled = False

    def delete(self, rows: Any) -> int:
        """Deletes rows: those of a condition, or of ids. Returns how many were alive. Other rows keep their ids."""
        deleted = ctypes.c_uint64()
        where, arguments, _ = self._doomed(rows)
        self._changed(lib.kr_table_delete_where if where else lib.kr_table_delete, *arguments, ctypes.byref(deleted))
        return deleted.value

    def _doomed(self, rows: Any) -> tuple[bool, tuple[Any, ...], Any]:
        """Rows to delete: whether a condition says which, arguments, and what must stay as long as these."""
        if isinstance(rows, Selection) and rows._table is not self:
            raise ArgumentError("the rows to delete were selected from another table")
        if isinstance(rows, (str, Condition, Selection, bool)):
            condition = rows._condition if isinstance(rows, Selection) else condition_of(rows)
            return True, (condition.handle, None), condition
        given = as_column(rows, name="rows")
        if given.is_bool:
            raise ColumnTypeError("rows to delete are given by their ids, not by a mask of booleans: give the condition, or "
                                  "np.flatnonzero(mask)")
        column = as_column(given, like=_ROWS, name="rows")
        self.device.settle(column)
        if column.struct.validity if column.on_device else column.valid() is not None:
            raise ArgumentError("ids of rows to delete must not be NULL")
        return False, (column.struct.data, column.count, None), column

    def next_append(self, frame: Any) -> Table:
        """Another table, as append() would leave this one, which stays as it is: its scans go on. Both share what they
        can, and are closed by their owners, in any order."""
        return versions.next_append(self, frame)

    def next_delete(self, rows: Any) -> Table:
        """Another table, as delete() would leave this one. Shares all but which rows are alive."""
        return versions.next_delete(self, rows)

    def _changed(self, function: Any, *arguments: Any) -> None:
        try:
            self._gate.enter_alone()
            run_long(function, self._used(), *arguments)
        finally:
            self._gate.leave_alone()

    # ---- What it is ----

    @property
    def kind(self) -> str:
        """Whose the frame was: "pandas", "polars", "arrow" or "numpy"; answers are of the same."""
        return "numpy" if self._source is None else self._source.kind

    @property
    def columns(self) -> list[str]:
        """The names of its columns."""
        return list(self._positions)

    @property
    def alive(self) -> Any:
        """Booleans, one for each row: False where it was deleted."""
        return self.where(True).mask()

    @property
    def info(self) -> dict[str, Any]:
        """What the library says of the table: spec, reason, rows, alive_rows, bytes."""
        def read(handle: int) -> dict[str, Any]:
            made = c.kr_table_info(struct_size=ctypes.sizeof(c.kr_table_info))
            call(lib.kr_table_query, handle, ctypes.byref(made))
            return facts(made)
        return self._read(read)

    @property
    def phases(self) -> dict[str, float]:
        """Seconds of the steps of the creation, or of the last change."""
        return self._read(lambda handle: names_of(lib.kr_table_phase_count, lib.kr_table_phase_name,
                                                  lib.kr_table_phase_seconds, handle))

    @property
    def components(self) -> dict[str, int]:
        """Bytes by what they hold."""
        return self._read(lambda handle: names_of(lib.kr_table_component_count, lib.kr_table_component_name,
                                                  lib.kr_table_component_nbytes, handle))

    @property
    def counters(self) -> dict[str, int]:
        """Counters of what the kind built."""
        return self._read(lambda handle: names_of(lib.kr_table_counter_count, lib.kr_table_counter_name,
                                                  lib.kr_table_counter_value, handle))

    def validate(self) -> None:
        """Checks every invariant of what was built; an error names the first that is broken."""
        try:
            self._gate.enter()
            run_long(lib.kr_table_validate, self._used())
        finally:
            self._gate.leave()

    def lazy(self) -> Any:
        """A polars LazyFrame of the table, whose filters the table answers where it can."""
        from .polars import lazy_table
        return lazy_table(self)

    def close(self) -> None:
        """Gives its memory back now; the table cannot be used afterwards."""
        try:
            self._gate.enter_alone()
            self._handle = None
            self._finalizer()
            self._source, self._more, self._owners = None, [], []
        finally:
            self._gate.leave_alone()

    def __enter__(self) -> Table:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __len__(self) -> int:
        return int(self.info["alive_rows"])

    def __repr__(self) -> str:
        if self._handle is None:
            return "<keyray.Table, closed>"
        info = self.info
        shown = ", ".join(f"{column.name}: {column.type_name}" for column in self._columns[:8])
        more = ", ..." if len(self._columns) > 8 else ""
        gone = info["rows"] - info["alive_rows"]
        return (f"<keyray.Table of {info['alive_rows']:,} rows ({shown}{more}){f', {gone:,} deleted' if gone else ''}; "
                f"{info['spec']} on {info['device']}, {info['footprint_nbytes'] / 2**20:,.1f} MiB>")

    def save(self, path: str | os.PathLike[str], frame: bool = True) -> None:
        """Saves the table to a file, with all that was built, for Table.load and keyray.load.

        `frame` saves the caller's columns beside it, so that frame() gives them back after loading. Without, the
        file is half as large, and frame() of what is loaded is an error.
        """
        from ._table_files import save_table
        save_table(self, path, frame)

    @classmethod
    def load(cls, path: str | os.PathLike[str], device: str | Device = "auto", verify: bool = True) -> Table:
        """Opens a saved table with no build. `verify=False` trusts the file and reads only what scans touch."""
        from ._table_files import load_table
        return load_table(path, device, verify)

    def __reduce__(self) -> Any:
        from ._table_files import reduce_table
        return reduce_table(self)

    def _read(self, function: Callable[[int], T]) -> T:
        """Calls a function that reads facts of the table, and returns what it returns."""
        try:
            self._gate.enter()
            return function(self._used())
        finally:
            self._gate.leave()

    def _used(self) -> int:
        handle = self._handle
        if handle is None:
            raise ArgumentError("the table is closed")
        if self._pid != os.getpid():
            self.device.usable()
        if self._unsettled:
            self._settle(handle)
        return handle

    def _whole(self) -> Source:
        """All rows that the table was given, as one frame. The caller is in the gate."""
        if self._source is None:
            self._used()
            raise ArgumentError("the table was loaded from a file that has no frame in it: its rows() and mask() are "
                                "there; save it with frame=True to have frame(), too")
        self._used()
        with self._joining:  # of several readers one joins
            if self._more:
                self._source, self._more = self._source.joined(source for source, _ in self._more), []
            return self._source


class Selection:
    """The rows of a table for which a condition is true. Each method is one scan."""

    __slots__ = ("_table", "_condition")

    def __init__(self, table: Table, condition: Condition) -> None:
        self._table, self._condition = table, condition

    def where(self, condition: Any) -> Selection:
        """Those of these rows for which another condition is true, too."""
        return Selection(self._table, self._condition & condition_of(condition))

    def count(self) -> int:
        """How many rows there are."""
        table = self._table
        out = _Count()
        try:
            table._gate.enter()
            out.handles[0] = self._condition.handle
            if table._count >= LONG * 64:
                run_long(lib.kr_scan, table._used(), out.handles, out.places, 1, None, None)
            else:
                call(lib.kr_scan, table._used(), out.handles, out.places, 1, None, None)
        finally:
            table._gate.leave()
        return out.number.value

    __len__ = count

    def exists(self) -> bool:
        """Whether there is any."""
        return self.count() > 0

    def _one(self, result: str, column: str | None = None) -> Any:
        return self._table._answer([(self._condition, *self._table._wish(result, column))])[0]

    def rows(self) -> Any:
        """Their ids, ascending."""
        return self._one("rows")

    def mask(self) -> Any:
        """Booleans, one for each row of the table, in the caller's kind."""
        return self._one("mask")

    def sum(self, column: str) -> Any:
        """The sum of a column's values, exact for integers; None if there is no value."""
        return self._one("sum", column)

    def min(self, column: str) -> Any:
        """The least value; None if there is none. NaN is above all others."""
        return self._one("min", column)

    def max(self, column: str) -> Any:
        """The greatest value; None if there is none."""
        return self._one("max", column)

    def frame(self, columns: Sequence[str] | None = None) -> Any:
        """The rows themselves, of all columns or of those named, in the caller's kind."""
        table = self._table
        try:
            table._gate.enter()  # rows and frame are of one state
            whole, ids = table._whole(), self._ids()
        finally:
            table._gate.leave()
        return whole.take(ids, columns)

    def _ids(self) -> np.ndarray[Any, Any]:
        rows = self._one("rows")
        return rows if isinstance(rows, np.ndarray) else rows.to_numpy()

    def explain(self) -> str:
        """How the table answers it: the condition in its normal form, and what reads which column."""
        room = ctypes.create_string_buffer(1 << 16)
        table = self._table
        try:
            table._gate.enter()
            call(lib.kr_scan_explain, table._used(), self._condition.handle, room, len(room))
        finally:
            table._gate.leave()
        return room.value.decode(errors="replace")

    def __repr__(self) -> str:
        return f"<rows of keyray.Table where {self._condition._shown() or 'true'}>"


class _Out:
    """Where one answer goes."""

    __slots__ = ("kind", "place", "words", "array", "valid", "sink")

    def __init__(self, kind: int, place: int, room: int, count: int) -> None:
        self.kind, self.place = kind, place
        self.words = np.zeros(2, np.uint64)
        self.valid = ctypes.c_uint8()
        self.sink = c.kr_scan_sink(struct_size=ctypes.sizeof(c.kr_scan_sink), result=kind, column=place)
        out: Any = self.words
        if kind == c.KR_SCAN_BITMAP:
            out = self.array = np.zeros((count + 31) // 32, np.uint32)
        elif kind == c.KR_SCAN_ROWS:
            self.array = np.empty(room, np.uint32)
            self.sink.rows = self.array.ctypes.data if room else None
            self.sink.rows_capacity = room
        elif kind != c.KR_SCAN_COUNT:
            self.sink.valid = ctypes.addressof(self.valid)
        self.sink.out = out.ctypes.data


class _Count:
    """As _Out, of one count, with as few objects as there can be: it is what a short scan spends most time for."""

    __slots__ = ("number", "sink", "handles", "places")

    def __init__(self) -> None:
        self.number = ctypes.c_uint64()
        self.sink = c.kr_scan_sink(struct_size=_SINK_NBYTES, result=c.KR_SCAN_COUNT,
                                   out=ctypes.addressof(self.number))
        self.handles = (ctypes.c_void_p * 1)()
        self.places = (ctypes.c_void_p * 1)(ctypes.addressof(self.sink))


_SINK_NBYTES = ctypes.sizeof(c.kr_scan_sink)


def _name(name: str) -> bytes:
    if "\0" in name:
        raise ArgumentError(f"the name of a column has a zero byte: {name!r}")
    return name.encode()


def _without_data(column: Column) -> Column:
    """What a column is, without its memory."""
    made = Column(column.kind, column.type, 0, None, None, unit=column.unit, zone=column.zone, is_bool=column.is_bool)
    made.name = column.name
    return made


def _destroy(handle: int | None, pid: int, device: Device) -> None:
    if handle is not None and (pid == os.getpid() or device.kind == "cpu"):
        lib.kr_table_destroy(handle)
