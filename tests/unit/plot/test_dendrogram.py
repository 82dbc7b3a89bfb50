"""The picture of a tree: what is drawn where, in which colour, and what the legend says."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.collections import LineCollection
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from scipy.cluster.hierarchy import dendrogram as scipy_dendrogram
from scipy.spatial.distance import pdist

from supclust.hac import linkage
from supclust.plot.palette import COLOURS, SOFT, colour_of, line_of, marker_of
from supclust.plot.tree import BROKEN, MIXED, dendrogram, dendrogram_figure
from supclust.plot.tree_layout import MergeKind, merge_kinds, tree_shape

# Leaves 0 1 2 of cluster a, 3 4 of b, 5 of c: 2 joins b too early.
TREE = np.array(
    [[0, 1, 1.0, 2], [3, 4, 2.0, 2], [2, 7, 3.0, 3], [6, 8, 4.0, 5], [5, 9, 5.0, 6]], dtype=float
)
LABELS = ["a", "a", "a", "b", "b", "c"]


def random_tree(rng: np.random.Generator, n: int = 40) -> np.ndarray:
    return linkage(pdist(rng.normal(size=(n, 3))), "average")


def branches(axes) -> LineCollection:
    (lines,) = [c for c in axes.collections if c.get_gid() == "branches"]
    return lines


def legend_of(axes) -> list[str]:
    legend = axes.get_legend()
    return [] if legend is None else [text.get_text() for text in legend.get_texts()]


def slow_kinds(tree: np.ndarray, labels: np.ndarray) -> list[int]:
    """By sets of points: pure, all its clusters complete, or not."""
    n = len(tree) + 1
    members = [{i} for i in range(n)]
    kinds = []
    for left, right in tree[:, :2].astype(int):
        members.append(members[left] | members[right])
        present = {labels[i] for i in members[-1]}
        needed = {i for i in range(n) if labels[i] in present}
        whole = MergeKind.WHOLE if needed == members[-1] else MergeKind.BROKEN
        kinds.append(int(MergeKind.PURE if len(present) == 1 else whole))
    return kinds


@pytest.mark.parametrize("n_labels", [1, 2, 5, 40])
def test_kinds_of_merges_are_those_of_sets(rng, n_labels):
    tree = random_tree(rng)
    labels = rng.integers(0, n_labels, 40)
    codes = np.unique(labels, return_inverse=True)[1]
    clusters, kinds = merge_kinds(tree, codes)
    assert kinds.tolist() == slow_kinds(tree, labels)
    assert ((clusters >= 0) == (kinds == MergeKind.PURE)).all()


def test_branches_are_where_scipy_draws_them(rng):
    tree = random_tree(rng)
    shape, expected = tree_shape(tree), scipy_dendrogram(tree, no_plot=True)
    assert shape.order.tolist() == expected["leaves"]
    ours = sorted(map(np.ravel, shape.branches), key=lambda row: row.tolist())
    # SciPy has leaves at 5, 15, 25, ...
    corners = np.stack([(np.array(expected["icoord"]) - 5) / 10, expected["dcoord"]], axis=2)
    theirs = sorted(map(np.ravel, corners), key=lambda row: row.tolist())
    assert np.allclose(ours, theirs)


def test_negative_and_infinite_heights_have_a_place():
    shape = tree_shape([[0, 1, -4.0, 2], [2, 3, np.inf, 3]])
    assert np.isfinite(shape.branches).all()
    assert shape.floor < -4.0 < 0.0 < shape.branches[1, 1, 1] == shape.top


def test_one_line_per_merge_coloured_by_its_cluster():
    axes = dendrogram(TREE, LABELS)
    lines = branches(axes)
    assert len(lines.get_segments()) == len(TREE)
    colours = [to_hex(colour) for colour in lines.get_colors()]
    assert colours == [colour_of(0), colour_of(1), SOFT, SOFT, SOFT]


def test_merges_that_split_a_cluster_are_crossed_and_only_these():
    axes = dendrogram(TREE, LABELS)
    (crosses,) = [line for line in axes.get_lines() if line.get_label() == BROKEN]
    # a is broken when 2 joins b; it is whole again above that.
    assert crosses.get_ydata().tolist() == [3.0]
    good = [[0, 1, 1.0, 2], [2, 3, 2.0, 2], [4, 5, 3.0, 4]]
    assert BROKEN not in legend_of(dendrogram(good, ["a", "a", "b", "b"]))


def test_the_legend_names_clusters_and_marks():
    axes = dendrogram(TREE, LABELS, threshold=2.5)
    assert legend_of(axes) == ["a", "b", "c", MIXED, BROKEN, "cut"]
    assert legend_of(dendrogram(TREE, LABELS, legend=False)) == []
    assert legend_of(dendrogram(TREE[:1], ["a", "a"])) == ["a"]
    assert legend_of(dendrogram(TREE)) == []


def test_many_clusters_are_left_to_the_strip(rng):
    axes = dendrogram(random_tree(rng), np.arange(40) % 20)
    assert legend_of(axes) == [MIXED, BROKEN]
    assert sum(bar.get_width() for bar in axes.patches) == 40


def test_the_strip_has_a_bar_per_run_of_leaves():
    axes = dendrogram(TREE, LABELS)
    order = [LABELS[i] for i in tree_shape(TREE).order]
    assert order == ["c", "a", "a", "a", "b", "b"]
    assert [bar.get_width() for bar in axes.patches] == [1, 3, 2]
    assert [to_hex(bar.get_facecolor()) for bar in axes.patches] == [*map(colour_of, (2, 0, 1))]
    assert [text.get_text() for text in axes.texts] == ["c", "a", "b"]


def test_the_cut_is_a_line_inside_the_picture():
    axes = dendrogram(TREE, threshold=9.0)
    (cut,) = axes.get_lines()
    assert list(cut.get_ydata()) == [9.0, 9.0] and axes.get_ylim()[1] > 9.0
    assert not dendrogram(TREE, threshold=np.inf).get_lines()
    colours = branches(dendrogram(TREE, threshold=2.5)).get_colors()
    assert (colours[0] == colours[1]).all() and (colours[2:] == colours[2]).all()
    assert (colours[0] != colours[2]).any()


def test_it_draws_where_it_is_told():
    given = Figure().subplots()
    assert dendrogram(TREE, LABELS, given) is given
    assert dendrogram(TREE).figure is not given.figure


@pytest.mark.parametrize("n", [1, 2])
def test_small_trees(n):
    axes = dendrogram(TREE[: n - 1], ["a"] * n)
    axes.figure.canvas.draw()
    assert len(branches(axes).get_segments()) == n - 1


def test_thousands_of_leaves(rng):
    tree = random_tree(rng, 3000)
    axes = dendrogram(tree, rng.integers(0, 30, 3000))
    assert len(branches(axes).get_segments()) == 2999


def test_inputs_stay_as_they_were(rng):
    tree, labels = random_tree(rng), rng.integers(0, 4, 40)
    before = tree.copy(), labels.copy()
    dendrogram(tree, labels, threshold=1.0)
    assert np.array_equal(tree, before[0]) and np.array_equal(labels, before[1])


def test_mistakes_are_told_before_anything_is_drawn():
    axes = Figure().subplots()
    with pytest.raises(ValueError, match="labels must have one entry per point, 6"):
        dendrogram(TREE, ["a", "b"], axes)
    with pytest.raises(ValueError, match=r"Z must have shape \(n-1, 4\)"):
        dendrogram(np.zeros((3, 3)), ax=axes)
    assert not axes.collections and not axes.patches


def test_the_figure_of_the_log():
    figure = dendrogram_figure(TREE, np.array([0, 0, 0, 1, 1, 2]), "block, split 0")
    (axes,) = figure.axes
    assert axes.get_title() == "block, split 0" and "several clusters" in legend_of(axes)


def test_colours_and_markers_differ_and_then_repeat():
    n = len(COLOURS)
    assert len({(colour_of(i), marker_of(i)) for i in range(n)}) == n
    assert colour_of(n) == colour_of(0) and line_of(n) != line_of(0)
