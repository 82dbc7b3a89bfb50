"""What a model of a bare table takes from a table: columns, candidates, keys, distinct pairs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from supclust.cluster.columns import model_columns
from supclust.data.errors import DataError
from supclust.data.records.columns import read_columns
from supclust.data.records.encode.text import FORM_VERSION
from supclust.data.records.features import source_kind
from supclust.data.records.rarity import Frequencies
from supclust.data.tables.cast import Kind
from supclust.data.tables.reader import RecordTable
from supclust.model.trained import TrainedModel
from supclust.resolve.blocking.candidates import ALL_PAIRS, Candidates, largest_group
from supclust.resolve.blocking.keys import Ints, KeyColumn
from supclust.resolve.blocking.predicates import BY_RARITY
from supclust.resolve.blocking.rules import KeyTable, Predicate, Rule, parse_rules
from supclust.resolve.scoring import Compared

LAYOUT = "table"
"""Layout that such a model names in its record; models of blocks name another, or none."""


def is_table_model(model: TrainedModel) -> bool:
    """Whether a model finds entities without blocks."""
    return (model.records or {}).get("layout") == LAYOUT


def require_table_model(model: TrainedModel) -> dict[str, Any]:
    """What a model of a bare table says about it; refuses other models."""
    if model.comparisons is None or not is_table_model(model):
        raise DataError("the model is not one of a table without blocks; use supclust cluster")
    return dict(model.records or {})


def read_values(table: RecordTable, model: TrainedModel) -> dict[str, Any]:
    """The columns of a table that a model of a bare table reads."""
    return read_columns(table, value_kinds(model, table))


def value_kinds(model: TrainedModel, table: RecordTable) -> dict[str, Kind]:
    """Columns that a model of a bare table reads: compared, distinct, of blocks, and of rules."""
    described = require_table_model(model)
    kinds = dict(model_columns(model, table))
    distinct, block = described.get("distinct"), described.get("block")
    if distinct in table.names:
        kinds.setdefault(str(distinct), "text")
    if block:
        table.require(block)
        kinds.setdefault(block, "text")
    for column in {one.column for rule in rules_of(model) for one in rule.predicates} - set(kinds):
        table.require(column)  # rules may name columns that are not compared
        kinds[column] = source_kind(described["columns"][column])
    return kinds


def compared(model: TrainedModel, values: Mapping[str, Any]) -> Compared:
    """Records, ready to be compared by a model."""
    comparisons = model.comparisons
    if comparisons is None:
        raise DataError("the model compares no records; fit one on a table")
    return Compared(comparisons, comparisons.encode(values))


def distinct_codes(model: TrainedModel, values: Mapping[str, Any]) -> Ints | None:
    """(n,) records that share a code are never of one entity: that of their ``distinct`` value."""
    name = str((model.records or {}).get("distinct"))
    return text_codes(values[name]) if name in values else None


def rules_of(model: TrainedModel) -> tuple[Rule, ...]:
    """Candidate rules of a model of a bare table."""
    described = model.records or {}
    names = [*(described.get("columns") or {}), str(described.get("block"))]
    return tuple(parse_rules(one["rule"], names)[0] for one in described.get("candidates") or ())


def table_candidates(
    model: TrainedModel, values: Mapping[str, Any], rules: tuple[Rule, ...]
) -> Candidates:
    """Candidates of a table: all pairs of a small one, unless rules were given by hand."""
    described = model.records or {}
    n = len(next(iter(values.values())))
    if takes_all_pairs(model, n):
        name, kind = next(iter(described["columns"].items()))
        column = KeyColumn.of(values[name], kind)  # all pairs: its keys do not matter
        return Candidates.of(KeyTable({name: column}), ())
    return rule_candidates(model, values, rules)


def takes_all_pairs(model: TrainedModel, n: int) -> bool:
    """Whether all pairs of a table of n records are candidates."""
    described = model.records or {}
    return n <= ALL_PAIRS and not described.get("given") and not described.get("block")


def rule_candidates(
    model: TrainedModel, values: Mapping[str, Any], rules: tuple[Rule, ...]
) -> Candidates:
    """Candidates of a table by rules, however small it is."""
    return Candidates.of(keys_of(model, values, rules), rules, group_limit(model))


def group_limit(model: TrainedModel) -> int:
    """Records that share a key that is used, at most: as in training."""
    described = model.records or {}
    usual = largest_group(bool(described.get("block")))
    limit = described.get("largest_group", usual)
    if not isinstance(limit, int) or limit < usual:
        raise DataError(
            f"largest_group of a model must be a number from {usual:,} on; received {limit!r}. "
            "Copy the whole folder again"
        )
    return limit


def keys_of(model: TrainedModel, values: Mapping[str, Any], rules: Sequence[Rule]) -> KeyTable:
    """Keys of records, as a model reads their columns.

    Words are as rare as in training; in models that do not say, as in ``values``.
    """
    described = model.records or {}
    columns: dict[str, Any] = dict(described["columns"])
    block = described.get("block")
    if block:
        columns[block] = "code"
    comparisons = () if model.comparisons is None else model.comparisons.comparisons
    orders = {one.column: one.order for one in comparisons}
    counted = described.get("frequencies") or {}
    used = {predicate.column for rule in rules for predicate in rule.predicates}
    return KeyTable(
        {
            name: KeyColumn.of(
                values[name],
                columns[name],
                orders.get(name),
                Frequencies.from_json(counted[name]) if name in counted else None,
                _form_version(model),
            )
            for name in used
        },
        within=Predicate(block) if block else None,
    )


def _form_version(model: TrainedModel) -> int:
    """Version of the normal forms that a model was trained with."""
    comparisons = () if model.comparisons is None else model.comparisons.comparisons
    return max((one.form_version for one in comparisons), default=FORM_VERSION)


def word_frequencies(keys: KeyTable, rules: Sequence[Rule]) -> dict[str, Any]:
    """How often words occur, of the columns of which a rule takes the rarest; for a model."""
    columns = {p.column for rule in rules for p in rule.predicates if p.name in BY_RARITY}
    return {name: keys.columns[name].frequencies.to_json() for name in sorted(columns)}


def text_codes(values: Iterable[str | None]) -> Ints:
    """Number of every distinct text, by first appearance; -1 where there is none."""
    numbers: dict[str, int] = {}
    return np.array([numbers.setdefault(v, len(numbers)) if v else -1 for v in values], np.int64)
