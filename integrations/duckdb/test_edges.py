"""What was wrong once, and what a caller would not expect.   python -m pytest test_edges.py

The environment is that of test_extension.py."""
import os
import pathlib
import shutil
import subprocess
import sys

import duckdb
import pytest
from test_extension import EXTENSION, connect, one, pytestmark, refused, same, sql  # noqa: F401


def test_finite_times_are_not_infinite(sql) -> None:
    """A bound beyond what the key's type can say stays below infinity."""
    for keys, kind in (("TIMESTAMP_NS", "TIMESTAMP_S"), ("TIMESTAMP_NS", "DATE"), ("DATE", "TIMESTAMP"), ("TIMESTAMP", "DATE")):
        sql.execute(f"CREATE OR REPLACE TABLE t AS SELECT unnest(['infinity', '-infinity', '2024-01-01'])::{keys} AS k")
        sql.execute("SELECT keyray_rebuild('ix', k, rowid) FROM t")
        low, high = f"CAST('0100-01-01' AS {kind})", f"CAST('9000-01-01' AS {kind})"
        assert one(sql, f"SELECT keyray_rows('ix', {low}, {high}), keyray_nearest('ix', {high}, 'below'), keyray_nearest('ix', {low}, 'above')") \
            == ([2], 2, 2), (keys, kind)
        assert one(sql, f"SELECT keyray_rows('ix', CAST('-infinity' AS {kind}), CAST('infinity' AS {kind}))") == [0, 1, 2]


def test_tolerances_go_by_the_last_field_of_a_probe(sql) -> None:
    sql.execute("CREATE TABLE t AS SELECT 'A' AS s, 10 * i AS k, i::DOUBLE AS p FROM range(10) r(i)")
    sql.execute("SELECT keyray_build('ix', {s: s, k: k, p: p}, rowid), keyray_build('fx', p, rowid) FROM t")
    assert one(sql, "SELECT keyray_nearest('ix', {s: 'A', k: 15}, 'below', 5), keyray_nearest('ix', {s: 'A', k: 15}, 'below', 4::TINYINT)") == (1, None)
    assert one(sql, "SELECT keyray_nearest('fx', 3.75::DOUBLE, 'below', 1), keyray_nearest('fx', 3.75::DOUBLE, 'below', 0.5::FLOAT)") == (3, None)
    refused(sql, "SELECT keyray_nearest('ix', {s: 'A', k: 15}, 'below', 5::DOUBLE)", "BIGINT", "DOUBLE")
    refused(sql, "SELECT keyray_nearest('fx', 3.75::DOUBLE, 'below', 0.5)", "DECIMAL", "CAST(... AS DOUBLE)")
    refused(sql, "FROM keyray_asof('fx', 't', 'p', tolerance := 1)", "'fx'", "float_tolerance")
    refused(sql, "FROM keyray_asof('ix', 't', 's, k', float_tolerance := 1)", "'ix'", "BIGINT")
    refused(sql, "FROM keyray_asof_tables('t', 'p', 't', 'p', tolerance := 1)", "'t'", "float_tolerance")
    sql.execute("CREATE TABLE q AS SELECT p + 0.75 AS p FROM t")
    assert one(sql, "SELECT count(*) FROM keyray_asof_tables('q', 'p', 't', 'p', float_tolerance := 0.75)") == 10
    assert one(sql, "SELECT count(*) FROM keyray_asof_tables('q', 'p', 't', 'p', float_tolerance := 0.5)") == 0


def test_a_group_that_the_index_cannot_have_is_not_there(sql) -> None:
    sql.execute("SELECT keyray_build('ix', {g: 1, k: 5}, 0)")
    assert one(sql, "SELECT keyray_nearest('ix', {g: 1000000000000, k: 5}, 'either'), keyray_nearest('ix', {g: 1::BIGINT, k: 6}, 'either')") == (None, 0)


def test_rows_of_tables_by_name_are_not_null(sql) -> None:
    sql.execute("CREATE TABLE t AS SELECT i AS k, CASE WHEN i <> 3 THEN i END AS id FROM range(6) r(i)")
    sql.execute("SELECT keyray_build('ix', k, rowid) FROM t")
    for call in ("keyray_join('ix', 't', 'k', row_id := 'id')", "keyray_asof('ix', 't', 'k', row_id := 'id')",
                 "keyray_asof_tables('t', 'k', 't', 'k', right_row_id := 'id')", "keyray_overlap('t', 'k', 'k', 't', 'k', 'k', left_row_id := 'id')"):
        refused(sql, f"FROM {call}", "a row of t is NULL")


def test_windows(sql) -> None:
    """DuckDB combines one state several times, or goes on after an answer."""
    sql.execute("CREATE TABLE t AS SELECT i AS k FROM range(5000) r(i)")
    sql.execute("SELECT keyray_build('ix', k, rowid) FROM t")
    same(sql, "SELECT k, keyray_stale('ix', k, rowid) OVER (ORDER BY k ROWS BETWEEN 4999 PRECEDING AND CURRENT ROW) FROM t", "SELECT k, k < 4999 FROM t")
    if duckdb.__version__ >= "2":  # older ones crash in any aggregate of C
        same(sql, "SELECT k, keyray_stale('ix', k, rowid) OVER () FROM t", "SELECT k, false FROM t")
    refused(sql, "SELECT keyray_rebuild('iy', k, rowid) OVER (ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) FROM t", "OVER")


def test_errors_are_whole_characters(sql) -> None:
    for n in range(3):
        name = f"'{'a' * n}' || repeat('€', 400)"
        refused(sql, f"SELECT keyray_row({name}, 5)", "no index", "€")
        refused(sql, f"SELECT keyray_build('ix', 5, 0, {name})", "unknown kind", "€")
        refused(sql, f"SELECT keyray_load('ix', {name})", "cannot open", "€")
    sql.execute("SELECT keyray_table('t', 0, {k: 5})")
    for query in ("SELECT keyray_scan_count('t', 'k < 9' || chr(0) || ' and k < 2')", "SELECT keyray_build('a' || chr(0) || 'b', 5, 0)",
                  "SELECT keyray_save('t', '/nowhere/t.krx' || chr(0))"):
        refused(sql, query, "character 0")


def test_planning_changes_no_device(sql) -> None:
    before = sql.execute("FROM keyray_device('cpu', memory_limit := '64 mib')").fetchone()[2]
    sql.execute("EXPLAIN FROM keyray_device('cpu', memory_limit := '4 GiB')")
    assert before == 64 << 20
    sql.execute("CREATE TABLE t AS SELECT i AS k FROM range(10000000) r(i)")
    refused(sql, "SELECT keyray_build('ix', k, rowid) FROM t", "bytes")
    refused(sql, "FROM keyray_device('cpu', memory_limit := '1e30 TiB')", "memory_limit")


def test_after_closing_nothing_is_made(tmp_path: pathlib.Path) -> None:
    connection = connect()
    connection.execute("SELECT keyray_build('ix', 5, 0)")
    assert one(connection, f"SELECT keyray_save('ix', '{tmp_path}/ix.krx') > 0")
    connection.execute("SELECT keyray_close()")
    for query in ("SELECT keyray_build('iy', 5, 0)", f"SELECT keyray_load('iy', '{tmp_path}/ix.krx')", "FROM keyray_device('cpu')",
                  "SELECT keyray_table('t', 0, {k: 5})"):
        refused(connection, query, "keyray_close() was called")


def test_loads_say_how_many_keys_there_are(sql, tmp_path: pathlib.Path) -> None:
    assert one(sql, "SELECT keyray_build('ix', k, 3 * k) FROM range(100) r(k)") == 100
    assert one(sql, f"SELECT keyray_save('ix', '{tmp_path}/ix.krx') > 0")
    assert one(sql, f"SELECT keyray_load('iy', '{tmp_path}/ix.krx')") == 100


def test_a_table_of_another_database_is_named_in_full(sql) -> None:
    sql.execute("SELECT keyray_build('ix', 5, 0)")
    sql.execute("ATTACH ':memory:' AS other")
    sql.execute("CREATE TABLE other.t AS SELECT 5 AS k")
    sql.execute("USE other")
    assert one(sql, "SELECT count(*) FROM keyray_join('ix', 'other.main.t', 'k')") == 1
    with pytest.raises(duckdb.Error) as error:
        sql.execute("FROM keyray_join('ix', 't', 'k')")
    assert "does not exist" in str(error.value) and "views" not in str(error.value)
    sql.execute("USE memory")


# ---- Failing allocations ----------------------------------------------------------------------------

SHIM = r"""
#define _GNU_SOURCE
#include <link.h>
#include <stdlib.h>
#include <string.h>
static long fail_at, seen;
static unsigned long low, high;
extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
static int find(struct dl_phdr_info *info, size_t n, void *data)
{
    (void)n, (void)data;
    for (int k = 0; strstr(info->dlpi_name, "keyray.duckdb_extension") && k < info->dlpi_phnum; k++)
        if (info->dlpi_phdr[k].p_type == PT_LOAD) {
            low = info->dlpi_addr;
            high = info->dlpi_addr + info->dlpi_phdr[k].p_vaddr + info->dlpi_phdr[k].p_memsz;
        }
    return 0;
}
long shim(long n) /* the n-th call of the extension fails; returns how many there were */
{
    const long before = seen;
    dl_iterate_phdr(find, NULL);
    seen = 0, fail_at = n;
    return before;
}
static int fails(void *from)
{
    const unsigned long at = (unsigned long)from;
    return fail_at && at >= low && at < high && __sync_add_and_fetch(&seen, 1) == fail_at;
}
void *malloc(size_t n) { return fails(__builtin_return_address(0)) ? NULL : __libc_malloc(n); }
void *calloc(size_t n, size_t m) { return fails(__builtin_return_address(0)) ? NULL : __libc_calloc(n, m); }
void *realloc(void *p, size_t n) { return fails(__builtin_return_address(0)) ? NULL : __libc_realloc(p, n); }
"""
STARVED = r"""
import ctypes, sys, duckdb
shim = ctypes.CDLL(None).shim
shim.argtypes, shim.restype = [ctypes.c_long], ctypes.c_long
sql = duckdb.connect(config={"allow_unsigned_extensions": "true", "threads": "2"})
sql.execute(f"LOAD '{sys.argv[1]}'")
sql.execute("FROM keyray_device('cpu')")
sql.execute("CREATE TABLE t AS SELECT i AS k, i + 3 AS e, 's' || i % 9 AS s, 900 - i * 7 AS r FROM range(900) x(i)")
sql.execute("SELECT keyray_build('ix', {s: s, k: k}, r, 'best', e), keyray_table('t', r, t) FROM t")
sql.execute(f"SELECT keyray_save('t', '{sys.argv[2]}/t.krx'), keyray_save('ix', '{sys.argv[2]}/ix.krx')")
for query in ("SELECT keyray_rebuild('b', {s: s, k: k}, r, 'best', e), keyray_replace_table('u', r, t) FROM t",
              "SELECT sum(keyray_row('ix', {s: s, k: k})), sum(len(keyray_rows('ix', {s: s}))), sum(keyray_sum('ix', {s: s})) FROM t",
              "SELECT count(*) FROM keyray_join('ix', 't', 's, k')", "SELECT count(*) FROM keyray_asof('ix', 't', 's, k', how := 'left', side := '<')",
              "SELECT count(*) FROM keyray_overlap('t', 'k', 'e', 't', 'k', 'e', how := 'left', left_by := 's', right_by := 's')",
              "SELECT count(*) FROM keyray_asof_tables('t', 's, k', 't', 's, k')", "SELECT count(*) FROM keyray_scan('t', 'k < 50')",
              "SELECT keyray_scan_count('t', 'k < 50')", f"SELECT count(*), max(s) FROM '{sys.argv[2]}/t.krx'",
              "SELECT count(*) FROM keyray_indexes()", "SELECT device FROM keyray_device('cpu')",
              f"SELECT keyray_save('ix', '{sys.argv[2]}/o.krx')", "SELECT keyray_stale('ix', {s: s, k: k}, r) FROM t",
              "SELECT count(keyray_nearest('ix', {s: s, k: k}, 'below', 2)) FROM t"):
    shim(1 << 40)
    want = sql.execute(query).fetchall()
    calls, refused = min(shim(0), 80), 0
    for n in range(1, calls + 1):
        shim(n)
        try:
            got = sql.execute(query).fetchall()
            assert got == want, (query, n, got, want)
        except duckdb.Error as error:
            refused += 1
            assert "memory" in str(error), (query, n, str(error))
        shim(0)
    assert refused, query
    assert sql.execute(query).fetchall() == want
"""


@pytest.mark.skipif(not shutil.which("cc") or not sys.platform.startswith("linux"), reason="no compiler")
def test_every_allocation_may_fail(tmp_path: pathlib.Path) -> None:
    (tmp_path / "shim.c").write_text(SHIM)
    subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", "shim.so", "shim.c"], check=True, cwd=tmp_path)
    ran = subprocess.run([sys.executable, "-c", STARVED, EXTENSION, str(tmp_path)], capture_output=True, text=True,
                         env={**os.environ, "LD_PRELOAD": str(tmp_path / "shim.so")})
    assert not ran.returncode, ran.stderr[-2000:]


def test_keys_of_many_rows_are_joined_in_parts(sql) -> None:
    """40 million pairs of one key, and a few of others before and behind them."""
    sql.execute("CREATE TABLE t AS SELECT CASE WHEN i < 2000 THEN 7 ELSE i END AS k FROM range(2010) r(i)")
    sql.execute("CREATE TABLE p AS SELECT CASE WHEN i % 4000 = 0 THEN 2000 + i // 4000 ELSE 7 END AS k FROM range(20000) r(i)")
    sql.execute("SELECT keyray_build('ix', k, rowid) FROM t")
    pairs = "SELECT count(*), sum(left_row), sum(right_row), count(DISTINCT left_row) FROM keyray_join('ix', 'p', 'k', how := 'left')"
    assert one(sql, pairs) == one(sql, "SELECT count(*), sum(p.rowid), sum(t.rowid), count(DISTINCT p.rowid) FROM p LEFT JOIN t USING (k)")


def test_row_ids_that_are_given_again(tmp_path: pathlib.Path) -> None:
    """After a checkpoint new rows get ids of deleted ones: the index does not see it, keyray_stale does."""
    connection = connect(str(tmp_path / "x.db"))
    connection.execute("CREATE TABLE t AS SELECT i AS k FROM range(300000) r(i)")
    connection.execute("CHECKPOINT")
    connection.execute("SELECT keyray_build('ix', k, rowid) FROM t")
    connection.execute("DELETE FROM t WHERE k >= 100000")
    connection.execute("CHECKPOINT")
    connection.execute("INSERT INTO t SELECT i + 1000000 FROM range(200000) r(i)")
    assert one(connection, "SELECT min(rowid) FROM t WHERE k >= 1000000") < 300000, "ids are given again"
    assert one(connection, "SELECT keyray_count('ix', 150000)") == 1
    assert one(connection, "SELECT keyray_stale('ix', k, rowid) FROM t") is True, "as many rows, other keys"
    connection.execute("SELECT keyray_close()")
    connection.close()
