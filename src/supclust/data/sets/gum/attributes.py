"""Attributes of single mentions: type, agreement, words and position, one array each."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix

from supclust.data.block import IntArray
from supclust.data.sets.gum.mentions import Document, Syntax

BoolArray: TypeAlias = npt.NDArray[np.bool_]

SINGULAR, PLURAL = 0, 1
MALE, FEMALE, NEUTER = 0, 1, 2
UNKNOWN = -1

# Parts of speech too general to say that two phrases share a word.
_FUNCTION_UPOS = frozenset(("DET", "PUNCT", "ADP", "PART", "CCONJ", "SCONJ", "AUX", "PRON"))


def _word_lists() -> dict[str, frozenset[str]]:
    """The sections of ``word_lists.txt``."""
    text = files("supclust.data.sets.gum").joinpath("word_lists.txt").read_text(encoding="utf-8")
    parts = re.split(r"\[(\w+)\]", re.sub(r"#.*", "", text))[1:]
    pairs = zip(parts[::2], parts[1::2], strict=True)
    return {name: frozenset(words.split()) for name, words in pairs}


_WORDS = _word_lists()


@dataclass(frozen=True, eq=False)
class Mentions:
    """Attributes of the n mentions of a document.

    Codes are integers that are equal where the values are; -1 where there is none (``UNKNOWN``).

    Attributes:
        flags: Yes-or-no attributes by name, (n,) each.
        codes: Attributes with values by name, (n,) each.
        bags: How often each word (or run of three letters) occurs, (n, words), by name.
        sentence: (n,) number of the sentence; ``first``, ``last``, ``head``, ``governor``: (n,)
            tokens, numbered through the document.
        heads: (n,) lower-case form of the head, empty for pronouns.
    """

    flags: dict[str, BoolArray]
    codes: dict[str, IntArray]
    bags: dict[str, csr_matrix]
    sentence: IntArray
    first: IntArray
    last: IntArray
    head: IntArray
    governor: IntArray
    heads: tuple[str, ...]

    @property
    def n(self) -> int:
        """Number of mentions."""
        return len(self.sentence)


def describe(document: Document) -> Mentions:
    """The attributes of the mentions of a document.

    Complexity: O(tokens of all mentions), some milliseconds a document.
    """
    syntax = Syntax(document)
    views = [_View(syntax, i) for i in range(document.n)]
    flags = {name: np.array([getattr(v, name) for v in views], bool) for name in _FLAGS}
    codes = {name: encode([getattr(v, name) for v in views]) for name in _CODES}
    codes |= {name: _given(getattr(v, name) for v in views) for name in _NUMBERS}
    # Initials and acronyms are compared with each other, so they share their codes.
    short = encode([v.acronym for v in views] + [v.initials for v in views])
    codes["acronym"], codes["initials"] = short[: document.n], short[document.n :]
    bags = {name: bag([getattr(v, name) for v in views]) for name in _BAGS}
    shared = bag([v.core_words for v in views] + [v.heads for v in views])  # likewise
    bags["core_words"], bags["heads"] = shared[: document.n], shared[document.n :]
    return Mentions(
        flags=flags,
        codes=codes,
        bags=bags,
        sentence=document.sentence[document.head],
        first=document.first,
        last=document.last,
        head=document.head,
        governor=document.governor[document.head],
        heads=tuple("" if v.pronoun else v.head_form for v in views),
    )


def encode(values: Sequence[str]) -> IntArray:
    """Equal codes for equal values, -1 for the empty one.

    >>> encode(["b", "", "a", "b"]).tolist()
    [0, -1, 1, 0]
    """
    known: dict[str, int] = {}
    return _given(known.setdefault(v, len(known)) if v else UNKNOWN for v in values)


def bag(rows: Sequence[Iterable[str]]) -> csr_matrix:
    """Counts of each word in each row, (rows, words).

    >>> bag([["a", "b", "a"], []]).toarray().tolist()
    [[2.0, 1.0], [0.0, 0.0]]
    """
    known: dict[str, int] = {}
    places = [
        (row, known.setdefault(word, len(known))) for row, ws in enumerate(rows) for word in ws
    ]
    index = np.array(places, np.int64).reshape(-1, 2).T
    # One column at least, so that an empty vocabulary multiplies like any other.
    shape = (len(rows), max(1, len(known)))
    return csr_matrix((np.ones(len(places), np.float32), (index[0], index[1])), shape=shape)


def _given(numbers: Iterable[int]) -> IntArray:
    return np.fromiter(numbers, np.int64)


class _View:
    """One mention of a document; every public attribute is one of `Mentions`."""

    def __init__(self, syntax: Syntax, i: int) -> None:
        document = syntax.document
        first, last = int(document.first[i]), int(document.last[i])
        head, span = int(document.head[i]), range(first, last + 1)
        self.head_form, self.head_lemma = syntax.lower[head], syntax.lemma[head]
        upos, feats = document.upos[head], syntax.feats[head]
        inside = [token for token in syntax.dependents[head] if token in span]
        self._types(document, syntax, upos, inside)
        self._words(document, syntax, head, span)
        self._agreement(document, feats, upos, inside, document.entity_type[i])
        relation = document.deprel[head]
        self.role = relation.split(":")[0]
        self.subject = relation.startswith(("nsubj", "csubj"))
        self.object = relation.startswith(("obj", "iobj"))
        self.possessor = relation == "nmod:poss"
        self.apposed = relation == "appos"
        self.conjoined = relation == "conj"
        self.has_copula = any(document.deprel[t] == "cop" for t in syntax.dependents[head])

    def _types(self, document: Document, syntax: Syntax, upos: str, inside: list[int]) -> None:
        determiners = {
            syntax.lower[t] for t in inside if document.deprel[t] in ("det", "det:predet")
        }
        possessed = any(document.deprel[t] == "nmod:poss" for t in inside)
        self.pronoun = upos in ("PRON", "DET")
        self.proper = upos == "PROPN"
        self.demonstrative = bool(determiners & _WORDS["demonstratives"]) or (
            self.pronoun and self.head_form in _WORDS["demonstratives"]
        )
        self.definite = not self.pronoun and bool(
            "the" in determiners or possessed or self.demonstrative
        )
        self.indefinite = not self.pronoun and bool(determiners & _WORDS["indefinite_determiners"])
        self.bare = upos == "NOUN" and not (self.definite or self.indefinite)
        self.reflexive = self.pronoun and self.head_form.endswith(("self", "selves"))
        self.pronoun_form = self.head_form if self.pronoun else ""

    def _words(self, document: Document, syntax: Syntax, head: int, span: range) -> None:
        content = [t for t in span if document.upos[t] not in _FUNCTION_UPOS]
        core = sorted(syntax.core(head, span))
        names = [document.form[t] for t in content if document.form[t][:1].isupper()]
        single = document.form[head].replace(".", "") if len(core) == 1 else ""
        self.acronym = single if single.isupper() and 2 <= len(single) <= 6 else ""
        self.initials = "".join(name[0] for name in names) if len(names) > 1 else ""
        nominal = not self.pronoun
        core_text = [syntax.lower[t] for t in core] if nominal else []
        self.text = " ".join(syntax.lower[t] for t in span) if nominal else ""
        self.plain_text = " ".join(syntax.lower[t] for t in content) if nominal else ""
        self.core_text = " ".join(core_text)
        self.nominal_head = self.head_form if nominal else ""
        self.nominal_lemma = self.head_lemma if nominal else ""
        self.first_word = core_text[0] if core_text else ""
        self.last_word = core_text[-1] if core_text else ""
        self.words = {syntax.lemma[t] for t in content}
        self.core_words = {syntax.lemma[t] for t in core} if nominal else set()
        self.names = {syntax.lower[t] for t in content if document.upos[t] == "PROPN"}
        self.modifiers = self.core_words - {self.head_lemma}
        self.numerals = {syntax.lower[t] for t in core if document.upos[t] == "NUM"}
        self.heads = [self.nominal_lemma] if nominal else []
        padded = f" {self.core_text} "
        self.trigrams = {padded[k : k + 3] for k in range(len(padded) - 2)} if core_text else set()
        self.core_forms = set(core_text)

    def _agreement(
        self,
        document: Document,
        feats: dict[str, str],
        upos: str,
        inside: list[int],
        annotated: str,
    ) -> None:
        # The annotated type of a pronoun is that of its antecedent, which is to be learned.
        implied = "person" if self.head_form in _WORDS["person_pronouns"] else ""
        self.entity_type = implied if self.pronoun else annotated
        number = {"Sing": SINGULAR, "Plur": PLURAL}.get(feats.get("Number", ""), UNKNOWN)
        if self.pronoun and self.head_form in _WORDS["numberless_pronouns"]:
            number = UNKNOWN
        joined = any(document.deprel[t] == "conj" for t in inside)
        self.number = PLURAL if joined and upos in ("NOUN", "PROPN", "PRON") else number
        self.person = int(feats.get("Person", UNKNOWN)) if self.pronoun else UNKNOWN
        self.animate = {"": UNKNOWN, "animal": UNKNOWN, "person": 1}.get(self.entity_type, 0)
        if self.pronoun and self.head_form in _WORDS["thing_pronouns"]:
            self.animate = 0
        self.gender = self._gender(feats)
        if self.gender in (MALE, FEMALE):
            self.animate = 1

    def _gender(self, feats: dict[str, str]) -> int:
        if self.pronoun:
            return {"Masc": MALE, "Fem": FEMALE, "Neut": NEUTER}.get(
                feats.get("Gender", ""), UNKNOWN
            )
        if self.entity_type not in ("person", ""):
            return UNKNOWN if self.entity_type == "animal" else NEUTER
        if self.number == PLURAL:
            return UNKNOWN
        male = bool(self.core_forms & (_WORDS["male_words"] | _WORDS["male_names"]))
        female = bool(self.core_forms & (_WORDS["female_words"] | _WORDS["female_names"]))
        return UNKNOWN if male == female else MALE if male else FEMALE


_FLAGS = (
    *("pronoun", "proper", "demonstrative", "definite", "indefinite", "bare", "reflexive"),
    *("subject", "object", "possessor", "apposed", "conjoined", "has_copula"),
)
_CODES = (
    *("pronoun_form", "text", "plain_text", "core_text", "nominal_head", "nominal_lemma"),
    *("first_word", "last_word", "role", "entity_type"),
)
_NUMBERS = ("number", "person", "animate", "gender")
_BAGS = ("words", "names", "modifiers", "numerals", "trigrams")
