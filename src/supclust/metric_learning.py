"""ExpLink and MST training as losses of pytorch-metric-learning, for deep embeddings.

A batch of embeddings is one block: the loss asks that hierarchical clustering of the batch finds
its labels. Needs the extra ``metric-learning``.
"""

from __future__ import annotations

import math
from typing import Any, Literal

import torch
from torch import Tensor, nn

from supclust._lazy import extras_explained
from supclust.dissimilarity.euclidean import pairwise_distances
from supclust.hac.family import check_alpha
from supclust.losses import explink_loss, mst_loss

with extras_explained():
    from pytorch_metric_learning.distances import BaseDistance, LpDistance
    from pytorch_metric_learning.losses import BaseMetricLossFunction

Reduction = Literal["sum", "mean"]


class EuclideanDistance(LpDistance):
    """Euclidean distance from coordinate differences, so that near duplicates keep their digits."""

    def compute_mat(self, query_emb: Tensor, ref_emb: Tensor | None) -> Tensor:
        """(n, n) distances; half precision is raised to float32."""
        query = query_emb.float() if query_emb.dtype.itemsize < 4 else query_emb
        if ref_emb is None or ref_emb is query_emb:
            return pairwise_distances(query[None])[0]
        return torch.cdist(
            query, ref_emb.to(query.dtype), compute_mode="donot_use_mm_for_euclid_dist"
        )


class _TreeLoss(BaseMetricLossFunction):
    """One block of embeddings to one number; a subclass adds the loss of its matrix."""

    def compute_loss(
        self,
        embeddings: Tensor,
        labels: Tensor | None,
        indices_tuple: Any,
        ref_emb: Tensor | None,
        ref_labels: Tensor | None,
    ) -> dict[str, dict[str, Any]]:
        """Loss of the batch, in the library's format."""
        if labels is None:
            raise ValueError(
                f"{type(self).__name__} needs labels; received None. Pass one label per embedding."
            )
        if indices_tuple is not None:
            raise ValueError(
                f"{type(self).__name__} looks at whole trees, so it takes no mined tuples; "
                "received some. Leave the miner out."
            )
        if ref_emb is not embeddings:
            raise ValueError(
                f"{type(self).__name__} clusters one batch; received reference embeddings besides. "
                "Concatenate them with the embeddings, and their labels."
            )
        codes = torch.unique(labels, return_inverse=True)[1]  # losses take -1 for padding
        loss = self.matrix_loss(self._dissimilarity(embeddings), codes)
        return {"loss": {"losses": loss, "indices": None, "reduction_type": "already_reduced"}}

    def matrix_loss(self, dissimilarity: Tensor, labels: Tensor) -> Tensor:
        """Scalar loss of an (n, n) matrix."""
        raise TypeError(f"{type(self).__name__} must define matrix_loss()")

    def get_default_distance(self) -> BaseDistance:
        """Euclidean distance of normalised embeddings, the library's default, without its mm."""
        return EuclideanDistance()

    def _dissimilarity(self, embeddings: Tensor) -> Tensor:
        """Exactly symmetric (n, n); similarities (inverted distances) change sign."""
        matrix: Tensor = self.distance(embeddings)
        if self.distance.is_inverted:
            matrix = -matrix
        return (matrix + matrix.mT) / 2


class ExpLinkLoss(_TreeLoss):
    """ExpLink training loss of a batch of embeddings (Eq. 4, or with tau and mu).

    Args:
        alpha: the linkage, from -inf (single) over 0 (average) to inf (complete).
        learn_alpha: make alpha a parameter of the loss; give it to an optimiser, as with other
            losses that have parameters.
        variant: ``ranking`` (Eq. 4) or ``threshold``, which needs ``threshold`` and ``margin``.
        threshold: tau.
        margin: mu.
        competitors: impure pairs that count in a round, ``all`` or ``adjacent``.
        reduction: of the active terms.
        kwargs: ``distance``, ``embedding_regularizer``, ... of the library.

    Complexity: O(n^2) time and memory for a batch of n, forward and backward.

    >>> loss = ExpLinkLoss(alpha=0.0)
    >>> float(loss(torch.eye(4), torch.tensor([0, 0, 1, 1])))  # all distances equal
    0.0
    """

    alpha: Tensor

    def __init__(
        self,
        alpha: float = 0.0,
        *,
        learn_alpha: bool = False,
        variant: Literal["ranking", "threshold"] = "ranking",
        threshold: float | None = None,
        margin: float | None = None,
        competitors: Literal["all", "adjacent"] = "all",
        reduction: Reduction = "mean",
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        start = torch.tensor(check_alpha(alpha))
        if learn_alpha and math.isinf(start.item()):
            raise ValueError(
                f"a learned alpha must start from a finite number; received {alpha}. "
                "Start from e.g. alpha=0.0."
            )
        if learn_alpha:
            self.alpha = nn.Parameter(start)
        else:
            self.register_buffer("alpha", start)
        self.options: dict[str, Any] = {
            "variant": variant,
            "threshold": threshold,
            "margin": margin,
            "competitors": competitors,
            "reduction": reduction,
        }

    def matrix_loss(self, dissimilarity: Tensor, labels: Tensor) -> Tensor:
        """ExpLink loss of one matrix."""
        return explink_loss(dissimilarity, labels, self.alpha, **self.options)


class MSTLoss(_TreeLoss):
    """Spanning trees of the labels down, each point's nearest other label up (Eq. 2).

    Args:
        threshold: tau, above which less ``margin`` a tree edge counts; ``None``: all count.
        margin: mu.
        reduction: of the active terms.
        kwargs: ``distance``, ``embedding_regularizer``, ... of the library.

    Complexity: O(n^2) time and memory for a batch of n.

    >>> loss = MSTLoss(threshold=1.0, margin=0.5)
    >>> bool(loss(torch.eye(4), torch.tensor([0, 0, 1, 1])) > 0)
    True
    """

    def __init__(
        self,
        *,
        threshold: float | None = None,
        margin: float | None = None,
        reduction: Reduction = "mean",
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.options: dict[str, Any] = {
            "threshold": threshold,
            "margin": margin,
            "reduction": reduction,
        }

    def matrix_loss(self, dissimilarity: Tensor, labels: Tensor) -> Tensor:
        """MST loss of one matrix."""
        return mst_loss(dissimilarity, labels, **self.options)
