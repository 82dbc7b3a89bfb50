from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from supclust.data import DataError
from supclust.data.sets.synthetic_pairs import RECIPES, _inner_products, synthetic_pairs


@pytest.fixture(scope="module")
def sets():
    return {name: synthetic_pairs(name) for name in RECIPES}


def pooled(blocks):
    same = []
    for block in blocks:
        a, b = np.triu_indices(block.n, 1)
        same.append(block.labels[a] == block.labels[b])
    return np.concatenate([block.features for block in blocks]), np.concatenate(same)


@pytest.mark.parametrize(
    ("name", "blocks", "features", "split", "smallest", "largest"),
    [
        ("rexa", 8, 14, (3, 2, 3), 19, 471),
        ("aminer", 100, 8, (60, 10, 30), 4, 484),
        ("np_coref", 104, 102, (62, 10, 32), 60, 200),
    ],
)
def test_shapes_are_those_of_the_real_sets(sets, name, blocks, features, split, smallest, largest):
    data = sets[name]
    sizes = [block.n for block in data.blocks]
    assert (len(sizes), data.d, data.sizes) == (blocks, features, split)
    assert (min(sizes), max(sizes)) == (smallest, largest) and sum(split) == blocks
    assert data.source == "stand-in" and len(set(data.feature_names)) == features


def test_columns_are_of_the_real_kinds(sets):
    aminer, _ = pooled(sets["aminer"].blocks)
    assert np.isin(aminer[:, [0, 2, 3, 4, 5, 7]], (0, 1)).all()
    assert np.array_equal(aminer[:, 1], np.rint(aminer[:, 1])) and aminer[:, 1].max() > 2
    assert aminer[:, 6].min() >= 0 and aminer[:, 6].max() <= 1
    rexa, _ = pooled(sets["rexa"].blocks)
    assert np.isin(rexa[:, [*range(8), 9, 10, 11]], (0, 1)).all()
    assert rexa[:, 12].min() < 0 < rexa[:, 12].max() <= 1
    coref, _ = pooled(sets["np_coref"].blocks[::10])
    assert coref.std(axis=0).min() > 0


@pytest.mark.parametrize("name", list(RECIPES))
def test_learning_from_several_features_beats_each_of_them(sets, name):
    blocks = sets[name].blocks
    X, y = pooled(blocks[::2])
    unseen, truth = pooled(blocks[1::2][:30])
    keep = np.random.default_rng(0).permutation(len(y))[:20_000]
    model = LogisticRegression(max_iter=500).fit(X[keep], y[keep])
    learned = roc_auc_score(truth, model.decision_function(unseen))
    single = [roc_auc_score(truth, column) for column in unseen.T]
    best = max(max(single), 1 - min(single))
    assert 0.65 < learned < 0.99  # something to learn, and not for free
    assert learned > best + 0.02
    assert 0.01 < y.mean() < 0.7


@pytest.mark.parametrize("name", ["rexa", "aminer"])
def test_generation_is_repeatable_and_seeded(sets, name):
    assert synthetic_pairs(name).digest() == sets[name].digest()
    assert synthetic_pairs(name, seed=1).digest() != sets[name].digest()


def test_unknown_names_are_refused():
    with pytest.raises(DataError, match="stand-in must be one of rexa, aminer, np_coref"):
        synthetic_pairs("enron")


def test_inner_products_do_not_depend_on_the_processor() -> None:
    rows = np.random.default_rng(0).normal(size=(30, 16)).astype(np.float32)
    found = _inner_products(rows)
    np.testing.assert_array_equal(found, found.T)
    np.testing.assert_allclose(found, rows.astype(np.float64) @ rows.T, rtol=0, atol=1e-5)
    one = np.float32(0)
    for a, b in zip(rows[3], rows[7], strict=True):  # in the order of the axes
        one = np.float32(np.float64(a) * np.float64(b) + np.float64(one))
    assert found[3, 7] == one
