"""Candidate pairs against brute force, and the choice of rules."""

from itertools import combinations

import numpy as np
import pytest

from supclust.data.errors import DataError
from supclust.resolve.blocking.candidates import Candidates, largest_group
from supclust.resolve.blocking.choose import choose_rules
from supclust.resolve.blocking.keys import KeyColumn
from supclust.resolve.blocking.labelled_sample import labelled_pairs
from supclust.resolve.blocking.predicates import CHOICE, PARTS, PREDICATES
from supclust.resolve.blocking.rules import KeyTable, Predicate, Rule, parse_rules

NAMES = ["ann", "anna", "bob", "li", "smith", "smyth", "van der berg", "philip", "filip", None]


def table(n, seed=0):
    rng = np.random.default_rng(seed)
    name = [NAMES[k] for k in rng.integers(0, len(NAMES), n)]
    full = [None if a is None else f"{a} {NAMES[k] or ''}" for a, k in zip(
        name, rng.integers(0, len(NAMES), n), strict=True)]  # fmt: skip
    year, day = rng.integers(1950, 1960, n), rng.integers(1, 28, n)
    dates = [f"{y}-03-{d:02d}" for y, d in zip(year, day, strict=True)]
    codes = [None if k == 0 else f"{k:05d}" for k in rng.integers(0, 30, n)]
    columns = {
        "name": KeyColumn.of(name, "text"),
        "full": KeyColumn.of(full, "text"),
        "born": KeyColumn.of(dates, "date"),
        "zip": KeyColumn.of(codes, "code"),
    }
    return KeyTable(columns)


def keys_of(keys, i):
    return set(keys.items[keys.starts[i] : keys.starts[i + 1]].tolist())


def listed(candidates, size):
    pairs = [
        (int(a), int(b)) for left, right in candidates.chunks(size) for a, b in zip(
            left, right, strict=True)]  # fmt: skip
    assert len(pairs) == len(set(pairs)), "a pair was listed twice"
    assert all(a < b for a, b in pairs)
    return set(pairs)


@pytest.mark.parametrize("size", [1, 7, 1000])
@pytest.mark.parametrize("seed", range(3))
def test_the_pairs_are_those_of_brute_force(seed, size):
    keys = table(60, seed)
    text = "name & year(born), zip, word(full) & month(born), similar(full) & day(born) & zip"
    rules = parse_rules(text, list(keys.columns))
    expected = {
        (i, j)
        for i, j in combinations(range(keys.n), 2)
        if any(
            all(
                keys_of(keys.of(predicate), i) & keys_of(keys.of(predicate), j)
                for predicate in rule.predicates
            )
            for rule in rules
        )
    }
    candidates = Candidates.of(keys, rules)
    assert listed(candidates, size) == expected
    assert sum(candidates.counts) == len(expected)


def test_without_rules_all_pairs_are_candidates():
    assert listed(Candidates.of(table(20), ()), 13) == set(combinations(range(20), 2))


def test_keys_that_too_many_share_are_left_out_and_named():
    keys = KeyTable({"a": KeyColumn.of(["x"] * 10 + ["y", "y", "z"], "text")})
    candidates = Candidates.of(keys, parse_rules("a", ["a"]), largest=5)
    assert listed(candidates, 100) == {(10, 11)}
    (left_out,) = candidates.left_out
    assert str(left_out) == "a: 1 key that more than 5 records share (up to 10) left out"


def test_a_key_left_out_of_one_rule_counts_under_the_next():
    keys = KeyTable(
        {"a": KeyColumn.of(["x"] * 6, "text"), "b": KeyColumn.of(list("ppqqrs"), "text")}
    )
    candidates = Candidates.of(keys, parse_rules("a, b", ["a", "b"]), largest=5)
    assert listed(candidates, 100) == {(0, 1), (2, 3)}


@pytest.mark.parametrize(
    ("name", "kind", "one", "same", "other"),
    [
        ("equal", "text", "Ann Li", "ann  LI!", "ann l"),
        ("prefix3", "text", "smith", "smithson", "smyth"),
        ("first", "text", "ann li", "ann bo", "anna li"),
        ("last", "text", "ann li", "bo li", "li ann"),
        ("sorted", "text", "ann li", "Li, Ann", "li anna"),
        ("initials", "text", "ann li", "lars andersen", "ann bo"),
        ("sound", "text", "catherine", "kathryn", "robert"),
        ("digits", "code", "a12-3", "123", "124"),
        ("year", "date", "1990-12-01", "3/4/1990", "1991-12-01"),
        ("month", "date", "1990-12-01", "1991-12-05", "1990-11-01"),
        ("day", "date", "1990-12-01", "1991-11-01", "1990-12-02"),
        ("word", "text", "the quick fox", "slow fox", "hare"),
        ("word", "list", "a b;c", "c;d", "a;b"),
        ("words", "text", "a red fox runs", "no fox sits", "hare"),
        ("similar", "text", "christopher", "christopher", "wilhelmina"),
    ],
)
def test_predicates(name, kind, one, same, other):
    keys = PREDICATES[name](KeyColumn.of([one, same, other, None], kind))
    assert keys_of(keys, 0) & keys_of(keys, 1)
    assert not keys_of(keys, 0) & keys_of(keys, 2)
    assert not keys_of(keys, 3)


def test_rarest_words_are_the_rarest():
    texts = ["the fox", "the hare", "the old fox", "the old hare"]
    column = KeyColumn.of(texts, "text")
    keys = PREDICATES["rarest"](column)
    words = dict(zip(column.word_keys.tolist(), column.vocabulary, strict=True))
    chosen = [words[key] for key in keys.items.tolist()]
    assert chosen[:2] == ["fox", "hare"]
    assert "the" not in chosen


def test_words_are_the_eight_rarest_that_few_records_have():
    common = [f"common{k % 2} other{k}" for k in range(102)]  # 51 records each
    long = " ".join(f"pair{k}" for k in range(12))
    column = KeyColumn.of([*common, long, "common0 " + long], "text")
    keys = PREDICATES["words"](column)
    words = dict(zip(column.word_keys.tolist(), column.vocabulary, strict=True))
    assert {words[key] for key in keys_of(keys, 0)} == {"other0"}
    assert len(keys_of(keys, 102)) == 8
    assert keys_of(keys, 102) == keys_of(keys, 103)


@pytest.mark.parametrize(("name", "kind"), [
    (name, kind) for kind in ("text", "code", "date", "list") for name in CHOICE[kind]
])  # fmt: skip
def test_keys_depend_on_the_record_and_the_model_alone(name, kind):
    texts = ["3/4/1990", "the old fox", "1/25/1990", "fox;the", None, "dog 12", "the 1990"]
    whole = KeyColumn.of(texts, kind, "month first")
    known = {"counted": whole.frequencies}
    keys = PREDICATES[name](KeyColumn.of(texts, kind, "month first", **known))
    for k, text in enumerate(texts):
        alone = PREDICATES[name](KeyColumn.of([text], kind, "month first", **known))
        assert keys_of(alone, 0) == keys_of(keys, k)


def test_every_predicate_of_the_choice_exists():
    assert {name for names in CHOICE.values() for name in names} <= set(PREDICATES)


def duplicates(n, seed):
    """Records of n entities, three each; the name of one has a typo, the zip of another."""
    rng = np.random.default_rng(seed)
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))
    names = ["".join(rng.choice(letters, 8)) for _ in range(n)]
    zips = [f"{k:05d}" for k in rng.integers(0, 10**5, n)]
    name, code, labels = [], [], []
    for k in range(n):
        name += [names[k], names[k], "x" + names[k][1:]]
        code += [zips[k], f"{rng.integers(0, 10**5):05d}", zips[k]]
        labels += [k] * 3
    columns = {"name": KeyColumn.of(name, "text"), "zip": KeyColumn.of(code, "code")}
    return KeyTable(columns), np.array(labels)


def test_chosen_rules_reach_the_recall_that_they_state():
    keys, labels = duplicates(300, 0)
    predicates = [Predicate("name", p) for p in CHOICE["text"]] + [
        Predicate("zip", p) for p in CHOICE["code"]
    ]
    chosen = choose_rules(keys, predicates, labels, budget=20 * keys.n, target=0.99)
    assert chosen[-1].closure >= 0.99
    candidates = Candidates.of(keys, [one.rule for one in chosen])
    pairs = listed(candidates, 10_000)
    same = {(i, j) for i, j in pairs if labels[i] == labels[j]}
    assert len(same) / (3 * 300) == pytest.approx(chosen[-1].recall, abs=1e-9)
    assert len(pairs) <= sum(one.pairs for one in chosen)


def test_rules_of_other_columns_cover_pairs_a_second_time():
    keys, labels = duplicates(300, 0)
    predicates = [Predicate("name", "equal"), Predicate("name", "last"), Predicate("zip", "equal")]
    chosen = choose_rules(keys, predicates, labels, budget=1000 * keys.n, target=0.6)
    columns = [{p.column for p in one.rule.predicates} for one in chosen]
    assert columns[0] != columns[1]
    once = choose_rules(keys, predicates, labels, budget=1.1 * chosen[0].pairs, target=0.6)
    assert len(once) == 1 < len(chosen)


def test_rules_of_other_parts_of_one_column_cover_pairs_a_second_time():
    first, last = ("ann", "bob", "cid", "dan"), ("li", "wu", "xi", "yo")
    names = [f"{a} {b}" for a in first for b in last for _ in range(2)]
    names[1], names[-1] = "ann lo", "pan yo"  # an error at the end, another at the start
    keys = KeyTable({"name": KeyColumn.of(names, "text")})
    predicates = [Predicate("name", one) for one in ("first", "prefix3", "last")]
    chosen = choose_rules(keys, predicates, np.repeat(np.arange(16), 2), budget=1000, target=0.9)
    (one,), (other,) = ([PARTS[p.name] for p in rule.rule.predicates] for rule in chosen)
    assert {one, other} == {"start", "end"}


def test_an_equal_value_is_no_second_rule_beside_a_part_of_it():
    names = [f"{a}{b} {c}" for a in "abcd" for b in "wxyz" for c in ("li", "wu")]
    labels = np.repeat(np.arange(len(names)), 2)
    values = np.repeat(names, 2).tolist()
    values[1:8:2] = [value + "x" for value in values[1:8:2]]
    keys = KeyTable({"name": KeyColumn.of(values, "text")})
    predicates = [Predicate("name", one) for one in ("first", "equal")]
    chosen = choose_rules(keys, predicates, labels, budget=10_000, target=0.9999)
    assert [str(one.rule) for one in chosen] == ["first(name)"]


def test_rules_stay_within_the_budget():
    keys, labels = duplicates(100, 1)
    everything = [Predicate("name", "equal"), Predicate("zip", "equal")]
    chosen = choose_rules(keys, everything, labels, budget=130)
    assert sum(one.pairs for one in chosen) <= 130


def test_labelled_pairs_are_of_one_entity():
    labels = np.array([3, -1, 3, 0, 3, 0, -1])
    left, right, weight = labelled_pairs(labels, np.random.default_rng(0))
    assert weight.tolist() == [1] * 4
    assert {frozenset(p) for p in zip(left.tolist(), right.tolist(), strict=True)} == {
        *map(frozenset, [(0, 2), (0, 4), (2, 4), (3, 5)])
    }


def test_recall_counts_all_pairs_of_a_large_entity():
    names = [f"ann{k % 2}" for k in range(60)] + [f"bob{k // 2}" for k in range(80)]
    labels = np.concatenate([np.zeros(60, int), 1 + np.arange(80) // 2])
    left, _, weight = labelled_pairs(labels, np.random.default_rng(0))
    assert len(left) == 100 + 40
    assert weight.sum() == 60 * 59 / 2 + 40
    keys = KeyTable({"name": KeyColumn.of(names, "text")})
    chosen = choose_rules(keys, [Predicate("name", "equal")], labels, budget=10_000)
    true = (2 * 30 * 29 / 2 + 40) / (60 * 59 / 2 + 40)
    assert chosen[-1].recall == pytest.approx(true, abs=0.1)
    assert chosen[-1].closure < 0.6


def test_words_of_many_records_count_inside_blocks():
    column = KeyColumn.of(["junyi", *["ann"] * 600, "junyi"], "text")
    assert np.diff(PREDICATES["word"](column).starts).sum() == 2
    assert np.diff(PREDICATES["common"](column).starts).sum() == 602


@pytest.mark.parametrize(("pairs", "largest"), [(0, 1_000), (5e6, 1_000), (20e6, 2_000)])
def test_a_key_makes_a_tenth_of_the_budget_at_most(pairs, largest):
    assert largest_group(False, pairs) == largest
    assert largest_group(True, pairs) == 10_000


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name &", "cannot be read"),
        ("title", "name column 'title'"),
        ("sounds(name)", "must be one of"),
        ("year(name", "cannot be read"),
        ("name zip", "& or a comma"),
    ],
)
def test_rules_that_cannot_be_read_say_why(text, message):
    with pytest.raises(DataError, match=message):
        parse_rules(text, ["name", "zip"])


@pytest.mark.parametrize(
    "text",
    ["word(product name)", "product name & zip", "zip product name", "zip, last(product name)"],
)
def test_names_with_spaces_need_quotes(text):
    with pytest.raises(
        DataError, match=r"""needs double quotes inside, as in 'word\("product name"\)'"""
    ):
        parse_rules(text, ["zip", "product name"])
    with pytest.raises(DataError) as told:
        parse_rules("word(zip", ["zip", ""])
    assert "quotes" not in str(told.value)


def test_rules_are_read_as_they_are_written():
    rules = (
        Rule((Predicate("date of birth", "year"), Predicate("a"))),
        Rule((Predicate('q"t', "word"),)),
    )
    text = ", ".join(map(str, rules))
    assert parse_rules(text, ["date of birth", "a", 'q"t']) == rules
