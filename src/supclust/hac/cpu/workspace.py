"""Memory for the matrices that a tree destroys, kept from one call to the next.

Asking the system for fresh pages, and touching each for the first time, can take longer than
building the tree. Small rooms are simply kept, one in each thread. The large ones are handed back
lazily where the system can: until somebody needs the memory, their pages stay where they are.
"""

from __future__ import annotations

import math
import mmap
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import numpy as np
from numpy.typing import NDArray

KEPT_BYTES = 2**26  # that a thread keeps at most: the two matrices of 2,000 points in float64
LENT_SHARE = 0.25  # of the machine's memory that the large rooms take at most
_ALIGNED = 64

Bytes = NDArray[np.uint8]


class _Room(threading.local):
    """A thread's memory: trees of different threads do not meet."""

    bytes: Bytes = np.empty(0, np.uint8)


class _Large:
    """A large room of the process, lent to one tree at a time."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.pages: mmap.mmap | None = None

    def bytes(self, needed: int) -> Bytes:
        if self.pages is None or len(self.pages) < needed:
            self.pages = None  # freed first: the old and the new need not coexist
            self.pages = mmap.mmap(-1, needed, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
            if hasattr(mmap, "MADV_HUGEPAGE"):
                with suppress(OSError):  # a system without large pages
                    self.pages.madvise(mmap.MADV_HUGEPAGE)
        return np.frombuffer(self.pages, np.uint8)

    def size(self) -> int:
        pages = self.pages
        return 0 if pages is None else len(pages)

    def give_back(self) -> None:
        if self.pages is not None:
            with suppress(OSError):  # pages that are locked, and so stay in memory
                self.pages.madvise(mmap.MADV_FREE)

    def release(self) -> None:
        if self.lock.acquire(blocking=False):
            self.pages = None
            self.lock.release()


# The second one is for a tree that has a square of its own to read, too.
_room, _large = _Room(), (_Large(), _Large())
# A child of a fork has its own copy of the pages, and nobody in it to unlock them.
if hasattr(os, "register_at_fork"):
    for _one in _large:
        os.register_at_fork(after_in_child=_one.__init__)  # type: ignore[misc]


def small_room(numbers: int, dtype: np.dtype[np.generic]) -> NDArray[np.floating]:
    """Return an uninitialised array; this thread's next call may hand out the same memory."""
    needed = numbers * dtype.itemsize
    if needed > KEPT_BYTES:
        return np.empty(numbers, dtype)
    if _room.bytes.size < needed:
        _room.bytes = np.empty(0, np.uint8)  # freed first, as above
        _room.bytes = np.empty(needed, np.uint8)
    return _room.bytes[:needed].view(dtype)


@contextmanager
def large_rooms(
    *shapes: tuple[int, int], dtype: np.dtype[np.generic]
) -> Iterator[list[NDArray[np.floating]]]:
    """Lend uninitialised matrices, which must not be used afterwards.

    They begin where a line of memory does.
    """
    needed = _needed(shapes, dtype)
    lent = _lendable(needed)
    if lent is None:
        yield _divided(_aligned(needed), shapes, dtype)
        return
    try:
        yield _divided(lent.bytes(needed), shapes, dtype)
        lent.give_back()
    finally:
        lent.lock.release()


def whole_lines(columns: int, dtype: np.dtype[np.generic]) -> int:
    """Return how wide a matrix must be if all of its rows begin where lines of memory do."""
    numbers = _ALIGNED // dtype.itemsize
    return -(-columns // numbers) * numbers


def release() -> None:
    """Give the large rooms back at once, unless they are lent."""
    for room in _large:
        room.release()


def _lendable(needed: int) -> _Large | None:
    """Return a locked room that may have this size, or None."""
    for room, other in (_large, _large[::-1]):
        if not room.lock.acquire(blocking=False):
            continue
        if not _can_lend(needed + other.size()):
            other.release()
        if _can_lend(needed + other.size()):
            return room
        room.lock.release()
    return None


def _can_lend(needed: int) -> bool:
    if not hasattr(mmap, "MADV_FREE") or not hasattr(os, "sysconf"):
        return False
    return needed <= LENT_SHARE * os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _aligned(size: int) -> Bytes:
    """Return fresh memory that begins where a line of memory does."""
    room = np.empty(size + _ALIGNED, np.uint8)
    start = -room.ctypes.data % _ALIGNED
    return room[start : start + size]


def _sizes(shapes: tuple[tuple[int, int], ...], dtype: np.dtype[np.generic]) -> list[int]:
    return [-(-math.prod(shape) * dtype.itemsize // _ALIGNED) * _ALIGNED for shape in shapes]


def _needed(shapes: tuple[tuple[int, int], ...], dtype: np.dtype[np.generic]) -> int:
    return sum(_sizes(shapes, dtype))


def _divided(
    room: Bytes, shapes: tuple[tuple[int, int], ...], dtype: np.dtype[np.generic]
) -> list[NDArray[np.floating]]:
    starts = np.cumsum([0, *_sizes(shapes, dtype)])
    return [
        room[start : start + math.prod(shape) * dtype.itemsize].view(dtype).reshape(shape)
        for start, shape in zip(starts, shapes, strict=False)
    ]
