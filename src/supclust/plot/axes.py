"""Curves as matplotlib axes: alpha by epoch, pairwise F1 by cut.

Every function draws in ``ax``, or in a new figure (``ax.figure``) without pyplot: nothing is shown
and no display is needed. Save with ``ax.figure.savefig(...)``; in a notebook, end a cell with
``ax.figure``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from supclust.metrics.threshold import ThresholdCurve, best_of_curve, threshold_curve
from supclust.plot.palette import SOFT, axes_or_new, colour_of, line_of, marker_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Path_ = Sequence[float]


def alpha(
    source: Mapping[str, Path_ | Sequence[Path_]] | str | Path,
    ax: Axes | None = None,
    *,
    title: str | None = None,
) -> Axes:
    """Draw alpha after every epoch.

    Several paths of one name (splits) are thin lines with their median in bold; a stopped run
    enters the median with its last alpha. A single value (a run without a path) is a point.

    Args:
        source: name -> alpha after every epoch, or several such paths; or a folder of results.
        ax: axes to draw in; default: a new figure.
        title: of the axes.

    Returns:
        The axes.

    >>> alpha({"faces": [[0.1, -0.4, -0.9], [0.0, -0.6]]}).get_xlabel()
    'epoch'
    """
    named = _paths_below(Path(source)) if isinstance(source, str | Path) else source
    paths = {name: _as_paths(name, given) for name, given in named.items()}
    if not paths:
        raise ValueError(
            "at least one path of alpha is needed; received none. "
            "Pass {name: [alpha after every epoch]}, or a folder of results."
        )
    axes = axes_or_new(ax, (7, 4))
    axes.axhline(0.0, color=SOFT, linewidth=0.8, linestyle=":")
    for i, (name, runs) in enumerate(paths.items()):
        _draw_paths(axes, i, name, runs)
    axes.annotate(
        "average linkage", (1, 0), xycoords=("axes fraction", "data"), xytext=(-2, 2),
        textcoords="offset points", ha="right", fontsize=8, color=SOFT,
    )  # fmt: skip
    axes.set(xlabel="epoch", ylabel="alpha")
    _finish(axes, title)
    return axes


def _draw_paths(axes: Axes, i: int, name: str, runs: list[list[float]]) -> None:
    style: dict[str, Any] = {"color": colour_of(i), "linestyle": line_of(i)}
    count = f" ({len(runs)} runs)" if len(runs) > 1 else ""
    if len(runs) > 1:
        for run in runs:
            axes.plot(range(1, len(run) + 1), run, **style, linewidth=0.8, alpha=0.45)
    last = max(map(len, runs))
    median = np.median([run + run[-1:] * (last - len(run)) for run in runs], axis=0)
    (line,) = axes.plot(range(1, last + 1), median, **style, linewidth=2, label=f"{name}{count}")
    line.set_marker(marker_of(i))
    line.set_markevery([last - 1])


def _as_paths(name: str, given: Path_ | Sequence[Path_]) -> list[list[float]]:
    rows: list[Any] = list(given)
    nested = bool(rows) and all(np.ndim(row) == 1 for row in rows)
    runs = [[float(v) for v in row] for row in (rows if nested else [rows])]
    if not rows or not all(run and np.isfinite(run).all() for run in runs):
        raise ValueError(
            f"a path of alpha must be one or more finite numbers; received {given!r} for {name!r}. "
            "Leave out runs that learned no alpha."
        )
    return runs


def _paths_below(folder: Path) -> dict[str, list[list[float]]]:
    """Paths of the runs below a folder, by data set and row of the table; one per training."""
    from supclust.model.aggregate import row_name
    from supclust.model.locate import training_record
    from supclust.model.results import find_results

    paths: dict[tuple[str, str], dict[str, list[float]]] = {}
    done = [result for result in find_results(folder) if result["status"] == "done"]
    for result in done:
        record = training_record(result)
        if record is not None and record.get("alpha") is not None:
            path = [a for a in record.get("alpha_path") or [] if a is not None]
            runs = paths.setdefault((result["dataset"], row_name(result)), {})
            runs[result["model"]] = path or [record["alpha"]]
    if not paths:
        raise ValueError(
            f"no run below {folder} learned alpha. "
            "Train one with `python train.py objective=exp_alpha dataset=faces`."
        )
    several = len({(result["dataset"], result["source"]) for result in done}) > 1
    return {
        f"{dataset}: {row}" if several else row: list(runs.values())
        for (dataset, row), runs in paths.items()
    }


def threshold(
    source: ThresholdCurve | Sequence[tuple[ArrayLike, ArrayLike]],
    ax: Axes | None = None,
    *,
    chosen: float | None = None,
    title: str | None = None,
) -> Axes:
    """Draw pairwise F1, precision and recall over the height of the cut, exactly.

    Args:
        source: ``[(Z, labels), ...]``, one per block, or their `threshold_curve`.
        ax: axes to draw in; default: a new figure.
        chosen: the cut that is used, for example the best on dev; default: the best of the curve.
        title: of the axes.

    Returns:
        The axes.

    >>> tree = [[0, 1, 1.0, 2], [2, 3, 3.0, 3]]
    >>> threshold([(tree, ["a", "a", "b"])]).get_legend_handles_labels()[1][-1]
    'cut at 2: F1 1.000'
    """
    curve = source if isinstance(source, ThresholdCurve) else threshold_curve(source)
    finite = np.isfinite(curve.thresholds)
    cut = best_of_curve(curve).threshold if chosen is None else float(chosen)
    heights = curve.heights[1:][finite[1:]]
    ends = [v for v in (*heights[:1], *heights[-1:], cut) if np.isfinite(v)] or [0.0]
    spread = max(ends) - min(ends) or 1.0
    # The scores of a cut apply from its own height up to the next one.
    edges = np.array([min(ends) - 0.05 * spread, *heights, max(ends) + 0.05 * spread])
    score = float(curve.f1[np.searchsorted(curve.heights, cut, side="right") - 1])
    axes = axes_or_new(ax, (7, 4))
    for name, values, style, width in (
        ("precision", curve.precision, "--", 1.0),
        ("recall", curve.recall, ":", 1.3),
        ("F1", curve.f1, "-", 2.0),
    ):
        shown = np.append(values[finite], values[finite][-1])
        colour = colour_of(0) if name == "F1" else SOFT
        axes.step(
            edges, shown, where="post", label=name, color=colour, linestyle=style, linewidth=width
        )
    if np.isfinite(cut):
        axes.axvline(
            cut, color=colour_of(1), linewidth=1.2, label=f"cut at {cut:.3g}: F1 {score:.3f}"
        )
        axes.plot(cut, score, color=colour_of(1), marker="o", markersize=5, label="_")
    axes.set(xlabel="height of the cut", ylabel="pairwise score", ylim=(-0.02, 1.04))
    _finish(axes, title)
    return axes


def _finish(axes: Axes, title: str | None) -> None:
    axes.legend(frameon=False, fontsize=8)
    axes.spines[["top", "right"]].set_visible(False)
    if title:
        axes.set_title(title, fontsize=10)
