#!/usr/bin/env python3
"""Configures builds with KEYRAY_KINDS and compares what they would compile with the list of kinds. Compiles one file.

Usage: kinds.py CMAKE C_COMPILER
"""
import json
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
KINDS = re.findall(r"^KR_KIND\((\w+)\)$", (ROOT / "src/index/kinds/kinds.def").read_text(), re.MULTILINE)
# Kinds, and the folders of families and of what families share that they need.
SUBSETS = [
    ("array;pivot", {"index/families/array", "index/families/pivot", "index/lightweight"}),
    ("hash", {"index/families/hash"}),
    ("btree;rx", {"index/families/btree", "index/families/rx", "index/lightweight", "index/scenes"}),
    ("full;rtc3", {"table/families/full", "table/families/rtc", "table/families/cubes", "table/families/vectors", "index/scenes"}),
]
SHARED = {"index/lightweight", "index/scenes"}
# Folders of scans that belong to no kind: always built.
ALWAYS = {"scans/change", "scans/condition", "scans/run", "scans/table"}


def expect(holds, what):
    if not holds:
        sys.exit(f"failed: {what}")


class Configured:
    """A build folder without CUDA, configured by CMake for some kinds."""

    def __init__(self, cmake, compiler, folder, kinds):
        generator = ["-G", "Ninja"] if shutil.which("ninja") else []
        done = subprocess.run([cmake, "-S", ROOT, "-B", folder, *generator, f"-DKEYRAY_KINDS={kinds}", "-DKEYRAY_CUDA=OFF",
                               f"-DCMAKE_C_COMPILER={compiler}", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON"],
                              text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.code, self.text = done.returncode, done.stdout
        database = pathlib.Path(folder, "compile_commands.json")
        commands = json.loads(database.read_text()) if self.code == 0 else []
        self.commands = {each["file"].removeprefix(f"{ROOT}/"): each for each in commands}

    def folders(self):
        """Folders of families, and of what families share, of which something is compiled."""
        found = {str(pathlib.PurePath(name).parent)[len("src/"):] for name in self.commands if name.startswith("src/")}
        return {folder for folder in found - ALWAYS
                if "/families/" in folder or folder in SHARED}

    def registry(self):
        """What the registry refers to, and the names of those that it leaves out."""
        each = self.commands["src/index/kinds/registry.c"]
        words = shlex.split(each["command"].replace(" -c ", " -E -P "))
        at = words.index("-o")
        text = subprocess.run(words[:at] + words[at + 2:], cwd=each["directory"], text=True, check=True,
                              stdout=subprocess.PIPE).stdout
        return (set(re.findall(r"&kr_kind_(\w+)", text)),
                set(re.findall(r'"(\w+)"', text[text.index("left_out[]"):].split("}")[0])))


def check(build, kinds, folders):
    expect(build.code == 0, f"KEYRAY_KINDS={kinds} is not configured:\n{build.text}")
    wanted = set(kinds.split(";"))
    absent = [kind for kind in KINDS if kind not in wanted]
    built = ", ".join(kind for kind in KINDS if kind in wanted)
    expect(f"Kinds       {built}; left out by KEYRAY_KINDS: {', '.join(absent)}" in build.text,
           f"KEYRAY_KINDS={kinds}: the summary does not say which kinds are left out:\n{build.text}")
    expect(build.folders() == folders,
           f"KEYRAY_KINDS={kinds} compiles {sorted(build.folders())}, expected {sorted(folders)}")
    expect(build.registry() == (wanted, set(absent)), f"KEYRAY_KINDS={kinds}: the registry has {build.registry()}")
    for name in build.commands:
        module = re.match(r"tests/unit/(\w+)/", name)
        expect(not module or module.group(1) not in absent, f"KEYRAY_KINDS={kinds} compiles {name}")


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory(prefix="keyray-kinds-") as folder:
        # One folder, as a developer changes KEYRAY_KINDS.
        for kinds, folders in SUBSETS:
            check(Configured(*sys.argv[1:], folder, kinds), kinds, folders)
        whole = Configured(*sys.argv[1:], folder, "")
        expect(f"Kinds       all {len(KINDS)}\n" in whole.text, f"the summary does not say all kinds:\n{whole.text}")
        expect(whole.registry() == (set(KINDS), set()), f"without KEYRAY_KINDS the registry has {whole.registry()}")
        expect(SHARED < whole.folders(), f"without KEYRAY_KINDS only {sorted(whole.folders())} are compiled")
        wrong = Configured(*sys.argv[1:], folder, "array;pivto")
        text = " ".join(wrong.text.split())
        expect(wrong.code != 0 and f"KEYRAY_KINDS names 'pivto', which is not a kind; the kinds are {', '.join(KINDS)}" in text,
               f"an unknown name is not refused:\n{wrong.text}")
        print(f"{len(SUBSETS)} lists of kinds, none, and a wrong name")


main()
