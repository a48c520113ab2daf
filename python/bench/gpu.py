"""What the package adds to the C calls on a GPU, with columns of torch and cupy that lie there: docs/performance-python.md.

Usage: python python/bench/gpu.py [LOG2_OF_ROWS]

The C call is the same function with the same pointers on the same stream, its structs made before. "into" is lookup(probes, out=answers),
"new" lookup(probes), which asks the caller's library for memory. All wait for the GPU after each call, in turn; the least of several runs
counts.
"""
import ctypes
import sys

import numpy as np

import keyray
from keyray import _structs as c
from keyray._cuda import LEGACY
from keyray._library import lib
from turns import least


class InC:
    """kr_index_lookup of one batch, ROW into an array of the same library."""

    def __init__(self, index, probes, answers, pointer, type):
        self.kept = index, probes, answers
        self.column = c.kr_column(type=type, count=len(probes), data=pointer(probes))
        self.sink = c.kr_sink(struct_size=ctypes.sizeof(c.kr_sink), result=c.KR_RESULT_ROW, out=pointer(answers))
        self.err = c.kr_error()
        stream = index.device.stream_of(LEGACY)
        self.arguments = index._handle, ctypes.byref(self.column), ctypes.byref(self.sink), stream, ctypes.byref(self.err)

    def __call__(self):
        if lib.kr_index_lookup(*self.arguments):
            raise RuntimeError(self.err.text)


def measure(title, keys, probes, empty, pointer, wait, to_host):
    for spec in ("best", "best:ranges=off"):
        index = keyray.Index(keys, spec)
        in_c = InC(index, probes, empty, pointer, c.KR_I64)
        in_c()
        wait()
        want = to_host(empty).copy()
        found = index.lookup(probes)
        wait()
        assert (to_host(found) == want).all(), "both answer the same"
        for n in (len(probes), 1 << 20, 1 << 10, 1):
            part = probes[:n]
            small = InC(index, part, empty[:n], pointer, c.KR_I64)
            out = empty[:n]
            best = least({"C": lambda: (small(), wait()), "into": lambda: (index.lookup(part, out=out), wait()),
                          "new": lambda: (index.lookup(part), wait())}, 50)
            more = [best[way] - best["C"] for way in ("into", "new")]
            print(f"| {title} | {spec} | {n} | {1e6 * best['C']:.1f} | {1e6 * more[0]:.1f} ({100 * more[0] / best['C']:.1f}%) | "
                  f"{1e6 * more[1]:.1f} ({100 * more[1] / best['C']:.1f}%) |", flush=True)
        prepared = index.prepare(probes[: 1 << 10], empty[: 1 << 10])
        best = least({"run": prepared.run}, 20, 200)
        wait()
        print(f"{title}, {spec}: a prepared run of 2^10 probes returns after {1e6 * best['run']:.2f} us, "
              f"recorded: {prepared.is_recorded}", flush=True)


def main():
    rows = 1 << int(sys.argv[1] if len(sys.argv) > 1 else 26)
    rng = np.random.default_rng(1)
    host_keys, host_probes = rng.permutation(rows), rng.integers(0, rows, rows)
    print(keyray.devices())
    print("| library | index | probes | C, us | into: us more | new: us more |\n| --- | --- | --- | --- | --- | --- |")
    try:
        import torch
        measure("torch", torch.as_tensor(host_keys, device="cuda"), torch.as_tensor(host_probes, device="cuda"),
                torch.empty(rows, dtype=torch.int32, device="cuda"), lambda a: a.data_ptr(), torch.cuda.synchronize,
                lambda a: a.cpu().numpy())
    except ImportError:
        print("torch is not here")
    try:
        import cupy
        measure("cupy", cupy.asarray(host_keys), cupy.asarray(host_probes), cupy.empty(rows, dtype=cupy.int32),
                lambda a: a.data.ptr, cupy.cuda.runtime.deviceSynchronize, lambda a: a.get())
    except ImportError:
        print("cupy is not here")


if __name__ == "__main__":
    main()
