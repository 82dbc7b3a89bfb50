"""Choice of candidate rules: greedily, by the labelled pairs that a rule adds per candidate pair.

Every conjunction of up to three predicates is judged by two numbers: the labelled pairs (two
records of one entity) that it makes candidates, and the pairs of all records that it makes
candidates, estimated on a sample of records. Rules are added until the labelled pairs are connected
(the transitive closure of the candidates covers them) or the budget of pairs is used.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supclust.resolve.blocking.key_kernels import agreement, count_bits
from supclust.resolve.blocking.keys import Ints, Keys
from supclust.resolve.blocking.labelled_sample import labelled_pairs
from supclust.resolve.blocking.predicates import PARTS
from supclust.resolve.blocking.rules import KeyTable, Predicate, Rule

Bools = NDArray[np.bool_]

TARGET = 0.999
"""Share of the labelled pairs that the closure of the candidates is to cover."""
_SAMPLE = 10_000  # records on which pairs are counted
_USEFUL = 0.02  # share of the labelled pairs that a predicate or conjunction must cover
_GAIN = 0.0005  # share of the labelled pairs that a rule must add
_RULE_COST = 0.5  # of a further rule, in pairs per record: few rules are preferred
_ALIKE = 0.95  # predicates that cover the same labelled pairs to this share are one
_PREDICATES = 32  # at most, those that cover most
_TWICE = 0.25  # of the budget, up to which rules are added that cover pairs a second time
_BEAM = 40  # conjunctions of two that are extended to three


class ChosenRule(NamedTuple):
    """A rule and what it brings, given those before it.

    Attributes:
        rule: the conjunction.
        pairs: estimate of all pairs that satisfy it.
        recall: share of the labelled pairs that are candidates with it and those before.
        closure: share of the labelled pairs that the closure covers.
    """

    rule: Rule
    pairs: float
    recall: float
    closure: float


def choose_rules(
    table: KeyTable,
    predicates: Sequence[Predicate],
    labels: Ints,
    budget: float,
    target: float = TARGET,
    seed: int = 0,
) -> list[ChosenRule]:
    """Choose rules on labelled records.

    Args:
        table: keys of all records.
        predicates: to choose from.
        labels: (n,) entity, negative: not known.
        budget: pairs, at most.
        target: share of the labelled pairs that the closure is to cover.
        seed: of the samples.
    """
    rng = np.random.default_rng(seed)
    left, right, weight = labelled_pairs(labels, rng)
    if not len(left):
        raise ValueError("rules are chosen on pairs of one entity; received none. Label some.")
    pool = _Pool(table, predicates, left, right, rng)
    chosen: list[int] = []
    covered = np.zeros(len(left), np.bool_)
    while _closure(left, right, covered) < target:
        best = pool.best(covered, budget - sum(pool.pairs(k) for k in chosen))
        if best is None:
            break
        chosen = pool.without_redundant([*chosen, best])
        covered |= pool.covers(best)
    return _described(pool, _twice(pool, chosen, budget, target), left, right, weight)


def _twice(pool: _Pool, chosen: list[int], budget: float, target: float) -> list[int]:
    """The rules, and more that cover the labelled pairs a second time.

    What is covered once is covered by chance in part: of new entities some pairs are lost. A second
    rule finds most of them: one of other columns, or else of other parts of the same columns. Only
    a part of the budget is used for it.
    """
    for parts in (False, True):
        while chosen:
            twice = pool.times_covered(chosen) > 1
            if twice.mean() >= target:
                break
            left = _TWICE * budget - sum(pool.pairs(k) for k in chosen)
            best = pool.best(twice, left, pool.dependent(chosen, parts))
            if best is None:
                break
            chosen = [*chosen, best]
    return chosen


class _Pool:
    """Conjunctions of up to three predicates of different columns, and what each covers.

    Pairs are counted on first use, on a sample of the records.
    """

    def __init__(
        self,
        table: KeyTable,
        predicates: Sequence[Predicate],
        left: Ints,
        right: Ints,
        rng: np.random.Generator,
    ) -> None:
        m = min(table.n, _SAMPLE)
        self.n, self.scale = table.n, (table.n / max(1, m)) ** 2
        self.rows = np.sort(rng.choice(table.n, m, replace=False))
        self.table, self.total = table, len(left)
        self.predicates, covers = _useful(table, predicates, left, right)
        self._keys: dict[int, Keys] = {}
        single = np.packbits(covers, axis=1)  # (predicates, bytes)
        self.rules: list[tuple[int, ...]] = [(k,) for k in range(len(single))]
        self.packed, shorter = single, self.rules
        for _ in range(2):
            longer = [
                (*rule, k)
                for rule in shorter
                for k in range(rule[-1] + 1, len(single))
                if self._joins(rule, k)
            ]
            both = np.array([np.bitwise_and.reduce(single[list(rule)]) for rule in longer])
            counts = count_bits(both) if longer else np.empty(0)
            kept = np.flatnonzero(counts >= _USEFUL * self.total)
            self.rules = self.rules + [longer[k] for k in kept]
            self.packed = np.concatenate([self.packed, both[kept]]) if len(kept) else self.packed
            shorter = [longer[k] for k in kept[np.argsort(-counts[kept], kind="stable")[:_BEAM]]]
        self._pairs = np.full(len(self.rules), np.nan)
        # A conjunction makes at least those pairs candidates that it covers.
        self.least = count_bits(self.packed).astype(np.float64)

    def _joins(self, rule: tuple[int, ...], other: int) -> bool:
        """Whether a predicate may extend a rule: another column, and one key per record at most."""
        columns = {self.predicates[k].column for k in rule}
        several = sum(not self._sampled(k).is_single for k in (*rule, other))
        return self.predicates[other].column not in columns and several <= 1

    def dependent(self, chosen: Sequence[int], parts: bool) -> Bools:
        """Which conjunctions read all that a chosen one reads: columns, or parts of columns.

        Records with an equal value agree on all parts of it.
        """

        def read(rule: tuple[int, ...], least: bool) -> set[tuple[str, str]]:
            used = [self.predicates[k] for k in rule]
            if not parts:
                return {(one.column, "") for one in used}
            whole = [one.column for one in used if one.name == "equal" and not least]
            read = {(one.column, PARTS.get(one.name, "whole")) for one in used}
            return read | {(column, part) for column in whole for part in PARTS.values()}

        needed = [read(self.rules[k], True) for k in chosen]
        return np.array([any(one <= read(rule, False) for one in needed) for rule in self.rules])

    def best(self, covered: Bools, budget: float, barred: Bools | None = None) -> int | None:
        """The conjunction with the most new labelled pairs per pair, within the budget."""
        gain = count_bits(self.packed & ~np.packbits(covered)).astype(np.float64)
        if barred is not None:
            gain[barred] = 0
        gain[gain < max(1.0, _GAIN * self.total)] = 0
        fixed = _RULE_COST * self.n
        while True:
            known = np.where(np.isnan(self._pairs), self.least, self._pairs)
            worth = np.where(known <= budget, gain / (known + fixed), 0)
            k = int(worth.argmax())
            if worth[k] == 0:
                return None
            if not np.isnan(self._pairs[k]):
                return k
            self.pairs(k)

    def pairs(self, k: int) -> float:
        """Estimate of the pairs of all records that satisfy a conjunction."""
        if np.isnan(self._pairs[k]):
            keys = [self._sampled(j) for j in self.rules[k]]
            for other in keys[1:]:
                keys[0] = keys[0].times(other)
            self._pairs[k] = keys[0].n_pairs() * self.scale
        return float(self._pairs[k])

    def _sampled(self, k: int) -> Keys:
        if k not in self._keys:
            self._keys[k] = self.table.of(self.predicates[k]).of(self.rows)
        return self._keys[k]

    def covers(self, k: int) -> Bools:
        """Which labelled pairs satisfy a conjunction."""
        return np.unpackbits(self.packed[k], count=self.total).astype(np.bool_)

    def times_covered(self, chosen: Sequence[int]) -> Ints:
        """How many of the chosen conjunctions every labelled pair satisfies."""
        return sum((self.covers(k).astype(np.int64) for k in chosen), np.zeros(self.total, int))

    def rule(self, k: int) -> Rule:
        """The conjunction as a rule."""
        return Rule(tuple(self.predicates[j] for j in self.rules[k]))

    def without_redundant(self, chosen: list[int]) -> list[int]:
        """Drop rules whose labelled pairs the others cover, the earliest first."""
        count, kept = self.times_covered(chosen), []
        for k in chosen:
            if (self.covers(k) & (count == 1)).sum() >= _GAIN * self.total:
                kept.append(k)
            else:
                count -= self.covers(k)
        return kept


def _useful(
    table: KeyTable, predicates: Sequence[Predicate], left: Ints, right: Ints
) -> tuple[list[Predicate], Bools]:
    """Predicates that cover labelled pairs; of those that cover the same pairs, the narrowest."""
    kept: list[tuple[Predicate, Bools, int]] = []
    for predicate in predicates:
        covers, keys = np.empty(len(left), np.bool_), table.of(predicate)
        agreement(*keys, left, right, covers)
        if covers.mean() >= _USEFUL:
            kept.append((predicate, covers, keys.n_pairs()))
    kept.sort(key=lambda one: one[2])
    distinct: list[tuple[Predicate, Bools, int]] = []
    for one in kept:
        if not any(
            (one[1] & other[1]).sum() >= _ALIKE * (one[1] | other[1]).sum() for other in distinct
        ):
            distinct.append(one)
    distinct.sort(key=lambda one: -int(one[1].sum()))
    chosen = distinct[:_PREDICATES]
    return [one[0] for one in chosen], np.array([one[1] for one in chosen], np.bool_)


def _described(
    pool: _Pool,
    chosen: Sequence[int],
    left: Ints,
    right: Ints,
    weight: NDArray[np.float64],
) -> list[ChosenRule]:
    """Rules with estimates for all labelled pairs; of large entities only some were looked at."""
    covered = np.zeros(len(left), np.bool_)
    described = []
    for k in chosen:
        covered |= pool.covers(k)
        recall = float(np.average(covered, weights=weight))
        closure = _closure(left, right, covered, weight)
        described.append(ChosenRule(pool.rule(k), pool.pairs(k), recall, closure))
    return described


def _closure(
    left: Ints, right: Ints, covered: Bools, weight: NDArray[np.float64] | None = None
) -> float:
    """Share of the pairs, by weight, whose records are connected by covered pairs."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    rows, compact = np.unique(np.concatenate([left, right]), return_inverse=True)
    i, j = compact[: len(left)], compact[len(left) :]
    ones = np.ones(int(covered.sum()), np.bool_)
    graph = coo_matrix((ones, (i[covered], j[covered])), (len(rows), len(rows)))
    _, component = connected_components(graph, directed=False)
    return float(np.average(component[i] == component[j], weights=weight))
