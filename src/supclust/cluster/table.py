"""Cluster a table of records of any length with a trained model.

Three passes over the file: the block of every record; the columns that the model compares, a chunk
of blocks at a time; and the ids, to write the output in the order of the input. Memory is that of a
few chunks, about 30 bytes per record, and the names of the blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import supclust
from supclust.cluster.chunks import (
    MEMORY,
    BlockPlan,
    Chunk,
    Ints,
    gather,
    plan_blocks,
    prefetched,
)
from supclust.cluster.output import CLUSTER as CLUSTER
from supclust.cluster.output import write_clusters
from supclust.cluster.resume import PartialOutput, fingerprint
from supclust.cut.rule import Cut
from supclust.data.errors import DataError
from supclust.data.layouts.link_pairs import LinkPairs
from supclust.data.records.columns import refuse_infinite
from supclust.data.tables.formats import Kind
from supclust.data.tables.reader import RecordTable, numbers_of, open_table
from supclust.data.tables.writer import require_writable
from supclust.model.trained import TrainedModel


@dataclass(frozen=True)
class Options:
    """How a table is clustered.

    Attributes:
        block: column of blocks; ``None``: that of the model, if it has one.
        id: column of ids; ``None``: that of the model if the table has it, else records are
            numbered from 1.
        threshold: another height to cut at.
        n_clusters: clusters per block, instead of a height.
        keep: further columns to copy into the output.
        memory: bytes of incomplete blocks that are kept in memory.
        constraints: pairs of ids that must, or cannot, be in one cluster.
    """

    block: str | None = None
    id: str | None = None
    threshold: float | None = None
    n_clusters: int | None = None
    keep: tuple[str, ...] = ()
    memory: int = MEMORY
    constraints: LinkPairs | None = None


@dataclass(frozen=True)
class Clustered:
    """Numbers of records, blocks and clusters, and of chunks that were finished before.

    ``discarded``: whether unfinished work of another input, model or cut was removed.
    """

    records: int
    blocks: int
    clusters: int
    resumed: int
    discarded: bool


def cluster_table(
    path: str | Path,
    model: TrainedModel,
    output: str | Path,
    options: Options | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Clustered:
    """Cluster the records of a table block by block and write a cluster for each.

    Args:
        path: CSV, TSV, Parquet or npz.
        model: of records or of vectors.
        output: CSV, TSV, Parquet or npz: id, block (where there is one), the columns to keep, and
            ``cluster``, a number that is unique in the file, in the order of the input.
        options: see `Options`.
        progress: called with the records done so far and their number.

    Raises:
        ValueError: for a wrong table or option; nothing has been written then.
    """
    options = options or Options()
    table, output = open_table(path), Path(output)
    require_writable(output)
    if output.resolve() == table.path.resolve():
        raise DataError("is the input; choose another output", output)
    kinds = model_columns(model, table)
    block, id = block_and_id(model, table, options)
    keep = kept_columns(table, options.keep, (block, id))
    cut = model.cut(options.threshold, options.n_clusters)
    with ThreadPoolExecutor(1) as pool:
        kernels_loaded = pool.submit(_load_kernels, model)  # while the table is read
        parts = (supclust.__version__, model.digest, block, options.threshold, options.n_clusters,
                 *(options.constraints.rows if options.constraints else ()))  # fmt: skip
        partial = PartialOutput(output, fingerprint(table.path, *parts))
        column = block or next(iter(kinds))  # without blocks only the number of rows counts
        plan = plan_blocks(table.batches({column: "text"}), block)
        links = _links(options.constraints, table, id, plan)
        with partial.opened():
            finished = partial.finished()
            done = int(sum(len(plan.rows(chunk)) for chunk in finished))
            chunks = gather(table.batches(kinds), plan, finished, partial.folder, options.memory)
            with closing(prefetched(_features(chunks, model, kinds, table.path))) as prepared:
                for number, features, starts in prepared:
                    if progress:
                        progress(done, plan.n)
                    kernels_loaded.result()
                    first = int(plan.chunks[number])
                    own = {k - first: links[k] for k in links if 0 <= k - first < len(starts) - 1}
                    labels = _label(model, features, starts, cut, own)
                    partial.store(number, labels)
                    done += len(labels)
            if progress:
                progress(done, plan.n)
            clusters, count = partial.clusters(plan)
            write_clusters(output, table, clusters, (id, block, *keep))
    return Clustered(plan.n, len(plan.names), count, len(finished), partial.discarded)


def _load_kernels(model: TrainedModel) -> None:
    """Load the compiled code, which takes some tenths of a second: cluster two records."""
    starts, cut = np.array([0, 2]), model.cut()
    if model.comparisons is not None:
        values = {"text": ["", ""], "number": np.zeros(2)}
        columns = {name: values[kind] for name, kind in model.comparisons.sources.items()}
        _label(model, columns, starts, cut)
    elif model.is_compiled:
        _label(model, np.zeros((2, model.d)), starts, cut)


def _label(
    model: TrainedModel, features: Any, starts: Ints, cut: Cut, links: Any = None
) -> NDArray[np.int32]:
    """Clusters of blocks of records or points; imports the kernels."""
    from supclust.cluster.flat import label_features

    return label_features(model, features, starts, cut, links)[0]


def _links(
    constraints: LinkPairs | None, table: RecordTable, id: str | None, plan: BlockPlan
) -> dict[int, tuple[Ints, Ints]]:
    """Constraints by block; records without an id are called by their number, from 1."""
    if constraints is None:
        return {}
    from supclust.hac.graph.constraints import links_by_block, merged_groups

    ids: list[Any] = (
        [value for batch in table.batches({id: "text"}) for value in batch.column(id).to_pylist()]
        if id is not None
        else list(range(1, plan.n + 1))
    )
    must, cannot = constraints.numbered(ids)
    merged_groups(must, cannot, plan.n, lambda row: ids[row])  # a contradiction names the records
    place = np.empty(plan.n, np.int64)
    place[plan.order] = np.arange(plan.n) - plan.starts[plan.code[plan.order]]
    return links_by_block(must, cannot, plan.code, place)


def model_columns(model: TrainedModel, table: RecordTable) -> dict[str, Kind]:
    """The columns that the model reads, and their kinds; refuses a table without them."""
    comparisons = model.comparisons
    if comparisons is None and model.kind == "pairs":
        raise DataError(
            "the model was trained on features of pairs, not on records; name a folder or table "
            "of pair features",
            table.path,
        )
    kinds: dict[str, Kind] = (
        comparisons.sources
        if comparisons is not None
        else dict.fromkeys(model.feature_names, "number")
    )
    missing = [name for name in kinds if name not in table.names]
    if missing:
        raise DataError(
            f"the model needs the columns {', '.join(list(kinds)[:12])}"
            f"{', ...' if len(kinds) > 12 else ''}; {missing[0]!r} is not there. "
            f"The columns are {', '.join(table.names[:12])}"
            f"{', ...' if len(table.names) > 12 else ''}: rename them as in training",
            table.path,
        )
    return kinds


def block_and_id(
    model: TrainedModel, table: RecordTable, options: Options
) -> tuple[str | None, str | None]:
    """The columns of blocks and of ids: those of the options, else those of training."""
    trained = model.records or {}
    block = options.block or trained.get("block")
    if options.block:
        table.require(options.block)
    elif block is not None and block not in table.names:
        raise DataError(
            f"the model was trained with blocks from column {block!r}, which is not there. Name "
            "the column of blocks with --block",
            table.path,
        )
    if options.id is not None:
        table.require(options.id)
        return block, options.id
    return block, next((name for name in (trained.get("id"), "id") if name in table.names), None)


def kept_columns(
    table: RecordTable, keep: Sequence[str], special: tuple[str | None, str | None]
) -> list[str]:
    """The columns to copy, without those that are copied anyway."""
    names = list(table.names) if list(keep) == ["all"] else list(keep)
    table.require(*names)
    if CLUSTER in (*names, *special):
        raise DataError(
            f"has a column {CLUSTER!r} already, which is what the output's is called; rename it, "
            "or do not keep it",
            table.path,
        )
    return [name for name in dict.fromkeys(names) if name not in special]


def _features(
    chunks: Iterator[Chunk], model: TrainedModel, kinds: Mapping[str, Kind], path: Path
) -> Iterator[tuple[int, Any, Ints]]:
    """Number, features and block starts of chunks."""
    for chunk in chunks:
        yield chunk.number, features_of(chunk.table, model, kinds, path), chunk.starts


def features_of(table: Any, model: TrainedModel, kinds: Mapping[str, Kind], path: Path) -> Any:
    """What a model compares: columns of records by name, or points (n, d).

    Args:
        table: of pyarrow, with columns of these kinds.
        model: of records or vectors.
        kinds: see `model_columns`.
        path: of the table, for errors.
    """
    columns: dict[str, Any] = {}
    for name, kind in kinds.items():
        column = table.column(name)
        is_text = kind == "text"
        columns[name] = column.to_pylist() if is_text else numbers_of(column.combine_chunks())
    if model.comparisons is not None:
        refuse_infinite(columns, path, None)
        return columns
    points = np.column_stack(list(columns.values()))
    bad = ~np.isfinite(points)
    if bad.any():
        first = int(np.argmax(bad.any(axis=0)))
        raise DataError(
            f"column {list(columns)[first]!r} must hold a finite number in every record; "
            f"{int(bad[:, first].sum())} or more have none. Fill them in, or remove the records",
            path,
        )
    return points
