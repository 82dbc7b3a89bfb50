"""Comparisons of records: against rapidfuzz and plain Python, missing values, and JSON."""

from __future__ import annotations

import itertools
import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rapidfuzz.distance import JaroWinkler, Levenshtein

from supclust.data.errors import DataError
from supclust.data.records.comparisons import Comparison, RecordComparisons
from supclust.data.records.encode.text import code_form, list_form, text_form
from supclust.data.records.features import FEATURES
from supclust.data.records.learning import learn_comparisons, pairs_of_blocks

NAMES = ["Ann Li", "ann  LI!", "Li, Ann", None, "Bob", "José García", "jose garcia", " ", "B",
         "x" * 90, "x" * 63 + "y" * 40]  # fmt: skip
AGES = np.array([20.0, 30, np.nan, 19, 20, 0, 5, -20, 19, 0, 1e308])
DATES = ["1990-12-01", "1/12/1990", "1990-01-12", None, "1991", "Dec 1, 1990", "soon", "12/13/1990",
         "", "1990-12", "19901202"]  # fmt: skip
CODES = ["AB-12", "ab12", "ab13", None, "0012", "12", "b", "", "ab", "9", "ab12345"]
LISTS = ["a; b", "b|A", "c", None, "a b;c", ";", "", "a\x1fb\x1fc", "b", "d", "c;a"]
PLACES = ["48.1, 11.5", "48.1;11.5", "-33.9 151.2", None, "0,0", "0, 180", "100,5", "x", "",
          "1,1", "2,2"]  # fmt: skip
COLUMNS = {"name": NAMES, "age": AGES, "born": DATES, "code": CODES, "tags": LISTS, "at": PLACES}
KINDS = {"name": "text", "age": "number", "born": "date", "code": "code", "tags": "list",
         "at": "coordinates"}  # fmt: skip
ALL = np.array(list(itertools.combinations(range(len(NAMES)), 2))).T


def values(column: str, kind: str, name: str) -> dict[tuple[int, int], float]:
    """One feature of all pairs, NaN where a value is missing."""
    one = RecordComparisons((Comparison(column, kind, (name,)),))  # type: ignore[arg-type]
    found = one.features(one.encode(COLUMNS), *ALL, nan=True)[:, 0]
    return {(i, j): float(v) for (i, j), v in zip(ALL.T.tolist(), found, strict=True)}


def windows(form: str) -> set[str]:
    return {f" {form} "[k : k + 3] for k in range(len(form))}


ORACLES = {
    "same text": lambda a, b: a == b,
    "shared words": lambda a, b: len({*a.split()} & {*b.split()}) / len({*a.split(), *b.split()}),
    "similar spelling": lambda a, b: (
        2 * len(windows(a) & windows(b)) / (len(windows(a)) + len(windows(b)))
    ),
    "Jaro-Winkler": lambda a, b: JaroWinkler.similarity(a[:64], b[:64]),
    "edit similarity": lambda a, b: Levenshtein.normalized_similarity(a[:64], b[:64]),
    "one contains the other": lambda a, b: a[:64] in b[:64] or b[:64] in a[:64],
    "common prefix": lambda a, b: (
        len([*itertools.takewhile(lambda p: p[0] == p[1], zip(a[:64], b[:64]))])  # noqa: B905
        / min(len(a[:64]), len(b[:64]))
    ),
}


@pytest.mark.parametrize("name", ORACLES)
def test_text_features_are_those_of_the_definitions(name: str) -> None:
    forms = [text_form(value) if value else "" for value in NAMES]
    for (i, j), value in values("name", "text", name).items():
        if forms[i] and forms[j]:
            expected = ORACLES[name](forms[i], forms[j])
            assert value == pytest.approx(float(expected), abs=1e-6), (NAMES[i], NAMES[j])
        else:
            assert math.isnan(value)


def test_codes_are_compared_without_marks_between() -> None:
    forms = [code_form(value) if value else "" for value in CODES]
    for (i, j), value in values("code", "code", "edit similarity").items():
        if forms[i] and forms[j]:
            assert value == pytest.approx(Levenshtein.normalized_similarity(forms[i], forms[j]))
    assert values("code", "code", "same code")[0, 1] == 1.0


def test_lists_are_compared_as_sets_of_elements() -> None:
    sets = [{*list_form(value).split("\x1f")} - {""} if value else set() for value in LISTS]
    for (i, j), value in values("tags", "list", "shared elements").items():
        if sets[i] and sets[j]:
            assert value == pytest.approx(len(sets[i] & sets[j]) / len(sets[i] | sets[j]))
        else:
            assert math.isnan(value)
    assert values("tags", "list", "elements of one in the other")[0, 7] == 1.0


def test_dates_in_different_forms() -> None:
    assert values("born", "date", "difference in days")[0, 1] == 0.0
    assert values("born", "date", "same date")[0, 5] == 1.0
    day = values("born", "date", "difference in days")[0, 10]
    assert day == pytest.approx(np.log1p(1) / np.log1p(36525))
    assert values("born", "date", "day and month swapped")[0, 2] == 1.0
    assert values("born", "date", "day and month swapped")[0, 5] == 0.0
    assert values("born", "date", "same year")[0, 4] == 0.0
    assert math.isnan(values("born", "date", "same month")[0, 4])  # 1991 has no month
    assert values("born", "date", "same month")[0, 9] == 1.0
    assert math.isnan(values("born", "date", "same day")[0, 9])
    assert math.isnan(values("born", "date", "same year")[0, 6])  # "soon" is no date
    assert values("born", "date", "similar digits")[0, 10] == pytest.approx(7 / 8)


def test_numbers_and_places() -> None:
    assert values("age", "number", "difference")[0, 1] == 10.0
    assert values("age", "number", "relative difference")[0, 1] == pytest.approx(1 / 3)
    assert values("age", "number", "relative difference")[5, 9] == 0.0
    assert values("age", "number", "equal")[0, 4] == 1.0
    assert values("age", "number", "relative difference")[0, 7] == 1.0
    assert values("at", "coordinates", "distance")[0, 1] == 0.0
    half = values("at", "coordinates", "distance")[4, 5]
    assert half == pytest.approx(1.0, abs=1e-3)  # half the circumference
    degree = values("at", "coordinates", "distance")[4, 9]
    assert degree == pytest.approx(np.log1p(157.2) / np.log1p(20015), abs=1e-3)


def test_rare_values_count_more() -> None:
    names = (
        ["smith"] * 60
        + [f"name{i}" for i in range(30)]
        + ["zorn", "zorn", "smith zorn", "smith li"]
    )
    left, right = np.array([0, 90, 92, 92]), np.array([1, 91, 0, 90])
    made = learn_comparisons({"n": "text"}, {"n": names}, left, right)
    found = made.features(made.encode({"n": names}), left, right)
    by_name = dict(zip(made.feature_names, found.T, strict=True))
    common, rare = by_name["n: rarity of the shared text"][:2]
    assert 0 < common < rare <= 1
    plain = made.feature_names
    assert "n: shared rare words" not in plain  # 2 of 94 values have several words
    several = names + ["a b"] * 10
    made = learn_comparisons({"n": "text"}, {"n": several}, left, right)
    found = made.features(made.encode({"n": several}), left, right)
    by_name = dict(zip(made.feature_names, found.T, strict=True))
    with_smith, with_zorn = by_name["n: shared rare words"][2:]
    assert with_smith < with_zorn


@pytest.mark.parametrize(("kind", "separator"), [("text", " "), ("document", " "), ("list", ";")])
def test_the_rarest_shared_word_is_that_of_the_definition(kind: str, separator: str) -> None:
    rng = np.random.default_rng(0)
    words = [f"w{k}" for k in range(12)]
    chance = np.arange(1, 13) / 78  # some words are rare
    sets = [{*rng.choice(words, rng.integers(1, 5), replace=False, p=chance)} for _ in range(60)]
    sets += sets[:3]  # the same value twice
    column = [separator.join(sorted(one)) for one in sets]
    pairs = np.triu_indices(len(column), 1)
    made = learn_comparisons({"c": kind}, {"c": column}, *pairs)  # type: ignore[dict-item]
    name = f"c: rarest shared {'element' if kind == 'list' else 'word'}"
    found = made.features(made.encode({"c": column}), *pairs)[:, made.feature_names.index(name)]
    n = len(sets)
    rarity = {
        w: np.log1p(n / sum(w in one for one in sets)) / np.log1p(n) for w in set().union(*sets)
    }
    for i, j, value in zip(*pairs, found, strict=True):
        expected = max((rarity[w] for w in sets[i] & sets[j]), default=0.0)
        assert value == pytest.approx(expected, abs=2e-5)


texts = st.lists(st.one_of(st.none(), st.text(max_size=70), st.sampled_from(NAMES + DATES + CODES)),
                 min_size=2, max_size=6)  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(texts, st.sampled_from([kind for kind in FEATURES if kind != "number"]))
def test_features_are_symmetric_and_in_range(column: list[str | None], kind: str) -> None:
    left, right = np.triu_indices(len(column), 1)
    made = learn_comparisons({"c": kind}, {"c": column}, left, right)  # type: ignore[dict-item]
    records = made.encode({"c": column})
    one, two = (made.features(records, *pair) for pair in ((left, right), (right, left)))
    assert (one == two).all()
    assert ((one >= 0) & (one <= 1)).all()
    again = made.encode({"c": column[::-1]})  # the order of the records does not matter
    last = len(column) - 1
    assert (made.features(again, last - left, last - right) == one).all()


def test_missing_values_are_flagged_and_neutral() -> None:
    made = learn_comparisons(KINDS, COLUMNS, *ALL)  # type: ignore[arg-type]
    records = made.encode(COLUMNS)
    found = dict(zip(made.feature_names, made.features(records, *ALL).T, strict=True))
    with_nan = dict(zip(made.feature_names, made.features(records, *ALL, nan=True).T, strict=True))
    unknown = np.array([bool({i, j} & {3, 7}) for i, j in ALL.T.tolist()])
    assert (found["name: missing"] == unknown).all()
    both = [{i, j} == {3, 7} for i, j in ALL.T.tolist()]
    assert (found["name: both missing"] == both).all()
    for name, values in found.items():
        absent = np.isnan(with_nan[name])
        assert np.isfinite(values).all()
        if "missing" not in name and absent.any() and not absent.all():
            assert values[absent] == pytest.approx(values[~absent].mean(), abs=1e-6)
        assert (values[~absent] == with_nan[name][~absent]).all()


def test_nothing_missing_in_training_gives_no_indicator() -> None:
    pair = np.array([0]), np.array([1])
    made = learn_comparisons({"n": "number"}, {"n": np.array([1.0, 3.0])}, *pair)
    assert made.feature_names == ("n: difference", "n: relative difference", "n: equal")
    assert made.comparisons[0].spread == 1.0  # the standard deviation of 1 and 3
    later = made.features(made.encode({"n": np.array([1.0, np.nan])}), *pair)
    assert np.isfinite(later).all()


def test_all_pairs_of_a_block_are_in_condensed_order() -> None:
    made = learn_comparisons(KINDS, COLUMNS, *pairs_of_blocks([np.arange(11)]))  # type: ignore[arg-type]
    records = made.encode(COLUMNS)
    rows = np.array([5, 0, 1, 8])
    pairs = np.array(list(itertools.combinations(rows.tolist(), 2))).T
    assert (made.block_features(records, rows) == made.features(records, *pairs)).all()


def test_several_text_columns_do_not_mix() -> None:
    columns = {"a": ["x y", "x z"], "b": ["y q", "x y"]}
    both = RecordComparisons((Comparison("a", "text"), Comparison("b", "text")))
    alone = RecordComparisons((Comparison("b", "text"),))
    b = alone.block_features(alone.encode(columns), np.arange(2))
    found = both.block_features(both.encode(columns), np.arange(2))
    assert found[0, len(FEATURES["text"]) :] == pytest.approx(b[0])


def test_features_of_version_0_1() -> None:
    stored = [
        {"column": "t", "kind": "text", "missing": True, "neutral": [0.1, 0.2, 0.3], "spread": 1.0,
         "features": ["t: same text", "t: shared words", "t: similar spelling", "t: missing"]},
        {"column": "y", "kind": "number", "missing": False, "neutral": [0.0], "spread": 2.0,
         "features": ["y: difference"]},
    ]  # fmt: skip
    made = RecordComparisons.from_json(stored)
    columns = {"t": ["Ann Li", "Li, Ann", None], "y": np.array([2001.0, 2003.0, 2001.0])}
    found = made.block_features(made.encode(columns), np.arange(3))
    assert found[0, :4] == pytest.approx(
        [0, 1, len(windows("ann li") & windows("li ann")) * 2 / 12, 0]
    )
    assert found[1] == pytest.approx([0.1, 0.2, 0.3, 1, 0])
    assert found[0, 4] == 1.0


def test_comparisons_survive_json() -> None:
    made = learn_comparisons(KINDS, COLUMNS, *ALL)  # type: ignore[arg-type]
    made = made.with_opposed(list(KINDS)[:1])
    again = RecordComparisons.from_json(json.loads(json.dumps(made.to_json())))
    assert again == made
    one, two = (c.features(c.encode(COLUMNS), *ALL) for c in (made, again))
    assert (one == two).all()


def test_an_opposed_column_has_no_direction() -> None:
    made = RecordComparisons((Comparison("a", "code"), Comparison("b", "code")))
    assert set(made.directions) == {1}
    half = len(made.directions) // 2
    assert made.with_opposed(["b"]).directions == (1,) * half + (0,) * half


@pytest.mark.parametrize(
    ("key", "value"),
    [("kind", "colour"), ("neutral", [1.0]), ("neutral", [math.nan] * 10), ("spread", 0),
     ("features", ["n: x"]),
     ("values", {"total": 3}), ("values", {"total": 3, "other": 1, "hashes": "AAAA", "counts": ""}),
     ("column", None), ("order", "year first"), ("opposed", "yes"),
     ("form_version", 3)],
)  # fmt: skip
def test_damaged_comparisons_are_refused(key: str, value: object) -> None:
    stored = RecordComparisons((Comparison("n", "text"),)).to_json()
    stored[0][key] = value
    if value is None:
        del stored[0][key]
    with pytest.raises(DataError):
        RecordComparisons.from_json(stored)


def test_mistakes_are_refused() -> None:
    nothing = np.empty(0, np.int64)
    with pytest.raises(DataError, match="at least one column"):
        learn_comparisons({}, {}, nothing, nothing)
    with pytest.raises(DataError, match="kind must be one of text, document"):
        Comparison("a", "colour")  # type: ignore[arg-type]
    with pytest.raises(DataError, match="one length"):
        RecordComparisons((Comparison("a", "text"), Comparison("b", "text"))).encode(
            {"a": ["x"], "b": ["x", "y"]}
        )
