#!/usr/bin/env python3
"""Checks a wheel: its name, its size, that the library is in it once, and which glibc that needs.

Usage: check_wheel.py WHEEL [GLIBC]      GLIBC: the newest that it may need, 2.34 if not given
"""
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

MOST_NBYTES = 10_000_000
LIBRARIES = ["keyray/keyray_polars.so", "keyray/libkeyray.so"]


def problems(wheel, newest):
    if not wheel.name.startswith("keyray-") or "-py3-none-" not in wheel.name:
        yield f"the name is {wheel.name}; it is keyray-VERSION-py3-none-PLATFORM.whl, for all Pythons"
    if wheel.stat().st_size > MOST_NBYTES:
        yield f"it has {wheel.stat().st_size} bytes; at most {MOST_NBYTES}"
    with zipfile.ZipFile(wheel) as archive, tempfile.TemporaryDirectory() as folder:
        libraries = [name for name in archive.namelist() if ".so" in pathlib.PurePath(name).name]
        if sorted(libraries) != LIBRARIES:
            yield f"its libraries are {libraries}; {' and '.join(LIBRARIES)}, each once"
            return
        for name in ("keyray/py.typed", "keyray/__init__.py", "keyray/_structs.py"):
            if name not in archive.namelist():
                yield f"{name} is missing"
        paths = [archive.extract(name, folder) for name in LIBRARIES]
        symbols = "".join(subprocess.run(["objdump", "-T", path], check=True, capture_output=True, text=True).stdout
                          for path in paths)
    limit = [int(part) for part in newest.split(".")]
    for version, symbol in sorted(set(re.findall(r"\(GLIBC_([0-9.]+)\)\s+(\S+)", symbols))):
        if [int(part) for part in version.split(".")] > limit:
            yield f"{symbol} needs glibc {version}; at most {newest}"
    if "GLIBCXX" in symbols:
        yield "it needs libstdc++ of the system"


def main():
    wheel = pathlib.Path(sys.argv[1])
    found = list(problems(wheel, sys.argv[2] if len(sys.argv) > 2 else "2.34"))
    for problem in found:
        print(f"{wheel.name}: {problem}", file=sys.stderr)
    if not found:
        print(f"{wheel.name}: {wheel.stat().st_size} bytes, the library once, glibc of at most "
              f"{sys.argv[2] if len(sys.argv) > 2 else '2.34'}")
    return 1 if found else 0


sys.exit(main())
