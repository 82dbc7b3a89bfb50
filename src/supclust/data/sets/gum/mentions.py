"""Reader of the GUM coreference tables: documents of parsed tokens, with their mentions.

Three tables in one folder (CSV with a header, plain or gzip): ``documents``, ``tokens`` and
``mentions``. The true clusters stand in the column ``cluster``; ``infstat``, ``link`` and
``identity`` give them away and are dropped as soon as the table is read. What features are made
from (``Document``) holds none of the four: the clusters leave this file as a record of their own.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from supclust.data.block import IntArray
from supclust.data.errors import DataError
from supclust.data.tables.frames import (
    number_columns,
    read_frame,
    require_columns,
    row_line,
    text_column,
)

if TYPE_CHECKING:
    import pandas as pd

TABLES = ("documents", "tokens", "mentions")
COUNTS = ("sentences", "tokens", "mentions", "clusters")
TOKEN_TEXTS = ("form", "lemma", "upos", "feats", "deprel")
TOKEN_NUMBERS = ("sent", "token", "head")
MENTION_NUMBERS = ("mention", "sent", "start", "end", "head_token")
LABEL_COLUMN = "cluster"
LEAKING_COLUMNS = ("infstat", "link", "identity")


@dataclass(frozen=True, eq=False)
class Document:
    """What may be known of a document before its clusters: t tokens and n mentions.

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


@dataclass(frozen=True, eq=False)
class MentionClusters:
    """The truth about a document: name and cluster of each mention, in the document's order."""

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
        found = [p for gz in ("", ".gz") if (p := root / f"{table}.csv{gz}").is_file()]
        if not found:
            raise DataError(
                f"{table}.csv or {table}.csv.gz not found; the GUM coreference set is "
                "documents.csv, tokens.csv.gz and mentions.csv.gz (docs/gum_coref.md)",
                root,
            )
        files.append(found[0])
    return files


def read_documents(root: str | Path) -> list[tuple[Document, MentionClusters]]:
    """Read and check every document, in the order of ``documents``.

    Raises:
        DataError: With file and line where one is to blame: a missing column, a token or mention
            outside its sentence, a head outside its mention, two mentions of the same tokens, or
            counts other than those of ``documents``.
    """
    documents_file, tokens_file, mentions_file = table_files(Path(root))
    documents = _read(documents_file, (), COUNTS)
    tokens = _read(tokens_file, TOKEN_TEXTS, TOKEN_NUMBERS)
    texts = ("entity_type", LABEL_COLUMN)
    mentions = _read(mentions_file, texts, MENTION_NUMBERS)
    tokens_of = dict(iter(tokens.groupby("doc", sort=False)))
    mentions_of = dict(iter(mentions.groupby("doc", sort=False)))
    read = []
    for row, name in enumerate(text_column(documents, "doc", documents_file)):
        if name not in tokens_of or name not in mentions_of:
            absent = tokens_file if name not in tokens_of else mentions_file
            raise DataError(f"document {name!r} of {documents_file.name} has no rows", absent)
        part = _Part(name, tokens_of.pop(name), mentions_of.pop(name), tokens_file, mentions_file)
        document, truth = part.document()
        sentences = len(np.unique(document.sentence))
        found = (sentences, len(document.form), document.n, len(set(truth.clusters)))
        said = tuple(int(documents[count].iloc[row]) for count in COUNTS)
        if found != said:
            raise DataError(
                f"document {name!r}: {', '.join(COUNTS)} should be {said}, the tables have {found}",
                documents_file,
                row_line(documents_file, row),
            )
        read.append((document, truth))
    for path, left in ((tokens_file, tokens_of), (mentions_file, mentions_of)):
        if left:
            raise DataError(f"document {next(iter(left))!r} is not in {documents_file.name}", path)
    return read


def _read(path: Path, texts: tuple[str, ...], numbers: tuple[str, ...]) -> pd.DataFrame:
    """The named columns of a table, checked, and no other."""
    import pandas as pd

    frame = read_frame(path, ("doc", *texts))
    require_columns(frame, ("doc", *texts, *numbers), path)
    values = number_columns(frame, numbers, path)
    if (values != np.floor(values)).any():
        row, column = np.argwhere(values != np.floor(values))[0]
        raise DataError(
            f"column {numbers[column]!r} must hold whole numbers", path, row_line(path, int(row))
        )
    columns = {name: text_column(frame, name, path) for name in ("doc", *texts)}
    whole = {name: values[:, i].astype(np.int64) for i, name in enumerate(numbers)}
    return pd.DataFrame({**columns, **whole})


@dataclass(frozen=True, eq=False)
class _Part:
    """The rows of one document; their index is the row of the file."""

    name: str
    tokens: pd.DataFrame
    mentions: pd.DataFrame
    tokens_file: Path
    mentions_file: Path

    def document(self) -> tuple[Document, MentionClusters]:
        sentence, token, head = (self.tokens[c].to_numpy() for c in TOKEN_NUMBERS)
        numbers, begin, lengths = np.unique(sentence, return_index=True, return_counts=True)
        place = np.searchsorted(numbers, sentence)
        expected = np.arange(len(token)) - begin[place] + 1
        bad = (token != expected) | (np.diff(sentence, prepend=sentence[:1]) < 0)
        self._refuse(bad, "tokens of a sentence must be numbered 1, 2, ... in order", tokens=True)
        bad = (head < 0) | (head > lengths[place]) | (head == token)
        self._refuse(bad, "head must be another token of the sentence, or 0", tokens=True)
        governor = np.where(head == 0, -1, begin[place] + head - 1)

        rows = self.mentions.sort_values(["sent", "start", "end"], ascending=[True, True, False])
        known = np.isin(rows["sent"], numbers)
        self._refuse(~known, "sent must be a sentence of the document", index=rows.index)
        at = np.searchsorted(numbers, rows["sent"])
        start, end, middle = (rows[c].to_numpy() for c in ("start", "end", "head_token"))
        bad = (start < 1) | (end < start) | (end > lengths[at])
        self._refuse(bad, "start and end must be tokens of the sentence", index=rows.index)
        bad = (middle < start) | (middle > end)
        self._refuse(bad, "head_token must lie between start and end", index=rows.index)
        bad = rows.duplicated(["sent", "start", "end"]).to_numpy()
        self._refuse(bad, "another mention has the same tokens", index=rows.index)
        texts = {column: tuple(self.tokens[column]) for column in TOKEN_TEXTS}
        document = Document(
            name=self.name,
            **texts,
            governor=governor,
            sentence=sentence,
            first=begin[at] + start - 1,
            last=begin[at] + end - 1,
            head=begin[at] + middle - 1,
            entity_type=tuple(rows["entity_type"]),
        )
        ids = tuple(f"{self.name}:{number}" for number in rows["mention"])
        return document, MentionClusters(ids, tuple(rows[LABEL_COLUMN]))

    def _refuse(
        self,
        bad: np.ndarray[tuple[int], np.dtype[np.bool_]],
        problem: str,
        *,
        tokens: bool = False,
        index: pd.Index | None = None,
    ) -> None:
        if not bad.any():
            return
        path = self.tokens_file if tokens else self.mentions_file
        rows = self.tokens.index if index is None else index
        raise DataError(
            f"document {self.name!r}: {problem}", path, row_line(path, int(rows[int(bad.argmax())]))
        )
