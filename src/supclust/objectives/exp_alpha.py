"""`exp_alpha` (the paper's Exp-alpha): dissimilarity and linkage learned together."""

from __future__ import annotations

from typing import ClassVar

from supclust.objectives.explink import ExpLinkObjective


class ExpAlpha(ExpLinkObjective):
    """ExpLink training in which alpha is a parameter of every split."""

    name: ClassVar[str] = "exp_alpha"
    learns_alpha: ClassVar[bool] = True
