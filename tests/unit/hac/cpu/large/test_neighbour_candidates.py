"""Neighbour candidates of a row: complete up to their bound, and still right after merges."""

from __future__ import annotations

import numpy as np
import pytest

from supclust.hac.cpu.large.neighbour_candidates import (
    MOST,
    Candidates,
    add_candidates,
    find_all_candidates,
    find_candidates,
    new_candidates,
    updated_nearest,
)
from supclust.hac.cpu.large.pending_merges import Rows, new_clusters
from supclust.hac.family import EXTREME

DTYPES = [np.float32, np.float64]
LENGTHS = (1, 2, 30, 63, 64, 65, 100, 127, 128, 129, 640, 1000)


def rows(length: int, dtype: type, rng: np.random.Generator) -> list[np.ndarray]:
    """Any numbers, ties, one number, few numbers among dead columns, in and against the order."""
    dead = np.finfo(dtype).max / 4
    mixed = np.where(rng.random(length) < 0.8, dead, rng.normal(size=length))
    ties = rng.integers(0, 4, size=length).astype(float)
    line = np.arange(length)
    made = (rng.normal(size=length), ties, np.zeros(length), mixed, line, -line)
    return [numbers.astype(dtype) for numbers in made]


def assert_complete(candidates: Candidates, x: int, row: np.ndarray, columns: np.ndarray) -> None:
    """Whatever is not listed is at or above the bound, and the least is listed."""
    count = candidates.count[x]
    places = candidates.column[x, :count]
    assert 1 <= count <= MOST and np.isin(places, columns).all()
    np.testing.assert_array_equal(candidates.linkage[x, :count], row[places])
    rest = np.setdiff1d(columns, places)
    assert not rest.size or row[rest].min() >= candidates.bound[x]
    assert candidates.linkage[x, :count].min() == row[columns].min() <= candidates.bound[x]


@pytest.mark.parametrize("dtype", DTYPES)
def test_nothing_below_the_bound_is_missing(dtype: type, rng: np.random.Generator) -> None:
    candidates = new_candidates(3, np.dtype(dtype))
    for length in LENGTHS:
        for row in rows(length, dtype, rng):
            for start in {0, length // 3}:
                nearest, linkage = find_candidates(row, start, length, 1, candidates)
                assert linkage == row[nearest] == row[start:].min()
                assert_complete(candidates, 1, row, np.arange(start, length))


@pytest.mark.parametrize("dtype", DTYPES)
def test_of_random_numbers_several_are_listed(dtype: type, rng: np.random.Generator) -> None:
    """Or nothing would be gained."""
    candidates = new_candidates(1, np.dtype(dtype))
    counts = []
    for _ in range(200):
        find_candidates(rng.normal(size=2000).astype(dtype), 0, 2000, 0, candidates)
        counts.append(candidates.count[0])
    assert np.mean(counts) > 6


@pytest.mark.parametrize("dtype", DTYPES)
def test_two_stretches_make_one_list(dtype: type, rng: np.random.Generator) -> None:
    candidates = new_candidates(1, np.dtype(dtype))
    for length in LENGTHS[1:]:
        for row in rows(length, dtype, rng):
            gap = int(rng.integers(1, length))
            find_candidates(row, 0, gap, 0, candidates)
            nearest, linkage = add_candidates(row, gap, length, 0, candidates)
            assert linkage == row[nearest] == row.min()
            assert_complete(candidates, 0, row, np.arange(length))


@pytest.mark.parametrize("dtype", DTYPES)
def test_of_points(dtype: type, rng: np.random.Generator) -> None:
    for n in (2, 3, 70, 200):
        D = rng.random((n, n)).astype(dtype)
        D += D.T
        np.fill_diagonal(D, -1)  # ignored
        candidates = new_candidates(n, np.dtype(dtype))
        nearest, distance = np.empty(n, np.int32), np.empty(n, dtype)
        find_all_candidates(D, candidates, nearest, distance, 0, n)
        np.fill_diagonal(D, np.inf)
        np.testing.assert_array_equal(nearest, D.argmin(1))
        np.testing.assert_array_equal(distance, D.min(1))
        for i in range(n):
            assert_complete(candidates, i, D[i], np.delete(np.arange(n), i))


@pytest.mark.parametrize("dtype", DTYPES)
def test_merges_do_not_mislead(dtype: type, rng: np.random.Generator) -> None:
    """Under complete linkage, merge after merge: found without the row, or left to it."""
    updated = 0
    for _ in range(20):
        n = 150
        D = rng.random((n, n)).astype(dtype)
        D = np.maximum(D, D.T)
        np.fill_diagonal(D, 9)
        candidates = new_candidates(n, np.dtype(dtype))
        nothing = np.zeros(n, np.int32)
        clusters = new_clusters(nothing, np.zeros(n, dtype))
        slot = np.arange(n, dtype=np.int32)
        rows = Rows(EXTREME, dtype(0), dtype(0), dtype(9), D, D, D, D, slot)
        x, since = 0, 0
        find_candidates(D[x], 0, n, x, candidates)
        for merges in range(1, 100):
            u, v = rng.choice(np.flatnonzero(clusters.alive)[1:], 2, replace=False)
            D[u] = np.maximum(D[u], D[v])
            D[:, u] = D[u]
            D[u, u] = D[v] = D[:, v] = 9
            clusters.alive[v], clusters.into[v], clusters.formed[u] = False, u, merges
            if rng.random() < 0.5:
                continue
            nearest, linkage = updated_nearest(x, candidates, since, clusters, rows)
            since = merges
            if nearest < 0:
                find_candidates(D[x], 0, n, x, candidates)
                continue
            updated += 1
            assert clusters.alive[nearest] and linkage == D[x, nearest] == D[x].min()
    assert updated > 400
