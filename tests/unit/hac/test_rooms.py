"""Memory that is kept between small trees."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from supclust.hac import rooms as rooms_module
from supclust.hac.rooms import rooms

F64 = np.dtype(np.float64)


def test_matrices_of_one_call_do_not_overlap() -> None:
    first, second = rooms((3, 3), (1, 3), dtype=np.dtype(np.float32))
    first[:], second[:] = 1, 2
    assert first.shape == (3, 3) and second.shape == (1, 3)
    assert (first == 1).all() and (second == 2).all()
    assert not np.shares_memory(first, second)


def test_the_next_call_uses_the_memory_again() -> None:
    (large,) = rooms((40, 40), dtype=F64)
    (small,) = rooms((10, 10), dtype=F64)
    assert np.shares_memory(large, small)


def test_another_thread_has_its_own() -> None:
    (mine,) = rooms((10, 10), dtype=F64)
    theirs: list[np.ndarray] = []
    thread = threading.Thread(target=lambda: theirs.extend(rooms((10, 10), dtype=F64)))
    thread.start()
    thread.join()
    assert not np.shares_memory(mine, theirs[0])


def test_large_matrices_are_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rooms_module, "KEPT_BYTES", 1000)
    (first,) = rooms((100, 100), dtype=F64)
    (second,) = rooms((100, 100), dtype=F64)
    assert not np.shares_memory(first, second)
