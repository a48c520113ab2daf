#!/usr/bin/env python3
"""The runner of the conformance suite itself: what is counted does not depend on how the list is cut, a run with a limit
ends in time and names what it left out, and specs that cannot hold a test's keys are skipped.
Usage: runner.py KEYRAY-CONFORMANCE"""
import re
import subprocess
import sys
import time

runner = sys.argv[1]


def run(*arguments, expect=0):
    done = subprocess.run([runner, "test", "--device", "cpu", *arguments], capture_output=True, text=True)
    assert done.returncode == expect, (arguments, done.returncode, done.stdout[-2000:], done.stderr)
    return done.stdout


def counts(text):
    """Passed, failed and skipped of the closing line."""
    return [int(n) for n in re.findall(r"^(\d+) passed, (\d+) failed, (\d+) skipped$", text, re.M)[-1]]


def per_spec(text):
    """How many tests each spec passed."""
    return dict(re.findall(r"^(\S+) +cpu: (\d+) passed,", text, re.M))


def test_cuts():
    """Shards and threads give every spec the tests that the whole list gives it. Tests of the strings, of cancelling,
    and of updates depend on the place of a spec in the list."""
    for arguments in (["--vary", "btree", "--filter", "u32/keys-3"], ["--vary", "array", "--filter", "spec/"],
                      ["--vary", "hash", "--reduced", "--filter", "memory-cap-text"], ["--reduced", "--filter", "updates/cpu/chain"]):
        whole = run(*arguments)
        parts = [run(*arguments, "--shard", f"{i}/3") for i in range(3)]
        threads = run(*arguments, "--jobs", "3")
        summed = [sum(column) for column in zip(*map(counts, parts))]
        assert summed == counts(whole) == counts(threads), (arguments, summed, counts(whole), counts(threads))
        together = {}
        for part in parts:
            together.update(per_spec(part))
        assert together == per_spec(whole) == per_spec(threads), arguments


def test_order():
    """Another order, the same specs."""
    arguments = ["--vary", "pivot", "--filter", "u32/keys-3"]
    plain, shuffled = run(*arguments), run(*arguments, "--order-seed", "7")
    assert per_spec(plain) == per_spec(shuffled)
    assert list(per_spec(plain)) != list(per_spec(shuffled))


def test_seconds():
    """A run ends in time, shows what it did, and names the specs that it left out."""
    start = time.monotonic()
    text = run("--vary", "cgrx", "--seconds", "2")
    assert time.monotonic() - start < 60, "the run did not end in time"
    left, of = map(int, re.search(r"time was over: (\d+) of (\d+) did not run", text).groups())
    named = re.findall(r"^  cpu (\S+)", text, re.M)
    ended = [spec for spec in per_spec(text) if spec not in named]
    assert left == text.count("\n  "), "every spec that is left is named"
    assert len(ended) <= of - left and len(named) <= left < of + 1


def test_nothing_matches():
    """A run whose filter matches no test does not pass."""
    run("--kind", "array", "--filter", "i64/no-such-case", expect=2)


def test_small_keys():
    """Keys of 32 bits do not fit eight bits: those tests are skipped with the reason, and the others pass."""
    passed, failed, _ = counts(run("--kind", "rx:bits=3:2:3", "--filter", "/rx:bits=3:2:3"))
    assert passed > 0 and failed == 0


def test_dense_keys():
    """The suite folds keys to where kind dense holds them: it is asked what every other kind is, of each type but floats."""
    for name in ("u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64", "date32", "timestamp64"):
        wanted = counts(run("--kind", "array", "--filter", f"{name}/"))
        given = counts(run("--kind", "dense", "--filter", f"{name}/"))
        print(f"dense, {name}: {given[0]} passed, {given[2]} skipped; array {wanted[0]}")
        assert given == wanted and given[0] > 0 and given[2] == 0, (name, given, wanted)
    for name in ("f32", "f64"):
        assert counts(run("--kind", "dense", "--filter", f"{name}/"))[0] == 0, "floats are refused"


def test_alike():
    """Specs that differ in options for GPUs are one program on a CPU; one that is named alone runs."""
    text = run("--vary", "pivot", "--filter", "u32/keys-3")
    assert "pivot:schedule=static " not in text and "pivot:layout=aos " in text
    assert "pivot:schedule=static " in run("--kind", "pivot:schedule=static", "--filter", "u32/keys-3")


for name, test in list(globals().items()):
    if name.startswith("test_"):
        test()
        print(f"{name}: good")
