"""Columns in the memory of a GPU: torch, cupy and numba, where they and a GPU are there."""
import numpy as np
import pytest

import keyray

pytestmark = pytest.mark.skipif(all(device["name"] == "cpu" for device in keyray.devices()), reason="no GPU is here")

KEYS = np.array([30, 10, 20, 10], np.int64)
PROBES = np.array([10, 99, 20], np.int64)


LIBRARIES = ["torch", "cupy", "numba"]


def made_by(name, array):
    module = pytest.importorskip("numba.cuda" if name == "numba" else name)
    if name == "torch":
        return module.as_tensor(array, device="cuda")
    return module.to_device(array) if name == "numba" else module.asarray(array)


def on_host(made):
    if hasattr(made, "cpu"):
        return made.cpu().numpy()
    return made.get() if hasattr(made, "get") else made.copy_to_host()


@pytest.mark.parametrize("name", LIBRARIES)
def test_lookups(name):
    index = keyray.Index(made_by(name, KEYS), values={"v": made_by(name, np.arange(4.0))})
    assert index.device.kind == "cuda"
    probes = made_by(name, PROBES)
    found = index.lookup(probes)
    assert type(found).__module__.split(".")[0] == name and on_host(found).dtype == np.int32
    assert on_host(found).tolist() == [1, -1, 2]
    assert on_host(index.lookup(probes, "count")).tolist() == [2, 0, 1]
    assert on_host(index.lookup(probes, ("sum", "v"))).tolist() == [4.0, 0.0, 2.0]
    assert on_host(index.range(probes, probes).row()).tolist() == [1, -1, 2]
    offsets, rows = index.lookup_all(probes)
    assert on_host(offsets).tolist() == [0, 2, 2, 3] and on_host(rows).tolist() == [1, 3, 2]
    if name != "numba":
        assert on_host(index.contains(probes)).tolist() == [True, False, True]
        low, valid = index.lookup(probes, ("min", "v"))
        assert on_host(low)[on_host(valid)].tolist() == [1.0, 2.0]


@pytest.mark.parametrize("name", LIBRARIES)
def test_prepared(name):
    index = keyray.Index(made_by(name, KEYS))
    probes = made_by(name, PROBES)
    prepared = index.prepare(probes)
    for _ in range(3):
        prepared.run()
    assert on_host(prepared.result).tolist() == [1, -1, 2]


def test_torch_streams():
    torch = pytest.importorskip("torch")
    index = keyray.Index(torch.arange(1 << 20, device="cuda"))
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for shift in range(20):
            probes = torch.arange(1 << 20, device="cuda") + shift
            found = index.lookup(probes)
            expected = torch.where(probes < 1 << 20, probes, torch.full_like(probes, -1)).int()
            assert bool((found == expected).all())


def test_host_columns_and_errors():
    index = keyray.Index(KEYS, device="cuda")
    assert index.lookup(PROBES).tolist() == [1, -1, 2]
    cupy = pytest.importorskip("cupy")
    with pytest.raises(TypeError, match="cast it there"):
        index.lookup(cupy.asarray(PROBES.astype(np.int32)))
    with pytest.raises(ValueError):
        keyray.Index(KEYS, device="cpu").lookup(cupy.asarray(PROBES))
    assert index.lookup(cupy.from_dlpack(cupy.asarray(PROBES))).get().tolist() == [1, -1, 2]


def test_saved_with_values_of_the_device(tmp_path):
    cupy = pytest.importorskip("cupy")
    index = keyray.Index(cupy.asarray(KEYS), values={"v": cupy.arange(4.0)})
    index.save(tmp_path / "i.keyray")
    assert keyray.load(tmp_path / "i.keyray", device="cpu").lookup([10], ("sum", "v")).tolist() == [4.0]
