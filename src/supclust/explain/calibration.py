"""Calibration of probabilities: curves, the expected calibration error; and what they tell apart.

A constant can be calibrated: `brier_skill` and `auc` say whether probabilities tell cases apart.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

BINS = 10
"""Of a calibration curve, with equally many records each."""


class Curve(NamedTuple):
    """A calibration curve: per bin, mean probability, observed share, and number of records."""

    confidence: list[float]
    observed: list[float]
    records: list[int]

    @property
    def error(self) -> float:
        """Expected calibration error: mean over records of |probability - observed| of bins."""
        gaps = np.abs(np.subtract(self.confidence, self.observed))
        return float(np.average(gaps, weights=self.records)) if self.records else 0.0


def calibration_curve(probability: Floats, observed: Floats, bins: int = BINS) -> Curve:
    """Compare probabilities with what was observed, in bins of equally many records.

    Args:
        probability: (n,) from 0 to 1.
        observed: (n,) outcomes from 0 to 1.
        bins: at most; equal probabilities are never divided.

    >>> curve = calibration_curve(np.array([0.1, 0.1, 0.8, 0.8]), np.array([0.0, 0, 1, 1]), 2)
    >>> curve.observed, round(curve.error, 3)
    ([0.0, 1.0], 0.15)
    """
    order = np.argsort(probability, kind="stable")
    p, y = probability[order], observed[order]
    bounds = np.searchsorted(p, p[np.linspace(0, len(p), bins, endpoint=False).astype(int)])
    ends = np.unique(np.append(bounds, len(p))).tolist()
    parts = [slice(a, b) for a, b in pairwise(ends)]
    return Curve(
        [float(p[part].mean()) for part in parts],
        [float(y[part].mean()) for part in parts],
        [part.stop - part.start for part in parts],
    )


def brier_skill(probability: Floats, observed: Floats, constant: Floats | float) -> float:
    """Share of the squared error of a constant that probabilities avoid; 0: no better, 1: all.

    NaN where the constant makes no error.

    >>> brier_skill(np.array([0.9, 0.1]), np.array([1.0, 0.0]), 0.5)
    0.96
    """
    error = float(((probability - observed) ** 2).sum())
    reference = float(((constant - observed) ** 2).sum())
    return 1 - error / reference if reference > 0 else float("nan")


def auc(probability: Floats, observed: Floats) -> float:
    """Probability that what is right has a higher probability than what is wrong; ties count half.

    Outcomes between 0 and 1 are partly right and partly wrong. NaN if all is right, or all wrong.

    >>> auc(np.array([0.9, 0.4, 0.4]), np.array([1.0, 1.0, 0.0]))
    0.75
    """
    _, inverse = np.unique(probability, return_inverse=True)
    right, wrong = np.bincount(inverse, observed), np.bincount(inverse, 1 - observed)
    pairs = float(right.sum() * wrong.sum())
    below = np.cumsum(wrong) - wrong / 2
    return float((right * below).sum()) / pairs if pairs > 0 else float("nan")
