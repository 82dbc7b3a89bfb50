"""`supclust.linkage`: a drop-in for SciPy's `linkage` on precomputed dissimilarities."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supclust.hac.cpu import dispatch as chain
from supclust.hac.cpu.condensed import is_plain_vector, points_of
from supclust.hac.cpu.dispatch import Tree, build_small, build_tree, fill_square
from supclust.hac.cpu.forest import grow
from supclust.hac.cpu.numbering import number_merges
from supclust.hac.cpu.prim import go_on, nothing_reached, prim_in_order
from supclust.hac.cpu.small_tree import Floats
from supclust.hac.cpu.threads import thread_count
from supclust.hac.cpu.workspace import large_rooms, whole_lines
from supclust.hac.family import alpha_of, overflows
from supclust.hac.memory import require_memory
from supclust.hac.validation import as_floats, check_square

_PICKED = 16  # numbers for each point that may be picked from a condensed vector one by one


def linkage(
    dissimilarity: ArrayLike, method: str = "exp", *, alpha: float | None = None
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

    Returns:
        Z, (n - 1, 4) float64: the two nodes of each merge, its height, its size, as SciPy numbers
        them; goes into `scipy.cluster.hierarchy`'s ``dendrogram``, ``fcluster`` and ``cophenet``.
        (SciPy refuses heights below 0 there: add a constant to negative dissimilarities first.)

    Ties of up to 2,000 points are broken as SciPy and fastcluster break them (but for rounding);
    where many dissimilarities are equal, another order may give quite another tree.

    Complexity: O(n^2) time; up to two matrices of memory besides the input, three for a condensed
    vector. That of a large tree is given back lazily: the system takes it when it is needed
    (`supclust.hac.cpu.workspace.release`: at once).

    >>> import supclust
    >>> Z = supclust.linkage([[0, 1, 9], [1, 0, 8], [9, 8, 0]], "average")
    >>> Z.tolist()
    [[0.0, 1.0, 1.0, 2.0], [2.0, 3.0, 8.5, 3.0]]
    """
    value = alpha_of(method, alpha)
    given = as_floats(dissimilarity)
    Z = _linkage_in_cache(given, value)
    if Z is None:
        tree = (_tree_of_condensed if given.ndim == 1 else _tree_of_square)(given, value)
        Z = np.empty((len(tree[1]), 4))
        Z[:, :2], Z[:, 2], Z[:, 3] = tree
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
            return points_of(block)
        except ValueError as error:
            raise ValueError(f"block {k}: {error}") from None
    if block.ndim != 2 or block.shape[0] != block.shape[1] or len(block) == 0:
        raise ValueError(
            "every block must be a square (n, n) matrix of at least one point, or a condensed "
            f"vector; received shape {block.shape} for block {k}. For vectors, compute distances "
            "first, e.g. scipy.spatial.distance.pdist(X)."
        )
    return len(block)


def _linkage_in_cache(given: Floats, alpha: float) -> NDArray[np.float64] | None:
    """Return Z of 2 to `chain.SMALL` points; None of others, and where `build_small` makes none."""
    if given.ndim == 1:
        n = points_of(given)
    else:
        n = len(given) if given.ndim == 2 and given.shape[0] == given.shape[1] else 0
    if not 1 < n <= chain.SMALL:
        return None
    Z = np.empty((n - 1, 4))
    return Z if build_small(given, n, alpha, Z) else None


def _tree_of_square(matrix: Floats, alpha: float) -> Tree:
    n = len(matrix) if matrix.ndim else 0
    ordinary = matrix.shape == (n, n) and matrix.flags.c_contiguous and n > 1
    if ordinary and alpha == -math.inf and n > chain.SMALL and thread_count() > 1:
        return _single_while_checking(matrix)
    return _checked_tree(matrix, alpha)


def _tree_of_condensed(condensed: Floats, alpha: float) -> Tree:
    n, kind = points_of(condensed), condensed.dtype
    if n < 2:
        return _checked_tree(np.zeros((n, n), kind), alpha)
    single = alpha == -math.inf
    if not condensed.flags.c_contiguous:
        require_memory(condensed.nbytes, f"a contiguous copy of {condensed.size:,} numbers")
        condensed = np.ascontiguousarray(condensed)
    begun = _Begun(condensed, n) if single and n > chain.SMALL else None
    if begun and begun.done == n - 1 and is_plain_vector(condensed):
        return number_merges(begun.pairs, begun.heights)
    matrices = 3 if math.isfinite(alpha) and alpha else 1 + (alpha > -math.inf)
    require_memory(
        matrices * n * n * condensed.itemsize, f"clustering {n:,} points from a condensed vector"
    )
    with large_rooms((n, whole_lines(n, kind)), dtype=kind) as (square,):
        plain, low, high = fill_square(condensed, square, streamed=True)
        if plain and begun:
            return begun.finish(square)
        if plain and not overflows(alpha, float(np.finfo(kind).max)):
            return build_tree(square, alpha, low, high)
        np.fill_diagonal(square, 0.0)  # it was anything, and may be converted
        return _checked_tree(square[:, :n], alpha)


class _Begun:
    """Single linkage of a condensed vector, without a square as long as points come in order."""

    def __init__(self, condensed: Floats, n: int) -> None:
        self.pairs, self.heights = np.empty((n - 1, 2), np.int64), np.empty(n - 1, condensed.dtype)
        self.nearest = nothing_reached(n, condensed)
        merges = self.pairs, self.heights, self.nearest
        self.done: int = prim_in_order(condensed, n, *merges, _PICKED * n)

    def finish(self, square: Floats) -> Tree:
        """Read the rest from the square."""
        go_on(square, self.pairs, self.heights, self.nearest, self.done)
        return number_merges(self.pairs, self.heights)


def _checked_tree(matrix: Floats, alpha: float) -> Tree:
    listed = matrix.size > chain.SMALL**2 and alpha > -math.inf
    checked = check_square(matrix, alpha, listed=listed)
    children, heights, sizes = build_tree(
        checked.values, alpha, checked.low, checked.high, checked.before
    )
    return children, checked.restore(heights), sizes


def _single_while_checking(matrix: Floats) -> Tree:
    """Build the single-linkage tree beside the check, which takes as long.

    Prim's algorithm comes to an end whatever it reads; where the check finds that the matrix must
    be repaired first, its tree is thrown away.
    """
    tree: list[Tree] = []
    checked = check_square(
        matrix, -math.inf, meanwhile=lambda: tree.append(build_tree(matrix, -math.inf, 0.0, 0.0))
    )
    if checked.values is not matrix:
        tree = [build_tree(checked.values, -math.inf, checked.low, checked.high)]
    children, heights, sizes = tree[0]
    return children, checked.restore(heights), sizes
