"""Answers in the caller's kind: arrays that the caller's library allocates, and what they become.

    answers = Answers(column, n)             column: the probes, whose kind the answers get; or the name of a kind
    made, where = answers.array(dtype, n)    memory for the library to write
    answers.rows(made)                       row ids: -1 for "no row" in numpy, cupy and torch, NULL in Arrow

What is handed to the methods is what array() gave, or numpy arrays in host memory.
"""
from __future__ import annotations

import ctypes
import functools
import sys
from typing import Any

import numpy as np

from . import _structs as c
from ._arrow import Exported
from ._cuda import empty_like, facts_of
from ._errors import ArgumentError, ColumnTypeError, UnsupportedError
from ._types import DTYPES, FLOATS, FORMATS, NAT, TIMES, UNITS, Column, pack_bits, unpack_bits

_U4, _U8, _I4, _I8 = np.dtype("u4"), np.dtype("u8"), np.dtype("i4"), np.dtype("i8")
_U1 = np.dtype("u1")
_ARROW_KINDS = ("arrow", "polars", "pandas-arrow")


class Answers:
    """Where the answers to `count` probes go, and what they become."""

    def __init__(self, like: Column | str, count: int) -> None:
        self.kind = like if isinstance(like, str) else like.kind
        self.on_device = not isinstance(like, str) and like.on_device
        self.caller: Any = None if isinstance(like, str) else like.caller
        self.count = count

    @property
    def has_nulls(self) -> bool:
        """Whether "no row" is NULL here, not -1."""
        return self.kind in _ARROW_KINDS

    def array(self, dtype: np.dtype[Any], count: int) -> tuple[Any, int]:
        """An array that is not filled, with its address."""
        if self.on_device:
            return empty_like(self.kind, dtype, count, self.caller)
        made = np.empty(count, dtype)
        return made, made.ctypes.data

    # ---- What arrays become ----

    def rows(self, made: Any, wide: bool = False) -> Any:
        """Row ids of u32, KR_NO_ROW where there is none. `wide`: there may be ids of 2^31 and above."""
        if self.has_nulls and not self.on_device:
            return self._arrow_rows(made)
        if self.on_device:
            return _device_rows(made, wide, self.kind)
        if wide:
            ids = made.astype(_I8)
            ids[made == c.KR_NO_ROW] = -1
            return self._numpy(ids)
        return self._numpy(made.view(_I4))

    def _arrow_rows(self, made: np.ndarray[Any, Any]) -> Any:
        valid = made != c.KR_NO_ROW
        nulls = len(made) - int(np.count_nonzero(valid))
        return self._arrow(Exported("I", len(made), [pack_bits(valid) if nulls else None, made], nulls=nulls))

    def counts(self, made: Any) -> Any:
        """u64 numbers that are never NULL."""
        return self.numbers(made, c.KR_U64)

    def numbers(self, made: Any, type: int, unit: int = 0, zone: str = "", valid: Any = None) -> Any:
        """Numbers, dates or times; `valid`: a bitmap, where there may be none."""
        if self.on_device:
            return made if valid is None else (made, _device_bits(valid, self.count, self.kind))
        if self.has_nulls:
            nulls = 0
            if valid is not None:
                nulls = len(made) - int(np.count_nonzero(unpack_bits(valid.ctypes.data, 0, len(made))))
            return self._arrow(Exported(_format(type, unit, zone), len(made), [valid, made], nulls=nulls))
        flags = None if valid is None else unpack_bits(valid.ctypes.data, 0, len(made))
        return self._numpy_numbers(made, type, unit, zone, flags)

    def _numpy_numbers(self, made: Any, type: int, unit: int, zone: str, valid: Any) -> Any:
        if type in TIMES:
            made = made.astype("M8[D]") if type == c.KR_DATE32 else made.view(f"M8[{UNITS[unit]}]")
            if valid is not None:
                made.view(_I8)[~valid] = NAT
            made = self._numpy(made)
            return made.dt.tz_localize("UTC").dt.tz_convert(zone) if zone and hasattr(made, "dt") else made
        if valid is None:
            return self._numpy(made)
        if type in FLOATS:
            made[~valid] = np.nan
            return self._numpy(made)
        if self.kind == "pandas" and hasattr(self.caller, "iloc"):
            pandas = sys.modules["pandas"]
            return self._numpy(pandas.arrays.IntegerArray(made, ~valid))
        if self.kind == "torch":
            return self._numpy(made), self._numpy(valid)
        if self.kind == "scalar":
            return made[0].item() if valid[0] else None
        return np.ma.MaskedArray(made, ~valid)

    def wide(self, made: Any, signed: bool) -> Any:
        """Exact sums of 128 bits, two u64 words each: Arrow's decimal128, Python's int in numpy arrays."""
        if self.on_device:
            return made
        if self.has_nulls:
            return self._arrow(Exported("d:38,0", len(made) // 2, [None, made]))
        low, high = made[0::2].astype(object), (made[1::2].view(_I8) if signed else made[1::2]).astype(object)
        return self._numpy(low + high * (1 << 64))

    def flags(self, made: Any) -> Any:
        """A bitmap as booleans."""
        if self.on_device:
            return _device_bits(made, self.count, self.kind)
        if self.has_nulls:
            return self._arrow(Exported("b", self.count, [None, made]))
        return self._numpy(unpack_bits(made.ctypes.data, 0, self.count))

    def lists(self, offsets: Any, rows: Any, wide: bool = False) -> Any:
        """Row ids of each probe: a pair (offsets, rows) in numpy, cupy and torch, lists in Arrow."""
        if self.on_device:
            return offsets, _device_rows(rows, wide, self.kind)
        if self.has_nulls:
            child = Exported("I", len(rows), [None, rows])
            return self._arrow(Exported("+L", self.count, [None, offsets], children=[child]))
        ids = rows.astype(_I8) if wide else rows.view(_I4)
        if self.kind == "scalar":
            return ids
        if self.kind == "torch":
            return self._numpy(offsets.view(_I8)), self._numpy(ids)
        return offsets.view(_I8), ids

    # ---- Kinds ----

    def _numpy(self, made: Any) -> Any:
        if self.kind == "scalar":
            value = made[0]
            return value.item() if isinstance(value, np.generic) and value.dtype.kind != "M" else value
        if self.kind == "torch":
            import torch
            return torch.from_numpy(made.view(_I8) if made.dtype == _U8 else made)
        if self.kind == "pandas" and hasattr(self.caller, "iloc"):
            pandas = sys.modules["pandas"]
            return pandas.Series(made, index=self.caller.index, copy=False)
        return made

    def _arrow(self, made: Exported) -> Any:
        if self.kind == "polars":
            return sys.modules["polars"].Series(values=made)
        if self.kind == "pandas-arrow":
            pandas = sys.modules["pandas"]
            array = pandas.arrays.ArrowExtensionArray(_of_pyarrow(made))
            return pandas.Series(array, index=self.caller.index) if hasattr(self.caller, "iloc") else array
        if type(self.caller).__module__.startswith("nanoarrow"):
            return sys.modules["nanoarrow"].Array(made)
        try:
            return _of_pyarrow(made)
        except ImportError:
            return made


def _of_pyarrow(made: Exported) -> Any:
    """An array of pyarrow over the same buffers.

    Not by way of Arrow's C interface: its end would call Python, and where Ctrl-C comes there, pyarrow aborts the process.
    """
    import pyarrow
    return pyarrow.Array.from_buffers(_type_of_pyarrow(made.format), made.count,
                                      [None if buffer is None else pyarrow.py_buffer(buffer) for buffer in made.buffers],
                                      made.nulls, children=[_of_pyarrow(child) for child in made.children])


@functools.lru_cache(maxsize=64)
def _type_of_pyarrow(format: str) -> Any:
    import pyarrow
    if format.startswith("ts"):
        return pyarrow.timestamp(next(name for name in UNITS.values() if name[0] == format[2]), format[4:] or None)
    others = {"b": pyarrow.bool_(), "tdD": pyarrow.date32(), "+L": pyarrow.large_list(pyarrow.uint32()),
              "d:38,0": pyarrow.decimal128(38, 0)}
    if format in others:
        return others[format]
    return pyarrow.from_numpy_dtype(DTYPES[next(type for type, name in FORMATS.items() if name == format)])


def _format(type: int, unit: int, zone: str) -> str:
    if type == c.KR_TIMESTAMP64:
        return f"ts{UNITS[unit][0]}:{zone}"
    return FORMATS[type]


def _device_rows(made: Any, wide: bool, kind: str) -> Any:
    if kind == "torch":
        if not wide:
            return made
        ids = made.long()
        return ids.where(ids == -1, ids & 0xFFFFFFFF)
    if not wide:
        return made.view(_I4)
    if kind == "numba":
        raise UnsupportedError("row ids of 2^31 and above do not become numba's: give cupy or torch columns")
    ids = made.astype(_I8)
    ids[made == c.KR_NO_ROW] = -1
    return ids


def _device_bits(made: Any, count: int, kind: str) -> Any:
    if kind == "torch":
        import torch
        eight = torch.arange(8, device=made.device, dtype=torch.uint8)
        return ((made[:, None] >> eight) & 1).flatten()[:count].bool()
    import cupy
    return cupy.unpackbits(cupy.asarray(made), bitorder="little")[:count].astype(bool)


class Room:
    """Memory for one kind of answer: the sink that the library gets, and what its arrays become."""

    __slots__ = ("answers", "sink", "reference", "out", "valid", "result", "values", "limit", "_kept", "_step")

    def __init__(self, answers: Answers, result: int, values: Column | None = None, out: Any = None) -> None:
        self.answers, self.result, self.values = answers, result, values
        n = answers.count
        self.valid: Any = None
        valid_at = None
        dtype, size = _shape(result, values, n)
        if out is None:
            self.out, at = answers.array(dtype, size)
        else:
            self.out, at = _given(out, dtype, size, answers)
        if result in (c.KR_RESULT_MIN, c.KR_RESULT_MAX):
            self.valid, valid_at = answers.array(_U1, (n + 7) // 8)
        self._kept = values
        self._step = size // n * dtype.itemsize if n else 0
        self.sink = c.kr_sink(ctypes.sizeof(c.kr_sink), result, 0,
                              ctypes.pointer(values.struct) if values is not None else None, at, valid_at)
        self.reference = ctypes.byref(self.sink)

    def advance(self, probes: int) -> None:
        """Later answers go behind those of so many probes. Not for bitmaps."""
        self.sink.out += probes * self._step

    def made(self, wide: bool) -> Any:
        """The answers in the caller's kind. `wide`: row ids may be 2^31 and above."""
        answers, values, result = self.answers, self.values, self.result
        if result == c.KR_RESULT_ROW:
            return answers.rows(self.out, wide)
        if result in (c.KR_RESULT_COUNT, c.KR_RESULT_SUM_ROWS):
            return answers.counts(self.out)
        if result == c.KR_RESULT_EXISTS:
            return answers.flags(self.out)
        assert values is not None
        if result == c.KR_RESULT_SUM_WIDE:
            return answers.wide(self.out, DTYPES[values.type].kind == "i")
        if result == c.KR_RESULT_SUM:
            return answers.numbers(self.out, sum_type(values))
        return answers.numbers(self.out, values.type, values.unit, values.zone, self.valid)


def sum_type(values: Column) -> int:
    """The type of sums of a column."""
    return {"u": c.KR_U64, "i": c.KR_I64, "f": c.KR_F64}[DTYPES[values.type].kind]


def _shape(result: int, values: Column | None, n: int) -> tuple[np.dtype[Any], int]:
    if result == c.KR_RESULT_ROW:
        return _U4, n
    if result in (c.KR_RESULT_COUNT, c.KR_RESULT_SUM_ROWS):
        return _U8, n
    if result == c.KR_RESULT_EXISTS:
        return _U1, (n + 7) // 8
    if result == c.KR_RESULT_SUM_WIDE:
        return _U8, 2 * n
    assert values is not None
    return DTYPES[sum_type(values)] if result == c.KR_RESULT_SUM else DTYPES[values.type], n


def _given(out: Any, dtype: np.dtype[Any], size: int, answers: Answers) -> tuple[Any, int]:
    """The caller's array for answers, checked."""
    facts = None
    if answers.on_device:
        facts = facts_of(out, type(out).__module__.partition(".")[0])
    if facts is None and not isinstance(out, np.ndarray):
        raise ColumnTypeError(f"`out` is {type(out).__name__}: give a numpy array, or one in device memory where the "
                              "probes are there")
    have = np.dtype(facts["typestr"]) if facts else out.dtype
    shape = tuple(facts["shape"]) if facts else out.shape
    if have.itemsize != dtype.itemsize or have.kind not in ("iu" if dtype.kind in "iu" else dtype.kind + "M"):
        raise ColumnTypeError(f"`out` is {have}; these answers are {dtype}, or the same size with a sign")
    if shape != (size,):
        raise ArgumentError(f"`out` has the shape {shape}; these answers take ({size},)")
    if facts:
        return out, facts["data"][0]
    if not (out.flags.c_contiguous and out.flags.aligned and out.flags.writeable):
        raise ArgumentError("`out` must be contiguous, aligned and writeable")
    return out.view(dtype), out.ctypes.data
