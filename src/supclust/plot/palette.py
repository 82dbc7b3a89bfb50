"""Colours and markers of all figures, distinguishable by colour-blind readers and in grey."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = (
    "#0072b2",  # blue
    "#d55e00",  # vermilion
    "#009e73",  # green
    "#aa4499",  # purple
    "#e69f00",  # orange
    "#56b4e9",  # sky
    "#332288",  # indigo
    "#882255",  # wine
)
MARKERS = ("o", "^", "s", "D", "v", "P", "X", "<")
LINES = ("-", "--", "-.", ":")
INK, SOFT = "#1b2430", "#6b7480"
WARNING = "#c22a14"


def colour_of(index: int) -> str:
    """Colour of the cluster or line with this number; they repeat after the last."""
    return COLOURS[index % len(COLOURS)]


def marker_of(index: int) -> str:
    """Marker of the cluster or line with this number; they repeat after the last."""
    return MARKERS[index % len(MARKERS)]


def line_of(index: int) -> str:
    """Style of the line with this number; it changes when the colours repeat."""
    return LINES[index // len(COLOURS) % len(LINES)]


def axes_or_new(ax: Axes | None, size: tuple[float, float]) -> Axes:
    """The given axes, or those of a new figure without pyplot.

    Args:
        ax: axes to draw in.
        size: width and height of a new figure in inches.
    """
    if ax is not None:
        return ax
    from matplotlib.figure import Figure

    return Figure(figsize=size, layout="constrained").subplots()
