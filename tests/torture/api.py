"""Fuzz of the Python API against brute force: random, tied, duplicated, tiny and huge input.

A check takes a random generator, makes one input, and raises AssertionError if the answer is not
that of the slow and obvious version in ``tests/oracles``. A new function is a check in `CHECKS`.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from itertools import cycle
from typing import Any

import numpy as np
import torch

import oracles.cut
import oracles.graph
import oracles.hac
import oracles.losses
import oracles.metrics
from supclust import linkage, losses, metrics
from supclust.cut import best_partition, ceiling
from supclust.hac import ExpLinkHAC, graph_linkage, linkages
from supclust.hac.tree import cut_tree

Rng = np.random.Generator
ALPHAS = (-math.inf, -3.0, -0.5, 0.0, 0.5, 3.0, math.inf)


def matrix(rng: Rng, n: int | None = None, finite: bool = False) -> np.ndarray:
    """Symmetric dissimilarities of 1 to 9 points: tied, duplicated, huge, tiny or infinite."""
    n = int(rng.integers(1, 10)) if n is None else n
    kind = rng.integers(7)
    D = rng.normal(size=(n, n))
    if kind == 1:
        D = rng.integers(0, 3, (n, n)).astype(float)
    elif kind == 2:
        D = np.zeros((n, n))
    elif kind == 3:
        D = np.abs(D) * 10.0 ** rng.integers(-30, 30)
    elif kind == 4 and not finite:
        D[rng.random((n, n)) < 0.2] = np.inf
    elif kind == 5:
        points = rng.integers(0, 3, (n, 2)).astype(float)
        D = np.sqrt(((points[:, None] - points) ** 2).sum(-1))
    D = np.minimum(D, D.T)
    np.fill_diagonal(D, 0.0)
    return D


def labels_of(rng: Rng, n: int) -> np.ndarray:
    return rng.integers(0, rng.integers(1, n + 1), n)


def usable(alpha: float, D: np.ndarray) -> bool:
    """Whether the definition itself does not overflow: it multiplies alpha and D."""
    return math.isinf(alpha) or abs(alpha) * oracles.hac.scale_of(D) < 300


def check_linkage(rng: Rng) -> None:
    D, alpha = matrix(rng), float(rng.choice(ALPHAS))
    if usable(alpha, D) and len(D) > 1:
        oracles.hac.replay(D, linkage(D, "exp", alpha=alpha), alpha, rtol=1e-9)


def check_condensed_and_batches(rng: Rng) -> None:
    blocks, alpha = [matrix(rng) for _ in range(3)], float(rng.choice(ALPHAS))
    for D, Z in zip(blocks, linkages(blocks, "exp", alpha=alpha), strict=True):
        if len(D) > 1:
            condensed = D[np.triu_indices(len(D), 1)]
            np.testing.assert_array_equal(linkage(condensed, "exp", alpha=alpha), Z)


def check_module(rng: Rng) -> None:
    D, alpha = matrix(rng, finite=True), float(rng.choice(ALPHAS[1:-1]))
    if len(D) > 1 and 1e-6 < oracles.hac.scale_of(D) < 1e3:
        Z = ExpLinkHAC(alpha).double()(torch.from_numpy(D)[None]).to_scipy()
        oracles.hac.replay(D, Z, alpha, rtol=1e-6)


def check_cuts(rng: Rng) -> None:
    D = matrix(rng, int(rng.integers(2, 9)))
    Z = linkage(D, "average")
    height = float(rng.choice([-np.inf, np.inf, *Z[:, 2], rng.normal()]))
    np.testing.assert_array_equal(cut_tree(Z, height=height), oracles.metrics.cut(Z, height))
    count = int(rng.integers(1, len(D) + 1))
    assert len(set(cut_tree(Z, n_clusters=count).tolist())) == count


def check_metrics(rng: Rng) -> None:
    n = int(rng.integers(2, 9))
    Z, truth, guess = linkage(matrix(rng, n), "average"), labels_of(rng, n), labels_of(rng, n)
    expected = oracles.metrics.pairwise_scores(truth, guess)
    received = metrics.pairwise_scores(truth, guess)
    np.testing.assert_allclose(received[:3], expected[:3], atol=1e-12)
    if len(set(truth.tolist())) < n:
        purity = oracles.metrics.dendrogram_purity(Z, truth)
        assert math.isclose(metrics.dendrogram_purity(Z, truth), purity, abs_tol=1e-9)


def check_threshold(rng: Rng) -> None:
    blocks = []
    for _ in range(int(rng.integers(1, 4))):
        n = int(rng.integers(2, 7))
        blocks.append((linkage(matrix(rng, n, finite=True), "average"), labels_of(rng, n)))
    best = metrics.best_threshold(blocks)
    assert math.isclose(best.f1, oracles.metrics.best_threshold(blocks).f1, abs_tol=1e-12)
    scores = oracles.metrics.pooled_scores(blocks, best.threshold)
    assert math.isclose(scores[2], best.f1, abs_tol=1e-12)


def check_losses(rng: Rng) -> None:
    n = int(rng.integers(2, 7))
    D, labels = torch.from_numpy(rng.normal(size=(n, n))), labels_of(rng, n)
    D = torch.minimum(D, D.T).fill_diagonal_(0)
    name = str(rng.choice(["all_pairs", "best", "mst"]))
    hinge = {} if rng.random() < 0.5 else {"threshold": 0.3, "margin": 0.2}
    expected = getattr(oracles.losses, f"{name}_loss")(D, labels.tolist(), **hinge)
    received = getattr(losses, f"{name}_loss")(D, torch.from_numpy(labels), **hinge)
    torch.testing.assert_close(received.double(), expected.double(), rtol=1e-8, atol=1e-8)


def check_graph(rng: Rng) -> None:
    n, alpha = int(rng.integers(2, 7)), float(rng.choice(ALPHAS))
    i, j = np.triu_indices(n, 1)
    given = rng.random(len(i)) < 0.6
    edges = (i[given], j[given], rng.random(int(given.sum())))
    forest = graph_linkage(edges, n, "exp", alpha=alpha, missing=1.5, threshold=0.8)
    D = oracles.graph.completed(edges, n, 1.5)
    expected, _ = oracles.graph.greedy_partition(D, alpha, 0.8)
    received = [set(np.flatnonzero(forest.labels == k).tolist()) for k in set(forest.labels)]
    assert sorted(map(sorted, received)) == sorted(map(sorted, expected))


def check_partitions(rng: Rng) -> None:
    n = int(rng.integers(2, 7))
    Z, labels = linkage(matrix(rng, n), "average"), labels_of(rng, n)
    shares = rng.random(n - 1)
    total = sum(_all_pairs(Z, shares))
    every = oracles.cut.partitions(Z)
    counts = [[oracles.cut.expected_counts(Z, shares, one) for one in every]]
    best = oracles.cut.best_pooled_f1(counts, total)
    assert math.isclose(best_partition(Z, shares).f1, best, abs_tol=1e-9)
    counts = [[oracles.cut.labelled_counts(labels, one) for one in every]]
    best = oracles.cut.best_pooled_f1(counts, oracles.cut.true_pairs(labels))
    assert math.isclose(ceiling(Z, labels).f1, best, abs_tol=1e-9)


def _all_pairs(Z: np.ndarray, shares: np.ndarray) -> list[float]:
    sizes = np.concatenate([np.ones(len(Z) + 1), Z[:, 3]])
    return [p * sizes[int(a)] * sizes[int(b)] for p, (a, b) in zip(shares, Z[:, :2], strict=True)]


def check_refusals(rng: Rng) -> None:
    """Wrong input is a ValueError (or TypeError), never another error and never an answer."""
    D = matrix(rng, int(rng.integers(2, 6)), finite=True) + 0.0
    wrong: dict[str, Callable[[], Any]] = {
        "nan": lambda: linkage(np.where(np.eye(len(D)) > 0, 0, np.nan), "average"),
        "asymmetric": lambda: linkage(D + np.triu(np.full_like(D, 1 + abs(D).max()), 1), "average"),
        "shape": lambda: linkage(np.zeros((len(D), len(D) + 1)), "average"),
        "text": lambda: linkage(np.full(D.shape, "a"), "average"),
        "method": lambda: linkage(D, "ward"),
        "alpha": lambda: linkage(D, "exp", alpha=math.nan),
        "cut": lambda: cut_tree(linkage(D, "average"), n_clusters=len(D) + 1),
        "labels": lambda: metrics.pairwise_scores([0], [0, 1]),
        "list": lambda: losses.best_loss(D.tolist(), [0] * len(D)),
    }
    name = str(rng.choice(list(wrong)))
    try:
        wrong[name]()
    except (ValueError, TypeError):
        return
    raise AssertionError(f"accepted: {name}")


CHECKS = (
    check_linkage,
    check_condensed_and_batches,
    check_module,
    check_cuts,
    check_metrics,
    check_threshold,
    check_losses,
    check_graph,
    check_partitions,
    check_refusals,
)


def fuzz_api(inputs: object, cases: int, rng: random.Random) -> Iterator[tuple[str, str | None]]:
    """Run the checks in turn."""
    torch.set_num_threads(1)
    for _, check in zip(range(cases), cycle(CHECKS), strict=False):
        seed = rng.randrange(2**32)
        fault = None
        try:
            check(np.random.default_rng(seed))
        except Exception as error:
            fault = f"seed {seed}: {type(error).__name__}: {' '.join(str(error).split())[:200]}"
        yield check.__name__, fault
