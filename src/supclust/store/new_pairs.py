"""Which candidate pairs a change of the records brings, and which it takes away.

By rules, two records are candidates if they share a key that at most so many records have. New
records bring their pairs with all who share their keys. A key that too many records share from now
on takes its pairs away, unless another key makes them candidates; one that fewer share brings them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supclust.kernels import kernel
from supclust.model.trained import TrainedModel
from supclust.resolve.blocking.key_kernels import agreement
from supclust.resolve.blocking.keys import Keys
from supclust.resolve.table_model import group_limit, keys_of, rules_of
from supclust.store.folder.key_index import as_keys
from supclust.store.folder.state import State, pair_codes

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class PairChanges:
    """Pairs of rows.

    Attributes:
        left: of the pairs to score.
        right: likewise.
        dropped: (k, 2) scored pairs that are no candidates any more.
        keys: of the new rows, by rule.
    """

    left: Ints
    right: Ints
    dropped: Ints
    keys: list[Keys]


def all_new_pairs(state: State, new: int, removed: Ints) -> PairChanges:
    """Where all pairs are candidates: those of new records with all others."""
    alive = state.alive.copy()
    alive[removed] = False
    rows = np.concatenate([np.flatnonzero(alive), state.n_rows + np.arange(new)])
    starts = np.array([0, len(rows)])
    codes = _listed(starts, rows, state.n_rows, np.zeros(1, np.bool_))
    return PairChanges(codes >> 32, codes & 0xFFFFFFFF, np.empty((0, 2), np.int64), [])


def rule_keys(model: TrainedModel, values: dict[str, Any]) -> list[Keys]:
    """Keys of some records, by rule."""
    rules = rules_of(model)
    table = keys_of(model, values, rules)
    return [table.of_rule(rule) for rule in rules]


def changed_pairs(
    state: State, values: dict[str, Any], removed: Ints, removed_values: dict[str, Any]
) -> PairChanges:
    """Where rules find candidates: pairs that come, and scored pairs that go.

    Args:
        state: before the change.
        values: of the new records.
        removed: rows that go.
        removed_values: of these.
    """
    change = _KeyChanges(state, values, removed, removed_values)
    codes = [np.empty(0, np.int64)]
    crowded = [np.empty(0, np.int64)]
    for rule in range(len(change.new)):
        codes.append(change.pairs(rule))
        crowded.append(change.crowded(rule))
    pairs = np.unique(np.concatenate(codes))
    old = (pairs & 0xFFFFFFFF) < state.n_rows  # pairs of former records, of keys that came back
    if old.any():
        edges = state.edges
        known = np.isin(pairs[old], pair_codes(edges.left, edges.right))
        pairs = np.concatenate([pairs[~old], pairs[old][~known]])
    dropped = change.no_candidates(np.unique(np.concatenate(crowded)))
    return PairChanges(pairs >> 32, pairs & 0xFFFFFFFF, dropped, change.new)


class _KeyChanges:
    """Keys that new and removed rows have, and how many rows share them before and after."""

    def __init__(
        self, state: State, values: dict[str, Any], removed: Ints, removed_values: dict[str, Any]
    ) -> None:
        self.state, self.index = state, state.keys
        self.most = group_limit(state.model)
        self.new = rule_keys(state.model, values)
        self.alive = state.alive.copy()
        self.alive[removed] = False
        self.keys, self.before, self.after = [], [], []
        gone = rule_keys(state.model, removed_values)
        for rule, (new, old) in enumerate(zip(self.new, gone, strict=True)):
            keys = np.unique(np.concatenate([new.items, old.items]))
            before = self.index.sizes(rule, keys, state.alive)
            more, less = (
                np.bincount(np.searchsorted(keys, one.items), minlength=len(keys))
                for one in (new, old)
            )
            self.keys.append(keys)
            self.before.append(before)
            self.after.append(before + more - less)

    def pairs(self, rule: int) -> Ints:
        """Pairs that keys of a rule bring."""
        keys, before, after = self.keys[rule], self.before[rule], self.after[rule]
        used = np.flatnonzero((after >= 2) & (after <= self.most))
        owner, rows = self.index.members(rule, keys[used], self.alive)
        new = self.new[rule]
        fresh = self.state.n_rows + np.repeat(np.arange(len(new.starts) - 1), np.diff(new.starts))
        place = np.full(len(keys), -1)
        place[used] = np.arange(len(used))
        own = place[np.searchsorted(keys, new.items)]
        owner = np.concatenate([owner, own[own >= 0]])
        rows = np.concatenate([rows, fresh[own >= 0]])
        order = np.lexsort((rows, owner))
        starts = np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=len(used)))])
        whole = before[used] > self.most
        return _listed(starts.astype(np.int64), rows[order], self.state.n_rows, whole)

    def crowded(self, rule: int) -> Ints:
        """Scored pairs, by their position, of keys that are shared by too many rows now."""
        before, after = self.before[rule], self.after[rule]
        full = np.flatnonzero((before <= self.most) & (before >= 2) & (after > self.most))
        edges, positions = self.state.edges, [np.empty(0, np.int64)]
        owner, rows = self.index.members(rule, self.keys[rule][full], self.alive)
        for key in range(len(full)):
            here = np.zeros(self.state.n_rows, np.bool_)
            here[rows[owner == key]] = True
            positions.append(np.flatnonzero(here[edges.left] & here[edges.right]))
        return np.concatenate(positions)

    def no_candidates(self, positions: Ints) -> Ints:
        """(k, 2) rows: those of some scored pairs that share no key after the change."""
        edges = self.state.edges
        left, right = edges.left[positions], edges.right[positions]
        rows, local = np.unique(np.concatenate([left, right]), return_inverse=True)
        a, b = local[: len(left)], local[len(left) :]
        still = np.zeros(len(left), np.bool_)
        for rule in range(len(self.new) if len(left) else 0):
            owner, items = self.index.of_rows(rule, rows.astype(np.int64), self.state.n_rows)
            sizes = self._sizes_after(rule, items)
            used = (sizes >= 2) & (sizes <= self.most)
            shares = np.empty(len(left), np.bool_)
            agreement(*as_keys(owner[used], items[used], len(rows)), a, b, shares)
            still |= shares
        return np.column_stack([left, right])[~still].astype(np.int64)

    def _sizes_after(self, rule: int, items: Ints) -> Ints:
        keys, inverse = np.unique(items, return_inverse=True)
        sizes = self.index.sizes(rule, keys, self.state.alive)
        changed = self.keys[rule]
        at = np.minimum(np.searchsorted(changed, keys), max(0, len(changed) - 1))
        if len(changed):
            known = changed[at] == keys
            sizes[known] = self.after[rule][at[known]]
        return sizes[inverse]


def _listed(starts: Ints, rows: Ints, first: int, whole: Bools) -> Ints:
    codes = np.empty(_count_group_pairs(starts, rows, first, whole), np.int64)
    _list_group_pairs(starts, rows, first, whole, codes)
    return codes


@kernel
def _count_group_pairs(starts: Ints, members: Ints, first: int, whole: Bools) -> int:
    """Number of pairs that `_list_group_pairs` lists."""
    count = 0
    for group in range(starts.shape[0] - 1):
        for b in range(starts[group], starts[group + 1]):
            if whole[group] or members[b] >= first:
                count += b - starts[group]
    return count


@kernel
def _list_group_pairs(starts: Ints, members: Ints, first: int, whole: Bools, out: Ints) -> None:
    """Pairs of rows of a group, as larger row + smaller row << 32; those with a new row.

    Args:
        starts: (groups + 1,).
        members: rows of the groups, ascending in each.
        first: rows from here on are new.
        whole: (groups,) whether all pairs of a group are listed.
        out: filled.
    """
    count = 0
    for group in range(starts.shape[0] - 1):
        for b in range(starts[group], starts[group + 1]):
            if whole[group] or members[b] >= first:
                for a in range(starts[group], b):
                    out[count] = (members[a] << 32) | members[b]
                    count += 1
