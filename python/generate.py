#!/usr/bin/env python3
"""Writes src/keyray/_structs.py: the structs, numbers and functions of the public headers, for ctypes.

The headers are the only source: what they do not say is not there. Anything that this reader does not understand is
an error, so a new form of declaration cannot be left out unseen.

Usage: generate.py [--check]      --check compares and writes nothing
"""
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
HEADERS = HERE.parent / "include" / "keyray"
TARGET = HERE / "src" / "keyray" / "_structs.py"

NUMBERS = {
    "int": "c_int", "double": "c_double", "size_t": "c_size_t", "char": "c_char", "int32_t": "c_int32",
    "uint8_t": "c_uint8", "uint32_t": "c_uint32", "uint64_t": "c_uint64", "int64_t": "c_int64",
}
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
DIRECTIVE = re.compile(r"^#(?:[^\n]*\\\n)*[^\n]*\n", re.MULTILINE)


class Reader:
    """What the headers declare, in their order."""

    def __init__(self):
        self.constants = []  # (name, text of the value)
        self.enums = set()
        self.opaque = set()
        self.callbacks = {}  # name: text of the ctypes type
        self.structs = {}  # name: [(field, text of the ctypes type)]
        self.functions = {}  # name: (text of the result, [texts of the arguments])

    def read(self, text):
        for name, value in re.findall(r'^#define (KR_\w+) ("[^"]*"|\d+|UINT32_C\(\w+\))\s*$', text, re.MULTILINE):
            self.constants.append((name, re.sub(r"UINT32_C\((\w+)\)", r"\1", value)))
        text = DIRECTIVE.sub("", text).replace('extern "C" {', "")
        text = re.sub(r"^}\s*$", "", text, flags=re.MULTILINE)
        for statement in split_statements(text):
            self.declare(" ".join(statement.split()))

    def declare(self, text):
        if match := re.fullmatch(r"typedef struct (kr_\w+) \1", text):
            self.opaque.add(match[1])
        elif match := re.fullmatch(r"(?:typedef )?enum(?: kr_\w+)? \{(.*)\}\s?(kr_\w+)?", text):
            if match[2]:
                self.enums.add(match[2])
            self.enumerate(match[1])
        elif match := re.fullmatch(r"typedef struct (kr_\w+) \{(.*)\} \1", text):
            self.structs[match[1]] = [field for part in match[2].split(";") if part.strip()
                                      for field in self.fields(part.strip())]
        elif match := re.fullmatch(r"typedef (\w+) \(\*(kr_\w+)\)\((.*)\)", text):
            self.callbacks[match[2]] = self.callback(match[1], match[3])
        elif match := re.fullmatch(r"KR_API (.*?)(kr_\w+)\((.*)\)", text):
            self.functions[match[2]] = (self.type_of(match[1], ""), self.arguments(match[3]))
        elif not re.fullmatch(r"struct CUstream_st", text):
            sys.exit(f"generate.py does not understand: {text}")

    def enumerate(self, body):
        value = -1
        for part in filter(None, (part.strip() for part in body.split(","))):
            name, _, given = part.partition("=")
            value = int(given, 0) if given else value + 1
            self.constants.append((name.strip(), str(value)))

    def arguments(self, text):
        if text.strip() == "void":
            return []
        return [self.type_of(*self.split_name(part.strip())) for part in split_commas(text)]

    def callback(self, result, arguments):
        # Structs stand before callbacks in no order that suits both, so callbacks get addresses.
        types = [self.type_of(result, ""), *self.arguments(arguments)]
        return f"ctypes.CFUNCTYPE({', '.join(re.sub(r'POINTER.*', 'c_void_p', kind) for kind in types)})"

    def fields(self, text):
        if match := re.fullmatch(r"(void \*|\w+ )\(\*(\w+)\)\((.*)\)", text):
            yield match[2], self.callback(match[1], match[3])
            return
        first, *others = split_commas(text)
        kind, name = self.split_name(first.strip())
        base = kind.replace("*", "").strip()
        for more in [name, *(other.strip() for other in others)]:
            stars = more.count("*") + (kind.count("*") if more is name else 0)
            plain = more.replace("*", "")
            name, _, length = plain.partition("[")
            made = self.type_of(base + " " + "*" * stars, "")
            yield name, f"{made} * {length.rstrip(']')}" if length else made

    @staticmethod
    def split_name(text):
        match = re.fullmatch(r"(.*?[ *])(\w+(?:\[\w*\])*)", text)
        if not match:
            sys.exit(f"generate.py does not understand the declaration: {text}")
        kind, name = match[1], match[2]
        return (kind, name)

    def type_of(self, kind, name):
        if "[" in name:  # an array as an argument is a pointer
            kind += "*"
        stars = kind.count("*")
        base = kind.replace("*", "").replace("const", "").replace("struct ", "").strip()
        if stars == 0:
            if base == "void":
                return "None"
            return self.callbacks_or(base, "c_int" if base in self.enums else NUMBERS.get(base))
        if base == "char" and stars == 1:
            return "c_char_p"
        if base in self.structs and stars == 1:
            return f"POINTER({base})"
        return "c_void_p"

    def callbacks_or(self, base, made):
        made = base if base in self.callbacks or base in self.structs else made
        if not made:
            sys.exit(f"generate.py does not know the type {base}")
        return made


def split_statements(text):
    """The text cut at ';' outside of braces."""
    depth, start = 0, 0
    for i, letter in enumerate(text):
        depth += (letter == "{") - (letter == "}")
        if letter == ";" and depth == 0:
            yield text[start:i]
            start = i + 1
    if text[start:].strip():
        sys.exit(f"generate.py does not understand the end of a header: {text[start:]}")


def split_commas(text):
    """The text cut at ',' outside of parentheses."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return parts


def headers():
    """The headers, each behind those that it includes."""
    done = []

    def visit(name):
        if name in done:
            return
        for other in re.findall(r"#include <keyray/(\w+\.h)>", (HEADERS / name).read_text()):
            visit(other)
        done.append(name)

    visit("keyray.h")
    visit("keyray_cuda.h")
    return done


HEAD = '''"""The structs, numbers and functions of keyray's headers.

Made by python/generate.py from include/keyray/*.h: change those, and run it.
"""
import ctypes
from ctypes import (POINTER, c_char, c_char_p, c_double, c_int, c_int32, c_int64, c_size_t, c_uint8, c_uint32,
                    c_uint64, c_void_p)

'''


def field_lines(name, fields):
    yield f"class {name}(ctypes.Structure):"
    yield "    __slots__ = ()"
    made = [f'("{field}", {kind})' for field, kind in fields]
    yield from wrapped("    _fields_ = [", made, "]")
    yield ""
    yield ""


def write(reader):
    lines = [HEAD.rstrip("\n"), ""]
    lines += [f"{name} = {value}" for name, value in reader.constants]
    lines += ["", "# ---- Callbacks and structs ----", ""]
    written = set()
    for name, kind in reader.callbacks.items():
        lines.append(f"{name} = {kind}")
    lines += ["", ""]
    for name, fields in reader.structs.items():
        for kind in (kind for _, kind in fields):
            needed = re.findall(r"kr_\w+", kind)
            if not set(needed) <= written | set(reader.callbacks):
                sys.exit(f"{name} needs {needed}, which no header declares before it")
        written.add(name)
        lines += field_lines(name, fields)
    lines += ["# ---- Functions: the type of the result, and those of the arguments ----", "", "FUNCTIONS = {"]
    for name, (result, arguments) in reader.functions.items():
        lines += wrapped(f'    "{name}": ({result}, [', arguments, "]),")
    lines += ["}", ""]
    lines += [*wrapped("STRUCTS = [", list(reader.structs), "]"), ""]
    return "\n".join(lines)


def wrapped(start, parts, end):
    """`start`, the parts with commas between them, and `end`, in lines of up to 118 characters."""
    lines, line = [], start
    for i, part in enumerate(parts):
        more = part + (end if i + 1 == len(parts) else ",")
        if len(line) + 1 + len(more) > 118:
            lines.append(line)
            line = " " * (8 if start[0] == " " else 4) + more
        else:
            line += more if i == 0 else " " + more
    return [*lines, line if parts else line + end]


def main():
    reader = Reader()
    for name in headers():
        reader.read(COMMENT.sub(" ", (HEADERS / name).read_text()))
    text = write(reader)
    if "--check" in sys.argv[1:]:
        if not TARGET.exists() or TARGET.read_text() != text:
            sys.exit("python/src/keyray/_structs.py is not what python/generate.py makes of the headers: run it")
        return
    TARGET.write_text(text)


if __name__ == "__main__":
    main()
