#!/usr/bin/env python3
"""Makes an extension that DuckDB loads of a shared library: appends the 512 bytes that say what it is.

    footer.py LIBRARY OUT [--api v1.2.0] [--abi C_STRUCT] [--platform linux_amd64] [--version 0.1.0]

The layout, of DuckDB's documentation of extensions: a custom section of WebAssembly as a header of 22 bytes, eight fields of 32
bytes in reverse order, and 256 bytes for a signature, which an unsigned extension leaves 0.
"""
import argparse
import pathlib

FIELD = 32


def field(text: str) -> bytes:
    data = text.encode()
    if len(data) > FIELD:
        raise SystemExit(f"footer.py: {text!r} is longer than {FIELD} bytes")
    return data.ljust(FIELD, b"\0")


def footer(api: str, abi: str, platform: str, version: str) -> bytes:
    """In this order: three fields for later use, the binary interface, the extension's version, the version of the API
    (or of DuckDB), the platform, and the number of this layout."""
    name = b"duckdb_signature"
    fields = b"".join(field(one) for one in ["", "", "", abi, version, api, platform, "4"])
    # 0: a custom section; its size as LEB128 (0x0213 = 531); the name with its length; the size of what follows, 512.
    head = bytes([0, 0x93, 0x04, len(name)]) + name + bytes([0x80, 0x04])
    return head + fields + bytes(256)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("library", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--api", default="v1.2.0")
    parser.add_argument("--abi", default="C_STRUCT")
    parser.add_argument("--platform", default="linux_amd64")
    parser.add_argument("--version", default="0.1.0")
    args = parser.parse_args()
    args.out.write_bytes(args.library.read_bytes() + footer(args.api, args.abi, args.platform, args.version))


if __name__ == "__main__":
    main()
