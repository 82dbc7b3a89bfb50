"""What reproducing the paper consists of: pieces of work, in the order they are best done."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from supclust.objectives import OBJECTIVES

DATASETS = ("faces", "aminer", "rexa", "gum_coref")
GRID, TOP_DOWN = "grid", "top_down"
PARTS = (GRID, TOP_DOWN)

# Seconds per split on one core, measured roughly: they order the work and weigh the progress bar.
COSTS: dict[str, dict[str, float]] = {
    "faces": {"triplet": 6.0, "all_pairs": 2.2, "best": 1.0, "mst": 1.5, "exp": 1.2, "rsc": 1.0},
    "aminer": {"triplet": 12.0, "all_pairs": 6.0, "best": 6.0, "mst": 8.0, "exp": 12.0, "rsc": 9.0},
    "rexa": {"triplet": 3.0, "all_pairs": 1.0, "best": 1.0, "mst": 1.0, "exp": 2.0, "rsc": 1.0},
    "gum_coref": {"triplet": 20.0, "all_pairs": 8.0, "best": 8.0, "mst": 9.0, "exp": 15.0}
    | {"rsc": 25.0},
}


@dataclass(frozen=True)
class Unit:
    """Some splits of one data set under one objective, trained together.

    Attributes:
        dataset: name.
        objective: name.
        linkage: ``all`` (the paper's four), ``rsc`` or ``random``.
        splits: numbers.
    """

    dataset: str
    objective: str
    linkage: str
    splits: tuple[int, ...]

    @property
    def name(self) -> str:
        """As in ``faces/mst/all/0-24``."""
        return f"{self.dataset}/{self.objective}/{self.linkage}/{self.splits[0]}-{self.splits[-1]}"

    @property
    def part(self) -> str:
        """``grid``, or ``top_down`` for the trees that only use what the grid has trained."""
        return GRID if self.linkage == "all" else TOP_DOWN

    @property
    def cost(self) -> float:
        """Seconds that it takes, roughly."""
        if self.linkage == "random":
            return 0.1 * len(self.splits)
        costs = COSTS[self.dataset]
        kind = self.objective if self.objective in costs else "exp"
        return len(self.splits) * (costs["rsc"] if self.linkage == "rsc" else costs[kind])

    def overrides(self) -> list[str]:
        """The settings, as for ``train.py``."""
        return [
            f"dataset={self.dataset}",
            f"objective={self.objective}",
            f"linkage={self.linkage}",
            f"split=[{','.join(map(str, self.splits))}]",
        ]


def plan(
    datasets: Sequence[str], splits: int, chunk: int, parts: Sequence[str] = PARTS
) -> list[list[Unit]]:
    """The work in stages: one per part and data set, all grids first.

    A stage is begun when the one before it has ended, so that its time is its own. Inside a stage
    the longest pieces come first, so that all workers end at about the same time.

    Args:
        datasets: names.
        splits: how many, from 0.
        chunk: splits trained together.
        parts: ``grid``, ``top_down``.
    """
    chunks = [tuple(range(i, min(i + chunk, splits))) for i in range(0, splits, chunk)]
    stages = []
    for part in parts:
        for dataset in datasets:
            if part == GRID:
                units = [Unit(dataset, o, "all", c) for o in OBJECTIVES for c in chunks]
            else:
                units = [Unit(dataset, o, "rsc", c) for o in OBJECTIVES for c in chunks]
                # A random tree does not look at the model: one objective stands for all.
                units.append(Unit(dataset, "exp_alpha", "random", tuple(range(splits))))
            stages.append(sorted(units, key=lambda unit: -unit.cost))
    return stages
