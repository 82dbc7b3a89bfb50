"""``supclust fit``: learn from labelled records how to cluster."""

from supclust.cli.fit.command import EXAMPLES, configure, run

__all__ = ["EXAMPLES", "configure", "run"]
