"""Bit-parallel comparisons of strings: against rapidfuzz, in both directions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from rapidfuzz.distance import JaroWinkler, Levenshtein

from supclust.data.records.compare.strings import (
    LONGEST,
    clear_pattern,
    common_prefix,
    edit_distance,
    is_substring,
    jaro_winkler,
    set_pattern,
)

strings = st.one_of(
    st.text("ab", max_size=LONGEST),
    st.text("abcdefgh ", max_size=LONGEST),
    st.integers(0, LONGEST).map(lambda n: "ab" * (n // 2)),
)


def compared(a: str, b: str) -> tuple[int, float, bool]:
    chars = np.array([ord(letter) for letter in a + b], np.uint32)
    masks = np.zeros(128, np.int64)
    n, end = len(a), len(a) + len(b)
    set_pattern(chars, 0, n, masks)
    distance = edit_distance(masks, n, chars, n, end)
    prefix = common_prefix(chars, 0, n, n, end)
    alike = jaro_winkler(masks, n, chars, n, end, prefix)
    clear_pattern(chars, 0, n, masks)
    assert not masks.any()
    return distance, alike, is_substring(chars, 0, n, n, end)


@settings(max_examples=400, deadline=None)
@given(strings, strings)
@example("a" * 64, "a" * 63 + "b")
@example("martha", "marhta")
@example("", "a")
@example("ab" * 32, "ba" * 32)
def test_against_rapidfuzz(a: str, b: str) -> None:
    distance, alike, inside = compared(a, b)
    assert distance == Levenshtein.distance(a, b)
    assert alike == pytest.approx(JaroWinkler.similarity(a, b), abs=1e-12)
    assert inside == (bool(a and b) and (a in b or b in a))
    assert compared(b, a) == (distance, alike, inside)  # exactly symmetric
