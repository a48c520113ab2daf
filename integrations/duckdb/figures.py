#!/usr/bin/env python3
"""How fast the extension is beside DuckDB's own joins and filters: the figures of docs/duckdb.md.

    figures.py EXTENSION [--threads 2] [--only probes,asof,scan] [--rows 10000000]

Everything of one table runs in one process, in turn, so that what else the machine does hits all alike; the least of several runs
counts. Answers are compared before anything is timed.
"""
import argparse
import time

import duckdb


def once(connection: duckdb.DuckDBPyConnection, query: str) -> float:
    start = time.perf_counter()
    connection.execute(query).fetchall()
    return time.perf_counter() - start


def least(connection: duckdb.DuckDBPyConnection, queries: dict[str, str], rounds: int, runs: int = 1) -> dict[str, float]:
    """Each has its turn in each round, and runs so many times then: the first of them finds the threads of the one before still
    waiting, and the caches full of its columns."""
    best = dict.fromkeys(queries, float("inf"))
    for _ in range(rounds):
        for name, query in queries.items():
            for _ in range(runs):
                best[name] = min(best[name], once(connection, query))
    return best


def check(connection: duckdb.DuckDBPyConnection, queries: dict[str, str]) -> None:
    answers = {name: connection.execute(query).fetchall() for name, query in queries.items()}
    first = next(iter(answers.values()))
    for name, answer in answers.items():
        assert answer == first, f"{name} answers {answer}, not {first}"


def show(title: str, times: dict[str, float], against: str) -> None:
    print(f"\n{title}")
    for name, seconds in times.items():
        print(f"  {name:<46} {seconds * 1e3:10.2f} ms  {times[against] / seconds:7.2f}")


def probes(connection: duckdb.DuckDBPyConnection, rows: int, rounds: int) -> None:
    connection.execute(f"CREATE TABLE keys AS SELECT (hash(i) >> 1)::BIGINT AS k FROM range({rows}) r(i)")
    connection.execute("CREATE TABLE probes AS SELECT k FROM keys ORDER BY hash(k + 1)")
    builds = {spec: min(once(connection, f"SELECT keyray_rebuild('{name}', k, rowid, '{spec}') FROM keys") for _ in range(3))
              for name, spec in (("p", "best:ranges=off"), ("r", "best"))}
    queries = {"hash join": "SELECT sum(keys.rowid) FROM probes JOIN keys USING (k)",
               "keyray_row, best:ranges=off": "SELECT sum(keyray_row('p', k)) FROM probes",
               "keyray_row, best": "SELECT sum(keyray_row('r', k)) FROM probes",
               "keyray_rows, best:ranges=off": "SELECT sum(list_sum(keyray_rows('p', k))) FROM probes",
               "keyray_join, best:ranges=off": "SELECT sum(right_row) FROM keyray_join('p', 'probes', 'k')",
               "keyray_join, best": "SELECT sum(right_row) FROM keyray_join('r', 'probes', 'k')"}
    check(connection, queries)
    times = least(connection, queries, rounds)
    show(f"{rows} probes into {rows} keys (BIGINT, random order)", times, "hash join")
    for spec, seconds in builds.items():
        saved = times["hash join"] - times[f"keyray_row, {spec}"]
        print(f"  {'build, ' + spec:<46} {seconds * 1e3:10.2f} ms  paid after {seconds / saved:.1f} joins")
    connection.execute("SELECT keyray_drop('p'), keyray_drop('r')")


def asof(connection: duckdb.DuckDBPyConnection, rows: int, rounds: int) -> None:
    for order in ("sorted by time", "unsorted"):
        by = "ts" if order == "sorted by time" else "hash(ts + 1)"
        for name, seed in (("quotes", 1), ("trades", 2)):
            connection.execute(f"CREATE OR REPLACE TABLE {name} AS SELECT (hash(i * 7 + {seed}) % 1000)::INTEGER AS s, "
                               f"(hash(i * 13 + {seed}) % 1000000007)::BIGINT AS ts FROM range({rows}) r(i) ORDER BY {by}")
        name = "q_" + order.split()[0]
        build = once(connection, f"SELECT keyray_rebuild('{name}', {{s: s, ts: ts}}, rowid) FROM quotes")
        queries = {"ASOF JOIN": "SELECT count(*), sum(q.ts) FROM trades t ASOF JOIN quotes q ON t.s = q.s AND t.ts >= q.ts",
                   "keyray_asof": f"SELECT count(*), sum(q.ts) FROM keyray_asof('{name}', 'trades', 's, ts') "
                                  "JOIN quotes q ON q.rowid = right_row"}
        check(connection, queries)
        queries = {"ASOF JOIN": "SELECT sum(q.rowid) FROM trades t ASOF JOIN quotes q ON t.s = q.s AND t.ts >= q.ts",
                   "keyray_nearest, index there": f"SELECT sum(keyray_nearest('{name}', {{s: s, ts: ts}}, 'below')) FROM trades",
                   "keyray_asof, index there": f"SELECT sum(right_row) FROM keyray_asof('{name}', 'trades', 's, ts')",
                   "keyray_asof_tables, no index": "SELECT sum(right_row) FROM keyray_asof_tables('trades', 's, ts', 'quotes', 's, ts')"}
        times = least(connection, queries, rounds)
        show(f"as-of, {rows} trades, {rows} quotes, 1,000 symbols, {order}", times, "ASOF JOIN")
        print(f"  {'build of the index':<46} {build * 1e3:10.2f} ms")
        connection.execute(f"SELECT keyray_drop('{name}')")


def scan(connection: duckdb.DuckDBPyConnection, rows: int, rounds: int) -> None:
    connection.execute(f"CREATE TABLE facts AS SELECT (hash(i) % 1000)::INTEGER AS a, (hash(i + 1) % 1000)::INTEGER AS b, "
                       f"(hash(i + 2) % 1000)::INTEGER AS c FROM range({rows}) r(i)")
    build = once(connection, "SELECT keyray_table('facts', rowid, {a: a, b: b, c: c}) FROM facts")
    condition = "a < 100 AND b BETWEEN 200 AND 700 AND c >= 500"
    queries = {"WHERE": f"SELECT count(*) FROM facts WHERE {condition}",
               "keyray_scan_count": f"SELECT keyray_scan_count('facts', '{condition}')",
               "count(*) of keyray_scan": f"SELECT count(*) FROM keyray_scan('facts', '{condition}')"}
    check(connection, queries)
    show(f"count of three predicates on {rows} rows", least(connection, queries, 2 * rounds, 5), "WHERE")
    queries = {"WHERE": f"SELECT sum(rowid) FROM facts WHERE {condition}",
               "keyray_scan": f"SELECT sum(row) FROM keyray_scan('facts', '{condition}')"}
    check(connection, queries)
    show(f"their row ids ({condition})", least(connection, queries, 2 * rounds, 5), "WHERE")
    print(f"  {'build of the table':<46} {build * 1e3:10.2f} ms")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("extension")
    parser.add_argument("--threads", default="2")
    parser.add_argument("--only", default="probes,asof,scan")
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    connection = duckdb.connect(config={"allow_unsigned_extensions": "true", "threads": args.threads})
    connection.execute(f"LOAD '{args.extension}'")
    print(f"DuckDB {duckdb.__version__}, {args.threads} threads, least of {args.rounds} rounds in turn; the last column: times as fast")
    for name in args.only.split(","):
        {"probes": lambda: probes(connection, args.rows, args.rounds), "asof": lambda: asof(connection, args.rows // 5, args.rounds),
         "scan": lambda: scan(connection, args.rows, args.rounds)}[name]()


if __name__ == "__main__":
    main()
