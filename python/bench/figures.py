"""The figures of docs/performance-python.md: lookups and a join, conditions, as-of joins, each beside its rivals.

Usage: python python/bench/figures.py [lookups] [conditions] [asof]

Rivals take turns in one process; each figure is the least of several runs. Answers are compared.
"""
import sys
import time

import duckdb
import numpy as np
import pandas as pd
import polars as pl

import keyray
import keyray.polars as kp


def turns(ways, repeats):
    """The least milliseconds of each way, and what each returned. In its turn a way runs three times, since threads of
    the way before wait for work for a while, and take a core from the first run."""
    best, made = dict.fromkeys(ways, float("inf")), {}
    for _ in range(repeats):
        for name, way in ways.items():
            for _ in range(3):
                begun = time.perf_counter()
                made[name] = way()
                best[name] = min(best[name], time.perf_counter() - begun)
    return {name: 1e3 * seconds for name, seconds in best.items()}, made


def show(title, best, base):
    print(f"\n{title}\n\n| way | ms | times as fast as {base} |\n| --- | --- | --- |")
    for name, spent in best.items():
        print(f"| {name} | {spent:.3g} | {best[base] / spent:.3g} |", flush=True)


def timed(make):
    begun = time.perf_counter()
    made = make()
    return made, 1e3 * (time.perf_counter() - begun)


def lookups(rows=10_000_000):
    rng = np.random.default_rng(1)
    keys, probes = rng.permutation(rows), rng.integers(0, rows, rows)
    index, build = timed(lambda: keyray.Index(keys))
    points, points_build = timed(lambda: keyray.Index(keys, "best:ranges=off"))
    there = pd.Index(keys)
    there.get_indexer(probes[:10])
    known = pl.DataFrame({"key": keys, "row": np.arange(rows, dtype=np.uint32)}).lazy()
    frame = pl.DataFrame({"key": probes}).lazy()
    base = duckdb.connect()
    base.execute("set threads to 2")
    asked = pd.DataFrame({"key": probes})
    known_frame = pd.DataFrame({"key": keys, "row": np.arange(rows, dtype=np.uint32)})
    base.execute("create table asked as from asked; create table known as from known_frame")
    del asked, known_frame
    best, made = turns({
        "pandas Index.get_indexer": lambda: there.get_indexer(probes),
        "keyray Index.lookup, best": lambda: index.lookup(probes),
        "keyray Index.lookup, best:ranges=off": lambda: points.lookup(probes),
        "polars streaming left join": lambda: frame.join(known, on="key", how="left").select("row").collect(
            engine="streaming"),
        "polars with keyray.polars.row, best": lambda: frame.select(kp.row("key", index)).collect(engine="streaming"),
        "polars with keyray.polars.row, best:ranges=off": lambda: frame.select(kp.row("key", points)).collect(
            engine="streaming"),
        "DuckDB left join, with its build": lambda: base.execute(
            "select sum(row) from asked left join known using (key)").fetchone(),
        "keyray join of two columns, with its build": lambda: keyray.join(probes, keys, unordered=True)}, 5)
    assert (made["keyray Index.lookup, best"] == made["pandas Index.get_indexer"]).all()
    assert (made["polars with keyray.polars.row, best"]["key"].to_numpy() == made["keyray Index.lookup, best"]).all()
    show(f"{rows:,} int64 probes into as many keys; builds {build:.0f} ms (best), {points_build:.0f} ms (best:ranges=off)",
         best, "pandas Index.get_indexer")


def conditions(rows=10_000_000):
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({name: rng.integers(0, 1_000_000, rows) for name in "abc"})
    table, build = timed(lambda: keyray.Table(frame))
    text = "a < 100000 and b between 200000 and 600000 and c > 500000"
    test = (pl.col("a") < 100000) & pl.col("b").is_between(200000, 600000) & (pl.col("c") > 500000)
    base = duckdb.connect()
    base.execute("set threads to 2; create table t as from frame")
    best, made = turns({
        "polars filter, lazy": lambda: frame.lazy().filter(test).select(pl.len()).collect().item(),
        "polars filter of a DataFrame": lambda: frame.filter(test).height,
        "DuckDB": lambda: base.execute(f"select count(*) from t where {text}").fetchone()[0],
        "keyray Table.where.count": lambda: table.where(text).count(),
        "keyray Table.lazy, counted by polars": lambda: table.lazy().filter(test).select(pl.len()).collect().item()}, 30)
    assert len(set(made.values())) == 1
    saved = best["polars filter, lazy"] - best["keyray Table.where.count"]
    show(f"Three comparisons, {rows:,} rows; build {build:.0f} ms, paid after {build / saved:.0f} questions", best,
         "polars filter, lazy")


def asof(rows=2_000_000):
    rng = np.random.default_rng(0)
    left, right = (pd.DataFrame({"t": np.sort(rng.integers(0, 10**9, rows)), "s": rng.integers(0, 1000, rows),
                                 name: rng.normal(size=rows)}) for name in "vw")
    one, other = pl.from_pandas(left), pl.from_pandas(right)
    base = duckdb.connect()
    base.execute("set threads to 2; create table l as from one; create table r as from other")
    best, made = turns({
        "pandas merge_asof": lambda: pd.merge_asof(left, right, on="t", by="s"),
        "keyray merge_asof": lambda: keyray.merge_asof(left, right, on="t", by="s"),
        "polars join_asof": lambda: one.join_asof(other, on="t", by="s"),
        "DuckDB asof join": lambda: base.execute(
            "select sum(w) from l asof left join r on l.s = r.s and l.t >= r.t").fetchone()}, 5)
    pd.testing.assert_frame_equal(made["pandas merge_asof"], made["keyray merge_asof"])
    show(f"{rows:,} by {rows:,} rows, 1,000 symbols, sorted by time", best, "pandas merge_asof")
    mixed, others = (frame.sample(frac=1, random_state=1) for frame in (left, right))
    best, made = turns({
        "pandas merge_asof, after sorts": lambda: pd.merge_asof(mixed.sort_values("t"), others.sort_values("t"), on="t",
                                                                by="s"),
        "keyray merge_asof": lambda: keyray.merge_asof(mixed, others, on="t", by="s")}, 5)
    show("The same in no order", best, "pandas merge_asof, after sorts")


if __name__ == "__main__":
    chosen = sys.argv[1:] or ["lookups", "conditions", "asof"]
    for name in chosen:
        {"lookups": lookups, "conditions": conditions, "asof": asof}[name]()
