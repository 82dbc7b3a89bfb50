"""Pair features of GUM coreference: how far apart two mentions are, and the words they share."""

from __future__ import annotations

from supclust.data.sets.gum.pairs import PairFeature, scaled_log, yes_no

SHARE, LOG = "0 to 1", "0 to 1, logarithmic"
CAPS = {"sentence": 63, "token": 1023, "mention": 255}

DISTANCE = (
    PairFeature(
        "sentence_distance",
        f"log(1 + sentences apart) / log({CAPS['sentence'] + 1}), at most 1",
        LOG,
        lambda p: scaled_log(p.sentences_apart, CAPS["sentence"]),
    ),
    PairFeature(
        "token_distance",
        f"log(1 + tokens between) / log({CAPS['token'] + 1}), at most 1",
        LOG,
        lambda p: scaled_log(p.tokens_between, CAPS["token"]),
    ),
    PairFeature(
        "mention_distance",
        f"log(1 + mentions between) / log({CAPS['mention'] + 1}), at most 1",
        LOG,
        lambda p: scaled_log(p.mentions_between, CAPS["mention"]),
    ),
    yes_no("same_sentence", "in the same sentence", lambda p: p.sentences_apart == 0),
    yes_no("next_sentence", "in neighbouring sentences", lambda p: p.sentences_apart == 1),
    yes_no(
        "pronoun_near",
        "the anaphor is a pronoun, at most one sentence apart",
        lambda p: p.anaphor("pronoun") & (p.sentences_apart <= 1),
    ),
    yes_no(
        "pronoun_far",
        "the anaphor is a pronoun, more than three sentences apart",
        lambda p: p.anaphor("pronoun") & (p.sentences_apart > 3),
    ),
)

WORDS = (
    yes_no("same_text", "no pronouns; the same words, whatever the case", lambda p: p.same("text")),
    yes_no(
        "same_plain_text",
        "no pronouns; the same words without articles, prepositions and punctuation",
        lambda p: p.same("plain_text"),
    ),
    yes_no(
        "same_core_text",
        "no pronouns; the same core: head with its compounds, names, adjectives and numbers",
        lambda p: p.same("core_text"),
    ),
    yes_no(
        "same_proper_name",
        "both proper names, with the same core",
        lambda p: p.both("proper") & p.same("core_text"),
    ),
    yes_no("same_head", "no pronouns; the same head word", lambda p: p.same("nominal_head")),
    yes_no(
        "same_head_lemma", "no pronouns; the same head lemma", lambda p: p.same("nominal_lemma")
    ),
    yes_no(
        "same_head_definite",
        "the same head lemma, and the anaphor is definite",
        lambda p: p.same("nominal_lemma") & p.anaphor("definite"),
    ),
    yes_no(
        "same_head_indefinite",
        "the same head lemma, and the anaphor is indefinite",
        lambda p: p.same("nominal_lemma") & p.anaphor("indefinite"),
    ),
    yes_no(
        "head_in_head",
        "one head word, of four letters or more, is a proper part of the other",
        lambda p: p.head_within_head(),
    ),
    yes_no(
        "head_in_core",
        "the head lemma of one is among the core lemmas of the other",
        lambda p: (p.shared("heads", "core_words") + p.shared("core_words", "heads")) > 0,
    ),
    yes_no(
        "nearest_same_head",
        "the last mention before the anaphor with its head lemma",
        lambda p: p.nearest(p.same("nominal_lemma")),
    ),
    yes_no("same_first_word", "the cores begin with the same word", lambda p: p.same("first_word")),
    yes_no("same_last_word", "the cores end with the same word", lambda p: p.same("last_word")),
    PairFeature(
        "word_overlap",
        "content lemmas in both over content lemmas in either",
        SHARE,
        lambda p: p.jaccard("words"),
    ),
    PairFeature(
        "core_overlap",
        "core lemmas in both over core lemmas in either",
        SHARE,
        lambda p: p.jaccard("core_words"),
    ),
    PairFeature(
        "letter_overlap",
        "twice the three-letter runs in both cores over the sum of those in each",
        SHARE,
        lambda p: p.dice("trigrams"),
    ),
    yes_no(
        "core_included",
        "all core lemmas of one are core lemmas of the other",
        lambda p: p.included("core_words"),
    ),
    yes_no("name_shared", "a word of a proper name is in both", lambda p: p.shared("names") > 0),
    yes_no(
        "name_conflict",
        "both contain proper names, and share no word of them",
        lambda p: p.disjoint("names"),
    ),
    yes_no(
        "proper_name_differs",
        "both heads are proper names, and the cores share no lemma",
        lambda p: p.both("proper") & p.disjoint("core_words"),
    ),
    yes_no(
        "acronym",
        "one is a word of 2 to 6 capitals, the initials of the capitalised words of the other",
        lambda p: p.crossed("acronym", "initials"),
    ),
    yes_no(
        "modifier_shared",
        "the same head lemma, and a modifier in the core of both",
        lambda p: p.same("nominal_lemma") & (p.shared("modifiers") > 0),
    ),
    yes_no(
        "modifier_conflict",
        "the same head lemma, and modifiers of which none is shared",
        lambda p: p.same("nominal_lemma") & p.disjoint("modifiers"),
    ),
    yes_no(
        "modifier_new",
        "the same head lemma, and the anaphor has more modifiers than it shares",
        lambda p: p.same("nominal_lemma") & (p.shared("modifiers") < p.size("modifiers")[1]),
    ),
    yes_no(
        "numeral_conflict",
        "both cores have numerals, and share none",
        lambda p: p.disjoint("numerals"),
    ),
)
