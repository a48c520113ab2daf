"""Joins of columns and frames, row for row as pandas."""
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import keyray


def frames(rng, count=300):
    left = pd.DataFrame({"k": rng.integers(0, 50, count), "g": rng.choice(["a", "b"], count),
                         "v": rng.normal(size=count)})
    right = pd.DataFrame({"k": rng.integers(20, 80, count - 100), "g": rng.choice(["a", "b"], count - 100),
                          "w": rng.integers(0, 9, count - 100), "v": rng.integers(0, 9, count - 100)})
    return left, right


def ordered(frame):
    return frame.sort_values(list(frame.columns), ignore_index=True)


@pytest.mark.parametrize("on", ["k", ["k"], ["k", "g"], "g"])
@pytest.mark.parametrize("how", ["inner", "left", "right", "outer"])
def test_merge_is_pandas(rng, on, how):
    left, right = frames(rng)
    made, wanted = keyray.merge(left, right, on=on, how=how), pd.merge(left, right, on=on, how=how)
    if how == "outer":  # pandas sorts by key, keyray keeps the left order
        made, wanted = ordered(made), ordered(wanted)
    pd.testing.assert_frame_equal(made, wanted)
    polars = keyray.merge(pl.from_pandas(left), pl.from_pandas(right), on=on, how=how)
    assert polars.columns == list(wanted.columns) and polars.height == len(wanted)
    arrow = keyray.merge(pa.Table.from_pandas(left), pa.Table.from_pandas(right), on=on, how=how)
    assert arrow.column_names == list(wanted.columns)
    assert ordered(arrow.to_pandas())["k" if "k" in made else "k_x"].equals(
        ordered(polars.to_pandas())["k" if "k" in made else "k_x"])


def test_merge_of_other_names_and_sides(rng):
    left, right = frames(rng)
    pd.testing.assert_frame_equal(keyray.merge(left, right, left_on="k", right_on="w"),
                                  pd.merge(left, right, left_on="k", right_on="w"))
    semi, anti = (keyray.merge(left, right, on="k", how=how) for how in ("semi", "anti"))
    pd.testing.assert_frame_equal(semi, left[left.k.isin(right.k)])
    pd.testing.assert_frame_equal(anti, left[~left.k.isin(right.k)])
    both = keyray.merge({"k": [1, 2], "a": [1, 2]}, {"k": [2, 3], "b": [5, 6]}, on="k", how="left")
    assert list(both["k"]) == [1, 2] and both["b"].tolist() == [None, 5]


def test_nulls_pair_with_nothing():
    left, right = (pd.DataFrame({"k": pd.array([1, None], "Int64"), name: [1, 2]}) for name in "ab")
    assert len(pd.merge(left, right, on="k")) == 2 and len(keyray.merge(left, right, on="k")) == 1
    rows, others = keyray.join(pa.array(["a", None]), pa.array([None, "a"]))
    assert (rows.to_pylist(), others.to_pylist()) == ([0], [1])


_keys = st.lists(st.integers(0, 8), max_size=30)


@settings(max_examples=100, deadline=None)
@given(_keys, _keys)
def test_pairs(left, right):
    rows, others = keyray.join(np.array(left, np.int64), np.array(right, np.int32))
    assert list(zip(rows, others)) == [(i, j) for i, a in enumerate(left) for j, b in enumerate(right) if a == b]
    rows, others = keyray.join(np.array(left, np.uint64), np.array(right, np.int64), how="full")
    assert sorted(set(rows) - {-1}) == list(range(len(left))) and sorted(set(others) - {-1}) == list(range(len(right)))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), max_size=15),
       st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), max_size=15), st.sampled_from(("both", "left")))
def test_overlap(left, right, closed):
    ends = [np.array([pair[i] for pair in side], np.int64) for side in (left, right) for i in (0, 1)]
    made = set(zip(*map(np.ndarray.tolist, keyray.join_overlap(*ends, closed=closed))))
    wanted = set()
    for i, (a, b) in enumerate(left):
        for j, (c, d) in enumerate(right):
            low, high = max(a, c), min(b, d)
            if (a <= b and c <= d and low <= high) if closed == "both" else (a < b and c < d and low < high):
                wanted.add((i, j))
    assert made == wanted


def test_range_and_chunks(rng):
    values, low = rng.integers(0, 100, 50), rng.integers(0, 100, 20)
    rows, others = keyray.join_range(values, low, low + 10)
    assert set(zip(rows, others)) == {(i, j) for i, v in enumerate(values) for j, x in enumerate(low) if x <= v <= x + 10}
    got = []
    count = keyray.join_chunks(values, low, lambda a, b: got.extend(zip(a.tolist(), b.tolist())), upper=low + 10, cap=64)
    assert count == len(got) and set(got) == set(zip(rows, others)) == set(got)
    assert keyray.join_chunks(values, low, None) == len(keyray.join(values, low)[0])
    with pytest.raises(ZeroDivisionError):
        keyray.join_chunks(values, values, lambda a, b: 1 / 0)


def times(rng, count=500):
    left = pd.DataFrame({"t": pd.to_datetime(rng.integers(0, 10**6, count), unit="s"),
                         "s": rng.choice(["x", "y", "z"], count), "v": range(count)})
    right = pd.DataFrame({"t": pd.to_datetime(rng.integers(0, 10**6, count - 200), unit="s"),
                          "s": rng.choice(["x", "y", "q"], count - 200), "w": range(count - 200),
                          "v": rng.normal(size=count - 200)})
    return left, right


@pytest.mark.parametrize("direction", ["backward", "forward", "nearest"])
@pytest.mark.parametrize("more", [{}, {"tolerance": pd.Timedelta("1h")}, {"allow_exact_matches": False}, {"by": "s"},
                                  {"by": ["s"], "tolerance": pd.Timedelta("1D")}])
def test_merge_asof_is_pandas(rng, direction, more):
    left, right = times(rng)
    left_sorted, right_sorted = (frame.sort_values("t", kind="stable") for frame in (left, right))
    wanted = pd.merge_asof(left_sorted, right_sorted, on="t", direction=direction, **more)
    pd.testing.assert_frame_equal(keyray.merge_asof(left_sorted, right_sorted, on="t", direction=direction, **more),
                                  wanted)
    categories = [frame.assign(s=frame.s.astype(pd.CategoricalDtype(["q", "x", "y", "z"]))) for frame in (left, right)]
    for one, other in ((left, right_sorted), categories):  # in no order
        made = keyray.merge_asof(one, other, on="t", direction=direction, **more)
        back = made.sort_values("t", kind="stable", ignore_index=True)
        assert back["w"].notna().equals(wanted["w"].notna()) and back["t"].equals(wanted["t"])
        if one is left:
            pd.testing.assert_series_equal(back["w"], wanted["w"])


def test_merge_asof_by_index(rng):
    left, right = (frame.sort_values("t").set_index("t") for frame in times(rng))
    pd.testing.assert_frame_equal(keyray.merge_asof(left, right, left_index=True, right_index=True),
                                  pd.merge_asof(left, right, left_index=True, right_index=True))


def test_merge_asof_is_polars(rng):
    left, right = (pl.from_pandas(frame.sort_values("t")).drop("v") for frame in times(rng))
    made = keyray.merge_asof(left, right, on="t", by="s")
    wanted = left.with_row_index().join_asof(right, on="t", by="s").sort("index").drop("index")
    assert made["w"].is_null().equals(wanted["w"].is_null()) and made.columns == wanted.columns


def test_merge_overlap():
    left = pl.DataFrame({"s": [1, 5], "e": [3, 9], "g": [1, 1]})
    right = pl.DataFrame({"s": [3, 6], "e": [5, 7], "g": [1, 2]})
    assert keyray.merge_overlap(left, right, "s", "e", by="g").rows() == [(1, 3, 1, 3, 5), (5, 9, 1, 3, 5)]
    assert keyray.merge_overlap(left, right, "s", "e", by="g", closed="left").height == 0
    assert keyray.merge_overlap(left, right, "s", "e", how="semi").height == 2


@pytest.mark.parametrize("wrong, error", [
    (lambda: keyray.join([1], ["a"]), TypeError), (lambda: keyray.join([1], [1], how="cross"), ValueError),
    (lambda: keyray.join([[1], [2]], [[1]]), ValueError), (lambda: keyray.join([[1, 2], [2]], [[1], [1]]), ValueError),
    (lambda: keyray.join([[1]] * 9, [[1]] * 9), ValueError), (lambda: keyray.join([0.5], [1], spec="nope"), ValueError),
    (lambda: keyray.join_range([1], [1, 2], [1]), ValueError), (lambda: keyray.join_overlap([1], [1, 2], [1], [1]), ValueError),
    (lambda: keyray.join_asof([1], [1], left_by=["a"]), ValueError),
    (lambda: keyray.join_asof([1], [1], left_by=["a", "b"], right_by=["a"]), ValueError),
    (lambda: keyray.join_asof([1], [1], tolerance=-1), ValueError), (lambda: keyray.join_asof(["a"], ["a"], tolerance=1), TypeError),
    (lambda: keyray.join(np.array(["2020"], "M8[s]"), pd.Series(pd.to_datetime(["2020"], utc=True))), TypeError),
    (lambda: keyray.merge(pd.DataFrame({"a": [1]}), pl.DataFrame({"a": [1]}), on="a"), ValueError),
    (lambda: keyray.merge({"a": [1]}, {"a": [1]}), ValueError), (lambda: keyray.merge({"a": [1]}, {"a": [1]}, on="b"), ValueError),
    (lambda: keyray.merge({"a": [1], "b": [1]}, {"a": [1], "b": [1]}, on="a", suffixes=("", "")), ValueError),
    (lambda: keyray.merge_asof({"a": [1]}, {"a": [1]}, on="a", direction="up"), ValueError)])
def test_wrong_joins(wrong, error):
    with pytest.raises(error):
        wrong()


def test_merge_asof_takes_one_way_to_say_the_times():
    frame = pd.DataFrame({"t": [1, 2], "v": [3, 4]})
    for more in ({"left_on": "t"}, {"right_on": "t"}, {"left_on": "t", "right_on": "t"}, {"left_index": True},
                 {"right_index": True}):
        with pytest.raises(ValueError, match="not both"):
            keyray.merge_asof(frame, frame, on="t", **more)
        with pytest.raises(pd.errors.MergeError):
            pd.merge_asof(frame, frame, on="t", **more)


def test_joins_of_pandas_series_that_arrow_backs():
    left, right = (pd.Series(pd.array(values, dtype="int64[pyarrow]")) for values in ([1, 2, None, 2], [2, 9]))
    assert [list(side) for side in keyray.join(left, right, device="cpu")] == [[1, 3], [0, 0]]
    rows, others = keyray.Index(right, device="cpu").join(left, "left")
    assert list(rows) == [0, 1, 2, 3] and [None if pd.isna(row) else row for row in others] == [None, 0, None, 0]


def test_equality_of_values_that_the_other_type_has_not():
    signed, unsigned = np.array([-1, 3, 2**62]), np.array([2**64 - 1, 3, 2**62 + 1], np.uint64)
    assert [side.tolist() for side in keyray.join(signed, unsigned, device="cpu")] == [[1], [1]]
    assert keyray.join(signed, unsigned, how="anti", device="cpu").tolist() == [0, 2]
    assert keyray.join(np.array([2**53 + 1, 4]), np.array([2.0**53, 4.0]), device="cpu")[0].tolist() == [1]
    far, near = np.array(["3000-01-01"], "M8[s]"), np.array([1, 2], "M8[ns]")
    assert keyray.join(far, near, device="cpu")[0].tolist() == []
    left, right = pd.DataFrame({"k": signed, "a": range(3)}), pd.DataFrame({"k": unsigned, "b": range(3)})
    assert keyray.merge(left, right, on="k", how="outer", device="cpu")["a"].tolist()[:3] == [0, 1, 2]
    assert keyray.join_chunks(signed, unsigned, None, device="cpu") == 1
    with pytest.raises(TypeError, match="-1"):  # here the order of values counts
        keyray.join_asof(signed, unsigned, device="cpu")


def test_merge_asof_of_labels_that_are_no_texts():
    left, right = pd.DataFrame({0: [1, 5]}), pd.DataFrame({0: [1, 4], 1: [2, 3]})
    for on in (0, [0]):
        assert keyray.merge_asof(left, right, on=on).equals(pd.merge_asof(left, right, on=0))
    with pytest.raises(ValueError, match="one name"):
        keyray.merge_asof(left, right, on=[0, 1])
