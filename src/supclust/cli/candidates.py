"""``supclust candidates``: the pairs of records that a model of a bare table compares."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from supclust.data.tables.reader import RecordTable
    from supclust.resolve.blocking.candidates import Candidates

EXAMPLES = (
    "supclust candidates records.csv --model model",
    "supclust candidates records.csv --model model -o pairs.parquet",
    "supclust candidates records.csv --model model --keys keys.parquet --sql",
)

SQL = """\
-- {keys}: one row per record (from 1), rule and key that at least two records share
SELECT DISTINCT l.record AS a, r.record AS b
FROM '{keys}' AS l
JOIN '{keys}' AS r ON l.rule = r.rule AND l.key = r.key AND l.record < r.record"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("records", type=Path, help="table of records, as for `supclust cluster`")
    parser.add_argument("--model", type=Path, required=True, help="folder of the model")
    parser.add_argument("--candidates", metavar="RULES", help="other rules than the model's")
    parser.add_argument(
        "--label", help="column of known entities, to count their pairs (default: that of training)"
    )
    parser.add_argument("-o", "--output", type=Path, help="write the pairs: record numbers a, b")
    parser.add_argument("--keys", type=Path, help="write the keys: record, rule, key")
    parser.add_argument("--sql", action="store_true", help="print SQL that joins the keys to pairs")


def run(options: argparse.Namespace) -> int:
    """Print the rules with their pairs, and export."""
    from supclust.data.errors import DataError
    from supclust.data.tables.reader import open_table
    from supclust.data.tables.writer import require_writable, write_table
    from supclust.model import load
    from supclust.resolve.blocking.rules import parse_rules
    from supclust.resolve.table_model import (
        is_table_model,
        read_values,
        rule_candidates,
        rules_of,
        takes_all_pairs,
    )

    for path in filter(None, (options.output, options.keys)):
        require_writable(path)
    model = load(options.model)
    if not is_table_model(model):
        raise DataError("the model has blocks and no candidate rules; fit one without --block")
    table = open_table(options.records)
    values = read_values(table, model)
    rules = rules_of(model)
    if options.candidates is not None:
        rules = parse_rules(options.candidates, list((model.records or {})["columns"]))
    candidates = rule_candidates(model, values, rules)
    if options.output:
        schema = _schema(("a", "b"))
        write_table(options.output, schema, _pair_batches(candidates, schema))
    else:
        for _ in candidates.chunks():
            pass
    width = max(len(str(rule)) for rule in rules)
    print(f"{'rule':<{width}}  {'new pairs':>12}")
    for rule, count in zip(rules, candidates.counts, strict=True):
        print(f"{rule!s:<{width}}  {count:>12,}")
    print(f"{'all':<{width}}  {sum(candidates.counts):>12,}")
    for one in candidates.left_out:
        print(one)
    label = str(options.label or (model.records or {}).get("label"))
    if options.label or label in table.names:
        print(_never_compared(candidates, table, label))
    if options.candidates is None and takes_all_pairs(model, candidates.n):
        print(f"supclust cluster compares all pairs of a table of {candidates.n:,} records")
    if options.keys:
        schema = _schema(("record", "rule", "key"))
        write_table(options.keys, schema, _key_batches(candidates, schema))
    if options.sql:
        print(SQL.format(keys=str(options.keys or "keys.parquet").replace("'", "''")))
    return 0


def _never_compared(candidates: Candidates, table: RecordTable, label: str) -> str:
    """What the rules lose of the pairs of known entities."""
    from supclust.data.records.columns import read_columns
    from supclust.resolve.table_model import text_codes
    from supclust.resolve.training_pairs import count_pairs, labelled_pair_count

    table.require(label)
    labels = text_codes(read_columns(table, {label: "text"})[label])
    total = labelled_pair_count(labels)
    if total == 0:
        return f"column {label} labels no pair of records"
    lost = 1 - count_pairs(candidates, labels).same / total
    return f"of the labelled pairs, {lost:.1%} are never compared"


def _schema(names: tuple[str, ...]) -> Any:
    import pyarrow as pa

    return pa.schema([(name, pa.int64()) for name in names])


def _pair_batches(candidates: Candidates, schema: Any) -> Iterator[Any]:
    import pyarrow as pa

    for left, right in candidates.chunks():
        yield pa.record_batch([pa.array(left + 1), pa.array(right + 1)], schema=schema)


def _key_batches(candidates: Candidates, schema: Any) -> Iterator[Any]:
    import numpy as np
    import pyarrow as pa

    for rule, group in enumerate(candidates.groups):
        key = np.repeat(group.keys, np.diff(group.starts))
        number = np.full(len(key), rule + 1)
        yield pa.record_batch(
            [pa.array(group.members + 1), pa.array(number), pa.array(key)], schema=schema
        )
