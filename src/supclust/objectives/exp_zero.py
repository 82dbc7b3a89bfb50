"""`exp_zero` (the paper's Exp0): alpha = 0: trees of average linkage."""

from __future__ import annotations

from typing import ClassVar

from supclust.objectives.explink import ExpLinkObjective


class ExpZero(ExpLinkObjective):
    """ExpLink training with alpha = 0: trees of average linkage."""

    name: ClassVar[str] = "exp_zero"
    alpha_fixed: ClassVar[float] = 0.0
