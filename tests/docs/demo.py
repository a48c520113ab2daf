#!/usr/bin/env python3
"""The demo, small and without the network: it agrees with SQLite, and says so when an answer is wrong.

Usage: demo.py KEYRAY
"""
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
    done = subprocess.run([sys.executable, "-B", DEMO / script, *arguments], stdout=subprocess.PIPE, text=True)
    print(done.stdout)
    return done


def main():
    keyray = sys.argv[1]
    with tempfile.TemporaryDirectory(prefix="keyray-demo-test-") as scratch:
        data, liar = pathlib.Path(scratch, "data"), pathlib.Path(scratch, "liar")
        data.mkdir()
        liar.write_text(LIAR.format(python=sys.executable, keyray=keyray))
        liar.chmod(0o755)
        assert run("generated.py", keyray, "0.002", data).returncode == 0
        honest, false = run("jobs.py", keyray, data, "test"), run("jobs.py", liar, data, "test")
    assert honest.returncode == 0 and f"all {JOBS} jobs agree" in honest.stdout, "the demo does not agree"
    assert false.returncode == 1 and f"{JOBS} of {JOBS} jobs DIFFER" in false.stdout, "wrong answers were not seen"


main()
