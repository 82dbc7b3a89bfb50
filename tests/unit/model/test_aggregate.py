"""Tables against pandas, and what each format must hold."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from supclust.cli import main as cli
from supclust.data.files import write_json
from supclust.model.aggregate import summarise
from supclust.tables.render import FORMATS, render


def results(rng: np.random.Generator, **changes: Any) -> list[dict[str, Any]]:
    found = []
    for objective, base in (("exp_alpha", 0.8), ("all_pairs", 0.6)):
        for split in range(5):
            linkages = {
                linkage: {
                    "alpha": 0.0,
                    "threshold": 1.0,
                    "dev": {},
                    "test": {
                        "dendrogram_purity": base + 0.1 * rng.random(),
                        "pairwise_f1": None if linkage == "rsc" else base - 0.1 * rng.random(),
                    },
                }
                for linkage in ("single", "exp", "rsc")
            }
            found.append(
                {
                    "status": "done",
                    "dataset": "faces",
                    "source": "stand-in",
                    "objective": objective,
                    "split": split,
                    "seed": 0,
                    "axes": {},
                    "linkages": linkages,
                    "config_hash": "h",
                    "config": {},
                    **changes,
                }
            )
    return found


def test_means_and_deviations_are_those_of_pandas(rng: np.random.Generator) -> None:
    made = results(rng)
    rows = [
        (r["objective"], linkage, metric, value)
        for r in made
        for linkage, entry in r["linkages"].items()
        for metric, value in entry["test"].items()
        if value is not None
    ]
    frame = pd.DataFrame(rows, columns=["objective", "linkage", "metric", "value"])
    expected = frame.groupby(["objective", "linkage", "metric"])["value"].agg(["mean", "std"])
    cells = summarise(made)
    assert len(cells) == len(expected) == 10
    for cell in cells:
        mean, deviation = expected.loc[(cell.objective, cell.linkage, cell.metric)]
        assert cell.mean == pytest.approx(mean)
        assert cell.deviation == pytest.approx(deviation)
        assert cell.splits == 5
    assert {cell.mark for cell in cells} == {"best", "p<0.01"}


def test_failed_results_and_repeated_splits_do_not_distort(rng: np.random.Generator) -> None:
    made = results(rng)
    failed = [{**made[0], "status": "failed", "split": 9}]
    assert summarise([*made, *made, *failed]) == summarise(made)


def test_axes_are_rows_and_sources_are_apart(rng: np.random.Generator) -> None:
    made = results(rng) + results(rng, axes={"recipe.lr": 0.1}) + results(rng, source="real")
    cells = summarise(made)
    assert {c.objective for c in cells if c.source == "stand-in"} == {
        *("exp_alpha", "all_pairs", "exp_alpha recipe.lr=0.1", "all_pairs recipe.lr=0.1")
    }
    text = render(cells)
    assert text.count("[STAND-IN: generated data, not the real set]") == 2
    assert "faces: dendrogram purity" in text


def test_intervals_are_those_of_scipy(rng: np.random.Generator) -> None:
    made = results(rng)
    values = [r["linkages"]["exp"]["test"]["dendrogram_purity"] for r in made[:5]]
    cell = next(c for c in summarise(made) if (c.objective, c.linkage) == ("exp_alpha", "exp"))
    low, high = stats.t.interval(0.95, 4, loc=np.mean(values), scale=stats.sem(values))
    assert (cell.low, cell.high) == (pytest.approx(low), pytest.approx(high))
    assert f"{100 * cell.mean:.1f} ({100 * low:.1f} to {100 * high:.1f})" in render(
        summarise(made), "intervals"
    )
    one = summarise(made[:1])[0]
    assert np.isnan(one.low) and np.isnan(one.high) and "nan" not in render([one], "intervals")


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_shows_the_numbers_and_warns_of_stand_ins(
    rng: np.random.Generator, name: str
) -> None:
    cells = summarise(results(rng))
    text = render(cells, fmt=name)
    assert "stand-in" in text.lower()
    if name == "csv":
        rows = list(csv.DictReader(io.StringIO(text)))
        assert [float(row["mean"]) for row in rows] == [cell.mean for cell in cells]
        return
    for cell in cells:
        shown = f"{100 * cell.mean:.1f} ± {100 * cell.deviation:.1f}"
        assert (shown.replace("±", "$\\pm$") if name == "latex" else shown) in text
    sign = {"latex": "\\textbf{", "markdown": "**", "text": "<"}[name]
    assert sign in text
    assert (r"all\_pairs" in text) == (name == "latex")


def test_the_command_prints_the_table_of_a_folder(
    rng: np.random.Generator, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = results(rng)
    for number, result in enumerate(made):
        write_json(tmp_path / str(number) / "result.json", result)
    failed = {**made[0], "status": "failed", "error": "ValueError: no"}
    write_json(tmp_path / "x" / "result.json", failed)
    assert cli.main(["table", str(tmp_path), "--format", "markdown"]) == 0
    captured = capsys.readouterr()
    assert captured.out == render(summarise(made), fmt="markdown")
    assert "ValueError: no" in captured.err


def test_the_command_needs_results(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["table", str(tmp_path)]) == 2
    assert "no finished result" in capsys.readouterr().err
    assert cli.main(["table", str(tmp_path / "nowhere")]) == 2


def test_only_marks_that_are_there_are_explained(rng: np.random.Generator) -> None:
    made = results(rng)
    everything = render(summarise(made))
    assert "mean ± standard deviation over splits; best of a column marked <, * p" in everything
    one = [r for r in made if r["objective"] == "exp_alpha" and r["split"] == 0]
    for layout in ("results", "intervals"):
        for form in ("text", "markdown", "latex"):
            shown = render(summarise(one), layout, form).rstrip()
            assert shown.endswith("test scores in %"), shown
    two = render(summarise([r for r in made if r["split"] == 0]))
    assert two.rstrip().endswith("test scores in %; best of a column marked <"), two
