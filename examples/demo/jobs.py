"""The jobs of the demo: the keyray command answers, SQLite answers the same on the same files, both are compared.

Usage: jobs.py KEYRAY FOLDER DESCRIPTION

Row ids are positions in the file, so row r of a table is rowid r + 1 in SQLite. SQLite stands here as the judge: it
keeps its tables in memory, runs on one thread and hands its rows to Python, all of which its seconds include. DuckDB is the
rival (rival.py), if Python can import it.
"""
import array
import itertools
import json
import pathlib
import sqlite3
import subprocess
import sys
import tempfile
import time

import npy
import rival

NO_ROW = 0xFFFFFFFF


class Tables:
    """The files, and the same columns in SQLite."""

    def __init__(self, folder):
        self.orders, self.lineitem = folder / "orders.tbl", folder / "lineitem.tbl"
        self.indexed = {}
        self.db = sqlite3.connect(":memory:")
        self.db.execute("CREATE TABLE orders (o_orderkey INTEGER, o_totalprice REAL, o_orderdate TEXT)")
        self.db.execute("CREATE TABLE lineitem (l_orderkey INTEGER)")
        with open(self.orders) as file:
            rows = (line.split("|", 5) for line in file)
            self.db.executemany("INSERT INTO orders VALUES (?, ?, ?)", ((r[0], r[3], r[4]) for r in rows))
        with open(self.lineitem) as file:
            keys = (line.partition("|")[:1] for line in file)
            self.db.executemany("INSERT INTO lineitem VALUES (?)", keys)

    def index(self, column):
        """The seconds that it took to index a column of orders; done once."""
        if column not in self.indexed:
            begin = time.perf_counter()
            self.db.execute(f"CREATE INDEX {column}_index ON orders ({column})")
            self.indexed[column] = time.perf_counter() - begin
        return self.indexed[column]

    def fetch(self, code, query, arguments=()):
        """All columns of all rows, row by row, as an array.array."""
        return array.array(code, itertools.chain.from_iterable(self.db.execute(query, arguments)))


class Run:
    """One run of the command: its JSON report."""

    def __init__(self, keyray, *arguments):
        text = subprocess.run([keyray, *map(str, arguments), "--format", "json"], check=True,
                              stdout=subprocess.PIPE, text=True).stdout
        self.report = json.loads(text)

    def seconds(self):
        """Reading the files, building the index, looking up."""
        seconds = self.report["seconds"]
        if "join" in seconds:
            build = self.report["join_phases"].get("build", 0)  # none if both sides ascend and are merged
            return seconds["load"], build, seconds["join"] - build
        return seconds["load"], seconds["build"], seconds["lookup"]


def month_bounds():
    bounds = []
    for year, month in itertools.product(range(1992, 1999), range(1, 13)):
        days = 29 if month == 2 and year % 4 == 0 else 28 if month == 2 else 30 if month in (4, 6, 9, 11) else 31
        bounds.append((f"{year}-{month:02}-01", f"{year}-{month:02}-{days}"))
    return bounds


def months(folder):
    """The bounds of every month of the data in a file, and in a list."""
    bounds = month_bounds()
    path = folder / "months.csv"
    path.write_text("first,last\n" + "".join(f"{first},{last}\n" for first, last in bounds))
    return path, bounds


# ---- Jobs: each returns its run, how much was found, SQLite's seconds (index, query) and whether they agree -------


def join(keyray, tables, out):
    run = Run(keyray, "join", "--left", f"{tables.lineitem}:0", "--right", f"{tables.orders}:0", "-o", out / "pairs.npy")
    pairs = npy.read(out / "pairs.npy")
    index = tables.index("o_orderkey")
    begin = time.perf_counter()
    right = tables.fetch("I", "SELECT l.rowid - 1, o.rowid - 1 FROM lineitem AS l CROSS JOIN orders AS o "
                              "ON o_orderkey = l_orderkey ORDER BY l.rowid, o.rowid")
    return run, f"{len(pairs) // 2} pairs", (index, time.perf_counter() - begin), pairs == right


def points(keyray, tables, out):
    keys, probes = f"{tables.orders}:0", out / "probes.npy"
    count = min(1000000, tables.db.execute("SELECT count(*) FROM orders").fetchone()[0])
    subprocess.run([keyray, "gen", "probes", "--keys", keys, "--count", str(count), "--hit-rate", "50", "-o", probes,
                    "--quiet"], check=True)
    run = Run(keyray, "lookup", "--keys", keys, "--probes", probes, "--result", "row", "-o", out / "rows.npy")
    rows = npy.read(out / "rows.npy")
    index = tables.index("o_orderkey")
    wanted = npy.read(probes)
    begin = time.perf_counter()
    row_of = tables.db.cursor().execute
    right = array.array("I")
    for key in wanted:
        found = row_of("SELECT min(rowid) FROM orders WHERE o_orderkey = ?", (key,)).fetchone()[0]
        right.append(NO_ROW if found is None else found - 1)
    hits = len(rows) - rows.count(NO_ROW)
    return run, f"{hits} of {len(rows)} keys", (index, time.perf_counter() - begin), rows == right


def by_month(keyray, tables, out, *options):
    path, bounds = months(out)
    run = Run(keyray, "range", "--keys", f"{tables.orders}:4", "--lower", f"{path}:first", "--upper", f"{path}:last",
              "-o", out / "months.npy", *options)
    return run, bounds, tables.index("o_orderdate")


def count_by_month(keyray, tables, out):
    run, bounds, index = by_month(keyray, tables, out, "--result", "count")
    counts = npy.read(out / "months.npy")
    begin = time.perf_counter()
    right = array.array("Q")
    for month in bounds:
        right += tables.fetch("Q", "SELECT count(*) FROM orders WHERE o_orderdate BETWEEN ? AND ?", month)
    busy = sum(count > 0 for count in counts)
    return run, f"{sum(counts)} in {busy} months", (index, time.perf_counter() - begin), counts == right


def rows_by_month(keyray, tables, out):
    run, bounds, index = by_month(keyray, tables, out, "--result", "rows")
    offsets, rows = npy.read(out / "months.offsets.npy"), npy.read(out / "months.rows.npy")
    begin = time.perf_counter()
    right, right_offsets = array.array("I"), array.array("Q", [0])
    for month in bounds:
        right += tables.fetch("I", "SELECT rowid - 1 FROM orders WHERE o_orderdate BETWEEN ? AND ? ORDER BY rowid", month)
        right_offsets.append(len(right))
    agree = rows == right and offsets == right_offsets
    return run, f"{len(rows)} rows", (index, time.perf_counter() - begin), agree


def sum_by_month(keyray, tables, out):
    run, bounds, index = by_month(keyray, tables, out, "--result", "sum", "--values", f"{tables.orders}:3")
    sums = npy.read(out / "months.npy")
    begin = time.perf_counter()
    right = array.array("d")
    for month in bounds:
        right += tables.fetch("d", "SELECT total(o_totalprice) FROM orders WHERE o_orderdate BETWEEN ? AND ?", month)
    # Float sums depend on the order of the additions.
    agree = len(sums) == len(right) and all(abs(a - b) <= 1e-9 * abs(b) for a, b in zip(sums, right))
    return run, f"{sum(sums):.2f} in all", (index, time.perf_counter() - begin), agree


JOBS = [
    ("lineitem joined with orders", join),
    ("orders looked up by key", points),
    ("orders counted by month", count_by_month),
    ("rows of orders by month", rows_by_month),
    ("o_totalprice summed by month", sum_by_month),
]

# ---- Table ------------------------------------------------------------------------------------------------------

HEAD = ("job", "found", "read", "index", "lookup", "index", "query", "query", "answers")
FORM = "{:<29} {:<25} {:>7} {:>7} {:>7}  {:>7} {:>7}  {:>7}  {}"


def shown(seconds):
    return "-" if seconds is None else f"{seconds:.3f}" if seconds >= 0.001 else "<0.001"


def rival_seconds(duck, job, found, out):
    """Of DuckDB's query; it must find as much as the judge did. None without DuckDB."""
    if duck is None:
        return None
    if job is points:
        duck.take_probes(npy.read(out / "probes.npy"), out)
    seconds, its = duck.seconds(job.__name__)
    wanted = float(found.split()[0])
    if abs(float(its) - wanted) > 1e-9 * abs(wanted) + 0.01:
        sys.exit(f"jobs.py: DuckDB found {its}, but {found} were there")
    return seconds


def main():
    keyray, folder, description = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3]
    begin = time.perf_counter()
    tables = Tables(folder)
    print(f"SQLite {sqlite3.sqlite_version} read both files in {time.perf_counter() - begin:.1f} s")
    duck = rival.Duck(folder, month_bounds()) if rival.duckdb else None
    lines, wrong, used = [], 0, set()
    with tempfile.TemporaryDirectory(prefix="keyray-demo-") as out:
        for name, job in JOBS:
            print(f"running: {name}")
            try:
                run, found, judge, agree = job(keyray, tables, pathlib.Path(out))
            except (subprocess.CalledProcessError, OSError) as problem:
                sys.exit(f"jobs.py: {name}: {problem}")
            theirs = rival_seconds(duck, job, found, pathlib.Path(out)) if agree else None
            seconds = [shown(value) for value in (*run.seconds(), *judge, theirs)]
            lines.append(FORM.format(name, found, *seconds, "agree" if agree else "DIFFER"))
            wrong += not agree
            used.add(f"{run.report['spec']} on {run.report['device']}")
    print(f"\n{description}; index {', '.join(sorted(used))}; seconds")
    print(FORM.format("", "", "", "keyray", "", "SQLite", "", "DuckDB", "").rstrip())
    print(FORM.format(*HEAD))
    print(*lines, sep="\n")
    print("SQLite is the judge: in memory, one thread, called from Python, which its seconds include")
    print(f"DuckDB {rival.duckdb.__version__} is the rival: in memory, all threads, the result stays there" if duck else
          "DuckDB is left out: Python's duckdb cannot be imported")
    print(f"{wrong} of {len(JOBS)} jobs DIFFER from SQLite" if wrong else f"all {len(JOBS)} jobs agree with SQLite")
    return wrong != 0


sys.exit(main())
