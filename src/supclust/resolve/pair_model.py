"""Pair models: features of two records -> dissimilarity, minus the log odds of one entity.

Boosted trees take missing values as they are; the logistic model takes neutral values for them.
Both come from weighted labelled pairs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from supclust.boosting import Booster, train_booster
from supclust.resolve.blocking.key_kernels import weighted_sums

Floats = NDArray[np.float64]

_BOOSTING: dict[str, Any] = {
    "learning_rate": 0.1,
    "num_leaves": 15,
    "min_data_in_leaf": 50,
    "lambda_l2": 1.0,
    "max_bin": 63,
    "feature_fraction": 0.3,
    # Matches are rare among the pairs: unlimited, the first trees overshoot by tens of log odds.
    "max_delta_step": 3.0,
}
_RIDGE = 1.0  # penalty of the logistic model on standardised features
_LEAST_SPREAD = 0.1  # a feature that hardly ever differs is not standardised to count fully
_LOGISTIC_STEPS = 100


class PairModel(Protocol):
    """What scoring needs of a pair model."""

    nan: bool
    """Whether features of missing values are NaN (or neutral)."""

    def dissimilarity(self, features: NDArray[np.float32]) -> Floats:
        """(e,) from (e, d)."""
        ...

    def contributions(self, features: NDArray[np.float32]) -> Floats:
        """(e, d + 1) what every feature adds to the dissimilarity, then what is always added."""
        ...

    @property
    def spec(self) -> dict[str, Any]:
        """As a model folder holds it."""
        ...

    @property
    def weights(self) -> dict[str, NDArray[Any]]:
        """As a model folder holds it."""
        ...


@dataclass(frozen=True)
class Boosted:
    """Boosted trees."""

    booster: Booster
    nan = True

    def dissimilarity(self, features: NDArray[np.float32]) -> Floats:
        """Minus the log odds."""
        return -self.booster.predict_raw(features)

    def contributions(self, features: NDArray[np.float32]) -> Floats:
        """(e, d + 1) exact Shapley values, then the expected dissimilarity."""
        return -self.booster.contributions(features)

    def first(self, rounds: int) -> Boosted:
        """The model after some rounds of boosting."""
        return Boosted(self.booster.first(rounds))

    @property
    def spec(self) -> dict[str, Any]:
        """As a model folder holds it."""
        return {"name": "boosted", "kind": "pairs", "d": self.booster.n_features}

    @property
    def weights(self) -> dict[str, NDArray[Any]]:
        """The model in LightGBM's text form, as bytes."""
        return {"booster": np.frombuffer(self.booster.to_text().encode(), np.uint8)}

    @cached_property
    def importances(self) -> Floats:
        """(d,) gain of the splits of every feature, as a share of all."""
        gains = np.zeros(self.booster.n_features)
        for tree in self.booster.to_text().split("\nTree=")[1:]:
            fields = dict(line.split("=", 1) for line in tree.split("\n") if "=" in line)
            if fields.get("split_feature"):
                at = np.array(fields["split_feature"].split(), np.int64)
                np.add.at(gains, at, np.array(fields["split_gain"].split(), np.float64))
        return gains / max(float(gains.sum()), 1e-300)


@dataclass(frozen=True)
class Logistic:
    """A logistic model: the linear dissimilarity of a model folder."""

    weight: Floats
    bias: float
    nan = False

    def dissimilarity(self, features: NDArray[np.float32]) -> Floats:
        """Weighted sum of the features, plus the bias."""
        sums = np.empty(len(features))
        weighted_sums(np.ascontiguousarray(features), self.weight, self.bias, sums)
        return sums

    def contributions(self, features: NDArray[np.float32]) -> Floats:
        """(e, d + 1) weight times feature, then the bias."""
        always = np.full((len(features), 1), self.bias)
        return np.hstack([features * self.weight, always])

    @property
    def spec(self) -> dict[str, Any]:
        """As a model folder holds it."""
        return {"name": "linear", "kind": "pairs", "d": len(self.weight)}

    @property
    def weights(self) -> dict[str, NDArray[Any]]:
        """As of a linear dissimilarity, which keeps its last weights and their average."""
        weight, bias = self.weight.astype(np.float32), np.array(self.bias, np.float32)
        last = {"weight": weight, "bias": bias}
        return {**last, **{f"average_{name}": array for name, array in last.items()}}


def train_boosted(
    features: NDArray[np.float32],
    same: NDArray[np.bool_],
    weight: Floats,
    directions: Sequence[int] = (),
    seed: int = 0,
    rounds: int = 150,
) -> Boosted:
    """Boosted trees from pairs with NaN where a value is missing, on one core.

    Args:
        features: (e, d).
        same: (e,) whether a pair is of one entity.
        weight: (e,) of the pairs.
        directions: (d,) whether the odds may only rise (1) or fall (-1) with a feature, or both
            (0, the default); it keeps the trees from describing the entities of training.
        seed: of the training.
        rounds: of boosting, a tree each.
    """
    params = {**_BOOSTING, "num_iterations": rounds}
    if directions:
        params["monotone_constraints"] = list(directions)
    target = same.astype(np.float64)
    made = train_booster(
        *(features, target, weight),
        objective="binary",
        params=params,
        seed=seed,
        num_threads=1,
    )
    return Boosted(made)


def train_logistic(
    features: NDArray[np.float32],
    same: NDArray[np.bool_],
    weight: Floats,
    directions: Sequence[int] = (),
) -> Logistic:
    """Ridge-penalised logistic regression, on features scaled to about unit spread, by L-BFGS-B.

    Args:
        features: (e, d).
        same: (e,) whether a pair is of one entity.
        weight: (e,) of the pairs.
        directions: as in `train_boosted`: a weight has the sign of its feature, or is zero.
    """
    from scipy.optimize import minimize

    centre = features.mean(axis=0, dtype=np.float64)
    spread = features.std(axis=0, dtype=np.float64)
    scale = np.maximum(spread, _LEAST_SPREAD)
    X = ((features - centre) / scale).astype(np.float64)
    sign = np.where(same, -1.0, 1.0)

    def loss(w: Floats) -> tuple[float, Floats]:
        margin = sign * (X @ w[:-1] + w[-1])
        push = weight * sign / (1 + np.exp(np.clip(margin, -50, 50)))
        value = float((weight * np.logaddexp(0, -margin)).sum() + _RIDGE / 2 * (w[:-1] ** 2).sum())
        return value, -np.append(X.T @ push - _RIDGE * w[:-1], push.sum())

    # w is of the dissimilarity: it falls where the odds rise.
    free: tuple[float | None, float | None] = (None, None)
    signs = {1: (None, 0.0), -1: (0.0, None), 0: free}
    bounds = [*(signs[one] for one in directions or [0] * X.shape[1]), free]
    start, options = np.zeros(X.shape[1] + 1), {"maxiter": _LOGISTIC_STEPS}
    w = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options).x
    return Logistic(w[:-1] / scale, float(w[-1] - (w[:-1] * centre / scale).sum()))


def pair_model(spec: Mapping[str, Any], weights: Mapping[str, NDArray[Any]]) -> PairModel:
    """The pair model of a model folder, checked."""
    if spec["name"] == "boosted":
        content = weights.get("booster")
        if content is None or content.dtype != np.uint8:
            raise ValueError("the model has no boosted trees; copy the whole folder again.")
        made = Booster.from_text(content.tobytes().decode())
        if made.n_features != spec["d"]:
            raise ValueError(
                f"boosted trees of {spec['d']} features are needed; received "
                f"{made.n_features}. Copy the whole folder again."
            )
        return Boosted(made)
    return Logistic(weights["average_weight"].astype(np.float64), float(weights["average_bias"]))
