"""Which columns of a table are read, and which of them come again in the output."""

from __future__ import annotations

from collections.abc import Sequence

from supclust.cluster.model import ClusterModel
from supclust.data.errors import DataError
from supclust.data.tables.reader import Kind, RecordTable

CLUSTER = "cluster"  # the column that the output adds


def model_columns(model: ClusterModel, table: RecordTable) -> dict[str, Kind]:
    """The columns that the model reads and what they are; refuses a table without them."""
    comparisons = model.comparisons
    if comparisons is None and model.kind == "pairs":
        raise DataError(
            "the model was trained on features of pairs, not on records; name a folder or table "
            "of pair features",
            table.path,
        )
    kinds: dict[str, Kind] = (
        dict(comparisons.kinds)
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


def special_columns(
    model: ClusterModel, table: RecordTable, block: str | None, id: str | None
) -> tuple[str | None, str | None]:
    """The columns of blocks and of ids: those asked for, else those of training."""
    noted = model.records or {}
    asked, block = block, block or noted.get("block")
    if block is not None and block not in table.names:
        if asked:
            table.require(block)
        raise DataError(
            f"the model was trained with blocks from column {block!r}, which is not there. Name "
            "the column of blocks with --block",
            table.path,
        )
    if id is None and noted.get("id") in table.names:
        id = noted["id"]
    if id is None and "id" in table.names:
        id = "id"
    if id is not None:
        table.require(id)
    return block, id


def kept_columns(
    table: RecordTable, keep: Sequence[str], special: tuple[str | None, str | None]
) -> list[str]:
    """The columns to copy, without those that are copied anyway."""
    names = list(table.names) if list(keep) == ["all"] else list(keep)
    table.require(*names)
    kept = [name for name in dict.fromkeys(names) if name not in special]
    taken = [name for name in (*kept, *special) if name == CLUSTER]
    if taken:
        raise DataError(
            f"has a column {CLUSTER!r} already, which is what the output's is called; rename it, "
            "or do not keep it",
            table.path,
        )
    return kept
