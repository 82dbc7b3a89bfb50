"""Hierarchical clustering with ExpLink, straight from the definition of the linkage.

Nothing here keeps statistics across merges: every linkage is computed anew from the original
dissimilarities between the leaves of the two clusters. The index of a cluster, wherever ties are
broken by "lowest index", is its smallest leaf.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import torch


def explink(f_values: np.ndarray, alpha: float) -> float:
    """Softmax-weighted mean of the cross dissimilarities of two clusters.

    Psi = sum exp(alpha f) f / sum exp(alpha f); the minimum at alpha = -inf, the mean at 0, the
    maximum at +inf. An infinite f is ignored for alpha < 0 unless all are infinite, and makes the
    result infinite for alpha >= 0. Weights are shifted by their largest exponent and values by
    their minimum, which changes neither the formula nor its value but lets nothing overflow.
    """
    f = np.asarray(f_values, dtype=np.float64).ravel()
    if alpha < 0:
        f = f[np.isfinite(f)]
        if f.size == 0:
            return math.inf
    elif np.isinf(f).any():
        return math.inf
    lowest = f.min()
    if alpha == -math.inf:
        return float(lowest)
    if alpha == math.inf:
        return float(f.max())
    exponent = alpha * f
    weight = np.exp(exponent - exponent.max())
    return float(lowest + (weight * (f - lowest)).sum() / weight.sum())


def linkage_between(D: np.ndarray, u: Sequence[int], v: Sequence[int], alpha: float) -> float:
    """ExpLink between two clusters given as lists of leaves."""
    return explink(D[np.ix_(list(u), list(v))], alpha)


def greedy_tree(D: np.ndarray, alpha: float) -> np.ndarray:
    """Greedy HAC: in every round compare all pairs of clusters and merge the lowest.

    Returns:
        Z in SciPy form, (n-1, 4). Heights are the running maximum of the linkages: for this
        reducible linkage that differs from the linkage only by rounding.
    """
    n = len(D)
    live = {node: [node] for node in range(n)}  # node id -> leaves
    rows: list[tuple[float, float, float, float]] = []
    for k in range(n - 1):
        by_smallest_leaf = sorted(live, key=lambda node: min(live[node]))
        best = math.inf
        pair = by_smallest_leaf[0], by_smallest_leaf[1]
        for position, u in enumerate(by_smallest_leaf):
            for v in by_smallest_leaf[position + 1 :]:
                psi = linkage_between(D, live[u], live[v], alpha)
                if psi < best:  # strict: the earliest of several equal pairs stays
                    best, pair = psi, (u, v)
        height = max(best, rows[-1][2]) if rows else best
        leaves = live.pop(pair[0]) + live.pop(pair[1])
        live[n + k] = leaves
        rows.append((min(pair), max(pair), height, len(leaves)))
    return np.array(rows, dtype=np.float64).reshape(-1, 4)


def check_structure(Z: np.ndarray, n: int) -> None:
    """Assert that Z is a well-formed SciPy tree over n leaves with non-decreasing heights."""
    assert Z.shape == (max(n - 1, 0), 4), f"Z must have shape ({n - 1}, 4), got {Z.shape}"
    assert not np.isnan(Z).any(), "Z contains NaN"
    assert np.isfinite(Z[:, [0, 1, 3]]).all(), "Z has an infinite child id or size"
    size = dict.fromkeys(range(n), 1)  # live nodes only
    for k, (a, b, height, count) in enumerate(Z):
        assert a == int(a) and b == int(b), f"merge {k}: child ids {a}, {b} are not integers"
        assert a < b, f"merge {k}: children ({a:g}, {b:g}) must be different, smaller id first"
        for child in (a, b):
            assert child in size, f"merge {k}: child {child:g} is unborn, merged before, or no node"
        expected = size.pop(int(a)) + size.pop(int(b))
        assert count == expected, f"merge {k}: size {count:g}, but its children hold {expected}"
        size[n + k] = expected
        if k > 0:
            assert height >= Z[k - 1, 2], (
                f"merge {k}: height {height:.17g} is below the previous one {Z[k - 1, 2]:.17g}"
            )


def replay(
    D: np.ndarray, Z: np.ndarray, alpha: float, rtol: float = 1e-9, atol: float = 0.0
) -> None:
    """Assert that Z is a tree greedy HAC could have built, whichever way it broke its ties.

    Walks the merges in order. Each height must equal the linkage of the two children (from the
    definition, over the original dissimilarities) and be the lowest linkage of all live pairs,
    both within ``atol + rtol * (largest finite |D|)``. The structure and the order of the
    heights are checked without tolerance.

    Args:
        D: (n, n) symmetric dissimilarities; the diagonal is not read; +inf is legal.
        Z: (n-1, 4) tree in SciPy form.
        alpha: linkage parameter, any of [-inf, inf].
        rtol: tolerance in units of the largest finite dissimilarity.
        atol: absolute tolerance on top of it.

    Raises:
        AssertionError: naming the merge and what is wrong with it.
    """
    D = np.asarray(D, dtype=np.float64)
    Z = np.asarray(Z, dtype=np.float64)
    n = len(D)
    check_structure(Z, n)
    tolerance = atol + rtol * scale_of(D)

    leaves = {i: [i] for i in range(n)}
    live = list(range(n))
    table = np.full((2 * n - 1, 2 * n - 1), math.inf)  # dead and absent pairs stay infinite
    for i in range(n):
        for j in range(i + 1, n):
            table[i, j] = table[j, i] = linkage_between(D, [i], [j], alpha)

    for k, (first, second, height, _) in enumerate(Z):
        a, b = int(first), int(second)
        psi = table[a, b]
        assert _close(height, psi, tolerance), (
            f"merge {k} of {a} and {b}: height {height:.17g}, but their linkage is {psi:.17g} "
            f"(tolerance {tolerance:.3g})"
        )
        lowest = table.min()
        closest = " and ".join(str(node) for node in np.unravel_index(table.argmin(), table.shape))
        assert _close(psi, lowest, tolerance), (
            f"merge {k} of {a} and {b} has linkage {psi:.17g}, but {closest} are closer: "
            f"{lowest:.17g} (tolerance {tolerance:.3g})"
        )
        for dead in (a, b):
            live.remove(dead)
            table[dead, :] = table[:, dead] = math.inf
        new = n + k
        leaves[new] = leaves[a] + leaves[b]
        for other in live:
            psi = linkage_between(D, leaves[new], leaves[other], alpha)
            table[new, other] = table[other, new] = psi
        live.append(new)


def scale_of(D: np.ndarray) -> float:
    """Largest finite absolute off-diagonal dissimilarity; 0 where there is none."""
    off_diagonal = D[~np.eye(len(D), dtype=bool)]
    finite = np.abs(off_diagonal[np.isfinite(off_diagonal)])
    return float(finite.max()) if finite.size else 0.0


def _close(x: float, y: float, tolerance: float) -> bool:
    return bool(x == y or abs(x - y) <= tolerance)


# -- the same definition in torch, so that autograd differentiates it ---------------------------


def explink_torch(
    f: torch.Tensor, alpha: float | torch.Tensor, every: bool = False
) -> torch.Tensor:
    """`explink` with gradients in f and, if it is a finite tensor, alpha.

    Gradient: at alpha = -inf / +inf it goes to the first extreme entry of f alone, one of many
    valid choices where several are equal; with ``every``, to all of them in full, which is no
    gradient of anything. An infinite result is a constant.
    """
    f = f.reshape(-1)
    a = alpha.item() if isinstance(alpha, torch.Tensor) else alpha
    if a < 0:
        f = f[torch.isfinite(f)]
        if f.numel() == 0:
            return f.new_tensor(math.inf)
    elif bool(torch.isinf(f).any()):
        return f.new_tensor(math.inf)
    if every and abs(a) == math.inf:
        extreme = f.detach().min() if a < 0 else f.detach().max()
        tied = f[f.detach() == extreme]
        return extreme + (tied - tied.detach()).sum()
    if a == -math.inf:
        return f[int(np.argmin(f.detach().numpy()))]
    if a == math.inf:
        return f[int(np.argmax(f.detach().numpy()))]
    return (torch.softmax(alpha * f, dim=0) * f).sum()


def cross_values(D: torch.Tensor, u: Sequence[int], v: Sequence[int]) -> torch.Tensor:
    """Dissimilarities between the leaves of u and v, from the upper triangle only.

    Ordered by (smaller leaf, larger leaf), so "the first" is the same pair whichever side of the
    merge a cluster is on.
    """
    pairs = sorted((min(i, j), max(i, j)) for i in u for j in v)
    return torch.stack([D[i, j] for i, j in pairs])


def heights_of(D: torch.Tensor, Z: np.ndarray, alpha: float | torch.Tensor) -> torch.Tensor:
    """Merge heights of a given topology, (n-1,), differentiable in D and alpha.

    Only D[i, j] with i < j is read, so the gradient lands there; compare implementations that
    spread it over both triangles through `oracles.losses.pair_gradient`.
    """
    n = len(Z) + 1
    leaves = {i: [i] for i in range(n)}
    heights = []
    for k, (a, b) in enumerate(np.asarray(Z)[:, :2].astype(int)):
        heights.append(explink_torch(cross_values(D, leaves[a], leaves[b]), alpha))
        leaves[n + k] = leaves[a] + leaves[b]
    return torch.stack(heights) if heights else D[:0, 0]
