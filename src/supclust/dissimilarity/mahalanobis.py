"""`Mahalanobis`: a learned linear map, then Euclidean distance (the paper's model for vectors)."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from supclust.dissimilarity.base import Dissimilarity, Features, linear_layer_start
from supclust.dissimilarity.euclidean import centred, pairwise_distances


class Mahalanobis(Dissimilarity):
    """f(x, x') = |A (x - x')|_2 with one learned d x d matrix A per split.

    Points are centred by block before A is applied, and distances taken from the differences of
    A x, so nearby points far from the origin keep their digits in float32. O(b n^2) memory.

    Args:
        d: features of a point.
        splits: numbers of the splits, one model each.
        seed: of the initial A, uniform on +-1/sqrt(d) as in a linear layer.

    >>> model = Mahalanobis(2)
    >>> model(torch.zeros(1, 3, 2)).shape
    torch.Size([1, 3, 3])
    """

    def __init__(self, d: int, splits: Sequence[int] = (0,), seed: int = 0) -> None:
        super().__init__(splits, seed)
        self.d = int(d)
        start = linear_layer_start((self.d, self.d), self.d, seed, self.splits, stream=0)
        self.weight = nn.Parameter(start)  # (S, d, d)

    def forward(
        self,
        features: Features,
        *,
        lengths: Tensor | None = None,
        split_of_block: Tensor | None = None,
        row_of_block: Tensor | None = None,
        anchors: Tensor | None = None,
    ) -> Tensor:
        """Distances of every block; arguments and result as in `Dissimilarity.forward`."""
        points = as_points(features, row_of_block, self.d)
        models = self.models_of(split_of_block, len(points), points.device)
        maps = self.weight.index_select(0, models)  # (b, d, d)
        embedded = torch.bmm(centred(points.to(maps.dtype), lengths), maps.mT)
        return pairwise_distances(embedded, anchors)

    def extra_repr(self) -> str:
        """Features and models."""
        return f"d={self.d}, splits={self.n_splits}"


def as_points(features: Features, row_of_block: Tensor | None, d: int | None) -> Tensor:
    """(b, n, d) points of every block, checked."""
    shape = tuple(features.shape) if isinstance(features, Tensor) else "a sequence of tensors"
    if (
        not isinstance(features, Tensor)
        or features.ndim < 3
        or (d is not None and features.shape[2] != d)
    ):
        raise ValueError(
            f"points must have shape (b, n, {'d' if d is None else d}), padded to one n; "
            f"received {shape}. Pair features need LinearPair(kind='pairs')."
        )
    return features if row_of_block is None else features.index_select(0, row_of_block)
