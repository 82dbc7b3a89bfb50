"""Cluster a table of records of any length with a trained model.

Three passes over the file: the block of every record; the columns that the model compares, a chunk
of blocks at a time; and the ids, to write the output in the order of the input. Memory is that of a
few chunks, about 30 bytes per record, and the names of the blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from functools import partial as bound
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import supclust
from supclust.cluster.chunks import MEMORY, BlockPlan, Ints, gather, plan_blocks
from supclust.cluster.columns import block_and_id, features_of, kept_columns, model_columns
from supclust.cluster.engine import LOCAL, Engine
from supclust.cluster.output import write_clusters
from supclust.cluster.resume import PartialOutput, fingerprint
from supclust.cut.rule import Cut
from supclust.data.errors import DataError
from supclust.data.layouts.link_pairs import LinkPairs
from supclust.data.records.ids import RepeatedIds
from supclust.data.tables.cast import Kind
from supclust.data.tables.reader import RecordTable, open_table
from supclust.data.tables.writer import require_writable
from supclust.model.trained import TrainedModel

if TYPE_CHECKING:
    from supclust.cluster.flat import Links


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

    ``discarded``: whether unfinished work of another input, model or cut was removed;
    ``repeated``: ids of several records.
    """

    records: int
    blocks: int
    clusters: int
    resumed: int
    discarded: bool
    repeated: RepeatedIds | None = None


def cluster_table(
    path: str | Path,
    model: TrainedModel,
    output: str | Path,
    options: Options | None = None,
    progress: Callable[[int, int], None] | None = None,
    engine: Engine = LOCAL,
) -> Clustered:
    """Cluster the records of a table block by block and write a cluster for each.

    Args:
        path: CSV, TSV, Parquet or npz.
        model: of records or of vectors.
        output: CSV, TSV, Parquet or npz: id, block (where there is one), the columns to keep, and
            ``cluster``, a number that is unique in the file, in the order of the input.
        options: see `Options`.
        progress: called with the records done so far and their number.
        engine: computes the chunks; the output does not depend on it, and a run that was stopped
            may go on with another one.

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
        values = (supclust.__version__, model.digest, block, options.threshold, options.n_clusters,
                 *(options.constraints.rows if options.constraints else ()))  # fmt: skip
        partial = PartialOutput(output, fingerprint(table.path, *values))
        column = block or next(iter(kinds))  # without blocks only the number of rows counts
        plan = plan_blocks(table.batches({column: "text"}), block)
        links = _links(options.constraints, table, id, plan)
        with partial.opened():
            finished = partial.finished()
            done = int(sum(len(plan.rows(chunk)) for chunk in finished))
            if progress:
                progress(done, plan.n)
            chunks = gather(table.batches(kinds), plan, finished, partial.folder, options.memory)

            def parts() -> Iterator[tuple[int, _Part]]:
                for number, records, starts in chunks:
                    kernels_loaded.result()
                    yield number, _Part(records, starts, _links_of(number, links, plan))

            prepare = bound(_prepare, model, kinds, table.path)
            with closing(engine.map(bound(_compute, model, cut), parts(), prepare)) as results:
                for number, labels in results:
                    partial.store(number, labels)
                    done += len(labels)
                    if progress:
                        progress(done, plan.n)
            clusters, count = partial.clusters(plan)
            repeated = write_clusters(output, table, clusters, (id, block, *keep))
    blocks = len(plan.names)
    return Clustered(plan.n, blocks, count, len(finished), partial.discarded, repeated)


class _Part(NamedTuple):
    """A chunk as it is computed: records (read, then prepared), starts of blocks, constraints."""

    records: Any
    starts: Ints
    links: Links


def _prepare(model: TrainedModel, kinds: Mapping[str, Kind], path: Path, part: _Part) -> _Part:
    return part._replace(records=features_of(part.records, model, kinds, path))


def _compute(model: TrainedModel, cut: Cut, part: _Part) -> NDArray[np.int32]:
    return _label(model, part.records, part.starts, cut, part.links)


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
) -> Links:
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


def _links_of(chunk: int, links: Links, plan: BlockPlan) -> Links:
    """Constraints of the blocks of a chunk, which are numbered from 0."""
    first, stop = plan.chunks[chunk : chunk + 2].tolist()
    return {k - first: links[k] for k in links if first <= k < stop}
