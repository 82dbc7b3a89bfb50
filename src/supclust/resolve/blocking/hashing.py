"""Hashes of texts: the same in every table, on every machine and in every version."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from supclust.resolve.blocking.key_kernels import hash_texts

Ints = NDArray[np.int64]


def hashed(texts: Sequence[str]) -> Ints:
    """63-bit hash of every text; -1 for empty ones."""
    keys = np.empty(len(texts), np.int64)
    points, starts = code_points(texts)
    hash_texts(points, starts, keys)
    keys[np.diff(starts) == 0] = -1
    return keys


def code_points(texts: Sequence[str]) -> tuple[NDArray[np.int64], Ints]:
    """Code points of all texts, one after the other, and where each starts."""
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    points = np.frombuffer("".join(texts).encode("utf-32-le"), np.uint32).astype(np.int64)
    return points, np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
