"""Reads and writes one-dimensional and two-dimensional .npy files with the standard library alone."""
import ast
import struct

CODES = {"<u1": "B", "|u1": "B", "|i1": "b", "<i1": "b", "<u2": "H", "<i2": "h", "<u4": "I", "<i4": "i", "<u8": "Q",
         "<i8": "q", "<f2": "e", "<f4": "f", "<f8": "d", "<b1": "?", "<M8[D]": "q", "<M8[s]": "q", "<M8[ms]": "q",
         "<M8[us]": "q", "<M8[ns]": "q"}


def read(path):
    """(dtype, shape, values in row order)"""
    data = path.read_bytes()
    assert data[:8] == b"\x93NUMPY\x01\x00", f"{path.name}: no .npy of version 1"
    end = 10 + struct.unpack("<H", data[8:10])[0]
    assert end % 64 == 0 and data[end - 1:end] == b"\n", f"{path.name}: header is not padded to 64 bytes"
    header = ast.literal_eval(data[10:end].decode("ascii"))
    assert set(header) == {"descr", "fortran_order", "shape"} and header["fortran_order"] is False
    n = 1
    for extent in header["shape"]:
        n *= extent
    return header["descr"], header["shape"], list(struct.unpack(f"<{n}{CODES[header['descr']]}", data[end:]))


def dump(dtype, values, shape=None):
    """The bytes of a .npy; `shape` may lie."""
    header = repr({"descr": dtype, "fortran_order": False, "shape": shape or (len(values),)}).encode()
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    order, code = (">" if dtype[0] == ">" else "<"), CODES.get("<" + dtype[1:], "I")
    body = struct.pack(f"{order}{len(values)}{code}", *values)
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + body
