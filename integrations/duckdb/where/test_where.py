"""keyray_where against DuckDB's own answers.   python -m pytest test_where.py

KEYRAY_DUCKDB_EXTENSION names the extension keyray, KEYRAY_DUCKDB_WHERE keyray_where for the DuckDB that Python imports.
KEYRAY_DUCKDB_WHERE_OTHER, if it is given, is keyray_where for another version, which this DuckDB must refuse. KEYRAY_DEVICE names the
device of every table, cpu if it is not given."""
import json
import os
import pathlib
import random
import re
import threading
import time

import duckdb
import pytest

EXTENSION = os.environ.get("KEYRAY_DUCKDB_EXTENSION", "")
WHERE = os.environ.get("KEYRAY_DUCKDB_WHERE", "")
OTHER = os.environ.get("KEYRAY_DUCKDB_WHERE_OTHER", "")
DEVICE = os.environ.get("KEYRAY_DEVICE", "cpu")
VERSIONS = ["2.0.0", "2.0.1"]
SEED = 20261126

pytestmark = pytest.mark.skipif(not EXTENSION or not WHERE, reason="no extensions are named")
of_version = pytest.mark.skipif(duckdb.__version__ not in VERSIONS, reason="keyray_where is for " + ", ".join(VERSIONS))


def connect(**config: str) -> duckdb.DuckDBPyConnection:
    config = {"allow_unsigned_extensions": "true", "threads": "4", **config}
    connection = duckdb.connect(":memory:", config=config)
    connection.execute(f"LOAD '{EXTENSION}'")
    connection.execute(f"LOAD '{WHERE}'")
    connection.execute(f"FROM keyray_device('{DEVICE}')")
    return connection


@pytest.fixture
def sql():
    connection = connect()
    yield connection
    connection.close()


def answer(connection: duckdb.DuckDBPyConnection, query: str, *parameters) -> list:
    return connection.execute(query, list(parameters)).fetchall()


def is_taken(connection: duckdb.DuckDBPyConnection, condition: str) -> bool:
    """Whether DuckDB has nothing to filter itself."""
    plan = answer(connection, f"EXPLAIN (FORMAT json) SELECT * FROM keyray_where('t') WHERE {condition}")[0][1]
    names: list[str] = []

    def walk(node) -> None:
        names.append(node["name"].strip().upper())
        for child in node.get("children", []):
            walk(child)

    for root in json.loads(plan):
        walk(root)
    assert "KEYRAY_WHERE" in names or "EMPTY_RESULT" in names or "DUMMY_SCAN" in names, plan
    return "FILTER" not in names


# ---- Random tables and predicates -------------------------------------------------------------------

TEXTS = ["", "a", "A", "ab", "aB", "abc", "b", "%", "_", "a%c", "a_c", "\\", "a\\%", "ä", "äb", "日本", "日", "🙂x", "zz" * 9,
         "zz" * 9 + "y", "a" * 12, "a" * 13]
POOLS = {
    "BOOLEAN": ["true", "false"],
    "TINYINT": ["-128", "-1", "0", "1", "5", "127"],
    "SMALLINT": ["-32768", "-7", "0", "3", "300", "32767"],
    "INTEGER": ["-2147483648", "-5", "0", "4", "70000", "2147483647"],
    "BIGINT": ["-9223372036854775808", "-5", "0", "7", "9007199254740993", "9223372036854775807"],
    "UTINYINT": ["0", "1", "9", "128", "255"],
    "USMALLINT": ["0", "1", "256", "65535"],
    "UINTEGER": ["0", "2", "70000", "4294967295"],
    "UBIGINT": ["0", "3", "9223372036854775808", "18446744073709551615"],
    "FLOAT": ["'nan'", "'inf'", "'-inf'", "0.0", "'-0.0'", "1.5", "-2.25", "3.4e38", "1e-45"],
    "DOUBLE": ["'nan'", "'inf'", "'-inf'", "0.0", "'-0.0'", "0.1", "-1e300", "5e-324", "2.5"],
    "DATE": ["'1970-01-01'", "'1969-12-31'", "'2024-02-29'", "'infinity'", "'-infinity'", "'0001-01-01'"],
    "TIMESTAMP": ["'1970-01-01 00:00:00'", "'1969-12-31 23:59:59.999999'", "'2024-02-29 12:30:00.5'", "'infinity'",
                  "'-infinity'"],
    "TIMESTAMP_S": ["'1970-01-01 00:00:01'", "'2024-02-29 12:30:00'", "'1950-05-05 05:05:05'"],
    "TIMESTAMP_MS": ["'1970-01-01 00:00:00.001'", "'2024-02-29 12:30:00.5'"],
    "TIMESTAMP_NS": ["'1970-01-01 00:00:00.000000001'", "'2024-02-29 12:30:00.123456789'"],
    "TIMESTAMPTZ": ["'1970-01-01 00:00:00+00'", "'2024-02-29 12:30:00.5+02'", "'infinity'"],
    "VARCHAR": ["'" + text + "'" for text in TEXTS],
    "BLOB": ["''::BLOB", "'a'::BLOB", "'\\x00\\xFF'::BLOB", "'\\xFF'::BLOB", "'abc'::BLOB"],
}
COLUMNS = {}  # two of each type, and their names
for kind in POOLS:
    for copy in "ab":
        COLUMNS[f"{kind.lower()}_{copy}"] = kind


def literal(chance: random.Random, kind: str) -> str:
    return f"CAST({chance.choice(POOLS[kind])} AS {kind})"


def make(connection: duckdb.DuckDBPyConnection, chance: random.Random, n: int, keep: str) -> None:
    """x with n rows, and t of those that `keep` keeps; x then has no others."""
    columns = []
    for name, kind in COLUMNS.items():
        values = ", ".join(literal(chance, kind) for _ in range(chance.randint(1, 9)))
        columns.append(f"CASE WHEN random() < {chance.choice([0, 0.1, 0.5])} THEN NULL "
                       f"ELSE list_extract([{values}], 1 + CAST(floor(random() * 8.99) AS INTEGER) % len([{values}])) END AS {name}")
    connection.execute("SELECT setseed(0.5)")
    connection.execute(f"CREATE OR REPLACE TABLE x AS SELECT {', '.join(columns)} FROM range({n})")
    connection.execute(f"DELETE FROM x WHERE NOT ({keep})")
    fields = ", ".join(f"{name}: {name}" for name in COLUMNS)
    connection.execute(f"SELECT keyray_table('t', rowid, {{{fields}}}) FROM x").fetchall()


def pick(chance: random.Random, *kinds: str) -> tuple[str, str]:
    name = chance.choice([name for name, kind in COLUMNS.items() if not kinds or kind in kinds])
    return name, COLUMNS[name]


def like(chance: random.Random) -> str:
    name, _ = pick(chance, "VARCHAR")
    parts = ["%", "_", "a", "b", "ä", "日", "\\", "zz", "c"]
    pattern = "".join(chance.choice(parts) for _ in range(chance.randint(0, 4)))
    text = chance.choice(TEXTS)
    return chance.choice([f"{name} LIKE '{pattern}'", f"{name} NOT LIKE '{pattern}'", f"{name} LIKE '{pattern}' ESCAPE '!'",
                          f"{name} ILIKE '{pattern}'", f"prefix({name}, '{text}')", f"suffix({name}, '{text}')",
                          f"contains({name}, '{text}')", f"starts_with({name}, '{text}')", f"{name} SIMILAR TO '{text[:1]}.*'",
                          f"{name} GLOB 'a*'"])


def left_alone(chance: random.Random) -> str:
    number, kind = pick(chance, "TINYINT", "SMALLINT", "INTEGER", "UTINYINT", "USMALLINT")
    text, _ = pick(chance, "VARCHAR")
    real, _ = pick(chance, "DOUBLE", "FLOAT")
    date, _ = pick(chance, "DATE")
    return chance.choice([
        f"CAST({number} AS BIGINT) + 1 < 5", f"CAST({number} AS VARCHAR) LIKE '%1%'", f"length({text}) < 3", f"upper({text}) = 'AB'",
        f"{text} || 'x' > 'ax'", f"{text} COLLATE NOCASE = 'AB'", f"isnan({real})", f"{number} < 5.5", f"{number} = 1e0",
        f"{number} > 3000000000", f"{number} <= -9223372036854775808", f"CAST({number} AS DOUBLE) < 2.5", f"{real} < 1",
        f"year({date}) > 1970", f"{date} < TIMESTAMP '2000-01-01 12:00:00'", f"row % 3 = 0", f"row < 100", f"row IS NULL",
        f"coalesce({number}, 1) = 1", f"CASE WHEN {number} > 0 THEN {text} IS NULL ELSE true END", f"TRY_CAST({text} AS INTEGER) = 1",
        f"CAST({number} AS BIGINT) = ANY (SELECT 1)", f"random() >= 0", f"{number} IN (SELECT 1)"])


def leaf(chance: random.Random) -> str:
    name, kind = pick(chance)
    one, two = literal(chance, kind), literal(chance, kind)
    compare = chance.choice(["=", "<>", "<", "<=", ">", ">="])
    several = ", ".join(literal(chance, kind) for _ in range(chance.randint(1, 12)))
    other = name[:-1] + ("b" if name[-1] == "a" else "a")
    forms = [f"{name} {compare} {one}", f"{name} {compare} {one}", f"{one} {compare} {name}", f"{name} BETWEEN {one} AND {two}",
             f"{name} NOT BETWEEN {one} AND {two}", f"({name} > {one} AND {name} < {two})", f"({name} >= {one} AND {name} < {two})",
             f"{name} IN ({several})", f"{name} NOT IN ({several})", f"{name} IN ({several}, NULL)", f"{name} NOT IN ({several}, NULL)",
             f"{name} IS NULL", f"{name} IS NOT NULL", f"{name} IS DISTINCT FROM {one}", f"{name} IS NOT DISTINCT FROM {one}",
             f"{name} {compare} {other}", f"{name} IS NOT DISTINCT FROM {other}", f"{name} {compare} NULL", like(chance), like(chance),
             left_alone(chance), pick(chance, "BOOLEAN")[0], "true", "NULL"]
    return chance.choice(forms)


def predicate(chance: random.Random, depth: int) -> str:
    if depth == 0 or chance.random() < 0.3:
        return leaf(chance)
    if chance.random() < 0.2:
        return f"NOT ({predicate(chance, depth - 1)})"
    parts = [predicate(chance, depth - 1) for _ in range(chance.randint(2, 3))]
    return "(" + chance.choice([" AND ", " OR "]).join(parts) + ")"


def compare(connection: duckdb.DuckDBPyConnection, condition: str, chance: random.Random) -> int:
    """The same rows with the same values of some columns; returns how many."""
    columns = ", ".join(chance.sample(list(COLUMNS), 4))
    hashed = f"count(*), bit_xor(hash({{row}}, {columns})), sum({{row}})"
    theirs = answer(connection, f"SELECT {hashed.format(row='rowid')} FROM x WHERE {condition.replace('row ', 'rowid ')}")
    ours = answer(connection, f"SELECT {hashed.format(row='row')} FROM keyray_where('t') WHERE {condition}")
    assert ours == theirs, condition
    counted = answer(connection, f"SELECT count(*) FROM keyray_where('t') WHERE {condition}")
    assert counted == [(theirs[0][0],)], condition
    return theirs[0][0]


@of_version
@pytest.mark.parametrize("seed, n, keep", [(1, 3000, "true"), (2, 7000, "rowid % 3 <> 1"), (3, 1, "true"), (4, 200000, "true"), (5, 10, "rowid = 7")])
def test_random_predicates(sql, seed, n, keep):
    chance = random.Random(SEED + seed)
    make(sql, chance, n, keep)
    until = time.monotonic() + {1: 8, 2: 8, 4: 4}.get(seed, 1)
    cases = some = 0
    while time.monotonic() < until and cases < 4000:
        some += 0 < compare(sql, predicate(chance, chance.randint(0, 3)), chance) < n
        cases += 1
    print(cases, "predicates,", some, "of them selected some rows")
    assert cases > 20 and (n < 100 or some > cases / 4)


@of_version
@pytest.mark.parametrize("kind", POOLS)
def test_every_comparison(sql, kind):
    """Every constant of a type with every comparison; all are taken."""
    chance = random.Random(SEED)
    make(sql, chance, 500, "true")
    name = kind.lower() + "_a"
    for value in POOLS[kind]:
        for operator in ["=", "<>", "<", "<=", ">", ">=", "IS DISTINCT FROM", "IS NOT DISTINCT FROM"]:
            compare(sql, f"{name} {operator} CAST({value} AS {kind})", chance)
            compare(sql, f"NOT ({name} {operator} CAST({value} AS {kind}) OR {name} IS NULL)", chance)


# ---- Which predicates are taken ---------------------------------------------------------------------

TAKEN = ["integer_a < 5", "5 > integer_a", "integer_a = 4", "integer_a <> 4 AND double_a >= 0.1", "integer_a IN (1, 4, 70000)", "integer_a NOT IN (4, 5)",
         "integer_a IS NULL", "integer_a IS NOT NULL", "boolean_a", "NOT boolean_a", "boolean_a = boolean_b", "integer_a < integer_b", "double_a = 'nan'",
         "date_a < DATE '2000-01-01'", "timestamp_a >= '2000-01-01'", "timestamptz_a < '2000-01-01 00:00:00+00'", "varchar_a = 'ab'",
         "varchar_a >= 'b'", "varchar_a LIKE 'a%'", "varchar_a LIKE '%b'", "varchar_a LIKE '%b%'", "varchar_a NOT LIKE 'a_%c'",
         "blob_a = 'a'::BLOB", "integer_a < 5 OR (double_a > 0 AND NOT (varchar_a = 'b'))", "integer_a IS NOT DISTINCT FROM 4",
         "integer_a < 3000000000 AND integer_b > 2147483648", "tinyint_a < 5", "ubigint_a > 7"]
LEFT = ["integer_a % 7 < 5", "integer_a < 5.5", "upper(varchar_a) = 'A'", "varchar_a ILIKE 'a%'", "CAST(integer_a AS VARCHAR) = '4'", "row < 5",
        "varchar_a < varchar_b", "integer_a BETWEEN 1 AND 5", "integer_a > 1 AND integer_a < 5",
        "NOT (integer_a < 5 AND length(varchar_a) = 1)", "varchar_a COLLATE NOCASE = 'AB'", "integer_a < bigint_a", "varchar_a LIKE 'a!%' ESCAPE '!'"]


@of_version
def test_what_is_taken(sql):
    chance = random.Random(SEED)
    make(sql, chance, 500, "true")
    assert [one for one in TAKEN if not is_taken(sql, one)] == []
    assert [one for one in LEFT if is_taken(sql, one)] == []
    for one in TAKEN + LEFT:
        compare(sql, one, chance)
    sql.execute("SET default_collation = NOCASE")  # texts of a plan then are not compared by their bytes
    assert not is_taken(sql, "varchar_a = 'AB'")
    compare(sql, "varchar_a = 'AB'", chance)


@of_version
def test_projection(sql):
    make(sql, random.Random(SEED), 5000, "rowid % 2 = 0")
    plan = answer(sql, "EXPLAIN SELECT integer_a FROM keyray_where('t') WHERE double_a < 0.1 AND varchar_a = 'a'")[0][1]
    assert "integer_a" in plan and "double_a" not in plan and "varchar_a" not in plan
    described = answer(sql, "DESCRIBE FROM keyray_where('t')")
    assert described[0][:2] == ("row", "BIGINT")
    assert [one[:2] for one in described[1:]] == [one[:2] for one in answer(sql, "DESCRIBE FROM x")]
    ours = answer(sql, "SELECT COLUMNS(*)::VARCHAR FROM keyray_where('t') ORDER BY row")
    assert ours == answer(sql, "SELECT COLUMNS(*)::VARCHAR FROM (SELECT rowid, * FROM x) ORDER BY rowid")
    assert answer(sql, "SELECT count(*) FROM keyray_where('t')") == answer(sql, "SELECT count(*) FROM x")


@of_version
def test_row_is_another_name_where_a_column_has_it(sql):
    sql.execute("SELECT keyray_table('t', i, {\"row\": i * 2, \"Row_\": i}) FROM range(10) r(i)").fetchall()
    assert [one[0] for one in answer(sql, "DESCRIBE FROM keyray_where('t')")] == ["row__", "row", "Row_"]
    assert answer(sql, "SELECT row__, row FROM keyray_where('t') WHERE row = 4") == [(2, 4)]


@of_version
def test_order_and_threads(sql):
    """Several threads hand over rows; the order is that of the table."""
    sql.execute("SELECT keyray_table('t', i, {a: i % 10, s: 'text ' || i}) FROM range(1000000) r(i)").fetchall()
    got = answer(sql, "SELECT row FROM keyray_where('t') WHERE a < 7")
    assert got == sorted(got) and len(got) == 700000
    sql.execute("CREATE TABLE y AS SELECT row, a, s FROM keyray_where('t') WHERE a <> 3")
    assert answer(sql, "SELECT count(*), count(*) FILTER (s = 'text ' || row AND a = row % 10), count(*) FILTER (row > rowid + rowid // 9 + 1) FROM y") == [(900000, 900000, 0)]


# ---- Plans ------------------------------------------------------------------------------------------

# T is the table. Most of these are ways in which DuckDB copies a scan or takes two for one.
PLANS = """
SELECT (SELECT sum(a) FROM T WHERE a < 5), (SELECT sum(a) FROM T WHERE a < 10), (SELECT sum(a) FROM T WHERE a < 5)
SELECT sum(b) FROM T WHERE a < 5 UNION ALL SELECT sum(b) FROM T WHERE a >= 5
SELECT sum(x.b + y.b) FROM (SELECT b, count(*) FROM T WHERE a < 5 GROUP BY b) x JOIN (SELECT b, count(*) FROM T WHERE a > 80 GROUP BY b) y ON x.b = y.b
SELECT sum(x.n * y.n) FROM (SELECT b, count(*) n FROM T WHERE a < 5 GROUP BY b) x JOIN (SELECT b, count(*) n FROM T WHERE a < 5 GROUP BY b) y ON x.b = y.b
WITH q AS (FROM T WHERE a < 50) SELECT (SELECT count(*) FROM q WHERE b < 5) + (SELECT count(*) FROM q WHERE b > 5)
WITH q AS MATERIALIZED (FROM T WHERE a < 50) SELECT (SELECT count(*) FROM q WHERE b < 5), (SELECT count(*) FROM q WHERE b > 5)
WITH q AS NOT MATERIALIZED (FROM T WHERE a < 50) SELECT (SELECT count(*) FROM q WHERE b < 5), (SELECT count(*) FROM q WHERE b > 5)
WITH q AS NOT MATERIALIZED (FROM T WHERE a < 50) SELECT count(*) FROM q q1 JOIN q q2 ON q1.a = q2.a WHERE q1.b < 5 AND q2.b > 90
WITH q AS (FROM T WHERE a < 3) SELECT count(*) FROM (FROM q WHERE b < 50 ORDER BY a, b, row LIMIT 10) UNION ALL SELECT count(*) FROM q LIMIT 5
WITH q AS (SELECT a, b FROM T WHERE a < 30), r AS (FROM q WHERE b < 30) SELECT (SELECT sum(b) FROM r WHERE a < 5), (SELECT sum(b) FROM r WHERE a > 20), (SELECT sum(b) FROM q WHERE b > 50)
WITH q AS NOT MATERIALIZED (SELECT a, b FROM T WHERE a < 30), r AS NOT MATERIALIZED (FROM q WHERE b < 30) SELECT (SELECT sum(b) FROM r WHERE a < 5), (SELECT sum(b) FROM r WHERE a > 20), (SELECT sum(b) FROM q WHERE b > 50)
SELECT count(*), sum(b) FROM T WHERE a < 5 AND b IN (SELECT b FROM T WHERE a > 90)
SELECT sum(m) FROM (SELECT a, max(b) OVER (PARTITION BY a) m FROM T WHERE a < 50 AND b > 10)
SELECT sum(c) FROM (SELECT a, count(*) OVER (PARTITION BY a) c FROM T WHERE a < 50 AND b > 10)
SELECT a, b, row FROM T WHERE a < 50 ORDER BY b, a, row LIMIT 7
SELECT a, max(b), arg_max(row, b * 100000 + row) FROM T WHERE a < 5 GROUP BY a ORDER BY a
FROM (SELECT *, row_number() OVER (PARTITION BY a ORDER BY b, row) n FROM T WHERE a < 4) WHERE n <= 2 ORDER BY ALL
SELECT count(*) FROM x JOIN T t ON x.a = t.a WHERE t.b < 3 AND x.b < 10
SELECT count(*) FROM x LEFT JOIN T t ON x.a = t.a AND t.b < 3 WHERE x.b < 10
SELECT count(*) FROM T t FULL JOIN (FROM x WHERE b > 90) x ON x.a = t.a AND x.b = t.b WHERE t.b < 3 OR t.b IS NULL
SELECT count(*) FROM T t WHERE a < 10 AND EXISTS (SELECT 1 FROM x WHERE x.a = t.a AND x.b > 90)
SELECT count(*) FROM T t WHERE b < (SELECT avg(b) FROM T t2 WHERE t2.a = t.a AND t2.a < 40)
SELECT count(*) FROM T p JOIN T q ON p.a = q.a AND p.b < q.b WHERE p.a < 5
SELECT count(*) FROM (SELECT a, b FROM T WHERE a < 5 INTERSECT SELECT a, b FROM T WHERE b < 50)
SELECT count(*) FROM (SELECT a, b FROM T WHERE a < 5 EXCEPT SELECT a, b FROM T WHERE b < 50)
SELECT count(*), count(DISTINCT a), count(*) FILTER (b < 5) FROM T WHERE a < 5
SELECT sum(a) FROM T WHERE false
SELECT count(*) FROM T WHERE NULL
SELECT a, count(*) FROM T WHERE b < 50 GROUP BY ROLLUP (a) HAVING a < 5 OR a IS NULL ORDER BY ALL
WITH RECURSIVE r AS (SELECT 0 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 5) SELECT n, (SELECT count(*) FROM T WHERE a = n) FROM r ORDER BY n
SELECT count(*) FROM T, LATERAL (SELECT 1 FROM x WHERE x.a = T.a AND x.b = 7) WHERE T.b = 3
SELECT min(row), max(row), count(row) FROM T WHERE a = 3
SELECT count(*) FROM T WHERE a = 3 AND row % 2 = 0
SELECT count(*) FROM (SELECT * FROM T WHERE a < 5 LIMIT 10)
SELECT count(*) FROM T WHERE (a, b) IN ((5, 3), (6, 4), (7, 2))
SELECT count(*) FROM T WHERE a = (SELECT min(a) + 3 FROM T WHERE b = 2)
SELECT count(*) FROM (FROM T WHERE a < 5 UNION FROM T WHERE a > 90 UNION ALL FROM T WHERE a = 50)
SELECT sum(o) FROM (SELECT a, row_number() OVER (ORDER BY row) o FROM T) WHERE a < 5
SELECT count(*) FROM T TABLESAMPLE 100% WHERE a < 5
"""


@of_version
@pytest.mark.parametrize("checks", ["false", "true"])
def test_plans(sql, checks):
    sql.execute("CREATE TABLE x AS SELECT CAST(hash(i) % 100 AS INTEGER) a, CAST(hash(i + 99999) % 100 AS INTEGER) b FROM range(20000) r(i)")
    sql.execute("SELECT keyray_table('t', rowid, {a: a, b: b}) FROM x").fetchall()
    sql.execute(f"SET debug_verify_serializer = {checks}")  # plans are written and read again
    for query in PLANS.strip().splitlines():
        ours, theirs = query, query
        for name in ["FROM T", "JOIN T"]:
            ours = ours.replace(name, name[:-1] + "keyray_where('t') " + ("" if " T t" in query else ""))
            theirs = theirs.replace(name, name[:-1] + "(SELECT rowid AS row, * FROM x)")
        ours, theirs = ((one.replace(") ,", ") T,") if "LATERAL" in one else one) for one in (ours, theirs))
        if "LATERAL" in query:
            ours, theirs = (one.replace("t'),", "t') T,").replace("x),", "x) T,") for one in (ours, theirs))
        assert answer(sql, ours) == answer(sql, theirs), query


@of_version
def test_a_plan_that_is_made_again(sql):
    """DuckDB keeps plans of prepared statements; the table of the name may be another one then."""
    sql.execute("SELECT keyray_table('t', i, {a: i, b: i % 7}) FROM range(1000) r(i)").fetchall()
    sql.execute("PREPARE p AS SELECT count(*), sum(a) FROM keyray_where('t') WHERE a < 10 AND b >= 3")
    assert answer(sql, "EXECUTE p") == [(4, 18)]
    sql.execute("SELECT keyray_drop('t')").fetchall()
    with pytest.raises(duckdb.Error, match="there is no index or table 't'"):
        sql.execute("EXECUTE p").fetchall()
    sql.execute("SELECT keyray_table('t', i, {a: i, b: i % 5}) FROM range(1000) r(i)").fetchall()
    assert answer(sql, "EXECUTE p") == [(4, 24)]
    sql.execute("SELECT keyray_drop('t')").fetchall()
    for fields in ["a: CAST(i AS VARCHAR), b: i", "a: i", "a: i, c: i", "a: i % 2 = 0, b: i", "a: i, b: i, c: i"]:
        sql.execute(f"SELECT keyray_table('t', i, {{{fields}}}) FROM range(1000) r(i)").fetchall()
        with pytest.raises(duckdb.Error, match="was replaced by one"):
            sql.execute("EXECUTE p").fetchall()
        sql.execute("SELECT keyray_drop('t')").fetchall()


@of_version
def test_parameters(sql):
    make(sql, random.Random(SEED), 3000, "true")
    query = "SELECT count(*), sum(row) FROM {} WHERE integer_a < $1 AND double_a >= $2 AND varchar_a IN ($3, $4)"
    for values in [(5, 0.1, "a", "ab"), (70000, float("-inf"), "", "b"), (None, 0.0, "a", "b"), (5, float("nan"), "a", None)]:
        ours = answer(sql, query.format("keyray_where('t')"), *values)
        assert ours == answer(sql, query.format("(SELECT rowid AS row, * FROM x)"), *values)
    sql.execute("PREPARE p AS SELECT count(*) FROM keyray_where('t') WHERE integer_a > $1 AND varchar_a = $2")
    sql.execute("PREPARE q AS SELECT count(*) FROM x WHERE integer_a > $1 AND varchar_a = $2")
    for values in ["-5, 'a'", "4, 'ab'", "NULL, 'a'", "2147483647, ''"]:
        assert answer(sql, f"EXECUTE p({values})") == answer(sql, f"EXECUTE q({values})")
    assert answer(sql, "SELECT count(*) FROM keyray_where($1) WHERE integer_a < $2", "t", 5) == answer(sql, "SELECT count(*) FROM x WHERE integer_a < 5")


@of_version
def test_saved_tables(sql, tmp_path):
    make(sql, random.Random(SEED), 3000, "rowid % 2 = 0")
    sql.execute(f"SELECT keyray_save('t', '{tmp_path}/t.krx')").fetchall()
    sql.execute("SELECT keyray_drop('t')").fetchall()
    sql.execute(f"SELECT keyray_load('t', '{tmp_path}/t.krx')").fetchall()
    columns = ", ".join(f"{name}::VARCHAR" for name in COLUMNS)
    for condition in ["integer_a < 5", "varchar_a LIKE 'a%' OR double_a = 'nan'", "timestamp_a > '1969-01-01' AND NOT boolean_a"]:
        ours = answer(sql, f"SELECT {columns} FROM keyray_where('t') WHERE {condition} ORDER BY row")
        assert ours == answer(sql, f"SELECT {columns} FROM x WHERE {condition} ORDER BY rowid") and ours


@of_version
def test_progress(sql):
    """DuckDB learns how much of the table was handed over."""
    sql.execute("SELECT keyray_table('t', i, {a: i}) FROM range(2000000) r(i)").fetchall()
    reader = sql.cursor()
    seen: list[float] = []
    done = threading.Event()

    def watch() -> None:
        while not done.wait(0.005):
            seen.append(reader.query_progress())

    thread = threading.Thread(target=watch)
    thread.start()
    reader.execute("SET enable_progress_bar = true; SET enable_progress_bar_print = false")
    reader.execute("SELECT sum(sqrt(abs(sin(cos(tan(a)))))) FROM keyray_where('t') WHERE a >= 0").fetchall()
    done.set()
    thread.join()
    assert any(0 < one < 100 for one in seen), seen


# ---- The page ---------------------------------------------------------------------------------------

PAGE = pathlib.Path(__file__).resolve().parents[3] / "docs" / "duckdb-where.md"


@of_version
def test_the_page(sql):
    """Its statements give what it shows."""
    def text(value: object) -> str:
        return "NULL" if value is None else str(value)

    block, answers = re.search(r"^```sql\n(.*?)^```\n```text\n(.*?)^```$", PAGE.read_text(), re.DOTALL | re.MULTILINE).groups()
    lines: list[str] = []
    for statement in filter(str.strip, block.split(";\n")):
        if statement.startswith("LOAD"):
            continue
        ran = sql.execute(statement)
        if statement.startswith("SELECT"):
            table = [[name for name, *_ in ran.description], *([text(value) for value in row] for row in ran.fetchall())]
            widths = [max(map(len, column)) for column in zip(*table)]
            lines += ["  ".join(value.ljust(width) for value, width in zip(row, widths)).rstrip() for row in table]
    assert lines == answers.splitlines()


# ---- Faults -----------------------------------------------------------------------------------------


@of_version
def test_a_table_is_dropped_while_a_query_runs(sql):
    sql.execute("SELECT keyray_table('t', i, {a: i, s: 'text of row ' || i}) FROM range(300000) r(i)").fetchall()
    reader = sql.cursor()
    reader.execute("SELECT a, s FROM keyray_where('t') WHERE a % 2 = 0 AND a >= 0")
    first = reader.fetchmany(10)
    sql.execute("SELECT keyray_drop('t')").fetchall()
    rows = first + reader.fetchall()
    assert len(rows) == 150000 and all(text == f"text of row {a}" for a, text in rows)


@of_version
def test_several_connections_and_drops(sql):
    """Tables are replaced while others ask for them; every answer is of one of them."""
    sql.execute("SELECT keyray_table('t', i, {a: i}) FROM range(5000) r(i)").fetchall()
    wrong, errors = [], []

    def ask(connection) -> None:
        for _ in range(60):
            try:
                got = answer(connection, "SELECT count(*), sum(a) - sum(row) FROM keyray_where('t') WHERE a < 4000")
                if got != [(4000, 0)]:
                    wrong.append(got)
            except duckdb.Error as error:
                errors.append(str(error))

    threads = [threading.Thread(target=ask, args=(sql.cursor(),)) for _ in range(3)]
    for one in threads:
        one.start()
    for _ in range(20):
        sql.execute("SELECT keyray_drop('t')").fetchall()
        sql.execute("SELECT keyray_table('t', i, {a: i}) FROM range(5000) r(i)").fetchall()
    for one in threads:
        one.join()
    assert not wrong
    assert all("there is no index or table 't'" in error for error in errors), errors[:3]


@of_version
def test_errors(sql):
    for query, words in [("FROM keyray_where('u')", "there is no index or table 'u'"), ("FROM keyray_where(NULL)", "the table is NULL"),
                         ("FROM keyray_where('t') WHERE z = 1", "z"), ("FROM keyray_where('ix')", "is an index, not a table"),
                         ("FROM keyray_where()", "keyray_where"), ("FROM keyray_where('t', ticket := NULL)", "ticket")]:
        sql.execute("SELECT keyray_drop(name) FROM keyray_indexes()").fetchall()
        sql.execute("SELECT keyray_table('t', i, {a: i}) FROM range(10) r(i)").fetchall()
        sql.execute("SELECT keyray_build('ix', i, i) FROM range(10) r(i)").fetchall()
        with pytest.raises(duckdb.Error) as error:
            sql.execute(query).fetchall()
        assert words in str(error.value), str(error.value)


@of_version
def test_a_ticket_of_another_call(sql):
    """Given by hand, a number is no ticket, so nothing takes over another call's predicates."""
    sql.execute("SELECT keyray_table('t', i, {a: i}) FROM range(100) r(i)").fetchall()
    for ticket in ["5", "0", "18446744073709551615", "CAST(5 AS UBIGINT)"]:
        with pytest.raises(duckdb.Error, match="ticket"):
            sql.execute(f"SELECT count(*) FROM keyray_where('t', ticket := {ticket}) WHERE a < 5").fetchall()
    sql.execute("SET VARIABLE ticket = CAST('' AS keyray_ticket)")
    assert answer(sql, "SELECT (SELECT count(*) FROM keyray_where('t', ticket := getvariable('ticket')) WHERE a < 5), "
                       "(SELECT count(*) FROM keyray_where('t', ticket := getvariable('ticket')) WHERE a < 7)") == [(5, 7)]


@of_version
def test_interrupt(sql):
    sql.execute("SELECT keyray_table('t', i, {a: i}) FROM range(100000) r(i)").fetchall()
    timer = threading.Timer(0.3, sql.interrupt)
    timer.start()
    begin = time.monotonic()
    with pytest.raises(duckdb.InterruptException):
        sql.execute("SELECT sum(p.a * q.a % 7) FROM keyray_where('t') p, keyray_where('t') q WHERE p.a > 5").fetchall()
    assert time.monotonic() - begin < 10


@of_version
def test_keyray_is_not_loaded():
    connection = duckdb.connect(config={"allow_unsigned_extensions": "true"})
    with pytest.raises(duckdb.Error, match="LOAD keyray first"):
        connection.execute(f"LOAD '{WHERE}'")
    connection.execute(f"LOAD '{EXTENSION}'")
    connection.execute(f"LOAD '{WHERE}'")
    connection.execute("SELECT keyray_table('t', i, {a: i}) FROM range(10) r(i)").fetchall()
    assert answer(connection, "SELECT count(*) FROM keyray_where('t') WHERE a < 3") == [(3,)]


@of_version
def test_two_databases():
    one, two = connect(), connect()
    one.execute("SELECT keyray_table('t', i, {a: i}) FROM range(10) r(i)").fetchall()
    two.execute("SELECT keyray_table('t', i, {a: i}) FROM range(20) r(i)").fetchall()
    for connection, n in [(one, 10), (two, 20)]:
        assert answer(connection, "SELECT count(*) FROM keyray_where('t') WHERE a >= 5") == [(n - 5,)]
    one.close()
    assert answer(two, "SELECT count(*) FROM keyray_where('t') WHERE a >= 5") == [(15,)]


def test_other_versions():
    """A file for one version is refused by others."""
    connection = duckdb.connect(config={"allow_unsigned_extensions": "true"})
    connection.execute(f"LOAD '{EXTENSION}'")
    path = WHERE if duckdb.__version__ not in VERSIONS else OTHER
    if not path:
        pytest.skip("KEYRAY_DUCKDB_WHERE_OTHER is not given")
    with pytest.raises(duckdb.Error, match="built specifically for DuckDB version|DuckDB version"):
        connection.execute(f"LOAD '{path}'")
