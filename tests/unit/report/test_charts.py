"""Charts: places on their axes, text alternatives, and names that are markup."""

from __future__ import annotations

import math
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from report_pages import ATTACK, Page
from supclust.report.charts import SIDE, Line, Strip, Upright, line_chart, strip_chart
from supclust.report.scale import PERCENT, Scale, number, scale_of, thinned, tick_words

FINITE = st.floats(-1e9, 1e9)


@given(st.lists(FINITE, min_size=1), st.sampled_from([False, None]))
def test_an_axis_has_room_for_every_value_and_rising_ticks(
    values: list[float], log: bool | None
) -> None:
    scale = scale_of(values, log=log)
    assert scale.low < scale.high
    assert all(0 <= scale.share(value) <= 1 for value in values)
    assert list(scale.ticks) == sorted(set(scale.ticks)) and len(scale.ticks) >= 2
    room = 1e-9 * (scale.high - scale.low)
    assert all(scale.low - room <= tick <= scale.high + room for tick in scale.ticks)


@given(st.lists(st.integers(-(10**6), 10**6), min_size=2, unique=True))
def test_a_linear_axis_keeps_proportions(values: list[int]) -> None:
    scale, low, high = scale_of(values), min(values), max(values)
    for value in values:
        assert scale.share(value) == pytest.approx((value - low) / (high - low), abs=1e-9)


def test_values_of_a_wide_range_get_a_logarithmic_axis_with_zero_at_its_end() -> None:
    scale = scale_of([0.0, 1e-2, 1.0, 100.0], log=None)
    assert scale == Scale(0.01, 100.0, True, (0.01, 0.1, 1.0, 10.0, 100.0))
    assert scale.share(1.0) == pytest.approx(0.5)
    assert scale.share(0.0) == 0.0


def test_infinite_values_do_not_break_an_axis() -> None:
    assert scale_of([math.inf, 1.0, 3.0]).high == 3.0
    assert scale_of([]).ticks == (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
    assert number(-math.inf) == "−∞"


@pytest.mark.parametrize("value", [0.0, 3.0, 97.0, 100.0])
def test_an_axis_of_percent_ends_where_percent_do(value: float) -> None:
    scale = scale_of([value, value], ticks=4, within=PERCENT)
    assert 0 <= scale.low < scale.high <= 100
    assert scale.low <= value <= scale.high and len(scale.ticks) >= 2
    strips = [("mst", [Strip("exp", 3, [(0, value / 100)], value / 100)])]
    assert max(shown_ticks(strip_chart("purity", strips, "%"))) <= 100


@given(st.lists(FINITE, min_size=1))
@example([95.0, 105.0])  # 102.5 is no 102
@example([100_000.0, 100_001.0])
def test_labels_of_ticks_are_the_ticks(values: list[float]) -> None:
    scale = scale_of(values)
    for tick, words in zip(scale.ticks, tick_words(scale), strict=True):
        assert float(words.replace("−", "-")) == pytest.approx(tick, rel=1e-9)


def shown_ticks(chart: str) -> list[float]:
    """Numbers along the axes of a chart."""
    return [float(n.replace("−", "-")) for n in re.findall(r'%">([−\d.e]+)</span>', chart)]


def test_only_a_label_at_the_end_of_a_plot_ends_there() -> None:
    line = Line("loss", [(0, 1.0), (1000, 2.0)], "line")
    chart = line_chart("loss", [line], x_name="epoch", y_name="loss", words="It rises.")
    assert '<span class="end" style="left:100.0%">1000</span>' in chart
    assert chart.count('class="end"') == 1


@given(st.lists(st.tuples(st.integers(0, 9), st.floats(-5, 5)), max_size=300))
def test_thinning_keeps_ends_and_extremes(points: list[tuple[float, float]]) -> None:
    kept = thinned(points, 40)
    assert len(kept) <= max(40, 0)
    if points:
        heights = [y for _, y in points]
        assert (kept[0], kept[-1]) == (points[0], points[-1])
        assert {min(heights), max(heights)} <= {y for _, y in kept}


def test_a_line_is_drawn_where_its_numbers_are() -> None:
    line = Line("falling", [(0, 1.0), (5, 0.5), (10, 0.0)], "line")
    chart = line_chart("loss", [line], x_name="epoch", y_name="loss", words="It falls.")
    assert f"M0 0L{SIDE // 2} {SIDE // 2}L{SIDE} {SIDE}" in chart


def test_a_curve_of_steps_holds_its_value_until_the_next_place() -> None:
    line = Line("f1", [(0, 0.0), (5, 1.0), (10, 0.5)], "line", steps=True)
    chart = line_chart("cut", [line], x_name="height", y_name="F1", words="Steps.")
    assert f"M0 {SIDE}H{SIDE // 2}V0H{SIDE}V{SIDE // 2}" in chart


def test_every_chart_says_in_words_what_it_shows() -> None:
    lines = line_chart("loss", [], x_name="epoch", y_name="loss", words="Nothing was drawn.")
    page = Page(lines)
    assert page.all("svg")[0]["aria-label"] == "loss: Nothing was drawn."
    strips = strip_chart("purity", [("mst", [Strip("exp", 3, [(0, 0.5), (1, 0.9)], 0.7)])], "%")
    labels = [svg["aria-label"] for svg in Page(strips).all("svg")]
    assert labels == ["mst, exp: 2 splits, from 50 to 90, mean 70"]
    dots = re.findall(r'x="([\d.]+)%" y="\d+" data-split="(\d)"', strips)
    assert dots == [("0.0", "0"), ("100.0", "1")]


def test_names_in_charts_are_escaped() -> None:
    line = Line(ATTACK, [(0, 1.0), (1, 2.0)], "line")
    chart = line_chart(
        ATTACK, [line], x_name=ATTACK, y_name=ATTACK, words=ATTACK, upright=Upright(0.5, ATTACK)
    )
    strips = strip_chart(ATTACK, [(ATTACK, [Strip(ATTACK, 0, [(0, 0.5)], 0.5)])], ATTACK)
    for page in (Page(chart), Page(strips)):
        assert not page.all("script") and not page.all("img")
        assert ATTACK in page.text
