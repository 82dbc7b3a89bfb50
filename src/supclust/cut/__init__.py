"""Trees -> flat clusters: one threshold, the best tree-consistent partition, and a learned cut."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

from supclust._lazy import attach

CutName = Literal["dev", "threshold", "learned", "auto"]
"""How a model's trees are cut, see `supclust.model.cuts`."""
CUT_NAMES: tuple[CutName, ...] = get_args(CutName)
DEFAULT_CUTS: dict[str, CutName] = {"paper": "dev", "best": "threshold"}
"""By the name of the recipe that a model is trained with."""

if TYPE_CHECKING:
    from supclust.cut.counts import best_threshold as best_threshold
    from supclust.cut.gate import CutChoice as CutChoice
    from supclust.cut.gate import Fold as Fold
    from supclust.cut.gate import choose_cut as choose_cut
    from supclust.cut.learned import LearnedCut as LearnedCut
    from supclust.cut.learned import fit_learned_cut as fit_learned_cut
    from supclust.cut.partition import best_partition as best_partition
    from supclust.cut.partition import best_partitions as best_partitions
    from supclust.cut.partition import ceiling as ceiling
    from supclust.cut.partition import ceilings as ceilings

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "counts": ["best_threshold"],
        "gate": ["CutChoice", "Fold", "choose_cut"],
        "learned": ["LearnedCut", "fit_learned_cut"],
        "partition": ["best_partition", "best_partitions", "ceiling", "ceilings"],
    },
)
