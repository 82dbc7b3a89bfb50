"""Calibration of probabilities: curves, and the expected calibration error."""

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
