#!/usr/bin/env python3
"""The demo, small and without the network: it agrees with SQLite, and reports a wrong answer or setting.

Usage: demo.py KEYRAY
"""
import os
import pathlib
import subprocess
import sys
import tempfile

DEMO = pathlib.Path(__file__).resolve().parents[2] / "examples/demo"
JOBS = 5

# A command that answers like KEYRAY, but alters the last byte of what joins and lookups write.
LIAR = """#!{python}
import pathlib, subprocess, sys
code = subprocess.run(["{keyray}", *sys.argv[1:]]).returncode
if sys.argv[1] in ("join", "lookup", "range"):
    path = pathlib.Path(sys.argv[sys.argv.index("-o") + 1])
    path = path.with_suffix(".rows.npy") if "rows" in sys.argv else path
    data = path.read_bytes()
    path.write_bytes(data[:-1] + bytes([data[-1] ^ 0xFF]))
sys.exit(code)
"""


def run(script, *arguments):
    done = subprocess.run([sys.executable, "-B", DEMO / script, *arguments], capture_output=True, text=True)
    print(done.stdout, done.stderr)
    return done


def refuse(keyray, name, value):
    """A setting that makes no sense ends the demo at once, with one line that names it."""
    done = subprocess.run(["sh", DEMO / "demo.sh", keyray], env={**os.environ, name: value}, capture_output=True,
                          text=True, timeout=60)
    one_line = done.stderr.startswith(f"demo.sh: {name} is ") and done.stderr.count("\n") == 1
    assert done.returncode == 2 and one_line and not done.stdout, (name, value, done)


def main():
    keyray = sys.argv[1]
    with tempfile.TemporaryDirectory(prefix="keyray-demo-test-") as scratch:
        data, liar = pathlib.Path(scratch, "data"), pathlib.Path(scratch, "liar")
        data.mkdir()
        liar.write_text(LIAR.format(python=sys.executable, keyray=keyray))
        liar.chmod(0o755)
        assert run("generated.py", keyray, "0.002", data).returncode == 0
        failing = run("jobs.py", "false", data, "test")
        honest, false = run("jobs.py", keyray, data, "test"), run("jobs.py", liar, data, "test")
    for value in ("0", "101", "-1", "1e3", "many", ".", "1.2.3", "1;"):
        refuse(keyray, "KEYRAY_DEMO_SCALE", value)
    refuse(keyray, "KEYRAY_DEMO_DATA", "tpcds")
    assert failing.returncode == 1 and failing.stderr.count("\n") == 1, "a failing command was not reported in one line"
    assert honest.returncode == 0 and f"all {JOBS} jobs agree" in honest.stdout, "the demo does not agree"
    assert false.returncode == 1 and f"{JOBS} of {JOBS} jobs DIFFER" in false.stdout, "wrong answers were not seen"


main()
