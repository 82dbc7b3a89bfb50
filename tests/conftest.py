"""Fixtures and settings shared by every test."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

# Numba compiles inside the first example, so a time limit per example would only find that.
settings.register_profile("developer", deadline=None)
settings.register_profile("continuous-integration", deadline=None, derandomize=True)
settings.load_profile("continuous-integration" if os.environ.get("CI") else "developer")


@pytest.fixture
def rng() -> np.random.Generator:
    """Return a generator that starts from the same seed in every test."""
    return np.random.default_rng(20190611)


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """Return the folder of real data sets, or skip the test where there is none."""
    configured = os.environ.get("SUPCLUST_DATA")
    if not configured:
        pytest.skip("needs real data: set SUPCLUST_DATA to the folder that holds it")
    folder = Path(configured)
    if not folder.is_dir():
        pytest.skip(f"needs real data: SUPCLUST_DATA={configured} is not a folder")
    return folder
