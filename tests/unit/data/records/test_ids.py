"""Ids that occur more than once."""

from __future__ import annotations

import pytest

from supclust.data.records.ids import RepeatedIds, repeated_ids


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


def test_the_example_is_the_first_of_the_table() -> None:
    found = repeated_ids([*"rsts", *"tt"])
    assert str(found) == "2 ids occur more than once, as 's' (2 times)"
