"""The learned cut: which merges to apply, decided from features of the merges of labelled trees.

Gradient boosting predicts, for every merge, the share p of the |left| |right| pairs it joins that
belong together. With TP = sum p |left| |right| over applied merges and PP the same sum without p,
the cut applies the tree-consistent set of merges that maximises 2 TP - exchange * PP. ``exchange``
is the F1 expected on the trees that the cut was fitted on (the fixed point of Dinkelbach's method
there). It is kept for new trees, so the clusters of a block do not depend on other blocks.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supclust.boosting import Booster, train_booster
from supclust.cut.counts import LabelledTree, best_threshold, labelled_merge_pairs
from supclust.cut.partition import WeightedTree, maximise_f1
from supclust.cut.rule import FEATURES, Rule, expected_shares, learned_merges, merge_features
from supclust.hac.tree import Floats, Ints, check_tree, children_of, cut_labels, joining_heights

PARAMETERS = {
    "num_iterations": 60,
    "learning_rate": 0.1,
    "num_leaves": 8,
    "min_data_in_leaf": 5,
    "lambda_l2": 1.0,
    "monotone_constraints": [-1, 0, 0, 0],  # a higher merge never belongs together more
}


@dataclass(frozen=True, eq=False)
class LearnedCut:
    """A cut of trees of one model.

    Attributes:
        booster: `supclust.cut.rule.FEATURES` of a merge -> log odds of p.
        threshold: zero of the feature height: the best single height of the fitted trees.
        unit: of heights: their standard deviation in the fitted trees.
        exchange: see this module; in [0, 1].
    """

    booster: Booster
    threshold: float
    unit: float
    exchange: float

    def __post_init__(self) -> None:
        """Refuse numbers that no fit gives."""
        numbers = (self.threshold, self.unit, self.exchange)
        if not all(map(math.isfinite, numbers)) or self.unit <= 0 or not 0 <= self.exchange <= 1:
            raise ValueError(
                "a learned cut needs a finite threshold, a unit > 0 and an exchange in [0, 1]; "
                f"received {numbers}. Fit the cut again."
            )
        if self.booster.n_features != len(FEATURES):
            raise ValueError(
                f"a learned cut needs a booster of {len(FEATURES)} features; received "
                f"{self.booster.n_features}. Fit the cut again."
            )

    @property
    def rule(self) -> Rule:
        """The cut as kernels read it."""
        return Rule(self.threshold, self.unit, self.exchange, self.booster.trees)

    def shares(self, Z: ArrayLike) -> Floats:
        """(n - 1,) expected share of the pairs of every merge that belong together."""
        children, heights = _parts(Z)
        features = merge_features(children, heights, self.threshold, self.unit)
        shares: Floats = expected_shares(features, self.booster.trees)
        return shares

    def applied(self, Z: ArrayLike) -> NDArray[np.bool_]:
        """(n - 1,) the merges that the cut applies."""
        applied: NDArray[np.bool_] = learned_merges(*_parts(Z), self.rule)
        return applied

    def labels(self, Z: ArrayLike) -> Ints:
        """(n,) clusters, numbered from 0 by first appearance."""
        children, heights = _parts(Z)
        labels: Ints = cut_labels(children, learned_merges(children, heights, self.rule))
        return labels

    def to_json(self) -> dict[str, Any]:
        """The numbers of the cut; the booster is saved as ``booster.to_text()``."""
        return {
            "features": list(FEATURES),
            "threshold": self.threshold,
            "unit": self.unit,
            "exchange": self.exchange,
        }

    @classmethod
    def from_json(cls, described: Mapping[str, Any], text: str) -> LearnedCut:
        """Read and check what `to_json` and ``booster.to_text()`` gave."""
        if list(described.get("features", ())) != list(FEATURES):
            raise ValueError(
                f"a learned cut must have the features {', '.join(FEATURES)}; received "
                f"{described.get('features')!r}. Upgrade supclust, or fit the cut again."
            )
        numbers: list[Any] = [described.get(name) for name in ("threshold", "unit", "exchange")]
        if not all(isinstance(v, int | float) and not isinstance(v, bool) for v in numbers):
            raise ValueError(
                f"threshold, unit and exchange of a learned cut must be numbers; received "
                f"{numbers}. Save the model again."
            )
        return cls(Booster.from_text(text), *map(float, numbers))


def fit_learned_cut(trees: Sequence[LabelledTree], *, seed: int = 0) -> LearnedCut:
    """Fit a learned cut to trees with known clusters.

    Args:
        trees: (Z, labels) of each block, all built by the same dissimilarity and linkage.
        seed: of the gradient boosting.

    Complexity: O(N log N) for N points in all.
    """
    pairs = [labelled_merge_pairs(Z, labels) for Z, labels in trees]
    joined = np.concatenate([one.joined for one in pairs]).astype(np.float64)
    shared = np.concatenate([one.same_label for one in pairs])
    known = joined > 0  # merges of strangers alone join no known pair
    if not shared.any():
        raise ValueError("a cut is learned from points that belong together; received none.")
    parts = [_parts(Z) for Z, _ in trees]
    threshold = best_threshold(trees).threshold
    unit = float(np.std(np.concatenate([heights for _, heights in parts]))) or 1.0
    features = [merge_features(*one, threshold, unit) for one in parts]
    # The root of the pairs: large merges count more, but do not dominate the fit.
    weight = np.sqrt(joined[known])
    booster = train_booster(
        np.concatenate(features)[known],
        shared[known] / joined[known],
        weight / weight.mean(),
        objective="cross_entropy",
        params=PARAMETERS,
        seed=seed,
    )
    forest = []
    for (children, _), rows, one in zip(parts, features, pairs, strict=True):
        counts = one.joined.astype(np.float64)
        forest.append(WeightedTree(children, expected_shares(rows, booster.trees) * counts, counts))
    return LearnedCut(booster, threshold, unit, maximise_f1(forest)[1])


def _parts(Z: ArrayLike) -> tuple[Ints, Floats]:
    """Children and heights of a tree; a merge is no lower than those below it."""
    tree = check_tree(Z)
    children = children_of(tree)
    return children, joining_heights(children, np.ascontiguousarray(tree[:, 2]))
