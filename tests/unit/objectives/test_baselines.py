"""Baselines against their formulas, and as models like any other."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform
from sklearn.covariance import oas
from sklearn.linear_model import LogisticRegression

from supclust.data.block import Block
from supclust.model.fit import FitOptions, fit_model, fit_splits
from supclust.model.folder import read_model, write_model
from supclust.model.selection import ALPHAS
from supclust.objectives import RCA
from supclust.objectives.closed_form import closed_form_maps, labelled_pairs, scatter_of
from training_blocks import block_of, overlapping_parts, pair_block, vector_block

NAMES = tuple("abcd")


@pytest.fixture
def points() -> list[Block]:
    rng = np.random.default_rng(5)
    sizes = [(5, 4, 1), (3, 3), (6, 2)]
    return [vector_block(f"block {k}", rng, size) for k, size in enumerate(sizes)]


def test_rca_whitens_the_residuals_of_clusters(points: list[Block]) -> None:
    residuals = []
    for block in points:
        for code in range(block.n_clusters):
            members = block.features[block.labels == code]
            if len(members) > 1:
                residuals += [x - members.mean(axis=0) for x in members]
    covariance, _ = oas(np.array(residuals), assume_centered=True)
    weight = RCA().fit(points)["weight"]
    np.testing.assert_allclose(weight, weight.T, atol=1e-12)
    np.testing.assert_allclose(weight @ covariance @ weight, np.eye(4), atol=1e-9)


def test_maps_of_closed_form_have_mean_distance_one(points: list[Block]) -> None:
    for name, matrix in closed_form_maps(points).items():
        distances = np.concatenate([pdist(block.features @ matrix.T) for block in points])
        assert distances.mean() == pytest.approx(1.0), name


def test_clusters_of_one_point_each_give_the_identity() -> None:
    block = block_of("a", np.arange(4), "vectors", np.random.default_rng(0).normal(size=(4, 3)))
    np.testing.assert_array_equal(scatter_of([block]).within, np.eye(3))


def test_blocks_weigh_the_same_in_logistic_regression() -> None:
    rng = np.random.default_rng(1)
    blocks = [pair_block("small", rng, (2, 2)), pair_block("large", rng, (9, 8, 7))]
    pairs = labelled_pairs(blocks)
    small = blocks[0].n * (blocks[0].n - 1) // 2
    assert pairs.weight[:small].sum() == pytest.approx(pairs.weight[small:].sum())
    (model,) = fit_splits([_part(blocks)], NAMES, FitOptions(objective="logistic"))
    mean = np.average(pairs.features, axis=0, weights=pairs.weight)
    deviation = np.average((pairs.features - mean) ** 2, axis=0, weights=pairs.weight) ** 0.5
    standard = (pairs.features - mean) / deviation
    reference = LogisticRegression().fit(standard, pairs.across, sample_weight=pairs.weight)
    odds = reference.decision_function(standard)
    found = np.concatenate([model.distances(b.features)[np.triu_indices(b.n, 1)] for b in blocks])
    assert np.average(found**2, weights=pairs.weight) - np.average(
        found, weights=pairs.weight
    ) ** 2 == pytest.approx(1.0, rel=1e-4)
    np.testing.assert_allclose(found, odds * (found.std() / odds.std()), rtol=1e-3, atol=1e-3)


def test_a_sample_of_pairs_keeps_those_within_clusters_and_their_weights() -> None:
    rng = np.random.default_rng(1)
    blocks = [pair_block("small", rng, (2, 2)), pair_block("large", rng, (9, 8, 7, 6, 5, 4))]
    whole, some = labelled_pairs(blocks), labelled_pairs(blocks, limit=400)
    assert len(some.across) <= 410 < len(whole.across)
    assert np.count_nonzero(~some.across) == np.count_nonzero(~whole.across)
    shares = [p.weight[p.across].sum() / p.weight.sum() for p in (whole, some)]
    assert shares[0] == pytest.approx(shares[1])
    rows = {row.tobytes() for row in whole.features}
    assert all(row.tobytes() in rows for row in some.features)


def test_pairs_of_two_strangers_are_not_known() -> None:
    labels, strangers = np.array([0, 0, 1, 2]), np.array([False, False, True, True])
    features = np.arange(6.0)[:, None]
    block = replace(block_of("a", labels, "pairs", features), strangers=strangers)
    pairs = labelled_pairs([block])
    assert pairs.features[:, 0].tolist() == [0, 1, 2, 3, 4]  # all but the last, strangers 2 and 3
    assert pairs.across.tolist() == [False, True, True, True, True]


def test_euclidean_learns_nothing_but_linkage_and_cut(points: list[Block]) -> None:
    model = fit_model(points[:2], points[2:], NAMES, FitOptions(objective="euclidean"))
    block = points[2]
    expected = squareform(pdist(block.features))
    np.testing.assert_allclose(model.distances(block.features), expected, rtol=1e-5, atol=1e-5)
    assert model.record["epochs"] == 0 and model.objective == "euclidean"
    unit = np.concatenate([pdist(b.features) for b in points]).mean()
    assert any(np.isclose(model.alpha * unit, alpha, rtol=1e-4) for alpha in ALPHAS)


@pytest.mark.parametrize(
    ("objective", "kind"), [("rca", "vectors"), ("logistic", "vectors"), ("logistic", "pairs")]
)
def test_baselines_are_saved_and_read_like_trained_models(
    objective: str, kind: str, tmp_path: Path
) -> None:
    parts = overlapping_parts(kind, 2)
    models = fit_splits(parts, NAMES, FitOptions(objective=objective), splits=(0, 1))
    write_model(models[1], tmp_path)
    features = parts[1].dev[0].features
    expected = models[1].distances(features)
    np.testing.assert_array_equal(read_model(tmp_path).distances(features), expected)
    alone = fit_splits([parts[1]], NAMES, FitOptions(objective=objective), splits=(1,))[0]
    np.testing.assert_array_equal(alone.distances(features), expected)


def test_mistakes() -> None:
    part = overlapping_parts("pairs", 1)[0]
    with pytest.raises(ValueError, match="'rca' works on points"):
        fit_model(part.train, part.dev, NAMES, FitOptions(objective="rca"))
    options = FitOptions(objective="logistic", dissimilarity="encoder")
    with pytest.raises(ValueError, match="computes a linear dissimilarity; received"):
        fit_model(part.train, part.dev, NAMES, options)
    alone = [block_of("a", np.arange(3), "pairs", np.ones((3, 4)))]
    with pytest.raises(ValueError, match="only one kind"):
        fit_splits([_part(alone)], NAMES, FitOptions(objective="logistic"))


def _part(blocks: list[Block]):
    from supclust.data.splits import DatasetSplit

    return DatasetSplit(tuple(blocks), (), ())
