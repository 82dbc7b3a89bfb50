"""`LinearPair`: a linear model of pair features, averaged over its updates at evaluation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal, get_args

import torch
from torch import Tensor, nn

from supclust.dissimilarity.base import Dissimilarity, Inputs, linear_layer_start
from supclust.dissimilarity.scores import gap_scores, pair_scores

Kind = Literal["pairs", "vectors"]


class LinearPair(Dissimilarity):
    """f = w . x + b on the features x of a pair, one (w, b) per split.

    With ``kind="vectors"`` the features of a pair of points are |x - x'| (the model of Fig. 1).
    In evaluation mode the weights are their running average over all updates so far (the "average
    perceptron"); call `after_step` after every step of the optimiser to keep it.

    Args:
        d: features of a pair, or of a point.
        kind: ``"pairs"`` takes condensed pair features, ``"vectors"`` points.
        splits: numbers of the splits, one model each.
        seed: of the initial w and b, uniform on +-1/sqrt(d) as in a linear layer.

    >>> model = LinearPair(2)
    >>> model(torch.zeros(1, 3, 2), lengths=torch.tensor([3])).shape  # 3 points have 3 pairs
    torch.Size([1, 3, 3])
    """

    name: ClassVar[str] = "linear"
    average_weight: Tensor
    average_bias: Tensor
    updates: Tensor

    def __init__(
        self, d: int, kind: Kind = "pairs", splits: Sequence[int] = (0,), seed: int = 0
    ) -> None:
        super().__init__(splits, seed)
        if kind not in get_args(Kind):
            raise ValueError(
                f"kind must be one of {', '.join(get_args(Kind))}; received {kind!r}. "
                "Use 'pairs' for one feature vector per pair of points."
            )
        self.d, self.kind = int(d), kind
        self.weight = nn.Parameter(linear_layer_start((self.d,), self.d, seed, self.splits, 0))
        self.bias = nn.Parameter(linear_layer_start((), self.d, seed, self.splits, 1))
        self.register_buffer("average_weight", self.weight.detach().clone())  # (S, d)
        self.register_buffer("average_bias", self.bias.detach().clone())  # (S,)
        self.register_buffer("updates", torch.zeros(self.n_splits, dtype=torch.int64))

    def score(self, inputs: Inputs) -> Tensor:
        """Scores of every block.

        Complexity: O(b n^2 d) time and O(b n^2) memory beside the features.

        Gradient: in the weights; features are data and get none.
        """
        weight = self.weight if self.training else self.average_weight
        bias = self.bias if self.training else self.average_bias
        models = self.models_of(inputs)
        if self.kind == "vectors":
            points = inputs.points(self.d).to(weight.dtype)
            square = gap_scores(points, weight[models], bias[models])
        else:
            square = pair_scores(inputs, weight[models], bias[models])
        if inputs.anchors is None:
            return square
        index = inputs.anchors.clamp(min=0)[:, :, None].expand(-1, -1, square.shape[2])
        return square.gather(1, index)  # (b, m, n); padding repeats row 0

    @torch.no_grad()
    def after_step(self, active: Tensor) -> None:
        """Take the weights of the ``active`` (S,) splits into their running averages.

        After k updates the average is (w_1 + ... + w_k) / k; the initial weights do not count.
        """
        self.updates += active
        share = active.to(self.weight.dtype) / self.updates.clamp(min=1)
        self.average_weight.lerp_(self.weight, share[:, None])
        self.average_bias.lerp_(self.bias, share)

    def extra_repr(self) -> str:
        """Features, kind and models."""
        return f"d={self.d}, kind={self.kind}, splits={self.n_splits}"
