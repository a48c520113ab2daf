"""Types of columns: keyray's, numpy's and Arrow's names of them, and Column, which the library reads."""
from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from . import _structs as c
from ._errors import ColumnTypeError

TEXTS = frozenset((c.KR_STRING, c.KR_LARGE_STRING, c.KR_STRING_VIEW, c.KR_BINARY, c.KR_LARGE_BINARY,
                   c.KR_BINARY_VIEW))
BINARIES = frozenset((c.KR_BINARY, c.KR_LARGE_BINARY, c.KR_BINARY_VIEW))
SIGNED = frozenset((c.KR_I8, c.KR_I16, c.KR_I32, c.KR_I64))
UNSIGNED = frozenset((c.KR_U8, c.KR_U16, c.KR_U32, c.KR_U64))
INTEGERS = SIGNED | UNSIGNED
FLOATS = frozenset((c.KR_F32, c.KR_F64))
TIMES = frozenset((c.KR_DATE32, c.KR_TIMESTAMP64))

# How an element lies in memory.
DTYPES: dict[int, np.dtype[Any]] = {
    c.KR_U8: np.dtype("u1"), c.KR_I8: np.dtype("i1"), c.KR_U16: np.dtype("u2"), c.KR_I16: np.dtype("i2"),
    c.KR_U32: np.dtype("u4"), c.KR_I32: np.dtype("i4"), c.KR_U64: np.dtype("u8"), c.KR_I64: np.dtype("i8"),
    c.KR_F32: np.dtype("f4"), c.KR_F64: np.dtype("f8"), c.KR_DATE32: np.dtype("i4"), c.KR_TIMESTAMP64: np.dtype("i8"),
}
OF_DTYPE: dict[np.dtype[Any], int] = {DTYPES[kind]: kind for kind in INTEGERS | FLOATS}

UNITS = {c.KR_UNIT_S: "s", c.KR_UNIT_MS: "ms", c.KR_UNIT_US: "us", c.KR_UNIT_NS: "ns"}
UNIT_OF = {name: unit for unit, name in UNITS.items()}
# Steps of a second.
PER_SECOND = {c.KR_UNIT_S: 1, c.KR_UNIT_MS: 10**3, c.KR_UNIT_US: 10**6, c.KR_UNIT_NS: 10**9}

NAMES = {c.KR_U8: "u8", c.KR_I8: "i8", c.KR_U16: "u16", c.KR_I16: "i16", c.KR_U32: "u32", c.KR_I32: "i32",
         c.KR_U64: "u64", c.KR_I64: "i64", c.KR_F32: "f32", c.KR_F64: "f64", c.KR_DATE32: "date32",
         c.KR_TIMESTAMP64: "timestamp64", c.KR_STRING: "string", c.KR_LARGE_STRING: "large_string",
         c.KR_STRING_VIEW: "string_view", c.KR_BINARY: "binary", c.KR_LARGE_BINARY: "large_binary",
         c.KR_BINARY_VIEW: "binary_view"}

NAT = -(2**63)  # how numpy writes "not a time"

# Arrow's format strings of the C data interface.
FORMATS = {c.KR_U8: "C", c.KR_I8: "c", c.KR_U16: "S", c.KR_I16: "s", c.KR_U32: "I", c.KR_I32: "i", c.KR_U64: "L",
           c.KR_I64: "l", c.KR_F32: "f", c.KR_F64: "g", c.KR_DATE32: "tdD"}


class Column:
    """A column as the library reads it, and what keeps its memory.

    `kind` is whose it is ("numpy", "pandas", "polars", "arrow", "torch", ...), which decides what answers become.
    `caller` is what the caller gave, `stream` the native stream in whose order device memory is to be read.
    """

    __slots__ = ("struct", "reference", "count", "kind", "type", "unit", "zone", "owner", "caller", "stream", "name",
                 "is_bool", "on_device")

    def __init__(self, kind: str, type: int, count: int, data: int | None, owner: Any, *, unit: int = 0,
                 zone: str = "", validity: int | None = None, validity_offset: int = 0,
                 words: tuple[int, int] = (0, 0), is_bool: bool = False) -> None:
        if count > 0xFFFFFFFE and kind != "":
            raise ColumnTypeError(f"a column has {count} rows; an index holds at most 4294967294 (2^32 - 2)")
        self.struct = c.kr_column(type, 0, count, data, validity, validity_offset, 0, words)
        self.reference = ctypes.byref(self.struct)
        self.count, self.kind, self.type, self.unit, self.zone = count, kind, type, unit, zone
        self.owner, self.is_bool = owner, is_bool
        self.caller: Any = None
        self.stream: int | None = None
        self.on_device = False
        self.name = ""

    @property
    def type_name(self) -> str:
        """The type as errors and `repr` name it: "i64", "timestamp64[us, UTC]"."""
        return name_of(self.type, self.unit, self.zone)

    def values(self) -> np.ndarray[Any, Any]:
        """The elements of a column in host memory, as they lie there. Not for texts."""
        return array_at(self.struct.data, DTYPES[self.type], self.count)

    def valid(self) -> np.ndarray[Any, Any] | None:
        """A bool for each row of a column in host memory, False for NULL; None: no NULLs."""
        if not self.struct.validity:
            return None
        return unpack_bits(self.struct.validity, self.struct.validity_offset, self.count)

    def __len__(self) -> int:
        return self.count

    def __repr__(self) -> str:
        return f"<keyray column: {self.count} rows of {self.type_name} ({self.kind})>"


def name_of(type: int, unit: int = 0, zone: str = "") -> str:
    """The name of a type with its unit: "timestamp64[us]"."""
    inside = ", ".join(filter(None, (UNITS.get(unit, ""), zone)))
    return f"{NAMES.get(type, type)}[{inside}]" if inside else str(NAMES.get(type, type))


def array_at(data: int | None, dtype: np.dtype[Any], count: int) -> np.ndarray[Any, Any]:
    """A view of memory, which somebody else must keep."""
    if not count or not data:
        return np.empty(0, dtype)
    raw = (ctypes.c_uint8 * (count * dtype.itemsize)).from_address(data)
    return np.frombuffer(raw, dtype, count)  # type: ignore[call-overload,no-any-return]


def unpack_bits(data: int, first: int, count: int) -> np.ndarray[Any, Any]:
    """Bits of a bitmap as bools."""
    if not count:
        return np.empty(0, bool)
    raw = array_at(data + first // 8, np.dtype("u1"), (first % 8 + count + 7) // 8)
    return np.unpackbits(raw, count=first % 8 + count, bitorder="little")[first % 8:].view(bool)


def pack_bits(flags: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Bools as a bitmap of Arrow's order."""
    return np.packbits(flags, bitorder="little")
