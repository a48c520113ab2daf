#!/usr/bin/env python3
"""ci/check-includes finds includes and names that a folder may not use, also inside macros."""
import pathlib
import subprocess
import sys
import tempfile

CHECK = pathlib.Path(__file__).resolve().parents[2] / "ci/check-includes"
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


def main():
    failed = 0
    for added, expected in BROKEN:
        with tempfile.TemporaryDirectory(prefix="keyray-rules-") as root:
            for name, text in {**TREE, **added}.items():
                path = pathlib.Path(root, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            run = subprocess.run([sys.executable, CHECK, root], stdout=subprocess.PIPE, text=True)
        if (run.returncode == 0) != (expected is None) or (expected or "") not in run.stdout:
            failed += 1
            print(f"FAIL {added}: expected {expected!r}, got exit {run.returncode}:\n{run.stdout}")
    print(f"{len(BROKEN)} trees, {failed} wrong")
    return bool(failed)


sys.exit(main())
