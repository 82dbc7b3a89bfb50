"""`ExpLinkClustering`: trees with a given member of the ExpLink family; nothing is learned."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.spatial.distance import pdist
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import validate_data

from supclust.hac._linkage import linkage
from supclust.hac.family import alpha_of, check_alpha
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
    ) -> None:
        self.n_clusters = n_clusters
        self.alpha = alpha
        self.metric = metric
        self.distance_threshold = distance_threshold

    def fit(self, X: Any, y: Any = None) -> ExpLinkClustering:
        """Build the tree of X and cut it.

        Args:
            X: (n, d) points, or (n, n) dissimilarities with ``metric="precomputed"``.
            y: not used.

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
        Z = linkage(self._dissimilarities(X), "exp", alpha=alpha)
        self.linkage_matrix_ = Z
        self.children_ = Z[:, :2].astype(np.int64)
        self.distances_ = Z[:, 2].copy()
        self.n_leaves_ = len(Z) + 1
        self.labels_ = cut_tree(Z, height=self.distance_threshold, n_clusters=self.n_clusters)
        self.n_clusters_ = int(self.labels_.max()) + 1
        return self

    def _dissimilarities(self, X: Any) -> Any:
        given = isinstance(self.metric, str) and self.metric == "precomputed"
        values = validate_data(
            self,
            X,
            dtype=[np.float64, np.float32] if given else np.float64,
            ensure_all_finite=not given,  # infinity is legal; NaN is refused with the tree
            ensure_min_samples=2 if self.distance_threshold is None else 1,
        )
        if not given:
            return pdist(values, self.metric)
        if values.shape[0] != values.shape[1]:
            raise ValueError(
                "metric='precomputed' needs a square matrix of dissimilarities; received shape "
                f"{values.shape}. Pass (n, n), or points with another metric."
            )
        return values

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.metric == "precomputed"
        return tags
