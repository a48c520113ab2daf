#!/usr/bin/env python3
"""Times Index beside the C call and beside pandas: the least of several runs, taken in turn in one process.

Usage: python python/bench/calls.py [ROWS]      ROWS: keys and probes of the comparison with pandas, 10000000 if not given
"""
import ctypes
import os
import platform
import sys
import time

import numpy as np
import pandas as pd

import keyray
from keyray import _structs as c
from keyray._library import lib
from turns import least


def c_call(index, probes):
    """The C call with structs and memory that are kept."""
    out = np.zeros(len(probes), "u4")
    column = c.kr_column(c.KR_I64, 0, len(probes), probes.ctypes.data)
    sink = c.kr_sink(ctypes.sizeof(c.kr_sink), c.KR_RESULT_ROW, 0, None, out.ctypes.data)
    kept = out, column, sink, c.kr_error()
    arguments = index._handle, ctypes.byref(column), ctypes.byref(sink), None, ctypes.byref(kept[3])
    return lambda: lib.kr_index_lookup(*arguments) or kept and 0


def outside(index, probes):
    """Microseconds of lookup() outside of the C call, the median of 100, and their share."""
    real, inside, found = lib.kr_index_lookup, [0.0], []

    def timed(*arguments):
        start = time.perf_counter()
        status = real(*arguments)
        inside[0] = time.perf_counter() - start
        return status

    lib.kr_index_lookup = timed
    for _ in range(100):
        start = time.perf_counter()
        index.lookup(probes)
        whole = time.perf_counter() - start
        found.append((whole - inside[0], (whole - inside[0]) / whole))
    lib.kr_index_lookup = real
    return np.median(found, axis=0)


def main():
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000
    rng = np.random.default_rng(1)
    print(f"keyray {keyray.__version__}, commit {lib.kr_build_commit().decode()}, {platform.python_version()}, pandas "
          f"{pd.__version__}, {keyray.devices()[0]['software']}, load {os.getloadavg()[0]:.1f}")
    keys = rng.permutation(1 << 20)
    for spec in ("best", "best:ranges=off"):
        index, one = keyray.Index(keys, spec, device="cpu"), np.array([5])
        found = least({"C": c_call(index, one), "lookup": lambda: index.lookup(one), "int": lambda: index.lookup(5),
                       "prepared": index.prepare(one).run}, 20, 3000)
        print(f"{spec}: one probe, microseconds:", ", ".join(f"{name} {1e6 * t:.2f}" for name, t in found.items()))
        micros, share = outside(index, rng.integers(0, 1 << 20, 1 << 20))
        print(f"{spec}: 2^20 probes: {1e6 * micros:.0f} microseconds outside of the C call, {100 * share:.2f}%")
    keys, probes = rng.permutation(rows), rng.integers(0, rows, rows)
    theirs, index, points = pd.Index(keys), keyray.Index(keys), keyray.Index(keys, "best:ranges=off")
    theirs.get_indexer(probes[:10])
    points.get_indexer(probes[:10])
    index.get_indexer(probes[:10])
    found = least({"pandas get_indexer": lambda: theirs.get_indexer(probes), "best": lambda: index.lookup(probes),
                   "best:ranges=off": lambda: points.lookup(probes), "get_indexer of best": lambda: index.get_indexer(probes),
                   "get_indexer of best:ranges=off": lambda: points.get_indexer(probes)}, 6)
    for name, seconds in found.items():
        print(f"{rows} probes, {name}: {seconds:.3f} s, {found['pandas get_indexer'] / seconds:.1f} times")


main()
