"""What all tests use."""
import numpy as np
import pytest

import keyray


@pytest.fixture(scope="session")
def rng():
    return np.random.default_rng(20261126)


@pytest.fixture
def cpu():
    return keyray.Device("cpu", threads=2)
