"""Conditions on columns of a table: texts of SQL's form, and expressions of `col`, which mean the same.

    "a < 5 and b between 3 and 7"        (col("a") < 5) & col("b").between(3, 7)

Either is true, false or unknown for a row, as in SQL: a comparison with NULL is unknown, and so is its opposite.
"""
from __future__ import annotations

import ctypes
import datetime
import math
import os
import threading
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import numpy as np

from . import _structs as c
from ._errors import ArgumentError, ColumnTypeError
from ._library import call, lib

__all__ = ["Condition", "Operand", "col", "condition_of"]

_SYMBOLS = {"<": c.KR_LESS, "<=": c.KR_LESS_EQUAL, ">": c.KR_GREATER, ">=": c.KR_GREATER_EQUAL, "=": c.KR_EQUAL,
            "<>": c.KR_NOT_EQUAL}
_WORDS = {**{number: word for word, number in _SYMBOLS.items()}, c.KR_BETWEEN: "between", c.KR_IN: "in",
          c.KR_IS_NULL: "is null", c.KR_LIKE: "like"}
# Lists up to so long are written into the text of a condition; longer ones go as columns.
_SHORT = 64

_making = threading.Lock()


class Condition:
    """A condition. Join several with `&`, `|` and `~`, each in parentheses; Table.where takes it."""

    __slots__ = ("_handle", "_pid", "__weakref__")

    def __init__(self) -> None:
        self._handle: int | None = None
        self._pid = 0

    def _text(self) -> str | None:
        """The condition in words; None: it has values that no text can say."""
        raise NotImplementedError

    def _make(self) -> int:
        """A new kr_condition of what has no text."""
        raise NotImplementedError

    def _shown(self) -> str:
        text = self._text()
        return "..." if text is None else text

    @property
    def handle(self) -> int:
        """The kr_condition, made once."""
        handle = self._handle
        if handle is not None:
            return handle
        with _making:
            if self._handle is None:
                text = self._text()
                self._handle = self._make() if text is None else _parse(text)
                self._pid = os.getpid()
            return self._handle

    def __del__(self) -> None:
        handle = getattr(self, "_handle", None)
        if handle is not None and self._pid == os.getpid():
            lib.kr_condition_destroy(handle)

    def __and__(self, other: Any) -> Condition:
        return _Joined("and", (self, condition_of(other)))

    def __rand__(self, other: Any) -> Condition:
        return _Joined("and", (condition_of(other), self))

    def __or__(self, other: Any) -> Condition:
        return _Joined("or", (self, condition_of(other)))

    def __ror__(self, other: Any) -> Condition:
        return _Joined("or", (condition_of(other), self))

    def __invert__(self) -> Condition:
        return _Not(self)

    def __bool__(self) -> bool:
        raise ColumnTypeError(f"the condition {self._shown()} is true or false for each row, not by itself: write & for "
                              "and, | for or, ~ for not, with parentheses around each comparison, and "
                              ".between(a, b) for a <= x <= b")

    def __repr__(self) -> str:
        return f"<keyray condition: {self._shown()}>"


class _Text(Condition):
    __slots__ = ("_words",)

    def __init__(self, words: str) -> None:
        super().__init__()
        self._words = words

    def _text(self) -> str:
        return self._words


class _Not(Condition):
    __slots__ = ("_inner",)

    def __init__(self, inner: Condition) -> None:
        super().__init__()
        self._inner = inner

    def _text(self) -> str | None:
        text = self._inner._text()
        return None if text is None else f"not ({text})"

    def _make(self) -> int:
        made = ctypes.c_void_p()
        call(lib.kr_condition_not, _made_by(self._inner), ctypes.byref(made))
        return int(made.value or 0)


class _Joined(Condition):
    """Several conditions under one AND or OR; those of the same kind inside are taken apart, so chains stay flat."""

    __slots__ = ("_word", "_parts")
    _parts: list[Condition]

    def __init__(self, word: str, parts: Iterable[Condition]) -> None:
        super().__init__()
        self._word = word
        flat: list[Condition] = []
        for part in parts:
            flat += part._parts if isinstance(part, _Joined) and part._word == word else [part]
        self._parts = flat

    def _text(self) -> str | None:
        texts = [part._text() for part in self._parts]
        if any(text is None for text in texts):
            return None
        return f" {self._word} ".join(f"({text})" for text in texts)

    def _make(self) -> int:
        made = ctypes.c_void_p()
        handles = (ctypes.c_void_p * len(self._parts))(*map(_made_by, self._parts))
        function = lib.kr_condition_and if self._word == "and" else lib.kr_condition_or
        call(function, handles, len(self._parts), ctypes.byref(made))
        return int(made.value or 0)


class _Compared(Condition):
    """A column compared with values, which are Python's or a column of any library."""

    __slots__ = ("_name", "_compare", "_form", "_values")

    def __init__(self, name: str, compare: int, form: str, values: Any) -> None:
        super().__init__()
        self._name, self._compare, self._form, self._values = name, compare, form, values

    def _text(self) -> str | None:
        if '"' in self._name or not self._name or not isinstance(self._values, (list, tuple)):
            return None
        words = [_literal(value) for value in self._values]
        if any(word is None for word in words):
            return None
        name = f'"{self._name}"'
        if self._compare == c.KR_IN:
            return f"{name} in ({', '.join(map(str, words))})"
        return self._form.format(name, *words)

    def _shown(self) -> str:
        text = self._text()
        return f"{self._name} {_WORDS[self._compare]} ({len(self._values)} values)" if text is None else text

    def _make(self) -> int:
        made = ctypes.c_void_p()
        values, owner = _column_of(self._values)
        call(lib.kr_condition_compare, self._name.encode(), self._compare, values, ctypes.byref(made))
        del owner
        return int(made.value or 0)


class _Columns(Condition):
    """A column compared with another one."""

    __slots__ = ("_left", "_word", "_right")

    def __init__(self, left: str, word: str, right: str) -> None:
        super().__init__()
        self._left, self._word, self._right = left, word, right

    def _text(self) -> str | None:
        if '"' in self._left + self._right or not self._left or not self._right:
            return None
        return f'"{self._left}" {self._word} "{self._right}"'

    def _make(self) -> int:
        made = ctypes.c_void_p()
        call(lib.kr_condition_compare_columns, self._left.encode(), _SYMBOLS[self._word], self._right.encode(),
             ctypes.byref(made))
        return int(made.value or 0)


class Operand:
    """A column in a condition: `col("price") < 5`, `.between(a, b)`, `.isin(list)`, `.is_null()`, `.like("a%")`."""

    __slots__ = ("name",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, name: str) -> None:
        if not isinstance(name, str):
            raise ColumnTypeError(f"col takes the name of a column, a str, not {type(name).__name__}")
        if "\0" in name:
            raise ArgumentError(f"the name of a column has a zero byte: {name!r}")
        self.name = name

    def _with(self, word: str, other: Any) -> Condition:
        if isinstance(other, Operand):
            return _Columns(self.name, word, other.name)
        return _Compared(self.name, _SYMBOLS[word], "{} " + word + " {}", [_scalar(other)])

    def __lt__(self, other: Any) -> Condition:
        return self._with("<", other)

    def __le__(self, other: Any) -> Condition:
        return self._with("<=", other)

    def __gt__(self, other: Any) -> Condition:
        return self._with(">", other)

    def __ge__(self, other: Any) -> Condition:
        return self._with(">=", other)

    def __eq__(self, other: Any) -> Condition:  # type: ignore[override]
        return self._with("=", other)

    def __ne__(self, other: Any) -> Condition:  # type: ignore[override]
        return self._with("<>", other)

    def between(self, lower: Any, upper: Any) -> Condition:
        """Both ends included."""
        if isinstance(lower, Operand) or isinstance(upper, Operand):
            low, high = self >= lower, self <= upper
            return _Joined("and", (low, high))
        return _Compared(self.name, c.KR_BETWEEN, "{} between {} and {}", [_scalar(lower), _scalar(upper)])

    def isin(self, values: Any) -> Condition:
        """Whether it equals one of `values`: a list, or a column of any library. None of them: false."""
        if isinstance(values, (str, bytes)):
            raise ColumnTypeError("isin takes a list or a column of values, not one text")
        if isinstance(values, (set, frozenset, range, dict)) or not hasattr(values, "__len__"):
            values = list(values)
        if isinstance(values, (list, tuple)):
            return _Compared(self.name, c.KR_IN, "", [_scalar(value) for value in values])
        if len(values) <= _SHORT and isinstance(values, np.ndarray) and values.ndim == 1:
            return _Compared(self.name, c.KR_IN, "", [_scalar(value) for value in values])
        return _Compared(self.name, c.KR_IN, "", values)

    is_in = isin

    def is_null(self) -> Condition:
        """Whether there is no value; never unknown."""
        return _Compared(self.name, c.KR_IS_NULL, "{} is null", [])

    def is_not_null(self) -> Condition:
        """Whether there is a value; never unknown."""
        return ~self.is_null()

    def like(self, pattern: str) -> Condition:
        """SQL's LIKE: % is any text, _ one character, all else itself."""
        if not isinstance(pattern, str):
            raise ColumnTypeError(f"like takes a pattern, a str, not {type(pattern).__name__}")
        return _Compared(self.name, c.KR_LIKE, "{} like {}", [pattern])

    def __bool__(self) -> bool:
        raise ColumnTypeError(f"col({self.name!r}) is a column: compare it with something")

    def __and__(self, _other: Any) -> Any:
        raise ColumnTypeError(f"col({self.name!r}) is no condition: compare it, as in col({self.name!r}) == 1, and put "
                              "parentheses around comparisons: (a < 5) & (b > 3)")

    __or__ = __rand__ = __ror__ = __invert__ = __and__

    def __repr__(self) -> str:
        return f"col({self.name!r})"


def col(name: str) -> Operand:
    """A column of a table, by name, to be compared: `(col("a") < 5) & col("b").between(3, 7)`."""
    return Operand(name)


@lru_cache(maxsize=256)
def _of_text(text: str) -> Condition:
    made = _Text(text)
    made.handle  # noqa: B018 - a wrong text is an error here
    return made


def condition_of(obj: Any) -> Condition:
    """The condition that a text or an expression says. Texts are kept, so the same one is read once."""
    if isinstance(obj, Condition):
        return obj
    if isinstance(obj, str):
        if not obj.strip():
            raise ArgumentError("the condition is an empty text, which says nothing of the rows: give True for all of them")
        return _of_text(obj)
    if isinstance(obj, bool):
        return _of_text("true" if obj else "false")
    raise ColumnTypeError(f"a condition is a text such as \"a < 5\", or made with keyray.col, not {type(obj).__name__}")


def _parse(text: str) -> int:
    if "\0" in text:
        raise ArgumentError("the condition has a zero byte in it: say such texts with keyray.col")
    made = ctypes.c_void_p()
    call(lib.kr_condition_parse, text.encode(), ctypes.byref(made))
    return int(made.value or 0)


def _made_by(condition: Condition) -> int:
    """The handle of a part of the condition that is being made, under the lock."""
    if condition._handle is None:
        text = condition._text()
        condition._handle = condition._make() if text is None else _parse(text)
        condition._pid = os.getpid()
    return condition._handle


# ---- Values ----


def _scalar(value: Any) -> Any:
    """A value as one of int, float, str, bytes, date, np.datetime64 or None."""
    if value is None or isinstance(value, (str, bytes, float, int)) and not isinstance(value, (bool, np.generic)):
        return value
    if isinstance(value, (bool, np.bool_)):
        return int(value)
    if isinstance(value, np.datetime64):
        return None if np.isnat(value) else value
    if isinstance(value, np.str_):
        return str(value)
    if isinstance(value, (np.integer, np.floating)):
        return value.item() if not isinstance(value, np.longdouble) else float(value)
    if isinstance(value, datetime.datetime):
        return _moment(value)
    if isinstance(value, datetime.date):
        return value
    if type(value).__name__ in ("NAType", "NaTType"):
        return None
    if hasattr(value, "as_py"):
        return _scalar(value.as_py())
    raise ColumnTypeError(f"a column is compared with a number, a text, a date, a timestamp or None, not "
                          f"{type(value).__name__} ({value!r:.60})")


def _moment(value: datetime.datetime) -> np.datetime64 | None:
    """A datetime, or pandas' Timestamp, in UTC."""
    if value != value:  # pandas' NaT
        return None
    if value.tzinfo is not None:
        value = value.astimezone(datetime.timezone.utc).replace(tzinfo=None)
    to_numpy = getattr(value, "to_datetime64", None)
    return to_numpy() if to_numpy is not None else np.datetime64(value)


def _literal(value: Any) -> str | None:
    """A value as conditions write it; None: no text can."""
    if value is None:
        return "null"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        if math.isnan(value):
            return "nan"
        return repr(value) if math.isfinite(value) else "inf" if value > 0 else "-inf"
    if isinstance(value, str):
        return None if "\0" in value else "'" + value.replace("'", "''") + "'"
    if isinstance(value, bytes):
        return None
    if isinstance(value, np.datetime64):
        text = str(value)
        return "'" + (text.replace("T", " ") if "T" in text else str(value.astype("datetime64[s]")).replace("T", " ")) + "'"
    return f"'{value.isoformat()}'"


def _column_of(values: Any) -> tuple[Any, Any]:
    """A kr_column of values, and what keeps its memory."""
    if not isinstance(values, (list, tuple)):
        from ._columns import as_column
        made = as_column(values)
        return ctypes.byref(made.struct), made
    if not values:
        return None, None
    if all(isinstance(value, (str, bytes, type(None))) for value in values):
        return _texts_of(values)
    array = np.array([value for value in values if value is not None])
    if array.dtype.kind not in "iuf" or len(array) < len(values):
        raise ColumnTypeError("values of a column with a double quote in its name must be texts or numbers, none of them None")
    kind = c.KR_F64 if array.dtype.kind == "f" else c.KR_U64 if array.dtype.kind == "u" else c.KR_I64
    array = np.ascontiguousarray(array, {c.KR_F64: "f8", c.KR_U64: "u8", c.KR_I64: "i8"}[kind])
    column = c.kr_column(type=kind, count=len(array), data=array.ctypes.data)
    return ctypes.byref(column), (column, array)


def _texts_of(values: Any) -> tuple[Any, Any]:
    parts = [b"" if value is None else value.encode() if isinstance(value, str) else value for value in values]
    offsets = np.zeros(len(parts) + 1, np.int64)
    np.cumsum([len(part) for part in parts], out=offsets[1:])
    packed = b"".join(parts)
    room = np.frombuffer(packed or b"\0", np.uint8)
    valid = np.packbits([value is not None for value in values], bitorder="little")
    column = c.kr_column(type=c.KR_LARGE_STRING, count=len(parts), data=offsets.ctypes.data,
                         validity=valid.ctypes.data)
    column.reserved_words[0], column.reserved_words[1] = room.ctypes.data, len(packed)
    return ctypes.byref(column), (column, offsets, room, valid)
