"""`Cut`: how the trees of blocks are made and cut."""

from __future__ import annotations

from typing import NamedTuple


class Cut(NamedTuple):
    """How trees are made and cut: ``n_clusters`` > 0 counts, else ``threshold`` does."""

    alpha: float
    threshold: float
    n_clusters: int = 0
