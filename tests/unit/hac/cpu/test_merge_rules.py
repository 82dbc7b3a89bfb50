"""The merge rule of one pair of clusters against sums over its pairs of points."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from supclust.hac.cpu.merge_rules import merge_pair, point_weight
from supclust.hac.family import EXTREME, LINEAR, LOG, MEAN, merge_log_sums

CENTRE = 1.0


def _merged(form: int, alpha: float, values: np.ndarray) -> tuple[float, float]:
    """Linkage and weight of all values, merged one after another."""
    psi = float(values[0])
    weight = float(point_weight(form, psi, alpha, CENTRE)) if form >= LINEAR else 0.0
    for k, value in enumerate(values[1:].tolist(), start=1):
        other = float(point_weight(form, value, alpha, CENTRE)) if form >= LINEAR else float(k)
        psi, weight, share = merge_pair(form, psi, weight, value, other, 1 / (k + 1), alpha, 1.0)
        assert 0 <= share <= 1
    return psi, weight


@pytest.mark.parametrize("alpha", [-3.0, -0.1, 0.7, 20.0])
def test_weights_are_sums_over_the_pairs(alpha: float, rng: np.random.Generator) -> None:
    values = rng.uniform(0.0, 2.0, size=12)
    terms = np.exp(alpha * values)
    mean = (terms * values).sum() / terms.sum()
    psi, weight = _merged(LINEAR, alpha, values)
    assert psi == pytest.approx(mean)
    assert weight == pytest.approx(np.exp(alpha * (values - CENTRE)).sum())
    psi, entropy = _merged(LOG, alpha, values)
    assert psi == pytest.approx(mean)
    assert alpha * psi + entropy == pytest.approx(math.log(terms.sum()))


def test_without_weights(rng: np.random.Generator) -> None:
    values = rng.permutation(9).astype(float)
    assert _merged(MEAN, 0.0, values)[0] == pytest.approx(values.mean())
    # The weight is the code of the pair whose value it is: here its place.
    assert _merged(EXTREME, -math.inf, values) == (0.0, float(values.argmin()))
    assert _merged(EXTREME, math.inf, values) == (8.0, float(values.argmax()))
    assert merge_pair(EXTREME, 1.0, 7.0, 1.0, 3.0, 0.5, math.inf, 1.0)[1:] == (3.0, 0.0)


def test_huge_exponents_lose_nothing() -> None:
    psi, _ = _merged(LOG, 1e12, np.array([1.0, 3.0, 2.0]))
    assert psi == 3.0


def test_the_twin_for_tensors_is_the_same_rule(rng: np.random.Generator) -> None:
    a, b, log_a, log_b = torch.from_numpy(rng.normal(size=(4, 50)))
    psi, log_sum = merge_log_sums((a, b), (log_a, log_b))
    for i in range(50):
        rule = merge_pair(
            LINEAR, float(a[i]), math.exp(log_a[i]), float(b[i]), math.exp(log_b[i]), 0.0, 1.0, 1.0
        )
        assert float(psi[i]) == pytest.approx(rule[0])
        assert math.exp(log_sum[i]) == pytest.approx(rule[1])
