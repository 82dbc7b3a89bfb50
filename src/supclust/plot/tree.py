"""Dendrograms: branches in the colour of their true cluster, wrong merges marked."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from supclust.hac.tree import Floats, Ints
from supclust.metrics.labels import encode_labels
from supclust.plot.palette import INK, SOFT, WARNING, axes_or_new, colour_of
from supclust.plot.tree_layout import MergeKind, TreeShape, merge_kinds, tree_shape

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_IN_LEGEND = 10
MIXED, BROKEN = "several clusters", "splits a cluster"


def dendrogram_figure(tree: Floats, labels: Ints, title: str) -> Figure:
    """Draw a tree with `dendrogram` in a figure of its own, for the log."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 4), layout="constrained")
    dendrogram(tree, labels, figure.subplots(), title=title)
    return figure


def dendrogram(
    Z: ArrayLike,
    labels: ArrayLike | None = None,
    ax: Axes | None = None,
    *,
    threshold: float | None = None,
    title: str | None = None,
    legend: bool = True,
) -> Axes:
    """Draw a tree; with labels, its branches are coloured by true cluster.

    Branches of one cluster have its colour, those of several are grey. A merge that joins *part* of
    a cluster with points of another, so that no cut can give that cluster, has a red cross. Below
    the leaves is a strip in the colours of their clusters, with the names where they fit.

    Args:
        Z: (n - 1, 4) SciPy linkage matrix. Thousands of leaves are fine: the branches are one
            collection of lines. Infinite heights are drawn above the others.
        labels: (n,) true cluster of every point, of any kind.
        ax: axes to draw in; default: a new figure (``ax.figure``), without pyplot.
        threshold: height of the cut, a dashed line.
        title: of the axes.
        legend: whether to list the colours of up to 10 clusters.

    Returns:
        The axes.

    Complexity: O(n log n).

    >>> dendrogram([[0, 1, 1.0, 2], [2, 3, 2.0, 3]], ["a", "a", "b"]).get_ylabel()
    'height'
    """
    shape = tree_shape(Z)
    axes = axes_or_new(ax, (9, 4))
    n = len(shape.order)
    # Checked before anything is drawn, so that an error leaves the axes as they were.
    codes = None if labels is None else encode_labels(labels, n).values
    if codes is None:
        colours = _colours_of_cut(shape, threshold)
    else:
        clusters, kinds = merge_kinds(Z, codes)
        colours = [SOFT if cluster < 0 else colour_of(cluster) for cluster in clusters]
        names = _names(labels, codes)
        _draw_strip(axes, shape, codes, names)
        _draw_crosses(axes, shape, kinds)
    _draw_branches(axes, shape, colours)
    if threshold is not None and math.isfinite(threshold):
        axes.axhline(threshold, color=INK, linestyle="--", linewidth=1, label="cut")
    _frame(axes, shape, threshold, title)
    if legend and codes is not None:
        _explain(axes, names, mixed=SOFT in colours)
    return axes


def _draw_branches(axes: Axes, shape: TreeShape, colours: list[str]) -> None:
    from matplotlib.collections import LineCollection

    width = float(np.clip(30 / np.sqrt(len(shape.order)), 0.3, 1.6))
    lines = LineCollection(
        list(shape.branches), colors=colours, linewidths=width, capstyle="projecting"
    )
    lines.set_gid("branches")
    axes.add_collection(lines)


def _draw_strip(axes: Axes, shape: TreeShape, codes: Ints, names: list[str]) -> None:
    """A bar below each leaf in the colour of its cluster, and names below the longer runs."""
    ordered, n = codes[shape.order], len(codes)
    starts = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
    lengths = np.diff(np.append(starts, n))
    height = 0.04 * (shape.top - shape.floor)
    axes.bar(
        *(starts - 0.5, -height, lengths, shape.floor - 0.25 * height),
        align="edge",
        color=[colour_of(code) for code in ordered[starts]],
    )
    for start, length in zip(starts, lengths, strict=True):
        name = names[ordered[start]]
        if length / n > 0.012 * len(name) + 0.005:
            position = (start + (length - 1) / 2, shape.floor - 1.4 * height)
            axes.text(*position, name, ha="center", va="top", fontsize=8, color=INK)


def _draw_crosses(axes: Axes, shape: TreeShape, kinds: Ints) -> None:
    broken = shape.branches[kinds == MergeKind.BROKEN]
    if len(broken):
        axes.plot(
            *(broken[:, 1:3, 0].mean(axis=1), broken[:, 1, 1]),
            color=WARNING,
            marker="x",
            linestyle="none",
            markersize=float(np.clip(60 / np.sqrt(len(shape.order)), 2, 6)),
            zorder=3,
            label=BROKEN,
        )


def _colours_of_cut(shape: TreeShape, threshold: float | None) -> list[str]:
    """Without labels: merges above the cut are grey."""
    limit = math.inf if threshold is None else threshold
    return [INK if height <= limit else SOFT for height in shape.branches[:, 1, 1]]


def _names(labels: ArrayLike | None, codes: Ints) -> list[str]:
    """Label of every code."""
    given = labels if isinstance(labels, list | tuple) else np.asarray(labels).tolist()
    known = {int(code): str(label) for code, label in zip(codes, given, strict=True)}
    return [known[code] for code in sorted(known)]


def _frame(axes: Axes, shape: TreeShape, threshold: float | None, title: str | None) -> None:
    high = shape.top
    if threshold is not None and math.isfinite(threshold):
        high = max(high, threshold + 0.05 * (shape.top - shape.floor))
    axes.set_xlim(-0.75, len(shape.order) - 0.25)
    axes.set_ylim(shape.floor - 0.12 * (shape.top - shape.floor), high)
    axes.set_xticks([])
    axes.set_ylabel("height")
    axes.spines[["top", "right", "bottom"]].set_visible(False)
    if title:
        axes.set_title(title, fontsize=10)


def _explain(axes: Axes, names: list[str], *, mixed: bool) -> None:
    from matplotlib.lines import Line2D

    entries = [] if len(names) > MOST_IN_LEGEND else list(enumerate(names))
    handles = [Line2D([], [], color=colour_of(i), label=name, linewidth=3) for i, name in entries]
    if mixed:
        handles.append(Line2D([], [], color=SOFT, label=MIXED, linewidth=1.5))
    drawn, _ = axes.get_legend_handles_labels()
    handles += [h for h in drawn if isinstance(h, Line2D)]
    if handles:
        axes.legend(
            handles=handles, loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, fontsize=8
        )
