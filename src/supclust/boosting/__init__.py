"""Gradient-boosted trees: read from LightGBM's text form, applied by a compiled kernel.

A saved model needs neither LightGBM nor torch where it is applied; only training and exact
per-feature contributions import LightGBM. Raw scores are identical to those of LightGBM, because
the same comparisons are made and the trees are summed in the same order.
"""

from supclust.boosting.booster import Booster, score_row, score_rows, train_booster
from supclust.boosting.model_text import Trees

__all__ = ["Booster", "Trees", "score_row", "score_rows", "train_booster"]
