"""``supclust illustrate``: compute and draw the paper's two illustrations."""

from __future__ import annotations

import argparse
import io
import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMATS = ("png", "svg")

EXAMPLES = (
    "supclust illustrate mismatch -o pictures",
    "supclust illustrate shapes -o pictures --format png",
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument(
        "picture",
        choices=("mismatch", "shapes"),
        help="mismatch: all-pairs and MST training for single linkage; "
        "shapes: three clusters that only a learned alpha finds",
    )
    parser.add_argument(
        "-o", "--output", type=Path, default=Path(), metavar="DIR", help="folder (default: here)"
    )
    parser.add_argument(
        "--format", default=",".join(FORMATS), help="png, svg or both (default: png,svg)"
    )
    parser.add_argument("--seed", type=int, default=0, help="of points and training (default: 0)")
    parser.add_argument(
        "--data",
        type=Path,
        default=Path(os.environ.get("SUPCLUST_DATA", "data")),
        help="folder of real data sets; shapes uses its shapes2d (default: SUPCLUST_DATA, or data)",
    )


def run(options: argparse.Namespace) -> int:
    """Compute, print the numbers, write the files."""
    from supclust.data.files import require_output

    formats = parse_formats(options.format)
    if options.seed < 0:
        raise ValueError(f"--seed must be at least 0; received {options.seed}.")
    if options.output.exists() and not options.output.is_dir():
        raise ValueError(
            f"-o needs a folder; {options.output} is a file. The file names are fixed."
        )
    require_output(options.output / f"{options.picture}.{formats[0]}")
    make = illustrate_mismatch if options.picture == "mismatch" else illustrate_shapes
    figure, lines = make(options)
    print("\n".join(lines))
    for name in formats:
        path = options.output / f"{options.picture}.{name}"
        write_figure(figure, path)
        print(path)
    return 0


def parse_formats(text: str) -> list[str]:
    """Formats of a list such as ``png,svg``, each once.

    >>> parse_formats("svg, png,svg")
    ['svg', 'png']
    """
    formats = list(dict.fromkeys(part.strip().lower() for part in text.split(",") if part.strip()))
    if not formats or not set(formats) <= set(FORMATS):
        raise ValueError(
            f"--format must be one or more of {', '.join(FORMATS)}, separated by commas; "
            f"received {text!r}."
        )
    return formats


def illustrate_mismatch(options: argparse.Namespace) -> tuple[Figure, list[str]]:
    """The figure, and its numbers as text."""
    from supclust.report.illustrate import compute_mismatch
    from supclust.report.illustrate_figures import mismatch_figure

    mismatch = compute_mismatch(options.seed)
    lines = [
        f"{trained.objective:<10} single linkage, best cut: pairwise F1 {trained.f1:.3f}, "
        f"adjusted Rand {trained.adjusted_rand:.3f} ({trained.epochs} epochs)"
        for trained in (mismatch.all_pairs, mismatch.mst)
    ]
    return mismatch_figure(mismatch), lines


def illustrate_shapes(options: argparse.Namespace) -> tuple[Figure, list[str]]:
    """The figure, and its numbers as text."""
    from supclust.report.illustrate import compute_shapes
    from supclust.report.illustrate_figures import shapes_figure

    shapes = compute_shapes(options.data, options.seed)
    lines = []
    if shapes.source != "real":
        lines.append(
            "generated points: no real set below --data (supclust data fetch shapes2d downloads it)"
        )
    for clustered in shapes.linkages:
        name = clustered.linkage
        note = f", alpha {shapes.alpha:.3f} learned" if name == "exp" else ""
        lines.append(
            f"{name:<10} adjusted Rand {clustered.adjusted_rand:5.2f}, "
            f"dendrogram purity {clustered.purity:.2f}{note}"
        )
    return shapes_figure(shapes), lines


def write_figure(figure: Figure, path: Path) -> None:
    """Write a figure atomically; equal figures give equal bytes."""
    from matplotlib import rc_context

    from supclust.data.files import write_bytes

    drawn = io.BytesIO()
    kind = path.suffix[1:]
    metadata = {"Software": None} if kind == "png" else {"Date": None}
    with rc_context({"svg.hashsalt": "supclust", "svg.fonttype": "path"}):
        figure.savefig(drawn, format=kind, dpi=110, metadata=metadata)
    write_bytes(path, drawn.getvalue())
