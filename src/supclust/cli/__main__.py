"""``python -m supclust.cli``: the ``supclust`` command."""

from supclust.cli.main import program

program()
