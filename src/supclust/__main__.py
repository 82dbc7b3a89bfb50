"""``python -m supclust``: the ``supclust`` command."""

from supclust.cli.main import program

program()
