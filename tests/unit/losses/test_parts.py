"""Parts of the losses: those of the oracles, the same on both kernels, and adding up to the total.

An oracle reduces its within terms, then its across terms: the two calls give its parts.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import generators
from oracles import losses as oracle
from supclust.losses.explink import explink_loss, explink_parts
from supclust.losses.hinge import LossParts, choose_hinge, choose_terms
from supclust.losses.inputs import as_blocks, block_rows
from supclust.losses.mst import mst_parts
from supclust.losses.pairs import all_pairs_parts, best_parts
from supclust.losses.triplets import sample_triplets, triplet_parts

INF = math.inf
PAIR_PARTS = {"all_pairs": all_pairs_parts, "best": best_parts, "mst": mst_parts}
FAMILIES = ["random", "negative", "faces_like"]
REDUCTIONS = ["sum", "mean"]

OracleParts = Callable[..., tuple[float, float]]


@pytest.fixture
def oracle_parts(monkeypatch: pytest.MonkeyPatch) -> OracleParts:
    """The two parts that an oracle adds up."""
    reduced: list[torch.Tensor] = []
    original = oracle.reduce_terms

    def recorded(*args: Any) -> torch.Tensor:
        reduced.append(original(*args))
        return reduced[-1]

    monkeypatch.setattr(oracle, "reduce_terms", recorded)

    def parts(name: str, *args: Any, **options: Any) -> tuple[float, float]:
        reduced.clear()
        total = getattr(oracle, f"{name}_loss")(*args, **options)
        within, across = reduced
        assert (within + across).item() == total.item()
        return within.item(), across.item()

    return parts


def problem(family: str, n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, dict[str, float]]:
    """A block, and a hinge at which terms of both kinds are active."""
    D, labels = generators.FAMILIES[family](n, np.random.default_rng(seed))
    off_diagonal = D[~np.eye(n, dtype=bool)]
    hinge = {"threshold": float(np.median(off_diagonal)), "margin": 0.2 * float(off_diagonal.std())}
    return D, labels, hinge


def assert_parts(found: LossParts, expected: tuple[float, float], block: int = 0) -> None:
    assert found.within is not None and found.across is not None
    assert not found.within.requires_grad and not found.across.requires_grad
    mine = [float(found.within[block]), float(found.across[block])]
    np.testing.assert_allclose(mine, expected, rtol=1e-9, atol=1e-9)
    assert found.total[block].item() == pytest.approx(sum(mine), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("kernel", ["cpu", "device"])
@pytest.mark.parametrize("competitors", ["all", "adjacent"])
@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_explink(kernel: str, competitors: str, reduction: str, oracle_parts: OracleParts) -> None:
    both = 0
    for family in FAMILIES:
        for alpha in (-INF, -1.0, 0.0, 0.7, INF):
            D, labels, hinge = problem(family, 10)
            options = {"variant": "threshold", "competitors": competitors, "reduction": reduction}
            expected = oracle_parts(
                "explink", torch.tensor(D), labels.tolist(), alpha, **options, **hinge
            )
            both += expected[0] > 0 and expected[1] > 0
            leaf = torch.tensor(D, requires_grad=True)
            blocks = as_blocks(leaf, labels, None)
            found = explink_parts(blocks, alpha, choose_terms(**options, **hinge), kernel)
            assert found.total.requires_grad
            assert_parts(found, expected)
            same = explink_loss(leaf, labels, alpha, kernel=kernel, **options, **hinge)
            assert torch.equal(found.total[0], same)
    assert both >= 8  # of fifteen: else it would not matter which part is which


@pytest.mark.parametrize("kernel", ["cpu", "device"])
def test_parts_of_padded_blocks_are_their_own(kernel: str, oracle_parts: OracleParts) -> None:
    lengths = [9, 5, 1]
    D, labels = torch.zeros(3, 9, 9, dtype=torch.float64), torch.zeros(3, 9, dtype=torch.int64)
    options = {"variant": "threshold", "threshold": 1.0, "margin": 0.1, "reduction": "mean"}
    blocks = [problem("random", n, seed=n)[:2] for n in lengths[:2]] + [(np.zeros((1, 1)), [0])]
    for i, (n, (values, truth)) in enumerate(zip(lengths, blocks, strict=True)):
        D[i, :n, :n], labels[i, :n] = torch.tensor(values), torch.tensor(truth)
    alphas, sizes = torch.tensor([-1.0, 0.5, 0.0]), torch.tensor(lengths)
    found = explink_parts(as_blocks(D, labels, sizes), alphas, choose_terms(**options), kernel)
    for i in (0, 1):
        values, truth = blocks[i]
        expected = oracle_parts(
            "explink", torch.tensor(values), list(truth), float(alphas[i]), **options
        )
        assert_parts(found, expected, block=i)
    assert_parts(found, (0.0, 0.0), block=2)


@pytest.mark.parametrize("kernel", ["cpu", "device"])
def test_a_pure_merge_at_infinity_is_in_the_within_part(kernel: str) -> None:
    D = torch.full((4, 4), INF, dtype=torch.float64)
    D[0, 1] = D[1, 0] = 1.0
    D[0, 2] = D[2, 0] = 0.5
    terms = choose_terms("threshold", threshold=1.0, margin=0.5)
    found = explink_parts(as_blocks(D, [0, 0, 1, 1], None), -1.0, terms, kernel)
    assert found.within is not None and found.across is not None
    assert found.within.tolist() == [INF] == found.total.tolist()
    assert math.isfinite(found.across[0])


def test_a_ranking_term_belongs_to_no_part() -> None:
    D, labels, _ = problem("random", 8)
    blocks = as_blocks(torch.tensor(D), labels, None)
    assert explink_parts(blocks, 0.0, choose_terms("ranking"))[1:] == (None, None)


@pytest.mark.parametrize("name", sorted(PAIR_PARTS))
@pytest.mark.parametrize("plain", [True, False])
@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_pairs(name: str, plain: bool, reduction: str, oracle_parts: OracleParts) -> None:
    for family in FAMILIES:
        D, labels, hinge = problem(family, 11)
        options: dict[str, Any] = {**({} if plain else hinge), "reduction": reduction}
        expected = oracle_parts(name, torch.tensor(D), labels.tolist(), **options)
        leaf = torch.tensor(D, requires_grad=True)
        rows = block_rows(as_blocks(leaf, torch.tensor(labels), None))
        assert_parts(PAIR_PARTS[name](rows, choose_hinge(**options)), expected)


@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_triplets(reduction: str, oracle_parts: OracleParts) -> None:
    D, labels, hinge = problem("random", 9)
    drawn = sample_triplets(torch.tensor(labels), 5, torch.Generator().manual_seed(1))
    chosen = [(int(a), int(p), int(q)) for a, p, q in drawn]
    options: dict[str, Any] = {**hinge, "reduction": reduction}
    expected = oracle_parts("triplet", torch.tensor(D), chosen, **options)
    blocks = as_blocks(torch.tensor(D, requires_grad=True), labels, None)
    assert_parts(triplet_parts(blocks, choose_hinge(**options), drawn[None]), expected)
    plain = triplet_parts(blocks, choose_hinge(reduction=reduction), drawn[None])
    assert plain[1:] == (None, None)
