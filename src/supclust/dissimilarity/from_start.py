"""Dissimilarities whose parameters are offsets from a start, which weight decay pulls back to.

`weights` gives the weights of an ordinary `Mahalanobis` or `LinearPair`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from supclust.dissimilarity.base import Dissimilarity, Inputs
from supclust.dissimilarity.euclidean import centred, pairwise_distances
from supclust.dissimilarity.linear import Kind
from supclust.dissimilarity.scores import gap_scores, pair_scores

Arrays = Sequence[NDArray[np.float64]]


class MapFromStart(Dissimilarity):
    """|(I + M) A (x - x')|_2 with a given A and a learned M, zero at first, per split.

    Args:
        starts: (d, d) map A of every split.
        splits: their numbers.
    """

    name: ClassVar[str] = "mahalanobis"
    start: Tensor

    def __init__(self, starts: Arrays, splits: Sequence[int]) -> None:
        super().__init__(splits)
        self.register_buffer("start", _tensor(starts))  # (S, d, d)
        self.offset = nn.Parameter(torch.zeros_like(self.start))

    def maps(self) -> Tensor:
        """(S, d, d)."""
        return self.start + torch.bmm(self.offset, self.start)

    def score(self, inputs: Inputs) -> Tensor:
        """Distances of every block."""
        points = inputs.points(self.start.shape[2])
        maps = self.maps().index_select(0, self.models_of(inputs))  # (b, d, d)
        embedded = torch.bmm(centred(points.to(maps.dtype), inputs.lengths), maps.mT)
        return pairwise_distances(embedded, inputs.anchors)

    @torch.no_grad()
    def weights(self, position: int) -> dict[str, NDArray[Any]]:
        """Weights of a `Mahalanobis` of one split."""
        return {"weight": self.maps()[position].cpu().numpy()}


class LinearFromStart(Dissimilarity):
    """(w + u) . (x - mean) / deviation + b + c with learned u and c, zero at first, per split.

    Args:
        starts: (d,) weights w of every split.
        biases: b.
        means: (d,) of the features.
        deviations: (d,).
        kind: ``pairs``, or ``vectors`` for features |x - x'|.
        splits: their numbers.
    """

    name: ClassVar[str] = "linear"
    start: Tensor
    start_bias: Tensor
    mean: Tensor
    deviation: Tensor

    def __init__(
        self,
        starts: Arrays,
        biases: Sequence[float],
        means: Arrays,
        deviations: Arrays,
        kind: Kind,
        splits: Sequence[int],
    ) -> None:
        super().__init__(splits)
        self.kind = kind
        self.register_buffer("start", _tensor(starts))  # (S, d)
        self.register_buffer("start_bias", _tensor([np.asarray(b) for b in biases]))  # (S,)
        self.register_buffer("mean", _tensor(means))
        self.register_buffer("deviation", _tensor(deviations))
        self.offset = nn.Parameter(torch.zeros_like(self.start))
        self.offset_bias = nn.Parameter(torch.zeros_like(self.start_bias))

    def scores(self) -> tuple[Tensor, Tensor]:
        """(S, d) weights and (S,) biases for features as they are."""
        weight = (self.start + self.offset) / self.deviation
        return weight, self.start_bias + self.offset_bias - (weight * self.mean).sum(dim=1)

    def score(self, inputs: Inputs) -> Tensor:
        """Scores of every block."""
        weight, bias = self.scores()
        models = self.models_of(inputs)
        if self.kind == "vectors":
            points = inputs.points(self.start.shape[1]).to(weight.dtype)
            return gap_scores(points, weight[models], bias[models])
        return pair_scores(inputs, weight[models], bias[models])

    @torch.no_grad()
    def weights(self, position: int) -> dict[str, NDArray[Any]]:
        """Weights of a `LinearPair` of one split; their average is the last of them."""
        weight, bias = (value[position].cpu().numpy() for value in self.scores())
        averages = {"average_weight": weight, "average_bias": bias}
        return {"weight": weight, "bias": bias, **averages, "updates": np.asarray(0)}


def _tensor(arrays: Arrays) -> Tensor:
    return torch.as_tensor(np.stack(arrays)).to(torch.get_default_dtype())
