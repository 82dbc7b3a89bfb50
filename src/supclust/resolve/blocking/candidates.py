"""Candidate pairs of a table: every pair of records that satisfies a rule, listed once, in chunks.

A rule's keys are sorted; records with the same key are a group, and the pairs of a group are
candidates. A pair that satisfies several rules is listed under the first. Memory is that of the
keys; pairs are listed into a buffer.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from supclust.resolve.blocking.key_kernels import list_pairs
from supclust.resolve.blocking.keys import Ints, Keys
from supclust.resolve.blocking.rules import KeyTable, Rule

CHUNK = 1 << 18  # pairs listed at a time
LARGEST_GROUP = 1_000  # records; a key shared by more is left out
LARGEST_IN_BLOCK = 10_000  # likewise where candidates are of one block
ALL_PAIRS = 3_000  # records of a table up to which all pairs are candidates


def largest_group(in_blocks: bool, pairs: float = 0) -> int:
    """Records that share a key that is used, at most.

    Args:
        in_blocks: whether candidates are of one block.
        pairs: budget of candidate pairs, of which one key may make a tenth.
    """
    return LARGEST_IN_BLOCK if in_blocks else max(LARGEST_GROUP, math.isqrt(int(pairs / 5)))


class Group(NamedTuple):
    """Records that share a key, for all keys of a rule that at least two share."""

    members: Ints
    starts: Ints
    keys: Ints


class LeftOut(NamedTuple):
    """Keys of a rule that more records share than are allowed, and the most that share one."""

    rule: Rule
    keys: int
    largest: int
    allowed: int

    def __str__(self) -> str:
        """A line about it."""
        keys = f"{self.keys:,} key{'' if self.keys == 1 else 's'}"
        return (
            f"{self.rule}: {keys} that more than {self.allowed:,} records share "
            f"(up to {self.largest:,}) left out"
        )


@dataclass
class Candidates:
    """Candidate pairs of n records.

    Attributes:
        rules: in the order of `counts`; none: all pairs are candidates.
        n: records.
        left_out: keys that were left out, per rule.
        counts: pairs listed under each rule, filled while listing.
    """

    rules: tuple[Rule, ...]
    n: int
    groups: list[Group] = field(repr=False)
    starts: Ints = field(repr=False)
    items: Ints = field(repr=False)
    left_out: list[LeftOut] = field(default_factory=list)
    counts: list[int] = field(default_factory=list)

    @classmethod
    def of(cls, table: KeyTable, rules: Sequence[Rule], largest: int | None = None) -> Candidates:
        """Sort the keys of every rule into groups.

        Args:
            table: keys by predicate.
            rules: empty: all pairs.
            largest: group that is used; default: `LARGEST_GROUP`, or `LARGEST_IN_BLOCK`.
        """
        if largest is None:
            largest = largest_group(table.within is not None)
        groups, left_out, starts, items, end = [], [], [], [], 0
        for rule in rules:
            keys, group, dropped = _grouped(table.of_rule(rule), largest)
            groups.append(group)
            starts.append(keys.starts + end)
            items.append(keys.items)
            end += len(keys.items)
            if dropped:
                left_out.append(LeftOut(rule, *dropped, largest))
        shape = (len(rules), table.n + 1)
        return cls(
            tuple(rules),
            table.n,
            groups,
            np.array(starts, np.int64).reshape(shape),
            np.concatenate([np.empty(0, np.int64), *items]),
            left_out,
        )

    def chunks(self, size: int | None = None) -> Iterator[tuple[Ints, Ints]]:
        """Pairs (left < right), each once, at most ``size`` (default: `CHUNK`) at a time."""
        size = CHUNK if size is None else size
        self.counts = [0] * max(1, len(self.rules))
        if not self.rules:
            yield from self._all_pairs(size)
            return
        for rule, group in enumerate(self.groups):
            resume = np.array([0, 0, 1], np.int64)
            while True:
                left, right = np.empty(size, np.int64), np.empty(size, np.int64)
                count = list_pairs(
                    *(rule, self.starts, self.items, group.members, group.starts, group.keys),
                    *(resume, left, right),
                )
                self.counts[rule] += count
                if count:
                    yield left[:count], right[:count]
                if count < size:
                    break

    def _all_pairs(self, size: int) -> Iterator[tuple[Ints, Ints]]:
        left, right = np.triu_indices(self.n, 1)
        self.counts[0] = len(left)
        for at in range(0, len(left), size):
            yield left[at : at + size], right[at : at + size]


def _grouped(keys: Keys, largest: int) -> tuple[Keys, Group, tuple[int, int] | None]:
    """Keys that 2 to ``largest`` records share, their groups, and how many were left out."""
    owner = np.repeat(np.arange(len(keys.starts) - 1), np.diff(keys.starts))
    order = np.argsort(keys.items, kind="stable")
    ordered = keys.items[order]
    begins = np.flatnonzero(np.diff(ordered, prepend=ordered[:1] - 1)) if len(order) else order
    sizes = np.diff(begins, append=len(order)).astype(np.int64)
    used = (sizes >= 2) & (sizes <= largest)
    kept = np.repeat(used, sizes)
    group = Group(
        owner[order][kept],
        np.concatenate([[0], np.cumsum(sizes[used])]).astype(np.int64),
        ordered[begins[used]],
    )
    of_item = np.zeros(len(order), np.bool_)
    of_item[order] = kept
    counts = np.bincount(owner[of_item], minlength=len(keys.starts) - 1)
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    over = sizes > largest
    dropped = (int(over.sum()), int(sizes.max())) if over.any() else None
    return Keys(starts, keys.items[of_item]), group, dropped


def say_candidates(candidates: Candidates, total: int, say: Callable[[str], None]) -> None:
    """Say how many pairs there are, and which keys were left out."""
    what = "pairs that satisfy a rule"
    if not candidates.rules:
        what = "pairs: all are compared"
        if candidates.n > 1:
            what += (
                f", as in all tables of at most {ALL_PAIRS:,} records; rules are for larger ones"
            )
    say(f"{total:,} {what}")
    for one in candidates.left_out:
        say(str(one))
