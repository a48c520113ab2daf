#!/usr/bin/env python3
"""Fetches the headers of DuckDB's C API, which are in no package for C: they are taken out of the source of its Python package.

    headers.py FOLDER VERSION...      FOLDER/VERSION gets duckdb.h, duckdb_extension.h and, where there are such, those of version 2
"""
import pathlib
import subprocess
import sys
import tarfile
import tempfile

WANTED = {"duckdb.h", "duckdb_extension.h", "duckdb_v2.h", "duckdb_extension_v2.h"}


def fetch(folder: pathlib.Path, version: str) -> None:
    target = folder / version
    if (target / "duckdb_extension.h").exists():
        return
    with tempfile.TemporaryDirectory() as temporary:
        subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps",
                        "--no-binary", "duckdb", f"duckdb=={version}", "-d", temporary], check=True)
        target.mkdir(parents=True, exist_ok=True)
        with tarfile.open(next(pathlib.Path(temporary).glob("*.tar.gz"))) as archive:
            for member in archive:
                name = pathlib.PurePosixPath(member.name)
                if name.name in WANTED and name.parent.name == "include" and member.isfile():
                    (target / name.name).write_bytes(archive.extractfile(member).read())
    if not (target / "duckdb_extension.h").exists():
        raise SystemExit(f"headers.py: the source of DuckDB {version} has no duckdb_extension.h")


def main() -> None:
    if len(sys.argv) < 3:
        raise SystemExit(__doc__)
    for version in sys.argv[2:]:
        fetch(pathlib.Path(sys.argv[1]), version)


if __name__ == "__main__":
    main()
