"""`exp_plus` (the paper's Exp+): alpha = +inf: trees of complete linkage."""

from __future__ import annotations

import math
from typing import ClassVar

from supclust.objectives.explink import ExpLinkObjective


class ExpPlus(ExpLinkObjective):
    """ExpLink training with alpha = +inf: trees of complete linkage."""

    name: ClassVar[str] = "exp_plus"
    alpha_fixed: ClassVar[float] = math.inf
