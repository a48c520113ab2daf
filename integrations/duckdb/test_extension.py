"""The extension against DuckDB's own joins and filters.   python -m pytest test_extension.py

KEYRAY_DUCKDB_EXTENSION names the file; DuckDB is the one that Python imports. KEYRAY_DEVICE names the device of every index and
table: cpu, if it is not set, or cuda."""
import datetime
import os
import pathlib
import random
import subprocess
import sys
import threading

import duckdb
import pytest

EXTENSION = os.environ.get("KEYRAY_DUCKDB_EXTENSION", "")
pytestmark = pytest.mark.skipif(not EXTENSION, reason="KEYRAY_DUCKDB_EXTENSION does not name the extension")
DEVICE = os.environ.get("KEYRAY_DEVICE", "cpu")
SEED = 20261126


def connect(path: str = ":memory:", **config: str) -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect(path, config={"allow_unsigned_extensions": "true", "threads": "4", **config})
    connection.execute(f"LOAD '{EXTENSION}'")
    connection.execute(f"FROM keyray_device('{DEVICE}')")
    return connection


@pytest.fixture
def sql():
    connection = connect()
    yield connection
    connection.execute("SELECT keyray_close()")
    connection.close()


def one(connection: duckdb.DuckDBPyConnection, query: str):
    row = connection.execute(query).fetchone()
    return row[0] if len(row) == 1 else row


def refused(connection: duckdb.DuckDBPyConnection, query: str, *words: str) -> None:
    with pytest.raises(duckdb.Error) as error:
        connection.execute(query).fetchall()
    for word in words:
        assert word in str(error.value), str(error.value)


def same(connection: duckdb.DuckDBPyConnection, ours: str, theirs: str) -> int:
    """Both queries give the same rows; returns how many."""
    got, want = (sorted(map(repr, connection.execute(query).fetchall())) for query in (ours, theirs))  # nan is nan
    assert got == want, f"{ours}\n{got[:5]}\n{theirs}\n{want[:5]}"
    return len(got)


# ---- Keys of every type -----------------------------------------------------------------------------

EDGES = {
    "TINYINT": [-128, -1, 0, 1, 127], "SMALLINT": [-32768, 0, 32767], "INTEGER": [-(2**31), 0, 2**31 - 1],
    "BIGINT": [-(2**63), -(2**62), 0, 2**53 + 1, 2**63 - 1], "UTINYINT": [0, 255], "USMALLINT": [0, 65535],
    "UINTEGER": [0, 2**32 - 1], "UBIGINT": [0, 2**63, 2**64 - 1],
}
FLOATS = ["0.0", "-0.0", "1.5", "-1e30", "1e-40", "'inf'", "'-inf'", "'nan'", "3.25"]
TEXTS = ["", "a", "ab", "abc", "abd", "exactly12byt", "thirteen byte", "a long text of more than twelve bytes", "ü", "zz\x00z",
         "x" * 300]


def literals(kind: str, rng: random.Random, n: int) -> list[str]:
    """Values of a type as SQL, a fifth of them NULL."""
    def value() -> str:
        if kind in EDGES:
            low, high = min(EDGES[kind]), max(EDGES[kind])
            return str(rng.choice([rng.choice(EDGES[kind]), rng.randint(max(low, -20), min(high, 20)),
                                   rng.randint(low, high)]))
        if kind in ("FLOAT", "DOUBLE"):
            return rng.choice([rng.choice(FLOATS), str(rng.randint(-8, 8) / 4)])
        if kind == "BOOLEAN":
            return rng.choice(["true", "false"])
        if kind == "DATE":
            return rng.choice(["DATE 'infinity'", "DATE '1969-12-31'"] + [f"DATE '2024-02-{rng.randint(1, 29):02}'"] * 6)
        if kind.startswith("TIMESTAMP"):
            return f"TIMESTAMP '2024-02-{rng.randint(1, 9):02} {rng.randint(0, 23):02}:00:0{rng.randint(0, 9)}.{rng.randint(0, 3)}'"
        text = rng.choice([rng.choice(TEXTS), "k" + str(rng.randint(0, 60))]).replace("\x00", "")
        return f"'{text}'" if kind == "VARCHAR" else f"'{text}'::BLOB" if text.isascii() else "'x'::BLOB"
    return ["NULL" if rng.random() < 0.2 else value() for _ in range(n)]


def make(connection, name: str, kind: str, rng: random.Random, n: int, columns: int = 1) -> None:
    names = [f"k{i}" if i else "k" for i in range(columns)]
    connection.execute(f"CREATE OR REPLACE TABLE {name} ({', '.join(f'{c} {kind}' for c in names)})")
    rows = zip(*(literals(kind, rng, n) for _ in names))
    connection.execute(f"INSERT INTO {name} VALUES " + ", ".join("(" + ", ".join(f"CAST({v} AS {kind})" for v in row) + ")"
                                                                 for row in rows))


KINDS = [*EDGES, "FLOAT", "DOUBLE", "BOOLEAN", "DATE", "TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS", "TIMESTAMPTZ",
         "VARCHAR", "BLOB"]


@pytest.mark.parametrize("spec", ["best", "best:ranges=off", "btree"])
@pytest.mark.parametrize("kind", KINDS)
def test_every_type(sql, kind: str, spec: str) -> None:
    rng = random.Random(f"{SEED} {kind} {spec}")
    make(sql, "t", kind, rng, 300)
    make(sql, "p", kind, rng, 150, columns=2)
    assert one(sql, f"SELECT keyray_build('ix', k, rowid, '{spec}') FROM t") == one(sql, "SELECT count(k) FROM t")
    same(sql, "SELECT rowid, keyray_row('ix', k) FROM p",
         "SELECT p.rowid, (SELECT min(t.rowid) FROM t WHERE t.k = p.k) FROM p")
    same(sql, "SELECT rowid, keyray_count('ix', k), keyray_exists('ix', k) FROM p WHERE k IS NOT NULL",
         "SELECT p.rowid, (SELECT count(*) FROM t WHERE t.k = p.k), p.k IN (SELECT k FROM t WHERE k IS NOT NULL) FROM p "
         "WHERE p.k IS NOT NULL")
    same(sql, "SELECT rowid, unnest(keyray_rows('ix', k)) FROM p", "SELECT p.rowid, t.rowid FROM p JOIN t ON t.k = p.k")
    assert one(sql, "SELECT count(*) FROM p WHERE k IS NULL AND (keyray_row('ix', k) IS NOT NULL OR "
                    "keyray_count('ix', k) IS NOT NULL OR keyray_exists('ix', k) IS NOT NULL OR "
                    "keyray_rows('ix', k) IS NOT NULL)") == 0
    assert one(sql, "SELECT keyray_stale('ix', k, rowid) FROM t") is False
    if spec == "best:ranges=off" and one(sql, "SELECT spec FROM keyray_indexes()").startswith("hash"):
        refused(sql, "SELECT keyray_count('ix', k, k1) FROM p", "keyray_count")
        return
    same(sql, "SELECT rowid, keyray_count('ix', k, k1) FROM p WHERE k IS NOT NULL AND k1 IS NOT NULL",
         "SELECT p.rowid, (SELECT count(*) FROM t WHERE t.k BETWEEN p.k AND p.k1) FROM p WHERE k IS NOT NULL AND k1 IS NOT NULL")
    same(sql, "SELECT rowid, unnest(keyray_rows('ix', k, k1)) FROM p",
         "SELECT p.rowid, t.rowid FROM p JOIN t ON t.k BETWEEN p.k AND p.k1")
    finite = "AND NOT isnan(t.k)" if kind in ("FLOAT", "DOUBLE") else ""
    wanted = "WHERE NOT isnan(k)" if kind in ("FLOAT", "DOUBLE") else ""
    for side, compare, order in (("below", "<=", "DESC"), ("<", "<", "DESC"), ("above", ">=", "ASC"), (">", ">", "ASC")):
        same(sql, f"SELECT rowid, keyray_nearest('ix', k, '{side}') FROM p {wanted}",
             f"SELECT p.rowid, (SELECT t.rowid FROM t WHERE t.k {compare} p.k {finite} ORDER BY t.k {order}, t.rowid {order} LIMIT 1) "
             f"FROM p {wanted}")


NUMBERS = [*EDGES]


@pytest.mark.parametrize("keys", NUMBERS)
def test_integers_of_other_widths(sql, keys: str) -> None:
    """A probe of another type compares by value, as in SQL."""
    rng = random.Random(f"{SEED} {keys}")
    make(sql, "t", keys, rng, 200)
    sql.execute("SELECT keyray_build('ix', k, rowid) FROM t")
    for kind in NUMBERS:
        make(sql, "p", kind, rng, 60, columns=2)
        wide = "HUGEINT"
        same(sql, "SELECT rowid, keyray_row('ix', k) FROM p",
             f"SELECT p.rowid, (SELECT min(t.rowid) FROM t WHERE t.k::{wide} = p.k::{wide}) FROM p")
        same(sql, "SELECT rowid, keyray_count('ix', k, k1) FROM p WHERE k IS NOT NULL AND k1 IS NOT NULL",
             f"SELECT p.rowid, (SELECT count(*) FROM t WHERE t.k::{wide} BETWEEN p.k::{wide} AND p.k1::{wide}) FROM p "
             "WHERE k IS NOT NULL AND k1 IS NOT NULL")
        same(sql, "SELECT rowid, keyray_nearest('ix', k, 'below'), keyray_nearest('ix', k, 'above') FROM p",
             f"SELECT p.rowid, (SELECT t.rowid FROM t WHERE t.k::{wide} <= p.k::{wide} ORDER BY t.k DESC, t.rowid DESC LIMIT 1), "
             f"(SELECT t.rowid FROM t WHERE t.k::{wide} >= p.k::{wide} ORDER BY t.k, t.rowid LIMIT 1) FROM p")


TIMES = ["DATE", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP", "TIMESTAMP_NS"]


@pytest.mark.parametrize("keys", TIMES)
def test_times_of_other_units(sql, keys: str) -> None:
    rng = random.Random(f"{SEED} {keys}")
    make(sql, "t", keys, rng, 200)
    sql.execute("DELETE FROM t WHERE k::VARCHAR = 'infinity'")
    sql.execute("SELECT keyray_build('ix', k, rowid) FROM t")
    for kind in TIMES:
        make(sql, "p", kind, rng, 60, columns=2)
        sql.execute("DELETE FROM p WHERE k::VARCHAR = 'infinity' OR k1::VARCHAR = 'infinity'")
        t, p, p1 = "t.k::TIMESTAMP_NS", "p.k::TIMESTAMP_NS", "p.k1::TIMESTAMP_NS"
        same(sql, "SELECT rowid, keyray_row('ix', k) FROM p", f"SELECT p.rowid, (SELECT min(t.rowid) FROM t WHERE {t} = {p}) FROM p")
        same(sql, "SELECT rowid, keyray_count('ix', k, k1) FROM p WHERE k IS NOT NULL AND k1 IS NOT NULL",
             f"SELECT p.rowid, (SELECT count(*) FROM t WHERE {t} BETWEEN {p} AND {p1}) FROM p WHERE k IS NOT NULL AND k1 IS NOT NULL")
        same(sql, "SELECT rowid, keyray_nearest('ix', k, 'below'), keyray_nearest('ix', k, 'above') FROM p",
             f"SELECT p.rowid, (SELECT t.rowid FROM t WHERE {t} <= {p} ORDER BY t.k DESC, t.rowid DESC LIMIT 1), "
             f"(SELECT t.rowid FROM t WHERE {t} >= {p} ORDER BY t.k, t.rowid LIMIT 1) FROM p")
    if keys == "TIMESTAMP":
        refused(sql, "SELECT keyray_row('ix', k::TIMESTAMPTZ) FROM t", "TIMESTAMP WITH TIME ZONE", "CAST")
        refused(sql, "SELECT keyray_nearest('ix', TIMESTAMP_NS '2024-02-01 00:00:00.000000001', '<')", "CAST")


def test_infinite_dates_are_infinite_timestamps(sql) -> None:
    sql.execute("CREATE TABLE t AS SELECT unnest([TIMESTAMP 'infinity', TIMESTAMP '2024-01-01', TIMESTAMP '-infinity']) AS k")
    sql.execute("SELECT keyray_build('ix', k, rowid) FROM t")
    assert one(sql, "SELECT keyray_row('ix', DATE 'infinity'), keyray_row('ix', DATE '-infinity'), "
                    "keyray_row('ix', DATE '2024-01-01'), keyray_row('ix', DATE '2024-01-02')") == (0, 2, 1, None)


# ---- Rows, values, groups ---------------------------------------------------------------------------

def test_rows_of_any_numbers(sql) -> None:
    rng = random.Random(SEED)
    for rows in ([5, 3, 9, 2**40], [7, 7, 7, 1], [-5, 2**62, 0, -(2**63)], [100, 200, 300, 400], [3, 2, 1, 0]):
        values = [(rng.randint(0, 2), row, rng.choice([None, row % 1000])) for row in rows]
        sql.execute("CREATE OR REPLACE TABLE t (k INTEGER, r BIGINT, v BIGINT)")
        sql.executemany("INSERT INTO t VALUES (?, ?, ?)", values)
        sql.execute("SELECT keyray_rebuild('ix', k, r, 'best', v) FROM t")
        sql.execute("CREATE OR REPLACE TABLE p AS SELECT range::INTEGER AS k FROM range(4)")
        same(sql, "SELECT k, keyray_row('ix', k), keyray_count('ix', k), keyray_sum('ix', k) FROM p",
             "SELECT k, (SELECT min(r) FROM t WHERE t.k = p.k), (SELECT count(*) FROM t WHERE t.k = p.k), "
             "(SELECT sum(v) FROM t WHERE t.k = p.k) FROM p")
        same(sql, "SELECT k, list_sort(keyray_rows('ix', k)) FROM p",
             "SELECT k, coalesce((SELECT list(r ORDER BY r) FROM t WHERE t.k = p.k), []) FROM p")


@pytest.mark.parametrize("kind", ["BIGINT", "DOUBLE"])
def test_sums(sql, kind: str) -> None:
    """Sums of integers are exact beyond 64 bits, sums of nothing are NULL."""
    function, value = ("keyray_sum", "9000000000000000000 + i") if kind == "BIGINT" else ("keyray_fsum", "i * 0.25")
    sql.execute(f"CREATE TABLE t AS SELECT (i * 7) % 50 AS k, CASE WHEN i % 3 = 0 THEN NULL ELSE CAST({value} AS {kind}) END AS v, "
                "CASE WHEN i % 2 = 0 THEN 1000 - i ELSE 1000000 + i END AS r FROM range(400) s(i)")
    sql.execute("UPDATE t SET v = NULL WHERE k = 7")
    sql.execute("SELECT keyray_build('ix', k, r, 'best', v) FROM t")
    sql.execute("CREATE TABLE p AS SELECT range - 5 AS k, range + 3 AS k1 FROM range(70)")
    same(sql, f"SELECT k, {function}('ix', k), {function}('ix', k, k1) FROM p",
         "SELECT k, (SELECT sum(v) FROM t WHERE t.k = p.k), (SELECT sum(v) FROM t WHERE t.k BETWEEN p.k AND p.k1) FROM p")
    refused(sql, f"SELECT {'keyray_fsum' if kind == 'BIGINT' else 'keyray_sum'}('ix', 3)", "values", function)
    sql.execute("SELECT keyray_build('plain', k, r) FROM t")
    refused(sql, "SELECT keyray_sum('plain', 3)", "no values", "keyray_build")


def test_parallel_builds_and_lookups(sql) -> None:
    sql.execute("CREATE TABLE t AS SELECT (hash(i) % 400000)::BIGINT AS k, 't' || (i % 5000) AS s FROM range(600000) r(i)")
    assert one(sql, "SELECT keyray_build('ix', k, rowid), keyray_build('tx', s, rowid) FROM t") == (600000, 600000)
    for _ in range(3):
        assert one(sql, "SELECT count(*) FROM t WHERE keyray_row('ix', k) <> (SELECT 0) AND keyray_count('ix', k) < 1") == 0
        assert one(sql, "SELECT sum(keyray_count('ix', k)) = (SELECT count(*) FROM t a JOIN t b USING (k)) FROM t")
        assert one(sql, "SELECT bool_and(keyray_count('tx', s) = 120) FROM t")
    same(sql, "SELECT left_row, right_row FROM keyray_join('ix', 't', 'k') WHERE left_row < 3000",
         "SELECT a.rowid, b.rowid FROM t a JOIN t b USING (k) WHERE a.rowid < 3000")


def test_groups_make_an_index_each(sql) -> None:
    sql.execute("CREATE TABLE t AS SELECT i AS k, i % 3 AS g FROM range(3000) r(i)")
    made = sql.execute("SELECT g, keyray_build('g' || g, k, rowid) FROM t GROUP BY g").fetchall()
    assert sorted(made) == [(0, 1000), (1, 1000), (2, 1000)]
    same(sql, "SELECT k FROM t WHERE keyray_exists('g' || g, k)", "SELECT k FROM t")
    assert one(sql, "SELECT count(*) FROM t WHERE keyray_exists('g' || ((g + 1) % 3), k)") == 0
    refused(sql, "SELECT keyray_build('h', k, rowid) FROM t GROUP BY g", "two groups", "'h'")
    refused(sql, "SELECT keyray_build('h' || g, k, rowid) FROM t", "two names")
    refused(sql, "SELECT keyray_build('h', k, rowid, CASE WHEN g = 0 THEN 'array' ELSE 'pivot' END) FROM t", "two specs")
    refused(sql, "SELECT keyray_row('h', 1)", "no index", "keyray_indexes")


def test_names_may_differ_from_row_to_row(sql) -> None:
    sql.execute("CREATE TABLE t AS SELECT i AS k FROM range(100) r(i)")
    sql.execute("SELECT keyray_build('a', k, rowid), keyray_build('b', k, rowid + 1000) FROM t")
    same(sql, "SELECT i, keyray_row(CASE WHEN i % 2 = 0 THEN 'a' ELSE 'b' END, i), "
              "keyray_rows(CASE WHEN i % 2 = 0 THEN 'a' ELSE 'b' END, i) FROM range(200) r(i)",
         "SELECT i, CASE WHEN i >= 100 THEN NULL WHEN i % 2 = 0 THEN i ELSE i + 1000 END, "
         "CASE WHEN i >= 100 THEN [] WHEN i % 2 = 0 THEN [i] ELSE [i + 1000] END FROM range(200) r(i)")
    assert one(sql, "SELECT keyray_row(NULL, 5)") is None


# ---- Several columns --------------------------------------------------------------------------------

def test_structs_are_keys_of_several_columns(sql) -> None:
    rng = random.Random(SEED)
    symbols = ["IBM", "A", "a text of more than twelve bytes", "ZZ"]
    row = lambda: (rng.choice(symbols + [None]), datetime.datetime(2024, 1, 1) + datetime.timedelta(seconds=rng.randint(0, 500)))  # noqa: E731
    sql.execute("CREATE TABLE quotes (s VARCHAR, ts TIMESTAMP)")
    sql.execute("CREATE TABLE trades (s VARCHAR, ts TIMESTAMP)")
    sql.executemany("INSERT INTO quotes VALUES (?, ?)", [row() for _ in range(800)])
    sql.executemany("INSERT INTO trades VALUES (?, ?)", [row() for _ in range(300)])
    sql.execute("SELECT keyray_build('q', {s: s, ts: ts}, rowid) FROM quotes")
    want = ("SELECT t.rowid, (SELECT q.rowid FROM quotes q WHERE q.s = t.s AND q.ts <= t.ts ORDER BY q.ts DESC, q.rowid DESC LIMIT 1) "
            "FROM trades t")
    same(sql, "SELECT rowid, keyray_nearest('q', {s: s, ts: ts}, 'below') FROM trades", want)
    same(sql, "SELECT left_row, right_row FROM keyray_asof('q', 'trades', 's, ts', how := 'left')", want)
    same(sql, "SELECT left_row, right_row FROM keyray_asof_tables('trades', 's, ts', 'quotes', 's, ts', how := 'left')", want)
    same(sql, "SELECT left_row, right_row FROM keyray_asof('q', 'trades', 's, ts', tolerance := 3000000)",
         f"SELECT * FROM ({want}) x(l, r) WHERE r IS NOT NULL AND (SELECT ts FROM trades WHERE rowid = l) - "
         "(SELECT ts FROM quotes WHERE rowid = r) <= INTERVAL 3 SECONDS")
    same(sql, "SELECT rowid, keyray_row('q', {s: s, ts: ts}) FROM trades",
         "SELECT t.rowid, (SELECT min(q.rowid) FROM quotes q WHERE q.s = t.s AND q.ts = t.ts) FROM trades t")
    same(sql, "SELECT rowid, keyray_count('q', {s: s}) FROM trades WHERE s IS NOT NULL",
         "SELECT t.rowid, (SELECT count(*) FROM quotes q WHERE q.s = t.s) FROM trades t WHERE s IS NOT NULL")
    same(sql, "SELECT rowid, keyray_count('q', {s: s, ts: ts}, ts + INTERVAL 20 SECONDS) FROM trades WHERE s IS NOT NULL",
         "SELECT t.rowid, (SELECT count(*) FROM quotes q WHERE q.s = t.s AND q.ts BETWEEN t.ts AND t.ts + INTERVAL 20 SECONDS) "
         "FROM trades t WHERE s IS NOT NULL")
    refused(sql, "SELECT keyray_row('q', {ts: ts, s: s}) FROM trades", "order")
    refused(sql, "SELECT keyray_row('q', 5)", "structs")
    refused(sql, "SELECT keyray_row('q', {s: s, ts: ts, more: 5}) FROM trades", "3")
    assert one(sql, "SELECT keyray_stale('q', {s: s, ts: ts}, rowid) FROM quotes") is False


# ---- Joins by name ----------------------------------------------------------------------------------

def test_joins_of_tables(sql) -> None:
    sql.execute("CREATE SCHEMA other")
    sql.execute("CREATE TABLE t AS SELECT (i * 31) % 400 AS k FROM range(1000) r(i)")
    sql.execute('CREATE TABLE other."odd name" AS SELECT CASE WHEN i % 10 = 0 THEN NULL ELSE i * 3 END AS "a ""b""", i * 3 + 4 AS u '
                'FROM range(300) r(i)')
    sql.execute("SELECT keyray_build('ix', k, rowid) FROM t")
    table = 'other."odd name"'
    arguments = "'ix', 'other.odd name', '\"a \"\"b\"\"\"'"
    for how, want in (("inner", f'SELECT p.rowid, t.rowid FROM {table} p JOIN t ON t.k = p."a ""b"""'),
                      ("left", f'SELECT p.rowid, t.rowid FROM {table} p LEFT JOIN t ON t.k = p."a ""b"""'),
                      ("semi", f'SELECT p.rowid FROM {table} p SEMI JOIN t ON t.k = p."a ""b"""'),
                      ("anti", f'SELECT p.rowid FROM {table} p ANTI JOIN t ON t.k = p."a ""b"""')):
        assert same(sql, f"SELECT * FROM keyray_join({arguments}, how := '{how}')", want)
    assert same(sql, f"SELECT * FROM keyray_join({arguments}, upper := 'u')",
                f'SELECT p.rowid, t.rowid FROM {table} p JOIN t ON t.k BETWEEN p."a ""b""" AND p.u')
    sql.execute("CREATE VIEW v AS SELECT k, 5 * k AS id FROM t WHERE k < 50")
    refused(sql, "FROM keyray_join('ix', 'v', 'k')", "rowid", "views")
    assert same(sql, "SELECT * FROM keyray_join('ix', 'v', 'k', row_id := 'id')", "SELECT v.id, t.rowid FROM v JOIN t USING (k)")
    refused(sql, "FROM keyray_join('ix', 'nowhere', 'k')", "nowhere")
    refused(sql, "FROM keyray_join('ix', 't', 'zz')", "zz")
    refused(sql, "FROM keyray_join('ix', 't; DROP TABLE t', 'k')", "DROP")
    refused(sql, "FROM keyray_join('ix', 't', 'k', how := 'outer')", "inner")
    refused(sql, "FROM keyray_join(NULL, 't', 'k')", "NULL")
    refused(sql, "FROM keyray_asof('ix', 't', 'k', side := 'left')", "below")
    assert one(sql, "SELECT count(*) FROM t") == 1000


def test_a_view_may_join_by_keyray_itself(sql) -> None:
    sql.execute("CREATE TABLE t AS SELECT i AS k FROM range(100) r(i)")
    sql.execute("SELECT keyray_build('ix', k, rowid) FROM t")
    sql.execute("CREATE VIEW v AS SELECT left_row AS id, right_row AS k FROM keyray_join('ix', 't', 'k')")
    assert one(sql, "SELECT count(*) FROM keyray_join('ix', 'v', 'k', row_id := 'id')") == 100


def test_uncommitted_rows(sql) -> None:
    """Aggregates see them; what reads a table by its name does not."""
    sql.execute("CREATE TABLE t AS SELECT i AS k FROM range(10) r(i)")
    sql.execute("BEGIN")
    sql.execute("INSERT INTO t SELECT i FROM range(10, 20) r(i)")
    assert one(sql, "SELECT keyray_build('ix', k, rowid) FROM t") == 20
    assert one(sql, "SELECT count(*) FROM keyray_join('ix', 't', 'k')") == 10
    assert one(sql, "SELECT keyray_row('ix', k) = rowid FROM t WHERE k = 15")
    sql.execute("ROLLBACK")
    assert one(sql, "SELECT keyray_count('ix', 15)") == 1, "an index does not notice that its rows are gone"
    assert one(sql, "SELECT keyray_stale('ix', k, rowid) FROM t") is True
    sql.execute("CREATE TEMP TABLE mine AS SELECT 'x' AS k")
    assert one(sql, "SELECT keyray_build('tmp', k, rowid) FROM mine") == 1


def test_stale_indexes(sql) -> None:
    sql.execute("CREATE TABLE t AS SELECT i % 50 AS k, i AS v FROM range(500) r(i)")
    stale = "SELECT keyray_stale('ix', k, rowid) FROM t"
    sql.execute("SELECT keyray_build('ix', k, rowid) FROM t")
    assert one(sql, stale) is False
    sql.execute("UPDATE t SET v = 0")
    assert one(sql, stale) is False, "no key changed"
    for change in ("UPDATE t SET k = k + 1 WHERE v = 0 AND k = 3", "DELETE FROM t WHERE k = 7", "INSERT INTO t VALUES (3, 3)",
                   "UPDATE t SET k = NULL WHERE k = 9"):
        sql.execute(change)
        assert one(sql, stale) is True, change
        sql.execute("SELECT keyray_rebuild('ix', k, rowid) FROM t")
        assert one(sql, stale) is False
    refused(sql, "SELECT keyray_stale('ix', k::INTEGER, rowid) FROM t", "CAST")
    refused(sql, "SELECT keyray_stale('none', k, rowid) FROM t", "'none'")


def test_overlaps(sql) -> None:
    rng = random.Random(SEED)
    for name in ("a", "b"):
        sql.execute(f"CREATE TABLE {name} (s INTEGER, e INTEGER, room VARCHAR)")
        sql.executemany(f"INSERT INTO {name} VALUES (?, ?, ?)",
                        [(s := rng.randint(0, 200), s + rng.randint(-2, 20), rng.choice("xyz")) for _ in range(200)])
        sql.execute(f"INSERT INTO {name} VALUES (NULL, 5, 'x'), (5, NULL, 'x'), (5, 6, NULL)")
    closed = "a.s <= b.e AND b.s <= a.e AND a.s <= a.e AND b.s <= b.e"
    opened = "a.s < b.e AND b.s < a.e AND a.s < a.e AND b.s < b.e"
    for options, on in (("", closed), (", closed := false", opened),
                        (", left_by := 'room', right_by := 'room'", closed + " AND a.room = b.room")):
        assert same(sql, f"SELECT * FROM keyray_overlap('a', 's', 'e', 'b', 's', 'e'{options})",
                    f"SELECT a.rowid, b.rowid FROM a JOIN b ON {on}")
    assert same(sql, "SELECT * FROM keyray_overlap('a', 's', 'e', 'b', 's', 'e', how := 'anti')",
                f"SELECT a.rowid FROM a ANTI JOIN b ON {closed}")
    refused(sql, "FROM keyray_overlap('a', 's', 'e', 'b', 's', 'e', left_by := 'room')", "3", "2")
    refused(sql, "FROM keyray_overlap('a', 's', 's', 'b', 'room', 'room')", "INTEGER", "VARCHAR")


# ---- Tables and scans -------------------------------------------------------------------------------

CONDITIONS = ["a < 5", "a BETWEEN 3 AND 7 AND b >= 0.5", "s = 'k3' OR s IS NULL", "NOT (a = 3 OR d > '2024-02-10')", "s LIKE 'k1%'",
              "a IN (1, 2, NULL) AND flag = 1", "b = nan OR b > 1e30", "a <> 4", "d <= '2024-02-03' AND s > 'k2'", "true",
              "a IS NOT NULL AND s NOT LIKE '%2'"]


def test_scans(sql) -> None:
    rng = random.Random(SEED)
    sql.execute("CREATE TABLE x (a INTEGER, b DOUBLE, s VARCHAR, d DATE, flag BOOLEAN)")
    rows = zip(*(literals(kind, rng, 500) for kind in ("TINYINT", "DOUBLE", "VARCHAR", "DATE", "BOOLEAN")))
    sql.execute("INSERT INTO x VALUES " + ", ".join("(" + ", ".join(row) + ")" for row in rows))
    for spec in ("best", "full"):
        assert one(sql, f"SELECT keyray_replace_table('t', rowid, x, '{spec}') FROM x") == 500
        for condition in CONDITIONS:
            theirs = condition.replace("b = nan", "b = 'nan'::DOUBLE").replace("flag = 1", "flag")
            n = same(sql, f"SELECT row FROM keyray_scan('t', '{condition.replace(chr(39), chr(39) * 2)}')",
                     f"SELECT rowid FROM x WHERE {theirs}")
            assert one(sql, f"SELECT count(*) FROM keyray_scan('t', '{condition.replace(chr(39), chr(39) * 2)}')") == n
    same(sql, "SELECT x.* FROM keyray_scan('t', 'a < 5') JOIN x ON x.rowid = row", "FROM x WHERE a < 5")
    for condition, word in (("a <", "character"), ("", "empty"), ("  ", "empty"), ("zz = 1", "zz"), ("a = ''x''", "a")):
        refused(sql, f"FROM keyray_scan('t', '{condition}')", word)
    refused(sql, "FROM keyray_scan('none', 'a < 5')", "'none'")
    refused(sql, "SELECT keyray_row('t', 1)", "table")
    refused(sql, "SELECT keyray_table('u', rowid, a) FROM x", "struct")
    refused(sql, "SELECT keyray_table('u', rowid, row(a, b)) FROM x", "name")
    refused(sql, "SELECT keyray_table('u', rowid, {a: a, h: 1::HUGEINT}) FROM x", "HUGEINT")


# ---- Files ------------------------------------------------------------------------------------------

def test_files(sql, tmp_path: pathlib.Path) -> None:
    rng = random.Random(SEED)
    path = str(tmp_path / "t.krx")
    sql.execute("CREATE TABLE x (a INTEGER, b DOUBLE, s VARCHAR, d DATE, flag BOOLEAN, z TIMESTAMPTZ, n BLOB)")
    kinds = ("TINYINT", "DOUBLE", "VARCHAR", "DATE", "BOOLEAN", "TIMESTAMP", "BLOB")
    sql.execute("INSERT INTO x VALUES " + ", ".join("(" + ", ".join(row) + ")"
                                                    for row in zip(*(literals(kind, rng, 3000) for kind in kinds))))
    sql.execute("SELECT keyray_table('t', rowid, x) FROM x")
    assert one(sql, f"SELECT keyray_save('t', '{path}')") == os.path.getsize(path)
    everything = "SELECT * REPLACE (z::VARCHAR AS z) FROM "
    same(sql, everything + f"'{path}'", everything + "x")
    same(sql, f"SELECT d, count(*), sum(a), max(s) FROM '{path}' GROUP BY d", "SELECT d, count(*), sum(a), max(s) FROM x GROUP BY d")
    assert one(sql, f"SELECT count(*) FROM '{path}'") == 3000
    described = "SELECT column_name, column_type FROM (DESCRIBE FROM {})"
    same(sql, described.format(f"'{path}'"), described.format("x"))
    assert one(sql, f"SELECT keyray_load('u', '{path}')") == 3000
    same(sql, "SELECT row FROM keyray_scan('u', 'a > 3')", "SELECT rowid FROM x WHERE a > 3")

    keys = str(tmp_path / "ix.krx")
    sql.execute("SELECT keyray_build('ix', {s: s, a: a}, 2 * rowid + 5, 'best', a) FROM x")
    sql.execute(f"SELECT keyray_save('ix', '{keys}'), keyray_drop('ix')")
    sql.execute(f"SELECT keyray_load('ix', '{keys}')")
    same(sql, "SELECT rowid, keyray_rows('ix', {s: s, a: a}), keyray_sum('ix', {s: s, a: a}) FROM x WHERE s IS NOT NULL AND a IS NOT NULL",
         "SELECT x.rowid, list(2 * y.rowid + 5 ORDER BY y.rowid), sum(y.a) FROM x JOIN x y ON x.s = y.s AND x.a = y.a GROUP BY x.rowid")
    assert one(sql, "SELECT keyray_stale('ix', {s: s, a: a}, 2 * rowid + 5) FROM x") is False
    refused(sql, f"FROM '{keys}'", "index")
    refused(sql, f"SELECT keyray_load('ix', '{keys}')", "already")
    refused(sql, f"FROM '{tmp_path}/none.krx'", "none.krx")
    refused(sql, f"SELECT keyray_load('w', '{tmp_path}/none.krx')", "none.krx")
    data = bytearray(pathlib.Path(path).read_bytes())
    for at in rng.sample(range(len(data)), 60):
        (tmp_path / "bad.krx").write_bytes(data[:at] + bytes([data[at] ^ 0x5A]) + data[at + 1:])
        refused(sql, f"FROM '{tmp_path}/bad.krx'", "keyray_read")
    (tmp_path / "bad.krx").write_bytes(data[: len(data) // 2])
    refused(sql, f"FROM '{tmp_path}/bad.krx'", "bad.krx")


def test_files_of_other_programs(sql, tmp_path: pathlib.Path) -> None:
    command = os.environ.get("KEYRAY_COMMAND")
    if not command:
        pytest.skip("KEYRAY_COMMAND does not name the command")
    (tmp_path / "t.csv").write_text("day,name,price\n2024-01-03,bee,20\n2024-02-11,ant,35\n,cow,7\n")
    run = lambda *arguments: subprocess.run([command, "index", "build", *arguments, "--quiet"], check=True, cwd=tmp_path)  # noqa: E731
    run("--column", "t.csv:day", "--column", "t.csv:name", "--column", "t.csv:price", "-o", "t.krx")
    assert sql.execute(f"SELECT day, name, price FROM '{tmp_path}/t.krx'").fetchall() == [
        (datetime.date(2024, 1, 3), "bee", 20), (datetime.date(2024, 2, 11), "ant", 35), (None, "cow", 7)]
    run("--keys", "t.csv:day", "-o", "ix.krx")
    sql.execute(f"SELECT keyray_load('ix', '{tmp_path}/ix.krx')")
    assert one(sql, "SELECT keyray_row('ix', DATE '2024-02-11')") == 1
    refused(sql, "SELECT keyray_stale('ix', day, 0) FROM (SELECT DATE '2024-01-01' AS day)", "another program")


def test_files_follow_duckdbs_setting(sql, tmp_path: pathlib.Path) -> None:
    sql.execute("CREATE TABLE t AS SELECT 1 AS k")
    sql.execute("SELECT keyray_build('ix', k, rowid) FROM t")
    sql.execute(f"SELECT keyray_save('ix', '{tmp_path}/ix.krx')")
    sql.execute("SET enable_external_access = false")
    for query in (f"SELECT keyray_save('ix', '{tmp_path}/no.krx')", f"SELECT keyray_load('iy', '{tmp_path}/ix.krx')",
                  f"FROM keyray_read('{tmp_path}/ix.krx')"):
        refused(sql, query, "enable_external_access")
    assert not (tmp_path / "no.krx").exists()


# ---- Names, devices, databases ----------------------------------------------------------------------

def test_names(sql) -> None:
    sql.execute("CREATE TABLE t AS SELECT i AS k FROM range(10) r(i)")
    assert one(sql, "SELECT count(*) FROM keyray_indexes()") == 0
    sql.execute("SELECT keyray_build('ix', k, rowid) FROM t")
    name, what, columns, spec, rows, nbytes, device, source = sql.execute("FROM keyray_indexes()").fetchone()
    assert (name, what, columns, rows, device, source) == ("ix", "index", "BIGINT", 10, {"cuda": "cuda:0"}.get(DEVICE, DEVICE), "a query") and nbytes > 0
    assert spec.startswith("dense")
    refused(sql, "SELECT keyray_build('ix', k, rowid) FROM t", "already", "keyray_drop")
    refused(sql, "SELECT keyray_build('iy', k, rowid, 'frob') FROM t", "frob")
    refused(sql, "SELECT keyray_build('', k, rowid) FROM t", "name")
    refused(sql, "SELECT keyray_build(NULL, k, rowid) FROM t", "NULL")
    refused(sql, "SELECT keyray_build('iy', k, NULL) FROM t", "NULL")
    refused(sql, "SELECT keyray_build('iy', k, rowid) FROM t WHERE k > 100", "no rows")
    for cast, help in (("k::DECIMAL(9, 2)", "cast"), ("k::HUGEINT", "HUGEINT"), ("[k]", "LIST"), ("k::VARCHAR::TIME", "TIME")):
        query = f"SELECT keyray_build('iy', {cast}, rowid) FROM t".replace("k::VARCHAR::TIME", "TIME '12:00:00'")
        refused(sql, query, help)
    refused(sql, "SELECT keyray_row('ix', 1.5)", "DECIMAL")
    refused(sql, "SELECT keyray_row('ix', 'x')", "VARCHAR", "BIGINT")
    refused(sql, "SELECT keyray_row('ix', true)", "BOOLEAN")
    assert one(sql, "SELECT keyray_row('ix', NULL)") is None
    assert one(sql, "SELECT keyray_drop('ix')") is True
    refused(sql, "SELECT keyray_drop('ix')", "'ix'")
    refused(sql, "SELECT keyray_row('ix', 5)", "'ix'")


def test_nothing_is_computed_while_planning(sql) -> None:
    sql.execute("CREATE TABLE t AS SELECT 5 AS k")
    sql.execute("EXPLAIN SELECT keyray_row('later', 5)")
    sql.execute("PREPARE ask AS SELECT keyray_row('later', 5)")
    sql.execute("SELECT keyray_build('later', k, 77) FROM t")
    assert one(sql, "EXECUTE ask") == 77
    sql.execute("SELECT keyray_rebuild('later', k, 78) FROM t")
    assert one(sql, "EXECUTE ask") == 78


def test_devices(sql) -> None:
    name, _, limit = sql.execute("FROM keyray_device('cpu', memory_limit := '64 MiB')").fetchone()
    assert (name, limit) == ("cpu", 64 << 20)
    sql.execute("CREATE TABLE t AS SELECT i AS k FROM range(10000000) r(i)")
    refused(sql, "SELECT keyray_build('ix', k, rowid) FROM t", "bytes")
    assert one(sql, "SELECT count(*) FROM keyray_indexes()") == 0
    refused(sql, "FROM keyray_device('cpu', memory_limit := 'much')", "memory_limit", "GiB")
    refused(sql, "FROM keyray_device('frob')", "frob")
    refused(sql, "FROM keyray_device('cuda:77')", "device")
    sql.execute("SET memory_limit = '900 MiB'")
    assert sql.execute("FROM keyray_device('cpu')").fetchone()[2] == 900 << 20, "DuckDB's own limit"
    assert one(sql, "SELECT keyray_build('ix', k, rowid) FROM t") == 10000000


def test_two_databases_have_names_of_their_own(sql) -> None:
    other = connect()
    for connection, add in ((sql, 0), (other, 100)):
        connection.execute(f"CREATE TABLE t AS SELECT i AS k, i + {add} AS r FROM range(10) r(i)")
        connection.execute("SELECT keyray_build('ix', k, r) FROM t")
    assert (one(sql, "SELECT keyray_row('ix', 3)"), one(other, "SELECT keyray_row('ix', 3)")) == (3, 103)
    other.execute("SELECT keyray_close()")
    other.close()
    assert one(sql, "SELECT keyray_row('ix', 3)") == 3


def test_closing_lets_go_of_the_database(tmp_path: pathlib.Path) -> None:
    path = str(tmp_path / "x.db")
    connection = connect(path)
    connection.execute("CREATE TABLE t AS SELECT 1 AS k")
    connection.execute("SELECT keyray_build('ix', k, rowid) FROM t")
    assert one(connection, "SELECT keyray_close()") is True
    refused(connection, "FROM keyray_join('ix', 't', 'k')", "'ix'")
    connection.close()
    reads = f"import duckdb; print(duckdb.connect({path!r}).execute('SELECT k FROM t').fetchone())"
    assert subprocess.run([sys.executable, "-c", reads], capture_output=True, text=True, check=True).stdout == "(1,)\n"


def test_threads_drop_and_rebuild_under_lookups(sql) -> None:
    sql.execute("CREATE TABLE t AS SELECT i AS k FROM range(200000) r(i)")
    sql.execute("SELECT keyray_build('ix', k, rowid) FROM t")
    stop = threading.Event()
    failures: list[str] = []

    def look() -> None:
        own = sql.cursor()
        while not stop.is_set():
            n = one(own, "SELECT count(*) FROM t WHERE keyray_row('ix', k) = rowid")
            joined = one(own, "SELECT count(*) FROM keyray_join('ix', 't', 'k')")
            if (n, joined) != (200000, 200000):
                failures.append(f"{n} {joined}")

    threads = [threading.Thread(target=look) for _ in range(3)]
    for thread in threads:
        thread.start()
    for i in range(8):
        sql.execute(f"SELECT keyray_rebuild('ix', k, rowid, '{'best' if i % 2 else 'best:ranges=off'}') FROM t")
    stop.set()
    for thread in threads:
        thread.join()
    assert not failures


@pytest.mark.skipif(DEVICE != "cpu", reason="a driver keeps memory of its own")
def test_memory_comes_back(sql) -> None:
    sql.execute("CREATE TABLE t AS SELECT i AS k, 'text ' || i AS s FROM range(100000) r(i)")

    def resident() -> int:
        return int(pathlib.Path("/proc/self/statm").read_text().split()[1])

    for i in range(40):
        sql.execute("SELECT keyray_rebuild('ix', k, rowid), keyray_rebuild('tx', s, rowid), keyray_replace_table('t', rowid, t) FROM t")
        sql.execute("SELECT count(keyray_row('ix', k)), count(keyray_rows('tx', s)) FROM t").fetchall()
        sql.execute("SELECT count(*) FROM keyray_join('tx', 't', 's')").fetchall()
        if i == 10:
            before = resident()
    assert resident() < before * 1.3 + 10000
