"""Reads the .npy files that keyray writes, with the standard library alone."""
import array
import ast
import sys

CODES = {"u1": "B", "u4": "I", "u8": "Q", "i8": "q", "f8": "d"}


def read(path):
    """All elements as an array.array; those of a table row by row."""
    with open(path, "rb") as file:
        magic = file.read(10)
        if magic[:8] != b"\x93NUMPY\x01\x00" or sys.byteorder != "little":
            raise ValueError(f"{path}: not a version 1 .npy file, or a machine that is not little-endian")
        header = ast.literal_eval(file.read(int.from_bytes(magic[8:10], "little")).decode())
        values = array.array(CODES[header["descr"][1:]])
        values.frombytes(file.read())
    count = 1
    for length in header["shape"]:
        count *= length
    if len(values) != count:
        raise ValueError(f"{path}: {len(values)} elements, its header says {count}")
    return values
