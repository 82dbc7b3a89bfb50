"""Confidence of a clustering: calibrated probabilities that records belong where they are.

The confidence of a record in a cluster is the probability that another record of the cluster, drawn
at random, is of the same entity; that of a record which is alone, that its entity has no other
record. The mean over a cluster is the expected share of its pairs that are right.

Both are logistic functions of `Membership`, fitted to labelled records whose pairs were scored by
models that had not seen their entities. The calibration that a model reports is cross-validated
over entities.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supclust.data.errors import DataError
from supclust.explain.calibration import Curve, calibration_curve
from supclust.explain.membership import Floats, Ints, Membership
from supclust.resolve.pair_model import train_logistic

_FEW = 30  # records below which a function is constant
_LEAST = -8.0  # dissimilarities below it say the same
_LEAST_ODDS = 1e-4
_WIDEST = 100.0  # margin, that of must-links
_WIDTHS = {"together": 5, "alone": 2}  # features


@dataclass(frozen=True)
class Confidence:
    """Two logistic functions: of records in a cluster, and of records alone.

    Attributes:
        together: coefficients of the features, then the constant.
        alone: likewise; empty: the labels do not tell which records are alone.
        curve: of calibration, cross-validated.
        raw_error: expected calibration error of the mean probability of the pairs.
    """

    together: tuple[float, ...]
    alone: tuple[float, ...]
    curve: Curve
    raw_error: float

    def of(self, found: Membership) -> Floats:
        """(n,) confidence of every record; NaN where nothing is known about records alone."""
        single = found.size == 1
        made = np.full(len(single), np.nan)
        made[~single] = _apply(self.together, _together(found)[~single])
        if self.alone:
            made[single] = _apply(self.alone, _alone(found)[single])
        return made

    def to_json(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "together": list(self.together),
            "alone": list(self.alone),
            "curve": self.curve._asdict(),
            "error": self.curve.error,
            "raw_error": self.raw_error,
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
        except (KeyError, TypeError, ValueError):
            raise DataError("the model's confidence cannot be read; train it again") from None
        for name, width in _WIDTHS.items():
            legal = len(numbers[name]) == width + 1 or (name == "alone" and not numbers[name])
            if not legal or not np.isfinite(numbers[name]).all():
                raise DataError(
                    f"the model's confidence needs {width + 1} finite numbers ({name}); received "
                    f"{len(numbers[name])}. Train it again"
                )
        return cls(numbers["together"], numbers["alone"], curve, raw_error)


def calibrate(found: Membership, labels: Ints, complete: bool, fold: Ints) -> Confidence | None:
    """Fit the confidence to labelled records.

    Args:
        found: where the records stand; of pairs that were scored by models which had not seen them.
        labels: (n,) entity, -1: not known.
        complete: whether records without a label are other entities.
        fold: (n,) of the labelled records, by entity.

    Returns:
        ``None`` without labelled records in clusters.
    """
    right = rightness(found.cluster, labels, complete)
    known = ~np.isnan(right) & (fold >= 0)
    if not (known & (found.size > 1)).any():
        return None
    held_out = np.full(len(right), np.nan)
    for k in np.unique(fold[known]):
        rest = known & (fold != k)
        if (rest & (found.size > 1)).any():
            trained = Confidence(*_fit(found, right, rest), _NO_CURVE, 0.0)
            held_out[fold == k] = trained.of(found)[fold == k]
    scored = known & ~np.isnan(held_out)
    raw = calibration_curve(found.probability[scored], right[scored]).error
    curve = calibration_curve(held_out[scored], right[scored])
    return Confidence(*_fit(found, right, known), curve, raw)


_NO_CURVE = Curve([], [], [])


def rightness(clusters: Ints, labels: Ints, complete: bool) -> Floats:
    """(n,) share of the other records of the cluster that are of a record's entity.

    Of a record that is alone: whether its entity has no other record. NaN where labels do not tell.

    Args:
        clusters: (n,) of the records.
        labels: (n,) entity, -1: not known.
        complete: whether records without a label are other entities; else they do not count.

    >>> rightness(np.array([0, 0, 0, 1, 2]), np.array([0, 0, -1, 0, 1]), True)
    array([0.5, 0.5, nan, 0. , 1. ])
    """
    known = labels >= 0
    counted = np.ones(len(labels)) if complete else known.astype(float)
    size = np.bincount(clusters, counted)[clusters[known]]
    cell = labels[known].astype(np.int64) * (int(clusters.max(initial=0)) + 1) + clusters[known]
    _, inverse, shared = np.unique(cell, return_inverse=True, return_counts=True)
    entity = np.bincount(labels[known])[labels[known]]
    alone = np.bincount(clusters)[clusters[known]] == 1
    truly_alone = np.where(complete, entity == 1, np.nan)
    with np.errstate(invalid="ignore"):
        share = (shared[inverse] - 1) / np.where(size > 1, size - 1, np.nan)
    right = np.full(len(labels), np.nan)
    right[known] = np.where(alone, truly_alone, share)
    return right


def confidence_columns(
    record: Mapping[str, Any], found: Membership, threshold: float
) -> dict[str, Floats]:
    """``confidence`` and ``margin`` of every record, (n,) each; nothing if a model has none.

    The margin is how far below the cut a record joins another one; of a record alone: negative.

    Args:
        record: of the model's training.
        found: where the records stand.
        threshold: of the cut.
    """
    stored = record.get("confidence")
    if stored is None:
        return {}
    margin = threshold - np.maximum(found.join, threshold - _WIDEST)
    return {"confidence": Confidence.from_json(stored).of(found), "margin": margin}


def _fit(
    found: Membership, right: Floats, used: NDArray[np.bool_]
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    several, single = used & (found.size > 1), used & (found.size == 1)
    together = _logistic(_together(found)[several], right[several])
    alone = _logistic(_alone(found)[single], right[single]) if single.any() else ()
    return together, alone


def _logistic(X: Floats, y: Floats) -> tuple[float, ...]:
    """Coefficients and constant that fit shares y; a smoothed constant where there are few."""
    if len(y) < _FEW or y.min() == y.max():
        share = (y.sum() + 1) / (len(y) + 2)
        return (*(0.0 for _ in range(X.shape[1])), float(np.log(share / (1 - share))))
    twice = np.vstack([X, X]).astype(np.float32)
    model = train_logistic(twice, np.arange(len(twice)) < len(y), np.concatenate([y, 1 - y]))
    return (*(-model.weight).tolist(), -model.bias)


def _together(found: Membership) -> Floats:
    """Features of records in a cluster."""
    p = np.clip(found.probability, _LEAST_ODDS, 1 - _LEAST_ODDS)
    rest, top = np.maximum(found.rest, _LEAST), np.maximum(found.top, _LEAST)
    return np.column_stack([rest, np.log(p / (1 - p)), top, found.next, np.log(found.size)])


def _alone(found: Membership) -> Floats:
    """Features of records alone."""
    return np.column_stack([np.maximum(found.nearest, _LEAST), found.next])


def _apply(coefficients: Sequence[float], features: Floats) -> Floats:
    log_odds = features @ np.asarray(coefficients[:-1]) + coefficients[-1]
    return np.asarray(1 / (1 + np.exp(np.clip(-log_odds, -50, 50))))
