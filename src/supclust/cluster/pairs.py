"""Cluster blocks of pair features: folders or a table, few blocks in memory at a time."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from supclust.cluster.engine import LOCAL, Engine, in_order, same
from supclust.cluster.flat import Labels, Links, flat_squares
from supclust.cluster.output import CLUSTER
from supclust.cluster.table import Clustered, Options
from supclust.cut.rule import Cut
from supclust.data.block import n_pairs
from supclust.data.errors import DataError
from supclust.data.layouts.pair_folders import read_unlabelled_pair_folder
from supclust.data.layouts.pair_tables import read_unlabelled_pair_table
from supclust.data.layouts.pairs import PairBlock
from supclust.data.sets.aminer import pair_block_folders
from supclust.data.tables.reader import integer_column
from supclust.data.tables.writer import require_writable, write_table
from supclust.model.trained import Floats, TrainedModel


def cluster_pairs(
    path: str | Path,
    model: TrainedModel,
    output: str | Path,
    options: Options | None = None,
    only: Collection[str] | None = None,
    progress: Callable[[int, int], None] | None = None,
    engine: Engine = LOCAL,
) -> Clustered:
    """Cluster blocks of pair features and write id, block and cluster of every point.

    Args:
        path: folder of block folders, or a table of pairs.
        model: of pair features.
        output: CSV, TSV, Parquet or npz.
        options: threshold and n_clusters of it.
        only: names of the blocks to cluster; ``None``: all.
        progress: called with the blocks done so far and their number.
        engine: computes the blocks.
    """
    import pyarrow as pa

    options, output, path = options or Options(), Path(output), Path(path)
    require_writable(output)
    if model.kind != "pairs" or model.comparisons is not None:
        raise DataError(
            "holds features of pairs, but the model was trained on records; name a table of "
            "records",
            path,
        )
    cut = model.cut(options.threshold, options.n_clusters)
    ids: list[str] = []
    blocks: list[str] = []
    results: list[tuple[int, Labels]] = []
    total, pair_blocks = _blocks(path, model, only)

    def items() -> Iterator[tuple[int, _Pairs]]:
        for number, block in enumerate(pair_blocks):
            ids.extend(block.ids)
            blocks.extend([block.name] * len(block.ids))
            yield number, _Pairs(block.features, len(block.ids))

    with closing(engine.map(partial(_compute, model, cut), items(), same)) as computed:
        for result in computed:
            results.append(result)
            if progress:
                progress(len(results), total)
    count, clusters = 0, []
    for labels in in_order(results):
        clusters.append(labels.astype(np.int64) + count)
        count += int(labels.max()) + 1
    batch = pa.RecordBatch.from_arrays(
        [
            pa.array(ids, pa.string()),
            pa.array(blocks, pa.string()),
            integer_column(np.concatenate(clusters)),
        ],
        names=["id", "block", CLUSTER],
    )
    write_table(output, batch.schema, [batch])
    return Clustered(len(ids), len(results), count, 0, False)


class _Pairs(NamedTuple):
    """A block: condensed features of its pairs, and the number of points."""

    features: Floats
    n: int


def _compute(model: TrainedModel, cut: Cut, block: _Pairs) -> Labels:
    return label_pairs(model, block.features, block.n, cut)


def label_pairs(
    model: TrainedModel, features: Floats, n: int, cut: Cut, links: Links | None = None
) -> Labels:
    """Cluster one block of n points by its condensed pair features, (n (n - 1) / 2, d)."""
    if features.shape != (n_pairs(n), model.d):
        raise ValueError(
            f"a block of {n} points needs pair features of shape ({n_pairs(n)}, {model.d}); "
            f"received {features.shape}."
        )
    if model.spec["name"] != "linear":
        return flat_squares(lambda _: model.distances(features), np.array([0, n]), cut, links)[0]
    weight, bias = model.weights["average_weight"], model.weights["average_bias"]
    square = np.zeros((n, n), weight.dtype)
    square[np.triu_indices(n, 1)] = features.astype(weight.dtype, copy=False) @ weight + bias
    return flat_squares(lambda _: square + square.T, np.array([0, n]), cut, links)[0]


def _blocks(
    path: Path, model: TrainedModel, only: Collection[str] | None
) -> tuple[int, Iterator[PairBlock]]:
    if path.is_dir():
        folders = {folder.name: folder for folder in pair_block_folders(path)}
        chosen = list(folders) if only is None else [name for name in folders if name in only]
        _require_all(only, folders, path)
        d = len(model.feature_names)
        return len(chosen), (read_unlabelled_pair_folder(folders[name], d) for name in chosen)
    table = {block.name: block for block in read_unlabelled_pair_table(path, model.feature_names)}
    _require_all(only, table, path)
    kept = [block for name, block in table.items() if only is None or name in only]
    return len(kept), iter(kept)


def _require_all(only: Collection[str] | None, known: Collection[str], path: Path) -> None:
    missing = [name for name in only or () if name not in known]
    if missing:
        raise DataError(
            f"has no block {missing[0]!r}; it has {', '.join(list(known)[:10])}"
            f"{', ...' if len(known) > 10 else ''}. Correct the list of blocks",
            path,
        )
