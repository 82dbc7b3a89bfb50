"""`supclust.linkage`: a drop-in for SciPy's `linkage` on precomputed dissimilarities."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supclust.hac.cpu import dispatch
from supclust.hac.cpu.dispatch import Tree, build_small, build_tree
from supclust.hac.cpu.fill import Floats, fill_square, points_of, square_of
from supclust.hac.cpu.forest import grow
from supclust.hac.family import alpha_of, is_weighted, overflows
from supclust.hac.memory import require_memory, return_large_workspaces, workspace
from supclust.hac.validation import as_floats, check_square

_BYTES_PER_PAIR = 120  # with constraints: the edge three times, its record, heap and table


def linkage(
    dissimilarity: ArrayLike,
    method: str = "exp",
    *,
    alpha: float | None = None,
    must_link: ArrayLike | None = None,
    cannot_link: ArrayLike | None = None,
) -> NDArray[np.float64]:
    """Cluster hierarchically with a member of the ExpLink family, exactly, in O(n^2).

    Psi(u, v) = sum exp(alpha f_ij) f_ij / sum exp(alpha f_ij) over the pairs across clusters u and
    v (the paper's Sec. 4.1): single linkage at alpha = -inf, average at 0, complete at inf.

    Args:
        dissimilarity: (n, n) symmetric matrix, or SciPy's condensed vector of n (n - 1) / 2
            numbers. Smaller is closer; negative numbers are legal, +inf means "never alike", the
            diagonal is ignored. float32 is computed in float32, at half the memory.
        method: "single", "average", "complete" or "exp".
        alpha: The parameter of "exp", a number from -inf to inf.
        must_link: (k, 2) pairs of points that are merged before the start, at height 0 (or at the
            lowest height of the tree, if that is below 0).
        cannot_link: (k, 2) pairs of points; clusters that hold both are merged at +inf, at the end.

    Returns:
        Z, (n - 1, 4) float64: the two nodes of each merge, its height, its size, as SciPy numbers
        them; goes into `scipy.cluster.hierarchy`'s ``dendrogram``, ``fcluster`` and ``cophenet``.
        (SciPy refuses heights below 0 there: add a constant to negative dissimilarities first.)

    Ties of up to 3,000 points are broken as SciPy and fastcluster break them (but for rounding);
    where many dissimilarities are equal, another order may give quite another tree.

    Complexity: O(n^2) time; up to two matrices of memory besides the input, three for a condensed
    vector. The memory of a large tree is returned lazily: the system takes it when needed. With
    constraints the pairs are clustered as a graph (`graph_linkage`): O(n^2 log n) time.

    >>> import supclust
    >>> Z = supclust.linkage([[0, 1, 9], [1, 0, 8], [9, 8, 0]], "average")
    >>> Z.tolist()
    [[0.0, 1.0, 1.0, 2.0], [2.0, 3.0, 8.5, 3.0]]
    """
    value = alpha_of(method, alpha)
    given = as_floats(dissimilarity)
    if must_link is not None or cannot_link is not None:
        return _constrained(given, value, must_link, cannot_link)
    n = points_of(given.size) if given.ndim == 1 else len(given) if given.ndim == 2 else 0
    Z = np.empty((max(n - 1, 0), 4))
    fits = 1 < n <= dispatch.SMALL and given.shape in ((n, n), (n * (n - 1) // 2,))
    try:
        if not (fits and build_small(given, n, value, Z)):
            Z[:, :2], Z[:, 2], Z[:, 3] = _tree(given, value)
    finally:
        return_large_workspaces()
    return Z


def linkages(
    dissimilarities: Sequence[ArrayLike], method: str = "exp", *, alpha: float | None = None
) -> list[NDArray[np.float64]]:
    """Cluster many blocks in one call, side by side on all cores; see `linkage`.

    Args:
        dissimilarities: Square (n_k, n_k) matrices or SciPy's condensed vectors, of one float type
            (mixed types become float64).
        method: As in `linkage`.
        alpha: As in `linkage`.

    Returns:
        One Z of shape (n_k - 1, 4) for each block.

    >>> from supclust.hac import linkages
    >>> [len(Z) for Z in linkages([np.zeros((3, 3)), np.zeros((1, 1))], "single")]
    [2, 0]
    """
    value = alpha_of(method, alpha)
    blocks = [as_floats(matrix) for matrix in dissimilarities]
    if not blocks:
        return []
    kind = np.result_type(*{block.dtype for block in blocks})
    lengths = np.array([_length(k, block) for k, block in enumerate(blocks)], np.int64)
    blocks = [np.ascontiguousarray(block, dtype=kind) for block in blocks]
    ends = np.cumsum(lengths - 1)
    Z = np.empty((int(ends[-1]), 4))
    alphas = np.full(len(blocks), value)
    grow(blocks, lengths, alphas, ends - lengths + 1, Z[:, :2], Z[:, 2], Z[:, 3])
    return [Z[a:b] for a, b in pairwise([0, *ends.tolist()])]


def _length(k: int, block: Floats) -> int:
    """Return the points of block k."""
    if block.ndim == 1:
        try:
            return points_of(block.size)
        except ValueError as error:
            raise ValueError(f"block {k}: {error}") from None
    if block.ndim != 2 or block.shape[0] != block.shape[1] or len(block) == 0:
        raise ValueError(
            "every block must be a square (n, n) matrix of at least one point, or a condensed "
            f"vector; received shape {block.shape} for block {k}. For vectors, compute distances "
            "first, e.g. scipy.spatial.distance.pdist(X)."
        )
    return len(block)


def _constrained(
    given: Floats, alpha: float, must_link: ArrayLike | None, cannot_link: ArrayLike | None
) -> NDArray[np.float64]:
    """Z under constraints: the matrix or condensed vector is clustered as a complete graph."""
    from supclust.hac.graph._graph_linkage import link

    square = given
    if given.ndim == 1:
        one = points_of(given.size) == 1
        square = np.zeros((1, 1)) if one else square_of(np.ascontiguousarray(given))
    n = len(square)
    require_memory(_BYTES_PER_PAIR * n * (n - 1) // 2, f"clustering {n:,} points with constraints")
    checked = check_square(square, alpha)
    first, second = (ends.astype(np.int32) for ends in np.triu_indices(n, 1))
    f = checked.restore(checked.values[first, second]).astype(np.float64)
    return link(first, second, f, n, alpha, "ignored", None, must_link, cannot_link).to_scipy()


def _tree(given: Floats, alpha: float) -> Tree:
    """Build the tree of a matrix that `build_small` does not take."""
    if given.ndim != 1:
        return _checked_tree(given, alpha)
    n, kind = points_of(given.size), given.dtype
    if n < 2:
        return _checked_tree(np.zeros((n, n), kind), alpha)
    copied = not given.flags.c_contiguous
    matrices = 2 + is_weighted(alpha) - (alpha == -math.inf)
    require_memory(
        matrices * n * n * kind.itemsize + copied * given.nbytes,
        f"clustering {n:,} points from a condensed vector",
    )
    square = workspace("square", n * n, kind).reshape(n, n)
    moderate, low, high = fill_square(np.ascontiguousarray(given), square)
    if moderate and not overflows(alpha, float(np.finfo(kind).max)):
        return build_tree(square, alpha, low, high)
    np.fill_diagonal(square, 0.0)  # it was undefined, and may be converted
    return _checked_tree(square, alpha)


def _checked_tree(matrix: Floats, alpha: float) -> Tree:
    checked = check_square(matrix, alpha)
    children, heights, sizes = build_tree(checked.values, alpha, checked.low, checked.high)
    return children, checked.restore(heights), sizes
