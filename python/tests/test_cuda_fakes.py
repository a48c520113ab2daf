"""The protocols of device memory, with memory of the host that says it were a GPU's, which no call may read."""
import ctypes
import sys
import types

import numpy as np
import pyarrow as pa
import pytest

import keyray
from keyray import _structs as c
from keyray._arrow import ArrowDeviceArray, _new_capsule, _pointer_of
from keyray._columns import as_column


class Cuda:
    """What numba and others export."""

    def __init__(self, array, **more):
        self.array = array
        self.__cuda_array_interface__ = {"shape": array.shape, "typestr": array.dtype.str, "version": 3,
                                         "data": (array.ctypes.data, False), **more}


def test_cuda_array_interface():
    array = np.arange(5)
    column = as_column(Cuda(array, stream=7))
    assert (column.type, column.count, column.struct.data) == (c.KR_I64, 5, array.ctypes.data)
    assert column.on_device and column.stream == 7 and column.kind == "cuda"
    assert as_column(Cuda(array.astype("M8[ms]"))).unit == c.KR_UNIT_MS


def test_masks_are_bitmaps():
    bits = np.array([0b101], np.uint8)
    mask = Cuda(bits)
    mask.__cuda_array_interface__["typestr"] = "<t1"
    mask.__cuda_array_interface__["shape"] = (3,)
    assert as_column(Cuda(np.arange(3), mask=mask)).struct.validity == bits.ctypes.data
    with pytest.raises(TypeError, match="mask of booleans"):
        as_column(Cuda(np.arange(3), mask=Cuda(np.ones(3, bool))))


@pytest.mark.parametrize("made, text", [
    (lambda: Cuda(np.zeros((2, 2))), "one dimension"), (lambda: Cuda(np.zeros(2, complex)), "cast it there"),
    (lambda: Cuda(np.arange(4), strides=(16,)), "strides"), (lambda: Cuda(np.zeros(2, ">i4")), "cast it there"),
    (lambda: Cuda(np.zeros(9, "u1")[1:].view("i8")), "no multiple of 8")])
def test_what_keyray_has_not(made, text):
    with pytest.raises(TypeError, match=text):
        as_column(made())


def test_other_types_do_not_convert_in_device_memory():
    with pytest.raises(TypeError, match="in device memory.*cast it there"):
        as_column(Cuda(np.arange(3, dtype="i4")), like=as_column([1]))


class Tensor:
    """A producer of DLPack that says its memory is on device 2."""

    def __init__(self, array, device=2, old=False):
        self.array, self.device, self.old, self.streams = array, device, old, []

    def __dlpack_device__(self):
        return self.device, 0

    def __dlpack__(self, *, stream=None, **more):
        self.streams.append(stream)
        if self.old and more:
            raise TypeError("max_version is not known")
        return self.array.__dlpack__(max_version=None if self.old else (1, 0))


@pytest.mark.parametrize("old", [True, False])
def test_dlpack(old):
    array = np.arange(6, dtype=np.float32)
    tensor = Tensor(array, old=old)
    column = as_column(tensor)
    assert (column.type, column.count, column.struct.data) == (c.KR_F32, 6, array.ctypes.data)
    assert column.stream == 1 and tensor.streams[-1] == 1 and column.on_device


@pytest.mark.parametrize("make, text", [
    (lambda: Tensor(np.arange(3), device=10), "another kind of device"),
    (lambda: Tensor(np.zeros((2, 2))), "2 dimensions"), (lambda: Tensor(np.arange(6)[::2]), "strided"),
    (lambda: Tensor(np.zeros(2, complex)), "DLPack's type 5")])
def test_tensors_that_keyray_has_not(make, text):
    with pytest.raises(TypeError, match=text):
        as_column(make())


class DeviceArray:
    """A producer of Arrow's device arrays."""

    def __init__(self, array, device=2):
        self.array, self.device = array, device

    def __arrow_c_device_array__(self, requested_schema=None):
        schema, array = self.array.__arrow_c_array__()
        struct = ArrowDeviceArray(device_type=self.device)
        ctypes.memmove(ctypes.addressof(struct), _pointer_of(array, b"arrow_array"), ctypes.sizeof(struct.array))
        self.kept = struct, array
        return schema, _new_capsule(ctypes.addressof(struct), b"arrow_device_array", None)


def test_arrow_device_arrays():
    array = pa.array([1, None, 3]).slice(1)
    column = as_column(DeviceArray(array))
    assert column.on_device and column.struct.validity_offset == 1
    assert column.struct.data == array.buffers()[1].address + 8
    assert not as_column(DeviceArray(array, device=1)).on_device
    with pytest.raises(TypeError, match="another kind of device"):
        as_column(DeviceArray(array, device=8))
    with pytest.raises(TypeError, match="texts in device memory"):
        as_column(DeviceArray(pa.array(["a"])))
    with pytest.raises(TypeError, match="must be cast first"):
        as_column(DeviceArray(pa.array([True])))


def test_a_cpu_refuses_columns_in_device_memory():
    fake, host = Cuda(np.arange(4)), np.arange(4)
    index = keyray.Index(host, values=host, device="cpu")
    calls = [lambda: keyray.Index(fake, device="cpu"), lambda: keyray.Index(host, values={"v": fake}, device="cpu"),
             lambda: keyray.Index(host, row_ids=Cuda(np.arange(4, dtype=np.uint32)), device="cpu"),
             lambda: index.lookup(fake), lambda: index.lookup(host, ("sum", fake)), lambda: index.range(host, fake).count(),
             lambda: index.lookup_many(fake, n="count"), lambda: index.lookup_all(fake), lambda: index.nearest(fake),
             lambda: index.prepare(fake), lambda: index.update(insert=fake), lambda: index.set_values(fake),
             lambda: index.join(fake), lambda: keyray.join(fake, host, device="cpu"),
             lambda: keyray.join_asof(host, host, left_by=fake, right_by=host, device="cpu"),
             lambda: keyray.Table({"a": fake}, device="cpu")]
    for call in calls:
        with pytest.raises(ValueError, match="device memory"):
            call()


def test_wide_row_ids_of_numba_are_an_error_with_a_status():
    from keyray._results import _device_rows
    with pytest.raises(NotImplementedError) as caught:
        _device_rows(np.zeros(1, np.uint32), True, "numba")
    assert caught.value.status_name == "KR_ERR_UNSUPPORTED"


# ---- A GPU of make-believe: columns say that they are of cudf, and the CPU works on them where they are ----


class Memory(np.ndarray):
    """An array as cupy has it."""

    @property
    def data(self):
        return types.SimpleNamespace(ptr=self.ctypes.data)

    @property
    def __cuda_array_interface__(self):
        return {"shape": self.shape, "typestr": self.dtype.str, "version": 3, "data": (self.ctypes.data, False)}


class Bits:
    """A mask as cudf hands it over: a bitmap, whose shape counts rows."""

    def __init__(self, valid):
        self.array = np.packbits(valid, bitorder="little")
        self.__cuda_array_interface__ = {"shape": (len(valid),), "typestr": "<t1", "version": 3,
                                         "data": (self.array.ctypes.data, True)}


class Series(Cuda):
    """A column as cudf exports it."""

    def __init__(self, values, dtype=np.int64):
        valid = np.array([value is not None for value in values], bool)
        array = np.array([0 if value is None else value for value in values], dtype)
        super().__init__(array, **({} if valid.all() else {"mask": Bits(valid)}))

    def __len__(self):
        return len(self.array)

    def __getitem__(self, rows):
        return self.array[rows]


Series.__module__ = "cudf.core.series"


class Gpu(keyray.Device):
    """The CPU, which says it were a GPU."""

    def __init__(self):
        super().__init__("cpu")
        self.kind = "cuda"
        self.streams = set()

    def stream_of(self, native):
        self.streams.add(native)


@pytest.fixture
def gpu(monkeypatch):
    cupy = types.ModuleType("cupy")
    cupy.empty = lambda count, dtype: np.empty(count, dtype).view(Memory)
    cupy.asarray = np.asarray
    cupy.unpackbits = np.unpackbits
    cupy.cuda = types.SimpleNamespace(get_current_stream=lambda: types.SimpleNamespace(ptr=0))
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    return Gpu()


def test_lookups_of_cudf(gpu):
    index = keyray.Index(Series([5, None, 3, 5]), values={"v": Series([1, 2, None, 4])}, device=gpu)
    probes = Series([3, None, 5, 9])
    assert index.lookup(probes).tolist() == [2, -1, 0, -1] and 1 in gpu.streams
    assert index.lookup(probes, "count").tolist() == [1, 0, 2, 0] and index.contains(probes).tolist() == [True, False, True, False]
    least, valid = index.lookup(probes, "min")
    assert valid.tolist() == [False, False, True, False] and least[2] == 1
    offsets, rows = index.lookup_all(probes)
    assert offsets.tolist() == [0, 1, 1, 3, 3] and rows.tolist() == [2, 0, 3]


@pytest.mark.parametrize("spec", ["best", "full"])
def test_tables_of_cudf(gpu, spec):
    table = keyray.Table({"a": Series([5, None, 3, 5]), "f": Series([0.5, 1.5, None, 2.5], np.float64)}, spec, device=gpu)
    assert table.where("a = 5").rows().tolist() == [0, 3] and table.where("a is null").rows().tolist() == [1]
    assert table.where("a <> 5 or f > 1").mask().tolist() == [False, True, True, True]
    assert table.where(True).sum("a") == 13 and table.where("a = 3").max("f") is None
    table.append({"a": Series([None, 3]), "f": Series([7, 8], np.float64)})
    assert table.where("a = 3").rows().tolist() == [2, 5] and table.where("f >= 7").rows().tolist() == [4, 5]
    assert table.delete(Series([0, 5], np.uint32)) == 2 and table.where("a = 5 or f = 8").rows().tolist() == [3]
    with pytest.raises(ValueError, match="must not be NULL"):
        table.delete(Series([1, None], np.uint32))


def test_joins_of_cudf(gpu):
    left, right = Series([3, None, 5, 9]), Series([5, None, 3, 5])
    assert [side.tolist() for side in keyray.join(left, right, device=gpu)] == [[0, 2, 2], [2, 0, 3]]
    assert keyray.join(left, right, how="anti", device=gpu).tolist() == [1, 3]
    groups = Series([1, 1, None, 1]), Series([1, 1, 1, 2])
    assert [side.tolist() for side in keyray.join([left, groups[0]], [right, groups[1]], device=gpu)] == [[0], [2]]
    rows, near = keyray.join_asof(left, right, left_by=groups[0], right_by=groups[1], device=gpu)
    assert rows.tolist() == [0, 1, 2, 3] and near.tolist() == [2, -1, -1, 0]
    rows, ranges = keyray.join_range(left, Series([4, None]), Series([9, 9]), device=gpu)
    assert (rows.tolist(), ranges.tolist()) == ([2, 3], [0, 0])
    with pytest.raises(TypeError, match="in device memory"):
        keyray.join(left, Series([5], np.int32), device=gpu)
