"""Cluster many blocks with a trained model: tables of any length, on all cores, resumable.

Names are imported on first use: torch is not needed for what ``supclust fit`` makes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from supclust._lazy import attach

if TYPE_CHECKING:
    from supclust.cluster.frame import label_blocks as label_blocks

__getattr__, __dir__, __all__ = attach(__name__, {"frame": ("label_blocks",)})
