"""What the labels of a table say about pairs of records, and whether they are enough.

Labels are *partial* where an unlabelled record may belong to a labelled cluster, and *complete*
where it cannot: every labelled cluster has all its records.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from supclust.data.block import IntArray
from supclust.data.errors import DataError
from supclust.data.records.table import UNKNOWN, Records

Labelled: TypeAlias = Literal["auto", "partial", "complete"]

_FEW_STRANGERS = 0.05  # stranger pairs per matching pair below which labels alone teach nothing


class LabelCounts(NamedTuple):
    """Pairs of records by their labels.

    Attributes:
        same: of one cluster, in one block.
        strangers: of two labelled clusters, in one block.
        mixed: of a labelled and an unlabelled record, in one block.
        apart: of one cluster, in two blocks.
    """

    same: int
    strangers: int
    mixed: int
    apart: int

    @property
    def lost(self) -> float:
        """Share of the pairs of one cluster that are in different blocks."""
        return self.apart / max(1, self.same + self.apart)


def count_labels(records: Records) -> LabelCounts:
    """Count pairs of records by their labels and blocks."""
    same = strangers = mixed = 0
    for rows in records.rows_by_block.values():
        labels = records.labels[rows]
        known = labels[labels != UNKNOWN]
        inside = _pairs(np.bincount(known))
        same += inside
        strangers += len(known) * (len(known) - 1) // 2 - inside
        mixed += len(known) * (len(labels) - len(known))
    total = _pairs(np.bincount(records.labels[records.labels != UNKNOWN]))
    return LabelCounts(same, strangers, mixed, total - same)


def _pairs(sizes: IntArray) -> int:
    return int((sizes.astype(np.int64) * (sizes - 1) // 2).sum())


def require_match(records: Records) -> None:
    """Refuse labels that no model can be trained on: no two records of a block share one."""
    counts, column = count_labels(records), records.choice.label
    if counts.same:
        return
    if counts.apart:
        received = f"column {column!r} has them in different blocks only"
        repair = f"Name another column of blocks than {records.choice.block!r}, or none"
    elif not records.label_names:
        received = f"column {column!r} has no value in any record"
        repair = "Fill in the entity of some records, or name another column with --label"
    else:
        received = f"column {column!r} has no value twice (values: {len(records.label_names):,})"
        repair = "Give records of one entity one value, or name another column with --label"
    where = "" if records.choice.block is None else " in one block"
    raise DataError(
        f"training needs two records with one label{where}; {received}. {repair}", records.path
    )


def choose_labelled(asked: Labelled, counts: LabelCounts) -> tuple[bool, str | None]:
    """Whether labels are taken to be complete, and a sentence that says why, if it was not asked.

    >>> choose_labelled("auto", LabelCounts(100, 1, 5000, 0))[0]
    True
    >>> choose_labelled("auto", LabelCounts(100, 900, 5000, 0))
    (False, None)
    """
    if asked != "auto":
        return asked == "complete", None
    few = counts.strangers < _FEW_STRANGERS * counts.same
    if few and counts.mixed > counts.strangers:
        return True, (
            f"labels are taken to be complete: only {counts.strangers:,} labelled pairs are of two "
            f"clusters ({counts.same:,} of one), so unlabelled records of a block count as "
            "other clusters; --labelled partial takes them as unknown"
        )
    return False, None


def blocks_note(counts: LabelCounts) -> str | None:
    """What blocks cost: the labelled pairs that they keep apart.

    >>> blocks_note(LabelCounts(96, 10, 0, 4))
    'of the labelled pairs, 4.0 % are in different blocks: they are never compared'
    """
    if not counts.apart:
        return None
    share = 100 * counts.lost
    return f"of the labelled pairs, {share:.1f} % are in different blocks: they are never compared"


def strangers_note(counts: LabelCounts) -> str | None:
    """A hint where training on labelled records alone sees hardly any strangers."""
    if not choose_labelled("auto", counts)[0]:
        return None
    return (
        f"hint: only {counts.strangers:,} labelled pairs are of two clusters, {counts.same:,} of "
        "one; if every unlabelled record of a block is another entity, add --labelled complete"
    )


def distinct_note(records: Records) -> str | None:
    """How many labelled pairs contradict the column that keeps records apart."""
    known = (records.labels != UNKNOWN) & (records.distinct != UNKNOWN)
    if not known.any():
        return None
    keys = np.stack([records.labels[known], records.distinct[known]])
    both = _pairs(np.unique(keys, axis=1, return_counts=True)[1])
    if not both:
        return None
    return (
        f"--distinct {records.choice.distinct}: {both:,} labelled pairs of one cluster share a "
        "value; they are kept apart all the same"
    )
