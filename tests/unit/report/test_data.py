"""What the report puts first."""

from __future__ import annotations

from supclust.model.aggregate import Cell
from supclust.report.data import _best


def test_of_equal_objectives_the_marked_one_is_the_headline() -> None:
    def cell(name: str, mark: str) -> Cell:
        return Cell("d", "real", name, "exp", "dendrogram_purity", 1.0, 0.0, 5, mark)

    assert _best([cell("mst", ""), cell("exp_alpha", "best")], "exp") == "exp_alpha"
    assert _best([cell("mst", "best"), cell("exp_alpha", "")], "exp") == "mst"
