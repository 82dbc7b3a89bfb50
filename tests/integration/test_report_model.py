"""`supclust report model --data FILE`: scores against clusters of the model, partial labels."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import numpy as np
import pytest

from report_pages import ATTACK, CLUSTER, Page, run_job, write_hostile_points
from supclust.cli import main
from supclust.experiment.models import TrainedModel
from supclust.metrics.pairwise import PairCounts, pair_counts, scores_from_counts
from supclust.report import model_blocks
from supclust.report.model_blocks import Columns, read_model_blocks

pytestmark = pytest.mark.timeout(600)  # the first compilation, on a busy machine


def write_records(path: Path) -> Path:
    """Records with text and a number; some labels and some words are missing."""
    rng = np.random.default_rng(3)
    words = ["graph", "face", "stream", "protein", "query", "metric", ATTACK]
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["id", "who", "family", "title", "year"])
        for block in range(5):
            for cluster in range(3):
                own, year = rng.choice(words, 2), int(rng.integers(1990, 2010))
                for i in range(4):
                    label = "" if i == 3 else f"{CLUSTER} {block}.{cluster}"
                    title = "" if rng.random() < 0.1 else f"{own[i % 2]} {rng.choice(words)}"
                    row = [f"r{block}.{cluster}.{i}", label, f"b{block}", title, year + i]
                    writer.writerow(row)
    return path


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_records(tmp_path_factory.mktemp("records") / "records.csv")


@pytest.fixture(scope="module")
def model(records: Path) -> Path:
    folder = records.parent / "model"
    columns = ["--label", "who", "--block", "family"]
    assert main(["fit", str(records), *columns, "--epochs", "3", "-o", str(folder)]) == 0
    return folder


@pytest.fixture(scope="module")
def page(model: Path, records: Path) -> Page:
    path = records.parent / "report.html"
    assert main(["report", str(model), "--data", str(records), "-o", str(path)]) == 0
    return Page(path.read_text(encoding="utf-8"))


def test_the_page_is_complete_and_escaped(model: Path, page: Page) -> None:
    for heading in ("What was learned", "Where to cut", "The tree of a block", "Training"):
        assert heading in page.text
    for name in TrainedModel.load(model).feature_names:
        assert name in page.text
    assert len(page.all("script")) == 2 and not page.all("img")
    assert [block["name"] for block in page.data["tree0"]["blocks"]] == [f"b{i}" for i in range(5)]


def test_scores_are_those_of_the_models_clusters_on_labelled_records(
    model: Path, records: Path, page: Page
) -> None:
    trained = TrainedModel.load(model)
    blocks, left_out = read_model_blocks(trained, records, Columns())
    assert left_out == 0
    counts, clusters = [], 0
    for block in blocks:
        found, known = trained.labels(block.features), block.points.labels >= 0
        assert known.sum() == 9 and len(known) == 12
        counts.append(pair_counts(block.points.labels[known], found[known]))
        clusters += found.max() + 1
    pooled = PairCounts(*(sum(column) for column in zip(*counts, strict=True)))
    precision, recall, f1 = scores_from_counts(pooled)
    words = re.sub(r"\s+", " ", page.text)
    assert f"{clusters} clusters of 60 records in 5 blocks" in words
    assert f"{100 * f1:.1f} % pairwise F1 on these records" in words
    assert f"precision {100 * precision:.1f}, recall {100 * recall:.1f}" in words


def test_records_without_labels_are_clustered_without_scores(
    model: Path, records: Path, tmp_path: Path
) -> None:
    bare = tmp_path / "new.csv"
    with records.open(encoding="utf-8", newline="") as stream:
        rows = [[row[0], *row[2:]] for row in csv.reader(stream)]
    with bare.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream).writerows(rows)
    path = tmp_path / "report.html"
    assert main(["report", str(model), "--data", str(bare), "-o", str(path)]) == 0
    page = Page(path.read_text(encoding="utf-8"))
    assert "Where to cut" not in page.text and "The tree of a block" in page.text
    assert page.data["tree0"]["linkages"][0]["trees"][0]["labelled"] is False


def test_blocks_beyond_the_limit_are_left_out_and_counted(
    model: Path, records: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trained = TrainedModel.load(model)
    size = 66 * trained.d
    monkeypatch.setattr(model_blocks, "ALL_NUMBERS", 2 * size)
    blocks, left_out = read_model_blocks(trained, records, Columns())
    assert (len(blocks), left_out) == (2, 3)
    monkeypatch.setattr(model_blocks, "MOST_NUMBERS", size - 1)
    with pytest.raises(ValueError, match="every block is too large to draw"):
        read_model_blocks(trained, records, Columns())


def test_one_split_of_train_py_clusters_a_table(tmp_path: Path) -> None:
    points = write_hostile_points(tmp_path / "points.csv")
    outputs = run_job(
        tmp_path,
        "objective=mst",
        "dataset=vectors",
        f"dataset.path={points}",
        "dataset.label=who",
        "dataset.block=where",
        "dataset.id=id",
        "trainer.max_epochs=2",
    )
    split = next(outputs.rglob("result.json")).parent
    path = tmp_path / "report.html"
    words = ["--data", str(points), "--label", "who", "--block", "where", "--linkage", "average"]
    assert main(["report", str(split), *words, "-o", str(path)]) == 0
    page = Page(path.read_text(encoding="utf-8"))
    assert "clustered by average linkage" in re.sub(r"\s+", " ", page.text)
    assert len(page.data["tree0"]["blocks"]) == 6


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "needs records to cluster; received none"),
        (["--data", "none.csv"], "no such file or folder"),
        (["--label", "whom"], "column 'whom' not found"),
        (["--block", "familie"], "column 'familie' not found"),
    ],
)
def test_wrong_input_is_refused(
    model: Path,
    records: Path,
    words: list[str],
    message: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    data = [] if not words or words[0] == "--data" else ["--data", str(records)]
    assert main(["report", str(model), *data, *words]) == 2
    assert message in capsys.readouterr().err
