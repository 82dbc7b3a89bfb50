"""`ExpLinkClustering`: trees with a given member of the ExpLink family; nothing is learned."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, issparse
from scipy.spatial.distance import cdist, pdist
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import validate_data

from supclust.hac._linkage import linkage
from supclust.hac.family import alpha_of, check_alpha
from supclust.hac.graph._graph_linkage import graph_linkage
from supclust.hac.graph.constraints import require_joined
from supclust.hac.tree import cut_tree


class ExpLinkClustering(ClusterMixin, BaseEstimator):
    """Cluster with exponential linkage: single, average, complete, and everything between.

    Args:
        n_clusters: number of clusters; ``None`` if ``distance_threshold`` is given.
        alpha: of the linkage: a number, -inf is single, 0 average, inf complete; or one of these
            names.
        metric: ``"precomputed"`` for a matrix of dissimilarities (negative numbers are legal,
            +inf means "never alike"), or a metric of SciPy's ``pdist``, by name or as a function.
        distance_threshold: cut at this height instead: merges at or below it are made, as in
            SciPy's ``fcluster``.
        connectivity: (n, n) sparse or dense matrix, or a function that makes one from X, as of
            ``AgglomerativeClustering``: only pairs with an entry other than 0, in either
            direction, are compared, and linkages are taken over these pairs. Memory is that of the
            graph. Parts that are not connected are joined at +inf.
        missing: for a sparse matrix with ``metric="precomputed"``: what pairs that are not stored
            count, as in `supclust.hac.graph_linkage`. The default, inf, is that of scikit-learn's
            sparse neighbour graphs: too far to be stored. (Stored zeros are dissimilarities of 0.)

    Attributes:
        labels_ (ndarray): (n,) clusters, numbered from 0 by first appearance.
        n_clusters_ (int): number of clusters.
        n_leaves_ (int): n.
        children_ (ndarray): (n - 1, 2) nodes of each merge; leaves are 0 to n - 1, merge k makes
            node n + k.
        distances_ (ndarray): (n - 1,) heights of the merges, ascending.
        linkage_matrix_ (ndarray): (n - 1, 4) the tree in SciPy's format.
        n_features_in_ (int): columns of X.

    >>> ExpLinkClustering(2, alpha=-1.0).fit_predict([[0.0], [0.2], [3.0]])
    array([0, 0, 1])
    """

    def __init__(
        self,
        n_clusters: int | None = 2,
        *,
        alpha: float | str = 0.0,
        metric: str | Callable[..., float] = "euclidean",
        distance_threshold: float | None = None,
        connectivity: Any = None,
        missing: float | str = math.inf,
    ) -> None:
        self.n_clusters = n_clusters
        self.alpha = alpha
        self.metric = metric
        self.distance_threshold = distance_threshold
        self.connectivity = connectivity
        self.missing = missing

    def fit(
        self, X: Any, y: Any = None, *, must_link: Any = None, cannot_link: Any = None
    ) -> ExpLinkClustering:
        """Build the tree of X and cut it.

        Args:
            X: (n, d) points, or (n, n) dissimilarities with ``metric="precomputed"``, which may be
                a SciPy sparse matrix of the pairs that are given.
            y: not used.
            must_link: (k, 2) pairs of rows that are merged before the start.
            cannot_link: (k, 2) pairs of rows that no cluster may hold both of.

        Returns:
            Itself.
        """
        if (self.n_clusters is None) == (self.distance_threshold is None):
            raise ValueError(
                "give exactly one of n_clusters and distance_threshold; received "
                f"n_clusters={self.n_clusters}, distance_threshold={self.distance_threshold}. "
                "Set the other to None."
            )
        alpha = alpha_of(self.alpha) if isinstance(self.alpha, str) else check_alpha(self.alpha)
        links = {"must_link": must_link, "cannot_link": cannot_link}
        constrained = must_link is not None or cannot_link is not None
        values = self._checked(X)
        if issparse(values) or self.connectivity is not None:
            edges, missing = self._edges(values)
            forest = graph_linkage(
                edges, values.shape[0], "exp", alpha=alpha, missing=missing, **links
            )
            Z, constrained = forest.to_scipy(), True
        else:
            given = values if self._precomputed else pdist(values, self.metric)
            Z = linkage(given, "exp", alpha=alpha, **links)
        if constrained:
            require_joined(Z, self.n_clusters)
        self.linkage_matrix_ = Z
        self.children_ = Z[:, :2].astype(np.int64)
        self.distances_ = Z[:, 2].copy()
        self.n_leaves_ = len(Z) + 1
        self.labels_ = cut_tree(Z, height=self.distance_threshold, n_clusters=self.n_clusters)
        self.n_clusters_ = int(self.labels_.max()) + 1
        return self

    @property
    def _precomputed(self) -> bool:
        return isinstance(self.metric, str) and self.metric == "precomputed"

    def _checked(self, X: Any) -> Any:
        """X as an array, or as a sparse matrix of given dissimilarities."""
        given = self._precomputed
        values = validate_data(
            self,
            X,
            accept_sparse="csr" if given else False,
            dtype=[np.float64, np.float32] if given else np.float64,
            ensure_all_finite=not given,  # infinity is legal; NaN is refused with the tree
            ensure_min_samples=2 if self.distance_threshold is None else 1,
        )
        if given and values.shape[0] != values.shape[1]:
            raise ValueError(
                "metric='precomputed' needs a square matrix of dissimilarities; received shape "
                f"{values.shape}. Pass (n, n), or points with another metric."
            )
        return values

    def _edges(self, values: Any) -> tuple[Any, Any]:
        """The pairs that are given: i, j and dissimilarity; and what others count."""
        if self.connectivity is None:
            return values, self.missing
        graph = self.connectivity(values) if callable(self.connectivity) else self.connectivity
        n = values.shape[0]
        if np.shape(graph) != (n, n):
            raise ValueError(
                f"connectivity must be a matrix of shape ({n}, {n}), or a function that makes one "
                f"from X; received shape {np.shape(graph)}. Pass e.g. "
                "sklearn.neighbors.kneighbors_graph(X, 10)."
            )
        graph = coo_array(graph)
        connected = graph.data != 0
        low, high = (ends(*graph.coords)[connected] for ends in (np.minimum, np.maximum))
        i, j = np.unique(np.stack([low, high])[:, low != high], axis=1)  # in either direction
        if issparse(values):
            raise ValueError(
                "connectivity goes with points or a dense matrix; received a sparse matrix, whose "
                "stored pairs are the graph. Leave one of the two out."
            )
        f = values[i, j] if self._precomputed else _distances(values, i, j, self.metric)
        return (i, j, f), "ignored"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._precomputed
        tags.input_tags.sparse = self._precomputed
        return tags


def _distances(
    X: NDArray[np.float64], i: NDArray[Any], j: NDArray[Any], metric: Any
) -> NDArray[np.float64]:
    """(e,) distances of pairs of rows, which are sorted by ``i``."""
    if isinstance(metric, str) and metric in ("seuclidean", "mahalanobis"):
        raise ValueError(
            f"metric {metric!r} depends on all rows and does not go with connectivity. Scale X "
            "first, and use 'euclidean'."
        )
    distances = np.empty(len(i))
    starts = np.flatnonzero(np.append(True, i[1:] != i[:-1])[: len(i)]).tolist()
    for start, stop in zip(starts, [*starts[1:], len(i)], strict=True):
        distances[start:stop] = cdist(X[i[start]][None], X[j[start:stop]], metric)[0]
    return distances
