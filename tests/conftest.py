import os
from pathlib import Path

import numpy as np
import pytest


@pytest.fixture
def rng():
    return np.random.default_rng(20240601)


@pytest.fixture
def data_dir():
    """Directory of real sets as ``.npz``: SKAUC_DATA_DIR, or ../shared/data."""
    path = Path(os.environ.get("SKAUC_DATA_DIR") or "../shared/data")
    if not any(path.glob("*.npz")):
        pytest.skip("needs real data: SKAUC_DATA_DIR names no directory of .npz files")
    return path
