"""Charts as HTML with inline SVG that fits any width without script: lines and strips of dots.

The SVG of a line chart is stretched to its box, with strokes that keep their width. Dots and text
are positioned in percent, so that they are not stretched.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from markupsafe import Markup

from supclust.report.page import render
from supclust.report.scale import PERCENT, Scale, number, scale_of, thinned, tick_words

SIDE = 1000
"""Units along either side of a stretched SVG."""
MOST_POINTS, FEWEST_POINTS, ALL_POINTS = 160, 40, 6000
"""Points kept per line (between the first two) so that a chart has about the third."""
COLOURS = 10
CHARACTERS = 65
"""Of tick labels: twice as many as fit side by side below the narrowest plot."""


class Line(NamedTuple):
    """One line of a chart; ``name`` is shown when pointed at."""

    name: str
    points: Sequence[tuple[float, float]]  # (x, y), x ascending
    style: str  # CSS class
    split: int | None = None  # for highlighting in all charts
    steps: bool = False  # y is constant up to the next x, not interpolated


class Upright(NamedTuple):
    """A vertical line at x, with a short text at its top."""

    x: float
    words: str


class Strip(NamedTuple):
    """One row of dots, and a bar at their mean."""

    name: str
    kind: int  # index of the marker
    dots: Sequence[tuple[int, float]]  # (split, value)
    mean: float


def line_chart(
    title: str,
    lines: Sequence[Line],
    *,
    x_name: str,
    y_name: str,
    words: str,
    upright: Upright | None = None,
    log: bool | None = False,
    y_range: tuple[float, float] | None = None,
    y_within: tuple[float, float] | None = None,
) -> Markup:
    """A chart of lines.

    Args:
        title: heading.
        lines: to be drawn, later ones above.
        x_name: of the horizontal axis.
        y_name: of the vertical axis.
        words: the content as a sentence: caption and text alternative.
        upright: a vertical line.
        log: whether the vertical axis is logarithmic; ``None``: where the range is wide.
        y_range: ends of the vertical axis; default: those of the lines.
        y_within: ends that it does not pass, as for percent.
    """
    marks = [upright.x] if upright else []
    x = scale_of([p for line in lines for p, _ in line.points] + marks, ticks=4)
    heights = y_range or [p for line in lines for _, p in line.points]
    y = scale_of(heights, log=log, ticks=4, within=y_within)
    most = min(MOST_POINTS, max(FEWEST_POINTS, ALL_POINTS // max(len(lines), 1)))
    below = y.log and any(p < y.low for line in lines for _, p in line.points)
    note = " (logarithmic; smaller ones lie on the axis)" if below else " (logarithmic)"
    return render(
        "line_chart.html",
        title=title,
        words=words,
        x_name=x_name,
        y_name=y_name,
        y_note=note if y.log else "",
        side=SIDE,
        grid="".join(f"M0 {_down(y, tick)}H{SIDE}" for tick in y.ticks),
        paths=[(line, _path(line, x, y, most)) for line in lines if line.points],
        upright=upright,
        upright_at=x.share(upright.x) if upright else None,
        x_ticks=_ticks(x),
        y_ticks=[(share, words, False) for share, words, _ in _ticks(y)],
    )


def strip_chart(
    title: str, groups: Sequence[tuple[str, Sequence[Strip]]], x_name: str, percent: bool = True
) -> Markup:
    """Rows of dots, one dot per split, below each other on one axis.

    Args:
        title: heading.
        groups: (name, rows); the name is a heading above its rows.
        x_name: of the axis.
        percent: whether to show values times 100.
    """
    factor = 100 if percent else 1
    shown = [factor * v for _, strips in groups for strip in strips for _, v in strip.dots]
    x = scale_of(shown, ticks=4, within=PERCENT if percent else None)
    rows = [(name, [_strip(strip, x, factor) for strip in strips]) for name, strips in groups]
    return render(
        "strip_chart.html",
        title=title,
        groups=rows,
        x_name=x_name,
        x_ticks=_ticks(x),
        colours=COLOURS,
    )


def _strip(strip: Strip, x: Scale, factor: int) -> dict[str, object]:
    values = [factor * value for _, value in strip.dots]
    words = (
        f"{strip.name}: {len(values)} splits, from {number(min(values))} to "
        f"{number(max(values))}, mean {number(factor * strip.mean)}"
    )
    dots = [
        (split, x.share(value), number(value, 4))
        for (split, _), value in zip(strip.dots, values, strict=True)
    ]
    mean = x.share(factor * strip.mean)
    return {"name": strip.name, "kind": strip.kind, "words": words, "dots": dots, "mean": mean}


def _ticks(scale: Scale) -> list[tuple[float, str, bool]]:
    """(position, label, whether a centred label would leave the narrowest plot)."""
    shown = zip(map(scale.share, scale.ticks), tick_words(scale), strict=True)
    return [(share, words, share > 1 - len(words) / CHARACTERS) for share, words in shown]


def _path(line: Line, x: Scale, y: Scale, most: int) -> str:
    (first, *rest) = [(_units(x.share(a)), _down(y, b)) for a, b in thinned(line.points, most)]
    moves = "".join(f"H{a}V{b}" if line.steps else f"L{a} {b}" for a, b in rest)
    return f"M{first[0]} {first[1]}{moves or 'h1'}"


def _units(share: float) -> int:
    return round(SIDE * share)


def _down(scale: Scale, value: float) -> int:
    return SIDE - _units(scale.share(value))
