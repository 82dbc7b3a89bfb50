"""Train on columns divided by their spread, and keep a model that reads them as they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import torch

from supclust.data.block import Block, FloatArray
from supclust.dissimilarity import Mahalanobis
from supclust.model.trained import TrainedModel


def scaled(blocks: Sequence[Block], scale: FloatArray | None) -> list[Block]:
    """Blocks of vectors, each feature divided by its scale."""
    if scale is None:
        return list(blocks)
    return [replace(block, features=block.features / scale) for block in blocks]


def folded(model: TrainedModel, scale: FloatArray | None) -> TrainedModel:
    """The model of the features before they were scaled: A diag(1 / s) in place of A.

    The distances, and with them tree and cut, stay as they are.
    """
    if scale is None:
        return model
    if not isinstance(model.dissimilarity, Mahalanobis):
        raise ValueError(
            f"--scale goes with a mahalanobis dissimilarity; received "
            f"{type(model.dissimilarity).__name__}. Leave it out, or scale the columns yourself."
        )
    with torch.no_grad():
        weight = model.dissimilarity.weight
        weight.copy_(weight / torch.as_tensor(scale, dtype=weight.dtype))
    return model
