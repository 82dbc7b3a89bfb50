"""Classes of other people that do not keep to the shapes: one error that says so."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from supclust.data.datamodule import BlockDataModule
from supclust.data.splits import DatasetSplit
from supclust.dissimilarity import Dissimilarity, Mahalanobis
from supclust.model.options import FitOptions, build_dissimilarity
from supclust.objectives import Objective, Recipe, objective_class
from training_blocks import vector_block

RECIPE = Recipe(threshold=1.0, margin=0.1)


class Summed(Objective):
    name = "summed"

    def block_losses(self, dissimilarity: torch.Tensor, batch: Any) -> Any:
        return dissimilarity.sum()


class Forgotten(Objective):
    name = "forgotten"

    def block_losses(self, dissimilarity: torch.Tensor, batch: Any) -> Any:
        dissimilarity.sum(dim=(1, 2))


class IgnoresAnchors(Mahalanobis):
    def score(self, inputs: Any) -> torch.Tensor:
        return super().score(inputs._replace(anchors=None))


class WithoutAxis(Dissimilarity):
    def __init__(self) -> None:
        super().__init__((0, 1))
        self.scale = torch.nn.Parameter(torch.ones(4))


def first_batch(step_unit: Any = "block") -> Any:
    rng = np.random.default_rng(0)
    parts = [DatasetSplit((vector_block(f"block {k}", rng),), (), ()) for k in range(2)]
    (batch,) = next(iter(BlockDataModule(parts, step_unit=step_unit).steps(0)))
    return batch


@pytest.mark.parametrize(
    ("chosen", "received"), [(Summed, r"received \(\)"), (Forgotten, "NoneType")]
)
def test_a_loss_is_one_number_per_block(chosen: type[Objective], received: str) -> None:
    objective = chosen(Mahalanobis(4, splits=(0, 1)), RECIPE)
    message = rf"block_losses of objective {chosen.__name__} must return \(2,\).*{received}"
    with pytest.raises(ValueError, match=message):
        objective.losses(first_batch())


def test_rows_are_those_of_the_anchors() -> None:
    objective = objective_class("all_pairs")(IgnoresAnchors(4, splits=(0, 1)), RECIPE)
    objective.losses(first_batch())
    with pytest.raises(ValueError, match=r"must return \(2, \d, 13\).*received \(2, 13, 13\)"):
        objective.losses(first_batch("cluster"))


def test_parameters_have_an_axis_of_splits() -> None:
    with pytest.raises(ValueError, match=r"length 2.*'scale' of WithoutAxis with shape \(4,\)"):
        objective_class("mst")(WithoutAxis(), RECIPE)


def test_an_instance_is_needed() -> None:
    given: Any = Mahalanobis
    with pytest.raises(ValueError, match=r"an instance of .* received the class Mahalanobis"):
        build_dissimilarity(FitOptions(dissimilarity=given), "vectors", 4)
