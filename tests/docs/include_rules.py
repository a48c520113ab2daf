#!/usr/bin/env python3
"""ci/check-includes finds includes and names that a folder may not use, also inside macros; ci/check-names, names without
a word of their room."""
import pathlib
import subprocess
import sys
import tempfile

CI = pathlib.Path(__file__).resolve().parents[2] / "ci"
TREE = {
    "src/index/kinds/batch.h": "static inline void kr_put_first(void)\n{\n}\n",
    "src/base/program/program.h": "#define KR_MAP_PROGRAM(name) name\n",
    "src/base/key/key.h": '#include "base/program/program.h"\n/* kr_put_first of src/index/kinds/batch.h is not used here. */\n',
}
# What is added to the tree, and what must be found in it.
BROKEN = [
    ({}, None),
    ({"src/base/program/launch_cuda.h": "#define KR_LAUNCH(i) \\\n    kr_put_first(i)\n"},
     "src/base/program/launch_cuda.h: kr_put_first is src/index/kinds/batch.h's"),
    ({"src/base/program/lang.h": '#include "index/kinds/batch.h"\n'}, "src/base/program/lang.h: src/index/kinds/batch.h: src/base/program may include"),
    ({"src/index/families/rx/rx.h": '#include "index/families/cgrx/cgrx.h"\n', "src/index/families/cgrx/cgrx.h": ""},
     "src/index/families/rx/rx.h: src/index/families/cgrx/cgrx.h: src/index/families may include"),
    ({"src/base/key/encode.c": "#include <cuda_runtime.h>\n"}, "may name CUDA"),
    ({"src/base/key/encode.c": '#include "base/key/missing.h"\n'}, "no such file in the tree"),
    ({"src/base/key/encode_body.h": "", "src/base/key/encode.c": '#include "base/key/encode_body.h"\nint a;\n',
      "src/base/key/encode.cu": '#define KR_BLOCK_SIZE 640\n#include "base/key/encode_body.h"\n'}, None),
    ({"src/base/key/encode_body.h": "", "src/base/key/encode_width.c": '#include "base/key/encode_body.h"\nint a;\n'},
     "src/base/key/encode_width.c: src/base/key/encode_body.h is for src/base/key/encode.c and src/base/key/encode.cu alone"),
    ({"src/base/key/encode_body.h": "", "src/base/key/hash_body.h": '#include "base/key/encode_body.h"\n'},
     "src/base/key/hash_body.h: src/base/key/encode_body.h is for src/base/key/encode.c"),
    ({"src/base/key/encode_width_body.h": "", "src/base/key/encode_width.cu": '/* Kernels. */\n#include "base/key/encode_width_body.h"\n'},
     "src/base/key/encode_width.cu: CMake makes this file of src/base/key/encode_width_body.h"),
]
# The same of names.
NAMED = [
    ({}, None),
    ({"src/base/key/encode_body.h": "KR_BODY int encode_row(int i)\n{\n    return i;\n}\n"}, None),
    ({"src/base/key/encode_body.h": "KR_BODY int encode(int i)\n{\n    return i;\n}\n"},
     "src/base/key/encode_body.h: encode: begins with none of the words of src/base/key"),
    ({"src/base/key/key.h": "/* Why. */\nint kr_pool_open(int n);\n"}, "src/base/key/key.h: kr_pool_open: pool is a word of src/base/util"),
    ({"src/index/families/jump/jump.h": "int jump_on(int n,\n            int m);\n"}, None),
    ({"src/index/families/jump/jump.h": "void KR_W(skip_on)(int n);\n"}, "src/index/families/jump/jump.h: skip_on: begins with none"),
    ({"src/index/families/pool/pool.h": ""}, "pool is a word of src/base/util and of src/index/families/pool"),
]


def main():
    failed = 0
    for check, added, expected in [("check-includes", *each) for each in BROKEN] + [("check-names", *each) for each in NAMED]:
        with tempfile.TemporaryDirectory(prefix="keyray-rules-") as root:
            for name, text in {**TREE, **added}.items():
                path = pathlib.Path(root, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            run = subprocess.run([sys.executable, CI / check, root], stdout=subprocess.PIPE, text=True)
        if (run.returncode == 0) != (expected is None) or (expected or "") not in run.stdout:
            failed += 1
            print(f"FAIL {check} {added}: expected {expected!r}, got exit {run.returncode}:\n{run.stdout}")
    print(f"{len(BROKEN) + len(NAMED)} trees, {failed} wrong")
    return bool(failed)


sys.exit(main())
