"""Arrow's C data interface: columns of anything that exports arrays or streams, and arrays of our own."""
from __future__ import annotations

import ctypes
import weakref
from ctypes import POINTER, c_char_p, c_int, c_int64, c_void_p
from typing import Any

import numpy as np

from . import _structs as c
from ._errors import ColumnTypeError
from ._types import DTYPES, UNIT_OF, Column, array_at, unpack_bits


class ArrowSchema(ctypes.Structure):
    """Arrow's struct of that name."""


ArrowSchema._fields_ = [
    ("format", c_char_p), ("name", c_char_p), ("metadata", c_void_p), ("flags", c_int64), ("n_children", c_int64),
    ("children", POINTER(POINTER(ArrowSchema))), ("dictionary", POINTER(ArrowSchema)), ("release", c_void_p),
    ("private_data", c_void_p)]


class ArrowArray(ctypes.Structure):
    """Arrow's struct of that name."""


ArrowArray._fields_ = [
    ("length", c_int64), ("null_count", c_int64), ("offset", c_int64), ("n_buffers", c_int64),
    ("n_children", c_int64), ("buffers", POINTER(c_void_p)), ("children", POINTER(POINTER(ArrowArray))),
    ("dictionary", POINTER(ArrowArray)), ("release", c_void_p), ("private_data", c_void_p)]


class ArrowArrayStream(ctypes.Structure):
    """Arrow's struct of that name."""

    _fields_ = [("get_schema", c_void_p), ("get_next", c_void_p), ("get_last_error", c_void_p), ("release", c_void_p),
                ("private_data", c_void_p)]


class ArrowDeviceArray(ctypes.Structure):
    """Arrow's struct of that name."""

    _fields_ = [("array", ArrowArray), ("device_id", c_int64), ("device_type", ctypes.c_int32),
                ("sync_event", c_void_p), ("reserved", c_int64 * 3)]


_RELEASE = ctypes.CFUNCTYPE(None, c_void_p)
# The end of a producer's array is called with the GIL: polars drops arrays of numpy there and believes to have it.
_CALL_RELEASE = ctypes.PYFUNCTYPE(None, c_void_p)
_GET = ctypes.CFUNCTYPE(c_int, c_void_p, c_void_p)
_LAST_ERROR = ctypes.CFUNCTYPE(c_char_p, c_void_p)

_pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
_pointer_of.restype, _pointer_of.argtypes = c_void_p, [ctypes.py_object, c_char_p]
_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.restype, _new_capsule.argtypes = ctypes.py_object, [c_void_p, c_char_p, c_void_p]

ROOM = {"c": c.KR_I8, "C": c.KR_U8, "s": c.KR_I16, "S": c.KR_U16, "i": c.KR_I32, "I": c.KR_U32, "l": c.KR_I64,
        "L": c.KR_U64, "f": c.KR_F32, "g": c.KR_F64, "tdD": c.KR_DATE32, "u": c.KR_STRING, "U": c.KR_LARGE_STRING,
        "z": c.KR_BINARY, "Z": c.KR_LARGE_BINARY, "vu": c.KR_STRING_VIEW, "vz": c.KR_BINARY_VIEW}


class Owned:
    """A struct that we got by a move and must release."""

    def __init__(self, struct: Any) -> None:
        self.struct = struct
        weakref.finalize(self, _release, struct).atexit = False


def _release(struct: Any) -> None:
    if struct.release:
        _CALL_RELEASE(struct.release)(ctypes.addressof(struct))


class Piece:
    """An array with its schema, and what keeps both."""

    __slots__ = ("schema", "array", "owner")

    def __init__(self, schema: Any, array: Any, owner: Any) -> None:
        self.schema, self.array, self.owner = schema, array, owner

    def children(self) -> list[tuple[str, Piece]]:
        """Of a struct array the columns, with names; offsets of the struct are added to theirs by column_of."""
        made = []
        for i in range(self.schema.n_children):
            schema = self.schema.children[i].contents
            made.append(((schema.name or b"").decode(), Piece(schema, self.array.children[i].contents, self.owner)))
        return made

    @property
    def validity(self) -> int | None:
        """The bitmap of the array itself; None where it says that all rows are valid."""
        return _validity(self.array)

    @property
    def is_struct(self) -> bool:
        """Whether it is a table, or a batch of one."""
        return bool(self.schema.format == b"+s")


def pieces_of(obj: Any) -> list[Piece]:
    """What an exporter of an array or a stream hands over."""
    if hasattr(obj, "__arrow_c_array__"):
        schema, array = obj.__arrow_c_array__()
        return [Piece(ArrowSchema.from_address(_pointer_of(schema, b"arrow_schema")),
                      ArrowArray.from_address(_pointer_of(array, b"arrow_array")), (obj, schema, array))]
    capsule = obj.__arrow_c_stream__()
    return _read_stream(ArrowArrayStream.from_address(_pointer_of(capsule, b"arrow_array_stream")), capsule)


def _read_stream(stream: Any, capsule: Any) -> list[Piece]:
    here = ctypes.addressof(stream)
    schema = ArrowSchema()
    _checked(stream, _GET(stream.get_schema)(here, ctypes.addressof(schema)))
    schema_owner = Owned(schema)
    pieces = []
    while True:
        array = ArrowArray()
        _checked(stream, _GET(stream.get_next)(here, ctypes.addressof(array)))
        if not array.release:
            break
        pieces.append(Piece(schema, array, (schema_owner, Owned(array))))
    if not pieces:
        pieces.append(_empty_piece(schema, schema_owner))
    del capsule
    return pieces


def _empty_piece(schema: Any, owner: Any) -> Piece:
    """An array of no rows, with the children that its schema has."""
    children = [_empty_piece(schema.children[i].contents, owner) for i in range(schema.n_children)]
    pointers = (POINTER(ArrowArray) * max(len(children), 1))(*(ctypes.pointer(child.array) for child in children))
    buffers = (c_void_p * 3)()
    array = ArrowArray(n_buffers=3, n_children=len(children), buffers=ctypes.cast(buffers, POINTER(c_void_p)),
                       children=ctypes.cast(pointers, POINTER(POINTER(ArrowArray))))
    if schema.dictionary:
        values = _empty_piece(schema.dictionary.contents, owner)
        array.dictionary = ctypes.pointer(values.array)
        children.append(values)
    return Piece(schema, array, (owner, buffers, pointers, children))


def _checked(stream: Any, failed: int) -> None:
    if failed:
        text = _LAST_ERROR(stream.get_last_error)(ctypes.addressof(stream)) if stream.get_last_error else b""
        raise OSError(failed, f"the Arrow stream of a column failed: {(text or b'no reason given').decode()}")


def type_of(schema: Any) -> tuple[int, int, str]:
    """The type, unit and time zone of a schema; an error for types that keyray has not."""
    text = schema.format.decode()
    if text in ROOM:
        return ROOM[text], 0, ""
    if text.startswith("ts"):
        unit = {"s": "s", "m": "ms", "u": "us", "n": "ns"}[text[2]]
        return c.KR_TIMESTAMP64, UNIT_OF[unit], text[4:]
    raise ColumnTypeError(f"a column has the Arrow type {_described(text)}, which keyray has not: it takes integers, "
                          "floats, booleans, dates, timestamps and texts; cast the column")


def _described(text: str) -> str:
    known = {"n": "null", "tdm": "date64", "+l": "list", "+L": "large_list", "+s": "struct", "+m": "map",
             "+r": "run_end_encoded"}
    for start, name in (("d:", "decimal"), ("tD", "duration"), ("tt", "time of day"), ("ti", "interval"),
                        ("w:", "fixed_size_binary"), ("+w", "fixed_size_list"), ("+v", "list_view"),
                        ("+u", "union")):
        if text.startswith(start):
            return f'{name} ("{text}")'
    return f'{known.get(text, "unknown")} ("{text}")'


def column_of(piece: Piece, kind: str, on_device: bool = False, cut: tuple[int, int] | None = None) -> Column:
    """An array as a column, without a copy where types and alignment allow. `cut`: offset and length of a struct."""
    schema, array = piece.schema, piece.array
    offset, count = array.offset, array.length
    if cut:
        offset, count = offset + cut[0], cut[1]
    text = schema.format.decode()
    needs_copy = text in ("b", "e", "tdm", "n") or schema.dictionary
    if needs_copy and on_device:
        raise ColumnTypeError(f"a column of the Arrow type {_described(text)} in device memory must be cast first")
    if schema.dictionary:
        from ._texts import column_of_dictionary
        return column_of_dictionary(piece, kind, offset, count)
    valid = _validity(array)
    if needs_copy:
        return _converted(text, array, (offset, count), kind, valid, piece.owner)
    type, unit, zone = type_of(schema)
    buffers = array.buffers
    words, keep = (0, 0), None
    if type in DTYPES:
        size = align = DTYPES[type].itemsize
        length = count
    elif text[0] == "v":
        size, align, length = 16, 8, count
        words, keep = _view_buffers(array)
    else:
        size = align = 8 if text in "UZ" else 4
        length = count + 1
    data = buffers[1] + offset * size if buffers[1] else None
    owner = (piece.owner, keep)
    if data and data % align and not on_device:
        copy = array_at(data, np.dtype("u1"), length * size).copy()
        data, owner = copy.ctypes.data, (owner, copy)
    if size != 16 and type not in DTYPES:
        data, words, owner = _offsets(data, size, count, buffers[2], owner)
    return Column(kind, type, count, data, owner, unit=unit, zone=zone, validity=valid, validity_offset=offset,
                  words=words)


def _offsets(data: int | None, size: int, count: int, texts: int | None, owner: Any) -> tuple[Any, Any, Any]:
    """The address of offsets and the words of kr_column that say where their bytes are."""
    if not data:
        zero = np.zeros(1, np.int64)
        return zero.ctypes.data, (0, 0), (owner, zero)
    last = int(array_at(data + count * size, np.dtype(f"i{size}"), 1)[0])
    return data, (texts or 0, last), owner


def _view_buffers(array: Any) -> tuple[tuple[int, int], Any]:
    many = array.n_buffers - 3
    if many <= 0:
        return (0, 0), None
    sizes = array_at(array.buffers[array.n_buffers - 1], np.dtype("i8"), many)
    made = (c.kr_text_buffer * many)(*((array.buffers[2 + i], int(sizes[i])) for i in range(many)))
    return (ctypes.addressof(made), many), made


def _validity(array: Any) -> int | None:
    """The bitmap; None where it says that all rows are valid."""
    if array.null_count == 0 or not array.n_buffers or not array.buffers[0]:
        return None
    return int(array.buffers[0])


def _converted(text: str, array: Any, cut: tuple[int, int], kind: str, valid: int | None, owner: Any) -> Column:
    """Arrays whose elements lie otherwise than keyray's: bits, half floats, days in milliseconds, and none at all."""
    offset, count = cut
    if text == "n":
        nothing = np.zeros((count + 7) // 8 + 1, np.uint8)
        return Column(kind, 0, count, None, nothing, validity=nothing.ctypes.data)
    if text == "b":
        values = unpack_bits(array.buffers[1], offset, count).view(np.uint8)
        type = c.KR_U8
    elif text == "e":
        values, type = array_at((array.buffers[1] or 0) + 2 * offset, np.dtype("f2"), count).astype("f4"), c.KR_F32
    else:
        days, rest = np.divmod(array_at((array.buffers[1] or 0) + 8 * offset, np.dtype("i8"), count), 86400000)
        if rest.any():
            raise ColumnTypeError("a column of date64 holds times that are not at midnight: cast it to a timestamp")
        values, type = days.astype("i4"), c.KR_DATE32
    values = np.ascontiguousarray(values)
    return Column(kind, type, count, values.ctypes.data, (owner, values), validity=valid, validity_offset=offset,
                  is_bool=text == "b")


# ---- Arrays of our own ----


class Exported:
    """An Arrow array over numpy arrays, which anything takes that reads `__arrow_c_array__`, with no copy."""

    def __init__(self, format: str, count: int, buffers: list[Any], *, nulls: int = 0,
                 children: list[Exported] | None = None, names: list[str] | None = None) -> None:
        self.format, self.count, self.nulls = format, count, nulls
        self.buffers, self.children = buffers, children or []
        self.names = names or ["item"] * len(self.children)

    def __len__(self) -> int:
        return self.count

    def __arrow_c_array__(self, requested_schema: Any = None) -> tuple[Any, Any]:
        schema, array = ArrowSchema(), ArrowArray()
        fill_schema(schema, self, b"")
        fill_array(array, self)
        return _capsule(schema, b"arrow_schema"), _capsule(array, b"arrow_array")

    def __arrow_c_schema__(self) -> Any:
        schema = ArrowSchema()
        fill_schema(schema, self, b"")
        return _capsule(schema, b"arrow_schema")


_kept: dict[int, Any] = {}  # what exported structs point into, by private_data


@_RELEASE  # type: ignore[untyped-decorator]
def _release_schema(address: int) -> None:
    _end(ArrowSchema.from_address(address))


@_RELEASE  # type: ignore[untyped-decorator]
def _release_array(address: int) -> None:
    _end(ArrowArray.from_address(address))


def _end(struct: Any) -> None:
    """Lets go of what an exported struct points into, children that the consumer has not moved away included."""
    struct.release = None
    _cell, children, _things = _kept.pop(struct.private_data)
    for child in children:
        _release(child)


def _keep(struct: Any, release: Any, children: list[Any], things: Any) -> None:
    cell = ctypes.c_char()
    struct.private_data = ctypes.addressof(cell)
    struct.release = ctypes.cast(release, c_void_p)
    _kept[struct.private_data] = (cell, children, things)


def fill_schema(schema: Any, made: Exported, name: bytes) -> None:
    """Writes the schema of an array of our own."""
    children = [ArrowSchema() for _ in made.children]
    for child, of, called in zip(children, made.children, made.names):
        fill_schema(child, of, called.encode())
    pointers = (POINTER(ArrowSchema) * max(len(children), 1))(*map(ctypes.pointer, children))
    format = made.format.encode()
    schema.format, schema.name, schema.flags, schema.n_children = format, name, 2, len(children)
    schema.children = ctypes.cast(pointers, POINTER(POINTER(ArrowSchema)))
    _keep(schema, _release_schema, children, (format, name, pointers))


def fill_array(array: Any, made: Exported) -> None:
    """Writes the array itself."""
    children = [ArrowArray() for _ in made.children]
    for child, of in zip(children, made.children):
        fill_array(child, of)
    pointers = (POINTER(ArrowArray) * max(len(children), 1))(*map(ctypes.pointer, children))
    addresses = (c_void_p * max(len(made.buffers), 1))(
        *(None if buffer is None else buffer.ctypes.data for buffer in made.buffers))
    array.length, array.null_count, array.n_buffers = made.count, made.nulls, len(made.buffers)
    array.n_children = len(children)
    array.buffers = ctypes.cast(addresses, POINTER(c_void_p))
    array.children = ctypes.cast(pointers, POINTER(POINTER(ArrowArray)))
    _keep(array, _release_array, children, (made.buffers, pointers, addresses))


_CAPSULE_RELEASE = ctypes.CFUNCTYPE(None, c_void_p)
_capsule_name = ctypes.pythonapi.PyCapsule_GetName
_capsule_name.restype, _capsule_name.argtypes = c_char_p, [c_void_p]
_capsule_pointer = ctypes.PYFUNCTYPE(c_void_p, c_void_p, c_char_p)(("PyCapsule_GetPointer", ctypes.pythonapi))
_structs: dict[int, Any] = {}


@_CAPSULE_RELEASE  # type: ignore[untyped-decorator]
def _end_capsule(capsule: int) -> None:
    name = _capsule_name(capsule)
    struct = _structs.pop(_capsule_pointer(capsule, name), None)
    if struct is not None:
        _release(struct)


def _capsule(struct: Any, name: bytes) -> Any:
    here = ctypes.addressof(struct)
    _structs[here] = struct
    return _new_capsule(here, _NAMES[name], ctypes.cast(_end_capsule, c_void_p))


# A capsule keeps a pointer to its name, so the names must stay.
_NAMES = {name: c_char_p(name) for name in (b"arrow_schema", b"arrow_array")}

__all__ = ["Exported", "Piece", "column_of", "pieces_of"]
