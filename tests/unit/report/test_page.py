"""Templates escape every value: no text from data becomes markup or script."""

from __future__ import annotations

import json
import math
from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from report_pages import ATTACK, CLUSTER, POINT, Page
from supclust.report.page import _environment, page, render


def text(value: str) -> str:
    return _environment().from_string("{{ value }}").render(value=value)


def script_json(value: object) -> str:
    return _environment().from_string("{{ value|tojson }}").render(value=value)


@given(st.text())
def test_text_is_preserved_and_holds_no_markup(value: str) -> None:
    escaped = text(value)
    assert not set(escaped) & set("<>\"'")
    shown = "".join(c if c >= " " or c in "\n\t" else "\ufffd" for c in value)
    assert unescape(escaped) == shown.encode("utf-8", "replace").decode()


@given(st.recursive(st.text() | st.integers() | st.booleans() | st.none(), st.lists))
def test_json_is_preserved_and_safe_in_a_script_element(value: object) -> None:
    written = script_json(value)
    assert not set(written) & set("<>&\u2028\u2029")
    assert json.loads(written) == value


@pytest.mark.parametrize("value", [ATTACK, CLUSTER, POINT, "<!--<script>"])
def test_hostile_names_do_not_end_the_script_element(value: str) -> None:
    written = script_json({value: [value]})
    assert "</" not in written and "<!--" not in written
    assert json.loads(written) == {value: [value]}


def test_numbers_that_json_lacks_become_null() -> None:
    assert script_json([1.5, math.nan, math.inf, (-math.inf,)]) == "[1.5,null,null,[null]]"


def test_titles_and_headings_are_escaped_and_sections_are_not() -> None:
    content = render("failures.html", failed=[], unreadable=[ATTACK])
    made = Page(page(ATTACK, ATTACK, [("all", ATTACK, content)]))
    assert len(made.all("script")) == 1 and not made.all("img")
    assert made.text.count(ATTACK) == 6  # title, h1, lead, link, h2, path
    assert [code for code, _ in made.elements if code == "code"] == ["code"]


def test_a_missing_value_is_an_error() -> None:
    from jinja2 import UndefinedError

    with pytest.raises(UndefinedError, match="failed"):
        render("failures.html", unreadable=[])
