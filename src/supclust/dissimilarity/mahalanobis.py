"""`Mahalanobis`: a learned linear map, then Euclidean distance (the paper's model for vectors)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import torch
from torch import Tensor, nn

from supclust.dissimilarity.base import Dissimilarity, Inputs, linear_layer_start
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

    name: ClassVar[str] = "mahalanobis"

    def __init__(self, d: int, splits: Sequence[int] = (0,), seed: int = 0) -> None:
        super().__init__(splits, seed)
        self.d = int(d)
        start = linear_layer_start((self.d, self.d), self.d, seed, self.splits, stream=0)
        self.weight = nn.Parameter(start)  # (S, d, d)

    def score(self, inputs: Inputs) -> Tensor:
        """Distances of every block."""
        points = inputs.points(self.d)
        models = self.models_of(inputs)
        maps = self.weight.index_select(0, models)  # (b, d, d)
        embedded = torch.bmm(centred(points.to(maps.dtype), inputs.lengths), maps.mT)
        return pairwise_distances(embedded, inputs.anchors)

    def extra_repr(self) -> str:
        """Features and models."""
        return f"d={self.d}, splits={self.n_splits}"
