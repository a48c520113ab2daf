"""Anything that is a column, as the library reads it.

    as_column(obj, like=keys)   one column, comparable with `like`
    as_chunks(obj)              its chunks, with no copy
    as_columns(obj)             the columns of a list, a dict or a frame
"""
from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any

import numpy as np

from . import _structs as c
from ._arrow import Piece, column_of, pieces_of
from ._convert import convert
from ._cuda import column_of_arrow_device, column_of_cuda, column_of_dlpack, facts_of, on_host
from ._errors import ArgumentError, ColumnTypeError
from ._texts import column_of_objects, concatenate, is_missing, take
from ._types import OF_DTYPE, TEXTS, TIMES, UNIT_OF, Column, pack_bits, unpack_bits

__all__ = ["Column", "as_chunks", "as_column", "as_columns", "is_column", "is_scalar"]

_SCALARS = (int, float, str, bytes, bool, datetime.date, np.generic)
_BOOL = np.dtype(bool)


def as_column(obj: Any, like: Column | None = None, name: str = "") -> Column:
    """One column; several chunks become one by a copy. `like`: the column that it is compared with."""
    column = concatenate(_read(obj, like, name))
    return _finished(column, obj, like, name)


def as_chunks(obj: Any, like: Column | None = None, name: str = "") -> list[Column]:
    """The chunks of a column, at least one. Where `obj` has no chunks, it is one itself."""
    return [_finished(column, obj, like, name) for column in _read(obj, like, name)]


def _finished(column: Column, obj: Any, like: Column | None, name: str) -> Column:
    column.caller, column.name = obj, name or column.name
    if like is not None:
        return convert(column, like.type, like.unit, like.zone, column.name)
    if column.type == 0:
        raise ColumnTypeError(f"{name or 'a column'} has only NULLs and no type: cast it to one")
    return column


def as_columns(obj: Any, likes: list[Column] | None = None) -> list[Column]:
    """The columns of a list of columns, a dict or a frame, of one length, each with its name ("" of lists)."""
    named = columns_of(obj)
    if likes is not None and len(named) > len(likes):
        raise ArgumentError(f"{len(named)} columns were given; the index has {len(likes)}")
    made = [as_column(column, likes[i] if likes else None, name) for i, (name, column) in enumerate(named)]
    for column, (name, _) in zip(made, named):
        if column.count != made[0].count:
            raise ArgumentError(f"columns differ in length: {made[0].count} rows and {column.count}"
                                f"{f' of {name!r}' if name else ''}")
    return made


def columns_of(obj: Any) -> list[tuple[str, Any]]:
    """Names and columns, as they are, of a dict, a frame or a list of columns."""
    if isinstance(obj, Mapping):
        return [(str(name), column) for name, column in obj.items()]
    if isinstance(obj, (list, tuple)):
        return [("", column) for column in obj]
    root = root_of(obj)
    if root == "pandas" and hasattr(obj, "get_level_values"):
        return [(str(obj.names[i] or ""), obj.get_level_values(i)) for i in range(obj.nlevels)]
    if root == "pandas":
        return [(str(name), obj.iloc[:, i]) for i, name in enumerate(obj.columns)]
    if root == "polars":
        return [(column.name, column) for column in obj.get_columns()]
    if root == "pyarrow" and hasattr(obj, "column_names"):
        return list(zip(obj.column_names, obj.columns))
    if root in ("cudf",) and hasattr(obj, "columns"):
        return [(str(name), obj[name]) for name in obj.columns]
    if hasattr(obj, "__arrow_c_stream__") or hasattr(obj, "__arrow_c_array__"):
        return _split(pieces_of(obj), "arrow")
    raise ColumnTypeError(f"columns are given as a list, a dict or a frame, not as {type(obj).__name__}")


class Chunks:
    """A column of a stream of batches: what as_column reads of it."""

    def __init__(self, chunks: list[Column]) -> None:
        self.chunks = chunks


def _split(pieces: list[Piece], kind: str) -> list[tuple[str, Any]]:
    if not pieces[0].is_struct:
        return [("", Chunks([column_of(piece, kind) for piece in pieces]))]
    columns: dict[int, tuple[str, list[Column]]] = {}
    for piece in pieces:
        bits = piece.validity  # also where the producer has not counted its NULLs
        if bits and not unpack_bits(bits, piece.array.offset, piece.array.length).all():
            raise ColumnTypeError("a struct column has rows that are NULL as a whole: give its fields as columns")
        cut = (piece.array.offset, piece.array.length)
        for i, (name, child) in enumerate(piece.children()):
            columns.setdefault(i, (name, []))[1].append(column_of(child, kind, cut=cut))
    return [(name, Chunks(chunks)) for name, chunks in columns.values()]


def is_scalar(obj: Any) -> bool:
    """Whether it is one value, not a column."""
    return isinstance(obj, _SCALARS) and not isinstance(obj, np.ndarray)


def is_column(obj: Any) -> bool:
    """Whether it is a column, not one value, as an element of a list of columns is."""
    if obj is None or is_scalar(obj):
        return False
    return isinstance(obj, (np.ndarray, list, tuple, Chunks)) or hasattr(obj, "__len__") or any(
        hasattr(obj, name) for name in ("__arrow_c_array__", "__arrow_c_stream__", "__cuda_array_interface__",
                                        "__dlpack__", "__array_interface__"))


def root_of(obj: Any) -> str:
    """The package that an object's type is of."""
    return type(obj).__module__.partition(".")[0]


def _read(obj: Any, like: Column | None, name: str) -> list[Column]:
    """The chunks of a column, in their own types."""
    if type(obj) is np.ndarray:
        return [column_of_numpy(obj, "numpy", name)]
    if isinstance(obj, Column):
        return [obj]
    if isinstance(obj, Chunks):
        return obj.chunks
    if is_scalar(obj):
        return [_column_of_list([obj], like, "scalar", name)]
    if isinstance(obj, (list, tuple, range)):
        return [_column_of_list(list(obj), like, "numpy", name)]
    root = root_of(obj)
    if root == "pandas":
        return _read_pandas(obj, name)
    if root == "polars":
        return _read_arrow(_exporting(obj), "polars", name)
    facts = facts_of(obj, root)
    if facts is not None:
        return [column_of_cuda(obj, root, facts)]
    if hasattr(obj, "__arrow_c_device_array__") and (getattr(obj, "is_cpu", True) is False
                                                     or not hasattr(obj, "__arrow_c_array__")):
        return [column_of_arrow_device(obj)]
    if hasattr(obj, "__arrow_c_array__") or hasattr(obj, "__arrow_c_stream__"):
        return _read_arrow(obj, "arrow", name)
    return [_read_array(obj, root, name)]


def _read_arrow(obj: Any, kind: str, name: str) -> list[Column]:
    pieces = pieces_of(obj)
    if not pieces[0].is_struct:
        return [column_of(piece, kind) for piece in pieces]
    columns = _split(pieces, kind)
    if len(columns) != 1:
        raise ArgumentError(f"{name or 'a column'} is a table of {len(columns)} columns where one is expected")
    chunks: list[Column] = columns[0][1].chunks
    return chunks


def _exporting(obj: Any) -> Any:
    """What exports the same stream as an object of polars: before 1.33 a series with times does not, a frame of it does."""
    import polars
    version = tuple(int(part) for part in polars.__version__.split(".")[:2])
    if not hasattr(obj, "__arrow_c_stream__"):
        raise ColumnTypeError(f"{type(obj).__name__} of polars {polars.__version__} is not a column: give a Series, of polars "
                              "1.8 or newer")
    return obj.to_frame() if version < (1, 33) and hasattr(obj, "to_frame") else obj


def _read_array(obj: Any, root: str, name: str) -> Column:
    """What exports numpy's interface or DLPack."""
    if root == "torch":
        if obj.is_sparse or obj.is_conj():
            raise ColumnTypeError("a torch tensor must be dense and not conjugated to be a column")
        return column_of_numpy(np.asarray(obj.detach()), "torch", name)
    if isinstance(obj, np.ma.MaskedArray):  # asarray would lose the mask
        return column_of_numpy(obj, "numpy", name)
    if hasattr(obj, "__array_interface__") or isinstance(obj, np.ndarray):
        return column_of_numpy(np.asarray(obj), "numpy", name)
    if hasattr(obj, "__dlpack__"):
        if not on_host(obj):
            return column_of_dlpack(obj, root)
        return column_of_numpy(np.from_dlpack(obj), "numpy", name)
    if hasattr(obj, "__array__"):
        return column_of_numpy(np.asarray(obj), "numpy", name)
    raise ColumnTypeError(f"{type(obj).__name__} is not a column: give an array, a series, a list, or what exports "
                          "Arrow, DLPack or __cuda_array_interface__")


# ---- numpy ----

_TO_UNIT = {"D": None, "s": "s", "ms": "ms", "us": "us", "ns": "ns", "h": "s", "m": "s", "W": "D", "M": "D", "Y": "D"}


def column_of_numpy(array: np.ndarray[Any, Any], kind: str, name: str = "") -> Column:
    """An array; it is copied where it is strided, misaligned, of another byte order, or of a type of other size."""
    type = OF_DTYPE.get(array.dtype)
    if array.ndim == 0:
        raise ColumnTypeError(f"{name or 'a column'} is an array of numpy without dimensions: .item() makes it one value, "
                              "np.atleast_1d a column of one row")
    if array.ndim != 1:
        raise ColumnTypeError(f"{name or 'a column'} has {array.ndim} dimensions, shape {array.shape}; a column has one: "
                              "give each column apart, or .ravel()")
    if isinstance(array, np.ma.MaskedArray):
        return _masked(array, kind, name)
    if type is not None:
        flags = array.flags
        if not (flags.c_contiguous and flags.aligned):
            array = np.array(array)
        return Column(kind, type, len(array), array.ctypes.data, array)
    if array.dtype.kind == "M":
        return _times(array, kind, name)
    if array.dtype == _BOOL:
        array = np.ascontiguousarray(array)
        return Column(kind, c.KR_U8, len(array), array.ctypes.data, array, is_bool=True)
    if array.dtype.kind in "OUST":
        return column_of_objects(array.tolist(), kind, name)
    native = array.dtype.newbyteorder("=")
    if native in OF_DTYPE:
        return column_of_numpy(array.astype(native), kind, name)
    if native == np.dtype("f2"):
        return column_of_numpy(array.astype("f4"), kind, name)
    more = "; view it as int64 to take the number of units" if array.dtype.kind == "m" else ""
    raise ColumnTypeError(f"{name or 'a column'} has numpy's type {array.dtype}, which keyray has not: it takes integers, "
                          f"floats to 64 bits, booleans, datetime64 and texts{more}")


def _masked(array: Any, kind: str, name: str) -> Column:
    column = column_of_numpy(np.asarray(array.data), kind, name)
    mask = np.ma.getmaskarray(array)
    return with_mask(column, ~mask) if mask.any() else column


def with_mask(column: Column, valid: np.ndarray[Any, Any]) -> Column:
    """The column with NULL where `valid` is False, besides those that it has."""
    known = column.valid()
    bits = pack_bits(valid if known is None else valid & known)
    column.struct.validity, column.struct.validity_offset = bits.ctypes.data, 0
    column.owner = (column.owner, bits)
    return column


def _times(array: np.ndarray[Any, Any], kind: str, name: str) -> Column:
    unit, step = np.datetime_data(array.dtype)
    if unit not in _TO_UNIT:
        raise ColumnTypeError(f"{name or 'a column'} is {array.dtype}; keyray takes the units D, s, ms, us and ns: "
                              ".astype('datetime64[ns]')")
    missing = np.isnat(array)
    target = _TO_UNIT[unit]
    if target is None or target == "D" or step != 1 and unit == "D":
        days = array.astype("M8[D]").view("i8")
        inside = missing | ((days >= -(2**31)) & (days < 2**31))
        if not inside.all():
            row = int(np.argmin(inside))
            raise ColumnTypeError(f"{name or 'a column'}, row {row}: {array[row]} is beyond the dates of 32 bits")
        values: np.ndarray[Any, Any] = np.where(missing, 0, days).astype("i4")
        column = Column(kind, c.KR_DATE32, len(values), values.ctypes.data, values)
    else:
        wanted = np.dtype(f"M8[{target}]")
        if array.dtype != wanted or not (array.flags.c_contiguous and array.flags.aligned):
            values = array.astype(wanted)
            if (values.astype(array.dtype) != array)[~missing].any():
                raise ColumnTypeError(f"{name or 'a column'} is {array.dtype} and has times beyond {wanted}")
        else:
            values = array
        column = Column(kind, c.KR_TIMESTAMP64, len(values), values.ctypes.data, values, unit=UNIT_OF[target])
    return with_mask(column, ~missing) if missing.any() else column


# ---- Python's own values ----


def _column_of_list(values: list[Any], like: Column | None, kind: str, name: str) -> Column:
    known = [value for value in values if not is_missing(value)]
    if not known and like is not None and not values:
        return _column_of_nothing(like, kind)
    if not known and like is not None and not any(isinstance(value, float) for value in values):
        column = _column_of_nothing(like, kind, len(values))
        return with_mask(column, np.zeros(len(values), bool))
    if any(isinstance(value, (str, bytes)) for value in known):
        return column_of_objects(values, kind, name)
    if any(isinstance(value, (datetime.date, np.datetime64)) for value in known) or (
            not known and any(type(value).__name__ == "NaTType" for value in values)):
        return _column_of_times(values, like, kind, name)
    missing = np.array([value is None or type(value).__name__ == "NAType" for value in values], bool)
    try:
        array = np.array([0 if gone else value for value, gone in zip(values, missing.tolist())])
    except (OverflowError, ValueError) as cause:
        raise ColumnTypeError(f"{name or 'a list'} does not make a column: {cause}") from None
    if not len(array):
        array = np.empty(0, np.float64 if like is None else np.int64)
    if array.dtype == object:
        wrong = next((value for value in known if not isinstance(value, (int, float))), known[0])
        raise ColumnTypeError(f"{name or 'a list'} does not make a column: {wrong!r} is of type {type(wrong).__name__}"
                              f"{' beyond 64 bits' if isinstance(wrong, int) else ''}")
    column = column_of_numpy(array, kind, name)
    return with_mask(column, ~missing) if missing.any() else column


def _column_of_nothing(like: Column, kind: str, count: int = 0) -> Column:
    zeros = np.zeros(8 * count + 8, np.uint8)
    type = c.KR_LARGE_STRING if like.type in TEXTS else like.type
    return Column(kind, type, count, zeros.ctypes.data, zeros, unit=like.unit, zone=like.zone)


def _column_of_times(values: list[Any], like: Column | None, kind: str, name: str) -> Column:
    aware = {value.tzinfo is not None for value in values if isinstance(value, datetime.datetime) and not is_missing(value)}
    if len(aware) > 1:
        raise ColumnTypeError(f"{name or 'a list'} has times with a zone and times without")
    times = times_of(values, zoned=True)
    if times is None:
        row = next(row for row, value in enumerate(values) if not is_missing(value) and _time_of(value) is None)
        raise ColumnTypeError(f"{name or 'a list'} does not make a column: it has dates or times, and row {row} is "
                              f"{values[row]!r}")
    column = column_of_numpy(times, kind, name)
    if aware == {True} and column.type in TIMES:
        column.zone = "UTC"
    return column


def _time_of(value: Any) -> np.datetime64 | None:
    """A date or time, in UTC where it has a zone; None of what is none."""
    if hasattr(value, "to_datetime64"):  # pandas.Timestamp, which has nanoseconds
        return value.to_datetime64()  # type: ignore[no-any-return]
    if isinstance(value, datetime.datetime) and value.tzinfo is not None:
        return np.datetime64(value.astimezone(datetime.timezone.utc).replace(tzinfo=None))
    return np.datetime64(value) if isinstance(value, (datetime.date, np.datetime64)) else None


def times_of(values: list[Any], zoned: bool = False) -> np.ndarray[Any, Any] | None:
    """A list of dates and times as an array, NaT where one is missing; None: it has others, or times with a zone."""
    missing = np.datetime64("NaT", "us" if all(map(is_missing, values)) else "D")
    made = [missing if is_missing(value) else _time_of(value) for value in values]
    if any(time is None for time in made) or not zoned and any(getattr(value, "tzinfo", None) for value in values):
        return None
    array = np.array(made)
    for row, time in enumerate(made):
        assert time is not None
        if time.dtype != array.dtype and not np.isnat(time) and array[row].astype(time.dtype) != time:
            raise ColumnTypeError(f"row {row}, {time}, is beyond the times of {array.dtype}, which other rows need: give all "
                                  "of them one unit")
    return array


# ---- pandas ----


def _read_pandas(obj: Any, name: str) -> list[Column]:
    if not hasattr(obj, "dtype"):
        if hasattr(obj, "columns") and len(obj.columns) == 1:
            return _read_pandas(obj.iloc[:, 0], name)
        if hasattr(obj, "to_datetime64") or type(obj).__name__ in ("NaTType", "NAType"):
            return [_column_of_list([obj], None, "scalar", name)]
        raise ArgumentError(f"{name or 'a column'} is a pandas {type(obj).__name__} where one column is expected")
    dtype = obj.dtype
    if isinstance(dtype, np.dtype):
        return [column_of_numpy(np.asarray(obj), "pandas", name)]
    kind = type(dtype).__name__
    array = getattr(obj, "array", obj)  # of a series or an index; obj may be such an array itself
    if hasattr(array, "__arrow_array__") and kind in ("ArrowDtype", "StringDtype"):
        arrow = kind == "ArrowDtype"
        if arrow or dtype.storage == "pyarrow":
            return _read_arrow(array.__arrow_array__(), "pandas-arrow" if arrow else "pandas", name)
    if kind == "StringDtype":
        return [column_of_objects(array.to_numpy(dtype=object, na_value=None).tolist(), "pandas", name)]
    if kind == "DatetimeTZDtype":
        column = column_of_numpy(np.asarray(array.tz_convert(None)), "pandas", name)
        column.zone = str(dtype.tz)
        return [column]
    if kind == "CategoricalDtype":
        codes = np.asarray(array.codes)
        values = as_column(array.categories, name=name) if len(array.categories) else column_of_objects([], "")
        return [take(values, codes, codes >= 0, "pandas", obj)]
    if kind in ("NumpyEADtype", "PandasDtype"):
        return [column_of_numpy(np.asarray(array), "pandas", name)]
    if hasattr(dtype, "numpy_dtype"):
        values = array.to_numpy(dtype=dtype.numpy_dtype, na_value=dtype.numpy_dtype.type(0))
        column = column_of_numpy(values, "pandas", name)
        missing = np.asarray(array.isna())
        return [with_mask(column, ~missing) if missing.any() else column]
    raise ColumnTypeError(f"{name or 'a column'} has pandas' type {dtype}, which keyray has not: cast it to numbers, "
                          "times or texts")
