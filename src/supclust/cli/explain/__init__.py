"""``supclust explain``: what a model has learned, or why records are together or apart."""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

EXAMPLES = (
    "supclust explain model",
    "supclust explain model --json",
    "supclust explain entities/ --records a17 b23",
    "supclust explain entities/ --cluster 42",
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument(
        "model",
        type=Path,
        help="folder of a model, one split of train.py, or an entity store",
    )
    parser.add_argument("--linkage", help="which linkage of a result of train.py (default: exp)")
    parser.add_argument(
        "--records",
        nargs=2,
        metavar=("A", "B"),
        help="entity store: why these two records are together, or what keeps them apart",
    )
    parser.add_argument(
        "--cluster", type=int, metavar="C", help="entity store: what holds this cluster together"
    )
    parser.add_argument("--json", action="store_true", help="for programs")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print what was learned, or why records are where they are."""
    facts, lines = _explained(options)
    print(json.dumps(_plain(facts), indent=2) if options.json else "\n".join(lines))
    return 0


def _explained(options: argparse.Namespace) -> tuple[dict[str, Any], list[str]]:
    """Facts, and the same as text."""
    if options.records is None and options.cluster is None:
        from supclust.cli.explain.model import explained, model_lines
        from supclust.model import load

        stored = (options.model / "store.json").is_file()
        facts = explained(
            load(options.model / "model" if stored else options.model, linkage=options.linkage)
        )
        return facts, model_lines(facts)
    if options.records is not None and options.cluster is not None:
        raise ValueError("give --records or --cluster; received both. Drop one.")
    from supclust.explain.wording import cluster_lines, records_lines
    from supclust.review.stored import explain_records, explain_stored_cluster
    from supclust.store import EntityStore

    store = EntityStore.open(options.model)
    if options.records is not None:
        facts = explain_records(store, *options.records)
        return facts, records_lines(facts)
    facts = explain_stored_cluster(store, options.cluster)
    return facts, cluster_lines(facts)


def _plain(value: Any) -> Any:
    """Plain JSON values: infinities become text."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, Mapping):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return value
