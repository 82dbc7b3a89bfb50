"""Large trees, forced on small matrices: batches of pairs, neighbour candidates, compaction."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.cluster import hierarchy
from scipy.spatial.distance import pdist, squareform

import generators
from oracles.hac import replay
from supclust.hac import linkage
from supclust.hac.cpu import dispatch as chain
from supclust.hac.cpu.large import compaction
from supclust.hac.cpu.large.compaction import compact
from supclust.hac.cpu.large.pending_merges import Rows
from supclust.hac.family import LINEAR

TOLERANCE = {np.float64: 1e-9, np.float32: 2e-5}
ALPHAS = [-50.0, -1.0, 0.0, 1e-3, 50.0, math.inf]


@pytest.fixture(autouse=True)
def _all_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chain, "SMALL", 1)


@pytest.mark.large
@pytest.mark.parametrize("family", generators.FAMILIES)
@pytest.mark.parametrize("dtype", TOLERANCE)
def test_rows_with_several_nearest(family: str, dtype: type) -> None:
    """Rows long enough for vectors, against the oracle."""
    D, _ = generators.FAMILIES[family](90, np.random.default_rng(5))
    D = D.astype(dtype)
    for alpha in ALPHAS:
        replay(D.astype(np.float64), linkage(D, alpha=alpha), alpha, rtol=TOLERANCE[dtype])


@pytest.mark.large
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.99])
@pytest.mark.parametrize("dtype", TOLERANCE)
def test_any_number_of_points_and_steps(
    share: float, dtype: type, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Memory suffices for every step, and the heights are those of the chain in the cache."""
    monkeypatch.setattr(compaction, "COMPACT_BELOW", share)
    for n in (*range(2, 40), 63, 64, 65, 100, 257):
        D = squareform(pdist(rng.normal(size=(n, 3)))).astype(dtype)
        for alpha in (-1.0, 0.0, math.inf):
            monkeypatch.setattr(chain, "SMALL", 3000)
            expected = linkage(D, alpha=alpha)[:, 2]
            for small in (1, 20):
                monkeypatch.setattr(chain, "SMALL", small)
                found = linkage(D, alpha=alpha)[:, 2]
                np.testing.assert_allclose(found, expected, rtol=TOLERANCE[dtype])


@pytest.mark.large
@pytest.mark.parametrize("family", generators.FAMILIES)
@pytest.mark.parametrize("constant", ["LARGE_BATCH", "MOST_READ"])
def test_the_chain_that_takes_over(
    family: str, constant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At once, or after the first batch."""
    monkeypatch.setattr(compaction, constant, 2.0 if constant == "LARGE_BATCH" else -1)
    for n in (2, 3, 20, 70):
        D, _ = generators.FAMILIES[family](n, np.random.default_rng(n))
        for alpha in ALPHAS:
            replay(D, linkage(D, alpha=alpha), alpha, rtol=TOLERANCE[np.float64])


@pytest.mark.large
@pytest.mark.parametrize("alpha", [-1.0, 0.0, math.inf])
@pytest.mark.parametrize("kind", ["order", "hub"])
def test_reads_no_more_rows_than_promised(
    alpha: float, kind: str, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where one cluster grows by one point after another, and is nearest to all the others."""
    n, i = 1000, np.arange(1000.0)
    x, y = np.abs(rng.standard_cauchy((2, n)))
    D = {
        "order": np.minimum.outer(i, i) + 1e-6 * np.maximum.outer(i, i),
        "hub": np.minimum.outer(x, x) + 1e-3 * np.add.outer(y, y),
    }[kind]
    expected = linkage(D, alpha=alpha)
    read, followed = [0], []
    find, follow = compaction.find_nearest, compaction.follow_chain

    def counted(*args: object) -> int:
        read.append(find(*args))
        return read[-1]

    monkeypatch.setattr(compaction, "find_nearest", counted)
    monkeypatch.setattr(
        compaction, "follow_chain", lambda *args: (followed.append(1), follow(*args))
    )
    found = linkage(D, alpha=alpha)
    assert followed and sum(read) < 2 * (compaction.MOST_READ + 1) * n
    np.testing.assert_array_equal(found, expected)


@pytest.mark.large
@pytest.mark.parametrize("levels", [2, 6, 50])
@pytest.mark.parametrize("alpha", [0.0, 1e39])
def test_large_numbers_are_clustered_in_float64(
    levels: int, alpha: float, rng: np.random.Generator
) -> None:
    """Numbers beyond 1e30 are clustered in float64."""
    for n in (70, 150):
        U = np.triu(rng.integers(0, levels, (n, n)), 1)
        D = (2.0**101 * (1 + (U + U.T) * 2.0**-23)).astype(np.float32)
        for given in (D, squareform(D, checks=False)):
            Z = linkage(given, alpha=alpha)
            assert hierarchy.is_valid_linkage(Z)
            limit = math.inf if alpha else 0.0
            replay(D.astype(np.float64), Z, limit, rtol=1e-12)


@pytest.mark.large
@pytest.mark.parametrize("alpha", [-1.0, 0.0, 900.0, math.inf])
@pytest.mark.parametrize("dtype", TOLERANCE)
def test_threads_do_not_change_a_bit(
    alpha: float, dtype: type, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    D = squareform(pdist(rng.normal(size=(700, 4)))).astype(dtype)
    trees = []
    for threads in ("1", "2", "5"):
        monkeypatch.setenv("SUPCLUST_THREADS", threads)
        trees.append(linkage(D, alpha=alpha))
    for tree in trees[1:]:
        np.testing.assert_array_equal(tree, trees[0])


def test_memory_that_is_not_kept(rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    D = squareform(pdist(rng.normal(size=(150, 3))))
    expected = linkage(D, alpha=-1.0)
    monkeypatch.setattr("supclust.hac.memory._largest", lambda: 0.0)
    np.testing.assert_array_equal(linkage(D, alpha=-1.0), expected)


@pytest.mark.parametrize("alpha", [-1.0, 1.0])
def test_linkages_that_are_no_numbers_do_not_hang(alpha: float) -> None:
    D = np.full((40, 40), math.nan)
    with pytest.raises(FloatingPointError, match="a linkage is NaN"):
        chain.build_tree(D, alpha, 0.0, 1.0)


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("m", [1, 7, 8, 16, 17, 50])
def test_a_smaller_matrix_takes_every_linkage_from_the_later_row(
    m: int, dtype: type, rng: np.random.Generator
) -> None:
    n, kind = 60, np.dtype(dtype)
    base, psi = rng.random((n, n)).astype(dtype), rng.random((n, n)).astype(dtype)
    base_weight, weight = base + 10, psi + 10
    living = rng.permutation(n)[:m]
    slot = np.where(rng.random(n) < 0.5, rng.permutation(n), -1).astype(np.int32)
    rows = Rows(LINEAR, dtype(1), dtype(0), dtype(99), base, base_weight, psi, weight, slot)
    small, small_weight = np.empty((2, m, m), kind)
    for start in range(0, m, 16):  # in parts
        compact(rows, living, small, small_weight, start, min(start + 16, m))
    for i, x in enumerate(living):
        row = base[x] if slot[x] < 0 else psi[slot[x]]
        np.testing.assert_array_equal(small[i, :i], row[living[:i]])
        np.testing.assert_array_equal(small[:i, i], row[living[:i]])
        np.testing.assert_array_equal(small_weight[i, :i], row[living[:i]] + dtype(10))
        np.testing.assert_array_equal(small_weight[:i, i], row[living[:i]] + dtype(10))
        assert small[i, i] == 99 and small_weight[i, i] == 1
