"""Laws of the training losses, with Hypothesis."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import assume, example, given
from hypothesis import strategies as st

import generators
import oracles.losses
from oracles.hac import greedy_tree
from oracles.losses import decision_gaps, pair_gradient, tie_broken_merges
from oracles.metrics import dendrogram_purity
from supclust.losses import all_pairs_loss, best_loss, explink_loss, mst_loss

INF = math.inf
ALPHAS = st.sampled_from([-INF, -20.0, -1.0, 0.0, 0.7, 20.0, INF])
SEEDS = st.integers(0, 10_000)
SIZES = st.integers(1, 9)
PAIR_LOSSES = [all_pairs_loss, best_loss, mst_loss]
HINGE = {"threshold": 2.0, "margin": 0.3}
Result = tuple[float, np.ndarray]  # a loss and its gradient per unordered pair


def blobs(n: int, seed: int, distance: float) -> tuple[np.ndarray, np.ndarray]:
    """Gaussian clusters some distance apart: pure for some distances, not for others."""
    rng = np.random.default_rng(seed)
    labels = generators.random_labels(n, rng)
    centres = distance * np.arange(labels.max() + 1)
    points = rng.normal(size=(n, 2)) + np.stack([centres[labels], 0 * centres[labels]], axis=1)
    return generators.euclidean(points), labels


def random(n: int, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    D, labels = generators.random(n, np.random.default_rng(seed))
    return torch.tensor(D), torch.tensor(labels)


@given(n=st.integers(2, 9), seed=SEEDS, distance=st.floats(0.0, 12.0), alpha=ALPHAS)
def test_zero_ranking_loss_implies_purity_one(
    n: int, seed: int, distance: float, alpha: float
) -> None:
    """Fact 1 of the paper's appendix, for an injective linkage."""
    D, labels = blobs(n, seed, distance)
    assume(min(decision_gaps(torch.tensor(D), labels.tolist(), alpha)) > 1e-9)
    assume(explink_loss(torch.tensor(D), torch.tensor(labels), alpha) == 0)
    assert dendrogram_purity(greedy_tree(D, alpha), labels) == pytest.approx(1.0)


def test_fact_one_is_put_to_the_test() -> None:
    """Among the blocks above are pure ones with zero loss, and impure ones with a loss."""
    seen = set()
    for seed in range(40):
        D, labels = blobs(8, seed, distance=seed / 4)
        pure = dendrogram_purity(greedy_tree(D, -1.0), labels) > 1 - 1e-12
        zero = explink_loss(torch.tensor(D), torch.tensor(labels), -1.0) == 0
        seen.add((bool(pure), bool(zero)))
    assert (True, True) in seen and (False, False) in seen
    assert (False, True) not in seen


@given(n=SIZES, seed=SEEDS, alpha=ALPHAS, mean=st.booleans(), ranking=st.booleans())
def test_neither_the_order_of_points_nor_the_names_of_clusters_matter(
    n: int, seed: int, alpha: float, mean: bool, ranking: bool
) -> None:
    D, labels = random(n, seed)
    order = torch.tensor(np.random.default_rng(seed).permutation(n))
    options = {"reduction": "mean" if mean else "sum"}
    if not ranking:
        options |= {"variant": "threshold", **HINGE}
    expected = explink_loss(D, labels, alpha, **options)
    permuted = explink_loss(D[order][:, order], 100 - 3 * labels[order], alpha, **options)
    torch.testing.assert_close(permuted, expected, rtol=1e-9, atol=1e-9)
    for loss in PAIR_LOSSES:
        permuted = loss(D[order][:, order], 100 - 3 * labels[order], **HINGE)
        torch.testing.assert_close(permuted, loss(D, labels, **HINGE), rtol=1e-9, atol=1e-9)


@given(n=SIZES, seed=SEEDS, alpha=ALPHAS, factor=st.floats(0.01, 100.0), shift=st.floats(-9, 9))
def test_ranking_loss_scales_and_does_not_see_a_shift(
    n: int, seed: int, alpha: float, factor: float, shift: float
) -> None:
    D, labels = random(n, seed)
    expected = explink_loss(D, labels, alpha) * factor
    moved = explink_loss(factor * D + shift, labels, alpha / factor)
    torch.testing.assert_close(moved, expected, rtol=1e-7, atol=1e-9 * max(1.0, factor))


@given(n=SIZES, seed=SEEDS, alpha=ALPHAS, ranking=st.booleans())
def test_adjacent_competitors_are_some_of_all(
    n: int, seed: int, alpha: float, ranking: bool
) -> None:
    D, labels = random(n, seed)
    options = {"variant": "ranking"} if ranking else {"variant": "threshold", **HINGE}
    adjacent, every = (
        explink_loss(D, labels, alpha, competitors=which, **options)
        for which in ("adjacent", "all")
    )
    assert 0 <= adjacent <= every + 1e-9


def is_tie_broken(
    result: Result, D: torch.Tensor, labels: list[int], alpha: float, **options: Any
) -> bool:
    """Whether a loss and its gradient belong to an order of merges that ties up to rounding."""
    for merges in tie_broken_merges(D, labels, alpha, tolerance=1e-9):
        loss, gradient, _ = oracles.losses.value_and_gradients(
            oracles.losses.explink_loss, D, labels, alpha=alpha, merges=merges, equal=1e-9,
            **options,
        )  # fmt: skip
        if are_close(result, (loss, gradient)):
            return True
    return False


def are_close(one: Result, other: Result) -> bool:
    return all(np.allclose(a, b, rtol=1e-9, atol=1e-9) for a, b in zip(one, other, strict=True))


@given(n=SIZES, seed=SEEDS, alpha=ALPHAS, adjacent=st.booleans(), mean=st.booleans())
@example(n=9, seed=232, alpha=-20.0, adjacent=False, mean=False)
@example(n=8, seed=267, alpha=0.7, adjacent=False, mean=True)
def test_both_kernels_agree_on_tied_data(
    n: int, seed: int, alpha: float, adjacent: bool, mean: bool
) -> None:
    """The same numbers; or, where linkages tie up to rounding, each those of some tie-breaking."""
    D, labels = generators.integer_grid(n, np.random.default_rng(seed))
    options = {  # an irrational threshold: no mean of integers lies on a hinge
        "variant": "threshold", "threshold": math.sqrt(5), "margin": 0.7,
        "competitors": "adjacent" if adjacent else "all", "reduction": "mean" if mean else "sum",
    }  # fmt: skip
    results = []
    for kernel in ("cpu", "device"):
        leaf = torch.tensor(D, requires_grad=True)
        loss = explink_loss(leaf, torch.tensor(labels), alpha, kernel=kernel, **options)
        loss.backward()
        assert leaf.grad is not None
        results.append((loss.item(), pair_gradient(leaf.grad)))
    if not are_close(*results):
        for result in results:
            assert is_tie_broken(result, torch.tensor(D), labels.tolist(), alpha, **options)


@given(n=SIZES, seed=SEEDS, alpha=st.floats(-50, 50))
def test_ranking_gradient_adds_up_to_zero(n: int, seed: int, alpha: float) -> None:
    """Raising every dissimilarity raises each h and Psi alike: the ranking gradient adds to 0."""
    D, labels = random(n, seed)
    D.requires_grad_(True)
    explink_loss(D, labels, alpha).backward()
    assert D.grad is not None
    assert abs(D.grad.sum().item()) < 1e-8
