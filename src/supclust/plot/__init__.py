"""matplotlib figures for notebooks and papers, as ``supclust.plot.dendrogram(Z, labels)``.

All functions return axes, draw into ``ax=`` where it is given, and never open a window.
"""

from __future__ import annotations

from supclust.plot.axes import alpha, dendrogram, table, threshold

__all__ = ["alpha", "dendrogram", "table", "threshold"]
