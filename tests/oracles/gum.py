"""Some GUM pair features from their definitions: one pair at a time, straight from the document."""

from __future__ import annotations

import itertools
import math

from supclust.data.sets.gum.mentions import Document

FUNCTION = {"DET", "PUNCT", "ADP", "PART", "CCONJ", "SCONJ", "AUX", "PRON"}


def pair_features(document: Document) -> dict[str, list[float]]:
    """Values of each feature over the pairs (0, 1), (0, 2), ..., (1, 2), ..."""
    pairs = itertools.combinations(range(document.n), 2)
    rows = [_of_pair(document, i, j) for i, j in pairs]
    return {name: [float(row[name]) for row in rows] for name in rows[0]}


def _of_pair(document: Document, i: int, j: int) -> dict[str, float | bool]:
    head_i, head_j = int(document.head[i]), int(document.head[j])
    span_i = set(range(document.first[i], document.last[i] + 1))
    span_j = set(range(document.first[j], document.last[j] + 1))
    pronoun_i, pronoun_j = (document.upos[h] in ("PRON", "DET") for h in (head_i, head_j))
    nominal = not pronoun_i and not pronoun_j
    words_i, words_j = _lemmas(document, span_i), _lemmas(document, span_j)
    gap = abs(document.sentence[head_j] - document.sentence[head_i])
    between = [
        t
        for t in range(document.last[i] + 1, document.first[j])
        if t not in span_i and t not in span_j
    ]
    text_i, text_j = _text(document, span_i), _text(document, span_j)
    same_lemma = document.lemma[head_i].lower() == document.lemma[head_j].lower()
    subject_i, subject_j = (
        document.deprel[h].startswith(("nsubj", "csubj")) for h in (head_i, head_j)
    )
    union = words_i | words_j
    return {
        "sentence_distance": min(math.log(1 + gap) / math.log(64), 1),
        "token_distance": min(math.log(1 + len(between)) / math.log(1024), 1),
        "mention_distance": min(math.log(j - i) / math.log(256), 1),
        "same_sentence": gap == 0,
        "next_sentence": gap == 1,
        "pronoun_near": pronoun_j and gap < 2,
        "same_text": nominal and text_i == text_j,
        "same_head": nominal and document.form[head_i].lower() == document.form[head_j].lower(),
        "same_head_lemma": nominal and same_lemma,
        "nearest_same_head": nominal and same_lemma and not _closer_lemma(document, i, j),
        "word_overlap": len(words_i & words_j) / len(union) if union else 0,
        "antecedent_pronoun": pronoun_i,
        "anaphor_pronoun": pronoun_j,
        "both_pronouns": pronoun_i and pronoun_j,
        "same_pronoun": pronoun_i
        and pronoun_j
        and text_head(document, i) == text_head(document, j),
        "both_proper": document.upos[head_i] == document.upos[head_j] == "PROPN",
        "both_subjects": subject_i and subject_j,
        "same_role": document.deprel[head_i].split(":")[0] == document.deprel[head_j].split(":")[0],
        "apposition": (document.deprel[head_j] == "appos" and document.governor[head_j] == head_i)
        or (document.deprel[head_i] == "appos" and document.governor[head_i] == head_j),
        "nested": span_j <= span_i,
        "shared_head_token": head_i == head_j,
    }


def text_head(document: Document, i: int) -> str:
    """Head word of a mention in lower case."""
    return document.form[int(document.head[i])].lower()


def _text(document: Document, span: set[int]) -> str:
    return " ".join(document.form[t].lower() for t in sorted(span))


def _lemmas(document: Document, span: set[int]) -> set[str]:
    return {document.lemma[t].lower() for t in span if document.upos[t] not in FUNCTION}


def _closer_lemma(document: Document, i: int, j: int) -> bool:
    """Whether a mention between the two is no pronoun and has the anaphor's head lemma."""
    wanted = document.lemma[int(document.head[j])].lower()
    heads = [int(document.head[k]) for k in range(i + 1, j)]
    return any(
        document.upos[h] not in ("PRON", "DET") and document.lemma[h].lower() == wanted
        for h in heads
    )
