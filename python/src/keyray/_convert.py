"""Columns that become comparable with others: values convert exactly, or there is an error that names the first."""
from __future__ import annotations

from typing import Any

import numpy as np

from . import _structs as c
from ._errors import ColumnTypeError
from ._types import DTYPES, FLOATS, INTEGERS, PER_SECOND, TEXTS, TIMES, UNITS, Column, name_of, pack_bits

DAY = 86400


def convert(column: Column, type: int, unit: int = 0, zone: str = "", name: str = "") -> Column:
    """The column with values of that type and unit; itself where it has them already."""
    if column.type == type and column.unit == unit and bool(column.zone) == bool(zone):
        return column
    if column.type in TEXTS and type in TEXTS:
        return column
    wanted = name_of(type, unit, zone)
    called = f"column {name!r}" if name else "the column"
    if column.type == 0:  # Arrow's column of NULLs
        return _nulls(column, type, unit, zone)
    if column.type in TIMES and type in TIMES and column.type == type and bool(column.zone) != bool(zone):
        raise ColumnTypeError(f"{called} is {column.type_name} and is compared with {wanted}: times with a zone and "
                              "times without do not compare; give both a zone, or neither")
    if not _goes(column.type, type):
        raise ColumnTypeError(f"{called} is {column.type_name} and is compared with {wanted}: these do not convert "
                              "into each other; cast one of them")
    if c.KR_TIMESTAMP64 in (column.type, type) and not _units_known(column, type, unit):
        raise ColumnTypeError(f"{called} is {column.type_name} and is compared with {wanted}: a timestamp whose unit is not "
                              "known goes with none that has one; view it as int64")
    if column.on_device:
        raise ColumnTypeError(f"{called} is {column.type_name} in device memory and is compared with {wanted}: "
                              "cast it there first, for example by .astype")
    values, fits = _values(column, type, unit)
    valid = column.valid()
    wrong = ~fits if valid is None else ~fits & valid
    if wrong.any():
        row = int(np.argmax(wrong))
        raise ColumnTypeError(f"{called}, row {row}: {_shown(column, row)} ({column.type_name}) is no value of {wanted}, "
                              f"with which it is compared{_advice(column, type, row)}")
    made = Column(column.kind, type, column.count, values.ctypes.data, (values, column.owner), unit=unit,
                  zone=zone, validity=column.struct.validity, validity_offset=column.struct.validity_offset)
    made.caller, made.stream, made.name = column.caller, column.stream, column.name
    return made


def _advice(column: Column, type: int, row: int) -> str:
    """What to do about a value that does not convert."""
    if column.type in FLOATS and type in INTEGERS:
        if np.isnan(column.values()[row]):
            return ": NaN is a value of floats and no NULL; make it NULL, or compare with floats"
        return ": round it or leave it out, or compare with floats"
    return ": leave it out, or compare with a type that has it"


def convert_towards(column: Column, like: Column, up: bool) -> Column | None:
    """As convert(), but a value that the type of `like` has not becomes the next one that it has, above if `up`, else below.

    That has the same nearest key on the other side. NULL where there is none, and of NaN. None: the types do not convert so.
    """
    if not _goes(column.type, like.type) or like.type in FLOATS:
        return None
    given, info = column.values(), np.iinfo(DTYPES[like.type])
    if like.type in INTEGERS:
        whole = given if column.type in INTEGERS else np.ceil(given) if up else np.floor(given)
        low, high = whole < float(info.min), whole >= float(info.max + 1)
        if column.type in INTEGERS:
            low, high = given < info.min, given > info.max
    elif bool(column.zone) == bool(like.zone) and _units_known(column, like.type, like.unit):
        times, by = _ratio(column.type, column.unit, like.type, like.unit)
        whole, rest = np.divmod(given.astype(np.int64), by)
        whole += up & (rest != 0)
        low, high = whole < -(-int(info.min) // times), whole > int(info.max) // times
        whole = np.where(low | high, 0, whole) * times
    else:
        return None
    lost = (high if up else low) | (given != given)
    values = np.where(low | high | lost, 0, whole).astype(DTYPES[like.type])
    values[low], values[high] = info.min, info.max
    known = column.valid()
    bits = pack_bits(~lost if known is None else ~lost & known)
    return Column(column.kind, like.type, column.count, values.ctypes.data, (values, bits), unit=like.unit,
                  zone=like.zone, validity=bits.ctypes.data)


def convert_or_null(column: Column, like: Column) -> Column | None:
    """As convert(), but values that the type of `like` has not become NULL. None: the types do not convert."""
    goes = _goes(column.type, like.type) and bool(column.zone) == bool(like.zone)
    if not goes or (like.type in TIMES and not _units_known(column, like.type, like.unit)):
        return None
    values, fits = _values(column, like.type, like.unit)
    known = column.valid()
    bits = pack_bits(fits if known is None else fits & known)
    return Column(column.kind, like.type, column.count, values.ctypes.data, (values, bits), unit=like.unit,
                  zone=like.zone, validity=bits.ctypes.data)


def _units_known(column: Column, type: int, unit: int) -> bool:
    return (column.type != c.KR_TIMESTAMP64 or column.unit in PER_SECOND) and (
        type != c.KR_TIMESTAMP64 or unit in PER_SECOND)


def _nulls(column: Column, type: int, unit: int, zone: str) -> Column:
    size = 8 if type in TEXTS else DTYPES[type].itemsize
    zeros = np.zeros((column.count + 1) * size, np.uint8)
    type = c.KR_LARGE_STRING if type in TEXTS else type
    made = Column(column.kind, type, column.count, zeros.ctypes.data, (zeros, column.owner), unit=unit, zone=zone,
                  validity=column.struct.validity)
    made.caller = column.caller
    return made


def _goes(given: int, wanted: int) -> bool:
    numbers = INTEGERS | FLOATS
    return (given in numbers and wanted in numbers) or (given in TIMES and wanted in TIMES)


def _shown(column: Column, row: int) -> str:
    value = column.values()[row]
    if column.type == c.KR_DATE32:
        return str(np.datetime64(int(value), "D"))
    if column.type == c.KR_TIMESTAMP64:
        return str(value.astype(f"M8[{UNITS[column.unit]}]")) if column.unit in UNITS else str(value)
    return str(value)


def _values(column: Column, type: int, unit: int) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """The values, and which of them are the same as they were."""
    given = column.values()
    if column.type in TIMES:
        return _times(given, column, type, unit)
    with np.errstate(all="ignore"):
        made = given.astype(DTYPES[type])
        if column.type in INTEGERS and type in INTEGERS:
            return made, _integers_fit(given, DTYPES[type])
        if column.type in FLOATS and type in FLOATS:
            return made, (made.astype(given.dtype) == given) | np.isnan(given)
        if column.type in FLOATS:
            info = np.iinfo(DTYPES[type])
            # Both borders are powers of two, or 0, so they are floats.
            inside = (given >= float(info.min)) & (given < float(info.max + 1))
            return made, inside & (np.floor(given) == given)
        return made, _back(made, given)


def _integers_fit(given: np.ndarray[Any, Any], dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    own, info = np.iinfo(given.dtype), np.iinfo(dtype)
    fits = np.ones(len(given), bool)
    if own.min < info.min:
        fits &= given >= info.min
    if own.max > info.max:
        fits &= given <= info.max
    return fits


def _back(made: np.ndarray[Any, Any], given: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Whether floats, made of integers, are these integers."""
    info = np.iinfo(given.dtype)
    inside = made < float(info.max + 1)
    back = np.where(inside, made, 0).astype(given.dtype)
    fits: np.ndarray[Any, Any] = inside & (back == given)
    return fits


def _times(given: np.ndarray[Any, Any], column: Column, type: int,
           unit: int) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    made, fits = _scaled(given.astype(np.int64), *_ratio(column.type, column.unit, type, unit))
    if type == c.KR_DATE32:
        fits &= (made >= -(2**31)) & (made < 2**31)
    return made.astype(DTYPES[type]), fits


def _ratio(given: int, given_unit: int, wanted: int, wanted_unit: int) -> tuple[int, int]:
    """What steps of time are multiplied by, and then divided by, to become those of another unit; one of both is 1."""
    have = 1 if given == c.KR_DATE32 else DAY * PER_SECOND[given_unit]
    want = 1 if wanted == c.KR_DATE32 else DAY * PER_SECOND[wanted_unit]
    return max(want // have, 1), max(have // want, 1)


def _scaled(numbers: np.ndarray[Any, Any], up: int, down: int) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """numbers * up / down, where one of both is 1, and which of them are exact."""
    if up == 1:
        made, rest = np.divmod(numbers, down)
        return made, rest == 0
    most = (2**63 - 1) // up
    fits = (numbers <= most) & (numbers >= -most)
    return np.where(fits, numbers, 0) * up, fits
