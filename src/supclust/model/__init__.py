"""Trained models: fitting, evaluation, and the folders they are kept in.

Names are imported on first use: torch is needed to fit, not to read a model.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from supclust._lazy import attach

if TYPE_CHECKING:
    from supclust.model.locate import load as load
    from supclust.model.trained import TrainedModel as TrainedModel

__getattr__, __dir__, __all__ = attach(
    __name__, {"locate": ("load",), "trained": ("TrainedModel",)}
)
