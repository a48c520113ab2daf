"""advise: the kinds measured on a column."""
import keyray
import numpy as np
import pytest

KEYS = np.arange(2000, dtype=np.uint32) * 7


def test_advice_is_used():
    advice = keyray.advise(KEYS, probes=KEYS[:50], device="cpu")
    assert advice.rows == advice.measured_rows == 2000 and advice.hit_rate == 100 and advice.sample == ""
    assert advice.kinds[0].spec == advice.spec and advice.kinds[0].state == "measured"
    rates = [kind.lookups_per_second for kind in advice.kinds if kind.state == "measured"]
    assert len(rates) > 2 and rates == sorted(rates, reverse=True) and rates[-1] > 0
    assert keyray.Index(KEYS, advice.spec, device="cpu").lookup(np.array([14], np.uint32)).tolist() == [2]


def test_what_is_asked():
    advice = keyray.advise(KEYS, lower=[7, 14], upper=[20, 28], updates=50, device="cpu")  # of another type
    assert advice.range_hits == 2.5 and all(kind.points_per_second == 0 for kind in advice.kinds)
    assert advice.kinds[0].update_seconds > 0 and advice.kinds[0].ranges_per_second > 0
    advice = keyray.advise(["b", "a", "b"], probes=["a", "c"], device="cpu")
    assert advice.hit_rate == 50
    for lower, upper, rows in ((["a", "e"], ["c", "z"], 1), (["d", "a"], ["e", "d"], 2.5), (["g", "A"], ["z", "a"], 0)):  # mostly no keys
        assert keyray.advise(["b", "d", "d", "f"], lower=lower, upper=upper, device="cpu").range_hits == rows
    advice = keyray.advise(KEYS, hit_rate=30, seconds=0.1, device="cpu")
    assert 25 < advice.hit_rate < 35


@pytest.mark.parametrize("options, says", [
    ({"hit_rate": 101}, "hit_rate is 101"), ({"lower": [1]}, "^upper is missing"), ({"probes": []}, "^probes has no rows: leave it out"), ({"probes": KEYS[:2], "hit_rate": 50}, "leave one out"),
    ({"updates": 100}, "^updates is 100"), ({"seconds": "x"}, "^seconds is 'x': give a number"), ({"memory_cap": -1}, "memory_cap is -1: give a whole number"),
    ({"range_hits": -1}, "range_hits is -1"), ({"batch": 1.5}, "batch is 1.5"), ({"hit_rate": "x"}, "hit_rate is 'x'"),
])
def test_refused(options, says):
    with pytest.raises(keyray.ArgumentError, match=says):
        keyray.advise(KEYS, device="cpu", **options)


def test_no_kind_fits():
    with pytest.raises(keyray.OutOfMemoryError, match="no kind keeps at most 8 bytes.*; raise memory_cap$"):
        keyray.advise(KEYS, probes=KEYS[:9], memory_cap=8, device="cpu")
    with pytest.raises(keyray.ArgumentError, match="no key"):
        keyray.advise(np.array([], np.uint32), device="cpu")


def test_progress_cancels():
    with pytest.raises(keyray.CancelledError), keyray.progress(lambda phase, fraction: True):
        keyray.advise(KEYS, probes=KEYS[:9], device="cpu")
