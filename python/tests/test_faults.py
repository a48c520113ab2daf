"""Bad input, threads, signals, forks, and what was closed."""
import os
import pathlib
import pickle
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pyarrow as pa
import pytest

import keyray
from keyray import _devices, _progress
from keyray._errors import STATUS_NAMES

ENV = {**os.environ, "PYTHONPATH": os.pathsep.join([str(pathlib.Path(keyray.__file__).parents[1]),
                                                    os.environ.get("PYTHONPATH", "")])}


@pytest.mark.parametrize("make, kind, status", [
    (lambda: keyray.Index([1], "foo"), ValueError, "KR_ERR_SPEC"),
    (lambda: keyray.Index([1], "array:nothing=1"), ValueError, "KR_ERR_SPEC"),
    (lambda: keyray.Index([1], device="cuda:99"), OSError, "KR_ERR_NO_DEVICE"),
    (lambda: keyray.Index([1], device=5), ValueError, "KR_ERR_ARGUMENT"),
    (lambda: keyray.Index([[1]] * 9), ValueError, "KR_ERR_LIMIT"),
    (lambda: keyray.Index(np.arange(10**6), device=keyray.Device("cpu", memory_cap=1000)), MemoryError,
     "KR_ERR_DEVICE_MEMORY"),
    (lambda: keyray.Index([1], "hash").range([1], [2]).count(), NotImplementedError, "KR_ERR_UNSUPPORTED"),
    (lambda: keyray.Index([1], "rx").update(insert=[1]), NotImplementedError, "KR_ERR_UNSUPPORTED"),
    (lambda: keyray.Index([1]).join([1], "full"), NotImplementedError, "KR_ERR_UNSUPPORTED"),
    (lambda: keyray.Index([1]).join([1], "sideways"), ValueError, "KR_ERR_ARGUMENT"),
    (lambda: keyray.Index([1]).lookup([1], "sum"), ValueError, "KR_ERR_ARGUMENT"),
    (lambda: keyray.Index([1]).lookup([1], ("count", "x")), ValueError, "KR_ERR_ARGUMENT"),
    (lambda: keyray.Index([1]).lookup([1], "rows"), ValueError, "KR_ERR_ARGUMENT"),
    (lambda: keyray.Index([1, 2], values=[1]).lookup([2], "sum"), ValueError, "KR_ERR_ARGUMENT"),
    (lambda: keyray.Index([1]).range([1, 2], [3]), ValueError, "KR_ERR_ARGUMENT"),
    (lambda: keyray.Index([1]).lookup_all([1], limit=-1), ValueError, "KR_ERR_ARGUMENT"),
    (lambda: keyray.Index([1]).lookup_all([1], order="x"), ValueError, "KR_ERR_ARGUMENT"),
    (lambda: keyray.Index([1]).nearest([1], "left"), ValueError, "KR_ERR_ARGUMENT"),
    (lambda: list(keyray.Index([1, 1]).range([1], [1]).chunks(4)), ValueError, "KR_ERR_LIMIT"),
    (lambda: list(keyray.Index([1]).range([1], [1]).chunks("much")), ValueError, "KR_ERR_ARGUMENT"),
    (lambda: keyray.Index([1]).lookup(["a"]), TypeError, "KR_ERR_TYPE"),
    (lambda: keyray.load("/nowhere/x.keyray"), OSError, "KR_ERR_IO"),
    (lambda: keyray.load(__file__), ValueError, "KR_ERR_FORMAT")])
def test_errors_are_pythons_too(make, kind, status):
    with pytest.raises(kind) as caught:
        make()
    assert isinstance(caught.value, keyray.KeyrayError)
    assert caught.value.status_name == status and STATUS_NAMES[caught.value.status] == status
    assert len(str(caught.value)) > 15


def test_too_many_rows_are_refused_before_they_are_read():
    from keyray._types import Column
    with pytest.raises(TypeError, match="4294967295 rows"):
        Column("numpy", 1, 0xFFFFFFFF, None, None)


def test_closed():
    with keyray.Index([1, 2]) as index:
        assert index.lookup([2]).tolist() == [1]
    for use in (lambda: index.lookup([1]), lambda: index.lookup(np.array([1])), lambda: index.info, lambda: len(index),
                lambda: index.update(insert=[1]), lambda: index.validate(), lambda: pickle.dumps(index),
                lambda: index.components):
        with pytest.raises(ValueError, match="closed"):
            use()
    index.close()
    assert "closed" in repr(index)


def test_changes_wait_for_lookups_and_lookups_for_changes():
    index = keyray.Index(np.arange(1 << 16), "best:updates=on", device="cpu")
    probes, stop, failed = np.arange(1 << 15), threading.Event(), []

    def look():
        try:
            while not stop.is_set():
                found = index.lookup(probes)
                assert (found[1000:] == probes[1000:]).all()
                index.lookup(probes[:3])
        except BaseException as cause:
            failed.append(cause)

    threads = [threading.Thread(target=look) for _ in range(3)]
    for thread in threads:
        thread.start()
    for i in range(30):
        index.update(delete=[i], insert=[1 << 20 | i])
    stop.set()
    for thread in threads:
        thread.join()
    assert not failed and index.lookup(np.array([0, 29, 30])).tolist() == [-1, -1, 30]


def test_close_waits_for_lookups():
    index = keyray.Index(np.arange(1 << 18), device="cpu")
    probes, ends = np.arange(1 << 18), []

    def look():
        try:
            while True:
                index.lookup(probes)
        except ValueError as cause:
            ends.append(str(cause))

    threads = [threading.Thread(target=look) for _ in range(2)]
    for thread in threads:
        thread.start()
    time.sleep(0.1)
    index.close()
    for thread in threads:
        thread.join()
    assert ends == ["the index is closed"] * 2


def test_chunks_notice_changes():
    index = keyray.Index([1, 2, 3], "best:updates=on", device="cpu")
    pieces = index.range([1, 2, 3], [1, 2, 3]).chunks(4)
    next(pieces)
    index.update(insert=[9])
    with pytest.raises(ValueError, match="changed while"):
        next(pieces)


BIG = 12_000_000


def test_progress_cancels_and_reports():
    phases = []
    keys = np.random.default_rng(1).permutation(BIG)
    with keyray.progress(lambda phase, fraction: phases.append((phase, fraction))):
        keyray.Index(keys, device="cpu")
    assert phases and all(0 <= fraction <= 1 for _, fraction in phases)
    with pytest.raises(keyray.CancelledError) as caught, keyray.progress(lambda phase, fraction: True):
        keyray.Index(keys, device="cpu")
    assert caught.value.status_name == "KR_ERR_CANCELLED"

    def fail(phase, fraction):
        raise KeyError(phase)

    with pytest.raises(KeyError), keyray.progress(fail):
        keyray.Index(keys, device="cpu")


def test_another_thread_cancels():
    keys, stop, result = np.random.default_rng(1).permutation(BIG), threading.Event(), []

    def build():
        with keyray.progress(lambda phase, fraction: stop.is_set()):
            try:
                while True:
                    keyray.Index(keys, device="cpu")
            except keyray.CancelledError as cause:
                result.append(cause)

    thread = threading.Thread(target=build)
    thread.start()
    stop.set()
    thread.join(60)
    assert result


def test_a_bar_is_drawn(capsys):
    bar = _progress.Bar("build", sys.stderr)
    bar("sort", 0.25)
    bar("sort", 1.0)
    bar.close()
    assert "build: sort:  25%|██████" in capsys.readouterr().err


CTRL_C = """
import numpy as np, os, signal, threading, time, keyray
keys = np.random.default_rng(1).permutation(12_000_000)
before = signal.getsignal(signal.SIGINT)
threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
start = time.monotonic()
try:
    while time.monotonic() - start < 60:
        keyray.Index(keys, device="cpu")
    print("not interrupted")
except KeyboardInterrupt:
    assert signal.getsignal(signal.SIGINT) is before
    print("interrupted", keyray.Index([1, 2]).lookup([2]).tolist())
"""


def test_ctrl_c():
    done = subprocess.run([sys.executable, "-c", CTRL_C], env=ENV, capture_output=True, text=True, timeout=120)
    assert done.stdout == "interrupted [1]\n" and done.stderr == "", done.stderr


def test_other_handlers_are_called_and_kept():
    seen = []
    old = signal.signal(signal.SIGINT, lambda number, frame: seen.append(number))
    try:
        def send(phase, fraction):
            if not seen and not _progress._watched.interrupted:
                os.kill(os.getpid(), signal.SIGINT)

        with keyray.progress(send), pytest.raises(keyray.CancelledError):
            keyray.Index(np.random.default_rng(1).permutation(BIG), device="cpu")
        assert seen == [signal.SIGINT]
    finally:
        signal.signal(signal.SIGINT, old)


def test_what_was_made_when_ctrl_c_came_is_destroyed(monkeypatch):
    device = keyray.Device("cpu")
    before = device.info["in_use_nbytes"]

    def interrupt(number, frame):
        raise KeyboardInterrupt

    old = signal.signal(signal.SIGINT, interrupt)
    take = _progress._replaced_signal

    def taken():
        handler = take()
        _progress._watched.interrupted = True  # the signal comes at the very end
        return handler

    monkeypatch.setattr(_progress, "_replaced_signal", taken)
    try:
        with pytest.raises(KeyboardInterrupt):
            keyray.Index(np.arange(1000), device=device)
    finally:
        signal.signal(signal.SIGINT, old)
    assert device.info["in_use_nbytes"] == before


def test_a_change_that_is_interrupted_lets_lookups_go_on():
    gate = _devices.Gate()
    gate._inside[-1] = 1  # another thread looks up
    gate._condition.wait = lambda: (_ for _ in ()).throw(KeyboardInterrupt)
    with pytest.raises(KeyboardInterrupt):
        gate.enter_alone()
    gate.enter()
    gate.leave()
    del gate._inside[-1]
    gate.enter_alone()
    gate.leave_alone()


FORK = """
import os, numpy as np, keyray, threading
index = keyray.Index(np.arange(1 << 20), "best:updates=on", device="cpu")
probes = np.arange(1 << 20)
stop = threading.Event()
def look():
    while not stop.is_set():
        index.lookup(probes)
thread = threading.Thread(target=look); thread.start()
children = []
for i in range(5):
    child = os.fork()
    if child == 0:
        ok = (index.lookup(probes) == probes).all()
        index.update(insert=[1 << 21])
        os._exit(0 if ok and index.lookup([1 << 21])[0] == 1 << 20 else 1)
    children.append(child)
stop.set(); thread.join()
print([os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children])
"""


def test_forked_children_go_on_with_an_index_on_a_cpu():
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", FORK], env=ENV, capture_output=True, text=True, timeout=120)
    assert done.stdout == "[0, 0, 0, 0, 0]\n", done.stderr


def test_a_gpus_objects_say_that_they_do_not_live_on():
    index = keyray.Index([1], device=keyray.Device("cpu"))
    index._device.kind = "cuda"  # as it would be
    index.after_fork()
    index._device.after_fork()
    with pytest.raises(ValueError, match="before the process forked"):
        index.lookup([1])
    with pytest.raises(ValueError, match="before the process forked"):
        keyray.Index([1], device=index._device)


def test_a_library_that_is_not_there():
    for path, text in (("/nowhere/libkeyray.so", "which is not there"), (__file__, "cannot be loaded")):
        done = subprocess.run([sys.executable, "-c", "import keyray"], env={**ENV, "KEYRAY_LIBRARY": path},
                              capture_output=True, text=True)
        assert done.returncode == 1 and "ImportError: " in done.stderr and text in done.stderr


def test_python_m_keyray():
    done = subprocess.run([sys.executable, "-m", "keyray"], env=ENV, capture_output=True, text=True, check=True)
    assert done.stdout.startswith(f"keyray {keyray.__version__}, commit ") and "\nlibrary   /" in done.stdout
    assert "\ncpu " in done.stdout


def test_a_gate_refuses_a_thread_that_waits_for_itself():
    gate = _devices.Gate()
    gate.enter_alone()
    for enter in (gate.enter, gate.enter_alone):
        with pytest.raises(ValueError, match="this thread is changing"):
            enter()
    gate.leave_alone()
    gate.enter()
    gate.leave()


def test_ctypes_callbacks_may_call_again():
    index, found = keyray.Index(np.arange(100), device="cpu"), []
    with keyray.progress(lambda phase, fraction: found.append(index.lookup(np.array([7]))[0])):
        keyray.Index(np.random.default_rng(1).permutation(BIG), device="cpu")
    assert set(found) == {7}


def test_ctrl_c_is_not_lost_at_the_end_of_a_call_and_the_handler_comes_back():
    raised = []

    def handler(number, frame):
        raised.append(number)
        raise KeyboardInterrupt

    old = signal.signal(signal.SIGINT, handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            _progress.run_long(lambda err: os.kill(os.getpid(), signal.SIGINT) or 0)
        assert signal.getsignal(signal.SIGINT) is handler and raised == [signal.SIGINT]
        _progress.run_long(lambda err: 0)
        assert not _progress._watched.interrupted
    finally:
        signal.signal(signal.SIGINT, old)


@pytest.mark.parametrize("late", [False, True])
def test_an_exception_of_a_signal_in_the_midst_of_an_append(monkeypatch, late):
    """Frame, masks and counts are those of the rows that the library has, wherever the exception came."""
    table = keyray.Table({"a": np.arange(3)}, device="cpu")

    def alarm(function, then, *arguments):
        if late:
            function(*arguments, keyray._library.thread_error())
        raise TimeoutError

    monkeypatch.setattr("keyray._table.run_change", alarm)
    with pytest.raises(TimeoutError):
        table.append({"a": np.arange(100)})
    monkeypatch.undo()
    count = 103 if late else 3
    assert len(table.where(True).mask()) == len(table.where(True).frame()["a"]) == len(table) == count
    table.append({"a": np.arange(5)})
    assert len(table.where(True).frame()["a"]) == count + 5


def test_answers_of_arrow_call_no_python_at_their_end():
    from keyray import _arrow
    before = len(_arrow._kept)
    index = keyray.Index(pa.array([3, None, 5]), values=pa.array([1, 2, 3], pa.timestamp("us", "UTC")), device="cpu")
    probes = pa.array([5, 4])
    made = [index.lookup(probes), index.lookup(probes, "max"), index.lookup_all(probes), index.contains(probes),
            index.lookup(probes, ("sum_wide", pa.array([1, 2, 3])))]
    assert [one.to_pylist()[1] for one in made] == [None, None, [], False, 0] and len(_arrow._kept) == before
    assert made[1].type == pa.timestamp("us", "UTC") and made[2].type == pa.large_list(pa.uint32())
    for one in made:
        one.validate(full=True)
