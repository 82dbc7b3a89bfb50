"""A small GUM folder, written by hand, for the tests of its reader and features."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

# Sentences of (form, lemma, upos, feats, head, deprel); heads count from 1 in the sentence.
TEXT = [
    [
        ("Barack", "Barack", "PROPN", "Number=Sing", 3, "nsubj"),
        ("Obama", "Obama", "PROPN", "Number=Sing", 1, "flat"),
        ("visited", "visit", "VERB", "_", 0, "root"),
        ("the", "the", "DET", "_", 6, "det"),
        ("old", "old", "ADJ", "_", 6, "amod"),
        ("museum", "museum", "NOUN", "Number=Sing", 3, "obj"),
        ("and", "and", "CCONJ", "_", 9, "cc"),
        ("its", "its", "PRON", "Gender=Neut|Number=Sing|Person=3", 9, "nmod:poss"),
        ("gardens", "garden", "NOUN", "Number=Plur", 6, "conj"),
    ],
    [
        ("He", "he", "PRON", "Gender=Masc|Number=Sing|Person=3", 2, "nsubj"),
        ("met", "meet", "VERB", "_", 0, "root"),
        ("Ann", "Ann", "PROPN", "Number=Sing", 2, "obj"),
        (",", ",", "PUNCT", "_", 6, "punct"),
        ("the", "the", "DET", "_", 6, "det"),
        ("director", "director", "NOUN", "Number=Sing", 3, "appos"),
        ("of", "of", "ADP", "_", 10, "case"),
        ("a", "a", "DET", "_", 10, "det"),
        ("new", "new", "ADJ", "_", 10, "amod"),
        ("museum", "museum", "NOUN", "Number=Sing", 6, "nmod"),
    ],
    [
        ("World", "World", "PROPN", "Number=Sing", 3, "compound"),
        ("Health", "Health", "PROPN", "Number=Sing", 3, "compound"),
        ("Organization", "Organization", "PROPN", "Number=Sing", 6, "nsubj"),
        ("or", "or", "CCONJ", "_", 5, "cc"),
        ("WHO", "WHO", "PROPN", "Number=Sing", 3, "conj"),
        ("is", "be", "VERB", "_", 0, "root"),
        ("it", "it", "PRON", "Gender=Neut|Number=Sing|Person=3", 6, "obj"),
        ("herself", "herself", "PRON", "Gender=Fem|Number=Sing|Person=3", 6, "obl"),
    ],
]
# name, sentence, start, end, head, entity type, cluster
MENTIONS = [
    ("obama", 0, 1, 2, 1, "person", 0),
    ("museum and gardens", 0, 4, 9, 6, "place", 1),
    ("old museum", 0, 4, 6, 6, "place", 2),
    ("its gardens", 0, 8, 9, 9, "place", 3),
    ("its", 0, 8, 8, 8, "place", 2),
    ("he", 1, 1, 1, 1, "person", 0),
    ("ann", 1, 3, 10, 3, "person", 4),
    ("director", 1, 5, 10, 6, "person", 4),
    ("new museum", 1, 8, 10, 10, "place", 5),
    ("whole name", 2, 1, 3, 3, "organization", 6),
    ("who", 2, 5, 5, 5, "organization", 6),
    ("it", 2, 7, 7, 7, "organization", 6),
    ("herself", 2, 8, 8, 8, "person", 4),
]
NAMES = [mention[0] for mention in MENTIONS]
MENTION_HEADER = "doc,mention,cluster,sent,start,end,head_token,entity_type,infstat,link,identity"


def token_rows(doc: str) -> list[str]:
    """Rows of ``tokens``."""
    return [
        ",".join(f'"{value}"' if value == "," else str(value) for value in (doc, s, t, *fields))
        for s, sentence in enumerate(TEXT)
        for t, fields in enumerate(sentence, start=1)
    ]


def mention_rows(doc: str) -> list[str]:
    """Rows of ``mentions``; the last three columns give the clusters away."""
    rows = []
    for number, (_, sent, start, end, head, kind, cluster) in enumerate(MENTIONS):
        place = f"{sent},{start},{end},{head}"
        rows.append(f"{doc},{number},{cluster},{place},{kind},giv{cluster},l{cluster},W{cluster}")
    return rows


def write_gum(root: Path, docs: Sequence[str] = ("a", "b", "c")) -> Path:
    """Write the three tables, each document the same text."""
    root.mkdir(parents=True, exist_ok=True)
    tokens = sum(map(len, TEXT))
    counts = f"{len(TEXT)},{tokens},{len(MENTIONS)},{len({m[-1] for m in MENTIONS})}"
    tables = {
        "documents": ["doc,sentences,tokens,mentions,clusters", *(f"{d},{counts}" for d in docs)],
        "tokens": [
            "doc,sent,token,form,lemma,upos,feats,head,deprel",
            *(row for doc in docs for row in token_rows(doc)),
        ],
        "mentions": [MENTION_HEADER, *(row for doc in docs for row in mention_rows(doc))],
    }
    for name, rows in tables.items():
        (root / f"{name}.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    return root
