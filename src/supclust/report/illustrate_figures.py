"""The paper's two illustrations as matplotlib figures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure
from scipy.optimize import linear_sum_assignment

from supclust.hac.tree import Floats, Ints
from supclust.plot.palette import INK, SOFT, colour_of, marker_of
from supclust.report.illustrate import Mismatch, Shapes, Trained

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TITLES = {"single": "single linkage", "average": "average linkage", "complete": "complete linkage"}


def mismatch_figure(data: Mismatch) -> Figure:
    """Data, the two clusterings, and the decision boundaries over the differences of pairs."""
    figure = Figure(figsize=(13, 4.6), layout="constrained")
    parts: Any = figure.subfigures(1, 3, width_ratios=(1, 1, 1.25))
    left, middle, right = parts
    points, boundaries = left.subplots(), right.subplots()
    _scatter(points, data.points, data.labels, ("cluster A", "cluster B"))
    points.set_title("(a) Two clusters in the plane", fontsize=11)
    points.set(xlabel="$x_1$", ylabel="$x_2$")
    points.legend(loc="upper left", frameon=False, fontsize=9)
    points.set_ylim(top=float(data.points[:, 1].max()) + 1.0)
    failed, right_one = middle.subplots(2, 1, sharex=True)
    for axes, trained, name in (
        (failed, data.all_pairs, "(b) All-pairs training, single linkage"),
        (right_one, data.mst, "(c) MST training, single linkage"),
    ):
        _scatter(axes, data.points, matched(data.labels, trained.labels))
        axes.set_title(f"{name}\n{_outcome(trained)}", fontsize=10)
        axes.set_ylabel("$x_2$")
    right_one.set_xlabel("$x_1$")
    _draw_boundaries(boundaries, data)
    return figure


def _outcome(trained: Trained) -> str:
    count = int(trained.labels.max()) + 1
    clusters = "1 cluster" if count == 1 else f"{count} clusters"
    return f"{clusters}, pairwise F1 {trained.f1:.2f}, adjusted Rand {trained.adjusted_rand:.2f}"


def _draw_boundaries(axes: Axes, data: Mismatch) -> None:
    both = np.concatenate([data.within, data.across])
    width, height = both[:, 0].max() * 1.02, both[:, 1].max() * 1.02
    for pairs, i, name in ((data.across, 1, "pair across"), (data.within, 0, "pair within")):
        axes.scatter(
            pairs[:, 0], pairs[:, 1], s=7, marker=marker_of(i), color=colour_of(i),
            alpha=0.35, linewidths=0, label=f"{name} clusters", rasterized=True,
        )  # fmt: skip
    for boundary, name, style in (
        (data.all_pairs.learned, "all-pairs: {} across below", "-"),
        (data.all_pairs.tuned, "all-pairs, bias tuned: {} below", ":"),
        (data.mst.tuned, "MST training: {} below", "--"),
    ):
        wrong = int(boundary.below(data.across).sum())
        w1, w2 = boundary.weight
        x, y = (-boundary.offset * w / (w1**2 + w2**2) for w in (w1, w2))
        ends = (x, y), (x - w2, y + w1)
        # A white edge separates the line from the points below it.
        axes.axline(*ends, color="white", linewidth=4.5, solid_capstyle="butt")
        axes.axline(*ends, color=INK, linewidth=2.2, linestyle=style, label=name.format(wrong))
    axes.set(xlim=(0, width), ylim=(0, height), xlabel="$|x_1 - x_1'|$", ylabel="$|x_2 - x_2'|$")
    axes.set_title("(d) Decision boundaries: pairs below a line count as alike", fontsize=11)
    legend = axes.legend(
        loc="upper center", bbox_to_anchor=(0.5, -0.13), ncols=2, frameon=False, fontsize=9,
        markerscale=2,
    )  # fmt: skip
    for handle in legend.legend_handles[:2]:
        if handle is not None:
            handle.set_alpha(1.0)


def shapes_figure(data: Shapes) -> Figure:
    """The true clusters, four linkages cut into as many, and scores by alpha."""
    figure = Figure(figsize=(12, 7.4), layout="constrained")
    count = int(data.labels.max()) + 1
    parts: Any = figure.subfigures(2, 3)
    *upper, last = parts.flat
    truth, *panels = [part.subplots() for part in upper]
    _scatter(truth, data.points, data.labels)
    origin = "real data" if data.source == "real" else "generated data"
    truth.set_title(f"(a) Pathbased, {count} true clusters\n{origin}", fontsize=11)
    for axes, clustered, letter in zip(panels, data.linkages, "bcde", strict=True):
        _scatter(axes, data.points, matched(data.labels, clustered.labels))
        name = TITLES.get(clustered.linkage, f"ExpLink, learned $\\alpha$ = {_signed(data.alpha)}")
        score = f"adjusted Rand {clustered.adjusted_rand:.2f}"
        axes.set_title(f"({letter}) {name[0].upper()}{name[1:]}\n{score}", fontsize=11)
    for axes in (truth, *panels):
        axes.set(xticks=[], yticks=[], aspect="equal")
    scores, learning = last.subplots(2, 1, sharex=True, height_ratios=(1.6, 1))
    _draw_scores(scores, data)
    _draw_learning(learning, data)
    return figure


def _draw_scores(axes: Axes, data: Shapes) -> None:
    axes.plot(data.alphas, data.rand_curve, color=colour_of(0), label="adjusted Rand of the cut")
    axes.plot(
        *(data.alphas, data.purity_curve), color=SOFT, linestyle="--", label="dendrogram purity"
    )
    axes.axvline(data.alpha, color=colour_of(1), linewidth=1.2)
    axes.set(ylim=(-0.03, 1.05), ylabel="score")
    axes.set_title("(f) Scores, and $\\alpha$ as it is learned", fontsize=11)
    axes.legend(frameon=False, fontsize=9, loc="lower right")


def _draw_learning(axes: Axes, data: Shapes) -> None:
    epochs = np.arange(1, len(data.alpha_path) + 1)
    axes.plot(data.alpha_path, epochs, color=colour_of(1))
    axes.plot(data.alpha, epochs[-1], color=colour_of(1), marker="o")
    axes.axvline(data.alpha, color=colour_of(1), linewidth=1.2)
    axes.annotate(
        f"learned: {_signed(data.alpha)}", (data.alpha, epochs[-1]), xytext=(-8, 4),
        textcoords="offset points", ha="right", va="bottom", fontsize=9, color=INK,
    )  # fmt: skip
    axes.invert_yaxis()
    axes.set(xlabel="$\\alpha$   (single: $-\\infty$, average: 0, complete: $+\\infty$)")
    axes.set(ylabel="epoch", xlim=(data.alphas[0], data.alphas[-1]))


def _scatter(axes: Axes, points: Floats, labels: Ints, names: Sequence[str] = ()) -> None:
    """Points by cluster, which differ in colour and marker."""
    for code in range(int(labels.max()) + 1):
        x, y = points[labels == code].T
        axes.scatter(
            x,
            y,
            s=20,
            marker=marker_of(code),
            color=colour_of(code),
            edgecolors="white",
            linewidths=0.3,
            label=names[code] if code < len(names) else None,
        )


def _signed(value: float) -> str:
    """Two decimals, with U+2212 as minus."""
    return f"{value:.2f}".replace("-", "\N{MINUS SIGN}")


def matched(true: Ints, predicted: Ints) -> Ints:
    """Renumber predicted clusters so that each has the number of the true one it overlaps most.

    The assignment is one to one; clusters beyond the true ones get further numbers.

    >>> matched(np.array([0, 0, 1, 1]), np.array([1, 1, 0, 2])).tolist()
    [0, 0, 1, 2]
    """
    shared = np.zeros((int(predicted.max()) + 1, int(true.max()) + 1), dtype=np.int64)
    np.add.at(shared, (predicted, true), 1)
    rows, columns = linear_sum_assignment(-shared)
    numbers = np.full(len(shared), -1)
    numbers[rows] = columns
    further = np.flatnonzero(numbers < 0)
    numbers[further] = shared.shape[1] + np.arange(len(further))
    renumbered: Ints = numbers[predicted]
    return renumbered
