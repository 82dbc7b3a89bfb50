"""Find the entities of a bare table with a trained model: candidates, scores, graph, cut."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from supclust.cluster.table import (
    Options,
    block_and_id,
    kept_columns,
    model_columns,
    write_clusters,
)
from supclust.data.errors import DataError
from supclust.data.records.columns import read_columns
from supclust.data.tables.reader import RecordTable, open_table
from supclust.data.tables.writer import require_writable
from supclust.hac.graph.forest import Forest
from supclust.model.trained import TrainedModel
from supclust.resolve.candidates import ALL_PAIRS, Candidates
from supclust.resolve.fit import LAYOUT, rules_of
from supclust.resolve.graph_cut import cluster_graph, pairs_apart
from supclust.resolve.keys import Ints, KeyColumn
from supclust.resolve.pair_model import pair_model
from supclust.resolve.rules import KeyTable, Predicate, Rule
from supclust.resolve.scoring import Compared, Edges, Progress, score_candidates
from supclust.resolve.training_pairs import count_pairs


class Entities(NamedTuple):
    """Numbers of records, candidate pairs and entities."""

    records: int
    pairs: int
    entities: int


class Scored(NamedTuple):
    """A table with its candidates scored and clustered.

    Attributes:
        values: columns that are compared.
        edges: pairs that are closer than what a missing pair counts.
        forest: trees of all records.
        pairs: candidates that were compared.
    """

    values: dict[str, Any]
    edges: Edges
    forest: Forest
    pairs: int


def is_table_model(model: TrainedModel) -> bool:
    """Whether a model finds entities without blocks."""
    return (model.records or {}).get("layout") == LAYOUT


def resolve_table(
    path: str | Path,
    model: TrainedModel,
    output: str | Path,
    options: Options | None = None,
    say: Callable[[str], None] = lambda line: None,
    progress: Progress | None = None,
) -> Entities:
    """Cluster a table and write an entity for every record.

    Args:
        path: CSV, TSV, Parquet or npz, with the columns of training.
        model: of a bare table.
        output: id, the columns to keep, and ``cluster``, in the order of the input.
        options: id, threshold and columns to keep.
        say: receives lines about what is done.
        progress: called with the number of pairs compared, and of all.
    """
    options = options or Options()
    table, output = open_table(path), Path(output)
    require_writable(output)
    if output.resolve() == table.path.resolve():
        raise DataError("is the input; choose another output", output)
    if options.n_clusters is not None or options.block is not None:
        raise DataError(
            "a model of a table without blocks takes neither --block nor --n-clusters; leave them "
            "out, or use --threshold",
            table.path,
        )
    block, id = block_and_id(model, table, options)
    keep = kept_columns(table, options.keep, (block, id))
    scored = score_table(table, model, say, progress)
    height = model.threshold if options.threshold is None else options.threshold
    clusters: Ints = scored.forest.labels_at(height)
    write_clusters(output, table, clusters, (id, *keep))
    return Entities(len(clusters), scored.pairs, int(clusters.max(initial=-1)) + 1)


def score_table(
    table: RecordTable,
    model: TrainedModel,
    say: Callable[[str], None] = lambda line: None,
    progress: Progress | None = None,
) -> Scored:
    """Score the candidates of a table and build the trees."""
    from supclust.resolve.fit import say_candidates

    described = model.records or {}
    comparisons = model.comparisons
    if comparisons is None or not is_table_model(model):
        raise DataError("the model is not one of a table without blocks; use supclust cluster")
    kinds = model_columns(model, table)
    distinct = str(described.get("distinct"))
    text: dict[str, Any] = {distinct: "text"} if distinct in table.names else {}
    block: dict[str, Any] = {described["block"]: "text"} if described.get("block") else {}
    values = read_columns(table, {**kinds, **text, **block})
    candidates = table_candidates(model, values, rules_of(model))
    total = count_pairs(candidates, np.full(candidates.n, -1)).total
    say_candidates(candidates, total, say)
    compared = Compared(comparisons, comparisons.encode(values))
    scorer = pair_model(model.spec, model.weights)
    missing = float(described["missing"])
    edges = score_candidates(
        candidates, compared, [scorer], None, missing, progress=progress, total=total
    )
    apart = None if not text else pairs_apart(_codes(values[distinct]))
    forest = cluster_graph(edges, candidates.n, model.alpha, missing, apart)
    return Scored(values, edges, forest, total)


def table_candidates(
    model: TrainedModel, values: dict[str, Any], rules: tuple[Rule, ...]
) -> Candidates:
    """Candidates of a table: all pairs of a small one, unless rules were given by hand."""
    described = model.records or {}
    n = len(next(iter(values.values())))
    if n <= ALL_PAIRS and not described.get("given") and not described.get("block"):
        name = next(iter(described["columns"]))
        column = KeyColumn.of(values[name], described["columns"][name])
        return Candidates.of(KeyTable({name: column}), ())
    return rule_candidates(model, values, rules)


def rule_candidates(
    model: TrainedModel, values: dict[str, Any], rules: tuple[Rule, ...]
) -> Candidates:
    """Candidates of a table by rules, however small it is."""
    described = model.records or {}
    columns: dict[str, Any] = dict(described["columns"])
    block = described.get("block")
    if block:
        columns[block] = "code"
    used = {predicate.column for rule in rules for predicate in rule.predicates}
    keys = KeyTable(
        {name: KeyColumn.of(values[name], columns[name]) for name in used},
        within=Predicate(block) if block else None,
    )
    return Candidates.of(keys, rules)


def _codes(values: Any) -> Ints:
    numbers: dict[str, int] = {}
    return np.array([numbers.setdefault(v, len(numbers)) if v else -1 for v in values], np.int64)
