"""The paper's own form, and ours beside the paper's: checked against the published files."""

from __future__ import annotations

import csv
import io
import statistics
from pathlib import Path
from typing import Any

import pytest

from supclust.cli import main as cli
from supclust.hac.family import METHODS
from supclust.model.aggregate import summarise
from supclust.tables.differences import out_of_bounds
from supclust.tables.paper import BEST_LINKAGE, Key, printed, published
from supclust.tables.render import FORMATS, render
from supclust.tables.split_scores import as_csv, read_csv, read_folder, write_folder
from training_blocks import PAPER

SHIFTS = (-0.01, 0.0, 0.01)  # of three splits


def papers_own(printed_set: str = "faces", off: float = 0.0, **more: Any) -> list[dict[str, Any]]:
    """Results whose means are what the paper printed, plus ``off`` points of purity."""
    found = []
    for objective in PAPER:
        for split, shift in enumerate(SHIFTS):
            linkages = {}
            for linkage in (*METHODS, "rsc"):
                scores: dict[str, float | None] = {"dendrogram_purity": None, "pairwise_f1": None}
                for metric in scores:
                    paper = printed(printed_set, objective, linkage, metric)
                    if paper is not None:
                        points = off if metric == "dendrogram_purity" and linkage != "rsc" else 0
                        scores[metric] = (paper.percent + points) / 100 + shift
                linkages[linkage] = {"alpha": 0.5, "threshold": 1.0, "dev": {}, "test": scores}
            found.append(
                {
                    **{"status": "done", "dataset": printed_set, "source": "real", "seed": 0},
                    **{"objective": objective, "split": split, "axes": {}, "epochs": 7},
                    **{"linkages": linkages, "notes": [], **more},
                }
            )
    return found


def test_the_published_numbers_are_complete() -> None:
    keys = published()
    datasets = ("rexa", "aminer", "np_coref", "faces")
    for dataset in datasets:
        for objective in PAPER:
            for linkage in METHODS:
                for metric in ("dendrogram_purity", "pairwise_f1"):
                    assert 20 < keys[Key(dataset, objective, linkage, metric)].percent < 100
            cut = keys[Key(dataset, objective, "rsc", "dendrogram_purity")].percent
            best = keys[Key(dataset, objective, BEST_LINKAGE, "dendrogram_purity")].percent
            assert cut < best
    assert len(keys) == 4 * 8 * (4 * 2 + 2)
    for dataset in datasets:  # every column has a best, and nothing in it is higher
        for linkage in METHODS:
            column = [keys[Key(dataset, o, linkage, "dendrogram_purity")] for o in PAPER]
            marked = [number.percent for number in column if number.mark == "best"]
            assert marked and min(marked) == max(number.percent for number in column)


def test_the_papers_numbers_are_at_no_distance_from_the_paper() -> None:
    cells = summarise(papers_own())
    text = render(cells, "against")
    assert "faces: dendrogram purity  32     0.00" in text
    assert "faces: pairwise F1        32     0.00" in text
    assert "faces: sparsest cut       8      0.00" in text
    assert "95.3 (95.3) +0.0" in text
    table = text.partition("in %;")[0]
    assert "†" not in table and "‡" not in table
    assert out_of_bounds(cells) == []


@pytest.mark.parametrize(("off", "sign", "problems"), [(-3.0, "†", 1), (5.0, "‡", 2)])
def test_distances_are_marked_and_counted(off: float, sign: str, problems: int) -> None:
    cells = summarise(papers_own(off=off))
    text = render(cells, "against")
    shown = f"{off:+.1f}".replace("-", "−")
    assert f"{95.3 + off:.1f} (95.3) {shown} {sign}" in text
    sums = next(line for line in text.splitlines() if line.startswith("faces: dendrogram purity  "))
    assert sums.split()[3:5] == ["32", f"{abs(off):.2f}"]
    assert sums.split()[-2:] == ["32", "32" if abs(off) > 4 else "0"]
    assert len(out_of_bounds(cells)) == problems


def test_rows_for_csv_hold_every_number_once() -> None:
    cells = summarise(papers_own(off=1.0))
    rows = list(csv.DictReader(io.StringIO(render(cells, "against", "csv"))))
    assert len(rows) == 32 * 2 + 8
    for row in rows:
        assert float(row["ours"]) - float(row["paper"]) == pytest.approx(float(row["difference"]))
        assert float(row["low"]) < float(row["ours"]) < float(row["high"])
    purities = [r for r in rows if r["metric"] == "dendrogram_purity" and r["linkage"] != "rsc"]
    assert statistics.mean(float(r["difference"]) for r in purities) == pytest.approx(1.0)
    paper = list(csv.DictReader(io.StringIO(render(cells, "paper", "csv"))))
    assert [row["objective"] for row in paper[:5]] == ["best"] * 5
    assert len(paper) == 32 * 2 + 8


def test_gum_is_beside_np_coref_for_orientation_only() -> None:
    results = papers_own("np_coref", dataset="gum_coref")
    text = render(summarise(results), "against")
    assert "gum_coref beside the paper's np_coref, for orientation only: dendrogram purity" in text
    assert "gum_coref beside np_coref: dendrogram purity" in text
    assert out_of_bounds(summarise(papers_own("np_coref", off=9.0, dataset="gum_coref"))) == []


def test_the_papers_form_has_its_rows_columns_and_marks() -> None:
    results = papers_own("faces") + papers_own("rexa")
    cells = summarise(results)
    lines = render(cells, "paper", "latex").splitlines()
    assert lines[3].startswith("objective & rexa SL & rexa AL & rexa CL & rexa EL & faces SL")
    names = [line.split(" & ")[0] for line in lines[5:13]]
    assert names == ["Bst", "MST", "Exp-", "AP", "Trp", "Exp0", "Exp+", "Exp-alpha"]
    mst = lines[6].rstrip(" \\").split(" & ")
    # MST and Exp- tie at 87.3 on rexa: as in the paper, both are bold.
    assert mst[1] == r"\textbf{87.3}" and lines[7].split(" & ")[1] == r"\textbf{87.3}"
    # Splits differ by a constant, so every difference is certain.
    assert mst[2] == r"\underline{\underline{85.1}}"
    assert "MST & 88.4 & 74.8 & 95.4 & 74.7" in "\n".join(lines)


def test_a_random_floor_is_named_below_the_sparsest_cut() -> None:
    results = papers_own()
    floor = {"random": {"alpha": None, "test": {"dendrogram_purity": 0.2}}}
    results.append({**results[-1], "linkages": floor})
    assert "random tree: faces 20.0" in render(summarise(results), "paper")


@pytest.mark.parametrize("layout", ["paper", "against"])
@pytest.mark.parametrize("form", FORMATS)
def test_stand_ins_are_never_taken_for_the_real_set(layout: str, form: str) -> None:
    text = render(summarise(papers_own(source="stand-in")), layout, form)
    assert "stand-in" in text.lower()


def test_what_the_paper_does_not_have_is_refused() -> None:
    with pytest.raises(ValueError, match=r"without further axes; received mst recipe\.lr=1"):
        render(summarise([{**papers_own()[9], "objective": "mst recipe.lr=1"}]), "paper")
    with pytest.raises(ValueError, match="none of these results has a counterpart in the paper"):
        render(summarise(papers_own(dataset="mine")), "against")


def test_scores_per_split_survive_a_file(tmp_path: Path) -> None:
    results = papers_own() + papers_own("rexa")
    assert render(summarise(read_csv(as_csv(papers_own()))), "paper") == render(
        summarise(papers_own()), "paper"
    )
    paths = write_folder(tmp_path, results)
    assert [path.name for path in paths] == ["faces.csv", "rexa.csv"]
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    assert summarise(read_folder(tmp_path)) == summarise(read_csv(as_csv(results)))
    swept = [{**papers_own()[0], "axes": {"recipe.lr": 1}}, {**papers_own()[0], "seed": 1}]
    assert as_csv(swept).count("\n") == 1  # one row per split: other seeds and axes stay out


def test_the_command_shows_published_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_folder(tmp_path, papers_own())
    assert cli.main(["table", str(tmp_path), "--against", "paper"]) == 0
    assert "95.3 (95.3) +0.0" in capsys.readouterr().out
    assert cli.main(["table", str(tmp_path), "--layout", "paper", "--format", "markdown"]) == 0
    assert "**95.3**" in capsys.readouterr().out
