"""Reader of the GUM coreference tables: documents of parsed tokens, with their mentions.

Three tables in one folder (CSV with a header, plain or gzip): ``documents``, ``tokens`` and
``mentions``. The true clusters are in the column ``cluster``; ``infstat``, ``link`` and
``identity`` reveal them and are not read. Features are made from `Document`, which holds none of
the four; the clusters are returned separately.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from supclust.data.block import IntArray, encode_labels
from supclust.data.errors import DataError
from supclust.data.tables.columns import Table, read_table

TABLES = ("documents", "tokens", "mentions")
COUNTS = ("sentences", "tokens", "mentions", "clusters")
TOKEN_TEXTS = ("form", "lemma", "upos", "feats", "deprel")
TOKEN_NUMBERS = ("sent", "token", "head")
MENTION_NUMBERS = ("mention", "sent", "start", "end", "head_token")
LABEL_COLUMN = "cluster"
LEAKING_COLUMNS = ("infstat", "link", "identity")
_CORE_RELATIONS = frozenset(("compound", "flat", "amod", "nummod", "nmod:desc", "goeswith"))


@dataclass(frozen=True, eq=False)
class Document:
    """A document without its clusters: t tokens and n mentions.

    Tokens are numbered through the document from 0. Mentions are in the order of their first
    token, the longer one first.

    Attributes:
        name: Of the document.
        form: (t,) words; ``lemma``, ``upos``, ``feats``, ``deprel`` (Universal Dependencies)
            likewise.
        governor: (t,) token that a token depends on, -1 for the root of a sentence.
        sentence: (t,) number of the sentence.
        first: (n,) first token of a mention; ``last``: its last one; ``head``: the token whose
            governor is outside.
        entity_type: (n,) kind of thing, as annotated.
    """

    name: str
    form: tuple[str, ...]
    lemma: tuple[str, ...]
    upos: tuple[str, ...]
    feats: tuple[str, ...]
    deprel: tuple[str, ...]
    governor: IntArray
    sentence: IntArray
    first: IntArray
    last: IntArray
    head: IntArray
    entity_type: tuple[str, ...]

    @property
    def n(self) -> int:
        """Number of mentions."""
        return len(self.first)


class Syntax:
    """A document with the lower-case words, features and dependents of every token."""

    def __init__(self, document: Document) -> None:
        """Derive them from the document."""
        self.document = document
        self.lower = [form.lower() for form in document.form]
        self.lemma = [lemma.lower() for lemma in document.lemma]
        self.feats = [
            dict(f.split("=", 1) for f in text.split("|") if "=" in f) for text in document.feats
        ]
        self.dependents: list[list[int]] = [[] for _ in document.form]
        for token, governor in enumerate(document.governor.tolist()):
            if governor >= 0:
                self.dependents[governor].append(token)

    def core(self, head: int, span: range) -> set[int]:
        """The head with its names, compounds, adjectives and numbers, recursively."""
        core, waiting = {head}, [head]
        while waiting:
            for token in self.dependents[waiting.pop()]:
                fits = self.document.deprel[token] in _CORE_RELATIONS and token in span
                if fits and token not in core and self.document.upos[token] != "PUNCT":
                    core.add(token)
                    waiting.append(token)
        return core


class MentionClusters(NamedTuple):
    """The true clusters of a document: id and cluster of each mention, in the document's order."""

    ids: tuple[str, ...]
    clusters: tuple[str, ...]


def has_tables(root: Path) -> bool:
    """Whether a folder holds tokens and mentions, as only this set does."""
    return all(list(root.glob(f"{table}.csv*")) for table in ("tokens", "mentions"))


def table_files(root: Path) -> list[Path]:
    """Paths of the three tables.

    Raises:
        DataError: One of them is absent.
    """
    files = []
    for table in TABLES:
        present = [p for gz in ("", ".gz") if (p := root / f"{table}.csv{gz}").is_file()]
        if not present:
            raise DataError(
                f"{table}.csv or {table}.csv.gz not found; the GUM coreference set is "
                "documents.csv, tokens.csv.gz and mentions.csv.gz (docs/gum_coref.md)",
                root,
            )
        files.append(present[0])
    return files


def read_documents(root: str | Path) -> list[tuple[Document, MentionClusters]]:
    """Read and check every document, in the order of ``documents``.

    Raises:
        DataError: With file and line where one is to blame: a missing column, a token or mention
            outside its sentence, a head outside its mention, two mentions of the same tokens, or
            counts other than those of ``documents``.
    """
    documents_file, tokens_file, mentions_file = table_files(Path(root))
    documents = _Rows.read(documents_file, (), COUNTS)
    tokens = _Rows.read(tokens_file, TOKEN_TEXTS, TOKEN_NUMBERS)
    mentions = _Rows.read(mentions_file, ("entity_type", LABEL_COLUMN), MENTION_NUMBERS)
    tokens_of, mentions_of = tokens.by_document(), mentions.by_document()
    read = []
    for row, name in enumerate(documents.columns["doc"].tolist()):
        if name not in tokens_of or name not in mentions_of:
            absent = tokens_file if name not in tokens_of else mentions_file
            raise DataError(f"document {name!r} of {documents_file.name} has no rows", absent)
        document, truth = _document(name, tokens_of.pop(name), mentions_of.pop(name))
        sentences = len(np.unique(document.sentence))
        counted = (sentences, len(document.form), document.n, len(set(truth.clusters)))
        stated = tuple(int(documents.columns[count][row]) for count in COUNTS)
        if counted != stated:
            raise documents.table.error(
                f"document {name!r}: {', '.join(COUNTS)} should be {stated}, the tables have "
                f"{counted}",
                row,
            )
        read.append((document, truth))
    for path, left in ((tokens_file, tokens_of), (mentions_file, mentions_of)):
        if left:
            raise DataError(f"document {next(iter(left))!r} is not in {documents_file.name}", path)
    return read


@dataclass(frozen=True, eq=False)
class _Rows:
    """Some rows of a table: their numbers, and the named columns as arrays."""

    table: Table
    rows: IntArray
    columns: dict[str, npt.NDArray[Any]]

    @classmethod
    def read(cls, path: Path, texts: tuple[str, ...], numbers: tuple[str, ...]) -> _Rows:
        """The named columns of a table, checked, and no other."""
        table = read_table(path)
        table.require("doc", *texts, *numbers)
        values = table.numbers(numbers)
        if (values != np.floor(values)).any():
            row, column = np.argwhere(values != np.floor(values))[0]
            raise table.error(f"column {numbers[column]!r} must hold whole numbers", int(row))
        columns = {name: np.array(table.texts(name), object) for name in ("doc", *texts)}
        whole = {name: values[:, i].astype(np.int64) for i, name in enumerate(numbers)}
        return cls(table, np.arange(table.n), {**columns, **whole})

    def take(self, places: IntArray) -> _Rows:
        """Some of these rows, in the given order."""
        columns = {name: column[places] for name, column in self.columns.items()}
        return _Rows(self.table, self.rows[places], columns)

    def by_document(self) -> dict[str, _Rows]:
        """The rows of every document."""
        codes, names = encode_labels(self.columns["doc"].tolist())
        order = np.argsort(codes, kind="stable")
        parts = np.split(order, np.cumsum(np.bincount(codes, minlength=len(names)))[:-1])
        return {name: self.take(part) for name, part in zip(names, parts, strict=True)}

    def refuse(self, bad: npt.NDArray[np.bool_], problem: str) -> None:
        """Raise for the first bad row."""
        if bad.any():
            name, row = self.columns["doc"][0], int(self.rows[int(bad.argmax())])
            raise self.table.error(f"document {name!r}: {problem}", row)


def _document(name: str, tokens: _Rows, mentions: _Rows) -> tuple[Document, MentionClusters]:
    """Check the rows of one document and number its tokens through."""
    sentence, token, head = (tokens.columns[c] for c in TOKEN_NUMBERS)
    numbers, begin, lengths = np.unique(sentence, return_index=True, return_counts=True)
    ordinal = np.searchsorted(numbers, sentence)
    expected = np.arange(len(token)) - begin[ordinal] + 1
    bad = (token != expected) | (np.diff(sentence, prepend=sentence[:1]) < 0)
    tokens.refuse(bad, "tokens of a sentence must be numbered 1, 2, ... in order")
    bad = (head < 0) | (head > lengths[ordinal]) | (head == token)
    tokens.refuse(bad, "head must be another token of the sentence, or 0")

    columns = mentions.columns
    rows = mentions.take(np.lexsort((-columns["end"], columns["start"], columns["sent"])))
    sent, start, end, middle = (rows.columns[c] for c in MENTION_NUMBERS[1:])
    rows.refuse(~np.isin(sent, numbers), "sent must be a sentence of the document")
    at = np.searchsorted(numbers, sent)
    bad = (start < 1) | (end < start) | (end > lengths[at])
    rows.refuse(bad, "start and end must be tokens of the sentence")
    bad = (middle < start) | (middle > end)
    rows.refuse(bad, "head_token must lie between start and end")
    spans = np.stack([sent, start, end])
    bad = np.append(False, (spans[:, 1:] == spans[:, :-1]).all(axis=0))
    rows.refuse(bad, "another mention has the same tokens")
    document = Document(
        name=name,
        **{column: tuple(tokens.columns[column]) for column in TOKEN_TEXTS},
        governor=np.where(head == 0, -1, begin[ordinal] + head - 1),
        sentence=sentence,
        first=begin[at] + start - 1,
        last=begin[at] + end - 1,
        head=begin[at] + middle - 1,
        entity_type=tuple(rows.columns["entity_type"]),
    )
    ids = tuple(f"{name}:{number}" for number in rows.columns["mention"])
    return document, MentionClusters(ids, tuple(rows.columns[LABEL_COLUMN]))
