"""`exp_minus` (the paper's Exp-): alpha = -inf: trees of single linkage."""

from __future__ import annotations

import math
from typing import ClassVar

from supclust.objectives.explink import ExpLinkObjective


class ExpMinus(ExpLinkObjective):
    """ExpLink training with alpha = -inf: trees of single linkage."""

    name: ClassVar[str] = "exp_minus"
    alpha_fixed: ClassVar[float] = -math.inf
