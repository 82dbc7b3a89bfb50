"""Fixtures and settings shared by every test."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from types import CodeType, FunctionType

# Numba notices a change of the file a kernel stands in, but not of the kernels it calls: a stale
# cache would test yesterday's code. So each state of the compiled sources has a cache of its own.
_ROOT = Path(__file__).parents[1]
_SOURCES = [path.read_bytes() for path in sorted((_ROOT / "src").rglob("*.py"))]
_COMPILED = [text for text in _SOURCES if b"numba" in text]
_STATE = hashlib.sha256(b"".join(_COMPILED)).hexdigest()[:16]
os.environ["NUMBA_CACHE_DIR"] = str(_ROOT / ".numba_cache" / _STATE)

import numpy as np  # noqa: E402  (Numba reads its settings when it is first imported)
import pytest  # noqa: E402
from hypothesis import settings  # noqa: E402

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
