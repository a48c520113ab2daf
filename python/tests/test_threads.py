"""Calls that ask several times see one state of an index or a table: a change of another thread waits for their end."""
import threading
import time

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import keyray
from keyray import _devices
from keyray._index import Index
from keyray._sources import Source


def changing(monkeypatch, change):
    """Starts a change in another thread once a call has asked the library the first time; it must wait."""
    threads, ask = [], Index._ask

    def asked(self, *arguments):
        ask(self, *arguments)
        if not threads:
            threads.append(threading.Thread(target=change))
            threads[0].start()
            threads[0].join(0.1)
            assert threads[0].is_alive()

    monkeypatch.setattr(Index, "_ask", asked)
    return threads


def lookup_many(index):
    made = index.lookup_many([[5], [7]], n="count", total=("sum", "v"))
    return [*made["n"].tolist(), *made["total"].tolist()]


@pytest.mark.parametrize("call, several, expected", [
    (lambda index: index.lookup_all([5, 1])[1].tolist(), False, [0, 1, 2, 3]),
    (lambda index: index.range([0], [9]).rows()[1].tolist(), False, [0, 1, 2, 3]),
    (lambda index: index.lookup(pa.chunked_array([[5], [5]]), "count").to_pylist(), False, [3, 3]),
    (lambda index: index.get_indexer_non_unique([1, 5])[0].tolist(), False, [3, 0, 1, 2]),
    (lookup_many, True, [3, 3])])
def test_a_change_waits_for_the_whole_call(monkeypatch, call, several, expected):
    keys, more = [5, 5, 5, 1], [5] * 100
    index = keyray.Index([keys, [7] * 4] if several else keys, "best:updates=on", values={"v": np.ones(104, np.int64)},
                         device="cpu")
    threads = changing(monkeypatch, lambda: index.update(insert=[more, [7] * 100] if several else more))
    assert call(index) == expected
    threads[0].join()
    assert len(index) == 104


def test_updates_of_two_threads_know_which_rows_are_null():
    index = keyray.Index([4, 3], "best:updates=on", device="cpu")
    index._gate.enter()
    threads = [threading.Thread(target=index.update, args=([None, key],)) for key in (10, 20)]
    for thread in threads:
        thread.start()
    time.sleep(0.1)
    index._gate.leave()
    for thread in threads:
        thread.join()
    assert sorted(index._nulls.tolist()) == [2, 4]
    assert sorted(index.lookup([10, 20]).tolist()) == [3, 5]


def test_a_thread_that_looks_up_may_do_so_again_but_not_change():
    index = keyray.Index([4, 3], "best:updates=on", device="cpu")
    index._gate.enter()
    changer = threading.Thread(target=index.update, args=([5],))
    changer.start()
    while not index._gate._waiting:
        time.sleep(0.001)
    assert index.lookup([3, 5]).tolist() == [1, -1]  # though a change waits for this thread
    with pytest.raises(ValueError, match="callback cannot change it"):
        index.update(insert=[6])
    index._gate.leave()
    changer.join()
    assert index.lookup([3, 5, 6]).tolist() == [1, 2, -1]


def test_leaving_a_gate_twice_does_nothing():
    gate = _devices.Gate()
    gate.leave()
    gate.leave_alone()
    gate.enter()
    gate.leave()
    gate.leave()
    gate.enter_alone()
    gate.leave_alone()


def test_a_fork_in_the_midst_of_a_change_is_an_error_there():
    gate = _devices.Gate()
    gate._changer = -1
    gate.after_fork()
    for enter in (gate.enter, gate.enter_alone):
        with pytest.raises(ValueError, match="half changed"):
            enter()


def test_a_table_of_several_readers_joins_its_frames_once(monkeypatch):
    table = keyray.Table(pd.DataFrame({"a": [1, 2]}), device="cpu")
    table.append(pd.DataFrame({"a": [3]}))
    joined, taken = type(table._source).joined, []

    def slow(self, others):
        made = joined(self, others)
        time.sleep(0.05)
        return made

    monkeypatch.setattr(type(table._source), "joined", slow)
    threads = [threading.Thread(target=lambda: taken.append(table.where("a >= 1").frame()["a"].tolist())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert taken == [[1, 2, 3]] * 4
    assert isinstance(table._source, Source) and len(table._source.frame) == 3


def test_prepared_lookups_close_behind_their_runs():
    index = keyray.Index([4, 3], device="cpu")
    prepared = index.prepare(np.array([3]))
    index._gate.enter()
    with pytest.raises(ValueError, match="in a lookup"):
        prepared.close()
    index._gate.leave()
    prepared.close()
    with pytest.raises(ValueError, match="closed"):
        prepared.run()


def test_frames_and_rows_are_of_one_state():
    table = keyray.Table({"a": np.arange(1000)}, device="cpu")
    stop, failed = threading.Event(), []

    def read():
        try:
            while not stop.is_set():
                made = table.where("a >= 0").frame()["a"]
                assert (made == np.arange(len(made))).all() and len(made) % 1000 == 0
                assert len(table) % 1000 == 0 and len(table.where(True).mask()) % 1000 == 0
        except BaseException as cause:
            failed.append(cause)

    threads = [threading.Thread(target=read) for _ in range(3)]
    for thread in threads:
        thread.start()
    for i in range(1, 15):
        table.append({"a": np.arange(1000 * i, 1000 * i + 1000)})
    stop.set()
    for thread in threads:
        thread.join()
    assert not failed and len(table) == 15000


def test_a_version_waits_for_no_lookup():
    index = keyray.Index(np.array([4, 3]), "best:updates=on", device="cpu")
    made = []
    thread = threading.Thread(target=lambda: made.append(index.next_version(insert=np.array([9]))))
    index._gate.enter()  # as a lookup that goes on
    try:
        thread.start()
        thread.join(10)
        assert not thread.is_alive() and made[0].lookup([9]).tolist() == [2] and index.lookup([9]).tolist() == [-1]
    finally:
        index._gate.leave()
