"""The paired t-test against SciPy, and the marks of tables."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import ttest_rel

from supclust.metrics.significance import marks, paired_t_test


@pytest.mark.parametrize("k", [2, 3, 50])
def test_the_test_is_scipys(rng: np.random.Generator, k: int) -> None:
    first, second = rng.normal(0.8, 0.1, k), rng.normal(0.75, 0.1, k)
    found = paired_t_test(first.tolist(), second.tolist())
    expected = ttest_rel(first, second)
    assert found.t == pytest.approx(expected.statistic)
    assert found.p == pytest.approx(expected.pvalue)
    assert found.k == k


def test_equal_differences_are_certain() -> None:
    same = [0.1, 0.7, 0.9]
    assert paired_t_test(same, same) == (0.0, 1.0, 3)
    shifted = paired_t_test([x + 0.2 for x in same], same)
    assert (shifted.t, shifted.p) == (math.inf, 0.0)


def test_one_split_says_nothing() -> None:
    assert math.isnan(paired_t_test([0.5], [0.4]).p)


def test_lengths_must_agree() -> None:
    with pytest.raises(ValueError, match="received 2 and 1"):
        paired_t_test([1.0, 2.0], [1.0])


def test_marks_compare_with_the_best_on_shared_splits(rng: np.random.Generator) -> None:
    best = dict(enumerate(rng.normal(0.9, 0.01, 50)))
    scores = {
        "best": best,
        "near": {s: v - 0.0001 + 0.01 * rng.normal() for s, v in best.items()},
        "far": {s: v - 0.1 + 0.01 * rng.normal() for s, v in best.items() if s < 20},
        "between": {s: v - 0.004 + 0.003 * (-1) ** s for s, v in list(best.items())[:6]},
        "absent": {},
    }
    p = ttest_rel([best[s] for s in range(6)], [scores["between"][s] for s in range(6)]).pvalue
    assert 0.01 < p < 0.05
    assert marks(scores) == {
        "best": "best",
        "near": "",
        "far": "p<0.01",
        "between": "p<0.05",
        "absent": "",
    }


def test_the_best_is_found_on_the_splits_that_all_have() -> None:
    many = {0: 0.96, 1: 0.96, **dict.fromkeys(range(2, 50), 0.9)}
    few = {0: 0.95, 1: 0.95}  # its own mean is the higher one
    assert marks({"few": few, "many": many})["many"] == "best"
    assert marks({"few": {0: 0.95}, "other": {1: 0.9}})["few"] == "best"  # nothing in common


def test_equal_means_are_all_best() -> None:
    found = marks({"a": {0: 1.0, 1: 1.0}, "b": {0: 1.0, 1: 1.0}, "c": {0: 0.5, 1: 0.4}})
    assert (found["a"], found["b"]) == ("best", "best") and found["c"] != "best"


def test_one_method_gets_no_mark() -> None:
    assert marks({"a": {0: 1.0, 1: 0.5}}) == {"a": ""}
