"""Index against plain Python, pandas and polars."""
import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import keyray

SPECS = ["best", "best:ranges=off", "array", "btree", "best:updates=on"]
small = st.integers(-5, 12)
numbers = st.lists(st.one_of(st.none(), small), max_size=60)
PANDAS_3 = int(pd.__version__.partition(".")[0]) >= 3
quick = settings(max_examples=60, deadline=None)


def rows_of(keys, holds):
    return [row for row, key in enumerate(keys) if key is not None and holds(key)]


def masked(values):
    return pd.Series(values, dtype="Int64")


@quick
@given(keys=numbers, probes=numbers, spec=st.sampled_from(SPECS))
def test_points(keys, probes, spec):
    index = keyray.Index(masked(keys), spec, values={"v": np.arange(len(keys)) * 3 - 20}, device="cpu")
    matches = [[] if probe is None else rows_of(keys, lambda key: key == probe) for probe in probes]
    given_probes = masked(probes)
    assert index.lookup(given_probes).tolist() == [rows[0] if rows else -1 for rows in matches]
    assert index.contains(given_probes).tolist() == [bool(rows) for rows in matches]
    offsets, found = index.lookup_all(given_probes)
    assert [found[a:b].tolist() for a, b in zip(offsets, offsets[1:])] == matches
    offsets, found = index.lookup_all(given_probes, limit=1)
    assert [found[a:b].tolist() for a, b in zip(offsets, offsets[1:])] == [rows[:1] for rows in matches]
    made = index.lookup_many(given_probes, n="count", total=("sum", "v"), low=("min", "v"), exact=("sum_wide", "v"))
    values = [[row * 3 - 20 for row in rows] for rows in matches]
    assert made["n"].tolist() == list(map(len, matches))
    assert made["total"].tolist() == made["exact"].tolist() == list(map(sum, values))
    assert [None if pd.isna(low) else low for low in made["low"]] == [min(each, default=None) for each in values]
    index.validate()


@quick
@given(keys=numbers, bounds=st.lists(st.tuples(small, small), min_size=1, max_size=20),
       spec=st.sampled_from(["best", "array", "btree"]))
def test_ranges(keys, bounds, spec):
    index = keyray.Index(masked(keys), spec, values=np.arange(len(keys), dtype=np.uint8), device="cpu")
    lower, upper = (np.array(side) for side in zip(*bounds))
    found = index.range(lower, upper)
    matches = [rows_of(keys, lambda key: low <= key <= high) for low, high in bounds]
    assert found.count().tolist() == list(map(len, matches))
    assert found.row().tolist() == [rows[0] if rows else -1 for rows in matches]
    assert found.exists().tolist() == list(map(bool, matches))
    assert found.sum().tolist() == list(map(sum, matches))
    assert found.max().tolist() == [max(rows, default=None) for rows in matches]
    offsets, rows = found.rows()
    assert [rows[a:b].tolist() for a, b in zip(offsets, offsets[1:])] == matches
    most = max(map(len, matches))
    pieces = {}
    for first, (offsets, rows) in found.chunks(4 * max(most, 1)):
        assert len(rows) <= max(most, 1)
        for i, (a, b) in enumerate(zip(offsets, offsets[1:])):
            pieces[first + i] = rows[a:b].tolist()
    assert [pieces[i] for i in range(len(bounds))] == matches
    assert index.range(None, upper).count().tolist() == [len(rows_of(keys, lambda k: k <= high)) for high in upper]
    assert index.range(lower).count().tolist() == [len(rows_of(keys, lambda k: k >= low)) for low in lower]
    assert index.range(3, upper).count().tolist() == [len(rows_of(keys, lambda k: 3 <= k <= high)) for high in upper]
    assert index.range().count() == len(index)


@quick
@given(keys=numbers, probes=st.lists(small, min_size=1, max_size=20), strict=st.booleans(),
       side=st.sampled_from(["below", "above", "either"]), tolerance=st.one_of(st.none(), st.integers(0, 4)))
def test_nearest(keys, probes, strict, side, tolerance):
    index = keyray.Index(masked(keys), device="cpu")

    def expected(probe):
        found = [(abs(key - probe), key > probe, key, row) for row, key in enumerate(keys) if key is not None
                 and not (strict and key == probe) and (tolerance is None or abs(key - probe) <= tolerance)
                 and (side != "below" or key <= probe) and (side != "above" or key >= probe)]
        if not found:
            return -1
        _, above, key, _ = min(found)
        rows = rows_of(keys, lambda other: other == key)
        return rows[0] if above or (side == "above") else rows[-1]

    assert index.nearest(np.array(probes), side, strict, tolerance).tolist() == list(map(expected, probes))


@quick
@given(keys=numbers, left=numbers, how=st.sampled_from(["inner", "left", "semi", "anti"]))
def test_joins(keys, left, how):
    index = keyray.Index(masked(keys), device="cpu")
    pairs = [(i, j) for i, a in enumerate(left) for j, b in enumerate(keys) if a is not None and a == b]
    partners = {i for i, _ in pairs}
    if how == "left":
        pairs = sorted(pairs + [(i, -1) for i in range(len(left)) if i not in partners])
    found = index.join(masked(left), how)
    if how in ("inner", "left"):
        assert list(zip(found[0].tolist(), found[1].tolist())) == pairs
    else:
        assert found.tolist() == [i for i in range(len(left)) if (i in partners) == (how == "semi")]


@quick
@given(first=numbers, insert=numbers, delete=numbers)
def test_updates(first, insert, delete):
    index = keyray.Index(masked(first), "best:updates=on", device="cpu")
    index.update(insert=masked(insert), delete=masked(delete))
    gone = {key for key in delete if key is not None}
    keys = [None if key in gone else key for key in first] + insert
    probes = list(range(-6, 14))
    assert index.range(np.array(probes), np.array(probes)).count().tolist() == [
        len(rows_of(keys, lambda key: key == probe)) for probe in probes]
    assert index.lookup(np.array(probes)).tolist() == [
        min(rows_of(keys, lambda key: key == probe), default=-1) for probe in probes]
    index.validate()


@quick
@given(first=numbers, insert=numbers, delete=numbers)
def test_versions(first, insert, delete):
    probes = np.arange(-6, 14)

    def counts_of(keys):
        return [len(rows_of(keys, lambda key: key == probe)) for probe in probes]

    older = keyray.Index(masked(first), "best:updates=on", device="cpu")
    newer = older.next_version(insert=masked(insert), delete=masked(delete))
    gone = {key for key in delete if key is not None}
    assert older.lookup(probes, "count").tolist() == counts_of(first)
    older.validate()
    older.close()
    assert newer.lookup(probes, "count").tolist() == counts_of(
        [None if key in gone else key for key in first] + insert)
    newer.validate()
    assert newer.next_version().lookup(probes, "count").tolist() == newer.lookup(probes, "count").tolist()


def test_versions_of_several_columns_know_which_rows_are_null():
    older = keyray.Index([np.array([1, 2]), np.array([3, 4])], "array", device="cpu")
    newer = older.next_version(insert=[np.array([1, 2]), np.array([4, 3])])
    assert older.lookup([[1], [4]]).tolist() == [-1] and newer.lookup([[1], [4]]).tolist() == [2]
    older = keyray.Index(masked([1, None]), "array", device="cpu")
    newer = older.next_version(insert=masked([None, 7]))
    assert older._nulls.tolist() == [1] and newer._nulls.tolist() == [1, 2]
    with pytest.raises(keyray.ArgumentError):
        older.close() or older.next_version()


def test_prepared_lookups_go_on_with_versions():
    older = keyray.Index(np.array([5, 6]), "array", device="cpu")
    newer = older.next_version(insert=np.array([7]), delete=np.array([5]))
    probes, out = np.array([5, 6, 7]), np.zeros(3, np.int32)
    prepared = older.prepare(probes, out)
    assert prepared.run().tolist() == [0, 1, -1]
    prepared.rebind(newer)
    older.close()
    assert prepared.run() is out and out.tolist() == [-1, 1, 2]
    with pytest.raises(keyray.ArgumentError, match="kind"):
        prepared.rebind(keyray.Index(np.array([5]), "hash", device="cpu"))
    with pytest.raises(keyray.ColumnTypeError, match="keys of"):
        prepared.rebind(keyray.Index(np.array([5], np.uint8), "array", device="cpu"))
    assert prepared.run().tolist() == [-1, 1, 2]
    newer.close()
    with pytest.raises(keyray.ArgumentError, match="closed"):
        prepared.run()
    with pytest.raises(keyray.ArgumentError, match="closed"):
        prepared.rebind(keyray.Index(np.array([5]), "array", device="cpu"))


@quick
@given(keys=st.lists(st.integers(-50, 50), unique=True, max_size=40), target=numbers)
def test_get_indexer_is_pandas(keys, target):
    index, theirs = keyray.Index(np.array(keys, np.int64), device="cpu"), pd.Index(np.array(keys, np.int64))
    target = [value for value in target if value is not None]
    for made in (np.array(target, np.int64), np.array(target, float) + 0.5, np.array(target, "i1")):
        assert index.get_indexer(made).tolist() == theirs.get_indexer(made).tolist()
        if not keys and not PANDAS_3:  # which divides by 0
            continue
        ours, them = index.get_indexer_non_unique(made), theirs.get_indexer_non_unique(pd.Index(made))
        assert ours[0].tolist() == them[0].tolist() and ours[1].tolist() == them[1].tolist()
    ordered = sorted(keys)
    index, theirs = keyray.Index(np.array(ordered, np.int64)), pd.Index(np.array(ordered, np.int64))
    for method in ("pad", "backfill", "ffill", "bfill"):
        ours, them = (each.get_indexer(np.array(target, np.int64), method) for each in (index, theirs))
        assert ours.dtype == np.intp and ours.tolist() == them.tolist()


@quick
@given(keys=numbers, target=numbers)
def test_get_indexer_non_unique_is_pandas(keys, target):
    times = pd.DatetimeIndex([None if key is None else pd.Timestamp(key, unit="D") for key in keys], dtype="M8[ns]")
    wanted = pd.DatetimeIndex([None if key is None else pd.Timestamp(key, unit="D") for key in target], dtype="M8[ns]")
    index = keyray.Index(times, device="cpu")
    if not keys and not PANDAS_3:
        return
    ours, theirs = index.get_indexer_non_unique(wanted), times.get_indexer_non_unique(wanted)
    assert ours[0].tolist() == theirs[0].tolist() and ours[1].tolist() == theirs[1].tolist()
    if times.is_unique:
        assert index.get_indexer(wanted).tolist() == times.get_indexer(wanted).tolist()


def test_get_indexer_of_keys_that_repeat():
    with pytest.raises(pd.errors.InvalidIndexError, match="uniquely valued"):
        keyray.Index([1, 2, 2]).get_indexer([2])
    keys = np.array([1, 2, 2])
    index = keyray.Index(keys)
    with pytest.raises(pd.errors.InvalidIndexError):  # as pandas has it, though 1 has one row
        index.get_indexer([1])
    index = keyray.Index(keys)
    keys[:] = [7, 8, 9]
    assert index.get_indexer([1]).tolist() == [0]  # not known any more
    with pytest.raises(pd.errors.InvalidIndexError):
        index.get_indexer([2])
    keys = pd.Series([3, 1])
    index = keyray.Index(keys, "best:updates=on")
    assert index.get_indexer([1, 3]).tolist() == [1, 0] and index._unique
    index.update(insert=[1])
    with pytest.raises(pd.errors.InvalidIndexError):
        index.get_indexer([1])
    assert keyray.Index([1, 2]).get_indexer(["a", "b"]).tolist() == [-1, -1]
    for options in ({"method": "nearest"}, {"limit": 3}):
        with pytest.raises(NotImplementedError):
            keyray.Index([1, 2]).get_indexer([2], **options)


def test_many_probes_of_all_kinds(rng):
    keys = rng.permutation(1 << 19)
    index = keyray.Index(keys, values={"v": keys.astype(float)}, device="cpu")
    probes = rng.integers(-1000, (1 << 19) + 1000, 1 << 21)
    expected = pd.Index(keys).get_indexer(probes)
    assert (index.lookup(probes) == expected).all()
    assert (index.lookup(pl.Series(probes)).cast(pl.Int64).fill_null(-1).to_numpy() == expected).all()
    found = index.lookup(pl.concat([pl.Series(probes[:7]), pl.Series(probes[7:])], rechunk=False))
    assert found.null_count() == (expected == -1).sum()
    assert (index.lookup(probes, ("sum", "v")) == np.where(expected < 0, 0, probes)).all()


def test_several_columns_and_nearest_in_groups():
    quotes = pl.DataFrame({"symbol": ["A", "B", "A", "B"], "time": [dt.datetime(2024, 1, 1, h) for h in (1, 2, 3, 4)]})
    index = keyray.Index(quotes, device="cpu")
    trades = [["A", "B", "C"], np.array(["2024-01-01T02", "2024-01-01T01", "2024-01-01T09"], "M8[us]")]
    assert index.nearest(trades).tolist() == [0, -1, -1]
    assert index.nearest(trades, "above", tolerance=dt.timedelta(hours=1)).tolist() == [2, 1, -1]
    assert index.range([["A", "B"], trades[1][:2]], dt.datetime(2024, 1, 1, 3)).count().tolist() == [1, 1]
    assert index.range([["A", "B"], trades[1][:2]]).rows()[1].tolist() == [2, 1, 3]
    with pytest.raises(ValueError, match="3 columns were given; the index has 2"):
        index.lookup([[1], [2], [3]])
    with pytest.raises(NotImplementedError, match="several columns"):
        index.join([1])


def test_texts():
    words = ["pear", "apple", "plum", None, "apple"]
    for make in (list, pl.Series, pd.Series, pa.array):
        index = keyray.Index(make(words), device="cpu")
        assert index.range("b").count() == 2 and index.range(None, "apple").count() == 2
        assert index.range("apple", "pear").count() == 3 and index.range().count() == 4
        assert index.prefix(["p", "pl", ""]).count().tolist() == [2, 1, 4]
        assert index.nearest(["b", "a"]).tolist() == [4, -1]
        with pytest.raises(TypeError, match="no distances"):
            index.nearest(["b"], tolerance=1)


def test_tolerances():
    index = keyray.Index(np.array(["2024-01-01T00:00:10"], "M8[ms]"), device="cpu")
    probe = np.array(["2024-01-01T00:00:12"], "M8[ms]")
    for tolerance, found in ((dt.timedelta(seconds=2), 0), (np.timedelta64(1999, "ms"), -1), (2000, 0), (1999, -1),
                             (pd.Timedelta("1999999us"), -1), (np.timedelta64(1, "h"), 0)):
        assert index.nearest(probe, tolerance=tolerance).tolist() == [found]
    dates = keyray.Index(np.array(["2024-01-01"], "M8[D]"), device="cpu")
    assert dates.nearest([dt.date(2024, 1, 3)], tolerance=dt.timedelta(days=2)).tolist() == [0]
    for wrong, kind in ((1.5, TypeError), (-1, ValueError), ("1s", TypeError), (True, TypeError)):
        with pytest.raises(kind, match="tolerance"):
            keyray.Index([1]).nearest([1], tolerance=wrong)


def test_values_with_types_and_nulls():
    index = keyray.Index([1, 1, 2, 3], values=pa.table({
        "day": pa.array([dt.date(2024, 1, 2), dt.date(2024, 1, 1), None, None]),
        "at": pa.array([dt.datetime(2024, 1, 1), None, None, dt.datetime(2025, 1, 1)], pa.timestamp("us", "UTC")),
        "x": pa.array([1.5, None, None, 2.0])}), device="cpu")
    assert index.lookup([1, 2], ("min", "day")).tolist() == [dt.date(2024, 1, 1), None]
    made = index.lookup(pa.array([1, 2, 3]), ("max", "at"))
    assert made.type == pa.timestamp("us", "UTC") and made.null_count == 1
    assert np.isnan(index.lookup([2], ("max", "x"))[0]) and index.lookup([1, 2, 9], ("sum", "x")).tolist() == [1.5, 0, 0]
    assert index.lookup(pl.Series([3, 9]), ("min", "x")).to_list() == [2.0, None]
    assert index.lookup(pd.Series([1, 2], index=[7, 8]), ("min", "at")).tolist()[0] == pd.Timestamp("2024", tz="UTC")
    assert index.lookup(1, ("min", "x")) == 1.5
    exact = keyray.Index([1, 1], values=np.array([2**63, 2**63], "u8")).lookup(pa.array([1]), "sum_wide")
    assert exact.type == pa.decimal128(38, 0) and int(exact[0].as_py()) == 2**64
    with pytest.raises(ValueError, match="there are no values 'y'; there are 'day', 'at', 'x'"):
        index.range(1, 2).sum("y")
    with pytest.raises(TypeError, match="only numbers"):
        keyray.Index([1], values=["a"])
    assert index.lookup([1], ("sum", np.array([5, 6, 7, 8]))).tolist() == [11]


def test_row_ids_and_high_ones():
    index = keyray.Index([5, 6], row_ids=[7, 2**31 + 5], device="cpu")
    found = index.lookup(np.array([5, 6, 9]))
    assert found.dtype == np.int64 and found.tolist() == [7, 2**31 + 5, -1]
    assert index.lookup(pl.Series([6])).to_list() == [2**31 + 5]
    assert keyray.Index([5, 6], row_ids=pd.Series([9, 3])).lookup([6]).tolist() == [3]
    for wrong, kind in (([1], ValueError), ([1, -1], TypeError), ([1.5, 2], TypeError), ([1, None], ValueError)):
        with pytest.raises(kind, match="row ids"):
            keyray.Index([5, 6], row_ids=wrong)


def test_out_and_prepared():
    index = keyray.Index(np.arange(100), device="cpu")
    probes, out = np.array([5, 200, 7]), np.empty(3, np.int32)
    assert index.lookup(probes, out=out) is out and out.tolist() == [5, -1, 7]
    prepared = index.prepare(probes, out)
    probes[:] = [1, 2, 300]
    assert prepared.run() is out and out.tolist() == [1, 2, -1] and prepared.result.tolist() == [1, 2, -1]
    assert index.prepare(pl.Series([3, 500])).result.to_list() == [3, None]
    for wrong, kind in ((np.empty(2, np.int32), ValueError), (np.empty(3), TypeError), ([1, 2, 3], TypeError),
                        (np.empty(6, np.int32)[::2], ValueError)):
        with pytest.raises(kind, match="`out`"):
            index.lookup(probes, out=wrong)
    index.close()
    with pytest.raises(ValueError, match="closed"):
        prepared.run()


def test_scalars_and_nothing():
    index = keyray.Index([1, 2, 2], values=[1.0, 2.0, 3.0], device="cpu")
    assert index.lookup(2) == 1 and index.lookup(9) == -1 and index.contains(2) is True
    assert index.lookup(2, "count") == 2 and index.range(1, 2).sum() == 6.0 and index.nearest(1.0) == 0
    with pytest.raises(TypeError, match="is no value of u8"):
        keyray.Index(np.array([1], "u1")).lookup(256)
    assert keyray.Index(np.array([1, 2], "u1")).lookup(2) == 1 and keyray.Index([0.5, 2.0]).lookup(2) == 1
    assert index.lookup([]).tolist() == [] and index.lookup(pl.Series([], dtype=pl.Int64)).to_list() == []
    assert index.lookup(pa.chunked_array([], pa.int64())).to_pylist() == [] and index.lookup([None]).tolist() == [-1]
    empty = keyray.Index(np.array([], np.int64), device="cpu")
    nothing = np.array([], np.int64)
    assert index.range(nothing).count().tolist() == index.range(nothing, nothing).row().tolist() == []
    assert index.range(nothing).rows()[0].tolist() == [0] and list(index.range(nothing).chunks()) == []
    assert len(empty) == 0 and empty.lookup([1]).tolist() == [-1] and empty.lookup_all([1])[1].tolist() == []


def test_facts_and_reprs():
    index = keyray.Index(np.arange(1000), "array", values={"price": np.zeros(1000)}, device="cpu")
    assert repr(index).startswith(f"<keyray.Index {index.info.spec.split(':')[0]} on cpu: 1000 rows of i64, ")
    assert repr(index).endswith(" KiB, values 'price'>")
    assert sum(index.components.values()) == index.info.footprint_nbytes
    assert index.phases and all(seconds >= 0 for seconds in index.phases.values())
    assert keyray.Index(np.arange(9), "hash").counters["keys"] == 9
    assert index.explain(5, "range")["reason"] and "1 ranges of <keyray.Index" in repr(index.range([1], [2]))
    assert repr(index.device).startswith("<keyray.Device 'cpu': ")
    assert "3 probes" in repr(index.prepare(np.array([1, 2, 3]))) and len(index) == 1000
    with pytest.raises(ValueError, match="operation is 'x'; it is one of point"):
        index.explain(operation="x")


@quick
@given(keys=st.lists(st.integers(0, 255), unique=True, max_size=20), method=st.sampled_from([None, "pad", "backfill"]),
       target=st.lists(st.one_of(st.floats(-10, 300), st.just(float("nan")), st.sampled_from([-0.0, 255.5, 1e300, -1e300])),
                       max_size=20))
def test_get_indexer_of_floats_is_that_of_pandas(keys, target, method):
    ordered = np.array(sorted(keys), np.uint8)
    if not PANDAS_3:  # which finds the last key for NaN
        target = [value for value in target if value == value]
    expected = pd.Index(ordered).get_indexer(np.array(target, float), method=method)
    index = keyray.Index(ordered, device="cpu")
    assert index.get_indexer(np.array(target, float), method=method).tolist() == expected.tolist()


@quick
@given(keys=st.lists(st.integers(-9, 9), unique=True, max_size=9), method=st.sampled_from([None, "pad", "backfill"]),
       target=st.lists(st.one_of(st.none(), st.integers(-20_000, 20_000)), max_size=20))
def test_get_indexer_of_finer_times_is_that_of_pandas(keys, target, method):
    ordered = np.array(sorted(keys), "M8[s]")
    target = [time for time in target if PANDAS_3 or time is not None]
    times = np.array(["NaT" if time is None else time for time in target], "M8[ms]")
    expected = pd.Index(ordered).get_indexer(pd.Index(times), method=method)
    assert keyray.Index(ordered, device="cpu").get_indexer(times, method=method).tolist() == expected.tolist()


def test_get_indexer_at_the_borders_of_types():
    index = keyray.Index(np.array([0, 7, 255], np.uint8), device="cpu")
    target = np.array([-1, 0, 254, 256, 2**62])
    assert index.get_indexer(target, method="pad").tolist() == [-1, 0, 1, 2, 2]
    assert index.get_indexer(target, method="backfill").tolist() == [0, 0, 2, -1, -1]
    days = keyray.Index(np.array(["1970-01-02"], "M8[D]"), device="cpu")
    assert days.get_indexer(np.array([2**62, -(2**62)], "M8[s]"), method="pad").tolist() == [0, -1]
    times = keyray.Index(np.array([5], "M8[ns]"), device="cpu")
    assert times.get_indexer(np.array(["2500-01-01", "1500-01-01"], "M8[D]"), method="pad").tolist() == [0, -1]
    with pytest.raises(TypeError, match="4.5"):
        index.get_indexer([4.5], method="pad", tolerance=1)
    with pytest.raises(TypeError):
        index.get_indexer(["a"], method="pad")


def test_values_that_the_type_has_not_are_not_the_null_row():
    index = keyray.Index(pd.array([5, None], dtype="Int64"), device="cpu")
    assert index.get_indexer(np.array([4.5, 5.0])).tolist() == [-1, 0]
    assert index.get_indexer(pd.array([4.5, None, 5], dtype="Float64")).tolist() == [-1, 1, 0]
    assert index.get_indexer_non_unique(np.array([4.5, 5.0]))[0].tolist() == [-1, 0]


def test_row_ids_are_no_masks():
    with pytest.raises(TypeError, match="flatnonzero"):
        keyray.Index([1, 2], row_ids=np.array([True, False]))


def test_values_are_no_texts():
    index = keyray.Index([1, 2], device="cpu")
    for values in (["a", "b"], pl.Series(["a", "b"])):
        with pytest.raises(TypeError, match="only numbers, dates and times"):
            index.lookup([1], ("max", values))
