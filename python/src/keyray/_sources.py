"""Frames as tables and joins see them: columns in, and rows of the same kind of frame out."""
from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ._columns import columns_of, root_of, times_of
from ._errors import ArgumentError, ColumnTypeError

__all__ = ["Source", "assembled", "coalesced", "gathered", "mask_in", "rows_in", "source_of"]

COPIES = ("auto", "always", "never")


class Source:
    """A frame of some library, kept as it was. `kind` says what answers become."""

    kind = "numpy"

    def __init__(self, frame: Any) -> None:
        self.frame = frame
        self.columns: list[tuple[str, Any]] = columns_of(frame)
        self.names = [name for name, _ in self.columns]
        if len(set(self.names)) != len(self.names):
            twice = next(name for name in self.names if self.names.count(name) > 1)
            raise ArgumentError(f"two columns have the name {twice!r}; names must differ, also as texts")

    def column(self, name: str) -> Any:
        """A column as the frame has it."""
        try:
            return self.columns[self.names.index(name)][1]
        except ValueError:
            raise ArgumentError(f"there is no column {name!r}; there are {', '.join(map(repr, self.names))}") from None

    def chosen(self, names: Sequence[str] | None) -> list[str]:
        """The names that are asked for, which must be there."""
        if isinstance(names, str):
            raise ColumnTypeError(f"names of columns come in a list: [{names!r}]")
        for name in names or ():
            self.column(name)
        return self.names if names is None else list(names)

    def take(self, rows: np.ndarray[Any, Any], names: Sequence[str] | None = None) -> Any:
        """The frame of these rows."""
        raise NotImplementedError

    def joined(self, others: Iterable[Source]) -> Source:
        """This frame and others below it, which like_this() gave."""
        raise NotImplementedError

    def like_this(self, other: Source) -> Source:
        """A frame of this one's library with its columns, in its types where these hold the values, as joined() wants it.

        The caller has made sure that all values convert exactly.
        """
        if isinstance(other, type(self)):
            return other
        raise ArgumentError(f"the rows are of {other.kind}, the table is of {self.kind}: convert them")


class _Arrays(Source):
    """A dict of arrays."""

    def take(self, rows: np.ndarray[Any, Any], names: Sequence[str] | None = None) -> Any:
        return {name: _taken(self.column(name), rows) for name in self.chosen(names)}

    def like_this(self, other: Source) -> Source:
        super().like_this(other)
        return _Arrays({name: _fitted(other.column(name), self.column(name)) for name in self.names})

    def joined(self, others: Iterable[Source]) -> Source:
        parts = [self, *others]
        return _Arrays({name: _stacked([part.column(name) for part in parts]) for name in self.names})


class _Pandas(Source):
    kind = "pandas"

    def take(self, rows: np.ndarray[Any, Any], names: Sequence[str] | None = None) -> Any:
        frame = self.frame
        if names is not None:
            frame = frame.iloc[:, [self.names.index(name) for name in self.chosen(names)]]
        return frame.take(rows)

    def like_this(self, other: Source) -> Source:
        import pandas
        if isinstance(other, _Arrays):
            other = _Pandas(pandas.DataFrame({name: pandas.Series(_unmasked(name, column)) for name, column in other.columns}))
        frame = super().like_this(other).frame
        wanted = {}
        for i, name in enumerate(other.names):
            have, want = frame.dtypes.iloc[i], self.column(name).dtype
            if have != want and _is_number(want) and _is_number(have):
                # Integers of numpy hold no NULL, their pandas twins do.
                twin = "UI" + want.name[2:] if want.kind == "u" else want.name.title()
                wanted[frame.columns[i]] = twin if want.kind in "iu" and frame.iloc[:, i].isna().any() else want
        return _Pandas(frame.astype(wanted)) if wanted else other

    def joined(self, others: Iterable[Source]) -> Source:
        import pandas
        frames = [self.frame]
        for other in others:
            frame = other.frame.iloc[:, [other.names.index(name) for name in self.names]]
            frames.append(frame.set_axis(self.frame.columns, axis=1))
        return _Pandas(pandas.concat(frames))


class _Polars(Source):
    kind = "polars"

    def take(self, rows: np.ndarray[Any, Any], names: Sequence[str] | None = None) -> Any:
        frame = self.frame if names is None else self.frame.select(self.chosen(names))
        return frame[rows]

    def like_this(self, other: Source) -> Source:
        import polars
        if isinstance(other, _Arrays):
            other = _Polars(polars.DataFrame({name: _unmasked(name, column) for name, column in other.columns}))
        frame = super().like_this(other).frame
        try:
            return _Polars(frame.select(self.names).cast({name: self.column(name).dtype for name in self.names}))
        except polars.exceptions.PolarsError as cause:
            raise ColumnTypeError(f"the rows do not get the types of the table's frame: {cause}") from None

    def joined(self, others: Iterable[Source]) -> Source:
        import polars
        frames = [self.frame, *(other.frame.select(self.names) for other in others)]
        return _Polars(polars.concat(frames, how="vertical_relaxed"))


class _Arrow(Source):
    kind = "arrow"

    def take(self, rows: np.ndarray[Any, Any], names: Sequence[str] | None = None) -> Any:
        import pyarrow
        names = self.chosen(names)
        return pyarrow.table([_taken_arrow(self.column(name), pyarrow.array(rows)) for name in names],
                             schema=pyarrow.schema([self.frame.schema.field(name) for name in names],
                                                   self.frame.schema.metadata))

    def like_this(self, other: Source) -> Source:
        import pyarrow
        if isinstance(other, _Arrays):
            other = _Arrow(pyarrow.table({name: pyarrow.array(column) for name, column in other.columns}))
        frame = super().like_this(other).frame
        try:
            return _Arrow(pyarrow.table({name: _cast(frame.column(name), self.column(name).type) for name in self.names}))
        except pyarrow.ArrowException as cause:
            raise ColumnTypeError(f"the rows do not get the types of the table's frame: {cause}") from None

    def joined(self, others: Iterable[Source]) -> Source:
        import pyarrow
        frames = [self.frame, *(other.frame.select(self.names) for other in others)]
        return _Arrow(pyarrow.concat_tables(frames, promote_options="permissive"))


def _is_number(dtype: Any) -> bool:
    """Whether it is a type of numbers or times of pandas, other than booleans and those of Arrow."""
    return getattr(dtype, "kind", "O") in "iufM" and type(dtype).__name__ not in ("ArrowDtype", "CategoricalDtype", "SparseDtype")


def _fitted(column: Any, like: Any) -> Any:
    """An array of numpy in the type of another one, if both are of numbers or times."""
    both = isinstance(column, np.ndarray) and isinstance(like, np.ndarray)
    if both and column.dtype != like.dtype and column.dtype.kind in "iufbM" and like.dtype.kind in "iufM":
        return column.astype(like.dtype)
    return column


def _unmasked(name: str, column: Any) -> Any:
    if isinstance(column, np.ma.MaskedArray) and column.mask.any():
        raise ArgumentError(f"column {name!r} of the dict has NULLs: give a frame of the table's library")
    return column


def _cast(column: Any, type: Any) -> Any:
    """A column of pyarrow in another type, through texts where one of both is a dictionary."""
    import pyarrow
    if column.type == type:
        return column
    if pyarrow.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pyarrow.types.is_dictionary(type):
        return column.cast(type.value_type).dictionary_encode().cast(type)
    return column.cast(type)


def source_of(frame: Any, copy: str = "auto") -> Source:
    """The frame, kept as it is now.

    `copy`: "auto" copies what the caller could change (arrays of numpy that can be written), "always" copies all,
    "never" nothing: then the frame must not change.
    """
    if copy not in COPIES:
        raise ArgumentError(f'copy is one of "auto", "always" and "never", not {copy!r}')
    root = root_of(frame)
    if isinstance(frame, Mapping):
        return _Arrays({str(name): _kept(column, copy) for name, column in frame.items()})
    if root == "pandas" and hasattr(frame, "columns"):
        return _Pandas(_kept_pandas(frame, copy))
    if root == "polars" and hasattr(frame, "get_columns"):
        return _Polars(frame.clone() if copy != "never" else frame)
    if root == "polars" and hasattr(frame, "collect"):
        raise ColumnTypeError("a LazyFrame has no rows yet: collect() it first")
    if root == "pyarrow" and hasattr(frame, "column_names"):
        return _Arrow(_kept_arrow(frame))
    if hasattr(frame, "to_arrow_table") or hasattr(frame, "__arrow_c_stream__") or hasattr(frame, "__arrow_c_array__"):
        return _of_stream(frame)
    raise ColumnTypeError(f"a table is made of a dict of columns or a frame (pandas, polars, pyarrow, DuckDB, or what "
                          f"exports an Arrow stream), not of {type(frame).__name__}")


def _kept_arrow(frame: Any) -> Any:
    import pyarrow
    return pyarrow.Table.from_batches([frame]) if isinstance(frame, pyarrow.RecordBatch) else frame


def _of_stream(frame: Any) -> Source:
    """DuckDB's relations and other producers of Arrow: pyarrow's table where that is there, else polars'."""
    if hasattr(frame, "to_arrow_table"):
        return _Arrow(frame.to_arrow_table())
    try:
        import pyarrow
    except ImportError:
        try:
            import polars
        except ImportError:
            raise ArgumentError(f"{type(frame).__name__} exports Arrow; keeping its rows takes pyarrow or polars, and "
                                "neither is installed: give a dict of its columns") from None
        return _Polars(polars.DataFrame(frame))
    return _Arrow(pyarrow.table(frame))


def _kept_pandas(frame: Any, copy: str) -> Any:
    """A frame that shares memory until one of both is changed: pandas 3 copies on write, older ones must copy now."""
    if copy == "never":
        return frame
    import pandas
    if isinstance(frame, pandas.api.extensions.ExtensionArray):
        return frame.copy()
    on_write = int(pandas.__version__.partition(".")[0]) >= 3
    return frame.copy(deep=copy == "always" or not on_write)


def _kept(column: Any, copy: str) -> Any:
    """A column of a dict, which only numpy's callers can change behind our back. Lists become arrays."""
    if isinstance(column, (list, tuple, range)):
        return _array_of_list(list(column))
    if isinstance(column, np.ndarray) and (copy == "always" or copy == "auto" and column.flags.writeable):
        return column.copy()
    if copy != "never" and root_of(column) == "torch":
        return column.clone()
    if copy != "never" and root_of(column) == "pandas":
        return _kept_pandas(column, copy)
    return column


def _array_of_list(values: list[Any]) -> Any:
    """A list as an array that `take` reads and that keeps None."""
    times = times_of(values) if any(isinstance(value, datetime.date) for value in values) else None
    if times is not None:
        return times
    if any(value is None or isinstance(value, (str, bytes)) for value in values):
        array = np.empty(len(values), object)
        array[:] = values
        if not any(isinstance(value, (str, bytes)) for value in values):
            known = np.array([value is not None for value in values], bool)
            filled = np.array([0 if value is None else value for value in values])
            if filled.dtype != object:
                return np.ma.MaskedArray(filled, ~known)
        return array
    return np.array(values)


def _taken(column: Any, rows: np.ndarray[Any, Any]) -> Any:
    root = root_of(column)
    if isinstance(column, np.ndarray):
        return column.take(rows)
    if root == "pandas":
        return column.take(rows)
    if root == "pyarrow":
        import pyarrow
        return _taken_arrow(column, pyarrow.array(rows))
    if root == "torch":
        import torch
        return column[torch.from_numpy(rows.astype(np.int64)).to(column.device)]
    if hasattr(column, "__cuda_array_interface__"):
        return column[rows]
    if root == "polars":
        return column.gather(rows)
    return np.asarray(column).take(rows)


def _taken_arrow(column: Any, rows: Any) -> Any:
    """pyarrow takes no views, so these go through texts with offsets."""
    import pyarrow
    views = {name: getattr(pyarrow, name)() for name in ("string_view", "binary_view") if hasattr(pyarrow, name)}
    if column.type not in views.values():
        return column.take(rows)
    offsets = pyarrow.large_string() if column.type == views["string_view"] else pyarrow.large_binary()
    return column.cast(offsets).take(rows).cast(column.type)


def _stacked(columns: list[Any]) -> Any:
    root = root_of(columns[0])
    if isinstance(columns[0], np.ma.MaskedArray):
        return np.ma.concatenate(columns)  # type: ignore[no-untyped-call]
    if root == "pandas":
        import pandas
        return pandas.concat([pandas.Series(column) for column in columns])
    if root == "polars":
        import polars
        return polars.concat([polars.Series(column) for column in columns])
    if root == "pyarrow":
        import pyarrow
        return pyarrow.chunked_array([chunk for column in columns for chunk in _chunks(column, columns[0].type)])
    if root == "torch":
        import torch
        return torch.cat([torch.as_tensor(column) for column in columns])
    if root == "cupy":
        import cupy
        return cupy.concatenate([cupy.asarray(column) for column in columns])
    return np.concatenate([np.asarray(column) for column in columns])


def _chunks(column: Any, type: Any) -> list[Any]:
    import pyarrow
    if isinstance(column, pyarrow.ChunkedArray):
        return list(column.cast(type).chunks)
    return [column.cast(type) if isinstance(column, pyarrow.Array) else pyarrow.array(column, type)]


# ---- Columns of joins: rows with gaps ----


def gathered(column: Any, rows: np.ndarray[Any, Any], gaps: bool) -> Any:
    """The column's values at these rows, nothing where a row is -1 (only if `gaps`)."""
    root = root_of(column)
    if not gaps:
        return _taken(column, rows) if root != "pandas" else getattr(column, "array", column).take(rows)
    if root == "pandas":
        import pandas
        array = column.to_numpy() if isinstance(column.dtype, np.dtype) else getattr(column, "array", column)
        return pandas.api.extensions.take(array, rows, allow_fill=True)
    if root == "polars":
        import polars
        return column.gather(polars.Series(rows).cast(polars.Int64).replace(-1, None))
    if root == "pyarrow":
        import pyarrow
        return _taken_arrow(column, pyarrow.array(rows, mask=rows < 0))
    array = np.asarray(column) if not isinstance(column, np.ma.MaskedArray) else column
    missing = rows < 0
    made = array.take(np.where(missing, 0, rows)) if len(array) else np.zeros(len(rows), array.dtype)
    if array.dtype.kind in "fOM":
        made[missing] = {"O": None, "f": np.nan, "M": np.datetime64("NaT", "s")}[array.dtype.kind]
        return made
    return np.ma.MaskedArray(made, missing | np.ma.getmaskarray(made))


def coalesced(source: Source, one: Any, other: Any, rows: np.ndarray[Any, Any], others: np.ndarray[Any, Any]) -> Any:
    """Values of `one` at `rows`; where that is -1, those of `other` at `others`."""
    both = np.where(rows >= 0, rows, others.astype(np.int64) + len(one))
    return gathered(_stacked([one, other]), both, False)


def assembled(source: Source, columns: list[tuple[str, Any]], names: dict[str, Any] | None = None) -> Any:
    """A frame of the source's kind of these columns; `names`: what pandas' labels were."""
    if source.kind == "pandas":
        import pandas
        made = pandas.DataFrame(dict(enumerate(column for _, column in columns)), copy=False)
        made.columns = pandas.Index([(names or {}).get(name, name) for name, _ in columns])
        return made
    if source.kind == "polars":
        import polars
        return polars.DataFrame([column.alias(name) for name, column in columns])
    if source.kind == "arrow":
        import pyarrow
        return pyarrow.table([column for _, column in columns], names=[name for name, _ in columns])
    return dict(columns)


# ---- Rows and masks ----


def rows_in(kind: str, ids: np.ndarray[Any, Any], name: str = "row") -> Any:
    """Row ids, u32 without gaps, in the caller's kind: signed for numpy, pandas and torch, u32 for Arrow and polars."""
    if kind == "polars":
        import polars
        return polars.Series(name, ids)
    if kind == "arrow":
        import pyarrow
        return pyarrow.array(ids)
    return ids.view(np.int32) if not len(ids) or ids.max() < 1 << 31 else ids.astype(np.int64)


def mask_in(source: Source | None, bits: np.ndarray[Any, Any], count: int) -> Any:
    """A bitmap as booleans of the caller's kind; None: of numpy."""
    if source is None:
        return np.unpackbits(bits, count=count, bitorder="little").view(bool)
    if source.kind == "arrow":
        import pyarrow
        return pyarrow.Array.from_buffers(pyarrow.bool_(), count, [None, pyarrow.py_buffer(bits)])
    flags = np.unpackbits(bits, count=count, bitorder="little").view(bool)
    if source.kind == "polars":
        import polars
        return polars.Series("mask", flags)
    if source.kind == "pandas":
        import pandas
        return pandas.Series(flags, index=source.frame.index)
    return flags
