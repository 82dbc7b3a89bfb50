"""A small picture of a tree, for the log."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from supclust.hac.tree import Floats, Ints

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_LEAVES = 400


def dendrogram_figure(tree: Floats, labels: Ints, title: str) -> Figure:
    """Draw a tree, its leaves coloured by true cluster.

    Args:
        tree: (n - 1, 4) in SciPy form. Of a large one only the top is drawn, uncoloured.
        labels: (n,) cluster codes.
        title: above it.
    """
    from matplotlib import colormaps
    from matplotlib.figure import Figure
    from scipy.cluster.hierarchy import dendrogram

    figure = Figure(figsize=(10, 4), layout="constrained")
    axes = figure.subplots()
    axes.set_title(title, fontsize=9)
    axes.set_ylabel("height")
    if len(tree) == 0:
        return figure
    finite = tree.copy()  # infinite heights cannot be drawn: a little above the others
    top = tree[np.isfinite(tree[:, 2]), 2]
    finite[:, 2] = np.minimum(tree[:, 2], 1.1 * float(top.max(initial=0.0)) + 1e-9)
    finite[:, 2] -= min(0.0, float(finite[:, 2].min()))  # nor can negative ones
    whole = len(labels) <= MOST_LEAVES
    options: dict[str, Any] = {} if whole else {"truncate_mode": "lastp", "p": 60}
    drawn = dendrogram(
        finite, ax=axes, no_labels=True, color_threshold=0, above_threshold_color="0.4", **options
    )
    if whole:
        colours = colormaps["tab20"](labels[drawn["leaves"]] % 20)
        place = 10 * np.arange(len(labels)) + 5  # where SciPy puts leaves
        axes.scatter(place, np.zeros(len(labels)), c=colours, s=14, marker="s", clip_on=False)
    return figure
