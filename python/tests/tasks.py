"""Runs the tasks of docs/python.md, compares their answers and prints both times.

Usage: python python/tests/tasks.py [ROWS] [REPEATS]
"""
import pathlib
import re
import sys
import time

import numpy as np

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "python.md"
_BLOCK = re.compile(r"^### (?P<title>[^\n]*)$|^```python ?(?P<what>\w*)\n(?P<code>.*?)^```$", re.M | re.S)


def blocks():
    """Title, kind and code of each block; the first has no title and no kind."""
    title = ""
    for match in _BLOCK.finditer(PAGE.read_text()):
        if match["title"]:
            title = match["title"]
        else:
            yield title, match["what"], match["code"]


def same(one, other):
    """Whether two answers are equal, whatever library they are of."""
    if hasattr(one, "equals"):
        return bool(one.equals(other)) if type(one) is type(other) else list(one) == list(other)
    return np.array_equal(np.asarray(one), np.asarray(other))


class Clock:
    """Seconds of a block, behind its call of start()."""

    def __init__(self):
        self.begun = 0.0

    def start(self):
        self.begun = time.perf_counter()

    def run(self, code, names):
        names["start"] = self.start
        self.start()
        exec(compile(code, str(PAGE), "exec"), names)
        return time.perf_counter() - self.begun


def run(rows, repeats=1):
    """Yields title, seconds the usual way, seconds once, seconds with keyray, and whether the answers are equal."""
    names, clock, once = {"n": rows}, Clock(), 0.0
    usual = 0.0
    for title, what, code in blocks():
        if what in ("", "once"):
            seconds = clock.run(code, names)
            once = seconds if what else 0.0
        elif what == "usual":
            usual, once = min(clock.run(code, names) for _ in range(repeats)), 0.0
        else:
            seconds = min(clock.run(code, names) for _ in range(repeats))
            yield title, usual, once, seconds, same(names["usual"], names["ours"])


def main():
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000_000
    print("| task | usual way, ms | once, ms | keyray, ms | times as fast |\n| --- | --- | --- | --- | --- |")
    wrong = []
    for title, usual, once, seconds, equal in run(rows, int(sys.argv[2]) if len(sys.argv) > 2 else 5):
        print(f"| {title} | {1e3 * usual:.4g} | {f'{1e3 * once:.4g}' if once else ''} | {1e3 * seconds:.4g} | "
              f"{usual / seconds:.2g} |", flush=True)
        wrong += [] if equal else [title]
    for title in wrong:
        print(f"{title}: the answers differ", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
