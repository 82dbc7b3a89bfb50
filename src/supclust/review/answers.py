"""Answers of people: corrections of the store, and a list of what was asked, in ``review.json``."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise, product
from pathlib import Path
from typing import Any, Literal, get_args

from supclust.data.documents import Text, read_document
from supclust.data.errors import DataError
from supclust.data.files import write_json
from supclust.schema import Natural
from supclust.store.creation import now
from supclust.store.entity_store import EntityStore

Answer = Literal["yes", "no", "unsure"]
FILE = "review.json"
COMMAND = "review"
"""What the store's log says."""
_ENTRY = {
    "question": Text,
    "answer": Answer,
    "correction": Natural | None,
    "left": [Text],
    "right": [Text],
    "time": Text,
}


class Answers:
    """The answers to questions about a store.

    Args:
        store: that is asked about. ``yes`` and ``no`` become corrections of it at once.
    """

    def __init__(self, store: EntityStore) -> None:
        self.store = store
        self.given: list[dict[str, Any]] = _read(store.folder / FILE)

    @property
    def keys(self) -> set[str]:
        """Keys of the questions that were answered."""
        return {one["question"] for one in self.given}

    def add(
        self, question: str, answer: str, left: Sequence[str], right: Sequence[str]
    ) -> dict[str, Any]:
        """Keep an answer.

        Args:
            question: its key.
            answer: ``yes``: all these records are of one entity; ``no``: none of the left is of the
                entity of one of the right; ``unsure``: the question is not asked again.
            left: ids that were shown.
            right: ids that were shown beside them.
        """
        if answer not in get_args(Answer):
            raise ValueError(f"an answer must be yes, no or unsure; received {answer!r}.")
        if answer == "yes":
            self.store.correct(together=list(pairwise([*left, *right])), command=COMMAND)
        elif answer == "no":
            self.store.correct(apart=list(product(left, right)), command=COMMAND)
        entry = {
            "question": question,
            "answer": answer,
            "correction": None if answer == "unsure" else self._last_correction(),
            "left": list(left),
            "right": list(right),
            "time": now(),
        }
        self.given.append(entry)
        self._write()
        return entry

    def undo(self) -> dict[str, Any]:
        """Take the last answer back, and return it."""
        if not self.given:
            raise DataError("there is no answer to take back")
        last = self.given[-1]
        if last["correction"] is not None and self._holds(last["correction"]):
            self.store.correct(undo=last["correction"], command=COMMAND)
        self.given.pop()
        self._write()
        return last

    def _last_correction(self) -> int:
        return int(max(self.store.constraints().column("correction").to_pylist()))

    def _holds(self, correction: int) -> bool:
        """Whether a correction was not undone by other means."""
        return any(one["correction"] == correction for one in active_constraints(self.store))

    def _write(self) -> None:
        write_json(self.store.folder / FILE, {"answers": self.given})


def active_constraints(store: EntityStore) -> list[dict[str, Any]]:
    """Constraints of a store that were not undone."""
    return [one for one in store.constraints().to_pylist() if one["active"]]


def judged_pairs(store: EntityStore) -> list[tuple[str, str, bool]]:
    """Corrections as labelled pairs for training: two ids, and whether they are of one entity."""
    return [
        (one["id_a"], one["id_b"], one["constraint"] == "together")
        for one in active_constraints(store)
    ]


def _read(path: Path) -> list[dict[str, Any]]:
    if not path.exists():
        return []
    entries: list[dict[str, Any]] = read_document(path, {"answers": [_ENTRY]})["answers"]
    return entries
