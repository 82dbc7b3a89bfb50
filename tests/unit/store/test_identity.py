"""Ids by overlap, against all assignments."""

from itertools import permutations

import numpy as np
import pytest

from supclust.store import identity
from supclust.store.identity import matched_ids


def kept(labels, previous, ids):
    """Records that keep the id of their cluster."""
    return int((ids[labels] == previous).sum())


@pytest.mark.parametrize("few", [0, 1_000])
@pytest.mark.parametrize("seed", range(40))
def test_as_many_records_as_possible_keep_their_id(seed, few, monkeypatch):
    monkeypatch.setattr(identity, "_FEW", few)
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 25))
    labels = np.unique(rng.integers(0, 5, n), return_inverse=True)[1]
    previous = rng.integers(-1, 4, n) * 10
    previous[previous < 0] = -1
    ids, next_id = matched_ids(labels, previous, 100)
    clusters = int(labels.max()) + 1
    assert len(set(ids.tolist())) == clusters
    assert next_id == 100 + (ids >= 100).sum()
    assert {k for k in ids.tolist() if k < 100} <= set(previous.tolist())
    choices = [*sorted(set(previous.tolist()) - {-1}), *range(1000, 1000 + clusters)]
    best = max(
        kept(labels, previous, np.array(chosen)) for chosen in permutations(choices, clusters)
    )
    assert kept(labels, previous, ids) == best


def test_the_same_clusters_keep_their_ids_in_any_order():
    rng = np.random.default_rng(0)
    previous = rng.integers(0, 300, 1000)
    shuffled = rng.permutation(300)
    labels = np.unique(shuffled[previous], return_inverse=True)[1]
    ids, _ = matched_ids(labels, previous, 1000)
    assert (ids[labels] == previous).all()


def test_none_before():
    ids, next_id = matched_ids(np.array([0, 1, 1]), np.array([-1, -1, -1]), 7)
    assert ids.tolist() == [7, 8]
    assert next_id == 9
