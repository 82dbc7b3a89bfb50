"""Find the entities of a bare table with a trained model: candidates, scores, graph, cut."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import supclust
from supclust.cluster.columns import block_and_id, kept_columns
from supclust.cluster.engine import LOCAL, Engine
from supclust.cluster.output import write_clusters
from supclust.cluster.resume import PartialOutput, fingerprint
from supclust.cluster.table import Options
from supclust.data.errors import DataError
from supclust.data.layouts.link_pairs import LinkPairs
from supclust.data.records.columns import read_columns
from supclust.data.records.ids import RepeatedIds, repeated_ids
from supclust.data.tables.reader import open_table
from supclust.data.tables.writer import require_writable
from supclust.explain.confidence import confidence_columns
from supclust.explain.membership import membership
from supclust.hac.graph.constraints import merged_groups
from supclust.hac.graph.forest import Forest
from supclust.model.trained import TrainedModel
from supclust.resolve.blocking.candidates import say_candidates
from supclust.resolve.blocking.keys import Ints
from supclust.resolve.graph_cut import cluster_graph
from supclust.resolve.kept_apart import components, pairs_apart
from supclust.resolve.pair_model import pair_model
from supclust.resolve.scored_chunks import ScoredChunks
from supclust.resolve.scoring import Edges, Progress, score_candidates
from supclust.resolve.table_model import (
    compared,
    distinct_codes,
    read_values,
    require_table_model,
    rules_of,
    table_candidates,
)
from supclust.resolve.training_pairs import count_pairs


class Entities(NamedTuple):
    """Numbers of records, candidate pairs and entities, and of chunks that were scored before.

    ``discarded``: whether unfinished work of another input or model was removed; ``repeated``:
    ids of several records.
    """

    records: int
    pairs: int
    entities: int
    resumed: int
    discarded: bool
    repeated: RepeatedIds | None = None


class Scored(NamedTuple):
    """Records with their candidates scored and clustered.

    Attributes:
        edges: pairs that are not farther than what a missing pair counts.
        forest: trees of all records.
        pairs: candidates that were compared.
    """

    edges: Edges
    forest: Forest
    pairs: int


class Resolution(NamedTuple):
    """A table with ids, clustered.

    Attributes:
        id: name of the column of ids.
        ids: in the order of the ids; the rest is in this order, too.
        order: position in the table of every record; ``None``: there are no ids.
        values: columns that the model reads.
        scored: pairs and trees.
        threshold: height to cut at.
        constraints: that were kept.
    """

    id: str
    ids: list[str]
    order: Ints | None
    values: dict[str, Any]
    scored: Scored
    threshold: float
    constraints: LinkPairs | None = None


def resolve_table(
    path: str | Path,
    model: TrainedModel,
    output: str | Path,
    options: Options | None = None,
    say: Callable[[str], None] = lambda line: None,
    progress: Progress | None = None,
    engine: Engine = LOCAL,
    keep_in: Callable[[Resolution], None] | None = None,
) -> Entities:
    """Cluster a table and write an entity for every record.

    Chunks of scored pairs are kept until the output is complete: a run that was stopped goes on
    from there, also with another engine, threshold or constraints.

    Args:
        path: CSV, TSV, Parquet or npz, with the columns of training.
        model: of a bare table.
        output: id, the columns to keep, and ``cluster``, in the order of the input.
        options: id, threshold and columns to keep.
        say: receives lines about what is done.
        progress: called with the number of pairs compared, and of all.
        engine: scores the candidates and merges the components of their graph.
        keep_in: called with everything that was computed.
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
    described, values = require_table_model(model), read_values(table, model)
    ids = read_columns(table, {id: "text"})[id] if id is not None else None
    order = None if ids is None else id_order(ids)
    links = None if options.constraints is None else _links(options.constraints, ids, order, values)
    values = in_order(values, order)
    made_of = fingerprint(table.path, supclust.__version__, model.digest, id)
    height = model.threshold if options.threshold is None else options.threshold
    with PartialOutput(output, made_of, "pairs").opened() as partial:
        resumed = len(partial.finished())
        kept = ScoredChunks(partial, len(next(iter(values.values()))))
        scored = score_values(values, model, links, say, progress, engine, kept)
        clusters = clusters_in_order(scored.forest.labels_at(height), order)
        standing = membership(
            scored.edges, scored.forest, model.alpha, float(described["missing"]), height
        )
        facts = confidence_columns(model.record, standing, height)
        if order is not None:
            facts = {name: fact[np.argsort(order)] for name, fact in facts.items()}
        write_clusters(output, table, clusters, (id, *keep), facts)
        if keep_in is not None:
            names = [] if ids is None or order is None else [str(ids[k]) for k in order]
            keep_in(Resolution(id or "", names, order, values, scored, height, options.constraints))
    count = int(clusters.max(initial=-1)) + 1
    repeated = None if ids is None else repeated_ids(ids)
    return Entities(len(clusters), scored.pairs, count, resumed, partial.discarded, repeated)


def id_order(ids: Sequence[str | None]) -> Ints:
    """Positions of the records in the order of their ids.

    Records are compared and clustered in this order, so that a table has the same clusters in
    whatever order its rows are.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    order = pc.sort_indices(pa.array(ids, pa.string()))
    return np.asarray(order.to_numpy(), np.int64)


def in_order(values: Mapping[str, Any], order: Ints | None) -> dict[str, Any]:
    """Columns with their rows in another order; ``None``: as they are."""
    if order is None:
        return dict(values)
    at = order.tolist()
    return {
        name: column[order] if isinstance(column, np.ndarray) else [column[k] for k in at]
        for name, column in values.items()
    }


def clusters_in_order(labels: Ints, order: Ints | None) -> Ints:
    """Clusters of the records in their own order, numbered by first appearance."""
    if order is not None:
        own = np.empty_like(labels)
        own[order] = labels
        labels = own
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    number = np.empty(len(first), np.int64)
    number[np.argsort(first)] = np.arange(len(first))
    return number[inverse]


def _links(
    constraints: LinkPairs, ids: Sequence[str | None] | None, order: Ints | None, values: Any
) -> tuple[Ints, Ints]:
    """Must-links and cannot-links as positions in the order of ids."""
    n = len(next(iter(values.values())))
    names = list(range(1, n + 1)) if ids is None or order is None else [ids[k] for k in order]
    must, cannot = constraints.numbered(names)
    merged_groups(must, cannot, n, lambda row: names[row])  # a contradiction names the records
    return must, cannot


def score_values(
    values: Mapping[str, Any],
    model: TrainedModel,
    links: tuple[Ints, Ints] | None = None,
    say: Callable[[str], None] = lambda line: None,
    progress: Progress | None = None,
    engine: Engine = LOCAL,
    kept: ScoredChunks | None = None,
) -> Scored:
    """Score the candidates of records and build the trees.

    Args:
        values: columns of `read_values`.
        model: of a bare table.
        links: must-links and cannot-links, (k, 2) positions of records each.
        say: receives lines about what is done.
        progress: called with the number of pairs compared, and of all.
        engine: scores the candidates and merges the components of their graph.
        kept: chunks that were scored before, and that are added.
    """
    described = require_table_model(model)
    candidates = table_candidates(model, values, rules_of(model))
    total = count_pairs(candidates, np.full(candidates.n, -1)).total
    say_candidates(candidates, total, say)
    missing = float(described["missing"])
    scorer = pair_model(model.spec, model.weights)
    edges = score_candidates(
        *(candidates, compared(model, values), [scorer], None, missing),
        *(progress, total, engine, kept),
    )
    must, cannot = links or (None, np.empty((0, 2), np.int64))
    if (codes := distinct_codes(model, values)) is not None:
        apart = pairs_apart(codes, components(candidates.n, edges, must))
        cannot = cannot if apart is None else np.concatenate([cannot, apart])
    forest = cluster_graph(edges, candidates.n, model.alpha, missing, cannot, must, engine=engine)
    return Scored(edges, forest, total)
