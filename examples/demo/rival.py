"""DuckDB as the rival of the demo: the same jobs on the same files, with its tables in memory and all of its threads.

Its seconds are those of one query, after a first one to warm up; results stay in a table of DuckDB. How many rows there
are is compared with what SQLite found.
"""
import time

try:
    import duckdb
except ImportError:
    duckdb = None

TABLES = {"orders": "CAST(split_part(line, '|', 1) AS UBIGINT) AS o_orderkey, CAST(split_part(line, '|', 4) AS DOUBLE) AS o_totalprice, split_part(line, '|', 5) AS o_orderdate",
          "lineitem": "CAST(split_part(line, '|', 1) AS UBIGINT) AS l_orderkey"}
BY_MONTH = "FROM months LEFT JOIN orders ON o_orderdate BETWEEN first AND last"
QUERIES = {
    "join": "SELECT l.r AS x, o.r AS y FROM lineitem AS l JOIN orders AS o ON o_orderkey = l_orderkey",
    "points": "SELECT p.r AS x, o.r AS y FROM probes AS p LEFT JOIN orders AS o ON o_orderkey = p.key",
    "count_by_month": f"SELECT first, count(orders.r) AS n {BY_MONTH} GROUP BY first",
    "rows_by_month": f"SELECT first, orders.r AS y {BY_MONTH} WHERE orders.r IS NOT NULL",
    "sum_by_month": f"SELECT first, coalesce(sum(o_totalprice), 0) AS total {BY_MONTH} GROUP BY first",
}
# What says how many were found.
FOUND = {"join": "count(*)", "points": "count(y)", "count_by_month": "CAST(sum(n) AS BIGINT)", "rows_by_month": "count(*)",
         "sum_by_month": "round(sum(total), 2)"}


class Duck:
    def __init__(self, folder, bounds):
        self.connection = duckdb.connect(config={"preserve_insertion_order": True})
        for table, columns in TABLES.items():
            self.connection.execute(f"CREATE TABLE {table} AS SELECT CAST(row_number() OVER () - 1 AS UINTEGER) AS r, {columns} "
                                    f"FROM read_csv('{folder / table}.tbl', delim='\t', header=false, quote='', escape='', columns={{'line': 'VARCHAR'}})")
        self.connection.execute("CREATE TABLE months (first VARCHAR, last VARCHAR)")
        self.connection.executemany("INSERT INTO months VALUES (?, ?)", bounds)

    def take_probes(self, keys, folder):
        path = folder / "probes.csv"
        path.write_text("".join(f"{key}\n" for key in keys))
        self.connection.execute("CREATE OR REPLACE TABLE probes AS SELECT CAST(row_number() OVER () - 1 AS UINTEGER) AS r, "
                                f"CAST(column0 AS UBIGINT) AS key FROM read_csv('{path}', header=false, all_varchar=true)")

    def seconds(self, job):
        """The seconds of its query, and how much it found."""
        for _ in range(2):
            begin = time.perf_counter()
            self.connection.execute(f"CREATE OR REPLACE TABLE answer AS {QUERIES[job]}")
            took = time.perf_counter() - begin
        return took, self.connection.execute(f"SELECT {FOUND[job]} FROM answer").fetchone()[0]
