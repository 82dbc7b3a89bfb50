"""Pairs of records that a person judged: a table of two ids and whether they match."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supclust.data.block import IntArray
from supclust.data.errors import DataError
from supclust.data.records.columns import read_columns
from supclust.data.tables.reader import RecordTable, open_table

_IDS = (("id_a", "id_b"), ("id_1", "id_2"), ("id1", "id2"), ("left", "right"), ("a", "b"))
_ANSWERS = ("match", "same", "label", "is_match", "matched")
_YES = frozenset({"1", "true", "yes", "y", "t", "match", "same"})
_NO = frozenset({"0", "false", "no", "n", "f", "no match", "non-match", "different", "distinct"})


class JudgedPairs(NamedTuple):
    """Pairs of rows, each once, and whether they are of one cluster.

    Attributes:
        left: (p,) smaller row of a pair.
        right: (p,) larger row.
        match: (p,) whether they are of one cluster.
        skipped: pairs that had no answer.
    """

    left: IntArray
    right: IntArray
    match: NDArray[np.bool_]
    skipped: int


def read_judged_pairs(path: str | Path, ids: Sequence[str]) -> JudgedPairs:
    """Read judged pairs of the records of a table.

    Args:
        path: table with two columns of ids (``id_a`` and ``id_b``, or ``left`` and ``right``) and
            one of answers (``match``: 1 or 0, true or false, yes or no, match or no match).
        ids: of the records, in the order of their rows.

    Raises:
        DataError: a column is missing, an id is unknown or not unique, an answer is no answer, or
            two answers to one pair contradict each other.
    """
    table = open_table(path)
    a, b, answer = _columns(table)
    raw = read_columns(table, {a: "text", b: "text", answer: "text"})
    row_of = {id: row for row, id in enumerate(ids)}
    repeated = len(row_of) < len(ids)
    answers: dict[tuple[int, int], bool] = {}
    skipped = 0
    for line, (one, two, text) in enumerate(zip(raw[a], raw[b], raw[answer], strict=True)):
        if text is None:
            skipped += 1
            continue
        rows = [_row(table, line, id, row_of, ids, repeated) for id in (one, two)]
        if rows[0] == rows[1]:
            raise _error(table, line, f"a pair must be of two records; received {one!r} twice")
        pair = (min(rows), max(rows))
        match = _answer(table, line, text)
        if answers.setdefault(pair, match) != match:
            raise _error(table, line, f"{one!r} and {two!r} match in one line and not in another")
    if not answers:
        raise DataError("has no pair with an answer; fill in column " + repr(answer), table.path)
    pairs = np.array(list(answers), np.int64).reshape(-1, 2)
    return JudgedPairs(pairs[:, 0], pairs[:, 1], np.array(list(answers.values())), skipped)


def _columns(table: RecordTable) -> tuple[str, str, str]:
    ids = next((pair for pair in _IDS if set(pair) <= set(table.names)), None)
    answer = next((name for name in _ANSWERS if name in table.names), None)
    if ids is None or answer is None:
        raise DataError(
            "judged pairs need the columns id_a, id_b and match; received "
            f"{', '.join(table.names[:12])}. Rename them",
            table.path,
        )
    return *ids, answer


def _row(
    table: RecordTable,
    line: int,
    id: str | None,
    row_of: dict[str, int],
    ids: Sequence[str],
    repeated: bool,
) -> int:
    row = None if id is None else row_of.get(id)
    if row is None:
        raise _error(
            *(table, line),
            f"there is no record with the id {id!r}; ids are such as {ids[0]!r}. Correct it, or "
            "name the column of ids with --id",
        )
    if repeated and ids.index(str(id)) != row:
        raise _error(table, line, f"several records have the id {id!r}; ids must be distinct")
    return row


def _answer(table: RecordTable, line: int, text: str) -> bool:
    plain = text.strip().casefold().removesuffix(".0")
    if plain not in _YES | _NO:
        raise _error(table, line, f"an answer must be 1 or 0 (or yes, no, ...); received {text!r}")
    return plain in _YES


def _error(table: RecordTable, row: int, problem: str) -> DataError:
    return DataError(problem, table.path, table.line(row))
