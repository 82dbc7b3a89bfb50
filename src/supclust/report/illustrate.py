"""The paper's two illustrations, computed: objectives that fit a linkage, and a learned alpha."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.spatial.distance import pdist, squareform

from supclust.data.block import Block
from supclust.data.datamodule import BlockDataModule
from supclust.data.sets.shapes import read_shape, shape
from supclust.data.splits import DatasetSplit
from supclust.dissimilarity.linear import LinearPair
from supclust.dissimilarity.mahalanobis import Mahalanobis
from supclust.hac._linkage import linkage
from supclust.hac.tree import Floats, Ints, cut_tree
from supclust.metrics.pairwise import adjusted_rand
from supclust.metrics.purity import dendrogram_purity
from supclust.metrics.threshold import best_threshold
from supclust.objectives import (
    MST,
    Objective,
    Recipe,
    fit_alpha,
    objective_class,
    quiet_trainer,
)

# The paper's tau and mu for linear models, with a learning rate that converges in 500 epochs.
MISMATCH_RECIPE = Recipe(threshold=0.0, margin=2.0, lr=0.1)
MISMATCH_EPOCHS = 500
# Eq. 4 as printed (a sum of ranking terms), with the competitors, the learning rate of alpha and
# the number of epochs of the paper's experiments on vectors.
SHAPES_RECIPE = Recipe(variant="ranking", competitors="adjacent", reduction="sum", alpha_lr=0.01)
SHAPES_EPOCHS = 1000
SHAPES_FOLDER, SHAPE = "shapes2d", "pathbased"
ALPHAS = np.round(np.arange(-4.0, 2.01, 0.05), 2)


@dataclass(frozen=True)
class Boundary:
    """Where a linear dissimilarity w . |x - x'| + b equals a value.

    Attributes:
        weight: (2,) w.
        offset: b minus the value; pairs with w . |x - x'| + offset <= 0 are below the boundary.
    """

    weight: tuple[float, float]
    offset: float

    def below(self, differences: Floats) -> NDArray[np.bool_]:
        """(e,) whether pairs with the given (e, 2) differences lie below."""
        return np.asarray(differences @ np.asarray(self.weight) + self.offset <= 0)


@dataclass(frozen=True)
class Trained:
    """One objective's dissimilarity f under single linkage, cut at the best pairwise F1."""

    objective: str
    epochs: int
    learned: Boundary  # f = tau of the objective
    tuned: Boundary  # f = height of the cut
    labels: Ints
    f1: float
    adjusted_rand: float


@dataclass(frozen=True)
class Mismatch:
    """Fig. 1: all-pairs and MST training of a linear dissimilarity for single linkage."""

    points: Floats
    labels: Ints
    within: Floats  # (e, 2) differences |x - x'| of the pairs of one cluster
    across: Floats  # (e', 2) those of the others
    all_pairs: Trained
    mst: Trained


@dataclass(frozen=True)
class Clustered:
    """One linkage's tree, cut into as many clusters as there are: its clusters and scores."""

    linkage: str
    labels: Ints
    adjusted_rand: float
    purity: float


@dataclass(frozen=True)
class Shapes:
    """Fig. 2: three clusters that only a learned alpha recovers."""

    source: str  # real or generated
    points: Floats
    labels: Ints
    linkages: tuple[Clustered, ...]  # single, average, complete, and exp with the learned alpha
    alpha_path: Floats  # after every epoch
    alphas: Floats  # at which the curves are computed
    rand_curve: Floats
    purity_curve: Floats

    @property
    def alpha(self) -> float:
        """The learned alpha."""
        return float(self.alpha_path[-1])


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
    trained = [_train(block, name, seed) for name in ("all_pairs", "mst")]
    return Mismatch(points, block.labels, differences[same], differences[~same], *trained)


def _train(block: Block, name: str, seed: int) -> Trained:
    """Train a linear dissimilarity of |x - x'| by an objective; cluster by single linkage."""
    model = LinearPair(2, "vectors", seed=seed)
    objective = objective_class(name)(model, MISMATCH_RECIPE, seed=seed).to(torch.float64)
    quiet_trainer(MISMATCH_EPOCHS).fit(objective, datamodule=_only(block, seed))
    model.eval()  # the weights are now their averages over all updates
    with torch.no_grad():
        matrix = model(torch.as_tensor(block.features, dtype=torch.float64)[None])[0].numpy()
    tree = linkage(matrix, "single")
    best = best_threshold([(tree, block.labels)])
    labels = cut_tree(tree, height=best.threshold)
    weight = (float(model.average_weight[0, 0]), float(model.average_weight[0, 1]))
    bias = float(model.average_bias[0])
    return Trained(
        objective=name,
        epochs=int(objective.stopping.epochs[0]),
        learned=Boundary(weight, bias - (MISMATCH_RECIPE.threshold or 0.0)),
        tuned=Boundary(weight, bias - best.threshold),
        labels=labels,
        f1=best.f1,
        adjusted_rand=float(adjusted_rand(block.labels, labels)),
    )


def compute_shapes(data: Path | None = None, seed: int = 0) -> Shapes:
    """Learn alpha on the pathbased set with Euclidean distances; cluster it by four linkages.

    Args:
        data: folder of real data sets; the published set is used where it holds ``shapes2d``.
        seed: of the initial alpha, and of the points where they are generated.
    """
    real = data is not None and (data / SHAPES_FOLDER).is_dir()
    block = read_shape(data / SHAPES_FOLDER, SHAPE) if data and real else shape(SHAPE, seed)
    distances = squareform(pdist(block.features))
    path = _learn_alpha(block, seed)
    methods = [("single", None), ("average", None), ("complete", None), ("exp", float(path[-1]))]
    curve = [_cluster(distances, block, "exp", float(alpha)) for alpha in ALPHAS]
    return Shapes(
        source="real" if real else "generated",
        points=np.asarray(block.features, dtype=np.float64),
        labels=block.labels,
        linkages=tuple(_cluster(distances, block, method, alpha) for method, alpha in methods),
        alpha_path=path,
        alphas=ALPHAS,
        rand_curve=np.array([clustered.adjusted_rand for clustered in curve]),
        purity_curve=np.array([clustered.purity for clustered in curve]),
    )


def _learn_alpha(block: Block, seed: int) -> Floats:
    """Minimise the ExpLink loss in alpha alone on Euclidean distances; alpha after every epoch."""
    euclidean = Mahalanobis(2, seed=seed)
    with torch.no_grad():
        for matrix in euclidean.parameters():
            matrix.copy_(torch.eye(2))
    # Any objective will do: alpha is fitted to the dissimilarity as it is.
    untrained = MST(euclidean, SHAPES_RECIPE, seed=seed).to(torch.float64)
    trainer = quiet_trainer(SHAPES_EPOCHS)
    fit_alpha(untrained, _only(block, seed), SHAPES_EPOCHS, trainer=trainer)
    fitted = trainer.lightning_module
    assert isinstance(fitted, Objective)
    return np.array([float(epoch["alpha"][0]) for epoch in fitted.history])


def _only(block: Block, seed: int) -> BlockDataModule:
    """One split whose train and test blocks are the given one."""
    split = DatasetSplit(train=(block,), dev=(), test=(block,))
    return BlockDataModule([split], splits=(0,), seed=seed, dtype=torch.float64)


def _cluster(distances: Floats, block: Block, method: str, alpha: float | None) -> Clustered:
    tree = linkage(distances, method, alpha=alpha)
    labels = cut_tree(tree, n_clusters=block.n_clusters)
    purity = float(dendrogram_purity(tree, block.labels))
    return Clustered(method, labels, float(adjusted_rand(block.labels, labels)), purity)
