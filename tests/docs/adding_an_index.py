#!/usr/bin/env python3
"""The examples of docs/adding-an-index.md, built and run: its code blocks go into a copy of the tree, whose conformance
suite then tests the kinds that they add. Other kinds are left out, as the page advises.

Usage: adding_an_index.py [--cuda]     on the CPU, or on a GPU with the page's kernels

A block belongs to the file named after its language. Those named with "diff" are applied as patches.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/adding-an-index.md"
BLOCK = re.compile(r"^```(\w+) (\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SKIPPED = 77


def run(*command, **options):
    print("+", *command, flush=True)
    subprocess.run([str(word) for word in command], check=True, **options)


def add_family(tree):
    """Puts the page's blocks into the tree; the names of the files written."""
    blocks = BLOCK.findall(PAGE.read_text())
    for language, name, text in blocks:
        if language == "diff":
            # Kinds that the page does not show may follow the lines that it shows.
            run("git", "apply", "--unidiff-zero", "-", cwd=tree, input=text.encode())
        else:
            path = tree / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    return [name for _, name, _ in blocks]


def main():
    on_gpu = "--cuda" in sys.argv[1:]
    if not shutil.which("cmake") or not shutil.which("git"):
        print("skipped: needs cmake and git")
        return SKIPPED
    with tempfile.TemporaryDirectory(prefix="keyray-docs-") as scratch:
        tree, build = pathlib.Path(scratch, "tree"), pathlib.Path(scratch, "build")
        shutil.copytree(ROOT, tree, ignore=shutil.ignore_patterns(".git", "build", ".venv", "__pycache__", "shared"))
        names = add_family(tree)
        # The page shows whole families: headers and sources, and the registry.
        missing = {".h", ".c"} - {pathlib.PurePath(name).suffix for name in names}
        if missing or "src/index/kinds/kinds.def" not in names:
            print(f"{PAGE.name} shows no {', '.join(missing) or 'change of the registry'}")
            return 1
        run(sys.executable, tree / "ci/check-includes", tree)
        run(sys.executable, tree / "ci/check-names", tree)
        # -O1 compiles faster than a release; the two warnings that are off are wrong at that level.
        run("cmake", "-S", tree, "-B", build, *(["-G", "Ninja"] if shutil.which("ninja") else []),
            "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_C_FLAGS_RELEASE=-O1 -DNDEBUG -Wno-maybe-uninitialized -Wno-format-truncation", "-DKEYRAY_KINDS=jump;chained", f"-DKEYRAY_CUDA={'ON' if on_gpu else 'OFF'}",
            "-DKEYRAY_WERROR=ON", "-DCMAKE_CUDA_ARCHITECTURES=90-real", stdout=subprocess.DEVNULL)
        run("cmake", "--build", build, "--target", "keyray-conformance", "--parallel", os.cpu_count() or 1)
        for spec in ("jump", "jump:bits=1", "chained", "chained:probes=partitioned"):
            run(build / "bin/keyray-conformance", "test", "--kind", spec, "--reduced", "--device", "cuda" if on_gpu else "cpu")
        refused = subprocess.run([build / "bin/keyray-conformance", "test", "--kind", "array"], text=True, stderr=subprocess.PIPE)
        if refused.returncode != 2 or "this build has no kind 'array': KEYRAY_KINDS lists jump;chained" not in refused.stderr:
            print(f"a kind that is left out is not refused: {refused.stderr}")
            return 1
    return 0


try:
    sys.exit(main())
except subprocess.CalledProcessError as failure:
    sys.exit(f"failed: {' '.join(map(str, failure.cmd))}")
