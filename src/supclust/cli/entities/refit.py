"""``supclust refit``: learn again, from the answers and corrections of an entity store."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

EXAMPLES = (
    "supclust refit entities/ -o model2",
    "supclust refit entities/ --table records.csv --label entity -o model2",
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("store", type=Path, help="folder of `supclust cluster ... --store`")
    parser.add_argument("-o", "--output", type=Path, required=True, help="folder of the new model")
    parser.add_argument(
        "--table",
        type=Path,
        help="table of the labelled records of training (default: the store's records, without "
        "labels)",
    )
    parser.add_argument("--label", help="column of known entities in --table")
    parser.add_argument("--seed", type=int, default=0, help="of everything random")


def run(options: argparse.Namespace) -> int:
    """Train with the corrections as judged pairs."""
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet

    from supclust.cli.fit import check_output
    from supclust.cli.main import main
    from supclust.data.errors import DataError
    from supclust.review.answers import judged_pairs
    from supclust.schema import Natural, check
    from supclust.store import EntityStore

    if (options.table is None) != (options.label is None):
        raise ValueError("--table and --label go together; received one of them. Give both.")
    check("--seed", Natural, options.seed)
    check_output(options.output)
    store = EntityStore.open(options.store)
    judged = [pair for pair in judged_pairs(store) if store.has(pair[0]) and store.has(pair[1])]
    if not judged:
        raise DataError(
            "has no corrections to learn from; answer questions with supclust review, or use "
            "supclust correct",
            options.store,
        )
    with tempfile.TemporaryDirectory() as name:
        pairs, table = Path(name) / "answers.csv", options.table
        left, right, match = zip(*judged, strict=True)
        columns = {"id_a": left, "id_b": right, "match": [str(int(one)) for one in match]}
        pa.csv.write_csv(pa.table({key: list(value) for key, value in columns.items()}), pairs)
        if table is None:
            table = Path(name) / "records.parquet"
            ids = store.clusters().column(store.id).to_pylist()
            pa.parquet.write_table(store.records(ids), table)
        words = ["fit", str(table), "--pairs", str(pairs), "--id", store.id]
        words += ["--seed", str(options.seed), "-o", str(options.output)]
        words += [] if options.label is None else ["--label", options.label]
        return main([*words, *_as_before(store.model.records or {}, Path(name))])


def _as_before(described: Mapping[str, Any], folder: Path) -> list[str]:
    """Options of ``supclust fit`` that repeat the choices of a model.

    Args:
        described: what the model says about its table.
        folder: for lists of columns; their names may hold commas.
    """
    columns, kinds = folder / "columns.txt", folder / "kinds.txt"
    columns.write_text("\n".join(described["columns"]), encoding="utf-8")
    lines = [f"{column}={kind}" for column, kind in described["columns"].items()]
    kinds.write_text("\n".join(lines), encoding="utf-8")
    words = ["--columns", str(columns), "--kind", str(kinds)]
    if described.get("block"):
        words += ["--block", str(described["block"])]
    if described.get("given"):
        words += ["--candidates", ", ".join(one["rule"] for one in described["candidates"])]
    if described.get("distinct"):
        words += ["--distinct", str(described["distinct"])]
    return words
