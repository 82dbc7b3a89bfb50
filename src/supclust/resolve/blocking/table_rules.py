"""Candidate rules of a table: its keys, and rules within a budget of pairs, by hand or chosen."""

from __future__ import annotations

from collections.abc import Callable

from supclust.data.errors import DataError
from supclust.data.records.table import Records
from supclust.resolve.blocking.choose import ChosenRule, choose_rules
from supclust.resolve.blocking.keys import Ints, KeyColumn
from supclust.resolve.blocking.predicates import CHOICE, IN_BLOCKS
from supclust.resolve.blocking.rules import KeyTable, Predicate, Rule, parse_rules

_IN_BLOCKS = 4  # times the budget where candidates are of one block


def key_table(records: Records, documents: bool = False) -> KeyTable:
    """Keys of the compared columns of a table, and of its blocks.

    Args:
        records: the table.
        documents: also of long texts, where there are others; they take most of the time.
    """
    short = {name: kind for name, kind in records.kinds.items() if kind != "document"}
    columns = {
        name: KeyColumn.of(records.values[name], kind)
        for name, kind in (records.kinds if documents else short or records.kinds).items()
    }
    block = records.choice.block
    if block is None:
        return KeyTable(columns)
    columns[block] = KeyColumn.of(records.blocks, "code")
    return KeyTable(columns, within=Predicate(block))


def table_rules(
    keys: KeyTable,
    records: Records,
    labels: Ints,
    given: str | None,
    budget: float,
    target: float,
    seed: int,
    say: Callable[[str], None],
) -> list[ChosenRule]:
    """Candidate rules of a table: given, or chosen on labelled pairs.

    Args:
        keys: of the table.
        records: the table.
        labels: (n,) entity, -1: not known.
        given: rules by hand.
        budget: candidate pairs per record, at most.
        target: share of the labelled pairs that the closure is to cover.
        seed: of samples.
        say: receives the table of the rules.
    """
    if given is not None:
        rules = [_within(keys, r) for r in parse_rules(given, list(keys.columns))]
        return [ChosenRule(rule, float(keys.of_rule(rule).n_pairs()), 0, 0) for rule in rules]
    block = keys.within
    instead = {} if block is None else IN_BLOCKS
    predicates = [
        Predicate(name, instead.get(predicate, predicate))
        for name, kind in records.kinds.items()
        if name in keys.columns
        for predicate in CHOICE[kind]
    ]
    most = budget * records.n
    if block is not None:
        most *= _IN_BLOCKS
        inside = Rule((block,))
        pairs = keys.of_rule(inside).n_pairs()
        if pairs <= most:
            return [ChosenRule(inside, float(pairs), 0, 0)]
    chosen = choose_rules(keys, predicates, labels, most, target, seed)
    if not chosen:
        raise DataError(
            f"no rule makes candidates of labelled pairs within {budget:g} pairs per "
            "record. Raise --max-pairs, or name rules with --candidates",
            records.path,
        )
    say("candidates: pairs of records that agree on one of these rules")
    width = max(len(str(one.rule)) for one in chosen)
    say(f"  {'rule':<{width}}  {'pairs':>12}  {'recall':>7}  {'closure':>7}")
    for one in chosen:
        say(f"  {one.rule!s:<{width}}  {one.pairs:>12,.0f}  {one.recall:7.1%}  {one.closure:7.1%}")
    reached = chosen[-1].closure
    if reached < target:
        say(
            f"the rules connect {reached:.1%} of the labelled pairs, not {target:.1%}: no further "
            f"rule within {round(budget, 1):,g} pairs per record adds to it. Raise --max-pairs, or "
            "name rules with --candidates"
        )
    if block is not None:
        say(f"pairs of different blocks (column {block}) are not compared")
    return [one._replace(rule=_within(keys, one.rule)) for one in chosen]


def _within(keys: KeyTable, rule: Rule) -> Rule:
    """The rule for pairs of one block, where there are blocks."""
    block = keys.within
    if block is None or block in rule.predicates:
        return rule
    return Rule((*rule.predicates, block))
