"""What works without the extras, and what a missing extra says: in a process that cannot import."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from supclust._lazy import EXTRAS
from supclust.data.records.comparisons import Comparison, RecordComparisons
from supclust.model.trained import RECORDS, TrainedModel
from supclust.resolve.pair_model import Logistic
from supclust.resolve.table_model import LAYOUT

ROOT = Path(__file__).parents[2]

BLOCKED = f"""
import sys

class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {sorted(EXTRAS)!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Refuse())
"""


def run(code: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run code in a process in which the libraries of the extras cannot be imported."""
    return subprocess.run(
        [sys.executable, "-c", BLOCKED + code],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Models of points, of records and of pair features, and tables for them."""
    made = tmp_path_factory.mktemp("core")
    cut = {"linkage": "exp", "alpha": -1.0, "threshold": 1.0}
    spec = {"name": "mahalanobis", "kind": "vectors", "d": 2}
    weights = {"weight": np.eye(2, dtype=np.float32)}
    TrainedModel(spec, weights, "exp_alpha", ("x", "y"), **cut).save(made / "points")
    points = "id,x,y\n1,0,0\n2,0,0.5\n3,9,9\n"
    (made / "points.csv").write_text(points, encoding="utf-8")
    comparisons = RecordComparisons((Comparison("name", "text"),))
    names = comparisons.feature_names
    linear = {"name": "linear", "kind": "pairs", "d": len(names)}
    scores = {
        "average_weight": np.full(len(names), -1, np.float32),
        "average_bias": np.float32(2.0),
        "weight": np.full(len(names), -1, np.float32),
        "bias": np.float32(2.0),
        "updates": np.int64(1),
    }
    weights = {name: np.asarray(value) for name, value in scores.items()}
    about = {RECORDS: {"comparisons": comparisons.to_json(), "block": "block", "id": "id"}}
    TrainedModel(linear, weights, "exp_alpha", names, **cut, record=about).save(made / "records")
    records = "id,block,name,who\n1,a,ann lee,x\n2,a,ann lee,x\n3,a,bo chan,y\n4,b,ann lee,x\n"
    (made / "records.csv").write_text(records, encoding="utf-8")
    TrainedModel(linear, weights, "exp_alpha", names, **cut).save(made / "pairs")
    block = made / "blocks" / "lee_a"
    block.mkdir(parents=True)
    ones = " ".join(["1"] * len(names))
    pairs = "".join(f"p{i} p{j} {ones}\n" for i, j in ((0, 1), (0, 2), (1, 2)))
    (block / "pairFeatures.csv").write_text(pairs, encoding="utf-8")
    edges = "id_a,id_b,probability\n1,2,0.9\n2,3,0.1\n"
    (made / "edges.csv").write_text(edges, encoding="utf-8")
    save_model_of_a_bare_table(made)
    return made


def save_model_of_a_bare_table(folder: Path) -> None:
    """A pair model that needs no LightGBM to make, with the fields that clustering reads."""
    comparisons = RecordComparisons((Comparison("name", "text"),))
    names = comparisons.feature_names
    model = Logistic(-np.ones(len(names)), 2.0)
    about = {
        "layout": LAYOUT,
        "comparisons": comparisons.to_json(),
        "columns": {"name": "text"},
        "id": "id",
        "block": None,
        "label": "who",
        "candidates": [{"rule": "first(name)"}],
        "given": True,
        "missing": 1.0,
    }
    cut = {"linkage": "exp", "alpha": -1.0, "threshold": 1.0}
    made = TrainedModel(model.spec, model.weights, "pairs", names, **cut, record={RECORDS: about})
    made.save(folder / "bare")


PYTHON = (  # prints the second
    ("supclust.linkage([[0, 1, 5], [1, 0, 4], [5, 4, 0]], 'exp', alpha=0.0)[:, 2]", "[1.  4.5]"),
    ("supclust.hac.cut_tree([[0, 1, 1, 2]], height=2)", "[0 0]"),
    ("supclust.metrics.pairwise_scores([0, 0, 1], [0, 0, 1]).f1", "1.0"),
    ("float(supclust.metrics.dendrogram_purity([[0, 1, 1, 2]], [0, 0]))", "1.0"),
    (
        "supclust.SupervisedHAC.load('points').predict([[0.0, 0], [0.2, 0], [3.0, 0]], [7, 7, 8])",
        "[0 0 1]",
    ),
    ("supclust.ExpLinkClustering(2, alpha=-1.0).fit_predict([[0.0], [0.2], [3.0]])", "[0 0 1]"),
)

COMMANDS = (
    ("cluster", "points.csv", "--model", "points", "-o", "a.csv"),
    ("cluster", "records.csv", "--model", "records", "-o", "b.parquet"),
    ("cluster", "blocks", "--model", "pairs", "-o", "c.npz"),
    ("cluster", "records.csv", "--model", "bare", "-o", "e.csv"),
    ("candidates", "records.csv", "--model", "bare"),
    ("edges", "edges.csv", "-o", "d.tsv"),
    ("explain", "records"),
    ("data", "list"),
)

REFUSED = (  # with the extra that they need
    (("fit", "records.csv", "--label", "who", "--block", "block", "-o", "model"), "train"),
    (("fit", "records.csv", "--label", "who", "-o", "model"), "train"),
    (("report", "records", "-o", "page.html"), "report"),
    (("train", "--help"), "experiment"),
    (("reproduce", "faces"), "experiment"),
    (("dashboard", "--dry-run"), "dashboard"),
    (("illustrate", "shapes", "-o", "out"), "train"),
)


def test_python_without_the_extras(folder: Path) -> None:
    done = run("import supclust\n" + "\n".join(f"print({code})" for code, _ in PYTHON), folder)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [printed for _, printed in PYTHON]


def test_commands_without_the_extras(folder: Path) -> None:
    done = run(
        f"from supclust.cli.main import main\nfor c in {COMMANDS}: assert main(c) == 0", folder
    )
    assert done.returncode == 0, done.stderr
    # Progress is said where kernels take long to compile.
    progress = re.compile(r"working for \d+ s|\w+: [\d,]+ of [\d,]+, .*")
    assert [line for line in done.stderr.splitlines() if not progress.fullmatch(line)] == []


def test_a_command_that_needs_an_extra_says_so_in_one_line(folder: Path) -> None:
    words = [list(line) for line, _ in REFUSED]
    done = run(f"from supclust.cli.main import main\nfor c in {words}: assert main(c) == 2", folder)
    assert done.returncode == 0, done.stderr
    lines = done.stderr.splitlines()
    assert len(lines) == len(REFUSED)
    for line, (_, extra) in zip(lines, REFUSED, strict=True):
        hint = rf'supclust: error: this needs \w+, .*: pip install "supclust\[{extra}\]"'
        assert re.fullmatch(hint, line), line


def test_python_that_needs_an_extra_says_so(folder: Path) -> None:
    codes = (
        "supclust.hac.ExpLinkHAC",
        "supclust.losses.explink_loss",
        "supclust.metrics.PairwiseF1",
        "supclust.SupervisedHAC().fit([[0.0], [1.0]], [0, 0])",
        "supclust.objectives.OBJECTIVES.load('exp_alpha')",
        "supclust.SupervisedHAC.load('points').dissimilarity_",
    )
    tried = "".join(
        f"\ntry:\n  {code}\nexcept ModuleNotFoundError as error:\n  print(error)" for code in codes
    )
    done = run(f"import supclust{tried}", folder)
    lines = done.stdout.splitlines()
    assert len(lines) == len(codes), done.stderr
    for line in lines:
        assert line.endswith('Install it with: pip install "supclust[train]"')


def test_every_library_of_an_extra_can_be_explained() -> None:
    """The table of extras and pyproject.toml agree."""
    tomllib = pytest.importorskip("tomllib", reason="is in Python since 3.11")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    assert set(EXTRAS.values()) <= set(extras)
    distribution = {"PIL": "pillow", "hydra": "hydra-core"}
    for library, extra in EXTRAS.items():
        name = distribution.get(library, library.replace("_", "-"))
        assert any(re.match(rf"{name}\b", wanted) for wanted in extras[extra]), library
    core = [re.split(r"[<>=]", name)[0] for name in project["dependencies"]]
    assert not {"torch", "pytorch-lightning", "hydra-core", "wandb", "pandas"} & set(core)
