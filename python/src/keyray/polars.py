"""keyray in polars' queries: lookups as expressions, and tables as LazyFrames.

    import keyray.polars as kp
    frame.lazy().with_columns(row=kp.row("key", index), known=kp.exists("key", index)).collect(engine="streaming")

The expressions are a plugin in C, which polars' threads call with no Python in between. Keep the Index until the query
has run.
"""
from __future__ import annotations

import ctypes
import inspect
import os
import struct
import threading
import warnings
import weakref
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from . import _structs as c
from ._errors import ArgumentError, UnsupportedError
from ._index import Index
from ._library import lib
from ._query import nearest_options

if TYPE_CHECKING:
    from ._table import Table

__all__ = ["count", "exists", "lazy_table", "nearest", "row"]


class _Functions(ctypes.Structure):
    _fields_ = [("lookup", ctypes.c_void_p), ("nearest", ctypes.c_void_p), ("lookup_columns", ctypes.c_void_p)]


def _path() -> str:
    return os.environ.get("KEYRAY_POLARS_PLUGIN") or str(Path(__file__).with_name("keyray_polars.so"))


class _Plugin:
    """The plugin, loaded once, and the numbers of the indexes that it knows."""

    def __init__(self) -> None:
        self.path = _path()
        try:
            self.cdll = ctypes.CDLL(self.path)
        except OSError as cause:
            raise UnsupportedError(f"keyray's plugin for polars cannot be loaded: {cause}") from None
        self.cdll.keyray_plugin_register.restype = ctypes.c_uint64
        self.cdll.keyray_plugin_register.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint32,
                                                          ctypes.c_uint64]
        self.cdll.keyray_plugin_lock.argtypes = [ctypes.c_uint64]
        self.cdll.keyray_plugin_unlock.argtypes = [ctypes.c_uint64, ctypes.c_void_p]
        calls = [ctypes.cast(getattr(lib, name), ctypes.c_void_p).value
                 for name in ("kr_index_lookup", "kr_index_nearest", "kr_index_lookup_columns")]
        self.functions = _Functions(*calls)

    def register(self, index: Index) -> tuple[int, int]:
        """A number for the index, and a mark that no other index has, also not in another process that gets the expression.

        Changes of the index wait for lookups in the plugin; its end closes the number.
        """
        mark = int.from_bytes(os.urandom(8), "little")
        types = (ctypes.c_uint32 * (2 * len(index._likes)))()
        for i, like in enumerate(index._likes):
            types[2 * i], types[2 * i + 1] = like.type, like.unit
        lock, unlock = self.cdll.keyray_plugin_lock, self.cdll.keyray_plugin_unlock
        known = weakref.ref(index)
        try:
            index._gate.enter()  # no change is under way while it becomes known
            number = int(self.cdll.keyray_plugin_register(
                index._handle or index._gone(), ctypes.addressof(self.functions), types, len(index._likes),
                mark))
            if not number:
                raise MemoryError("no memory to register an index with keyray's plugin for polars")

            def after() -> None:
                alive = known()
                unlock(number, None if alive is None else alive._handle)

            index._gate.beside.append((lambda: lock(number), after))
        finally:
            index._gate.leave()

        def end() -> None:
            lock(number)
            unlock(number, None)

        weakref.finalize(index, end).atexit = False
        return number, mark


_lock = threading.Lock()
_plugin: _Plugin | None = None
_numbers: weakref.WeakKeyDictionary[Index, tuple[int, int]] = weakref.WeakKeyDictionary()
_works: bool | None = None


def _number(index: Index) -> tuple[int, int]:
    global _plugin
    with _lock:
        if _plugin is None:
            _plugin = _Plugin()
        number = _numbers.get(index)
        if number is None:
            number = _numbers[index] = _plugin.register(index)
        return number


def _expression(name: str, probes: Any, index: Index, options: Any = None) -> pl.Expr:
    """An expression of the plugin, or of Python where this polars does not take it."""
    if not isinstance(index, Index):
        raise ArgumentError(f"an expression asks a keyray.Index, not {type(index).__name__}")
    several = isinstance(probes, (list, tuple))
    if several != index._many:
        raise ArgumentError(f"the index has {len(index._likes)} columns: give "
                            f"{'a list of as many expressions' if index._many else 'one expression'}")
    one = _together([_expr(probe) for probe in probes]) if several else _expr(probes)
    if not _plugin_works(index):
        return _in_python(name, one, index, options)
    return _registered(name, one, _number(index), options)


def _expr(probe: Any) -> pl.Expr:
    return pl.col(probe) if isinstance(probe, str) else probe if isinstance(probe, pl.Expr) else pl.lit(probe)


def _together(probes: list[pl.Expr]) -> pl.Expr:
    """Several columns as one struct, which aligns their chunks; it has the name of the first."""
    one = pl.struct([probe.alias(str(i)) for i, probe in enumerate(probes)])
    name = probes[0].meta.output_name(raise_if_undetermined=False)
    return one if name is None else one.alias(name)


def _registered(name: str, one: pl.Expr, number: tuple[int, int], options: Any) -> pl.Expr:
    from polars.plugins import register_plugin_function
    side = strict = limited = tolerance = bits = 0
    if options is not None:
        side, strict, limited = options.side or c.KR_NEAREST_BELOW, options.strict, options.limited
        tolerance = options.tolerance & 0xFFFFFFFFFFFFFFFF
        bits = struct.unpack("<Q", struct.pack("<d", options.float_tolerance))[0]
    carried = f"keyray:{number[0]:x}:{number[1]:x}:{side:x}:{strict:x}:{limited:x}:{tolerance:x}:{bits:x};"
    return register_plugin_function(plugin_path=_path(), function_name=name, args=[one], kwargs={"index": carried},
                                    is_elementwise=True)


def _plugin_works(index: Index) -> bool:
    """Whether this polars takes plugins of our version: tried once, with a row that is NULL."""
    global _works
    if _works is None:
        number = _number(index)
        nothing = pl.Series("probe", [None], dtype=pl.Null)
        probe = pl.struct([nothing.alias(str(i)) for i in range(len(index._likes))]) if index._many else pl.lit(nothing)
        try:
            pl.select(_registered("row", probe, number, None))
            _works = True
        except pl.exceptions.PolarsError as cause:
            _works = False
            warnings.warn(f"polars {pl.__version__} does not take keyray's plugin, which is of version 0.1 of its "
                          f"interface: {cause}. Expressions run in Python by map_batches instead, slower and in turn",
                          RuntimeWarning, stacklevel=4)
    return _works


def _in_python(name: str, one: pl.Expr, index: Index, options: Any) -> pl.Expr:
    """The same answers by map_batches."""
    def run(probes: pl.Series) -> pl.Series:
        given: Any = probes.struct.unnest().get_columns() if index._many else probes
        if name == "nearest":
            side = {c.KR_NEAREST_ABOVE: "above", c.KR_NEAREST_EITHER: "either"}.get(options.side, "below")
            limit = options.float_tolerance or options.tolerance if options.limited else None
            found = index.nearest(given, side, bool(options.strict), limit)
        else:
            found = index.contains(given) if name == "exists" else index.lookup(given, name)
        made: pl.Series = found.alias(probes.name)
        return made

    dtype = {"exists": pl.Boolean(), "count": pl.UInt64()}.get(name, pl.UInt32())
    return one.map_batches(run, return_dtype=dtype, is_elementwise=True)


def row(probes: Any, index: Index) -> pl.Expr:
    """The smallest row of the index whose key equals, as u32, NULL where there is none.

    `probes`: an expression or the name of a column; a list of them for an index over several columns.
    """
    return _expression("row", probes, index)


def count(probes: Any, index: Index) -> pl.Expr:
    """How many rows of the index have the key, as u64."""
    return _expression("count", probes, index)


def exists(probes: Any, index: Index) -> pl.Expr:
    """Whether the index has the key."""
    return _expression("exists", probes, index)


def nearest(probes: Any, index: Index, side: str = "below", strict: bool = False, tolerance: Any = None) -> pl.Expr:
    """The row of the nearest key, as Index.nearest finds it; of several columns the last one is near, others equal."""
    options = nearest_options(side, strict, tolerance, index._likes[-1])
    return _expression("nearest", probes, index, options)


# ---- Tables as sources ----


def lazy_table(table: Table) -> pl.LazyFrame:
    """Table.lazy."""
    from polars.io.plugins import register_io_source
    whole = _as_polars(table)

    def source(with_columns: list[str] | None, predicate: pl.Expr | None, n_rows: int | None,
               batch_size: int | None) -> Iterator[pl.DataFrame]:
        return _batches(table, with_columns, predicate, n_rows, batch_size)

    shown = {"validate_schema": True, "is_pure": True, "explain_name": "keyray.Table", "explain_detail": table.info["spec"]}
    known = inspect.signature(register_io_source).parameters  # older versions of polars have fewer
    return register_io_source(source, schema=whole.schema,
                              **{name: value for name, value in shown.items() if name in known})


def _as_polars(table: Table) -> pl.DataFrame:
    frame = table._whole().frame
    if isinstance(frame, pl.DataFrame):
        return frame
    made = pl.from_pandas(frame) if table.kind == "pandas" else pl.from_arrow(frame) if table.kind == "arrow" else \
        pl.DataFrame(frame)
    assert isinstance(made, pl.DataFrame)
    return made


def _batches(table: Table, names: Sequence[str] | None, predicate: pl.Expr | None, n_rows: int | None,
             batch_size: int | None) -> Iterator[pl.DataFrame]:
    """The rows that the table's scan leaves, filtered by what it cannot answer, since polars does not filter again."""
    from ._polars_predicates import split_predicate
    whole = _as_polars(table)
    condition, rest = split_predicate(predicate, table, whole.schema)
    info = table.info
    if condition is not None or info["alive_rows"] < info["rows"]:
        ids = pl.Series(table.where(True if condition is None else condition)._ids())
        if rest is None and n_rows is not None:
            ids = ids.head(n_rows)
        needed = whole.columns if names is None else list(dict.fromkeys(
            [*names, *(rest.meta.root_names() if rest is not None else ())]))
        whole = whole.select(needed)[ids]
    if rest is not None:
        whole = whole.filter(rest)
    if names is not None:
        whole = whole.select(names)
    if n_rows is not None:
        whole = whole.head(n_rows)
    yield from whole.iter_slices(max(batch_size or whole.height, 1)) if whole.height else (whole,)
