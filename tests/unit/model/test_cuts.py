"""Cuts of models: chosen, saved, applied the same way by every path; old folders still load."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from supclust.cluster.flat import label_points
from supclust.data.block import Block
from supclust.model.cuts import check_cut, cluster_folds
from supclust.model.evaluate import choose_cut
from supclust.model.trained import TrainedModel


def blocks(count: int, seed: int) -> list[Block]:
    """Clusters of 3 tight points or of 30 wide ones: the best height depends on the size."""
    rng = np.random.default_rng(seed)
    made = []
    for k in range(count):
        sizes = rng.choice([3, 3, 30], 8)
        labels = np.repeat(np.arange(8), sizes)
        wide = (sizes > 10)[labels]
        x = rng.permutation(8)[labels] * np.where(wide, 30.0, 4.0)
        points = np.stack([x, np.where(wide, 500.0, 0.0)], 1)
        points += rng.normal(size=points.shape) * np.where(wide, 5.0, 0.3)[:, None]
        ids = tuple(map(str, range(len(labels))))
        made.append(Block(f"b{k}", ids, labels, "vectors", points.astype(np.float32)))
    return made


@pytest.fixture(scope="module")
def untrained() -> TrainedModel:
    spec = {"name": "mahalanobis", "kind": "vectors", "d": 2}
    weights = {"weight": np.eye(2, dtype=np.float32)}
    return TrainedModel(spec, weights, "all_pairs", ("x", "y"), linkage="average", alpha=0.0)


@pytest.fixture(scope="module")
def learned(untrained: TrainedModel) -> TrainedModel:
    return choose_cut(untrained, blocks(10, 0), blocks(3, 1), "auto")


def test_auto_uses_the_learned_cut_where_it_wins(learned: TrainedModel) -> None:
    assert learned.learned is not None
    choice = learned.record["cut_choice"]
    assert choice["asked"] == "auto" and choice["chosen"] == "learned"
    assert choice["reason"].startswith("learned: held-out F1")
    assert learned.record["dev"]["pairwise_f1"] <= choice["ceiling"] <= 1
    json.dumps(learned.record)


@pytest.mark.parametrize("cut", ["dev", "threshold"])
def test_heights(untrained: TrainedModel, cut: str) -> None:
    model = choose_cut(untrained, blocks(10, 0), blocks(3, 1), cut)
    assert model.learned is None and np.isfinite(model.threshold)
    chosen_on = blocks(3, 1) if cut == "dev" else [*blocks(10, 0), *blocks(3, 1)]
    alone = choose_cut(untrained, [], chosen_on, "dev")
    assert model.threshold == alone.threshold


def test_every_path_cuts_the_same_way(learned: TrainedModel, tmp_path: Path) -> None:
    new = blocks(6, 2)
    points = np.concatenate([block.features for block in new])
    starts = np.cumsum([0, *(block.n for block in new)])
    saved = TrainedModel.load(learned.save(tmp_path / "model"))
    assert saved.digest == learned.digest != choose_cut(learned, [], new, "dev").digest
    assert {path.name for path in (tmp_path / "model").iterdir()} == {
        *("model.json", "model.safetensors", "cut.txt"),
    }
    labels, counts = label_points(saved, points, starts, saved.cut())
    for k, block in enumerate(new):
        expected = learned.labels(block.features)
        np.testing.assert_array_equal(saved.labels(block.features), expected)
        np.testing.assert_array_equal(labels[starts[k] : starts[k + 1]], expected)
        assert counts[k] == expected.max() + 1
    at_height = label_points(saved, points, starts, saved.cut(threshold=learned.threshold))[0]
    assert not np.array_equal(at_height, labels)


def test_a_height_or_a_number_of_clusters_replaces_the_learned_cut(learned: TrainedModel) -> None:
    features = blocks(1, 3)[0].features
    assert learned.labels(features, n_clusters=2).max() == 1
    assert learned.labels(features, threshold=np.inf).max() == 0
    assert learned.cut(n_clusters=2).rule.trees.root.size == 0
    assert learned.cut(threshold=1.0).rule.trees.root.size == 0
    assert learned.cut().rule.trees.root.size > 0


@pytest.mark.parametrize("damage", ["missing", "edited", "numbers"])
def test_a_damaged_cut_is_refused(learned: TrainedModel, tmp_path: Path, damage: str) -> None:
    folder = learned.save(tmp_path / "model")
    if damage == "missing":
        (folder / "cut.txt").unlink()
    elif damage == "edited":
        text = (folder / "cut.txt").read_text()
        (folder / "cut.txt").write_text(text.replace("threshold=", "threshold=1 ", 1))
    else:
        described = json.loads((folder / "model.json").read_text())
        described["cut"]["learned"]["unit"] = 0
        (folder / "model.json").write_text(json.dumps(described))
    with pytest.raises(ValueError, match=r"cut.txt is missing or damaged"):
        TrainedModel.load(folder)


def test_a_model_with_a_height_keeps_the_old_format(
    untrained: TrainedModel, tmp_path: Path
) -> None:
    model = choose_cut(untrained, [], blocks(3, 1), "dev")
    described = json.loads((model.save(tmp_path / "model") / "model.json").read_text())
    assert described["format"] == 1 and "learned" not in described["cut"]


def test_folds_of_one_block_hold_clusters_out(untrained: TrainedModel) -> None:
    (block,) = blocks(1, 0)
    train = block.select(np.flatnonzero(block.labels < 4), "train")
    dev = block.select(np.flatnonzero(block.labels >= 4), "dev")
    folds = cluster_folds(untrained, [train], [dev], 0.0)
    assert folds is not None and len(folds) == 10
    for fold in folds:
        (fitted,), (held,) = fold.fit, fold.held_out
        assert len(fitted[1]) + len(held[1]) == block.n
        assert len(np.unique(fitted[1])) == len(np.unique(held[1])) == 4
    for fold in folds[2:]:  # numbered over both parts
        assert not set(fold.fit[0][1]) & set(fold.held_out[0][1])
    assert cluster_folds(untrained, blocks(2, 0), [], 0.0) is None
    model = choose_cut(untrained, [train], [dev], "auto")
    assert model.record["cut_choice"]["folds"] == 10


def test_unknown_names_are_refused() -> None:
    with pytest.raises(ValueError, match="cut must be one of dev, threshold, learned, auto"):
        check_cut("best")
