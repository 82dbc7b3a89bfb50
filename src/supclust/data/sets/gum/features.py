"""The pair features of GUM coreference: a formula for each, all in [0, 1].

``features.csv`` gives the order of the features and the rule of each in words, which
``docs/gum_coref.md`` shows. To add a feature, add a row there and a formula here, and run
``python -m supclust.data.sets.gum.features``, which prints the table for the page.
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from importlib.resources import files
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from supclust.data.block import n_pairs
from supclust.data.sets.gum.attributes import Mentions
from supclust.data.sets.gum.pairs import Pairs, Square, scaled_log

_FORMULAS: dict[str, Callable[[Pairs], Square]] = {
    "sentence_distance": lambda p: scaled_log(p.sentences_apart, 63),
    "token_distance": lambda p: scaled_log(p.tokens_between, 1023),
    "mention_distance": lambda p: scaled_log(p.mentions_between, 255),
    "same_sentence": lambda p: p.sentences_apart == 0,
    "next_sentence": lambda p: p.sentences_apart == 1,
    "pronoun_near": lambda p: p.anaphor("pronoun") & (p.sentences_apart <= 1),
    "pronoun_far": lambda p: p.anaphor("pronoun") & (p.sentences_apart > 3),
    "same_text": lambda p: p.same("text"),
    "same_plain_text": lambda p: p.same("plain_text"),
    "same_core_text": lambda p: p.same("core_text"),
    "same_proper_name": lambda p: p.both("proper") & p.same("core_text"),
    "same_head": lambda p: p.same("nominal_head"),
    "same_head_lemma": lambda p: p.same("nominal_lemma"),
    "same_head_definite": lambda p: p.same("nominal_lemma") & p.anaphor("definite"),
    "same_head_indefinite": lambda p: p.same("nominal_lemma") & p.anaphor("indefinite"),
    "head_in_head": lambda p: p.head_within_head(),
    "head_in_core": lambda p: p.shared("heads", "core_words") + p.shared("core_words", "heads") > 0,
    "nearest_same_head": lambda p: p.nearest(p.same("nominal_lemma")),
    "same_first_word": lambda p: p.same("first_word"),
    "same_last_word": lambda p: p.same("last_word"),
    "word_overlap": lambda p: p.jaccard("words"),
    "core_overlap": lambda p: p.jaccard("core_words"),
    "letter_overlap": lambda p: p.dice("trigrams"),
    "core_included": lambda p: p.included("core_words"),
    "name_shared": lambda p: p.shared("names") > 0,
    "name_conflict": lambda p: p.disjoint("names"),
    "proper_name_differs": lambda p: p.both("proper") & p.disjoint("core_words"),
    "acronym": lambda p: p.crossed("acronym", "initials"),
    "modifier_shared": lambda p: p.same("nominal_lemma") & (p.shared("modifiers") > 0),
    "modifier_conflict": lambda p: p.same("nominal_lemma") & p.disjoint("modifiers"),
    "modifier_new": lambda p: (
        p.same("nominal_lemma") & (p.shared("modifiers") < p.size("modifiers")[1])
    ),
    "numeral_conflict": lambda p: p.disjoint("numerals"),
    "antecedent_pronoun": lambda p: p.antecedent("pronoun"),
    "anaphor_pronoun": lambda p: p.anaphor("pronoun"),
    "both_pronouns": lambda p: p.both("pronoun"),
    "same_pronoun": lambda p: p.same("pronoun_form"),
    "antecedent_proper": lambda p: p.antecedent("proper"),
    "anaphor_proper": lambda p: p.anaphor("proper"),
    "both_proper": lambda p: p.both("proper"),
    "antecedent_definite": lambda p: p.antecedent("definite"),
    "anaphor_definite": lambda p: p.anaphor("definite"),
    "antecedent_indefinite": lambda p: p.antecedent("indefinite"),
    "anaphor_indefinite": lambda p: p.anaphor("indefinite"),
    "anaphor_demonstrative": lambda p: p.anaphor("demonstrative"),
    "anaphor_bare": lambda p: p.anaphor("bare"),
    "number_same": lambda p: p.same("number"),
    "number_differs": lambda p: p.differ("number"),
    "gender_same": lambda p: p.same("gender"),
    "gender_differs": lambda p: p.differ("gender"),
    "person_same": lambda p: p.same("person"),
    "person_differs": lambda p: p.differ("person"),
    "first_person": lambda p: p.both_are("person", 1),
    "animacy_differs": lambda p: p.differ("animate"),
    "type_same": lambda p: p.same("entity_type"),
    "type_differs": lambda p: p.differ("entity_type"),
    "pronoun_agrees": lambda p: p.anaphor("pronoun") & p.compatible,
    "nearest_compatible": lambda p: p.anaphor("pronoun") & p.nearest(p.compatible),
    "nearest_subject": lambda p: (
        p.anaphor("pronoun") & p.nearest(p.compatible & p.antecedent("subject"))
    ),
    "same_role": lambda p: p.same("role"),
    "antecedent_subject": lambda p: p.antecedent("subject"),
    "anaphor_subject": lambda p: p.anaphor("subject"),
    "both_subjects": lambda p: p.both("subject"),
    "both_objects": lambda p: p.both("object"),
    "apposition": lambda p: p.linked_by("apposed"),
    "predicate": lambda p: (
        p.governs & p.anaphor("subject") & p.antecedent("has_copula")
        | p.governed & p.antecedent("subject") & p.anaphor("has_copula")
    ),
    "coordination": lambda p: p.linked_by("conjoined") | (p.both("conjoined") & p.same_governor),
    "same_governor": lambda p: p.same_governor & ~p.anaphor("reflexive"),
    "reflexive": lambda p: (
        p.anaphor("reflexive") & p.antecedent("subject") & (p.sentences_apart == 0)
    ),
    "nested": lambda p: p.nested,
    "shared_head_token": lambda p: p.same_head_token,
}


class PairFeature(NamedTuple):
    """One feature of a pair: its name, group, rule in words, values and formula."""

    name: str
    group: str
    rule: str
    values: str
    compute: Callable[[Pairs], Square]


def _read_features() -> tuple[PairFeature, ...]:
    text = files("supclust.data.sets.gum").joinpath("features.csv").read_text(encoding="utf-8")
    return tuple(
        PairFeature(**row, compute=_FORMULAS[row["name"]])
        for row in csv.DictReader(text.splitlines())
    )


FEATURES = _read_features()
FEATURE_NAMES = tuple(feature.name for feature in FEATURES)


def pair_features(mentions: Mentions) -> npt.NDArray[np.float32]:
    """The features of all pairs of a document.

    Args:
        mentions: n mentions.

    Returns:
        (n(n-1)/2, d) in condensed upper-triangle order, each in [0, 1].

    Complexity: O(n^2 (d + w)) time for w different words, O(n^2 d) memory, one column at a time.
    """
    columns = np.empty((len(FEATURES), n_pairs(mentions.n)), np.float32)
    pairs = Pairs(mentions)
    for row, feature in enumerate(FEATURES):
        columns[row] = pairs.condensed(feature.compute(pairs))
    return np.ascontiguousarray(columns.T)


def feature_table() -> str:
    """The table of the documentation, in Markdown."""
    lines = ["| # | feature | group | rule | values |", "|---|---|---|---|---|"]
    for number, (name, group, rule, values, _) in enumerate(FEATURES, start=1):
        lines.append(f"| {number} | `{name}` | {group} | {rule} | {values} |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(feature_table())
