"""Tables as a change would leave them, beside the older ones."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._library import lib
from ._progress import create

if TYPE_CHECKING:
    from ._sources import Source
    from ._table import Table


def _made(table: Table, handle: int, owners: list[Any], more: list[tuple[Source, int]]) -> Table:
    made = type(table).__new__(type(table))
    made._setup(table.device, table._source)
    made._columns, made._owners, made._more = table._columns, owners, more
    made._adopt(handle)
    return made


def next_append(table: Table, frame: Any) -> Table:
    """Table.next_append."""
    columns, source, (structs, count, stream) = table._rows_of(frame)
    rows = columns[0].count
    try:
        table._gate.enter()
        handle = create(lib.kr_table_next_append, lib.kr_table_destroy, table._used(), structs, count, stream)
        more = [*table._more, (source, table._count + rows)] if source is not None and rows else list(table._more)
        return _made(table, handle, [] if rows else list(table._owners), more)
    finally:
        table._gate.leave()


def next_delete(table: Table, rows: Any) -> Table:
    """Table.next_delete."""
    where, arguments, _ = table._doomed(rows)
    function = lib.kr_table_next_delete_where if where else lib.kr_table_next_delete
    try:
        table._gate.enter()
        handle = create(function, lib.kr_table_destroy, table._used(), *arguments, None)
        return _made(table, handle, list(table._owners), list(table._more))
    finally:
        table._gate.leave()
