"""An objective and a dissimilarity of another package: one Python file and one YAML file."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from experiment_runs import arguments, result, train_here, write_points
from supclust import SupervisedHAC
from supclust.cli import main as cli

MODULE = '''
import pytorch_lightning as pl

from supclust.losses import all_pairs_loss
from supclust.objectives import Objective


class Doubled(Objective):
    """All pairs, with a factor."""

    name = "doubled"

    def __init__(self, *args, factor=2.0, **more):
        super().__init__(*args, **more)
        self.factor = factor

    def block_losses(self, dissimilarity, batch):
        hinges = self.recipe.hinges("sum")
        return self.factor * all_pairs_loss(
            dissimilarity, batch.labels, lengths=batch.lengths, block_reduction="none", **hinges
        )
'''
MODULE += '''

class Epochs(pl.Callback):
    """Counts epochs."""

    count = 0

    def on_train_epoch_end(self, trainer, pl_module):
        Epochs.count += 1
'''
MODULE += '''

from supclust.dissimilarity import LinearPair


class Halved(LinearPair):
    """Half of a linear dissimilarity, of points or of pair features."""

    name = "halved"

    def score(self, inputs):
        return 0.5 * super().score(inputs)
'''
YAML = """
# All pairs, with a factor.
_target_: elsewhere.Doubled
_partial_: true
name: doubled
factor: 3.0
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder as of installed packages, with a package that registers an objective."""
    folder = tmp_path / "site"
    info = folder / "elsewhere-1.0.dist-info"
    info.mkdir(parents=True)
    (folder / "elsewhere.py").write_text(MODULE)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: elsewhere\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[supclust.objectives]\ndoubled = elsewhere:Doubled\n"
        "[supclust.dissimilarities]\nhalved = elsewhere:Halved\n"
    )
    (folder / "conf" / "objective").mkdir(parents=True)
    (folder / "conf" / "objective" / "doubled.yaml").write_text(YAML)
    monkeypatch.syspath_prepend(folder)
    yield folder
    sys.modules.pop("elsewhere", None)


def test_train_py_sweeps_it(package: Path, tmp_path: Path) -> None:
    words = ["--config-dir", str(package / "conf"), "-m", *arguments(tmp_path), "split=0"]
    assert train_here(*words, "objective=doubled,all_pairs", "linkage=average") == 0
    own = result(tmp_path, "doubled", 0, "average")
    assert own["status"] == "done" and own["objective"] == "doubled"
    assert own["config"]["objective_options"] == {"factor": 3.0}
    assert "objective_options" not in result(tmp_path, "all_pairs", 0, "average")["config"]


def test_train_py_takes_its_callback(package: Path, tmp_path: Path) -> None:
    words = [*arguments(tmp_path), "objective=exp_zero", "linkage=average"]
    assert train_here(*words, "+callbacks.epochs._target_=elsewhere.Epochs") == 0
    assert sys.modules["elsewhere"].Epochs.count == 3
    assert "callbacks" not in result(tmp_path, "exp_zero", 0, "average")["config"]


def test_fit_and_the_estimator_find_it_by_name(package: Path, tmp_path: Path) -> None:
    points = write_points(tmp_path / "points.csv")
    words = ["fit", str(points), "--label", "who", "--block", "where", "--epochs", "3"]
    assert cli.main([*words, "--objective", "doubled", "-o", str(tmp_path / "model")]) == 0
    record = json.loads((tmp_path / "model" / "model.json").read_text())
    assert record["objective"] == "doubled"
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(6), 5)
    X = rng.normal(size=(30, 3)) + 4 * y[:, None]
    model = SupervisedHAC("doubled", "average", max_epochs=3).fit(X, y)
    assert model.model_.objective == "doubled"


def test_a_dissimilarity_of_pairs_compares_text_and_is_applied_while_it_is_installed(
    package: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    table, model, output = (tmp_path / name for name in ("names.csv", "model", "clusters.csv"))
    people = ["anna berg", "carl dahl", "emil falk", "gina holm"]
    lines = [
        f"{person} {house},{house},{person}{'x' * k},{person[:3]}"
        for house in ("north", "south", "east", "west")
        for person in people
        for k in range(3)
    ]
    table.write_text("\n".join(["who,house,name,nick", *lines]))
    words = ["fit", str(table), "--label", "who", "--block", "house", "--epochs", "3"]
    assert cli.main([*words, "--dissimilarity", "halved", "-o", str(model)]) == 0
    spec = json.loads((model / "model.json").read_text())["dissimilarity"]
    assert (spec["name"], spec["kind"]) == ("halved", "pairs")
    apply = ["cluster", str(table), "--model", str(model), "-o", str(output)]
    assert cli.main(apply) == 0
    capsys.readouterr()
    monkeypatch.setattr(sys, "path", [p for p in sys.path if p != str(package)])
    assert cli.main(apply) == 2
    assert "'halved', which no installed package registers" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        cli.main([*words, "--dissimilarity", "halved", "-o", str(model)])
    assert "'supclust.dissimilarities', which are read" in capsys.readouterr().err


def test_a_class_whose_name_differs_from_its_configuration_is_refused(
    package: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [*arguments(tmp_path), "objective=mst", "objective.name=doubled"]
    assert train_here(*words) == 2
    assert "must be the same; received 'doubled' and 'mst'" in capsys.readouterr().err
