"""A review: the queue of questions about a store, kept up to date with every answer."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock
from typing import Any

import numpy as np

from supclust.data.errors import DataError
from supclust.explain.records import described
from supclust.explain.waterfall import Waterfall
from supclust.review.answers import Answers
from supclust.review.questions import Question, disagreement, questions
from supclust.review.stored import StoredComponent
from supclust.store.entity_store import EntityStore
from supclust.store.folder.manifest import read_manifest

QUEUE = 200
"""Questions that are prepared."""
SHOWN = 4
"""Records of a group that are shown."""
_COMPARED = 8  # questions whose features are looked at to choose the next one
_GONE = "That question is not asked any more: it was answered elsewhere, or the store has changed."
_MOST_TEXT = 300  # characters of a value that are shown


class Review:
    """Questions and answers about a store; may be used by several threads.

    Args:
        store: that is asked about.
    """

    def __init__(self, store: EntityStore) -> None:
        self._lock = Lock()
        self._begin(store)

    def _begin(self, store: EntityStore) -> None:
        """Choose questions about a store as it is."""
        self.store = store
        self.answers = Answers(store)
        trees = store.trees()
        self._queue = questions(trees.forest, trees.ids, store.threshold, QUEUE, self.answers.keys)
        self._current: dict[str, Any] | None = None
        self._components: dict[tuple[int, int], StoredComponent] = {}
        self._question()  # prepared before a browser asks

    def _follow(self) -> None:
        """Begin anew if another process has changed the store."""
        if read_manifest(self.store.folder).version != self.store.version:
            self._begin(EntityStore.open(self.store.folder))

    def state(self) -> dict[str, Any]:
        """The next question, and how far the review is, as plain values."""
        with self._lock:
            self._follow()
            return self._state()

    def answer(self, key: str, answer: str) -> dict[str, Any]:
        """Answer a question; the next state. One that is not current any more is refused."""
        with self._lock:
            self._follow()
            current = self._question()
            if current is None or current["key"] != key:
                return {**self._state(), "notice": _GONE}
            left, right = ([one["id"] for one in current[side]] for side in ("left", "right"))
            try:
                self.answers.add(key, answer, left, right)
            except ValueError as problem:  # contradicts an earlier answer
                return {**self._state(), "notice": str(problem)}
            self._refresh([left[0], right[0]], key)
            return self._state()

    def undo(self) -> dict[str, Any]:
        """Take the last answer back; the next state, which asks the same again."""
        with self._lock:
            self._follow()
            try:
                last = self.answers.undo()
            except DataError as problem:
                return {**self._state(), "notice": str(problem)}
            self._refresh([last["left"][0], last["right"][0]])
            at = next((k for k, one in enumerate(self._queue) if one.key == last["question"]), None)
            if at is not None:
                self._current = self._shown(self._queue.pop(at))
            return {**self._state(), "notice": "The last answer was taken back."}

    def _state(self) -> dict[str, Any]:
        given = [one["answer"] for one in self.answers.given]
        return {
            "question": self._question(),
            "answered": {name: given.count(name) for name in ("yes", "no", "unsure")},
            "version": self.store.version,
            "records": len(self.store),
        }

    def _refresh(self, ids: Sequence[str], answered: str | None = None) -> None:
        """Ask anew about the components of records whose trees have changed."""
        self._current = None
        known = self.answers.keys
        for id in dict.fromkeys(ids):
            tree = self.store.tree(self.store.component_of(id))
            touched = set(tree.ids)
            self._queue = [
                one for one in self._queue if one.left[0] not in touched and one.key != answered
            ]
            self._queue += questions(tree.forest, tree.ids, self.store.threshold, QUEUE, known)
        self._queue = sorted(
            {one.key: one for one in self._queue}.values(), key=lambda one: -one.worth
        )[:QUEUE]

    def _question(self) -> dict[str, Any] | None:
        """The current question as shown; of the most valuable, one whose features disagree."""
        if self._current is None and self._queue:
            first = self._queue[:_COMPARED]
            explained = [self._waterfall(one) for one in first]
            values = [
                one.worth * (1 + disagreement(waterfall))
                for one, (_, waterfall) in zip(first, explained, strict=True)
            ]
            best = int(np.argmax(values))
            self._current = self._shown(self._queue.pop(best), *explained[best])
        return self._current

    def _waterfall(self, question: Question) -> tuple[StoredComponent, Waterfall]:
        stored = self._component(question.left[0])
        left, right = (
            np.array([stored.node[id] for id in side]) for side in (question.left, question.right)
        )
        return stored, stored.component.waterfall(left, right)

    def _component(self, id: str) -> StoredComponent:
        """The component of a record, read once per version of the store."""
        key = (self.store.version, self.store.component_of(id))
        if key not in self._components:
            if len(self._components) >= _COMPARED:
                self._components.clear()
            self._components[key] = StoredComponent.of(self.store, id)
        return self._components[key]

    def _shown(
        self,
        question: Question,
        stored: StoredComponent | None = None,
        waterfall: Waterfall | None = None,
    ) -> dict[str, Any]:
        """A question as the page shows it."""
        if stored is None or waterfall is None:
            stored, waterfall = self._waterfall(question)
        groups = [
            self._closest(stored, question.left, question.right),
            self._closest(stored, question.right, question.left),
        ]
        table = self.store.records([*groups[0], *groups[1]])
        columns = [name for name in table.column_names if name != self.store.id]
        rows = table.select(columns).to_pylist()
        left, right = rows[: len(groups[0])], rows[len(groups[0]) :]
        return {
            "key": question.key,
            "left": _group(groups[0], left, right, columns),
            "right": _group(groups[1], right, left, columns),
            "sizes": [len(question.left), len(question.right)],
            "columns": columns,
            "height": question.height,
            "threshold": self.store.threshold,
            "together": question.merged,
            "waterfall": described(waterfall),
        }

    def _closest(
        self, stored: StoredComponent, own: Sequence[str], other: Sequence[str]
    ) -> list[str]:
        """Records of a group that are shown: those with the closest pairs to the other group."""
        nodes = [[stored.node[id] for id in side] for side in (own, other)]
        given = stored.component.between(*nodes)
        ends = np.column_stack([stored.component.first[given], stored.component.second[given]])
        near = [stored.ids[k] for k in dict.fromkeys(ends.ravel().tolist()) if k in set(nodes[0])]
        return list(dict.fromkeys([*near, *own]))[:SHOWN]


def _group(
    ids: Sequence[str],
    rows: Sequence[dict[str, Any]],
    others: Sequence[dict[str, Any]],
    columns: Sequence[str],
) -> list[dict[str, Any]]:
    """Records with their values, and whether these are found on the other side."""
    there = {name: {_text(row[name]).casefold() for row in others} for name in columns}
    return [
        {
            "id": id,
            "values": [
                {
                    "text": _text(row[name])[:_MOST_TEXT],
                    "differs": bool(_text(row[name]))
                    and there[name] != {""}
                    and _text(row[name]).casefold() not in there[name],
                }
                for name in columns
            ],
        }
        for id, row in zip(ids, rows, strict=True)
    ]


def _text(value: Any) -> str:
    return "" if value is None or value != value else str(value)
