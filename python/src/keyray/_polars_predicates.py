"""Predicates of polars as conditions of a table: those that the table answers exactly as polars would."""
from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from . import _structs as c
from ._conditions import Condition, col
from ._types import FLOATS, INTEGERS, TEXTS, Column

if TYPE_CHECKING:
    from ._table import Table

_WORDS = {"Lt": "<", "LtEq": "<=", "Gt": ">", "GtEq": ">=", "Eq": "=", "NotEq": "<>"}
_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "=", "<>": "<>"}
_UNITS = {"Milliseconds": c.KR_UNIT_MS, "Microseconds": c.KR_UNIT_US, "Nanoseconds": c.KR_UNIT_NS}


class _Unknown(Exception):
    """The table cannot answer this part, or not surely as polars does."""


def split_predicate(predicate: pl.Expr | None, table: Table,
                    schema: pl.Schema) -> tuple[Condition | None, pl.Expr | None]:
    """What the table, which has that schema in polars, answers, and what its rows are to be filtered by; None: nothing.

    The filter is the whole predicate: a part of it does not always come back from JSON, which has no NaN.
    """
    if predicate is None:
        return None, None
    # Texts of an Enum are in the order of its categories, not in that of the table.
    columns = {column.name: column for column in table._columns if not isinstance(schema[column.name], pl.Enum)}
    try:
        tree = json.loads(predicate.meta.serialize(format="json"))
    except Exception:  # noqa: BLE001 - expressions of Python, for example, have no JSON
        return None, predicate
    condition: Condition | None = None
    left = False
    for part in _conjuncts(tree):
        try:
            made = _condition(part, columns)
        except _Unknown:
            left = True
            continue
        condition = made if condition is None else condition & made
    return condition, predicate if left else None


def _conjuncts(tree: Any) -> list[Any]:
    """The parts of an AND, which is true where each of them is."""
    parts, left = [], [tree]
    while left:
        one = left.pop()
        inner = one.get("BinaryExpr") if isinstance(one, dict) else None
        if inner and inner["op"] in ("And", "LogicalAnd"):
            left += [inner["right"], inner["left"]]
        else:
            parts.append(one)
    return parts


def _condition(tree: Any, columns: dict[str, Column]) -> Condition:
    """Polars' logic has three values, as conditions have: null is unknown."""
    if "BinaryExpr" in tree:
        inner = tree["BinaryExpr"]
        if inner["op"] in ("And", "LogicalAnd"):
            return _condition(inner["left"], columns) & _condition(inner["right"], columns)
        if inner["op"] in ("Or", "LogicalOr"):
            return _condition(inner["left"], columns) | _condition(inner["right"], columns)
        return _comparison(_WORDS.get(inner["op"], ""), inner["left"], inner["right"], columns)
    if "Column" in tree:
        column = _column(tree, columns)
        if not column.is_bool:
            raise _Unknown
        return col(column.name) == 1
    if "Function" in tree:
        return _function(tree["Function"], columns)
    raise _Unknown


def _column(tree: Any, columns: dict[str, Column]) -> Column:
    name = tree.get("Column") if isinstance(tree, dict) else None
    if not isinstance(name, str) or name not in columns:
        raise _Unknown
    return columns[name]


def _comparison(word: str, left: Any, right: Any, columns: dict[str, Column]) -> Condition:
    if not word:
        raise _Unknown
    if "Column" in left and "Column" in right:
        one, other = _column(left, columns), _column(right, columns)
        if one.type != other.type or one.unit != other.unit or one.type in TEXTS:
            raise _Unknown  # texts compare by codes, of which two columns have their own
        return col(one.name)._with(word, col(other.name))
    if "Column" not in left:
        left, right, word = right, left, _TURNED[word]
    column = _column(left, columns)
    return col(column.name)._with(word, _value(right, column))


def _function(inner: Any, columns: dict[str, Column]) -> Condition:
    function, inputs = inner["function"], inner["input"]
    kind = function.get("Boolean") if isinstance(function, dict) else None
    if kind == "Not":
        return ~_condition(inputs[0], columns)
    if kind in ("IsNull", "IsNotNull"):
        operand = col(_column(inputs[0], columns).name)
        return operand.is_null() if kind == "IsNull" else operand.is_not_null()
    if isinstance(kind, dict) and "IsBetween" in kind:
        column = _column(inputs[0], columns)
        low, high = _value(inputs[1], column), _value(inputs[2], column)
        closed, operand = kind["IsBetween"]["closed"], col(column.name)
        lower: Condition = operand >= low if closed in ("Both", "Left") else operand > low
        upper: Condition = operand <= high if closed in ("Both", "Right") else operand < high
        return lower & upper
    if isinstance(kind, dict) and "IsIn" in kind and not kind["IsIn"].get("nulls_equal"):
        return _member(inputs, columns)
    if isinstance(function, dict) and function.get("StringExpr") == "StartsWith":
        column = _column(inputs[0], columns)
        prefix = _value(inputs[1], column)
        if column.type in TEXTS and isinstance(prefix, str) and not set(prefix) & {"%", "_"}:
            return col(column.name).like(prefix + "%")
    raise _Unknown


def _member(inputs: Any, columns: dict[str, Column]) -> Condition:
    """IN of a list of literals of the column's own type, none of them null."""
    column = _column(inputs[0], columns)
    try:
        values = pl.select(pl.Expr.deserialize(json.dumps(inputs[1]).encode(), format="json")).to_series()
    except pl.exceptions.PolarsError:
        raise _Unknown from None
    if isinstance(values.dtype, (pl.List, pl.Array)):
        if len(values) != 1:
            raise _Unknown
        values = values[0]
    numbers = column.type in INTEGERS and values.dtype.is_integer()
    if not len(values) or values.null_count() or not (numbers or column.type in TEXTS and values.dtype == pl.String):
        raise _Unknown
    return col(column.name).isin(values.to_list())


def _value(tree: Any, column: Column) -> Any:
    """A literal that polars has brought to the column's type; in a condition integers of times are of their unit."""
    scalar = tree.get("Literal", {}).get("Scalar") if isinstance(tree, dict) else None
    if not isinstance(scalar, dict) or len(scalar) != 1:
        raise _Unknown
    (kind, value), = scalar.items()
    if column.type in INTEGERS and not column.is_bool and (kind.startswith("Int") or kind.startswith("UInt")):
        return int(value)
    if column.type in FLOATS and kind in ("Float32", "Float64") and isinstance(value, (int, float)):
        return float(np.float32(value)) if kind == "Float32" else float(value)
    if column.is_bool and kind == "Boolean":
        return int(value)
    if column.type in TEXTS and kind in ("String", "StringOwned") and isinstance(value, str):
        return value
    if column.type == c.KR_DATE32 and kind == "Date":
        return np.datetime64(int(value), "D").astype(object)
    if column.type == c.KR_TIMESTAMP64 and kind in ("Datetime", "DatetimeOwned"):
        if _UNITS.get(value[1]) == column.unit and (value[2] or "") == column.zone:
            return int(value[0])
    raise _Unknown
