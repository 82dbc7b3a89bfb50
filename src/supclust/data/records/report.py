"""What a table of records holds, as ``supclust data check`` prints it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from supclust.data.records.audit import audit_labels
from supclust.data.records.columns import TypedColumn
from supclust.data.records.ids import repeated_ids
from supclust.data.records.labels import (
    blocks_note,
    choose_labelled,
    count_labels,
    distinct_note,
    require_match,
)
from supclust.data.records.table import UNKNOWN, ColumnChoice, Records, read_records

_WIDEST = 28  # characters of an example


@dataclass(frozen=True, eq=False)
class RecordsReport:
    """The outcome of a check of a table of records."""

    records: Records

    def lines(self) -> list[str]:
        """The report as text."""
        records = self.records
        counts = f"{records.path}: {records.n} records"
        if records.choice.label is not None:
            counts += f", {int((records.labels != UNKNOWN).sum())} with a label"
        text = [counts, *_column_lines(records)]
        if records.choice.label is None:
            text.append("  note: no column of clusters is named; --label checks it as well")
            return text
        text.append(f"  {len(records.label_names)} clusters; {_blocks(records)}")
        return text + [f"  note: {note}" for note in label_notes(records)]


def _blocks(records: Records) -> str:
    """Sizes of the blocks, or which pairs are compared without any."""
    if records.choice.block is None and any(kind != "number" for kind in records.kinds.values()):
        return (
            "no blocks: supclust fit chooses which pairs of records are compared, and says how "
            "many of the labelled pairs are not"
        )
    sizes = [len(rows) for rows in records.rows_by_block.values()]
    return f"{len(sizes)} block(s) of {min(sizes)} to {max(sizes)} records"


def label_notes(records: Records) -> list[str]:
    """What is to be said about the labels: pairs that blocks keep apart, strangers, gaps."""
    counts = count_labels(records)
    complete, why = choose_labelled("auto", counts)
    notes = [blocks_note(counts), distinct_note(records), why]
    gaps = [str(gap) for gap in audit_labels(records)] if complete else []
    return [note for note in notes if note is not None] + gaps


def check_records(path: Path, choice: ColumnChoice) -> RecordsReport:
    """Read a table of records; labels that cannot be trained on are a mistake."""
    records = read_records(path, choice)
    if choice.label is not None:
        require_match(records)
    return RecordsReport(records)


def _column_lines(records: Records) -> list[str]:
    """A table of the columns: kind, share missing, number of values, examples."""
    rows = [("column", "kind", "missing", "values", "examples")]
    for one in records.columns:
        missing = f"{100 * one.missing / records.n:.1f} %"
        rows.append((one.name, one.kind, missing, f"{one.distinct:,}", _examples(one)))
    widths = [max(len(row[k]) for row in rows) for k in range(4)]
    lines = [
        f"  {a:<{widths[0]}}  {b:<{widths[1]}}  {c:>{widths[2]}}  {d:>{widths[3]}}  {e}".rstrip()
        for a, b, c, d, e in rows
    ]
    notes = [*records.notes, *_id_notes(records)]
    return lines + [f"  note: {note}" for note in notes]


def _id_notes(records: Records) -> list[str]:
    """What is to be said where records share an id."""
    repeated = repeated_ids(records.ids)
    if repeated is None:
        return []
    return [
        f"{repeated} (column {records.choice.id}): supclust cluster warns, --store refuses them; "
        "give records distinct ids, or name another column with --id"
    ]


def _examples(column: TypedColumn) -> str:
    return " | ".join(
        value if len(value) <= _WIDEST else value[: _WIDEST - 3] + "..."
        for value in column.examples
    )
