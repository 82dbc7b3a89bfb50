"""Fixtures and settings shared by every test."""

from __future__ import annotations

import os
from pathlib import Path
from types import CodeType, FunctionType

# Apart from the user's cache, so that `make clean` removes it. Kernels are stamped with their code
# (`supclust.kernels`), so an edit recompiles what it changes.
os.environ["NUMBA_CACHE_DIR"] = str(Path(__file__).parents[1] / ".numba_cache")

import numpy as np
import pytest
from hypothesis import settings

# Numba compiles inside the first example, so a time limit per example would only find that.
settings.register_profile("developer", deadline=None)
settings.register_profile("continuous-integration", deadline=None, derandomize=True)
settings.load_profile("continuous-integration" if os.environ.get("CI") else "developer")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests that start another process, by themselves or through a helper."""
    for item in items:
        if isinstance(item, pytest.Function) and _starts_process(item.function, set()):
            item.add_marker("subprocess")


def _starts_process(function: FunctionType, seen: set[str]) -> bool:
    """Whether a function, or one of its module that it calls, refers to ``subprocess``."""
    names, codes = set(), [function.__code__]
    while codes:
        code = codes.pop()
        names |= {*code.co_names, *code.co_freevars}
        codes += [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    if names & {"subprocess", "multiprocessing", "Popen"}:
        return True
    called = [function.__globals__.get(name) for name in names - seen]
    seen |= names
    return any(
        isinstance(f, FunctionType)
        and f.__globals__ is function.__globals__
        and _starts_process(f, seen)
        for f in called
    )


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
