"""Ids that occur more than once."""

from __future__ import annotations

import numpy as np
import pytest

from supclust.data.records.ids import IdCounter, RepeatedIds, repeated_ids


@pytest.mark.parametrize(
    ("ids", "expected"),
    [
        (["a", "b", "c"], None),
        ([], None),
        ([None, None, " ", "", float("nan"), float("nan")], None),
        ([-1, -2], None),
        (["b", "c", "a", "a", "b", "a", None], RepeatedIds(2, "b", 2)),
        ([7, 8, 7], RepeatedIds(1, "7", 2)),
    ],
)
def test_repeated_ids_are_counted(ids: list[object], expected: RepeatedIds | None) -> None:
    assert repeated_ids(ids) == expected


def test_batches_count_together() -> None:
    counter = IdCounter()
    ids = [f"r{k}" for k in np.random.default_rng(0).permutation(1000)] + ["r5", "r7"]
    for start in range(0, len(ids), 100):
        counter.add(ids[start : start + 100])
    found = counter.repeated(ids)
    assert found == RepeatedIds(2, min("r5", "r7", key=ids.index), 2)
    assert str(found) == f"2 ids occur more than once, as {found.example!r} (2 times)"
