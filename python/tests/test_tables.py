"""Tables: every condition against pandas, every kind of frame, changes, files, and bad input."""
import datetime
import pickle
import threading

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import keyray
from keyray import Table, col

KINDS = ("dict", "pandas", "polars", "arrow")


def frame_of(kind, data):
    frame = pd.DataFrame(data)
    return {"dict": lambda: dict(data), "pandas": lambda: frame, "polars": lambda: pl.DataFrame(data),
            "arrow": lambda: pa.Table.from_pandas(frame, preserve_index=False)}[kind]()


def data_of(rng, count=2000):
    return {"a": rng.integers(-20, 20, count), "b": rng.integers(0, 10, count).astype(np.int32),
            "f": np.where(rng.random(count) < 0.1, np.nan, rng.normal(size=count)),
            "s": rng.choice(np.array(["x", "it's", "zzz", "", "ü"], object), count),
            "t": np.datetime64("2020-01-01", "us") + rng.integers(0, 10**12, count),
            "g": rng.integers(0, 2, count).astype(bool)}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("spec", ["best", "full"])
def test_results_are_those_of_pandas(rng, kind, spec):
    data = data_of(rng)
    frame, table = pd.DataFrame(data), Table(frame_of(kind, data), spec, device="cpu")
    hold = (frame.a < 5) & frame.b.between(3, 7) & (frame.s == "x")
    for rows in (table.where("a < 5 and b between 3 and 7 and s = 'x'"),
                 table.where((col("a") < 5) & col("b").between(3, 7) & (col("s") == "x"))):
        assert rows.count() == len(rows) == hold.sum()
        assert list(np.asarray(rows.rows())) == list(np.flatnonzero(hold))
        assert list(np.asarray(rows.mask())) == list(hold)
        assert rows.sum("a") == frame.a[hold].sum()
        assert (rows.min("a"), rows.max("b")) == (frame.a[hold].min(), frame.b[hold].max())
        assert rows.min("t") == frame.t[hold].min().to_datetime64()
        assert rows.sum("g") == frame.g[hold].sum() and rows.max("g") is True
        assert rows.max("s") == "x"
        assert pd.DataFrame(rows.frame(["a", "t"]) if kind != "arrow" else rows.frame(["a", "t"]).to_pandas()
                            )["a"].tolist() == frame.a[hold].tolist() if kind != "polars" else \
            rows.frame(["a", "t"])["a"].to_list() == frame.a[hold].tolist()
    assert type(table.where("a = 0").frame()) is type(frame_of(kind, data))
    assert table.where("a > 100").sum("a") is None and table.where("a > 100").min("s") is None


@pytest.mark.parametrize("count", [0, 1, 31, 32, 33, 1025])
def test_sizes(count):
    table = Table({"a": np.arange(count)}, device="cpu")
    rows = table.where("a >= 1")
    assert rows.count() == max(count - 1, 0)
    assert list(rows.rows()) == list(range(1, count))
    assert list(rows.mask()) == [i >= 1 for i in range(count)]


_numbers = st.one_of(st.none(), st.integers(-5, 5))
_words = ("<", "<=", ">", ">=", "=", "<>")


def _leaf():
    return st.one_of(st.tuples(st.just("compare"), st.sampled_from("ab"), st.sampled_from(_words), st.integers(-6, 6)),
                     st.tuples(st.just("between"), st.sampled_from("ab"), st.integers(-6, 6), st.integers(-6, 6)),
                     st.tuples(st.just("in"), st.sampled_from("ab"), st.lists(st.integers(-6, 6), max_size=4)),
                     st.tuples(st.just("null"), st.sampled_from("ab")),
                     st.tuples(st.just("columns"), st.sampled_from(_words)))


_trees = st.recursive(_leaf(), lambda inner: st.one_of(st.tuples(st.just("not"), inner),
                                                       st.tuples(st.sampled_from(("and", "or")), inner, inner)),
                      max_leaves=6)


def _keyray(tree):
    kind = tree[0]
    if kind == "compare":
        return col(tree[1])._with(tree[2], tree[3])
    if kind == "between":
        return col(tree[1]).between(tree[2], tree[3])
    if kind == "in":
        return col(tree[1]).isin(tree[2])
    if kind == "null":
        return col(tree[1]).is_null()
    if kind == "columns":
        return col("a")._with(tree[1], col("b"))
    if kind == "not":
        return ~_keyray(tree[1])
    one, other = _keyray(tree[1]), _keyray(tree[2])
    return one & other if kind == "and" else one | other


def _polars_compare(one, word, other):
    return {"<": one < other, "<=": one <= other, ">": one > other, ">=": one >= other, "=": one == other,
            "<>": one != other}[word]


def _polars(tree):
    kind = tree[0]
    if kind == "compare":
        return _polars_compare(pl.col(tree[1]), tree[2], pl.lit(tree[3], dtype=pl.Int64))
    if kind == "between":
        return pl.col(tree[1]).is_between(tree[2], tree[3])
    if kind == "in":  # of no values it is false, NULL or not
        return pl.col(tree[1]).is_in(tree[2]) if tree[2] else pl.lit(False)
    if kind == "null":
        return pl.col(tree[1]).is_null()
    if kind == "columns":
        return _polars_compare(pl.col("a"), tree[1], pl.col("b"))
    if kind == "not":
        return ~_polars(tree[1])
    one, other = _polars(tree[1]), _polars(tree[2])
    return one & other if kind == "and" else one | other


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(_numbers, _numbers), min_size=1, max_size=40), _trees)
def test_conditions_are_those_of_polars(rows, tree):
    frame = pl.DataFrame(rows, schema={"a": pl.Int64, "b": pl.Int64}, orient="row")
    table = Table(frame, device="cpu")
    condition = _keyray(tree)
    expected = frame.with_row_index().filter(_polars(tree))["index"].to_list()
    assert table.where(condition).rows().to_list() == expected
    text = condition._text()
    assert table.where(text).rows().to_list() == expected
    assert table.lazy().filter(_polars(tree)).collect().equals(frame.filter(_polars(tree)))


def test_scan_answers_several(rng):
    data = data_of(rng)
    frame, table = pd.DataFrame(data), Table(data, device="cpu")
    count, total, rows, mask, low = table.scan(["a < 5", ("b = 3", "sum", "a"), (col("s").like("z%"), "rows"),
                                                ("g = 1", "mask"), ("a < -100", "min", "f")])
    assert (count, total, low) == ((frame.a < 5).sum(), frame.a[frame.b == 3].sum(), None)
    assert list(rows) == list(np.flatnonzero(frame.s.str.startswith("z"))) and list(mask) == list(frame.g)
    assert table.scan(["a = 1", "a = 2"], ("sum", "b")) == [table.where("a = 1").sum("b"), table.where("a = 2").sum("b")]
    assert table.scan([]) == []
    with pytest.raises(ValueError, match="at most 64"):
        table.scan(["a = 1"] * 65)


@pytest.mark.parametrize("kind", KINDS)
def test_changes_keep_ids(rng, kind):
    data = data_of(rng)
    frame, table = pd.DataFrame(data), Table(frame_of(kind, data), device="cpu")
    table.append(frame_of(kind, data))
    both = pd.concat([frame, frame], ignore_index=True)
    assert table.delete("a = 1") == (both.a == 1).sum()
    gone = {0, 5}
    expected_more = sum(1 for row in gone if both.a[row] != 1)
    assert table.delete(np.array([0, 5, 5])) == expected_more
    alive = (both.a != 1) & ~both.index.isin(list(gone))
    assert list(np.asarray(table.alive)) == list(alive) and len(table) == alive.sum()
    assert list(np.asarray(table.where("b = 3").rows())) == list(np.flatnonzero((both.b == 3) & alive))
    table.validate()
    assert table.delete(True) == alive.sum() and len(table) == 0


@pytest.mark.parametrize("kind", KINDS)
def test_files_and_pickles(rng, kind, tmp_path):
    data = data_of(rng, 300)
    data["s"] = data["s"] if kind != "dict" else data["s"].astype(str)
    table = Table(frame_of(kind, data), device="cpu")
    table.delete([3])
    table.save(tmp_path / "t.krx")
    for other in (keyray.load(tmp_path / "t.krx"), Table.load(tmp_path / "t.krx"), pickle.loads(pickle.dumps(table))):
        assert other.where("b < 4").count() == table.where("b < 4").count()
        assert type(other.where("b < 4").frame()) is type(table.where("b < 4").frame())
        assert other.where("b < 4").max("s") == table.where("b < 4").max("s")
    table.save(tmp_path / "small.krx", frame=False)
    other = keyray.load(tmp_path / "small.krx")
    assert other.where("b < 4").count() == table.where("b < 4").count()
    with pytest.raises(ValueError, match="frame=True"):
        other.where("b < 4").frame()


def test_a_frame_that_changes_behind_a_table():
    values = np.arange(1000)
    frame = pd.DataFrame({"a": values.copy()})
    tables = [Table({"a": values}, "full", device="cpu"), Table(frame, "full", device="cpu")]
    values[:] = -1
    frame.loc[:, "a"] = -1
    frame["b"] = 1
    for table in tables:
        assert table.where("a >= 500").count() == 500
        assert list(np.asarray(table.where("a = 7").frame()["a"])) == [7]


def test_a_change_waits_for_scans():
    table = Table({"a": np.arange(200_000)}, "full", device="cpu")
    ends, wrong = threading.Event(), []

    def ask():
        while not ends.is_set():
            if table.where("a < 1000").count() % 1000:
                wrong.append(1)
    threads = [threading.Thread(target=ask) for _ in range(3)]
    for thread in threads:
        thread.start()
    for _ in range(20):
        table.append({"a": np.arange(1000)})
    ends.set()
    for thread in threads:
        thread.join()
    assert not wrong and table.where("a < 1000").count() == 21_000


def test_values_of_all_kinds():
    moment = datetime.datetime(2020, 1, 1, 1, tzinfo=datetime.timezone(datetime.timedelta(hours=1)))
    table = Table({"i": [1, 2, None], "f": [0.1, float("nan"), 3.0], "s": ["a'b", None, "c\0d"],
                   "t": np.array(["2020-01-01", "2020-01-02", "NaT"], "M8[ns]"),
                   "d": pa.array([datetime.date(2020, 1, 1), None, datetime.date(2021, 1, 1)])}, device="cpu")

    def rows(condition):
        return list(table.where(condition).rows())
    assert rows(col("i") == 1) == [0] and rows(col("i") == None) == [] and rows(col("i").is_null()) == [2]  # noqa: E711
    assert rows(col("i") < 2**70) == [0, 1] and rows(col("i").isin([2, None])) == [1]
    assert rows(col("f") == 0.1) == [0] and rows(col("f") > 100) == [1] and rows(col("f") == float("nan")) == [1]
    assert rows(col("s") == "a'b") == [0] and rows(col("s") == "c\0d") == [2] and rows(col("s").isin(["c\0d"])) == [2]
    assert rows(col("t") == np.datetime64("2020-01-01")) == [0] and rows(col("t") >= moment) == [0, 1]
    assert rows(col("t") >= pd.Timestamp("2020-01-01 00:00:00.000000001")) == [1]
    assert rows(col("d") <= datetime.date(2020, 1, 1)) == [0] and rows(col("i").isin(np.arange(100))) == [0, 1]
    assert rows(~(col("i") > 1)) == [0] and rows(col("i").is_not_null() & "f < 1") == [0]


@pytest.mark.parametrize("wrong, error", [
    (lambda t: t.where("a <"), ValueError), (lambda t: t.where("nope = 1").count(), ValueError),
    (lambda t: t.where("a = 'x'").count(), TypeError), (lambda t: t.where(5), TypeError),
    (lambda t: t.where("a = 1").sum("nope"), ValueError), (lambda t: t.where("a = 1").sum("s"), TypeError),
    (lambda t: bool(col("a") < 5), TypeError), (lambda t: 1 < col("a") < 5, TypeError),
    (lambda t: col("a") & (col("b") < 3), TypeError), (lambda t: col("a") == [1, 2], TypeError),
    (lambda t: col(5), TypeError), (lambda t: col("a").isin("abc"), TypeError),
    (lambda t: t.delete([99]), ValueError), (lambda t: t.delete([-1]), TypeError), (lambda t: t.delete([0.5]), TypeError),
    (lambda t: t.append({"a": [1]}), ValueError), (lambda t: t.append({"a": [1], "s": ["x", "y"]}), ValueError),
    (lambda t: t.append({"a": ["x"], "s": ["x"]}), TypeError), (lambda t: t.scan([("a = 1", "nope")]), ValueError),
    (lambda t: t.scan([("a = 1", "sum")]), ValueError), (lambda t: t.where("a = 1").frame("a"), TypeError),
    (lambda t: t.where("a = 1\0"), ValueError)])
def test_wrong_calls(wrong, error):
    table = Table({"a": [1, 2, 3], "s": ["x", "y", "z"]}, device="cpu")
    with pytest.raises(error):
        wrong(table)
    assert table.where("a = 1").count() == 1 and len(table) == 3


@pytest.mark.parametrize("wrong, error", [
    ({}, ValueError), ({"a": [1], "b": [1, 2]}, ValueError), (5, TypeError), (np.arange(3), TypeError),
    (pl.LazyFrame({"a": [1]}), TypeError), ({"a": np.zeros((2, 2))}, TypeError),
    ({"a": np.array([1, "x", None], object)}, TypeError), ({"a": pa.array([], pa.decimal128(5, 2))}, TypeError),
    ({"a\0": [1]}, ValueError), ({"a": pa.nulls(3)}, TypeError)])
def test_wrong_frames(wrong, error):
    with pytest.raises(error):
        Table(wrong, device="cpu")


def test_wrong_options():
    with pytest.raises(ValueError):
        Table({"a": [1]}, "nope", device="cpu")
    with pytest.raises(ValueError):
        Table({"a": [1]}, copy="sometimes", device="cpu")
    table = Table({"a": [1]}, device="cpu")
    assert "1 rows" in repr(table) and "a = 1" in repr(table.where("a = 1"))
    assert "a = 1" in table.where("a = 1").explain()
    table.close()
    assert repr(table) == "<keyray.Table, closed>"
    with pytest.raises(ValueError, match="closed"):
        table.where("a = 1").count()


def test_strided_big_endian_and_chunked_columns():
    wide = np.arange(20)
    table = Table({"a": wide[::2], "b": wide[10:].astype(">i4"),
                   "c": pa.chunked_array([pa.array([1, 2, 3]), pa.array([4] * 7)]),
                   "d": pa.array(range(12), pa.int16())[2:]}, "full", device="cpu")
    assert list(table.where("a = 4 and b = 12 and c = 3 and d = 4").rows()) == [2]


@pytest.mark.parametrize("nothing", ["", "  ", "\n"])
def test_an_empty_condition_is_no_condition(nothing):
    table = Table({"a": np.arange(5)}, device="cpu")
    for ask in (table.where, table.delete, lambda text: table.scan([text]), lambda text: table.where(True).where(text),
                lambda text: (col("a") < 1) & text):
        with pytest.raises(ValueError, match="give True"):
            ask(nothing)
    assert len(table) == table.where(True).count() == table.where().count() == 5
    assert table.delete(True) == 5


def test_rows_to_delete_are_no_masks():
    table, other = Table({"a": np.arange(5)}, device="cpu"), Table({"a": np.arange(5)}, device="cpu")
    for mask in (np.array([True] * 5), [False] * 5, pl.Series([True] * 5), pa.array([True]), np.True_):
        with pytest.raises(TypeError, match="mask"):
            table.delete(mask)
    with pytest.raises(ValueError, match="another table"):
        table.delete(other.where("a < 2"))
    assert len(table) == 5 and table.delete([]) == 0 and table.delete(3) == 1 and table.delete(table.where("a < 2")) == 2


def test_appending_no_rows_keeps_the_memory_that_is_read():
    for kind in (lambda n: pa.table({"g": pa.array([True, None, False] * n, pa.bool_())}),
                 lambda n: {"g": np.array(["2024-01-01", "2024-01-02", "2024-01-03"] * n, "M8[D]")}):
        table = Table(kind(50), device="cpu")
        table.append(kind(0))
        other = [np.full(150, 77, np.uint8) for _ in range(50)]  # would lie where freed memory was
        table.validate()
        assert table.where("g is not null").count() in (100, 150) and len(other) == 50


@pytest.mark.parametrize("kind", KINDS)
def test_appended_rows_get_the_types_of_the_table(kind):
    big = 2**60 + 1
    table = Table(frame_of(kind, {"a": np.array([big, 5]), "t": np.array([1, 2], "M8[s]").astype("M8[us]")}), device="cpu")
    more = {"a": np.array([7.0, 8.0]), "t": np.array([3, 4], "M8[ms]")}
    table.append(frame_of(kind, more))
    table.append(dict(more))
    made = table.where("a > 6").frame()
    column = made["a"]
    assert (column.to_pylist() if kind == "arrow" else column.tolist() if kind != "polars" else column.to_list()) == [
        big, 7, 8, 7, 8]
    assert table.where("t >= 0").count() == 6
    with pytest.raises(TypeError):
        table.append(frame_of(kind, {"a": np.array([7.5]), "t": np.array([3], "M8[ms]")}))
    assert len(table) == 6


def test_appended_rows_of_another_library():
    table = Table(pd.DataFrame({"a": np.array([1, 2], np.uint8)}), device="cpu")
    with pytest.raises(ValueError, match="of polars, the table is of pandas"):
        table.append(pl.DataFrame({"a": [3]}))
    with pytest.raises(ValueError, match="has NULLs"):
        table.append({"a": [None, 3]})
    table.append(pd.DataFrame({"a": pd.array([2, None], dtype="Int64")}))
    assert table.where("a = 2").rows().tolist() == [1, 2] and table.where(True).frame()["a"].isna().sum() == 1


@pytest.mark.parametrize("type", [pa.string(), pa.large_string(), pa.dictionary(pa.int8(), pa.string()), pa.string_view()])
@pytest.mark.parametrize("other", [pa.string(), pa.dictionary(pa.int32(), pa.string()), pa.string_view()])
def test_texts_of_two_types_of_arrow(type, other):
    def frame(words, kind):
        array = pa.array(words, pa.string())
        return pa.table({"s": array.dictionary_encode().cast(kind) if pa.types.is_dictionary(kind) else array.cast(kind)})

    table = Table(frame(["x", None, "a text that is long enough"], type), device="cpu")
    table.append(frame(["new", "x"], other))
    made = table.where("s > 'b'").frame()["s"]
    assert made.to_pylist() == ["x", "new", "x"] and made.type == type


def test_a_table_without_its_frame_has_masks(tmp_path):
    Table(pd.DataFrame({"a": [1, 2, 3]}), device="cpu").save(tmp_path / "t", frame=False)
    table = keyray.load(tmp_path / "t", device="cpu")
    assert table.where("a > 1").mask().tolist() == [False, True, True] and table.alive.all()
    table.append({"a": [4]})
    assert table.where("a > 1").mask().tolist() == [False, True, True, True]
    with pytest.raises(ValueError, match="has no frame"):
        table.where("a > 1").frame()


@pytest.mark.parametrize("column", [pa.array([2**53 + 1, None]), pl.Series([2**53 + 1, None]),
                                    pd.Series([2**53 + 1, None], dtype="Int64")])
def test_columns_of_dicts_that_numpy_has_not_are_not_saved(column, tmp_path):
    table = Table({"a": column}, device="cpu")
    with pytest.raises(ValueError, match="NULLs"):
        table.save(tmp_path / "t")
    with pytest.raises(ValueError, match="NULLs"):
        pickle.dumps(table)
    table.save(tmp_path / "t", frame=False)
    assert keyray.load(tmp_path / "t").where(f"a = {2**53 + 1}").count() == 1


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow", "numpy"])
@pytest.mark.parametrize("spec", ["full", "bindex"])
def test_versions_of_tables(kind, spec):
    def frame_of(values):
        columns = {"a": np.array(values, np.int32), "s": np.array([f"t{value % 7}" for value in values], "U4")}
        makers = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "arrow": pa.table, "numpy": dict}
        return makers[kind](columns)

    def values_of(table, condition):
        made = table.where(condition).frame()
        return [int(value) for value in (made["a"].to_pylist() if kind == "arrow" else list(made["a"]))]

    older = keyray.Table(frame_of(range(100)), spec, device="cpu")
    longer = older.next_append(frame_of([200, 201]))
    fewer = longer.next_delete("a < 90")
    fewest = fewer.next_delete([99, 101])
    same = older.next_append(frame_of([]))
    older.append(frame_of([300]))
    assert values_of(older, "a >= 98") == [98, 99, 300] and values_of(longer, "a >= 98") == [98, 99, 200, 201]
    assert values_of(fewer, "a < 92") == [90, 91] and values_of(fewest, "a >= 98") == [98, 200]
    assert values_of(same, "a >= 98") == [98, 99] and same.where("s = 't3'").count() == older.where("s = 't3'").count()
    assert (len(older), len(longer), len(fewer), len(fewest), len(same)) == (101, 102, 12, 10, 100)
    older.close()
    longer.close()
    assert values_of(fewest, "a >= 98") == [98, 200] and len(same) == 100
    with pytest.raises(keyray.ArgumentError, match="another table"):
        fewer.next_delete(fewest.where("a = 98"))
    with pytest.raises(keyray.ArgumentError, match="closed"):
        longer.next_append(frame_of([1]))
