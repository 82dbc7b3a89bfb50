"""Fig. 1: all-pairs against MST training of a linear dissimilarity for single linkage."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch

from supclust.data.block import Block
from supclust.data.datamodule import BlockDataModule
from supclust.data.sets.shapes import shape
from supclust.data.splits import DatasetSplit
from supclust.dissimilarity.linear import LinearPair
from supclust.hac._linkage import linkage
from supclust.hac.tree import Floats, Ints, cut_tree
from supclust.metrics.pairwise import adjusted_rand
from supclust.metrics.threshold import best_threshold
from supclust.objectives import Recipe, objective_class, quiet_trainer

# The paper's tau and mu for linear models; a rate at which 500 epochs are plenty.
RECIPE = Recipe(threshold=0.0, margin=2.0, lr=0.1)
MAX_EPOCHS = 500


@dataclass(frozen=True)
class Boundary:
    """Where a linear dissimilarity w . |x - x'| + b equals a value.

    Attributes:
        weight: (2,) w.
        offset: b minus the value; pairs with w . |x - x'| + offset <= 0 are "alike".
    """

    weight: tuple[float, float]
    offset: float

    def alike(self, differences: Floats) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
        """(e,) whether pairs with the given (e, 2) differences lie on the near side."""
        return np.asarray(differences @ np.asarray(self.weight) + self.offset <= 0)


@dataclass(frozen=True)
class Trained:
    """What one objective leads to under single linkage.

    Attributes:
        objective: all_pairs or mst.
        epochs: of training.
        learned: boundary f = tau, where the objective wants it.
        tuned: boundary f = the cut of the tree with the best pairwise F1.
        labels: (n,) clusters of that cut.
        f1: pairwise F1 of that cut.
        adjusted_rand: of that cut.
    """

    objective: str
    epochs: int
    learned: Boundary
    tuned: Boundary
    labels: Ints
    f1: float
    adjusted_rand: float


@dataclass(frozen=True)
class Mismatch:
    """All of the illustration.

    Attributes:
        points: (n, 2).
        labels: (n,) true clusters.
        within: (e, 2) differences |x - x'| of the pairs of one cluster.
        across: (e', 2) those of the others.
        all_pairs: trained on all pairs.
        mst: trained on spanning trees.
    """

    points: Floats
    labels: Ints
    within: Floats
    across: Floats
    all_pairs: Trained
    mst: Trained


def compute_mismatch(seed: int = 0) -> Mismatch:
    """Train both objectives on the same two bands, and cluster these by single linkage.

    Args:
        seed: of the points, and of the initial weights.
    """
    block = shape("mismatch", seed)
    points = np.asarray(block.features, dtype=np.float64)
    i, j = np.triu_indices(block.n, 1)
    differences = np.abs(points[i] - points[j])
    same = block.labels[i] == block.labels[j]
    return Mismatch(
        points=points,
        labels=block.labels,
        within=differences[same],
        across=differences[~same],
        all_pairs=train_on(block, "all_pairs", seed),
        mst=train_on(block, "mst", seed),
    )


def train_on(block: Block, name: str, seed: int) -> Trained:
    """Train a linear dissimilarity of |x - x'| by an objective; cluster by single linkage."""
    model = LinearPair(2, "vectors", seed=seed)
    objective = objective_class(name)(model, RECIPE, seed=seed).to(torch.float64)
    part = DatasetSplit(train=(block,), dev=(), test=(block,))
    data = BlockDataModule([part], splits=(0,), seed=seed, dtype=torch.float64)
    quiet_trainer(MAX_EPOCHS).fit(objective, datamodule=data)
    model.eval()  # the weights are now their averages over all updates
    with torch.no_grad():
        matrix = model(torch.as_tensor(block.features, dtype=torch.float64)[None])[0].numpy()
    tree = linkage(matrix, "single")
    best = best_threshold([(tree, block.labels)])
    labels = cut_tree(tree, height=best.threshold)
    weight = (float(model.average_weight[0, 0]), float(model.average_weight[0, 1]))
    bias = float(model.average_bias[0])
    tau = RECIPE.threshold or 0.0
    return Trained(
        objective=name,
        epochs=int(objective.stopping.epochs[0]),
        learned=Boundary(weight, bias - tau),
        tuned=Boundary(weight, bias - best.threshold),
        labels=labels,
        f1=best.f1,
        adjusted_rand=float(adjusted_rand(block.labels, labels)),
    )


def boundary_line(boundary: Boundary, right: float, top: float) -> tuple[Floats, Floats]:
    """Where a boundary crosses the box [0, right] x [0, top]: abscissas and ordinates of its ends.

    >>> [end.tolist() for end in boundary_line(Boundary((1.0, 1.0), -2.0), 4.0, 4.0)]
    [[0.0, 2.0], [2.0, 0.0]]
    """
    (w1, w2), b = boundary.weight, boundary.offset
    found = []
    if not math.isclose(w2, 0.0, abs_tol=1e-12):
        found += [(x, -(b + w1 * x) / w2) for x in (0.0, right)]
    if not math.isclose(w1, 0.0, abs_tol=1e-12):
        found += [(-(b + w2 * y) / w1, y) for y in (0.0, top)]
    slack = 1e-9 * max(right, top)
    inside = [
        (x, y) for x, y in found if -slack <= x <= right + slack and -slack <= y <= top + slack
    ]
    ends = sorted(inside)[:: max(len(inside) - 1, 1)]
    line = np.array(ends, dtype=np.float64).reshape(-1, 2) + 0.0  # no negative zero
    return line[:, 0], line[:, 1]
