"""Columns in the memory of a GPU, by the protocols that hand them over, and arrays of the caller's library there."""
from __future__ import annotations

import ctypes
import functools
import sys
from typing import Any

import numpy as np

from . import _structs as c
from ._arrow import ArrowDeviceArray, ArrowSchema, Piece, _pointer_of, column_of
from ._errors import ColumnTypeError, NoDeviceError
from ._types import OF_DTYPE, UNIT_OF, Column

# cudaStreamLegacy: the stream that orders itself with all others.
LEGACY = 1
_HOST_DEVICES = (1, 3, 11)  # kDLCPU, kDLCUDAHost, kDLROCMHost
_CUDA_DEVICES = (2, 13)  # kDLCUDA, kDLCUDAManaged
_KINDS = {"torch": "torch", "cupy": "cupy", "numba": "numba", "cudf": "cupy"}


def facts_of(obj: Any, root: str) -> Any:
    """`__cuda_array_interface__`; None: it is not there.

    torch makes it in Python, which takes longer than a lookup. So tensors that have one are read by their own methods.
    """
    if root != "torch" or not getattr(obj, "is_cuda", False) or obj.is_sparse or obj.requires_grad:
        return getattr(obj, "__cuda_array_interface__", None)
    if obj.is_neg():
        raise ColumnTypeError("a tensor is to be negated where it is read (torch's is_neg): give tensor.resolve_neg()")
    dtype = _dtype_in_torch(obj.dtype)
    if dtype is None:
        return obj.__cuda_array_interface__  # which says why not
    return {"typestr": dtype, "shape": tuple(obj.shape), "data": (obj.data_ptr(), False),
            "strides": None if obj.is_contiguous() else tuple(step * dtype.itemsize for step in obj.stride()),
            "stream": _stream_of_torch(obj.get_device())}


@functools.lru_cache(maxsize=64)
def _dtype_in_torch(type: Any) -> np.dtype[Any] | None:
    """numpy's type of a type of torch; None: numpy has none."""
    try:
        return np.dtype(str(type).rpartition(".")[2])
    except TypeError:
        return None


@functools.lru_cache(maxsize=64)
def _dtype_of_torch(dtype: np.dtype[Any]) -> Any:
    """torch's type for answers: unsigned 32 and 64 bits are its signed ones."""
    name = {"uint64": "int64", "uint32": "int32", "bool": "uint8"}.get(dtype.name, dtype.name)
    return getattr(sys.modules["torch"], name)


def _stream_of_torch(device: int) -> int:
    """The native stream that torch works on. Its Stream object takes microseconds, so the number is asked for."""
    torch = sys.modules["torch"]
    number = getattr(torch._C, "_cuda_getCurrentRawStream", None)
    return int(number(device) if number else torch.cuda.current_stream(device).cuda_stream) or LEGACY


def column_of_cuda(obj: Any, root: str, facts: Any) -> Column:
    """What has `__cuda_array_interface__`: cupy, numba, cudf and others. `facts`: what facts_of() gave."""
    shape = facts["shape"]
    if len(shape) != 1:
        raise ColumnTypeError(f"a column in device memory has the shape {tuple(shape)}; a column has one dimension")
    dtype = np.dtype(facts["typestr"])
    type, unit = _type_of(dtype)
    strides = facts.get("strides")
    if strides is not None and shape[0] > 1 and tuple(strides) != (dtype.itemsize,):
        raise ColumnTypeError(f"a column in device memory has strides {tuple(strides)}: make it contiguous first")
    data = facts["data"][0] or None
    _aligned(data, dtype.itemsize)
    validity, keep = _mask(facts.get("mask"), shape[0])
    column = Column(_KINDS.get(root, "cuda"), type, shape[0], data, (obj, keep), unit=unit, validity=validity,
                    is_bool=dtype == np.dtype(bool))
    column.on_device = True
    column.stream = facts.get("stream")
    if column.stream is None:
        column.stream = _current_stream(root)
    return column


def _type_of(dtype: np.dtype[Any]) -> tuple[int, int]:
    if dtype == np.dtype(bool):
        return c.KR_U8, 0
    if dtype in OF_DTYPE:
        return OF_DTYPE[dtype], 0
    if dtype.kind == "M" and dtype.isnative:
        unit = np.datetime_data(dtype)[0]
        if unit in UNIT_OF:
            return c.KR_TIMESTAMP64, UNIT_OF[unit]
    raise ColumnTypeError(f"a column in device memory has the type {dtype}, which keyray has not: cast it there first")


def _aligned(data: int | None, size: int) -> None:
    if data and data % size:
        raise ColumnTypeError(f"a column in device memory begins at an address that is no multiple of {size}: copy it")


def _mask(mask: Any, count: int) -> tuple[int | None, Any]:
    if mask is None:
        return None, None
    facts = mask.__cuda_array_interface__
    if not facts["typestr"].endswith(("t1", "t8")) and facts["typestr"][1:] not in ("t1",):
        if np.dtype(facts["typestr"]).itemsize == 1 and facts["shape"][0] < count:
            return facts["data"][0], mask  # bytes of a bitmap
        raise ColumnTypeError("a column in device memory has a mask of booleans; keyray reads bitmaps, as cudf has them")
    return facts["data"][0], mask


def _current_stream(root: str) -> int | None:
    """The stream that the producer's library works on, where it does not name one."""
    if root in ("cupy", "cudf"):
        import cupy
        return int(cupy.cuda.get_current_stream().ptr) or LEGACY
    if root == "numba":
        from numba import config
        return 2 if getattr(config, "CUDA_PER_THREAD_DEFAULT_STREAM", 0) else LEGACY
    return None


# ---- Arrow's device arrays ----


def column_of_arrow_device(obj: Any) -> Column:
    """What has `__arrow_c_device_array__`; waits for its event."""
    schema, capsule = obj.__arrow_c_device_array__()
    device = ArrowDeviceArray.from_address(_pointer_of(capsule, b"arrow_device_array"))
    described = ArrowSchema.from_address(_pointer_of(schema, b"arrow_schema"))
    piece = Piece(described, device.array, (obj, schema, capsule))
    if device.device_type in _HOST_DEVICES:
        return column_of(piece, "arrow")
    if device.device_type not in _CUDA_DEVICES:
        raise ColumnTypeError(f"a column is in the memory of another kind of device (Arrow's type "
                              f"{device.device_type}): bring it to the host or to a CUDA device")
    if described.format.decode() in ("u", "U", "z", "Z", "vu", "vz"):
        raise ColumnTypeError("a column of texts in device memory: its offsets cannot be read here; bring it to the host")
    if device.sync_event:
        _wait(ctypes.c_void_p.from_address(device.sync_event).value)
    column = column_of(piece, "arrow", on_device=True)
    column.on_device = True
    return column


def _wait(event: int | None) -> None:
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError as cause:
        raise NoDeviceError(f"a column waits for an event of CUDA, whose driver cannot be loaded: {cause}") from None
    failed = driver.cuEventSynchronize(ctypes.c_void_p(event))
    if failed:
        raise ColumnTypeError(f"the event of a column in device memory failed: CUDA error {failed}")


# ---- DLPack ----


class _DLTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
                ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
                ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


class _DLVersioned(ctypes.Structure):
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("context", ctypes.c_void_p),
                ("deleter", ctypes.c_void_p), ("flags", ctypes.c_uint64), ("tensor", _DLTensor)]


_CODES = {0: "i", 1: "u", 2: "f", 6: "b"}
_capsule_is = ctypes.pythonapi.PyCapsule_IsValid
_capsule_is.restype, _capsule_is.argtypes = ctypes.c_int, [ctypes.py_object, ctypes.c_char_p]


def on_host(obj: Any) -> bool:
    """Whether a producer of DLPack has its memory where a CPU reads it."""
    return obj.__dlpack_device__()[0] in _HOST_DEVICES


def column_of_dlpack(obj: Any, root: str) -> Column:
    """What has `__dlpack__` and is in device memory. The capsule stays with the column, whose end releases it."""
    device = obj.__dlpack_device__()
    if device[0] not in _CUDA_DEVICES:
        raise ColumnTypeError(f"a column is in the memory of another kind of device (DLPack's type {device[0]}): bring "
                              "it to the host or to a CUDA device")
    try:
        capsule = obj.__dlpack__(stream=LEGACY, max_version=(1, 0))
    except TypeError:  # a producer from before version 1
        capsule = obj.__dlpack__(stream=LEGACY)
    tensor = _tensor_of(capsule)
    column = _column_of_tensor(tensor, _KINDS.get(root, "cuda"), (obj, capsule))
    column.on_device, column.stream = True, LEGACY
    return column


def _tensor_of(capsule: Any) -> Any:
    if _capsule_is(capsule, b"dltensor_versioned"):
        made = _DLVersioned.from_address(_pointer_of(capsule, b"dltensor_versioned"))
        if made.major != 1:
            raise ColumnTypeError(f"a column is handed over by DLPack {made.major}, which this package does not know")
        return made.tensor
    return _DLTensor.from_address(_pointer_of(capsule, b"dltensor"))


def _column_of_tensor(tensor: Any, kind: str, owner: Any) -> Column:
    if tensor.ndim != 1:
        raise ColumnTypeError(f"a column in device memory has {tensor.ndim} dimensions; a column has one")
    if tensor.code not in _CODES or tensor.lanes != 1 or tensor.bits % 8:
        raise ColumnTypeError(f"a column has DLPack's type {tensor.code} of {tensor.bits} bits, which keyray has not")
    if tensor.strides and tensor.shape[0] > 1 and tensor.strides[0] != 1:
        raise ColumnTypeError("a column in device memory is strided: make it contiguous first")
    dtype = np.dtype(f"{_CODES[tensor.code]}{tensor.bits // 8}")
    type, _ = _type_of(dtype)
    data = (tensor.data or 0) + tensor.byte_offset or None
    _aligned(data, dtype.itemsize)
    return Column(kind, type, tensor.shape[0], data, owner, is_bool=tensor.code == 6)


# ---- Arrays for answers ----


def empty_like(kind: str, dtype: np.dtype[Any], count: int, like: Any) -> tuple[Any, int]:
    """An array of the caller's library in device memory, with its address. Unsigned 64 bits are torch's int64."""
    if kind == "torch":
        made = like.new_empty(count, dtype=_dtype_of_torch(dtype))
        return made, made.data_ptr()
    if kind == "numba":
        from numba import cuda
        made = cuda.device_array(count, dtype)
        return made, made.__cuda_array_interface__["data"][0]
    try:
        import cupy
    except ImportError:
        raise ColumnTypeError("answers to a column in device memory need a library that allocates them: install cupy, "
                              "or give `out`") from None
    made = cupy.empty(count, dtype)
    return made, made.data.ptr
