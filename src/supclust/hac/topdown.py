"""The paper's other trees: recursive sparsest cut from the top down, and a random tree."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import LinAlgError, eigh
from scipy.sparse.csgraph import connected_components
from sklearn.cluster import SpectralClustering
from threadpoolctl import threadpool_limits

from supclust.hac.validation import check_square

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Side = NDArray[np.bool_]
Cut = Literal["kmeans", "cluster_qr", "discretize", "fiedler"]


def recursive_sparsest_cut(
    dissimilarity: ArrayLike, random_state: int = 0, cut: Cut = "kmeans"
) -> Floats:
    """Split the points in two by spectral clustering, then each half, down to single points.

    The similarity is s_ij = (largest finite dissimilarity) - d_ij, so 0 for the most distant pair
    and for a pair "never alike" (+inf); it is made once for all points. A set is split by

    1. the split that cuts nothing, if the graph of positive similarities is not connected: its
       largest component against the rest;
    2. scikit-learn's two-way spectral clustering, as in the paper;
    3. where that leaves one side empty or fails: the sign of the Fiedler vector;
    4. where that does not split either: an even split by index.

    Sets whose similarities are all equal go to step 4 at once; of three points the Fiedler vector
    is split exactly, as ARPACK needs more points than that.

    Args:
        dissimilarity: (n, n) symmetric, n >= 1; no NaN or -inf; the diagonal is ignored.
        random_state: seed of k-means.
        cut: how step 2 reads the spectral embedding. "kmeans" is the paper's; "cluster_qr" and
            "discretize" are scikit-learn's faster ways; "fiedler" solves the same problem
            without scikit-learn, the exact one-dimensional 2-means of the Fiedler vector, and is
            the fastest.

    Returns:
        (n - 1, 4) SciPy's Z. A top-down tree has no linkage: the height of a node is the
        number of points under it, which grows towards the root.

    Complexity: O(n^3) per split in the eigenvectors, n - 1 splits; memory O(n^2).

    >>> D = np.abs(np.subtract.outer([0.0, 0.1, 5.0, 5.1], [0.0, 0.1, 5.0, 5.1]))
    >>> recursive_sparsest_cut(D)[:, :2]
    array([[0., 1.], [2., 3.], [4., 5.]])
    """
    if cut not in get_args(Cut):
        raise ValueError(
            f"cut must be one of {', '.join(get_args(Cut))}; received {cut!r}. "
            "Use 'kmeans' for the paper's spectral clustering."
        )
    similarity = _similarity(dissimilarity)

    def split(part: Floats) -> Side | None:
        return _fiedler_means(part) if cut == "fiedler" else _spectral(part, random_state, cut)

    # Hundreds of tiny problems: waking threads for each k-means costs twenty times the work itself.
    with threadpool_limits(1):
        return _tree_of_splits(_all_splits(similarity, split))


def random_tree(n: int, rng: np.random.Generator | int = 0) -> Floats:
    """Merge a uniformly random pair of clusters until one is left: the floor for purity.

    Args:
        n: number of points, at least 1.
        rng: generator, or a seed for one.

    Returns:
        (n - 1, 4) tree in SciPy's format; the height of a merge is its rank, 1 to n - 1.

    Complexity: O(n).

    >>> random_tree(2)
    array([[0., 1., 1., 2.]])
    """
    if isinstance(n, bool) or not isinstance(n, (int, np.integer)):
        raise ValueError(f"n must be an integer; received {n!r}; pass the number of points")
    if n < 1:
        raise ValueError(f"n must be at least 1; received {n}; a tree needs a point")
    generator = np.random.default_rng(rng)
    live = np.arange(n, 1, -1)  # clusters before each merge
    first, second = generator.integers(live), generator.integers(live - 1)
    Z = np.empty((n - 1, 4))
    nodes, sizes = list(range(n)), [1] * (2 * n - 1)
    for k in range(n - 1):
        # Drawn from the rest after the first has left, so every pair is equally likely.
        pair = []
        for place in (int(first[k]), int(second[k])):
            nodes[place], nodes[-1] = nodes[-1], nodes[place]
            pair.append(nodes.pop())
        sizes[n + k] = sizes[pair[0]] + sizes[pair[1]]
        Z[k] = min(pair), max(pair), k + 1, sizes[n + k]
        nodes.append(n + k)
    return Z


def _similarity(dissimilarity: ArrayLike) -> Floats:
    """Largest finite dissimilarity minus each one; 0 for infinite ones and on the diagonal."""
    checked = check_square(dissimilarity, 0.0)
    D = np.array(checked.values, dtype=np.float64)
    np.fill_diagonal(D, np.inf)
    infinite = checked.infinite_above < D
    np.fill_diagonal(infinite, True)
    return np.where(infinite, 0.0, D.max(initial=-np.inf, where=~infinite) - D)


def _all_splits(
    similarity: Floats, split: Callable[[Floats], Side | None]
) -> list[tuple[Ints, Ints]]:
    """Points of either side of every split, n - 1 of them."""
    pending = [np.arange(len(similarity))]
    splits: list[tuple[Ints, Ints]] = []
    while pending:
        points = pending.pop()
        if len(points) < 2:
            continue
        side = _two_sides(similarity[np.ix_(points, points)], split)
        splits.append((points[side], points[~side]))
        pending += splits[-1]
    return splits


def _two_sides(similarity: Floats, split: Callable[[Floats], Side | None]) -> Side:
    """Which points of a set of at least two go left; both sides are non-empty."""
    n = len(similarity)
    halves = np.arange(n) < (n + 1) // 2
    if np.ptp(similarity[~np.eye(n, dtype=np.bool_)]) == 0:
        return halves  # all alike, or only two points: no method can tell them apart
    count, component = connected_components(similarity > 0, directed=False)
    if count > 1:
        return np.asarray(component == np.bincount(component).argmax())
    # Spectral clustering does not depend on the scale, but its solvers' tolerances do.
    scaled = similarity / similarity.max()
    for attempt in (split, _fiedler_sign) if n > 3 else (_fiedler_means, _fiedler_sign):
        side = attempt(scaled)
        if side is not None and side.any() and not side.all():
            return side
    return halves


def _spectral(similarity: Floats, random_state: int, labels: str) -> Side | None:
    """scikit-learn's two-way spectral clustering; None where it fails."""
    model = SpectralClustering(
        2, affinity="precomputed", assign_labels=labels, random_state=random_state
    )
    with warnings.catch_warnings():
        # Nearly disconnected sets and sets of equal points are expected here.
        warnings.filterwarnings("ignore", message="Graph is not fully connected")
        warnings.filterwarnings("ignore", message="Number of distinct clusters")
        try:
            return np.asarray(model.fit_predict(similarity) == 1)
        except (LinAlgError, RuntimeError, ValueError):
            # ARPACK without convergence, a singular matrix: the caller has other ways to cut.
            return None


def _fiedler_vector(similarity: Floats) -> Floats | None:
    """Second eigenvector of the normalised Laplacian, scaled back to points; None if it fails."""
    n = len(similarity)
    root = np.sqrt(similarity.sum(axis=1))
    try:
        _, vectors = eigh(similarity / root[:, None] / root, subset_by_index=[n - 2, n - 1])
    except LinAlgError:
        return None
    return np.asarray(vectors[:, 0] / root)


def _fiedler_sign(similarity: Floats) -> Side | None:
    vector = _fiedler_vector(similarity)
    return None if vector is None else vector > 0


def _fiedler_means(similarity: Floats) -> Side | None:
    """Split of the sorted Fiedler vector with the least within-side variance, exactly."""
    vector = _fiedler_vector(similarity)
    if vector is None:
        return None
    order = np.argsort(vector, kind="stable")
    n = len(order)
    left = np.arange(1, n)
    below = np.cumsum(vector[order] - vector.mean())[:-1]  # sums to 0, so above = -below
    side = np.zeros(n, dtype=np.bool_)
    side[order[: 1 + int(np.argmax(below**2 * (1 / left + 1 / (n - left))))]] = True
    return side


def _tree_of_splits(splits: list[tuple[Ints, Ints]]) -> Floats:
    """Number the splits from the smallest set to the largest: children before parents."""
    n = len(splits) + 1
    Z = np.empty((n - 1, 4))
    splits = sorted(splits, key=lambda sides: len(sides[0]) + len(sides[1]))
    node = np.arange(n)  # the node that holds each point so far
    for k, (one, other) in enumerate(splits):
        size = len(one) + len(other)
        children = sorted((int(node[one[0]]), int(node[other[0]])))
        Z[k] = *children, size, size
        node[one] = node[other] = n + k
    return Z
