"""How fast keyray_where is beside DuckDB's filter on the same columns.   python figures.py [ROWS]

Needs what test_where.py needs. Ways run in turn; the least time of each counts."""
import os
import platform
import sys
import time

import duckdb

ROWS = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000
THREADS = 2
ROUNDS = 10
TABLES = {"keyray": "keyray_where('t')", "DuckDB": "x"}
QUERIES = ["SELECT count(*) FROM {} WHERE a < 100 AND b <> 200 AND c >= 750",
           "SELECT count(*) FROM {} WHERE a < 5 AND b < 500 AND c < 500",
           "SELECT count(*) FROM {} WHERE a < 500 AND b < 500 AND c < 500",
           "SELECT count(*) FROM {} WHERE a < 100 AND b BETWEEN 200 AND 700 AND c >= 500",
           "SELECT sum(b) FROM {} WHERE a < 100 AND b <> 200 AND c >= 750",
           "SELECT sum(b) FROM {} WHERE a < 5 AND b < 500 AND c < 500",
           "SELECT sum(b) FROM {} WHERE a < 500 AND b < 500 AND c < 500"]


def seconds(connection: duckdb.DuckDBPyConnection, query: str) -> float:
    begin = time.perf_counter()
    connection.execute(query).fetchall()
    return time.perf_counter() - begin


def main() -> None:
    sql = duckdb.connect(config={"allow_unsigned_extensions": "true", "threads": str(THREADS)})
    sql.execute(f"LOAD '{os.environ['KEYRAY_DUCKDB_EXTENSION']}'")
    sql.execute(f"LOAD '{os.environ['KEYRAY_DUCKDB_WHERE']}'")
    sql.execute(f"CREATE TABLE x AS SELECT CAST(hash(i) % 1000 AS INTEGER) a, CAST(hash(i + 1) % 1000 AS INTEGER) b, "
                f"CAST(hash(i + 2) % 1000 AS INTEGER) c FROM range({ROWS}) r(i)")
    taken = seconds(sql, "SELECT keyray_table('t', rowid, {a: a, b: b, c: c}) FROM x")
    print(f"DuckDB {duckdb.__version__}, {ROWS} rows, {THREADS} threads, {platform.processor() or platform.machine()}; table made in {taken:.2f} s")
    for query in QUERIES:
        least = {}
        for number, (name, table) in enumerate(TABLES.items()):
            sql.execute(f"PREPARE p{number} AS {query.format(table)}")
        for _ in range(ROUNDS):
            for number, (name, table) in enumerate(TABLES.items()):
                for way, text in [(name, query.format(table)), (name + " prepared", f"EXECUTE p{number}")]:
                    # The first of them finds the threads of the one before still waiting, and the caches full of its columns.
                    least[way] = min(least.get(way, 1e9), *(seconds(sql, text) for _ in range(5)))
        n = sql.execute(query.replace("sum(b)", "count(*)").format("x")).fetchone()[0]
        print(query.format("t"), f"-- {n} rows")
        for way, other in [("keyray", "DuckDB"), ("keyray prepared", "DuckDB prepared")]:
            print(f"    {way}: {1e3 * least[way]:.2f} ms, {other}: {1e3 * least[other]:.2f} ms, {least[other] / least[way]:.1f} times")


if __name__ == "__main__":
    main()
