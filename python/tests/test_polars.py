"""Expressions of the plugin, and tables as LazyFrames, against polars' own answers."""
import datetime
import gc
import pickle
import subprocess
import sys
import threading

import numpy as np
import polars as pl
import pytest

import keyray
import keyray.polars as kp
from keyray import _polars_predicates
from test_faults import ENV

ENGINES = ("in-memory", "streaming")


@pytest.fixture(params=["plugin", "python"])
def way(request, monkeypatch):
    """The plugin, and what is done where polars does not take it."""
    monkeypatch.setattr(kp, "_works", None if request.param == "plugin" else False)
    return request.param


@pytest.mark.parametrize("engine", ENGINES)
def test_lookups(rng, engine, way):
    keys = rng.permutation(500).astype(np.int64)
    index = keyray.Index(keys, device="cpu")
    place = {int(key): i for i, key in enumerate(keys)}
    frame = pl.DataFrame({"x": rng.integers(-10, 510, 2000)})
    made = frame.lazy().with_columns(r=kp.row("x", index), n=kp.count("x", index), e=kp.exists(pl.col("x"), index),
                                     near=kp.nearest("x", index)).collect(engine=engine)
    values = frame["x"].to_list()
    assert made["r"].to_list() == [place.get(x) for x in values] and made["r"].dtype == pl.UInt32
    assert made["n"].to_list() == [int(x in place) for x in values]
    assert made["e"].to_list() == [x in place for x in values]
    assert made["near"].to_list() == [place.get(min(x, 499)) for x in values]
    limited = frame.select(kp.nearest("x", index, "above", tolerance=3))["x"].to_list()
    assert limited == [place.get(max(x, 0)) if x >= -3 else None for x in values]


def test_chunks_slices_and_nulls(rng):
    index = keyray.Index(np.arange(100), device="cpu")
    parts = [pl.DataFrame({"x": pl.Series([None if i % 3 == 0 else i for i in range(start, start + 37)], dtype=pl.Int64)})
             for start in (0, 50, 90)]
    frame = pl.concat(parts, rechunk=False).slice(5, 95)
    wanted = [x if x is not None and x < 100 else None for x in frame["x"]]
    assert frame.select(kp.row("x", index))["x"].to_list() == wanted
    assert frame.select(kp.exists("x", index))["x"].to_list() == [x is not None for x in wanted]
    assert frame.head(0).select(kp.count("x", index)).height == 0


def test_other_types():
    small = keyray.Index(np.arange(100, dtype=np.uint8), device="cpu")
    assert pl.DataFrame({"x": [5, 300, -1, None]}).select(kp.row("x", small))["x"].to_list() == [5, None, None, None]
    assert pl.select(kp.row(pl.lit(7), small)).item() == 7
    assert pl.DataFrame({"x": [True, False]}).select(kp.row("x", small))["x"].to_list() == [1, 0]
    with pytest.raises(pl.exceptions.ComputeError, match="outside of u8"):
        pl.DataFrame({"x": [300]}).select(kp.nearest("x", small))
    texts = keyray.Index(["a", "bb", "c" * 20], device="cpu")
    frame = pl.DataFrame({"s": ["c" * 20, None, "zz", "a"]})
    assert frame.select(kp.row("s", texts))["s"].to_list() == [2, None, None, 0]
    assert frame.slice(2).select(kp.row("s", texts))["s"].to_list() == [None, 0]
    days = [datetime.date(2020, 1, 1), datetime.date(2020, 1, 5)]
    dates = keyray.Index(pl.Series(days), device="cpu")
    assert pl.DataFrame({"d": days[::-1]}).select(kp.row("d", dates))["d"].to_list() == [1, 0]
    for wrong in (pl.col("s"), pl.lit(0.5), pl.lit(datetime.timedelta(1)), pl.col("s").cast(pl.Categorical)):
        with pytest.raises(pl.exceptions.ComputeError, match="keyray: "):
            frame.select(kp.row(wrong, small))


def test_several_columns(rng):
    a, b = rng.integers(0, 20, 300), rng.permutation(300)
    index = keyray.Index([a, b], device="cpu")
    frame = pl.DataFrame({"a": rng.integers(0, 20, 500), "b": rng.integers(0, 300, 500)})
    place = {pair: i for i, pair in enumerate(zip(a.tolist(), b.tolist()))}
    assert frame.select(kp.row(["a", "b"], index)).to_series().to_list() == [place.get(pair) for pair in frame.rows()]
    near = frame.select(kp.nearest(["a", "b"], index)).to_series().to_list()
    for (x, y), row in zip(frame.rows(), near):
        below = [(value, i) for i, (group, value) in enumerate(zip(a, b)) if group == x and value <= y]
        assert row == (max(below)[1] if below else None)
    with pytest.raises(ValueError, match="2 columns"):
        kp.row("a", index)


def test_an_index_that_is_gone():
    index = keyray.Index(np.arange(5), device="cpu")
    closed = kp.row("x", index)
    index.close()
    dropped = kp.row("x", keyray.Index(np.arange(5), device="cpu"))
    gc.collect()
    for expression in (closed, dropped):
        with pytest.raises(pl.exceptions.ComputeError, match="is closed"):
            pl.DataFrame({"x": [1]}).select(expression)
    with pytest.raises(ValueError):
        kp.row("x", "index")


def test_changes_wait_for_queries():
    index = keyray.Index(np.arange(1000), "best:updates=on", device="cpu")
    frame, ends, wrong = pl.DataFrame({"x": np.arange(1000)}), threading.Event(), []

    def ask():
        while not ends.is_set():
            if frame.lazy().select(kp.count("x", index)).collect(engine="streaming")["x"].min() < 1:
                wrong.append(1)
    thread = threading.Thread(target=ask)
    thread.start()
    for i in range(30):
        index.update(insert=np.arange(1000), insert_rows=np.arange(1000) + 1000 * (i + 1))
    ends.set()
    thread.join()
    assert not wrong and frame.select(kp.count("x", index))["x"].to_list() == [31] * 1000


def source(rng, count=3000):
    return pl.DataFrame({
        "a": rng.integers(0, 50, count), "b": rng.integers(0, 10, count).astype(np.int32), "f": rng.normal(size=count),
        "s": rng.choice(["x", "yy", "zz", "a_b"], count), "g": rng.integers(0, 2, count).astype(bool),
        "t": pl.Series(rng.integers(0, 10**12, count)).cast(pl.Datetime("us")),
        "d": pl.Series(rng.integers(0, 1000, count)).cast(pl.Int32).cast(pl.Date),
        "u": pl.Series([None if i % 5 == 0 else i % 100 for i in range(count)], dtype=pl.UInt8)})


C = pl.col
PREDICATES = [
    (C("a") < 5, True), ((C("a") < 5) & (C("b") + 1 > 3), None), (~(C("u") > 50), True), (C("u").is_null() | C("g"), True),
    (C("s").str.starts_with("y"), True), (C("s").str.starts_with("a_"), False), (C("s").is_in(["x", "zz"]), True),
    (C("u").is_in([1, 2, 300]), None), (C("t") > datetime.datetime(1970, 1, 5), True), (C("t") > datetime.date(1970, 1, 5), True),
    (C("d") <= datetime.date(1971, 1, 1), True), (C("f") > 0.25, True), (C("f").is_between(-1, 0.5, closed="left"), None),
    (C("a") < C("b"), None), (C("u") < 300, None), (3 <= C("a"), True), (C("s") == "x", True), (~C("s").is_in([]), False),
    (C("u") != 3, True), (C("f") == float("nan"), False), (C("t").dt.year() == 1970, False), (~C("g"), True),
    ((C("a") < 5) | (C("b") * 2 == 4), False), (C("u") > C("u").mean(), None), (C("u").eq_missing(None), None)]


@pytest.mark.parametrize("predicate, pushed", PREDICATES, ids=str)
def test_lazy_tables(rng, predicate, pushed, monkeypatch):
    frame = source(rng)
    table = keyray.Table(frame, device="cpu")
    seen, split = [], _polars_predicates.split_predicate
    monkeypatch.setattr(_polars_predicates, "split_predicate", lambda *given: seen.append(split(*given)) or seen[-1])
    for engine in ENGINES:
        for names in (["s", "a"], None):
            made, wanted = table.lazy().filter(predicate), frame.lazy().filter(predicate)
            if names:
                made, wanted = made.select(names), wanted.select(names)
            assert made.collect(engine=engine).equals(wanted.collect())
            assert made.head(3).collect(engine=engine).equals(wanted.head(3).collect())
    if pushed is not None:
        assert any((condition is not None and rest is None) for condition, rest in seen) is pushed


def test_lazy_tables_without_deleted_rows(rng):
    frame = source(rng)
    table = keyray.Table(frame, device="cpu")
    table.delete("a < 10")
    table.append(frame)
    wanted = pl.concat([frame.filter(C("a") >= 10), frame])
    assert table.lazy().collect().equals(wanted)
    assert table.lazy().filter(C("b") == 3).select(pl.len()).collect().item() == wanted.filter(C("b") == 3).height
    assert "PYTHON" in table.lazy().explain()


def test_a_polars_that_does_not_take_the_plugin(monkeypatch):
    def refused(*_given):
        raise pl.exceptions.ComputeError("this polars engine doesn't support plugin version: 0")
    monkeypatch.setattr(kp, "_works", None)
    monkeypatch.setattr(kp, "_registered", refused)
    index = keyray.Index(np.arange(5), device="cpu")
    with pytest.warns(RuntimeWarning, match="map_batches"):
        expression = kp.row("x", index)
    assert pl.DataFrame({"x": [3, 9]}).select(expression)["x"].to_list() == [3, None]


def test_expressions_that_go_to_another_process():
    one, other = keyray.Index(np.arange(5), device="cpu"), keyray.Index(np.arange(5)[::-1].copy(), device="cpu")
    expression = kp.row("x", one)
    carried = pickle.dumps(expression)
    frame = pl.DataFrame({"x": [1]})
    assert frame.select(pickle.loads(carried)).item() == 1 and frame.select(kp.row("x", other)).item() == 3
    script = ("import sys, pickle, numpy as np, polars as pl, keyray, keyray.polars as kp\n"
              "kept = [keyray.Index(np.arange(9) + i, device='cpu') for i in range(50)]\n"
              "for index in kept: kp.row('x', index)\n"
              "try: print(pl.DataFrame({'x': [1]}).select(pickle.loads(bytes.fromhex(sys.argv[1]))).item())\n"
              "except pl.exceptions.ComputeError as cause: print(cause)")
    out = subprocess.run([sys.executable, "-c", script, carried.hex()], env=ENV, check=True, capture_output=True, text=True)
    assert "index of another process" in out.stdout


@pytest.mark.parametrize("engine", ENGINES)
def test_lazy_tables_with_types_that_polars_orders_otherwise(engine):
    frame = pl.DataFrame({"e": pl.Series(["a", "z", "m", None], dtype=pl.Enum(["z", "m", "a"]))})
    table = keyray.Table(frame, device="cpu")
    for part in (pl.col("e") < "m", pl.col("e") >= "m", pl.col("e") == "a", pl.col("e").is_in(["a", "z"])):
        assert table.lazy().filter(part).collect(engine=engine).equals(frame.filter(part))
    frame = pl.DataFrame({"t": pl.Series([datetime.datetime(2024, 1, day) for day in (1, 2, 3, 4)]).dt.replace_time_zone(
        "Europe/Berlin")})
    table = keyray.Table(frame, device="cpu")
    with pytest.raises(pl.exceptions.PolarsError, match="could not evaluate"):  # times of two zones do not compare
        table.lazy().filter(pl.col("t") > datetime.datetime(2024, 1, 2, tzinfo=datetime.timezone.utc)).collect(engine=engine)
    moment = frame["t"][1]
    assert table.lazy().filter(pl.col("t") > moment).collect(engine=engine).equals(frame[2:])
