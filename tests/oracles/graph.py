"""ExpLink on graphs, from dense matrices: completed matrices, a replay and a greedy oracle.

A matrix of a graph holds NaN for pairs that count nothing ("ignored") and inf for "never alike".
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations

import numpy as np

from oracles.hac import explink

Edges = tuple[np.ndarray, np.ndarray, np.ndarray]


def completed(edges: Edges, n: int, missing: float | str) -> np.ndarray:
    """(n, n) matrix with ``missing``, or NaN for "ignored", wherever no edge is given."""
    D = np.full((n, n), np.nan if missing == "ignored" else float(missing))
    i, j, f = edges
    D[i, j] = D[j, i] = f
    return D


def linkage_between(
    D: np.ndarray, u: Sequence[int], v: Sequence[int], alpha: float, apart: np.ndarray | None = None
) -> float:
    """ExpLink over the pairs across u and v that count; inf if a cannot-link joins them."""
    cross = D[np.ix_(list(u), list(v))]
    if apart is not None and apart[np.ix_(list(u), list(v))].any():
        return math.inf
    known = cross[~np.isnan(cross)]
    return explink(known, alpha) if known.size else math.inf


def greedy_partition(
    D: np.ndarray,
    alpha: float,
    threshold: float,
    must: Sequence[tuple[int, int]] = (),
    cannot: Sequence[tuple[int, int]] = (),
) -> tuple[list[set[int]], list[float]]:
    """Merge the closest clusters until none are at or below the threshold, by brute force.

    Returns:
        The clusters and the heights of the merges that were not must-links.
    """
    n = len(D)
    apart = np.zeros((n, n), bool)
    for a, b in cannot:
        apart[a, b] = apart[b, a] = True
    clusters = [{i} for i in range(n)]
    for a, b in must:
        first = next(c for c in clusters if a in c)
        second = next(c for c in clusters if b in c)
        if first is not second:
            clusters.remove(second)
            first |= second
    heights: list[float] = []
    while True:
        best, pair = math.inf, None
        for u, v in combinations(clusters, 2):
            psi = linkage_between(D, sorted(u), sorted(v), alpha, apart)
            if psi < best:
                best, pair = psi, (u, v)
        if pair is None or best > threshold:
            return clusters, heights
        clusters.remove(pair[1])
        pair[0].update(pair[1])
        heights.append(best)


def replay(
    D: np.ndarray, pairs: np.ndarray, heights: np.ndarray, alpha: float, limit: float
) -> None:
    """Assert that greedy HAC could have made these merges, whichever way it broke its ties.

    Every height must be the linkage of the two clusters and the lowest of all, and no pair below
    the limit may be left, within 1e-12 of the largest dissimilarity. Linkages are ratios of sums
    over the original pairs, kept per pair of clusters; |alpha| times the range of D must be below
    about 300.

    Args:
        D: (n, n) matrix of the graph.
        pairs: (m, 2) a point of either side, by height.
        heights: (m,) ascending.
        alpha: of the family.
        limit: largest height.
    """
    n = len(D)
    off = ~np.eye(n, dtype=bool)
    finite = np.isfinite(D) & off
    scale = float(np.abs(D[finite]).max(initial=0.0))
    tolerance = 1e-12 * max(scale, 1.0)
    weightless = np.isnan(D) | (np.isinf(D) & (alpha < 0)) | ~off
    infinite = np.isinf(D) & (alpha >= 0) & off
    counted = ~weightless & ~infinite
    values = np.where(counted, D, 0.0)
    if math.isinf(alpha):
        W = np.where(counted, values if alpha > 0 else -values, -math.inf)  # a running maximum
        F = np.zeros_like(W)
    else:
        centre = (values.min() + values.max()) / 2
        W = np.where(counted, np.exp(alpha * (values - centre)), 0.0)
        F = W * values
    never = infinite.astype(float)
    live = np.ones(n, bool)

    def linkages(rows: np.ndarray | int) -> np.ndarray:
        if math.isinf(alpha):
            psi = np.where(np.isinf(W[rows]), math.inf, W[rows] if alpha > 0 else -W[rows])
        else:
            with np.errstate(invalid="ignore", divide="ignore"):
                psi = np.where(W[rows] > 0, F[rows] / W[rows], math.inf)
        psi = np.where((never[rows] > 0) | ~live, math.inf, psi)
        return psi

    psi = linkages(np.arange(n))
    np.fill_diagonal(psi, math.inf)
    cluster = np.arange(n)
    for (a, b), height in zip(pairs.tolist(), heights.tolist(), strict=True):
        u, v = sorted((cluster[a], cluster[b]))
        assert u != v, "a merge of a cluster with itself"
        assert abs(psi[u, v] - height) <= tolerance, (psi[u, v], height)
        lowest = psi.min()
        assert height <= lowest + tolerance, (height, lowest)
        cluster[cluster == v] = u
        live[v] = False
        for matrix in (W, F, never):
            joined = (
                np.maximum(matrix[u], matrix[v])
                if matrix is W and math.isinf(alpha)
                else matrix[u] + matrix[v]
            )
            matrix[u], matrix[:, u] = joined, joined
        psi[v] = psi[:, v] = math.inf
        psi[u] = linkages(int(u))
        psi[u, u] = math.inf
        psi[:, u] = psi[u]
    assert psi.min() > limit - tolerance, f"{psi.min()} is left below the limit {limit}"
