"""``supclust edges``: cluster scored pairs."""

from supclust.cli.edges.command import EXAMPLES, configure, run

__all__ = ["EXAMPLES", "configure", "run"]
