"""What every dissimilarity is: S models of one class, and the batch of matrices they give."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, NamedTuple, TypeAlias

import numpy as np
import torch
from torch import Tensor, nn

Features: TypeAlias = Tensor | Sequence[Tensor]


class Inputs(NamedTuple):
    """The arguments of `Dissimilarity.forward`."""

    features: Features
    lengths: Tensor | None = None
    split_of_block: Tensor | None = None
    row_of_block: Tensor | None = None
    anchors: Tensor | None = None

    def points(self, d: int | None = None) -> Tensor:
        """(b, n, d) points of every block, checked."""
        features = self.features
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
        rows = self.row_of_block
        return features if rows is None else features.index_select(0, rows)


class Dissimilarity(nn.Module):
    """S dissimilarity models of one class, one per split; smaller is closer.

    Every parameter has a leading axis of length S. A block is scored by the model of its split
    only, so the sum of the losses of many splits gives each the gradient it gets alone.

    Args:
        splits: numbers of the splits, distinct; model s is initialised from (seed, splits[s]), so
            it starts the same alone and beside others.
        seed: of the initial values.

    Attributes:
        name: of the class, as in ``dissimilarity=...``.
    """

    name: ClassVar[str] = "custom"

    def __init__(self, splits: Sequence[int] = (0,), seed: int = 0) -> None:
        super().__init__()
        self.splits = tuple(int(split) for split in splits)
        self.seed = int(seed)
        if not self.splits or len(set(self.splits)) != len(self.splits) or min(self.splits) < 0:
            raise ValueError(
                "splits must be one or more distinct integers >= 0, one per model; "
                f"received {list(splits)}. Use splits=(0,) for a single model."
            )

    @property
    def n_splits(self) -> int:
        """Number of models, S."""
        return len(self.splits)

    def forward(
        self,
        features: Features,
        *,
        lengths: Tensor | None = None,
        split_of_block: Tensor | None = None,
        row_of_block: Tensor | None = None,
        anchors: Tensor | None = None,
    ) -> Tensor:
        """Dissimilarities of every block under the model of its split.

        Args:
            features: entries to score: (u, n, d) points; for pair features (u, e, d) in condensed
                order, or a sequence of u tensors (e_i, d), which need no padding.
            lengths: (b,) points per block. Default: no padding.
            split_of_block: (b,) which model scores the block, 0 to S-1. May be left out if S = 1.
            row_of_block: (b,) which entry of ``features`` the block is, so that splits share a
                block without a copy. Default: block i is entry i.
            anchors: (b, m) points whose rows are computed, -1 is padding. Default: all.

        Returns:
            (b, n, n), exactly symmetric with a zero diagonal; with ``anchors`` its rows, (b, m, n).
            Values of padding are finite and without meaning.
        """
        return self.score(Inputs(features, lengths, split_of_block, row_of_block, anchors))

    def score(self, inputs: Inputs) -> Tensor:
        """`forward` of its collected arguments; a subclass defines this, or `forward` itself."""
        raise NotImplementedError(f"{type(self).__name__} must define score(inputs)")

    def after_step(self, active: Tensor) -> None:
        """Called after an update of the parameters of the ``active`` (S,) splits."""

    def models_of(self, inputs: Inputs) -> Tensor:
        """(b,) model of each block, checked."""
        features, _, split_of_block, rows, _ = inputs
        b = len(features) if rows is None else len(rows)
        if split_of_block is None:
            if self.n_splits > 1:
                raise ValueError(
                    f"split_of_block is needed with {self.n_splits} models; received None. "
                    "Say which model scores each block, numbers from 0."
                )
            return torch.zeros(b, dtype=torch.int64, device=features[0].device)
        if split_of_block.shape != (b,):
            raise ValueError(
                f"split_of_block must have shape ({b},), one model per block; "
                f"received {tuple(split_of_block.shape)}."
            )
        return split_of_block


def linear_layer_start(
    shape: tuple[int, ...], fan_in: int, seed: int, splits: Sequence[int], stream: int
) -> Tensor:
    """Initial values of S linear layers, (S, *shape): uniform on +-1/sqrt(fan_in), torch's default.

    (`nn.Linear` draws its matrix by kaiming_uniform with a = sqrt(5), which is that interval.)
    Values of a split depend on (seed, split, stream) only, not on other splits or the device.
    """
    bound = fan_in**-0.5
    draws = [np.random.default_rng([seed, split, stream]).uniform(-bound, bound, shape)
             for split in splits]  # fmt: skip
    return torch.as_tensor(np.stack(draws)).to(torch.get_default_dtype())
