"""``supclust review``: a local page that asks about the merges that matter most."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

EXAMPLES = (
    "supclust review entities/",
    "supclust review entities/ --port 8001 --no-browser",
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("store", type=Path, help="folder of `supclust cluster ... --store`")
    parser.add_argument("--port", type=int, default=0, help="default: one that is free")
    parser.add_argument(
        "--no-browser", action="store_true", help="print the address, and open nothing"
    )


def run(options: argparse.Namespace) -> int:
    """Serve the page until Ctrl-C."""
    import webbrowser

    from supclust.review.server import ReviewServer
    from supclust.review.session import Review
    from supclust.store import EntityStore

    if not 0 <= options.port < 65536:
        raise ValueError(f"--port must be from 0 to 65535; received {options.port}.")
    review = Review(EntityStore.open(options.store))
    try:
        opened = ReviewServer(review, options.port)
    except OSError as problem:  # used by another program, or reserved
        raise ValueError(
            f"--port {options.port} cannot be used ({problem.strerror}). Choose another, or leave "
            "it out."
        ) from None
    with opened as server:
        print(server.url, flush=True)
        print("answer in the browser; Ctrl-C ends the review", file=sys.stderr)
        if not options.no_browser:
            webbrowser.open(server.url)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            given = len(review.answers.given)
            print(f"{given:,} answers; the store is at version {review.store.version}")
    return 0
