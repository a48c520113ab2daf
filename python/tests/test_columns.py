"""Columns of every kind, and answers in the caller's."""
import ctypes
import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import keyray
from keyray._columns import as_chunks, as_column, as_columns
from keyray._texts import views_of

KEYS = np.array([30, 10, 20, 10], np.int64)
PROBES = [10, 99, 20]


def plain(made):
    """Row ids as a list, None for no row."""
    if hasattr(made, "to_pylist"):
        return made.to_pylist()
    if isinstance(made, pl.Series):
        return made.to_list()
    return [None if pd.isna(value) or value == -1 else int(value) for value in made]


KINDS = {
    "numpy": (np.array, np.ndarray), "list": (list, np.ndarray), "pandas": (pd.Series, pd.Series),
    "pandas index": (pd.Index, np.ndarray),
    "pandas masked": (lambda x: pd.Series(x, dtype="Int64"), pd.Series),
    "pandas arrow": (lambda x: pd.Series(x, dtype="int64[pyarrow]"), pd.Series),
    "polars": (pl.Series, pl.Series), "pyarrow": (pa.array, pa.Array),
    "sliced": (lambda x: pa.array([7, None, *x, 8]).slice(2, len(x)), pa.Array),
    "chunked": (lambda x: pa.chunked_array([x[:1], [], x[1:]], pa.int64()), pa.Array),
    "polars chunks": (lambda x: pl.concat([pl.Series(x[:2]), pl.Series(x[2:])], rechunk=False), pl.Series),
    "strided": (lambda x: np.repeat(np.array(x), 3)[::3], np.ndarray),
    "big-endian": (lambda x: np.array(x, ">i8"), np.ndarray), "i32": (lambda x: np.array(x, "i4"), np.ndarray),
    "f64": (lambda x: np.array(x, "f8"), np.ndarray),
}


@pytest.mark.parametrize("kind", KINDS)
def test_answers_are_of_the_callers_kind(kind):
    make, made_of = KINDS[kind]
    for keys in (KEYS, make(KEYS.tolist())):
        found = keyray.Index(keys, device="cpu").lookup(make(PROBES))
        assert isinstance(found, made_of)
        assert plain(found) == [1, None, 2]


def test_row_ids_are_int32_or_nullable_uint32():
    index = keyray.Index(KEYS, device="cpu")
    assert index.lookup(np.array(PROBES)).dtype == np.int32
    assert index.lookup(pa.array(PROBES)).type == pa.uint32()
    assert index.lookup(pl.Series(PROBES)).dtype == pl.UInt32
    assert str(index.lookup(pd.Series(PROBES, dtype="int64[pyarrow]")).dtype) == "uint32[pyarrow]"
    assert index.lookup(pd.Series(PROBES, index=[5, 6, 7])).index.tolist() == [5, 6, 7]


@pytest.mark.parametrize("kind", ["pyarrow", "polars", "pandas arrow", "pandas masked"])
def test_null_probes_match_nothing_and_null_keys_are_left_out(kind):
    make = KINDS[kind][0]
    index = keyray.Index(make([5, None, 7]), device="cpu")
    assert len(index) == 2
    assert plain(index.lookup(make([None, 7]))) == [None, 2]


def test_no_copy_where_memory_allows():
    array = np.arange(10)
    assert as_column(array).struct.data == array.ctypes.data
    arrow = pa.array(range(10)).slice(3)
    assert as_column(arrow).struct.data == arrow.buffers()[1].address + 24
    series = pl.Series(range(10))
    assert as_column(series).owner is not None
    chunks = as_chunks(pa.chunked_array([[1, 2], [3]]))
    assert [chunk.count for chunk in chunks] == [2, 1]


def test_misaligned_arrays_are_copied():
    raw = np.zeros(8 * 5 + 1, np.uint8)
    array = raw[1:].view(np.int64)
    array[:] = range(5)
    column = as_column(array)
    assert column.struct.data % 8 == 0
    assert column.values().tolist() == [0, 1, 2, 3, 4]
    buffer = pa.py_buffer(raw.tobytes()).slice(1)
    if buffer.address % 8:
        assert as_column(pa.Array.from_buffers(pa.int64(), 5, [None, buffer])).values().tolist() == [0, 1, 2, 3, 4]


TEXTS = ["b", "", None, "a text that is longer than twelve bytes", "ü", "b"]


@pytest.mark.parametrize("make", [
    list, pa.array, lambda x: pa.array(x, pa.large_string()), lambda x: pa.array(x, pa.string_view()),
    lambda x: pa.array(x).dictionary_encode(), lambda x: pa.chunked_array([x[:2], x[2:]]), pl.Series, pd.Series,
    lambda x: pd.Series(x, dtype="category"), lambda x: pd.Series(x, dtype=object),
    lambda x: pd.Series(x, dtype="string[pyarrow]"), lambda x: pl.Series(x, dtype=pl.Categorical),
    lambda x: np.array(x, object), lambda x: pa.array([None, *x, "z"]).slice(1, len(x)),
    lambda x: pa.chunked_array([pa.array(x[:3], pa.string_view()), pa.array(x[3:], pa.string_view())])])
def test_texts_of_every_kind(make):
    column = as_column(make(TEXTS))
    views, buffers = views_of(column)
    valid = column.valid()
    texts = []
    for i, words in enumerate(views.view("<i4").reshape(-1, 4)):
        start = words[1:].tobytes() if words[0] <= 12 else None
        if start is None:
            import ctypes
            start = ctypes.string_at(buffers[int(words[2])].data + int(words[3]), int(words[0]))
        texts.append(None if valid is not None and not valid[i] else start[:words[0]].decode())
    assert texts == TEXTS
    index = keyray.Index(make(TEXTS), device="cpu")
    assert index.lookup(["b", "a text that is longer than twelve bytes", "", "nothing"]).tolist() == [0, 3, 1, -1]
    assert index.prefix(["a", "b"]).count().tolist() == [1, 2]


TIMES = ["2024-01-01T00:00:00", "NaT", "1969-12-31T23:59:59"]


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize("other", ["s", "ms", "us", "ns"])
def test_units_convert_exactly(unit, other):
    index = keyray.Index(np.array(TIMES, f"M8[{unit}]"), device="cpu")
    probes = np.array(TIMES, f"M8[{other}]")
    for made in (probes, pd.Series(probes), pl.Series(probes.astype("M8[ns]")).cast(pl.Datetime("us")), pa.array(probes)):
        assert plain(index.lookup(made)) == [0, None, 2]


def test_dates_against_times():
    index = keyray.Index(pa.array([dt.date(2024, 1, 1), None, dt.date(1900, 2, 3)]), device="cpu")
    assert index.info.types == ("date32",)
    assert plain(index.lookup(np.array(["2024-01-01", "1900-02-03"], "M8[us]"))) == [0, 2]
    with pytest.raises(TypeError, match="row 1: 2024-01-01T00:00:01.*is no value of date32"):
        index.lookup(np.array(["2024-01-01", "2024-01-01T00:00:01"], "M8[s]"))
    assert index.lookup(dt.date(1900, 2, 3)) == 2


def test_zones():
    naive = pd.Series(pd.date_range("2024-01-01", periods=3))
    index = keyray.Index(naive.dt.tz_localize("Europe/Berlin"), device="cpu")
    assert plain(index.lookup(naive.dt.tz_localize("Europe/Berlin").dt.tz_convert("UTC"))) == [0, 1, 2]
    with pytest.raises(TypeError, match="with a zone and times without"):
        index.lookup(naive)


@pytest.mark.parametrize("keys, probes, wrong", [
    ("i4", [2**31], "2147483648"), ("u1", [-1], "-1"), ("u8", [-1], "-1"), ("i8", [1.5], "1.5"),
    ("f4", [16777217], "16777217"), ("f8", [2**53 + 1], "9007199254740993"), ("i8", np.array([2**63], "u8"), "9223372"),
    ("i8", [float("nan")], "nan"), ("i8", [2.0**63], "9.22"), ("f4", [0.1], "0.1")])
def test_numbers_that_do_not_convert(keys, probes, wrong):
    with pytest.raises(TypeError, match=rf"row 0: {wrong}.* is no value of") as caught:
        keyray.Index(np.array([1, 2], keys), device="cpu").lookup(probes)
    assert caught.value.status_name == "KR_ERR_TYPE"


def test_nan_stays_nan_and_is_a_key():
    keys = [1.0, float("nan"), -0.0]
    for make in (np.array, pl.Series, pa.array, pd.Series, list):
        index = keyray.Index(make(keys), device="cpu")
        assert plain(index.lookup(make([float("nan"), 0.0]))) == [1, 2]


def test_bool_is_u8():
    index = keyray.Index(pa.array([True, None, False]), device="cpu")
    assert index.info.types == ("u8",)
    assert plain(index.lookup(np.array([False, True]))) == [2, 0]


@pytest.mark.parametrize("column, text", [
    (np.zeros((2, 2)), "2 dimensions"), (np.zeros(2, complex), "complex128"), (np.zeros(2, "m8[s]"), "view it as int64"),
    (np.array([1, "a"], object), "row 0 is of Python's type int"), (["a", b"b"], "both str and bytes"),
    (pa.array([[1]]), "list"), (pa.array([1]).cast(pa.decimal128(30, 1)), "decimal"), (pa.nulls(3), "no type"),
    (pa.array([dt.timedelta(1)]), "duration"), ([1, "a"], "Python's type int"), ([2**64], "beyond 64 bits"),
    (pd.Series(pd.period_range("2024", periods=2)), "period"), (object(), "not a column"), (["\ud800"], "not UTF-8"),
    (np.ma.masked_array(np.zeros((1, 1))), "2 dimensions"), ([[1], 2], "does not make a column|Python's type")])
def test_columns_that_keyray_has_not(column, text):
    with pytest.raises(TypeError, match=text) as caught:
        as_column(column)
    assert caught.value.status_name == "KR_ERR_TYPE"


def test_a_producer_that_raises():
    class Broken:
        def __arrow_c_stream__(self, requested_schema=None):
            raise RuntimeError("gone")

    with pytest.raises(RuntimeError, match="gone"):
        as_column(Broken())

    def batches():
        yield pa.record_batch({"a": [1]})
        raise ValueError("the second batch is broken")

    with pytest.raises(OSError, match="the second batch is broken"):
        as_column(pa.RecordBatchReader.from_batches(pa.schema({"a": pa.int64()}), batches()))


def test_frames_and_dicts_are_several_columns():
    frame = {"a": [1, 1, 2], "b": ["x", "y", "x"]}
    for made in (frame, pd.DataFrame(frame), pl.DataFrame(frame), pa.table(frame), list(frame.values())):
        assert [column.count for column in as_columns(made)] == [3, 3]
        index = keyray.Index(made, device="cpu")
        assert index.lookup([[1, 2, 2], ["y", "x", "y"]]).tolist() == [1, 2, -1]
        assert index.lookup([[1, 2]]).tolist() == [0, 2]
        assert (1, "y") in index
    with pytest.raises(ValueError, match="differ in length"):
        keyray.Index([[1, 2], [1]])


def test_dlpack_and_torch_on_the_host():
    class Producer:
        def __init__(self, array):
            self.array = array

        def __dlpack__(self, **options):
            return self.array.__dlpack__(**options)

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

    array = np.arange(5)
    array.flags.writeable = False
    assert as_column(Producer(array)).values().tolist() == [0, 1, 2, 3, 4]


def test_duckdb_relations():
    duckdb = pytest.importorskip("duckdb")
    index = keyray.Index(duckdb.sql("select i * 2 as i from range(10) t(i)"), device="cpu")
    assert plain(index.lookup(duckdb.sql("select 6::bigint"))) == [3]


def test_nanoarrow():
    nanoarrow = pytest.importorskip("nanoarrow")
    index = keyray.Index(nanoarrow.Array([3, 1], nanoarrow.int64()), device="cpu")
    made = index.lookup(nanoarrow.Array([1, 5], nanoarrow.int64()))
    assert isinstance(made, nanoarrow.Array)
    assert made.to_pylist() == [1, None]


def test_answers_outlive_index_and_are_released():
    import gc

    from keyray import _arrow
    made = keyray.Index(KEYS, device="cpu").lookup(pa.array(PROBES))
    gc.collect()
    assert made.to_pylist() == [1, None, 2]
    del made
    gc.collect()
    assert not _arrow._kept and not _arrow._structs


@pytest.mark.parametrize("array, found", [
    (pd.array([3, None, 7], dtype="Int64"), [1, -1, -1]), (pd.array([3, 7], dtype="int64"), [1, -1]),
    (pd.array([3.0, None], dtype="Float64"), [1, -1]), (pd.Categorical([3, 7, 5]), [1, -1, 0]),
    (pd.array([3, None], dtype="int64[pyarrow]"), [1, None])])
def test_pandas_arrays_without_a_series(array, found):
    index = keyray.Index(np.array([5, 3]), device="cpu")
    rows = index.lookup(array)
    assert [None if pd.isna(row) else row for row in rows] == found
    assert index.get_indexer(array).tolist() == [-1 if row is None else row for row in found]


def test_texts_and_times_of_pandas_arrays():
    texts = pd.array(["b", None, "a"], dtype="string")
    assert keyray.Index(texts, device="cpu").lookup(pd.array(["a", "b", None], dtype="string")).tolist() == [2, 0, -1]
    assert keyray.Index(pd.array(["b"], dtype=object), device="cpu").lookup("b") == 0
    zoned = pd.array(pd.to_datetime(["2020-01-01", "2021-01-01"]).tz_localize("Europe/Berlin"))
    assert keyray.Index(zoned, device="cpu").lookup(zoned[::-1]).tolist() == [1, 0]
    with pytest.raises(TypeError, match="Sparse"):
        keyray.Index(pd.arrays.SparseArray([1, 0]))
    table = keyray.Table({"a": pd.array([1, None, 3], dtype="Int64"), "c": pd.Categorical(["x", "y", "x"])}, device="cpu")
    assert table.where("a > 1 or c = 'y'").frame()["c"].tolist() == ["y", "x"]


@pytest.mark.parametrize("array", [np.array(5), np.array("x"), np.ma.masked])
def test_arrays_without_dimensions(array):
    with pytest.raises(TypeError, match=r"atleast_1d"):
        keyray.Index([5], device="cpu").lookup(array)


def test_floats_against_integers():
    index = keyray.Index(np.array([5, 3, 9]), device="cpu")
    assert index.lookup(np.array([3.0, -0.0, 9.0])).tolist() == [1, -1, 2]
    with pytest.raises(TypeError, match="row 1: 4.5 .* round it"):
        index.lookup([3.0, 4.5])
    with pytest.raises(TypeError, match="row 0: nan .* no NULL"):
        index.lookup(np.array([np.nan, 3]))


def test_objects_that_are_dates_are_told_so():
    with pytest.raises(TypeError, match="datetime64"):
        keyray.Index(np.array([dt.date(2024, 1, 1)], object))


def test_arrays_are_released_with_the_gil():
    from keyray import _arrow
    assert _arrow._CALL_RELEASE._flags_ & 4  # FUNCFLAG_PYTHONAPI: ctypes keeps the GIL
    ends = []
    struct = _arrow.ArrowArray()
    release = _arrow._RELEASE(ends.append)
    struct.release = ctypes.cast(release, ctypes.c_void_p)
    owned = _arrow.Owned(struct)
    del owned
    assert ends == [ctypes.addressof(struct)]


def test_lists_of_times():
    day, moment = dt.date(2024, 1, 2), dt.datetime(2024, 1, 2, 3)
    assert keyray.Index([None, day, moment, pd.Timestamp(moment)], device="cpu").lookup(moment) == 2
    with pytest.raises(TypeError, match="row 0, 0001-01-01.* beyond the times"):
        keyray.Index([dt.datetime(1, 1, 1), np.datetime64(5, "ns")])
    with pytest.raises(TypeError, match="row 1 is 5"):
        keyray.Index([day, 5])
    assert len(keyray.Index([pd.NaT], device="cpu").lookup([moment, pd.NaT])) == 2
    table = keyray.Table({"d": [day, None], "t": [moment, moment]}, device="cpu")
    assert table.where(keyray.col("d") == day).rows().tolist() == [0] and table.where("t > '2024-01-02 02:00:00'").count() == 2
    assert table.where("d is null").frame()["d"].dtype == np.dtype("M8[D]")


def test_rows_of_structs_that_are_null_and_not_counted():
    class Uncounted:
        """A producer that leaves the number of NULLs to its consumer."""

        def __init__(self, array):
            self.array = array

        def __arrow_c_array__(self, requested_schema=None):
            from keyray._arrow import ArrowArray, _pointer_of
            schema, array = self.array.__arrow_c_array__()
            ArrowArray.from_address(_pointer_of(array, b"arrow_array")).null_count = -1
            return schema, array

    fields = pa.StructArray.from_arrays([pa.array([1, 2, 0])], ["x"], mask=pa.array([False, False, True]))
    index = keyray.Index(np.arange(5), device="cpu")
    assert index.lookup(Uncounted(fields[:2])).to_pylist() == [1, 2]
    with pytest.raises(TypeError, match="NULL as a whole"):
        index.lookup(Uncounted(fields))
    assert index.lookup(Uncounted(pa.array([3, None]))).to_pylist() == [3, None]
