"""`supclust report model --data FILE`: scores against clusters of the model, partial labels."""

from __future__ import annotations

import csv
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from report_pages import ATTACK, CLUSTER, Page, run_job, write_hostile_points
from supclust.cli.main import main
from supclust.metrics.pairwise import PairCounts, pair_counts, scores_from_counts
from supclust.model.trained import TrainedModel
from supclust.report import model_blocks
from supclust.report.model_blocks import Columns, read_model_blocks
from supclust.report.model_page import _learned, model_page

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


def test_weights_are_those_of_explain_with_what_is_always_added(
    model: Path, records: Path, page: Page, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "(always)" in page.text
    assert main(["explain", str(model)]) == 0
    always = float(capsys.readouterr().out.rpartition("(always)")[2])
    markup = (records.parent / "report.html").read_text(encoding="utf-8")
    rows = re.findall(r'<th scope="row">([^<]*)</th><td class="number">([^<]*)</td>', markup)
    assert len(rows) == TrainedModel.load(model).d + 1
    assert rows[-1][0] == "(always)"
    assert float(rows[-1][1].replace("−", "-")) == pytest.approx(always, abs=1e-4, rel=1e-3)
    assert all(weight[0] in "+−" for _, weight in rows)


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


def test_labelled_pairs_in_different_blocks_are_counted(
    model: Path, records: Path, page: Page, tmp_path: Path
) -> None:
    assert "of the labelled pairs" not in page.text  # every label is in one block
    moved = tmp_path / "moved.csv"
    text = records.read_text(encoding="utf-8")
    moved.write_text(re.sub(r"^(r0\.0\.0,.*),b0,", r"\1,b1,", text, flags=re.M), encoding="utf-8")
    trained = TrainedModel.load(model)
    blocks, _ = read_model_blocks(trained, moved, Columns())
    shown = re.sub(r"\s+", " ", Page(model_page(trained, "m", "r.csv", blocks)).text)
    assert f"{100 * 2 / 45:.1f} % of the labelled pairs are in different blocks" in shown


def test_choices_and_the_ceiling_are_stated(model: Path, page: Page) -> None:
    record, words = TrainedModel.load(model).record, re.sub(r"\s+", " ", page.text)
    start = "start: " if record["guard"]["shipped"].startswith("trained") else ""
    assert f"weights {record['guard']['shipped']} ({start}{record['start']})" in words
    assert "The best cut of these trees would reach" in words
    held_out = f"the best cut of these trees would reach F1 {record['cut_choice']['ceiling']:.3f}"
    assert held_out in words


def test_a_learned_cut_and_boosted_trees_are_those_of_the_page(
    records: Path, tmp_path: Path
) -> None:
    words = ["fit", str(records), "--label", "who", "--block", "family", "--epochs", "2"]
    words += ["--dissimilarity", "linear", "--cut", "learned", "-o", str(tmp_path / "m")]
    assert main(words) == 0
    trained = TrainedModel.load(tmp_path / "m")
    assert trained.learned is not None
    odds = {"average_weight": np.append(trained.weights["average_weight"], 1.0).astype("f4")}
    blocks, _ = read_model_blocks(trained, records, Columns())
    clusters = sum(int(trained.labels(block.features).max()) + 1 for block in blocks)
    shown = re.sub(r"\s+", " ", Page(model_page(trained, "m", "r.csv", blocks)).text)
    assert f"{clusters} clusters of 60 records" in shown
    assert "The learned cut, which is used, has F1" in shown
    rows = _learned(replace(trained, weights={**trained.weights, **odds}))["weights"]
    assert ("log odds of boosted trees", 1.0) in rows


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


PAIRS = ("block", "id_a", "id_b", "near", "alike")


def write_pair_tables(folder: Path) -> tuple[Path, Path]:
    """Four blocks of eight points in three clusters: a table of pairs, and one of labels."""
    rng = np.random.default_rng(8)
    pairs, labels = folder / "pairs.csv", folder / "labels.csv"
    with pairs.open("w", newline="") as one, labels.open("w", newline="") as two:
        writer, clusters = csv.writer(one), csv.writer(two)
        writer.writerow(PAIRS)
        clusters.writerow(["block", "id", "label"])
        for b in range(4):
            who = rng.permutation(np.arange(8) % 3)
            clusters.writerows([f"b{b}", f"p{i}", f"{CLUSTER} {c}"] for i, c in enumerate(who))
            for i in range(8):
                for j in range(i):
                    features = rng.normal(size=2) + 3 * (who[i] == who[j])
                    writer.writerow([f"b{b}", f"p{i}", f"p{j}", *features])
    return pairs, labels


@pytest.fixture(scope="module")
def pairs_model(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, Path]:
    folder = tmp_path_factory.mktemp("pairs")
    pairs, labels = write_pair_tables(folder)
    words = ["fit", str(pairs), "--labels", str(labels), "--epochs", "3"]
    assert main([*words, "-o", str(folder / "model")]) == 0
    return folder / "model", pairs, labels


def words_of(path: Path) -> str:
    return re.sub(r"\s+", " ", Page(path.read_text(encoding="utf-8")).text)


def test_a_table_of_pairs_is_clustered_as_by_supclust_cluster(
    pairs_model: tuple[Path, Path, Path], tmp_path: Path
) -> None:
    model, pairs, labels = pairs_model
    out, clusters = tmp_path / "report.html", tmp_path / "clusters.csv"
    assert main(["cluster", str(pairs), "--model", str(model), "-o", str(clusters)]) == 0
    rows = list(csv.DictReader(clusters.read_text(encoding="utf-8").splitlines()))
    shown = f"{len({row['cluster'] for row in rows})} clusters of 32 records in 4 blocks"
    report = ["report", str(model), "--data", str(pairs), "-o", str(out)]
    assert main(report) == 0
    assert shown in words_of(out) and "pairwise F1 on these records" not in words_of(out)

    assert main([*report, "--labels", str(labels)]) == 0
    true = list(csv.DictReader(labels.read_text(encoding="utf-8").splitlines()))
    found = {(row["block"], row["id"]): row["cluster"] for row in rows}
    counts = [
        pair_counts([r["label"] for r in part], [found[r["block"], r["id"]] for r in part])
        for b in range(4)
        if (part := [row for row in true if row["block"] == f"b{b}"])
    ]
    pooled = PairCounts(*(sum(column) for column in zip(*counts, strict=True)))
    f1 = f"{100 * scores_from_counts(pooled).f1:.1f} % pairwise F1 on these records"
    assert shown in words_of(out) and f1 in words_of(out)
    assert CLUSTER not in out.read_text(encoding="utf-8").partition("<script")[0]  # escaped


def test_some_points_of_pairs_may_have_no_label(
    pairs_model: tuple[Path, Path, Path], tmp_path: Path
) -> None:
    model, pairs, labels = pairs_model
    lines = labels.read_text(encoding="utf-8").splitlines()
    some = [*lines[:9], *(line.rpartition(",")[0] + "," for line in lines[9:17])]
    (tmp_path / "some.csv").write_text("\n".join(some) + "\n", encoding="utf-8")
    columns = Columns(labels=tmp_path / "some.csv")
    blocks, _ = read_model_blocks(TrainedModel.load(model), pairs, columns)
    assert {b.points.name: int((b.points.labels >= 0).sum()) for b in blocks} == {
        "b0": 8, "b1": 0, "b2": 0, "b3": 0
    }  # fmt: skip


def test_folders_of_pairs_need_no_labels(
    pairs_model: tuple[Path, Path, Path], tmp_path: Path
) -> None:
    import pair_files

    pair_files.write_pair_folders(tmp_path / "blocks", np.random.default_rng(1))
    (tmp_path / "blocks" / "block2" / "gtClusters.tsv").unlink()
    blocks, _ = read_model_blocks(TrainedModel.load(pairs_model[0]), tmp_path / "blocks", Columns())
    assert {b.points.name: b.points.labelled for b in blocks} == {
        f"block{i}": i != 2 for i in range(6)
    }
    assert {b.features.shape for b in blocks} == {(36, 2)}


def test_mistakes_with_pairs(
    pairs_model: tuple[Path, Path, Path],
    model: Path,
    records: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    of_pairs, pairs, labels = pairs_model
    strangers, twice = tmp_path / "strangers.csv", tmp_path / "twice.csv"
    strangers.write_text("block,id,label\nb0,nobody,a\n")
    twice.write_text("block,id,label\nb0,p1,a\nb0,p1,b\n")
    blocks = tmp_path / "blocks"
    (blocks / "one").mkdir(parents=True)
    (blocks / "one" / "pairFeatures.csv").write_text("p,q,1,2,0\n")
    for words, message in (
        ((of_pairs, "--data", pairs, "--label", "who"), "name that with --labels"),
        ((of_pairs, "--data", pairs, "--labels", strangers), "names none of the points"),
        ((of_pairs, "--data", pairs, "--labels", twice), "gives point 'p1' two labels"),
        ((model, "--data", records, "--labels", labels), "name that with --label"),
        ((model, "--data", blocks), "the model was trained on records"),
    ):
        assert main(["report", *map(str, words), "-o", str(tmp_path / "r.html")]) == 2
        assert message in capsys.readouterr().err
