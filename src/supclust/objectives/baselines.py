"""Baselines: objectives without epochs, whose dissimilarity is computed from the training blocks.

They stand beside the trained objectives in every table. Alpha of the ``exp`` linkage is the best of
a grid (`supclust.model.selection`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from supclust.data.block import Block, Kind
from supclust.objectives.closed_form import (
    LinearScore,
    labelled_pairs,
    logistic_score,
    scatter_of,
    whitening,
)

if TYPE_CHECKING:
    from supclust.boosting import Booster

BOOSTING = {
    "num_iterations": 200,
    "learning_rate": 0.05,
    "num_leaves": 15,
    "min_data_in_leaf": 50,
    "lambda_l2": 1.0,
}
"""Parameters of LightGBM."""
BOOSTED_PAIRS = 250_000
"""Pairs that the trees read; of more, a sample with all pairs within clusters. On coreference
(2.5 million pairs, 58,000 of them within) it ranks held-out pairs as well as all of them do."""
Weights = dict[str, NDArray[Any]]
"""Weights of a dissimilarity, as a model folder holds them."""


class Baseline(ABC):
    """An objective that is computed, not trained.

    Args:
        seed: of whatever is random in it.

    Attributes:
        name: as in ``objective=...``.
        dissimilarity: name of the dissimilarity whose weights it computes.
        kinds: of the features it works on.
    """

    name: ClassVar[str]
    dissimilarity: ClassVar[str]
    kinds: ClassVar[tuple[Kind, ...]] = ("vectors", "pairs")

    def __init__(self, *, seed: int = 0) -> None:
        self.seed = int(seed)

    def check_kind(self, kind: Kind) -> None:
        """Refuse features that the baseline is not defined for."""
        if kind not in self.kinds:
            raise ValueError(
                f"objective {self.name!r} works on points; received features of pairs. "
                "Use logistic or boosted as a baseline for pairs."
            )

    @abstractmethod
    def fit(self, train: Sequence[Block]) -> Weights:
        """The weights of the dissimilarity, from some training blocks."""


class Euclidean(Baseline):
    """|x - x'|: nothing is learned but linkage and cut."""

    name: ClassVar[str] = "euclidean"
    dissimilarity: ClassVar[str] = "mahalanobis"
    kinds: ClassVar[tuple[Kind, ...]] = ("vectors",)

    def fit(self, train: Sequence[Block]) -> Weights:
        """The identity as the map."""
        return {"weight": np.eye(train[0].d)}


class RCA(Baseline):
    """Relevant component analysis: points whitened by the within-cluster covariance, OAS-shrunk."""

    name: ClassVar[str] = "rca"
    dissimilarity: ClassVar[str] = "mahalanobis"
    kinds: ClassVar[tuple[Kind, ...]] = ("vectors",)

    def fit(self, train: Sequence[Block]) -> Weights:
        """W^(-1/2) as the map."""
        return {"weight": whitening(scatter_of(train))}


class Logistic(Baseline):
    """Logistic regression on all pairs with an L2 penalty; every block weighs the same."""

    name: ClassVar[str] = "logistic"
    dissimilarity: ClassVar[str] = "linear"

    def fit(self, train: Sequence[Block]) -> Weights:
        """Log odds of "different clusters", in units of their standard deviation."""
        return linear_weights(logistic_score(labelled_pairs(train)))


class Boosted(Baseline):
    """A LightGBM classifier of all pairs; every block weighs the same."""

    name: ClassVar[str] = "boosted"
    dissimilarity: ClassVar[str] = "stacked"

    def fit(self, train: Sequence[Block]) -> Weights:
        """Log odds of "different clusters": a stacked model without a linear part."""
        booster = boosted_pairs(train, self.seed)
        return {
            "average_weight": np.append(np.zeros(train[0].d), 1.0),
            "average_bias": np.asarray(0.0),
            "booster": np.frombuffer(booster.text.encode(), np.uint8),
        }


def boosted_pairs(blocks: Sequence[Block], seed: int) -> Booster:
    """A LightGBM classifier of pairs; its raw score is the log odds of "different clusters"."""
    from supclust.boosting import train_booster

    pairs = labelled_pairs(blocks, BOOSTED_PAIRS)
    return train_booster(
        *(pairs.features, pairs.across, pairs.weight),
        objective="binary",
        params=BOOSTING,
        seed=seed,
        num_threads=1,  # several spin-wait for each other, ten times as long on a busy machine
    )


def linear_weights(score: LinearScore) -> Weights:
    """Weights of `LinearPair`; their average over updates is the score itself."""
    weight, offset = score.raw()
    bias = np.asarray(offset)
    return {
        "weight": weight,
        "bias": bias,
        "average_weight": weight,
        "average_bias": bias,
        "updates": np.asarray(0),
    }
