"""Confidence of a clustering: calibrated probabilities that records belong where they are.

The confidence of a record in a cluster is the probability that another record of the cluster, drawn
at random, is of the same entity; that of a record which is alone, that its entity has no other
record. The mean over a cluster is the expected share of its pairs that are right.

Both are logistic functions of `Membership`, fitted to labelled records in clusterings that had not
seen their entities (`held_out_membership`). The calibration that a model reports is cross-validated
over entities.

Records of an entity stand alike, so entities count as the sample, not records: with few of them,
penalties leave a function of the log odds of the pairs, or nearly the same value for all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supclust.data.errors import DataError
from supclust.explain.calibration import Curve, brier_skill, calibration_curve
from supclust.explain.membership import Floats, Ints, Membership, sigmoid

_LEAST = -8.0  # dissimilarities below it say the same
_LEAST_ODDS = 1e-4
_WIDEST = 100.0  # margin, that of must-links
_WIDTHS = {"together": 5, "alone": 2}  # features
# Of standardised coefficients, in entities; chosen by cross-validation in training parts of tables.
_PENALTIES = {"together": (3.0, 0.1, 3.0, 3.0, 3.0), "alone": (1.0, 1.0)}
_NOT_NEGATIVE = {"together": (1,), "alone": (0, 1)}  # coefficients of known sign


@dataclass(frozen=True)
class Confidence:
    """Two logistic functions: of records in a cluster, and of records alone.

    Attributes:
        together: coefficients of the features, then the constant.
        alone: likewise; empty: the labels do not tell which records are alone.
        curve: of calibration, cross-validated.
        raw_error: expected calibration error of the mean probability of the pairs.
        skill: Brier skill against the mean of the labelled records, cross-validated; NaN: models of
            earlier versions.
    """

    together: tuple[float, ...]
    alone: tuple[float, ...]
    curve: Curve
    raw_error: float
    skill: float = float("nan")

    def of(self, standing: Membership) -> Floats:
        """(n,) confidence of every record; NaN where nothing is known about records alone."""
        single = standing.size == 1
        confidence = np.full(len(single), np.nan)
        confidence[~single] = _apply(self.together, _together(standing)[~single])
        if self.alone:
            confidence[single] = _apply(self.alone, _alone(standing)[single])
        return confidence

    def to_json(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "together": list(self.together),
            "alone": list(self.alone),
            "curve": self.curve._asdict(),
            "error": self.curve.error,
            "raw_error": self.raw_error,
            "skill": self.skill if np.isfinite(self.skill) else None,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Confidence:
        """The inverse of `to_json`, checked."""
        try:
            numbers = {name: tuple(map(float, value[name])) for name in _WIDTHS}
            stored = value["curve"]
            curve = Curve(
                list(map(float, stored["confidence"])),
                list(map(float, stored["observed"])),
                list(map(int, stored["records"])),
            )
            raw_error = float(value["raw_error"])
            skill = float("nan" if value.get("skill") is None else value["skill"])
        except (KeyError, TypeError, ValueError):
            raise DataError("the model's confidence cannot be read; train it again") from None
        for name, width in _WIDTHS.items():
            legal = len(numbers[name]) == width + 1 or (name == "alone" and not numbers[name])
            if not legal or not np.isfinite(numbers[name]).all():
                raise DataError(
                    f"the model's confidence needs {width + 1} finite numbers ({name}); received "
                    f"{len(numbers[name])}. Train it again"
                )
        return cls(numbers["together"], numbers["alone"], curve, raw_error, skill)


def calibrate(standing: Membership, right: Floats, labels: Ints, fold: Ints) -> Confidence | None:
    """Fit the confidence to labelled records.

    Args:
        standing: where the records stand, in clusterings that had not seen their entities.
        right: (n,) what the confidence is to be; NaN where it is not known.
        labels: (n,) entity.
        fold: (n,) of the labelled records, by entity.

    Returns:
        ``None`` without labelled records in clusters, or if all are of one fold, as with a single
        labelled entity: then none can be held out.
    """
    known = ~np.isnan(right) & (fold >= 0)
    if not (known & (standing.size > 1)).any():
        return None
    held_out, constant = np.full((2, len(right)), np.nan)
    for k in np.unique(fold[known]):
        mine, rest = known & (fold == k), known & (fold != k)
        if (rest & (standing.size > 1)).any():
            trained = Confidence(*_fit(standing, right, labels, rest), _NO_CURVE, 0.0)
            held_out[mine] = trained.of(standing)[mine]
            constant[mine] = right[rest].mean()
    scored = ~np.isnan(held_out)
    if not scored.any():
        return None
    raw = calibration_curve(standing.probability[scored], right[scored]).error
    curve = calibration_curve(held_out[scored], right[scored])
    skill = brier_skill(held_out[scored], right[scored], constant[scored])
    return Confidence(*_fit(standing, right, labels, known), curve, raw, skill)


_NO_CURVE = Curve([], [], [])


def confidence_columns(
    record: Mapping[str, Any], standing: Membership, threshold: float
) -> dict[str, Floats]:
    """``confidence`` and ``margin`` of every record, (n,) each; nothing if a model has none.

    The margin is how far below the cut a record joins another one; of a record alone: negative.

    Args:
        record: of the model's training.
        standing: where the records stand.
        threshold: of the cut.
    """
    stored = record.get("confidence")
    if stored is None:
        return {}
    margin = threshold - np.maximum(standing.join, threshold - _WIDEST)
    return {"confidence": Confidence.from_json(stored).of(standing), "margin": margin}


def _fit(
    standing: Membership, right: Floats, labels: Ints, used: NDArray[np.bool_]
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    several, single = used & (standing.size > 1), used & (standing.size == 1)
    together = _logistic("together", _together(standing)[several], right[several], labels[several])
    if not single.any():
        return together, ()
    return together, _logistic("alone", _alone(standing)[single], right[single], labels[single])


def _logistic(name: str, X: Floats, y: Floats, labels: Ints) -> tuple[float, ...]:
    """Coefficients and constant that fit shares y; all records weigh as much as their entities."""
    from scipy.optimize import minimize

    weight = len(np.unique(labels)) / len(y)
    share = (weight * y.sum() + 1) / (weight * len(y) + 2)
    constant = float(np.log(share / (1 - share)))
    if y.min() == y.max():
        return (*(0.0 for _ in range(X.shape[1])), constant)
    centre, spread = X.mean(axis=0), X.std(axis=0)
    scale = np.where(spread > 1e-9, spread, 1.0)
    Z = (X - centre) / scale
    penalty = np.array(_PENALTIES[name])

    def loss(w: Floats) -> tuple[float, Floats]:
        log_odds = Z @ w[:-1] + w[-1]
        value = weight * (np.logaddexp(0, log_odds) - y * log_odds).sum()
        push = weight * (sigmoid(log_odds) - y)
        slope = np.append(Z.T @ push + penalty * w[:-1], push.sum())
        return float(value + (penalty * w[:-1] ** 2).sum() / 2), slope

    start = np.append(np.zeros(X.shape[1]), constant)
    bounds = [(0.0 if k in _NOT_NEGATIVE[name] else None, None) for k in range(len(start))]
    w = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds).x
    return (*(w[:-1] / scale).tolist(), float(w[-1] - (w[:-1] * centre / scale).sum()))


def _together(standing: Membership) -> Floats:
    """Features of records in a cluster."""
    p = np.clip(standing.probability, _LEAST_ODDS, 1 - _LEAST_ODDS)
    rest, top = np.maximum(standing.rest, _LEAST), np.maximum(standing.top, _LEAST)
    return np.column_stack([rest, np.log(p / (1 - p)), top, standing.next, np.log(standing.size)])


def _alone(standing: Membership) -> Floats:
    """Features of records alone."""
    return np.column_stack([np.maximum(standing.nearest, _LEAST), standing.next])


def _apply(coefficients: Sequence[float], features: Floats) -> Floats:
    return sigmoid(features @ np.asarray(coefficients[:-1]) + coefficients[-1])
