"""docs/duckdb.md: its statements and answers, and that it names every function.   python -m pytest test_page.py

The environment is that of test_extension.py."""
import pathlib
import re

import duckdb
import pytest
from test_extension import EXTENSION, pytestmark, sql  # noqa: F401

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "duckdb.md"


def shown(cursor: duckdb.DuckDBPyConnection) -> list[str]:
    """Names and rows as the page shows them."""
    def text(value: object) -> str:
        return "NULL" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
    lines = [[name for name, *_ in cursor.description], *([text(value) for value in row] for row in cursor.fetchall())]
    widths = [max(map(len, column)) for column in zip(*lines)]
    return ["  ".join(value.ljust(width) for value, width in zip(line, widths)).rstrip() for line in lines]


def test_the_page(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    connection = duckdb.connect(config={"allow_unsigned_extensions": "true"})
    blocks = re.findall(r"^```(sql|text)\n(.*?)^```$", PAGE.read_text(), re.DOTALL | re.MULTILINE)
    assert len(blocks) > 12
    for (kind, block), (then, answer) in zip(blocks, [*blocks[1:], ("sql", "")]):
        if kind == "text":
            continue
        lines: list[str] = []
        for statement in filter(str.strip, block.split(";\n")):
            statement = f"LOAD '{EXTENSION}'" if statement.strip() == "LOAD keyray" else statement
            ran = connection.execute(statement)
            names = [name for name, *_ in ran.description]
            if statement.lstrip().startswith("SELECT") and not any(name.startswith("keyray_build") for name in names):
                lines += shown(ran)
        if then == "text":
            assert lines == answer.splitlines(), block
    connection.execute("SELECT keyray_close()")


def test_the_page_names_every_function(sql) -> None:
    page = PAGE.read_text()
    names = {name for (name,) in sql.execute("SELECT DISTINCT function_name FROM duckdb_functions() WHERE function_name LIKE 'keyray%'").fetchall()}
    assert len(names) > 20
    missing = sorted(name for name in names if f"`{name}" not in page and f"`{name}(" not in page)
    assert not missing, missing
