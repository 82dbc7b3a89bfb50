"""Which columns of a table a model reads, and how they become what it compares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from supclust.cluster.output import CLUSTER
from supclust.data.errors import DataError
from supclust.data.records.columns import refuse_infinite
from supclust.data.tables.cast import Kind
from supclust.data.tables.reader import RecordTable, numbers_of
from supclust.model.trained import TrainedModel

if TYPE_CHECKING:
    from supclust.cluster.table import Options


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
