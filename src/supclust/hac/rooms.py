"""Memory for the matrices that a small tree destroys, kept from one call to the next.

Asking the system for fresh pages, and touching each for the first time, can take longer than
building the tree.
"""

from __future__ import annotations

import math
import threading

import numpy as np
from numpy.typing import NDArray

KEPT_BYTES = 2**26  # that a thread keeps at most: the two matrices of 2,000 points in float64


class _Room(threading.local):
    """A thread's memory: trees of different threads do not meet."""

    bytes: NDArray[np.uint8] = np.empty(0, np.uint8)


_room = _Room()


def rooms(*shapes: tuple[int, int], dtype: np.dtype[np.generic]) -> list[NDArray[np.floating]]:
    """Return uninitialised matrices; this thread's next call may hand out the same memory."""
    sizes = [-(-math.prod(shape) * dtype.itemsize // 64) * 64 for shape in shapes]
    needed = sum(sizes)
    if needed > KEPT_BYTES:
        return [np.empty(shape, dtype) for shape in shapes]
    if _room.bytes.size < needed:
        _room.bytes = np.empty(0, np.uint8)  # freed first: the old and the new need not coexist
        _room.bytes = np.empty(needed, np.uint8)
    starts = np.cumsum([0, *sizes])
    return [
        _room.bytes[start : start + math.prod(shape) * dtype.itemsize].view(dtype).reshape(shape)
        for start, shape in zip(starts, shapes, strict=False)
    ]
