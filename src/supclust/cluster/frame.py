"""Cluster the blocks of a data frame, as ``supclust cluster`` clusters those of a file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from supclust.cluster.chunks import plan_blocks
from supclust.cluster.columns import features_of, model_columns
from supclust.cluster.flat import Features, label_features
from supclust.cluster.output import CLUSTER
from supclust.data.errors import DataError
from supclust.data.tables.cast import cast_batch
from supclust.data.tables.reader import RecordTable, integer_column
from supclust.model.locate import load
from supclust.model.trained import TrainedModel

Frame: TypeAlias = Any
"""A pandas data frame, or a pyarrow table."""
FRAME = Path("data frame")  # what errors name instead of a file


def label_blocks(
    frame: Frame,
    model: TrainedModel | str | Path,
    by: str | None = None,
    *,
    threshold: float | None = None,
    n_clusters: int | None = None,
) -> Frame:
    """Cluster the records of a data frame, block by block.

    Args:
        frame: pandas or pyarrow, with the columns that the model was trained on.
        model: of records or vectors, or its folder.
        by: column of blocks. Default: that of training, if the frame has it; else the frame is one
            block, as inside ``groupby``.
        threshold: height to cut at. Default: the model's.
        n_clusters: of every block, instead of a height.

    Returns:
        The frame with a column ``cluster``: a number that is unique in the frame.
    """
    model = model if isinstance(model, TrainedModel) else load(model)
    batch = _batch_of(frame)
    source = RecordTable(FRAME, tuple(batch.schema.names))
    if CLUSTER in source.names:
        raise DataError(f"has a column {CLUSTER!r} already, which is added; drop it", FRAME)
    by = by or block_column(source.names, model)
    if by:
        source.require(by)
    plan = plan_blocks([cast_batch(batch, {by: "text"}) if by else batch], by)
    features = _features(batch.take(integer_column(plan.order)), model)
    cut = model.cut(threshold, n_clusters)
    labels, counts = label_features(model, features, plan.starts, cut)
    clusters = np.empty(plan.n, np.int64)
    clusters[plan.order] = labels + np.repeat(np.cumsum(counts) - counts, np.diff(plan.starts))
    if hasattr(frame, "append_column"):
        return frame.append_column(CLUSTER, integer_column(clusters))
    return frame.assign(**{CLUSTER: clusters})


def frame_features(frame: Frame, model: TrainedModel) -> Features:
    """What the model compares of the records of a frame, in its order."""
    return _features(_batch_of(frame), model)


def _features(batch: Any, model: TrainedModel) -> Features:
    import pyarrow as pa

    kinds = model_columns(model, RecordTable(FRAME, tuple(batch.schema.names)))
    table = pa.Table.from_batches([cast_batch(batch, kinds)])
    features: Features = features_of(table, model, kinds, FRAME)
    return features


def block_column(names: Sequence[str], model: TrainedModel) -> str | None:
    """The column of blocks of training, if it is among these."""
    block = (model.records or {}).get("block")
    return block if block in names else None


def is_frame(X: Any) -> bool:
    """Whether X is a data frame of pandas or a table of pyarrow."""
    return hasattr(X, "append_column") or (hasattr(X, "assign") and hasattr(X, "columns"))


def _batch_of(frame: Frame) -> Any:
    """The frame as one record batch of pyarrow."""
    import pyarrow as pa

    if not is_frame(frame):
        raise ValueError(
            "records must come as a pandas data frame or a pyarrow table; received "
            f"{type(frame).__name__}. Read a file with pandas, or use supclust cluster."
        )
    table = frame
    if not isinstance(frame, pa.Table):
        table = pa.Table.from_pandas(frame, preserve_index=False)
    if len(table) == 0:
        raise DataError("has no records; leave empty frames out", FRAME)
    return table.combine_chunks().to_batches()[0]
