"""Stacked and boosted models: out of fold by block, saved as text, applied without torch."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import lightgbm
import numpy as np
import pytest

from supclust.data.block import Block
from supclust.data.splits import DatasetSplit
from supclust.hac import linkages
from supclust.model.evaluate import training_trees
from supclust.model.fit import FitOptions, fit_model, fit_splits
from supclust.model.folder import read_model
from supclust.model.stacked import (
    distances_as_unseen,
    out_of_fold,
    stacked_scores,
)
from training_blocks import block_of, pair_block

NAMES = tuple("abcd")
OPTIONS = FitOptions(dissimilarity="stacked", recipe_name="best", recipe={"max_epochs": 5})
WITHOUT_TORCH = """
import sys
for name in ("torch", "pytorch_lightning", "lightgbm"):
    sys.modules[name] = None
from pathlib import Path
import numpy as np
from supclust.model.folder import read_model
model = read_model(Path(sys.argv[1]))
np.save(sys.argv[3], model.distances(np.load(sys.argv[2])))
"""


def blocks(count: int = 9, sizes: tuple[int, ...] = (6, 5, 4)) -> list[Block]:
    rng = np.random.default_rng(3)
    return [pair_block(f"block {k}", rng, sizes) for k in range(count)]


def part() -> DatasetSplit:
    made = blocks()
    return DatasetSplit(tuple(made[:6]), tuple(made[6:8]), tuple(made[8:]))


@pytest.mark.parametrize("options", [OPTIONS, FitOptions(objective="boosted")])
def test_a_saved_model_predicts_the_same_without_torch_and_lightgbm(
    options: FitOptions, tmp_path: Path
) -> None:
    split = part()
    model = fit_model(split.train, split.dev, NAMES, options)
    model.save(tmp_path / "model")
    text = (tmp_path / "model" / "booster.txt").read_text()
    assert lightgbm.Booster(model_str=text).num_feature() == 4
    features = split.test[0].features
    expected = model.distances(features)
    np.testing.assert_array_equal(read_model(tmp_path / "model").distances(features), expected)
    np.save(tmp_path / "features.npy", features)
    files = [str(tmp_path / name) for name in ("model", "features.npy", "found.npy")]
    subprocess.run([sys.executable, "-c", WITHOUT_TORCH, *files], check=True)
    np.testing.assert_array_equal(np.load(tmp_path / "found.npy"), expected)


def test_damaged_trees_are_refused(tmp_path: Path) -> None:
    split = part()
    folder = fit_model(split.train, split.dev, NAMES, FitOptions(objective="boosted")).save(
        tmp_path / "model"
    )
    path = folder / "booster.txt"
    path.write_text(path.read_text().replace("leaf_value=", "leaf_value=9", 1))
    with pytest.raises(ValueError, match=r"booster\.txt are missing or damaged"):
        read_model(folder)
    path.unlink()
    with pytest.raises(ValueError, match=r"booster\.txt are missing or damaged"):
        read_model(folder)


def test_logits_are_out_of_fold_by_block() -> None:
    """Features of noise that are the same in every block, with labels of each block's own.

    Trees that have seen a block know its pairs by heart; others cannot tell them apart.
    """
    rng = np.random.default_rng(0)
    made = []
    for k in range(6):
        labels = np.repeat([0, 1], 12)
        i, j = np.triu_indices(24, 1)
        made.append(block_of(f"block {k}", labels, "pairs", rng.normal(size=(len(i), 4))))
    i, j = np.triu_indices(24, 1)
    across = np.repeat([0, 1], 12)[i] != np.repeat([0, 1], 12)[j]

    def separation(logits: list[np.ndarray]) -> float:
        every = np.concatenate(logits)
        apart = np.tile(across, len(logits))
        return float((every[apart].mean() - every[~apart].mean()) / every.std())

    (boosted,) = fit_splits(
        [DatasetSplit(tuple(made), (), ())], NAMES, FitOptions(objective="boosted")
    )
    in_sample = separation([stacked_scores(boosted.weights, b.features) for b in made])
    assert in_sample > 0.5  # learned by heart
    assert abs(separation(out_of_fold(made, 0))) < 0.15  # nothing to learn, nothing leaked


def test_alpha_and_cut_are_chosen_on_trees_that_have_not_seen_the_block() -> None:
    split = part()
    (model,) = fit_splits([split], NAMES, FitOptions(objective="boosted"))
    unseen = distances_as_unseen(model, split.train, 0)
    for block, logits in zip(split.train, out_of_fold(split.train, 0), strict=True):
        found = unseen(block)[np.triu_indices(block.n, 1)]
        np.testing.assert_allclose(found, logits, rtol=1e-5)
        assert not np.allclose(found, stacked_scores(model.weights, block.features))
    for block in split.test:
        np.testing.assert_array_equal(unseen(block), model.distances(block.features))
    trees = training_trees(model, split, {"exp": 0.0}, 0)["exp"]
    heights = {one.block: one.tree[:, 2] for one in trees}
    (tree,) = linkages([unseen(split.train[0])], "exp", alpha=0.0)
    np.testing.assert_allclose(heights[split.train[0].name], tree[:, 2])


def test_one_training_block_does_not_choose_the_cut_of_its_own_trees() -> None:
    whole = part()
    alone = DatasetSplit(whole.train[:1], whole.dev, ())
    (model,) = fit_splits([alone], NAMES, FitOptions(objective="boosted"))
    assert training_trees(model, alone, {"exp": 0.0}, 0) == {"exp": []}


def test_points_are_compared_by_the_size_of_their_differences() -> None:
    rng = np.random.default_rng(1)
    labels = np.repeat(np.arange(6), 6)
    centres = 5 * rng.normal(size=(6, 4))
    whole = block_of("a", labels, "vectors", centres[labels] + rng.normal(size=(36, 4)))
    model = fit_model([whole], [], NAMES, FitOptions(objective="boosted"))
    distances = model.distances(whole.features)
    np.testing.assert_array_equal(distances, distances.T)
    assert distances[labels[:, None] != labels].mean() > distances[labels[:, None] == labels].mean()
