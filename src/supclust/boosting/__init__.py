"""Gradient-boosted trees: read from LightGBM's text form, applied by a compiled kernel.

A saved model needs neither LightGBM nor torch where it is applied or explained; only training
imports LightGBM. Raw scores are identical to those of LightGBM, because the same comparisons are
made and the trees are summed in the same order.
"""

from supclust.boosting.booster import Booster, train_booster
from supclust.boosting.model_text import Trees
from supclust.boosting.score import score_row, score_rows

__all__ = ["Booster", "Trees", "score_row", "score_rows", "train_booster"]
