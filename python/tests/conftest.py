"""What all tests use."""
import os
import pathlib
import subprocess
import tempfile

import numpy as np
import pytest

import keyray

# From the source tree, without an installed wheel, the plugin for polars is made here.
if not pathlib.Path(keyray.__file__).with_name("keyray_polars.so").exists() and "KEYRAY_POLARS_PLUGIN" not in os.environ:
    _plugin = pathlib.Path(__file__).resolve().parents[1] / "plugin"
    _made = pathlib.Path(tempfile.mkdtemp(prefix="keyray-")) / "keyray_polars.so"
    subprocess.run(["cc", "-std=c11", "-O2", "-fPIC", "-shared", "-fvisibility=hidden", "-I",
                    str(_plugin.parents[1] / "include"), str(_plugin / "plugin.c"), str(_plugin / "arrow.c"), "-o",
                    str(_made), "-lpthread"], check=True)
    os.environ["KEYRAY_POLARS_PLUGIN"] = str(_made)


@pytest.fixture(scope="session")
def rng():
    return np.random.default_rng(20261126)


@pytest.fixture
def cpu():
    return keyray.Device("cpu", threads=2)
