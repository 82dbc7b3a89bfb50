"""Pairs of clusters by entity, and when one clustering is clearly better than another."""

import numpy as np
import pytest

from supclust.resolve.forest_scores import EntityPairs, labelled_scores


def brute_force(labels, clusters, complete):
    """(true, predicted, shared) of every entity, pair by pair."""
    counts = np.zeros((3, labels.max() + 1))
    for i in range(len(labels)):
        for j in range(i):
            a, b, joined = labels[i], labels[j], clusters[i] == clusters[j]
            if a >= 0 and a == b:
                counts[:, a] += [1, joined, joined]
            elif joined:
                halves = [one for one in (a, b) if one >= 0]
                if len(halves) == 2 or (halves and complete):
                    counts[1, halves] += 0.5
    return counts


@pytest.mark.parametrize("complete", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_pairs_of_entities_are_those_of_brute_force(seed, complete):
    rng = np.random.default_rng(seed)
    labels, clusters = rng.integers(-1, 5, 40), rng.integers(0, 9, 40)
    pairs = EntityPairs.of(labels, clusters, complete)
    assert np.allclose(pairs[:3], brute_force(labels, clusters, complete))
    assert np.allclose(pairs.scores, labelled_scores(labels, clusters, complete)[:3])


def two_clusterings(entities, better):
    """Pairs of entities of 3 records: split into 2 and 1, and whole for some of them."""
    labels = np.repeat(np.arange(entities), 3)
    split = labels * 2 + np.tile([0, 0, 1], entities)
    whole = np.where(labels < better, labels * 2, split)
    return EntityPairs.of(labels, whole, True), EntityPairs.of(labels, split, True)


def test_two_entities_for_and_one_against_are_no_clear_difference():
    labels = np.repeat(np.arange(20), 3)
    split = labels * 2 + np.tile([0, 0, 1], 20)
    for_it = np.where(labels < 2, labels * 2, split)
    mostly = np.where(labels == 5, labels * 2, split)
    one, other = (EntityPairs.of(labels, clusters, True) for clusters in (for_it, mostly))
    assert one.score > other.score
    assert not one.clearly_better(other)


def test_a_difference_of_many_entities_is_clear():
    whole, split = two_clusterings(20, 10)
    assert whole.clearly_better(split)
    assert not split.clearly_better(whole)


def test_a_clustering_is_not_clearly_better_than_itself():
    whole, _ = two_clusterings(5, 5)
    assert not whole.clearly_better(whole)


def test_the_standard_error_is_that_of_the_bootstrap():
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(200), rng.integers(2, 6, 200))
    one = labels * 10 + (rng.random(len(labels)) < 0.2)
    other = labels * 10 + (rng.random(len(labels)) < 0.3)
    a, b = (EntityPairs.of(labels, clusters, True) for clusters in (one, other))
    draws = rng.integers(0, 200, (2000, 200))
    resampled = [a.where(k).score - b.where(k).score for k in draws]
    influence = a._influence() - b._influence()
    error = np.sqrt((influence**2).sum() * 200 / 199)
    assert error == pytest.approx(np.std(resampled), rel=0.1)
