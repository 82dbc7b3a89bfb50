"""``supclust dashboard``: make the W&B workspace, or write its definition."""

from __future__ import annotations

import argparse
from pathlib import Path

EXAMPLES = (
    "supclust dashboard --entity me",
    "supclust dashboard --dry-run",
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("--entity", help="W&B user or team; default: WANDB_ENTITY")
    parser.add_argument("--project", default="supclust", help="W&B project (default: supclust)")
    parser.add_argument(
        "--dry-run", action="store_true", help="write the definition as JSON, without network"
    )
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        default=Path("dashboard.json"),
        metavar="FILE",
        help="where --dry-run writes (default: dashboard.json)",
    )


def run(options: argparse.Namespace) -> int:
    """Save the workspace, or write its definition."""
    import os

    from supclust.data.files import require_output, write_json
    from supclust.experiment.dashboard import build_workspace, definition

    entity = options.entity or os.environ.get("WANDB_ENTITY")
    if not entity and not options.dry_run:
        raise ValueError(
            "a W&B user or team is needed; received none. "
            "Pass --entity NAME, or look at the definition with --dry-run."
        )
    if options.dry_run:
        require_output(options.output)
    workspace = build_workspace(entity or "entity", options.project)
    if options.dry_run:
        write_json(options.output, definition(workspace))
        print(f"wrote {options.output}")
        return 0
    workspace.save()
    print(workspace.url)
    return 0
