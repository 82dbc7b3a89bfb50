"""Charts as HTML with inline SVG that fits any width without script: lines and strips of dots.

Lines are drawn in a picture that is stretched to its box, with lines that keep their width; dots
and text have places in percent, so that they are not stretched.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from supclust.report.axes import PERCENT, Scale, number, scale_of, thinned, tick_words
from supclust.report.escape import text

SIDE = 1000
"""Units along either side of a stretched picture."""
MOST_POINTS, FEWEST_POINTS, ALL_POINTS = 160, 40, 6000
"""Of one line, where there are few or many, and of all lines of a chart: more are not seen."""
SHAPES = (
    "M-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0 -9 0Z",
    "M-4 -4H4V4H-4Z",
    "M0 -5L5 4H-5Z",
    "M0 -5.8L5.8 0L0 5.8L-5.8 0Z",
    "M0 5L5 -4H-5Z",
    "M-5.5 -2H-2V-5.5H2V-2H5.5V2H2V5.5H-2V2H-5.5Z",
    "M-5 -5H-1.6L0 -2.8L1.6 -5H5L2 0L5 5H1.6L0 2.8L-1.6 5H-5L-2 0Z",
)
"""Outlines of markers around (0, 0), told apart without colour."""
COLOURS = 10
CHARACTERS = 65
"""Of tick labels: twice as many as fit side by side below the narrowest plot."""


@dataclass(frozen=True)
class Line:
    """One line of a chart.

    Attributes:
        name: shown when pointed at.
        points: (x, y), x ascending.
        style: CSS class.
        split: that it belongs to, to be found again in other charts.
        steps: whether y stays until the next x, or moves there straight.
    """

    name: str
    points: Sequence[tuple[float, float]]
    style: str
    split: int | None = None
    steps: bool = False


@dataclass(frozen=True)
class Upright:
    """A vertical line at a number, with a few words at its top."""

    x: float
    words: str


def symbols() -> str:
    """The markers, once per page; charts refer to them."""
    shapes = "".join(f'<path id="m{i}" d="{d}"/>' for i, d in enumerate(SHAPES))
    return f'<svg class="symbols" aria-hidden="true"><defs>{shapes}</defs></svg>'


def marker(index: int) -> str:
    """A marker on its own, for a legend."""
    shape, colour = index % len(SHAPES), index % COLOURS
    return (
        f'<svg class="marker k{colour}" viewBox="-7 -7 14 14" aria-hidden="true">'
        f'<use href="#m{shape}"/></svg>'
    )


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
) -> str:
    """A chart of lines.

    Args:
        title: heading.
        lines: to be drawn, later ones above.
        x_name: what the horizontal axis is.
        y_name: what the vertical axis is.
        words: what can be seen, as a sentence for those who cannot.
        upright: a vertical line.
        log: whether the vertical axis is logarithmic; ``None``: where that helps.
        y_range: ends of the vertical axis; default: those of the lines.
        y_within: ends that it does not pass, as for percent.
    """
    marks = [upright.x] if upright else []
    x = scale_of([p for line in lines for p, _ in line.points] + marks, ticks=4)
    heights = y_range or [p for line in lines for _, p in line.points]
    y = scale_of(heights, log=log, ticks=4, within=y_within)
    grid = "".join(f"M0 {_down(y, tick)}H{SIDE}" for tick in y.ticks)
    most = min(MOST_POINTS, max(FEWEST_POINTS, ALL_POINTS // max(len(lines), 1)))
    drawn = "".join(_path(line, x, y, most) for line in lines)
    note = ""
    if upright:
        place = x.share(upright.x)
        drawn += f'<path class="upright" d="M{_units(place)} 0V{SIDE}"/>'
        side = "right" if place > 0.5 else "left"
        offset = 100 * (1 - place if place > 0.5 else place)
        where = f"{side}:{offset:.1f}%"
        note = f'<span class="flag" style="{where}">{text(upright.words)}</span>'
    below = y.log and any(p < y.low for line in lines for _, p in line.points)
    scale = " (logarithmic; smaller ones lie on the axis)" if below else ""
    scale = scale or (" (logarithmic)" if y.log else "")
    return (
        f'<figure class="chart"><h4>{text(title)}</h4>'
        f'<p class="y-name">{text(y_name)}{scale}</p><div class="plot">'
        f'<div class="y-ticks" aria-hidden="true">{_ticks(y, "bottom")}</div>'
        f'<div class="box"><svg class="lines" role="img" aria-label="{text(title)}: {text(words)}" '
        f'viewBox="0 0 {SIDE} {SIDE}" preserveAspectRatio="none">'
        f'<path class="grid" d="{grid}"/>{drawn}</svg>{note}</div>'
        f'<div class="x-ticks" aria-hidden="true">{_ticks(x, "left")}</div>'
        f'<p class="x-name">{text(x_name)}</p></div>'
        f"<figcaption>{text(words)}</figcaption></figure>"
    )


@dataclass(frozen=True)
class Strip:
    """One row of dots.

    Attributes:
        name: of the row.
        kind: its marker.
        dots: (split, number).
        mean: drawn as a bar.
    """

    name: str
    kind: int
    dots: Sequence[tuple[int, float]]
    mean: float


def strip_chart(
    title: str, groups: Sequence[tuple[str, Sequence[Strip]]], x_name: str, percent: bool = True
) -> str:
    """Rows of dots, one dot per split, below each other on one axis.

    Args:
        title: heading.
        groups: (name, rows); a name stands above its rows.
        x_name: what the axis is.
        percent: whether to show numbers times 100.
    """
    factor = 100 if percent else 1
    shown = [factor * v for _, strips in groups for strip in strips for _, v in strip.dots]
    x = scale_of(shown, ticks=4, within=PERCENT if percent else None)
    body = "".join(
        f'<div class="strip-group"><h5>{text(name)}</h5>'
        + "".join(_strip(name, strip, x, factor) for strip in strips)
        + "</div>"
        for name, strips in groups
    )
    return (
        f'<figure class="chart strips"><h4>{text(title)}</h4>{body}'
        f'<div class="strip axis" aria-hidden="true"><span></span>'
        f'<div class="x-ticks">{_ticks(x, "left")}</div></div>'
        f'<p class="x-name">{text(x_name)}</p></figure>'
    )


def _strip(group: str, strip: Strip, x: Scale, factor: int) -> str:
    values = [factor * value for _, value in strip.dots]
    words = (
        f"{group}, {strip.name}: {len(values)} splits, from {number(min(values))} to "
        f"{number(max(values))}, mean {number(factor * strip.mean)}"
    )
    dots = "".join(
        f'<use href="#m{strip.kind % len(SHAPES)}" x="{100 * x.share(value):.1f}%" '
        f'y="{11 + 2 * (split % 3 - 1)}" data-split="{split}">'
        f"<title>split {split}: {number(value, 4)}</title></use>"
        for (split, _), value in zip(strip.dots, values, strict=True)
    )
    mean = f"{100 * x.share(factor * strip.mean):.1f}%"
    grid = "".join(
        f'<line class="grid" x1="{100 * x.share(t):.1f}%" x2="{100 * x.share(t):.1f}%" y2="22"/>'
        for t in x.ticks
    )
    return (
        f'<div class="strip"><span class="strip-name">{text(strip.name)}</span>'
        f'<svg class="dots k{strip.kind % COLOURS}" role="img" aria-label="{text(words)}">{grid}'
        f'{dots}<line class="mean" x1="{mean}" x2="{mean}" y1="2" y2="20"/></svg></div>'
    )


def _ticks(scale: Scale, side: str) -> str:
    shown = ""
    for tick, words in zip(scale.ticks, tick_words(scale), strict=True):
        place = scale.share(tick)
        # Centred there, it would stick out of the narrowest plot, and on a phone out of the page.
        end = ' class="end"' if side == "left" and place > 1 - len(words) / CHARACTERS else ""
        shown += f'<span{end} style="{side}:{100 * place:.1f}%">{words}</span>'
    return shown


def _path(line: Line, x: Scale, y: Scale, most: int) -> str:
    points = thinned(line.points, most)
    if not points:
        return ""
    places = [(_units(x.share(a)), _down(y, b)) for a, b in points]
    moves = "".join(f"H{a}V{b}" if line.steps else f"L{a} {b}" for a, b in places[1:])
    split = "" if line.split is None else f' data-split="{line.split}"'
    start = f"M{places[0][0]} {places[0][1]}"
    return (
        f'<path class="{text(line.style)}"{split} d="{start}{moves or "h1"}">'
        f"<title>{text(line.name)}</title></path>"
    )


def _units(share: float) -> int:
    return round(SIDE * share)


def _down(scale: Scale, value: float) -> int:
    return SIDE - _units(scale.share(value))
