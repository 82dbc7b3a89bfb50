"""`graph_linkage`: the exact ExpLink forest of a sparse graph."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supclust.hac.cpu.scan import SYMMETRY
from supclust.hac.family import alpha_of, infinity_stand_in
from supclust.hac.graph.arrange import (
    MEAN_OF,
    flatten,
    join_near,
    number_sets,
    sort_pairs,
    unite_repeated,
)
from supclust.hac.graph.constraints import check_pairs, merged_groups
from supclust.hac.graph.forest import Forest
from supclust.hac.graph.merge_component import IGNORED, NEVER, NUMBER
from supclust.hac.graph.merge_graph import Merge, make_rule, merge_graph
from supclust.hac.validation import as_floats

Floats = NDArray[np.float64]
Nodes = NDArray[np.int32]
Missing = float | Literal["ignored"]

_MOST_NODES = 2**31 - 1
_LARGEST = 1e290  # magnitude whose sums over pairs stay finite


def graph_linkage(
    edges: Any,
    n: int | None = None,
    method: str = "exp",
    *,
    alpha: float | None = None,
    missing: Missing = math.inf,
    threshold: float | None = None,
    must_link: ArrayLike | None = None,
    cannot_link: ArrayLike | None = None,
    span: tuple[float, float] | None = None,
) -> Forest:
    """Cluster a graph of given pairs with a member of the ExpLink family, exactly.

    The trees are those of `supclust.linkage` on the matrix in which every pair that is not given
    has the dissimilarity ``missing``, up to the threshold, in O(edges) memory. A merge below
    ``missing`` needs a given pair, so connected components are independent: they are clustered side
    by side on all cores.

    Args:
        edges: ``(i, j, dissimilarity)``, three arrays of one length with nodes from 0 to n - 1; or
            an (n, n) SciPy sparse matrix or array, whose stored entries are the given pairs
            (stored zeros, too). Smaller is closer; negative numbers are legal; +inf means "never
            alike" as in `supclust.linkage`. A pair may be given in either order, and several times
            with one value. A pair of a node with itself is ignored.
        n: Number of nodes; known from a sparse matrix.
        method: "single", "average", "complete" or "exp".
        alpha: The parameter of "exp", a number from -inf to inf.
        missing: What a pair that is not given counts: a dissimilarity; inf, "never alike" (it has
            no weight for alpha < 0; for alpha >= 0 clusters merge only if every pair between them
            is given); or "ignored": linkages are taken over the given pairs alone. Given
            dissimilarities may exceed it.
        threshold: Largest height of a merge, below ``missing``. Without it, merges stop below
            ``missing``: there, nodes without any edge would be merged as well.
        must_link: (k, 2) pairs of nodes that are merged before the start.
        cannot_link: (k, 2) pairs of nodes that no cluster may hold both of.
        span: Least and largest dissimilarity that weights are scaled for; default: those of the
            edges. Where it is fixed, the tree of a component is the same, to the last bit, in every
            graph that has the component.

    Returns:
        The trees of all components, with labels at the threshold and at other heights.

    Ties: among equal linkages the pair of clusters whose edge comes first is merged first, in the
    order of (smaller node, larger node); several edges between two clusters count as that of the
    lowest linkage. The result does not depend on the order of the edges or the number of threads.

    Numbers are computed in float64; float32 edges are converted.

    Complexity: O(e log^2 e) time for e edges, usually about a microsecond an edge; O(e + n) memory.

    >>> forest = graph_linkage(([0, 1, 3], [1, 2, 4], [0.1, 0.4, 0.2]), 5, "average", missing=1.0)
    >>> forest.labels
    array([0, 0, 0, 1, 1])
    >>> forest.labels_at([0.15, 0.5])
    array([[0, 0, 1, 2, 3],
           [0, 0, 1, 2, 2]])
    """
    value = alpha_of(method, alpha)
    i, j, f, n = _arrays(edges, n)
    first, second, f = unique_edges(i, j, f, n)
    return link(first, second, f, n, value, missing, threshold, must_link, cannot_link, span)


def unique_edges(i: Nodes, j: Nodes, f: Floats, n: int) -> tuple[Nodes, Nodes, Floats]:
    """Sort edges by their ends, each pair once; repeated pairs must agree as in `linkage`."""
    first, second, f = sort_pairs(i, j, f, n)
    kept, worst, low, high = unite_repeated(first, second, f, MEAN_OF)
    if worst >= 0:
        magnitude = float(np.abs(f[:kept][np.isfinite(f[:kept])]).max(initial=0.0))
        if not high - low <= SYMMETRY[8] * magnitude:
            raise ValueError(
                "a pair that is given several times must have one dissimilarity; received "
                f"{low:g} and {high:g} for nodes {first[worst]} and {second[worst]}. Keep one of "
                "them, or their mean."
            )
    return first[:kept], second[:kept], f[:kept]


def link(
    first: Nodes,
    second: Nodes,
    f: Floats,
    n: int,
    alpha: float,
    missing: Missing,
    threshold: float | None,
    must_link: ArrayLike | None = None,
    cannot_link: ArrayLike | None = None,
    span: tuple[float, float] | None = None,
    merge: Merge = merge_graph,
) -> Forest:
    """As `graph_linkage` for edges of `unique_edges` and an alpha; ``merge``: `merge_graph`."""
    kind, absent, limit = _limits(alpha, missing, threshold)
    must, cannot = (
        check_pairs(must_link, n, "must_link"),
        check_pairs(cannot_link, n, "cannot_link"),
    )
    group = merged_groups(must, cannot, n)
    infinite = np.isinf(f)
    finite = f[~infinite] if infinite.any() else f
    low, high = float(finite.min(initial=math.inf)), float(finite.max(initial=-math.inf))
    if not len(finite):
        low = high = 0.0
    largest = max(abs(low), abs(high), abs(absent))
    if infinite.any() and alpha < 0:
        if kind == NUMBER:  # without weight, but given
            high = infinity_stand_in(largest, n, alpha if math.isfinite(alpha) else 0.0)
            f = np.where(infinite, high, f)
        else:
            first, second, f = first[~infinite], second[~infinite], finite
    if max(abs(low), abs(high), largest) > _LARGEST:
        raise ValueError(
            f"dissimilarities must stay below 1e290 in magnitude; received up to {largest:g}. "
            "Divide them by a constant."
        )
    parent = group.copy()
    join_near(parent, first, second, f, limit)
    flatten(parent)
    component, starts, order = number_sets(parent)
    if len(must) or len(cannot):
        first, second, f = sort_pairs(
            group[np.concatenate([first, cannot[:, 0]])],
            group[np.concatenate([second, cannot[:, 1]])],
            np.concatenate([f, np.full(len(cannot), math.inf)]),
            n,
        )
    most = n
    if span is not None:
        low, high, most = min(low, span[0]), max(high, span[1]), _MOST_NODES
    rule = make_rule(alpha, low, high, most, kind, absent, limit)
    pairs, heights, offsets = merge(first, second, f, component, starts, order, group, rule)
    reached = limit if threshold is None or threshold < limit else threshold
    return Forest(n, component, pairs, heights, offsets, reached)


def _limits(alpha: float, missing: Missing, threshold: float | None) -> tuple[int, float, float]:
    """What a missing pair counts: kind and number; and the largest finite height of a merge."""
    if isinstance(missing, str):
        if missing != "ignored":
            raise ValueError(
                f"missing must be a number, inf or 'ignored'; received {missing!r}. Use 'ignored' "
                "to take linkages over the given pairs alone."
            )
        kind, absent = IGNORED, 0.0
    elif math.isnan(missing) or missing == -math.inf:
        raise ValueError(
            f"missing must be a number above -inf, or 'ignored'; received {missing!r}. Pass the "
            "dissimilarity of a pair that is not given."
        )
    elif missing == math.inf:
        kind, absent = (IGNORED if alpha < 0 else NEVER), 0.0
    else:
        kind, absent = NUMBER, float(missing)
    top = math.nextafter(absent if kind == NUMBER else math.inf, -math.inf)
    if threshold is None:
        return kind, absent, top
    if math.isnan(threshold):
        raise ValueError("threshold must be a number; received nan. Pass e.g. 0.5, or None.")
    if kind == NUMBER and threshold >= absent:
        raise ValueError(
            f"threshold must lie below missing, or nodes without an edge would be merged; received "
            f"threshold {threshold:g} and missing {absent:g}. Lower threshold, or raise missing."
        )
    return kind, absent, min(float(threshold), top)


def _arrays(edges: Any, n: int | None) -> tuple[Nodes, Nodes, Floats, int]:
    """Ends, dissimilarities and the number of nodes, checked."""
    if hasattr(edges, "tocoo"):
        matrix = edges.tocoo()
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
            raise ValueError(
                f"a sparse matrix of dissimilarities must be square; received shape "
                f"{matrix.shape}. Rows and columns are the nodes."
            )
        if n is not None and n != matrix.shape[0]:
            raise ValueError(
                f"n must be the number of rows of the matrix, {matrix.shape[0]}; received {n}. "
                "Leave it out."
            )
        i, j = matrix.coords if hasattr(matrix, "coords") else (matrix.row, matrix.col)
        f, n = as_floats(matrix.data), int(matrix.shape[0])
    else:
        if not isinstance(edges, (tuple, list)) or len(edges) != 3:
            raise ValueError(
                "edges must be three arrays (i, j, dissimilarity) or a SciPy sparse matrix; "
                f"received {type(edges).__name__}. For a dense matrix use supclust.linkage."
            )
        if n is None:
            raise ValueError(
                "n, the number of nodes, is needed; received None. Nodes without an edge count, "
                "too: pass e.g. n=1 + max(i.max(), j.max())."
            )
        i, j, f = np.asarray(edges[0]), np.asarray(edges[1]), as_floats(edges[2])
    if f.ndim != 1 or i.shape != f.shape or j.shape != f.shape:
        raise ValueError(
            "i, j and dissimilarity must be vectors of one length; received shapes "
            f"{i.shape}, {j.shape} and {f.shape}. Give every edge two nodes and a number."
        )
    _check_nodes(i, j, n)
    bad = np.isnan(f) | np.isneginf(f)
    if bad.any():
        k = int(np.argmax(bad))
        raise ValueError(
            f"dissimilarities must be numbers or +inf, neither NaN nor -inf; received {f[k]} for "
            f"nodes {i[k]} and {j[k]}. Leave pairs that are not known out."
        )
    # Numba compiles functions of read-only arrays apart.
    i, j = (np.require(ends, np.int32, ["C", "W"]) for ends in (i, j))
    return i, j, np.require(f, np.float64, ["C", "W"]), n


def _check_nodes(i: NDArray[Any], j: NDArray[Any], n: int) -> None:
    if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or not 1 <= n < 2**31:
        raise ValueError(f"n must be a number of nodes from 1 to 2^31 - 1; received {n!r}.")
    if len(i) >= 2**31:
        raise ValueError(f"at most 2^31 - 1 edges are possible; received {len(i):,}.")
    for ends in (i, j):
        if len(ends) and ends.dtype.kind not in "iu":
            raise ValueError(
                f"nodes must be integers; received {ends.dtype}. Number them from 0, e.g. with "
                "numpy.unique(ids, return_inverse=True)."
            )
        if len(ends) and (ends.min() < 0 or ends.max() >= n):
            k = int(np.argmax((ends < 0) | (ends >= n)))
            raise ValueError(
                f"nodes must lie between 0 and n - 1 = {n - 1}; received {ends[k]} in edge {k}. "
                "Raise n, or remove the edge."
            )
