#!/usr/bin/env python3
"""ci/check-includes finds includes and names that a folder may not use, also inside macros; ci/check-names, names without
a word of their room."""
import pathlib
import subprocess
import sys
import tempfile

CI = pathlib.Path(__file__).resolve().parents[2] / "ci"
TREE = {
    "src/kinds/batch.h": "static inline void kr_put_first(void)\n{\n}\n",
    "src/program/program.h": "#define KR_MAP_PROGRAM(name) name\n",
    "src/key/key.h": '#include "program/program.h"\n/* kr_put_first of src/kinds/batch.h is not used here. */\n',
}
# What is added to the tree, and what must be found in it.
BROKEN = [
    ({}, None),
    ({"src/program/launch_cuda.h": "#define KR_LAUNCH(i) \\\n    kr_put_first(i)\n"},
     "src/program/launch_cuda.h: kr_put_first is src/kinds/batch.h's"),
    ({"src/program/lang.h": '#include "kinds/batch.h"\n'}, "src/program/lang.h: src/kinds/batch.h: src/program may include"),
    ({"src/indexes/rx/rx.h": '#include "indexes/cgrx/cgrx.h"\n', "src/indexes/cgrx/cgrx.h": ""},
     "src/indexes/rx/rx.h: src/indexes/cgrx/cgrx.h: src/indexes may include"),
    ({"src/key/encode.c": "#include <cuda_runtime.h>\n"}, "may name CUDA"),
    ({"src/key/encode.c": '#include "key/missing.h"\n'}, "no such file in the tree"),
    ({"src/key/encode_body.h": "", "src/key/encode.c": '#include "key/encode_body.h"\nint a;\n',
      "src/key/encode.cu": '#define KR_BLOCK_SIZE 640\n#include "key/encode_body.h"\n'}, None),
    ({"src/key/encode_body.h": "", "src/key/encode_width.c": '#include "key/encode_body.h"\nint a;\n'},
     "src/key/encode_width.c: src/key/encode_body.h is for src/key/encode.c and src/key/encode.cu alone"),
    ({"src/key/encode_body.h": "", "src/key/hash_body.h": '#include "key/encode_body.h"\n'},
     "src/key/hash_body.h: src/key/encode_body.h is for src/key/encode.c"),
    ({"src/key/encode_width_body.h": "", "src/key/encode_width.cu": '/* Kernels. */\n#include "key/encode_width_body.h"\n'},
     "src/key/encode_width.cu: CMake makes this file of src/key/encode_width_body.h"),
]
# The same of names.
NAMED = [
    ({}, None),
    ({"src/key/encode_body.h": "KR_BODY int encode_row(int i)\n{\n    return i;\n}\n"}, None),
    ({"src/key/encode_body.h": "KR_BODY int encode(int i)\n{\n    return i;\n}\n"},
     "src/key/encode_body.h: encode: begins with none of the words of src/key"),
    ({"src/key/key.h": "/* Why. */\nint kr_pool_open(int n);\n"}, "src/key/key.h: kr_pool_open: pool is a word of src/util"),
    ({"src/indexes/jump/jump.h": "int jump_on(int n,\n            int m);\n"}, None),
    ({"src/indexes/jump/jump.h": "void KR_W(skip_on)(int n);\n"}, "src/indexes/jump/jump.h: skip_on: begins with none"),
    ({"src/indexes/pool/pool.h": ""}, "pool is a word of src/util and of src/indexes/pool"),
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
