"""`supclust.plot`: lines, tables and curves by their properties, not by their pixels."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure
from scipy.spatial.distance import pdist

import supclust
from supclust import plot
from supclust.data.files import write_json
from supclust.metrics import best_threshold, pairwise_scores, threshold_curve
from supclust.model.aggregate import Cell


def legend_of(axes) -> list[str]:
    return [text.get_text() for text in axes.get_legend().get_texts()]


def lines_named(axes, name: str):
    return [line for line in axes.get_lines() if line.get_label() == name]


# -- alpha ------------------------------------------------------------------------------------


def test_a_path_is_a_line_from_epoch_one():
    axes = plot.alpha({"faces": [0.1, -0.2, -0.5]})
    (line,) = lines_named(axes, "faces")
    assert list(line.get_xdata()) == [1, 2, 3] and list(line.get_ydata()) == [0.1, -0.2, -0.5]
    assert legend_of(axes) == ["faces"]


def test_the_median_counts_stopped_runs_with_their_last_alpha():
    axes = plot.alpha({"faces": [[0.0, 1.0], [0.0, 2.0, 4.0], [0.0, 3.0, 5.0]]})
    (line,) = lines_named(axes, "faces (3 runs)")
    assert list(line.get_ydata()) == [0.0, 2.0, 4.0]
    thin = [line for line in axes.get_lines() if line.get_linewidth() < 1 and line.get_alpha()]
    assert [len(line.get_xdata()) for line in thin] == [2, 3, 3]


def test_lines_differ_in_colour_and_marker():
    axes = plot.alpha({"a": [0.0, 1.0], "b": [0.0, -1.0]})
    (a,), (b,) = lines_named(axes, "a"), lines_named(axes, "b")
    assert a.get_color() != b.get_color() and a.get_marker() != b.get_marker()


@pytest.mark.parametrize("bad", [[], [0.1, float("nan")], [[0.1], []]])
def test_paths_must_be_finite_numbers(bad):
    with pytest.raises(ValueError, match=r"one or more finite numbers; received .* for 'faces'"):
        plot.alpha({"faces": bad})


def test_no_path_is_a_mistake():
    with pytest.raises(ValueError, match="at least one path of alpha is needed"):
        plot.alpha({})


def write_run(outputs: Path, objective: str, split: int, score: float, **record: object) -> None:
    """One finished result and the record of its training."""
    place = f"trainings/batch/{objective}{split}"
    write_json(outputs / place / "model.json", {"objective": objective, "split": split, **record})
    scores = {"dendrogram_purity": score, "pairwise_f1": score / 2}
    entry = {"alpha": 0.0, "threshold": 1.0, "dev": scores, "test": scores}
    result = {
        "status": "done", "dataset": "faces", "source": "real", "objective": objective,
        "split": split, "seed": 0, "config_hash": "x", "config": {}, "model": place,
        "linkages": {"single": entry, "exp": entry},
    }  # fmt: skip
    write_json(outputs / "results" / f"{objective}{split}" / "result.json", result)


@pytest.fixture
def outputs(tmp_path: Path) -> Path:
    write_run(tmp_path, "exp_alpha", 0, 0.9, alpha=-0.5, alpha_path=[-0.1, None, -0.5])
    write_run(tmp_path, "exp_alpha", 1, 0.8, alpha=-0.7, alpha_path=None)  # kept no path
    write_run(tmp_path, "mst", 0, 0.6, alpha=None, alpha_path=None)
    write_run(tmp_path, "mst", 1, 0.5, alpha=None, alpha_path=None)
    return tmp_path


def test_paths_of_a_folder_are_those_of_runs_that_learned_alpha(outputs):
    axes = plot.alpha(outputs)
    assert legend_of(axes) == ["exp_alpha (2 runs)"]
    (line,) = lines_named(axes, "exp_alpha (2 runs)")
    assert np.allclose(line.get_ydata(), [-0.4, -0.6])


def test_a_folder_without_alphas_is_a_mistake(tmp_path):
    write_run(tmp_path, "mst", 0, 0.6, alpha=None)
    with pytest.raises(ValueError, match="learned alpha"):
        plot.alpha(str(tmp_path))


# -- table ------------------------------------------------------------------------------------


def cell(objective: str, linkage: str, mean: float, mark: str, **more) -> Cell:
    given = {"dataset": "faces", "source": "real", "metric": "dendrogram_purity", **more}
    return Cell(
        given["dataset"], given["source"], objective, linkage, given["metric"], mean, 0.01, 50, mark
    )


CELLS = [
    cell("mst", "single", 0.95, "best"),
    cell("mst", "exp", 0.9, "p<0.01"),
    cell("exp_alpha", "single", 0.94, "p<0.05"),
    cell("exp_alpha", "exp", 0.97, "best"),
]


def shown(axes) -> dict[tuple[int, int], str]:
    (table,) = axes.tables
    return {place: cell.get_text().get_text() for place, cell in table.get_celld().items()}


def test_the_table_shows_scores_with_their_marks():
    text = shown(plot.table(CELLS))
    assert [text[0, i] for i in range(4)] == ["objective", "single", "exp", "splits"]
    assert [text[1, i] for i in range(4)] == ["mst", "95.0 ± 1.0", "90.0 ± 1.0**", "50"]
    assert [text[2, i] for i in range(4)] == ["exp_alpha", "94.0 ± 1.0*", "97.0 ± 1.0", "50"]


def test_the_best_of_a_column_is_bold_and_only_it():
    (table,) = plot.table(CELLS).tables
    bold = [p for p, c in table.get_celld().items() if c.get_text().get_fontweight() == "bold"]
    assert sorted(bold) == [(1, 1), (2, 2)]


def test_tables_of_a_folder(outputs):
    text = shown(plot.table(outputs, metric="pairwise_f1"))
    assert text[1, 0] == "mst" and text[1, 1].startswith("27.5")
    assert "faces: pairwise F1" in plot.table(outputs, metric="pairwise_f1").get_title()


def test_a_stand_in_is_told():
    axes = plot.table([cell("mst", "exp", 0.9, "best", source="stand-in")])
    assert "STAND-IN" in axes.get_title()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metric": "f1"}, "metric must be one of dendrogram_purity, pairwise_f1"),
        ({"dataset": "rexa"}, "no score of dendrogram_purity for data set 'rexa'.*faces"),
        ({}, "one data set; received aminer, faces"),
    ],
)
def test_mistakes_of_tables(options, message):
    cells = [*CELLS, cell("mst", "exp", 0.9, "best", dataset="aminer")]
    with pytest.raises(ValueError, match=message):
        plot.table(cells, **options)


def test_one_of_several_data_sets_can_be_chosen():
    cells = [*CELLS, cell("mst", "exp", 0.7, "best", dataset="aminer")]
    assert shown(plot.table(cells, dataset="aminer"))[1, 1] == "70.0 ± 1.0"


# -- threshold --------------------------------------------------------------------------------


@pytest.fixture
def blocks(rng) -> list[tuple[np.ndarray, np.ndarray]]:
    found = []
    for _ in range(2):
        labels = np.repeat(np.arange(3), 6)
        points = rng.normal(scale=2.0, size=(3, 2))[labels] + rng.normal(size=(18, 2))
        found.append((supclust.linkage(pdist(points), "average"), labels))
    return found


def test_f1_is_drawn_as_a_cut_gives_it(blocks):
    (Z, labels), axes = blocks[0], plot.threshold(blocks[:1])
    (line,) = lines_named(axes, "F1")
    heights, scores = line.get_data()
    assert line.get_drawstyle() == "steps-post" and (np.diff(heights) >= 0).all()
    for i in range(len(heights) - 1):
        cut = supclust.hac.cut_tree(Z, height=(heights[i] + heights[i + 1]) / 2)
        assert scores[i] == pytest.approx(pairwise_scores(labels, cut).f1)


def test_the_best_cut_is_marked(blocks):
    best = best_threshold(blocks)
    for source in (blocks, threshold_curve(blocks)):
        name = f"cut at {best.threshold:.3g}: F1 {best.f1:.3f}"
        axes = plot.threshold(source)
        assert legend_of(axes) == ["precision", "recall", "F1", name]
        (line,) = lines_named(axes, name)
        assert list(line.get_xdata()) == [best.threshold] * 2


def test_the_chosen_cut_has_its_own_f1(blocks):
    Z, labels = blocks[0]
    height = float(Z[4, 2])  # exactly at a merge: the cut applies it
    f1 = pairwise_scores(labels, supclust.hac.cut_tree(Z, height=height)).f1
    axes = plot.threshold(blocks[:1], chosen=height)
    assert legend_of(axes)[-1] == f"cut at {height:.3g}: F1 {f1:.3f}"


def test_infinite_heights_and_lone_points_can_be_drawn():
    tree = [[0, 1, 1.0, 2], [2, 3, np.inf, 3]]
    plot.threshold([(tree, ["a", "a", "b"])]).figure.canvas.draw()
    plot.threshold([(np.zeros((0, 4)), ["a"])]).figure.canvas.draw()


# -- all --------------------------------------------------------------------------------------


def test_everything_draws_into_given_axes(blocks):
    for draw in (
        lambda ax: plot.alpha({"a": [0.1]}, ax),
        lambda ax: plot.table(CELLS, ax),
        lambda ax: plot.threshold(blocks, ax),
        lambda ax: plot.dendrogram(*blocks[0], ax),
    ):
        given = Figure().subplots()
        assert draw(given) is given


def test_neither_pyplot_nor_torch_is_imported():
    code = (
        "import sys, supclust\n"
        "supclust.plot.dendrogram([[0, 1, 1.0, 2]], ['a', 'b'])\n"
        "supclust.plot.alpha({'a': [0.1, 0.2]})\n"
        "supclust.plot.threshold([([[0, 1, 1.0, 2]], ['a', 'b'])])\n"
        "sys.exit(str([m for m in ('matplotlib.pyplot', 'torch') if m in sys.modules]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr.strip() == "[]"
