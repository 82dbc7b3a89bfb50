"""The average of boosted models."""

import lightgbm
import numpy as np
import pytest

from supclust.boosting import average_boosters, train_booster


def boosters(d=4):
    rng = np.random.default_rng(0)
    X = rng.random((300, d))
    X[rng.random(X.shape) < 0.1] = np.nan
    y = (np.nan_to_num(X[:, 0]) + rng.normal(0, 0.2, 300) > 0.5).astype(float)
    parts = [rng.random(300) < 0.7 for _ in range(3)]
    params = {"num_iterations": 7, "num_leaves": 5}
    return X, [train_booster(X[p], y[p], objective="binary", params=params) for p in parts]


def test_scores_are_the_mean_also_in_lightgbm():
    X, made = boosters()
    mean = np.mean([one.predict_raw(X) for one in made], axis=0)
    both = average_boosters(made)
    assert np.allclose(both.predict_raw(X), mean)
    theirs = lightgbm.Booster(model_str=both.to_text())
    assert np.allclose(theirs.predict(X, raw_score=True), mean)


def test_contributions_sum_to_the_score():
    X, made = boosters()
    both = average_boosters(made)
    assert np.allclose(both.contributions(X).sum(axis=1), both.predict_raw(X))


def test_models_of_other_features_are_refused():
    with pytest.raises(ValueError, match="same features"):
        average_boosters([boosters(4)[1][0], boosters(3)[1][0]])
