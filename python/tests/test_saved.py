"""Files and pickles."""
import datetime as dt
import json
import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest

import keyray
from keyray import _saved
from test_faults import ENV


def some_index():
    return keyray.Index(pd.Series(pd.to_datetime(["2024-01-02", None, "2024-01-01"])).dt.tz_localize("UTC").dt.as_unit("us"),
                        values=pl.DataFrame({"x": [1.5, None, 3.0], "n": [1, 2, 3]}), device="cpu")


def check(index):
    assert index.info.types == ("timestamp64[us, UTC]",) and index.values == ["x", "n"]
    probes = pd.Series(pd.to_datetime(["2024-01-01", "2024-01-02"])).dt.tz_localize("UTC")
    assert index.lookup(probes).tolist() == [2, 0]
    assert index.lookup(probes, ("sum", "x")).tolist() == [3.0, 1.5]
    assert index.lookup(probes, ("max", "n")).tolist() == [3, 1]
    assert index.get_indexer(pd.DatetimeIndex([None], tz="UTC")).tolist() == [1]
    index.validate()


@pytest.mark.parametrize("verify", [True, False])
def test_files(tmp_path, verify):
    path = tmp_path / "an index.keyray"
    some_index().save(path)
    check(keyray.load(path, device="cpu", verify=verify))


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_pickles(protocol):
    check(pickle.loads(pickle.dumps(some_index(), protocol)))


def test_pickles_whose_bytes_travel_apart():
    buffers = []
    data = pickle.dumps(some_index(), 5, buffer_callback=buffers.append)
    assert len(data) < 300 and len(buffers) == 1
    check(pickle.loads(data, buffers=[bytes(buffer) for buffer in buffers]))


def test_another_process(tmp_path):
    path = tmp_path / "i.keyray"
    keyray.Index(np.arange(1000) * 2).save(path)
    code = f"import keyray; print(keyray.load({str(path)!r}).lookup([10, 11]).tolist())"
    done = subprocess.run([sys.executable, "-c", code], env=ENV, capture_output=True, text=True, check=True)
    assert done.stdout == "[5, -1]\n"


def test_texts_and_several_columns(tmp_path):
    texts = keyray.Index(["b", "a", None])
    both = keyray.Index({"s": ["x", "y"], "d": [dt.date(2024, 1, 1)] * 2})
    for index, probes, rows in ((texts, ["a", "q"], [1, -1]), (both, [["y"], [dt.date(2024, 1, 1)]], [1])):
        index.save(tmp_path / "t.keyray")
        for made in (keyray.load(tmp_path / "t.keyray"), pickle.loads(pickle.dumps(index))):
            assert made.info.types == index.info.types and made.lookup(probes).tolist() == rows


def test_a_changed_file_is_an_error(tmp_path):
    path = tmp_path / "i.keyray"
    keyray.Index(np.arange(1000)).save(path)
    data = bytearray(path.read_bytes())
    data[-100] ^= 1
    path.write_bytes(data)
    with pytest.raises(ValueError) as caught:
        keyray.load(path)
    assert caught.value.status_name == "KR_ERR_FORMAT"
    with pytest.raises(ValueError):
        _saved.index_from_pickle(bytes(data[:500]), "cpu")


@pytest.mark.parametrize("head, text", [({"format": 99, "package": "9.9"}, "newer package, keyray 9.9"),
                                        ({"nothing": 1}, "broken")])
def test_what_another_version_wrote(monkeypatch, head, text):
    monkeypatch.setattr(_saved.json, "dumps", lambda _head, real=json.dumps: real(head))
    data = pickle.dumps(keyray.Index([1]))
    monkeypatch.undo()
    with pytest.raises(ValueError, match=text):
        pickle.loads(data)


def test_an_index_that_another_program_saved(tmp_path, monkeypatch):
    monkeypatch.setattr(_saved.Saved, "head", lambda self: {})
    for keys, probe in (([5, 7], [7]), (["a", "b"], ["b"])):
        keyray.Index(keys).save(tmp_path / "i.keyray")
        assert keyray.load(tmp_path / "i.keyray").lookup(probe).tolist() == [1]


def test_a_mapped_index_changes_after_its_file_is_replaced(tmp_path):
    path = tmp_path / "i.keyray"
    keyray.Index(np.arange(100), "best:updates=on").save(path)
    index = keyray.load(path, device="cpu")
    index.update(insert=[500])
    index.save(path)
    assert keyray.load(path).lookup([500, 3]).tolist() == [100, 3]
