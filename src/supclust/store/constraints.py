"""Corrections of a store: pairs of records that must, or must not, be in one cluster."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from supclust.data.errors import DataError
from supclust.hac.graph.constraints import merged_groups
from supclust.store.folder.segments import SCHEMAS

Ints = NDArray[np.int64]
Pairs = Iterable[tuple[Any, Any]]

TOGETHER, APART = "together", "apart"


class Constraint(NamedTuple):
    """A constraint.

    Attributes:
        correction: number of the call that it came with, from 1.
        constraint: `TOGETHER` or `APART`.
        id_a: a record.
        id_b: another record.
        active: false once the correction is undone.
        version: of the store that it came with.
    """

    correction: int
    constraint: str
    id_a: str
    id_b: str
    active: bool
    version: int


def to_table(constraints: Sequence[Constraint]) -> Any:
    """As a table of pyarrow."""
    import pyarrow as pa

    columns = list(zip(*constraints, strict=True)) or [()] * len(Constraint._fields)
    return pa.table([list(column) for column in columns], schema=SCHEMAS["constraints"])


def from_table(table: Any) -> tuple[Constraint, ...]:
    """The inverse of `to_table`."""
    rows = zip(*(column.to_pylist() for column in table.columns), strict=True)
    constraints = tuple(Constraint(*row) for row in rows)
    wrong = next((one for one in constraints if one.constraint not in (TOGETHER, APART)), None)
    if wrong is not None:
        raise DataError(
            f"a constraint must be {TOGETHER} or {APART}; received {wrong.constraint!r}. Restore "
            "the whole store"
        )
    return constraints


def added(
    constraints: Sequence[Constraint], together: Pairs, apart: Pairs, version: int
) -> tuple[Constraint, ...]:
    """The constraints of a new correction, after the others.

    Raises:
        ValueError: they contradict each other or those there are; the message shows the chain.
    """
    number = 1 + max((one.correction for one in constraints), default=0)
    new = [
        Constraint(number, kind, str(a), str(b), True, version)
        for kind, pairs in ((TOGETHER, together), (APART, apart))
        for a, b in pairs
    ]
    result = (*constraints, *new)
    numbers: dict[str, int] = {}
    for one in result:
        for id in (one.id_a, one.id_b):
            numbers.setdefault(id, len(numbers))
    must, cannot = _numbered(result, numbers)
    names = list(numbers)
    remedy = "Leave it out, or undo an earlier one: supclust correct --list, then --undo NUMBER."
    merged_groups(must, cannot, len(names), lambda node: names[node], remedy)
    return result


def undone(
    constraints: Sequence[Constraint], correction: int | None
) -> tuple[tuple[Constraint, ...], int]:
    """The constraints without those of a correction, the last one by default; and its number."""
    active = [one.correction for one in constraints if one.active]
    if not active:
        raise DataError("there is no correction to undo: none is active")
    number = max(active) if correction is None else correction
    if number not in active:
        raise DataError(
            f"correction {number} cannot be undone: the active ones are "
            f"{', '.join(map(str, sorted(set(active))))}. Name one of these"
        )
    return tuple(
        one._replace(active=False) if one.correction == number else one for one in constraints
    ), number


def links(constraints: Sequence[Constraint], position: Mapping[str, int]) -> tuple[Ints, Ints]:
    """Must-links and cannot-links, (k, 2), among the records that there are.

    A record that is gone still links those it was with: it stands for any record of its group.

    Args:
        constraints: all.
        position: of the records that there are, at least of those named, by id.
    """
    group: dict[str, str] = {}

    def root(id: str) -> str:
        while group.setdefault(id, id) != id:
            id = group[id]
        return id

    for one in constraints:
        if one.active and one.constraint == TOGETHER:
            group[root(one.id_a)] = root(one.id_b)
    here: dict[str, int] = {}
    must = []
    for id in {id: None for one in constraints for id in (one.id_a, one.id_b)}:
        if id in position:
            first = here.setdefault(root(id), position[id])
            if first != position[id]:
                must.append((first, position[id]))
    cannot = [
        (here[root(one.id_a)], here[root(one.id_b)])
        for one in constraints
        if one.active
        and one.constraint == APART
        and root(one.id_a) in here
        and root(one.id_b) in here
    ]
    return _pairs(must), _pairs(cannot)


def require_consistent(must: Ints, cannot: Ints, names: Sequence[str]) -> None:
    """Refuse must-links that contradict cannot-links; the message has the ids in ``names``."""
    try:
        merged_groups(must, cannot, len(names), lambda node: names[node])
    except ValueError as problem:
        raise DataError(str(problem)) from None


def _numbered(constraints: Sequence[Constraint], numbers: Mapping[str, int]) -> tuple[Ints, Ints]:
    must, cannot = (
        _pairs(
            (numbers[one.id_a], numbers[one.id_b])
            for one in constraints
            if one.active and one.constraint == kind
        )
        for kind in (TOGETHER, APART)
    )
    return must, cannot


def _pairs(pairs: Iterable[tuple[int, int]]) -> Ints:
    return np.array(list(pairs), np.int64).reshape(-1, 2)
