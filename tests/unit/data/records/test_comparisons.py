"""Comparisons of records: against plain Python, on missing values, and through JSON."""

from __future__ import annotations

import itertools
import json
import re

import numpy as np
import pytest

from supclust.data.errors import DataError
from supclust.data.records.comparisons import Comparison, RecordComparisons, learn_comparisons
from supclust.data.records.text_encoding import encode_text, letter_triples, normal_words

NAMES = ["Ann Li", "ann  LI!", "Li, Ann", None, "Bob", "José García", "jose garcia", " ", "B"]
YEARS = np.array([2001.0, 2003.0, np.nan, 1990.0, 2001.0, 2001.0, 5.0, 2000.0, 1999.0])


def plain_words(text: str) -> set[str]:
    text = text.replace("é", "e").replace("í", "i").lower()
    return set(re.findall(r"[a-z0-9]+", text))


def plain_features(a: str, b: str) -> list[float]:
    """Features of two texts by the definitions, with sets."""
    forms = [" ".join(re.findall(r"[a-z0-9]+", t.replace("é", "e").replace("í", "i").lower()))
             for t in (a, b)]  # fmt: skip
    one, two = plain_words(a), plain_words(b)
    windows = []
    for form in forms:
        padded = f" {form} "
        windows.append({padded[i : i + 3] for i in range(len(padded) - 2)})
    dice = 2 * len(windows[0] & windows[1]) / (len(windows[0]) + len(windows[1]))
    return [float(forms[0] == forms[1]), len(one & two) / len(one | two), dice]


def test_features_are_those_of_the_definitions() -> None:
    both = RecordComparisons((Comparison("name", "text"), Comparison("year", "number", spread=2)))
    assert both.feature_names == (
        "name: same text", "name: shared words", "name: similar spelling", "year: difference"
    )  # fmt: skip
    records = both.encode({"name": NAMES, "year": YEARS})
    rows = np.array([5, 0, 1, 2, 6, 4, 8])
    found = both.features(records, rows)
    for place, (i, j) in enumerate(itertools.combinations(rows.tolist(), 2)):
        expected = plain_features(NAMES[i], NAMES[j])  # type: ignore[arg-type]
        assert found[place, :3] == pytest.approx(expected, abs=1e-6), (NAMES[i], NAMES[j])
        gap = abs(YEARS[i] - YEARS[j]) / 2
        assert found[place, 3] == pytest.approx(0.0 if np.isnan(gap) else min(gap, 10.0))


def test_several_text_columns_do_not_mix() -> None:
    both = RecordComparisons((Comparison("a", "text"), Comparison("b", "text")))
    records = both.encode({"a": ["x y", "x z"], "b": ["y q", "x y"]})
    alone = RecordComparisons((Comparison("b", "text"),))
    b = alone.features(alone.encode({"b": ["y q", "x y"]}), np.arange(2))
    assert both.features(records, np.arange(2))[0, 3:] == pytest.approx(b[0])


def test_missing_values_are_flagged_and_neutral() -> None:
    kinds = {"name": "text", "year": "number"}
    made = learn_comparisons(kinds, {"name": NAMES, "year": YEARS}, [np.arange(9)])
    assert made.feature_names[3] == "name: missing" and made.feature_names[5] == "year: missing"
    found = made.features(made.encode({"name": NAMES, "year": YEARS}), np.arange(9))
    pairs = list(itertools.combinations(range(9), 2))
    unknown = np.array([bool({i, j} & {3, 7}) for i, j in pairs])
    assert (found[:, 3] == unknown).all()
    # What is not known has the average of what is.
    for feature in range(3):
        expected = found[~unknown, feature].mean()
        assert found[unknown, feature] == pytest.approx(expected, abs=1e-6)
    assert (found[:, 5] == [2 in pair for pair in pairs]).all()


def test_nothing_missing_in_training_gives_no_indicator() -> None:
    made = learn_comparisons({"n": "number"}, {"n": np.array([1.0, 3.0])}, [np.arange(2)])
    assert made.feature_names == ("n: difference",)
    assert made.comparisons[0].spread == 1.0  # the standard deviation of 1 and 3
    later = made.features(made.encode({"n": np.array([1.0, np.nan])}), np.arange(2))
    assert np.isfinite(later).all()


def test_comparisons_survive_json() -> None:
    kinds = {"name": "text", "year": "number"}
    made = learn_comparisons(kinds, {"name": NAMES, "year": YEARS}, [np.arange(9)])
    again = RecordComparisons.from_json(json.loads(json.dumps(made.to_json())))
    assert again == made


def test_mistakes_are_refused() -> None:
    with pytest.raises(DataError, match="at least one column"):
        learn_comparisons({}, {}, [np.arange(2)])
    with pytest.raises(DataError, match="kind must be text or number"):
        Comparison("a", "date")  # type: ignore[arg-type]
    with pytest.raises(DataError, match="one length"):
        RecordComparisons((Comparison("a", "text"), Comparison("b", "text"))).encode(
            {"a": ["x"], "b": ["x", "y"]}
        )


def test_texts_are_encoded_by_their_normal_form() -> None:
    found = encode_text(["A-b", "a b", None, "", "漢字", "漢字!"])
    assert found.code.tolist() == [0, 0, -1, -1, 1, 1]
    assert normal_words("x_y") == ["x", "y"]
    assert np.diff(letter_triples(["", "a", "aaaa", "abc"]).starts).tolist() == [0, 1, 3, 3]
