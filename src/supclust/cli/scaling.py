"""Train on columns divided by their spread, and keep a model that reads them as they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from supclust.data.block import Block, FloatArray
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
    if model.spec["name"] != "mahalanobis":
        raise ValueError(
            f"--scale goes with a mahalanobis dissimilarity; received {model.spec['name']}. "
            "Leave it out, or scale the columns yourself."
        )
    weight = model.weights["weight"]
    return replace(model, weights={"weight": weight / scale.astype(weight.dtype)})
