"""_structs.py is what the headers say, by the generator and by the compiler."""
import ctypes
import pathlib
import shutil
import subprocess
import sys

import pytest

from keyray import _structs as c
from keyray._library import lib

ROOT = pathlib.Path(__file__).resolve().parents[2]


def test_generated_file_is_current():
    subprocess.run([sys.executable, ROOT / "python" / "generate.py", "--check"], check=True)


@pytest.mark.skipif(not shutil.which("cc"), reason="no C compiler is here")
def test_sizes_offsets_and_numbers_are_the_compilers(tmp_path):
    lines = ["#include <keyray/keyray.h>", "#include <keyray/keyray_cuda.h>", "#include <stdio.h>", "int main(void) {"]
    expected = []
    for struct in c.STRUCTS:
        name = struct.__name__
        lines.append(f'printf("%zu\\n", sizeof({name}));')
        expected.append(ctypes.sizeof(struct))
        for field, _ in struct._fields_:
            lines.append(f'printf("%zu %zu\\n", offsetof({name}, {field}), sizeof((({name} *)0)->{field}));')
            expected.append((getattr(struct, field).offset, getattr(struct, field).size))
    for name, value in vars(c).items():
        if name.startswith("KR_") and isinstance(value, int):
            lines.append(f'printf("%lld\\n", (long long){name});')
            expected.append(value)
    source = tmp_path / "structs.c"
    source.write_text("\n".join([*lines, "return 0; }"]))
    subprocess.run(["cc", "-std=c11", f"-I{ROOT / 'include'}", source, "-o", tmp_path / "structs"], check=True)
    out = subprocess.run([tmp_path / "structs"], check=True, capture_output=True, text=True).stdout.splitlines()
    found = [tuple(map(int, line.split())) if " " in line else int(line) for line in out]
    assert found == expected


def test_every_function_is_in_the_library():
    missing = [name for name in c.FUNCTIONS if not hasattr(lib, name)]
    assert not missing


def test_every_exported_function_has_types():
    exports = (ROOT / "cmake" / "keyray.exports").read_text().split("\n")
    assert set(c.FUNCTIONS) == {line for line in exports if line.startswith("kr_")}
