"""matplotlib figures for notebooks and papers, as ``supclust.plot.dendrogram(Z, labels)``.

All functions return axes, draw into ``ax=`` where it is given, and never open a window.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from supclust._lazy import attach

if TYPE_CHECKING:
    from supclust.plot.axes import alpha as alpha
    from supclust.plot.axes import threshold as threshold
    from supclust.plot.score_table import table as table
    from supclust.plot.tree import dendrogram as dendrogram

__getattr__, __dir__, __all__ = attach(
    __name__,
    {"axes": ("alpha", "threshold"), "score_table": ("table",), "tree": ("dendrogram",)},
)
