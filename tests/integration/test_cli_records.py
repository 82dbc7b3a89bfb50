"""``supclust fit``, ``cluster``, ``edges`` and ``explain`` through files, as people use them."""

from __future__ import annotations

import csv
import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

import pair_files
from supclust.cli import main as cli
from supclust.cluster import chunks
from supclust.cluster.resume import PartialOutput
from supclust.model.trained import TrainedModel

WORDS = [f"{a}{b}{c}" for a in "bdfgk" for b in "aeiou" for c in "lmnrst"]


def run(*arguments: Any) -> int:
    return cli.main([str(argument) for argument in arguments])


def write_csv(path: Path, rows: list[dict[str, Any]]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def read_csv(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def authors(rng: np.random.Generator, n_blocks: int = 12) -> list[dict[str, Any]]:
    """Records of authors that share a name; titles and venues tell them apart."""
    rows = []
    for b in range(n_blocks):
        for c in range(3):
            vocabulary, venue = rng.choice(WORDS, 8), f"Journal {rng.integers(30)}"
            for _ in range(int(rng.integers(2, 5))):
                rows.append(
                    {
                        "id": f"r{len(rows):03d}",
                        "name": f"name {b}",
                        "author_id": f"{b}-{c}" if rng.random() < 0.9 else "",
                        "title": " ".join(rng.choice(vocabulary, 5)),
                        "venue": venue if rng.random() < 0.8 else "",
                        "year": int(1980 + 10 * c + rng.integers(0, 4)),
                    }
                )
    return [rows[i] for i in rng.permutation(len(rows))]


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A table of authors and a model trained on it."""
    folder = tmp_path_factory.mktemp("authors")
    table = write_csv(folder / "records.csv", authors(np.random.default_rng(5)))
    fit = ("fit", table, "--label", "author_id", "--block", "name", "--epochs", 30)
    assert run(*fit, "--lr", 0.1, "-o", folder / "model") == 0
    return table, folder / "model"


def partition(rows: list[dict[str, str]]) -> set[frozenset[str]]:
    groups: dict[str, set[str]] = {}
    for row in rows:
        groups.setdefault(row["cluster"], set()).add(row["id"])
    return {frozenset(group) for group in groups.values()}


def test_fit_says_what_it_does(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = write_csv(tmp_path / "a.csv", authors(np.random.default_rng(5)))
    arguments = ("fit", table, "--label", "author_id", "--block", "name", "--columns", "title,year")
    assert run(*arguments, "--epochs", 2, "-o", tmp_path / "m") == 0
    shown = capsys.readouterr().out
    for part in ("title  text      same text, shared words",
                 "year   date      same date, similar digits", "alpha", "nearest to", "cut: ",
                 "held out: pairwise F1", "model:"):  # fmt: skip
        assert part in shown
    assert "venue" not in shown and "in place of" not in shown
    assert run(*arguments, "--epochs", 1, "-o", tmp_path / "m") == 0
    assert "(in place of the one that was there)" in capsys.readouterr().out


def test_clusters_are_those_of_the_model(trained: tuple[Path, Path], tmp_path: Path) -> None:
    table, folder = trained
    assert run("cluster", table, "--model", folder, "-o", tmp_path / "c.csv") == 0
    records, found = read_csv(table), read_csv(tmp_path / "c.csv")
    assert list(found[0]) == ["id", "name", "cluster"]
    assert [row["id"] for row in found] == [row["id"] for row in records]  # the order is kept
    model = TrainedModel.load(folder)
    from supclust.data.records.comparisons import RecordComparisons

    comparisons = RecordComparisons.from_json(model.record["records"]["comparisons"])
    assert model.feature_names == comparisons.feature_names
    for name in {row["name"] for row in records}:
        rows = [row for row in records if row["name"] == name]
        columns = {key: [row[key] or None for row in rows] for key in ("title", "venue", "year")}
        features = comparisons.block_features(comparisons.encode(columns), np.arange(len(rows)))
        expected = model.labels(features)
        clusters = [row["cluster"] for row in found if row["name"] == name]
        assert len(set(zip(clusters, expected.tolist(), strict=True))) == len(set(clusters))
        assert len(set(clusters)) == expected.max() + 1
    numbers = sorted({int(row["cluster"]) for row in found})
    assert numbers == list(range(len(numbers)))


def test_the_learned_clusters_are_good(trained: tuple[Path, Path], tmp_path: Path) -> None:
    from supclust.metrics.pairwise import pairwise_scores

    folder = trained[1]
    new = write_csv(tmp_path / "new.csv", authors(np.random.default_rng(77)))
    assert run("cluster", new, "--model", folder, "-o", tmp_path / "c.csv") == 0
    both = zip(read_csv(new), read_csv(tmp_path / "c.csv"), strict=True)
    known = [(row, got) for row, got in both if row["author_id"]]
    scores = pairwise_scores([r["author_id"] for r, _ in known], [g["cluster"] for _, g in known])
    assert scores.f1 > 0.8


@pytest.mark.parametrize("suffix", [".tsv", ".parquet", ".npz", ".csv.gz"])
def test_formats_orders_and_memory_change_nothing(
    trained: tuple[Path, Path], tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chunks, "CHUNK_RECORDS", 20)
    table, folder = trained
    assert run("cluster", table, "--model", folder, "-o", tmp_path / "a.csv") == 0
    output = tmp_path / f"b{suffix}"
    assert run("cluster", table, "--model", folder, "-o", output, "--keep", "year") == 0
    assert run("cluster", output, "--model", folder, "-o", tmp_path / "x.csv") == 2  # no title
    ordered = sorted(read_csv(table), key=lambda row: row["name"])
    again = write_csv(tmp_path / "sorted.csv", ordered)
    assert run("cluster", again, "--model", folder, "-o", tmp_path / "s.csv") == 0
    assert partition(read_csv(tmp_path / "s.csv")) == partition(read_csv(tmp_path / "a.csv"))
    if suffix == ".parquet":
        found = pq.read_table(output).to_pydict()
        assert found["cluster"] == [int(row["cluster"]) for row in read_csv(tmp_path / "a.csv")]
        assert list(found) == ["id", "name", "year", "cluster"]


def test_clustering_needs_neither_torch_nor_pandas(
    trained: tuple[Path, Path], tmp_path: Path
) -> None:
    records, model = trained
    words = ["cluster", str(records), "--model", str(model), "-o", str(tmp_path / "c.csv")]
    code = (
        "import sys; from supclust.cli.main import main\n"
        f"assert main({words!r}) == 0\n"
        "heavy = [m for m in ('torch', 'pandas') if m in sys.modules]\n"
        "sys.exit(str(heavy))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr.strip() == "[]"


def test_whole_numbers_take_little_room_in_parquet(
    trained: tuple[Path, Path], tmp_path: Path
) -> None:
    records, model = trained
    assert run("cluster", records, "--model", model, "-o", tmp_path / "c.parquet") == 0
    assert run("cluster", records, "--model", model, "-o", tmp_path / "c.csv") == 0
    file = pq.ParquetFile(tmp_path / "c.parquet")
    names = file.schema_arrow.names
    group = file.metadata.row_group(0)
    encodings = {name: group.column(i).encodings for i, name in enumerate(names)}
    assert "DELTA_BINARY_PACKED" in encodings["cluster"]
    assert "RLE_DICTIONARY" in encodings["name"]
    table = [{key: str(value) for key, value in row.items()} for row in file.read().to_pylist()]
    assert table == read_csv(tmp_path / "c.csv")


def test_other_cuts(trained: tuple[Path, Path], tmp_path: Path) -> None:
    table, folder = trained
    counts = {}
    for name, option in (("one", ("--n-clusters", 1)), ("all", ("--threshold=-inf",))):
        assert run("cluster", table, "--model", folder, "-o", tmp_path / "c.csv", *option) == 0
        counts[name] = len(partition(read_csv(tmp_path / "c.csv")))
    assert counts == {"one": 12, "all": len(read_csv(table))}


def test_a_killed_run_goes_on_and_gives_the_same(
    trained: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.setattr(chunks, "CHUNK_RECORDS", 20)
    table, folder = trained
    arguments = ("cluster", table, "--model", folder)
    assert run(*arguments, "-o", tmp_path / "whole.parquet") == 0
    store, stored = PartialOutput.store, []

    def stop_after_two(self: PartialOutput, chunk: int, labels: Any) -> None:
        if len(stored) == 2:
            raise KeyboardInterrupt
        stored.append(chunk)
        store(self, chunk, labels)

    monkeypatch.setattr(PartialOutput, "store", stop_after_two)
    output = tmp_path / "out.parquet"
    assert run(*arguments, "-o", output) == 130
    assert "run the same command again" in capsys.readouterr().err
    partial = tmp_path / "out.parquet.partial"
    assert not output.exists() and len(list(partial.glob("clusters-*"))) == 2
    redone: list[int] = []
    monkeypatch.setattr(
        PartialOutput, "store", lambda self, chunk, labels: (redone.append(chunk), store(self, chunk, labels))  # noqa: E501
    )  # fmt: skip
    capsys.readouterr()
    assert run(*arguments, "-o", output) == 0
    assert "2 chunks were finished already" in capsys.readouterr().err
    assert not set(redone) & set(stored)
    assert output.read_bytes() == (tmp_path / "whole.parquet").read_bytes()
    assert not partial.exists()


def test_unfinished_work_of_something_else_is_not_used(
    trained: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table, folder = trained
    partial = tmp_path / "c.csv.partial"
    partial.mkdir()
    (partial / "job.json").write_text(json.dumps({"fingerprint": "of another input"}))
    np.save(partial / "clusters-000000.npy", np.zeros(3, np.int32))
    assert run("cluster", table, "--model", folder, "-o", tmp_path / "c.csv") == 0
    assert "discarded" in capsys.readouterr().err
    assert len(partition(read_csv(tmp_path / "c.csv"))) > 12
    partial.mkdir()
    (partial / "my thesis.txt").write_text("precious")
    assert run("cluster", table, "--model", folder, "-o", tmp_path / "c.csv") == 2
    assert (partial / "my thesis.txt").read_text() == "precious"


def test_explain(trained: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    _, folder = trained
    capsys.readouterr()
    assert run("explain", folder) == 0
    shown = capsys.readouterr().out
    assert "nearest to" in shown and "title: shared words" in shown and "draws together" in shown
    assert run("explain", folder, "--json") == 0
    facts = json.loads(capsys.readouterr().out)
    weights = [abs(feature["weight"]) for feature in facts["features"]]
    assert weights == sorted(weights, reverse=True) and len(weights) == len(
        TrainedModel.load(folder).feature_names
    )
    assert facts["dev"]["pairwise_f1"] > 0.5 and facts["nearest_linkage"] in (
        "single",
        "average",
        "complete",
    )


def points(rng: np.random.Generator) -> list[dict[str, Any]]:
    rows = []
    for b in range(8):
        for c in range(4):
            centre = rng.normal(size=2) * (5, 5000)
            for _ in range(4):
                x, y = centre + rng.normal(size=2) * (0.3, 300)
                rows.append({"id": len(rows), "block": b, "who": f"{b}{c}", "x": x, "y": y})
    return rows


def test_numbers_alone_are_vectors(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], rng: np.random.Generator
) -> None:
    table = write_csv(tmp_path / "p.csv", points(rng))
    fit = ("fit", table, "--label", "who", "--block", "block", "--epochs", 5)
    assert run(*fit, "-o", tmp_path / "plain") == 0
    assert "--scale may learn better" in capsys.readouterr().err
    assert run(*fit, "--scale", "-o", tmp_path / "m") == 0
    assert run("cluster", table, "--model", tmp_path / "m", "-o", tmp_path / "c.csv") == 0
    model, rows, found = (
        TrainedModel.load(tmp_path / "m"),
        read_csv(table),
        read_csv(tmp_path / "c.csv"),
    )
    assert (model.kind, model.feature_names) == ("vectors", ("x", "y"))
    for b in range(8):
        here = [i for i, row in enumerate(rows) if row["block"] == str(b)]
        expected = model.labels(
            np.array([[float(rows[i]["x"]), float(rows[i]["y"])] for i in here])
        )
        clusters = [int(found[i]["cluster"]) for i in here]
        assert (np.array(clusters) - min(clusters)).tolist() == expected.tolist()
    assert run("explain", tmp_path / "m") == 0
    assert run(*fit, "--dissimilarity", "linear", "-o", tmp_path / "l") == 0
    assert "x: difference" in json.loads((tmp_path / "l/model.json").read_text())["feature_names"]


def test_pair_features_in_folders(tmp_path: Path, rng: np.random.Generator) -> None:
    from supclust.data.layouts.pair_folders import read_pair_folders

    pair_files.write_pair_folders(tmp_path / "data", rng)
    (tmp_path / "dev.txt").write_text("block1\n\nblock4\n")
    fit = ("fit", tmp_path / "data", "--dev-blocks", tmp_path / "dev.txt", "--epochs", 3)
    assert run(*fit, "--train-blocks", "block0,block2", "-o", tmp_path / "m") == 0
    model = TrainedModel.load(tmp_path / "m")
    assert model.record["sizes"]["dev"]["blocks"] == model.record["sizes"]["train"]["blocks"] == 2
    (tmp_path / "data/block5/gtClusters.tsv").unlink()  # what is new has no labels
    only = ("--only-blocks", "block3,block5")
    assert (
        run(
            "cluster", tmp_path / "data", "--model", tmp_path / "m", "-o", tmp_path / "c.csv", *only
        )
        == 0
    )
    found = read_csv(tmp_path / "c.csv")
    assert {row["block"] for row in found} == {"block3", "block5"} and len(found) == 18
    block = next(b for b in read_pair_folders(tmp_path / "data").blocks if b.name == "block3")
    expected = model.labels(block.features)
    clusters = [int(row["cluster"]) for row in found if row["block"] == "block3"]
    assert clusters == expected.tolist()
    assert (
        run(
            "cluster",
            tmp_path / "data",
            "--model",
            tmp_path / "m",
            "-o",
            tmp_path / "c.csv",
            "--only-blocks",
            "nine",
        )
        == 2
    )


def test_pair_features_in_tables(tmp_path: Path, rng: np.random.Generator) -> None:
    labels = rng.integers(0, 3, (4, 6))
    pairs = [
        {"block": b, "id_a": i, "id_b": j, "x": 3 * (labels[b, i] == labels[b, j]) + rng.random()}
        for b in range(4)
        for i in range(6)
        for j in range(i + 1, 6)
    ]  # fmt: skip
    who = [{"block": b, "id": i, "label": labels[b, i]} for b in range(4) for i in range(6)]
    table = write_csv(tmp_path / "pairs.csv", pairs)
    assert run("fit", table, "-o", tmp_path / "m") == 2  # no labels
    fit = ("fit", table, "--labels", write_csv(tmp_path / "who.csv", who), "--epochs", 3)
    assert run(*fit, "-o", tmp_path / "m") == 0
    assert run("cluster", table, "--model", tmp_path / "m", "-o", tmp_path / "c.tsv") == 0
    assert len((tmp_path / "c.tsv").read_text().splitlines()) == 25


def test_clusters_of_records_under_constraints(
    trained: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table, model = trained
    cluster = ("cluster", table, "--model", model, "-o", tmp_path / "c.csv")
    assert run(*cluster) == 0
    free = {row["id"]: row for row in read_csv(tmp_path / "c.csv")}
    block = next(iter(free.values()))["name"]
    ids = [id for id, row in free.items() if row["name"] == block]
    together = next(
        (a, b) for a in ids for b in ids if a < b and free[a]["cluster"] == free[b]["cluster"]
    )
    apart = next((a, b) for a in ids for b in ids if free[a]["cluster"] != free[b]["cluster"])
    links = [
        {"id_a": together[0], "id_b": together[1], "constraint": "cannot"},
        {"id_a": apart[0], "id_b": apart[1], "constraint": "must"},
    ]
    pairs = write_csv(tmp_path / "pairs.csv", links)
    assert run(*cluster, "--constraints", pairs) == 0
    found = {row["id"]: row["cluster"] for row in read_csv(tmp_path / "c.csv")}
    assert found[together[0]] != found[together[1]] and found[apart[0]] == found[apart[1]]
    both = write_csv(tmp_path / "pairs.csv", [*links, {**links[1], "constraint": "cannot"}])
    capsys.readouterr()
    assert run(*cluster, "--constraints", both) == 2
    shown = capsys.readouterr().err
    assert f"cannot-link {apart[0]} | {apart[1]}, but must-links" in shown


def test_edges(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [("a", "b", 0.9), ("b", "c", 0.6), ("x", "y", 0.8), ("c", "x", 0.1), ("y", "x", 0.8)]
    table = write_csv(
        tmp_path / "e.csv", [{"id_a": a, "id_b": b, "probability": p} for a, b, p in rows]
    )
    assert run("edges", table, "-o", tmp_path / "c.csv") == 0
    shown = capsys.readouterr().out
    assert "1 repeated pairs, counted by their mean" in shown and "others count 1" in shown
    found = {row["id"]: (row["component"], row["cluster"]) for row in read_csv(tmp_path / "c.csv")}
    # c is near b but unknown to a: on average too far.
    assert found == {"a": ("0", "0"), "b": ("0", "0"), "c": ("0", "1"), "x": ("1", "2"), "y": ("1", "2")}  # fmt: skip  # noqa: E501
    assert run("edges", table, "-o", tmp_path / "c.csv", "--linkage", "single") == 0
    found = {row["id"]: (row["component"], row["cluster"]) for row in read_csv(tmp_path / "c.csv")}
    assert found["c"] == ("0", "0")
    assert run("edges", table, "-o", tmp_path / "c.csv", "--alpha", 0, "--missing", math.inf) == 0


def test_edges_of_splink_with_nodes_thresholds_trees_and_constraints(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [("a", "b", 0.9), ("b", "c", 0.6), ("a", "c", 0.6), ("x", "y", 0.8)]
    table = write_csv(
        tmp_path / "e.csv",
        [{"unique_id_l": a, "unique_id_r": b, "match_probability": p} for a, b, p in rows],
    )
    nodes = write_csv(tmp_path / "n.csv", [{"unique_id": i, "name": "n"} for i in "zabcxy"])
    out, tree = tmp_path / "c.csv", tmp_path / "t.csv"
    edges = ("edges", table, "--nodes", nodes, "-o", out, "--probability", "match_probability")
    assert run(*edges, "--threshold", "0.9,0.8,0.55", "--tree", tree) == 0
    assert "6 records, 4 pairs (others count 1), 3 components, 5 / 4 / 3 clusters" in (
        capsys.readouterr().out
    )
    names = ("cluster_0.9", "cluster_0.8", "cluster_0.55")
    found = {row["id"]: "".join(row[name] for name in names) for row in read_csv(out)}
    assert found == {"z": "000", "a": "111", "b": "111", "c": "221", "x": "332", "y": "432"}
    merges = [(row["component"], row["left"], row["right"]) for row in read_csv(tree)]
    assert merges == [("1", "0", "1"), ("1", "2", "3"), ("2", "0", "1")]
    links = [{"id_a": "x", "id_b": "z", "constraint": "must"},
             {"id_a": "a", "id_b": "c", "constraint": "cannot"}]  # fmt: skip
    pairs = write_csv(tmp_path / "p.csv", links)
    assert run(*edges, "--constraints", pairs, "--threshold", 0.3) == 0
    found = {row["id"]: row["cluster"] for row in read_csv(out)}
    # y is 0.8 alike to x, unknown to z: 0.4 on average.
    assert found == {"z": "0", "a": "1", "b": "1", "c": "2", "x": "0", "y": "0"}
    labels = [{"unique_id": i, "cluster": k} for i, k in zip("abcx", "KKKL", strict=True)]
    known = write_csv(tmp_path / "l.csv", labels)
    capsys.readouterr()
    assert run(*edges, "--labels", known) == 0
    assert "learned from 4 labelled records: alpha" in capsys.readouterr().out
    found = {row["id"]: row["cluster"] for row in read_csv(out)}
    assert found["a"] == found["b"] == found["c"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("fit", "T", "-o", "M"), "needs --label"),
        (("fit", "T", "--label", "who", "-o", "M"), "column 'who' not found"),
        (("fit", "T", "--label", "id", "-o", "M"), "training needs two records with one label"),
        (("fit", "T", "--label", "author_id", "--columns", "author_id", "-o", "M"), "new records"),
        (("fit", "T", "--label", "author_id", "-o", "T"), "is a file"),
        (("fit", "T", "--label", "author_id", "--dev-blocks", "zz", "-o", "M"), "no block 'zz'"),
        (("fit", "T", "--label", "author_id", "--dissimilarity", "mahalanobis", "--columns",
          "title", "-o", "M"), "column 'title' holds text"),
        (("fit", "blocks", "-o", "M"), "blocks: no such file or folder"),
        (("cluster", "T", "--model", "nowhere", "-o", "c.csv"), "folder of a model is needed"),
        (("cluster", "none.csv", "--model", "MODEL", "-o", "c.csv"), "no such file"),
        (("cluster", "T", "--model", "MODEL", "-o", "c.xls"), "the output must end in"),
        (("cluster", "T", "--model", "MODEL", "-o", "T"), "is the input"),
        (("cluster", "T", "--model", "MODEL", "-o", "c.csv", "--block", "b"), "'b' not found"),
        (("cluster", "T", "--model", "MODEL", "-o", "c.csv", "--n-clusters", "0"), "at least 1"),
        (("cluster", "T", "--model", "MODEL", "-o", "c.csv", "--n-clusters", "2", "--threshold",
          "1"), "received both"),
        (("edges", "T", "-o", "c.csv"), "dissimilarity or probability is needed"),
        (("edges", "T", "-o", "c.csv", "--dissimilarity", "year"), "need --threshold"),
        (("edges", "T", "-o", "c.csv", "--probability", "p"), "column 'id_a' not found"),
        (("edges", "E", "-o", "c.csv", "--threshold", "0.3"), "Add --probability probability"),
        (("edges", "E", "-o", "c.csv", "--probability", "probability", "--threshold", "2"),
         "from 0 to 1; received 2"),
        (("edges", "E", "-o", "c.csv", "--missing", "none"), "a number, inf or ignored"),
        (("edges", "E", "-o", "c.csv", "--missing", "0.5"), "threshold must lie below missing"),
        (("edges", "E", "-o", "c.csv", "--labels", "E", "--alpha", "1"), "received --alpha 1"),
        (("edges", "E", "-o", "c.csv", "--tree", "t.xls"), "the output must end in"),
        (("explain", "nowhere"), "does not exist"),
    ],
)  # fmt: skip
def test_mistakes_are_one_line_and_nothing_is_written(
    trained: tuple[Path, Path], tmp_path: Path, arguments: tuple[str, ...], message: str,
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    table, folder = trained
    monkeypatch.chdir(tmp_path)
    before = table.read_bytes()
    edges = [{"id_a": "a", "id_b": "b", "probability": 0.9}]
    scored = write_csv(table.parent / "scored.csv", edges)
    named = {"T": table, "E": scored, "MODEL": folder, "M": tmp_path / "new"}
    assert run(*(named.get(argument, argument) for argument in arguments)) == 2
    shown = capsys.readouterr().err
    assert shown.startswith("supclust: error: ") and message in shown
    assert len(shown.strip().splitlines()) == 1
    assert list(tmp_path.iterdir()) == [] and table.read_bytes() == before


def test_bad_records_leave_nothing(trained: tuple[Path, Path], tmp_path: Path) -> None:
    table, folder = trained
    rows = read_csv(table)
    rows[7]["name"] = ""
    bad = write_csv(tmp_path / "bad.csv", rows)
    assert run("cluster", bad, "--model", folder, "-o", tmp_path / "c.csv") == 2
    assert [path.name for path in tmp_path.iterdir()] == ["bad.csv"]


def test_no_strangers_held_out_give_no_f1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """All pairs held out match: precision cannot be measured, and none is claimed."""
    lines = ["who,name,title,year"]
    for block in range(8):
        lines += [f"p{block},n{block},title {block} {k},{2000 + k}" for k in range(4)]
        lines += [f"q{block % 7},n{block},another text {k},{2000 + k}" for k in range(3)]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "t.csv").write_text((tmp_path / "t.csv").read_text().replace("q0,n7", ",n7"))
    words = ("fit", tmp_path / "t.csv", "--label", "who", "--block", "name", "--epochs", 2,
             "--dev-blocks", "n7")  # fmt: skip
    assert run(*words, "-o", tmp_path / "m") == 0
    shown = capsys.readouterr().out
    assert "no F1 is recorded" in shown and "pairwise F1" not in shown
    assert TrainedModel.load(tmp_path / "m").record["dev"] is None
    assert run(*words, "--where", "year<2002", "-o", tmp_path / "m") == 0
    assert "32 records, 30 with a label" in capsys.readouterr().out


def test_boosted_trees_of_pair_folders(tmp_path: Path) -> None:
    pair_files.write_pair_folders(tmp_path / "pairs", np.random.default_rng(0))
    folder, output = tmp_path / "model", tmp_path / "clusters.csv"
    assert run("fit", tmp_path / "pairs", "--dissimilarity", "stacked", "-o", folder) == 0
    assert TrainedModel.load(folder).spec["name"] == "stacked"
    assert run("cluster", tmp_path / "pairs", "--model", folder, "-o", output) == 0
    assert len({row["cluster"] for row in read_csv(output)}) == 18  # three in each of six blocks


def test_boosted_trees_compare_the_text_of_records(tmp_path: Path) -> None:
    table = write_csv(tmp_path / "authors.csv", authors(np.random.default_rng(0), 8))
    folder, output = tmp_path / "model", tmp_path / "clusters.csv"
    words = ("fit", table, "--label", "author_id", "--block", "name")
    assert run(*words, "--dissimilarity", "stacked", "-o", folder) == 0
    model = TrainedModel.load(folder)
    assert (model.spec["name"], model.kind) == ("stacked", "pairs")
    assert model.comparisons is not None and "title" in model.comparisons.sources
    assert run("cluster", table, "--model", folder, "-o", output) == 0
    assert len(read_csv(output)) == len(read_csv(table))
