"""Nothing from data may become markup, script, or the end of either."""

from __future__ import annotations

import json
import math
from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from report_pages import ATTACK, CLUSTER, POINT
from supclust.report.escape import script_json, text


@given(st.text())
def test_text_comes_back_and_holds_no_markup(value: str) -> None:
    escaped = text(value)
    assert not set(escaped) & set("<>\"'")
    shown = "".join(c if c >= " " or c in "\n\t" else "\ufffd" for c in value)
    assert unescape(escaped) == shown.encode("utf-8", "replace").decode()


@given(st.recursive(st.text() | st.integers() | st.booleans() | st.none(), st.lists))
def test_json_comes_back_and_holds_nothing_that_html_or_script_reads(value: object) -> None:
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
