"""Plain-Python runs of the kernels: ``NUMBA_DISABLE_JIT=1 pytest tests/unit/hac``."""

from __future__ import annotations

import pytest
from numba.core import config


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip the tests marked ``large`` where the kernels are not compiled."""
    if config.DISABLE_JIT:
        for item in items:
            if item.get_closest_marker("large"):
                item.add_marker(pytest.mark.skip(reason="takes too long without compiled kernels"))
