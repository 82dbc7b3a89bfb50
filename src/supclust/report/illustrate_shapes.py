"""Fig. 2: three clusters that a learned alpha finds, and single, average and complete miss."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from scipy.spatial.distance import pdist, squareform

from supclust.data.block import Block
from supclust.data.datamodule import BlockDataModule
from supclust.data.sets.shapes import read_shape, shape
from supclust.data.splits import DatasetSplit
from supclust.dissimilarity.mahalanobis import Mahalanobis
from supclust.hac._linkage import linkage
from supclust.hac.tree import Floats, Ints, cut_tree
from supclust.metrics.pairwise import adjusted_rand
from supclust.metrics.purity import dendrogram_purity
from supclust.objectives import MST, Objective, Recipe, fit_alpha, quiet_trainer

FOLDER, NAME = "shapes2d", "pathbased"
# Eq. 4 as printed (a sum of ranking terms), with the competitors, the rate of alpha and the cap of
# epochs that the paper's experiments on vectors have.
RECIPE = Recipe(variant="ranking", competitors="adjacent", reduction="sum", alpha_lr=0.01)
MAX_EPOCHS = 1000
ALPHAS = np.round(np.arange(-4.0, 2.01, 0.05), 2)


@dataclass(frozen=True)
class Clustered:
    """One linkage's tree, cut into as many clusters as there are.

    Attributes:
        linkage: name.
        labels: (n,) clusters of the cut.
        adjusted_rand: of the cut.
        purity: of the whole tree.
    """

    linkage: str
    labels: Ints
    adjusted_rand: float
    purity: float


@dataclass(frozen=True)
class Shapes:
    """All of the illustration.

    Attributes:
        source: real or generated.
        points: (n, 2).
        labels: (n,) true clusters.
        linkages: single, average, complete, and exp with the learned alpha.
        alpha_path: alpha after every epoch; the last is the learned one.
        alphas: at which the curves are computed.
        rand_curve: adjusted Rand of the cut at every alpha.
        purity_curve: dendrogram purity at every alpha.
    """

    source: str
    points: Floats
    labels: Ints
    linkages: tuple[Clustered, ...]
    alpha_path: Floats
    alphas: Floats
    rand_curve: Floats
    purity_curve: Floats

    @property
    def alpha(self) -> float:
        """The learned alpha."""
        return float(self.alpha_path[-1])


def compute_shapes(data: Path | None = None, seed: int = 0) -> Shapes:
    """Learn alpha on the pathbased set with Euclidean distances, and cluster it by four linkages.

    Args:
        data: folder of real data sets; the published set is used where it holds ``shapes2d``.
        seed: of alpha's start, and of the points where they are generated.
    """
    block, source = load_pathbased(data, seed)
    distances = squareform(pdist(block.features))
    path = learn_alpha(block, seed)
    alpha = float(path[-1])
    methods = [("single", None), ("average", None), ("complete", None), ("exp", alpha)]
    curve = [_cluster(distances, block, "exp", float(a)) for a in ALPHAS]
    return Shapes(
        source=source,
        points=np.asarray(block.features, dtype=np.float64),
        labels=block.labels,
        linkages=tuple(_cluster(distances, block, method, a) for method, a in methods),
        alpha_path=path,
        alphas=ALPHAS,
        rand_curve=np.array([found.adjusted_rand for found in curve]),
        purity_curve=np.array([found.purity for found in curve]),
    )


def load_pathbased(data: Path | None, seed: int) -> tuple[Block, str]:
    """The pathbased set and where it is from: ``real`` or ``generated``."""
    if data is not None and (data / FOLDER).is_dir():
        return read_shape(data / FOLDER, NAME), "real"
    return shape(NAME, seed), "generated"


def learn_alpha(block: Block, seed: int) -> Floats:
    """Minimise the ExpLink loss in alpha alone on Euclidean distances; alpha after every epoch."""
    euclidean = Mahalanobis(2, seed=seed)
    with torch.no_grad():
        for matrix in euclidean.parameters():
            matrix.copy_(torch.eye(2))
    # Which objective it is does not matter: alpha is fitted to the dissimilarity as it stands.
    untrained = MST(euclidean, RECIPE, seed=seed).to(torch.float64)
    part = DatasetSplit(train=(block,), dev=(), test=(block,))
    data = BlockDataModule([part], splits=(0,), seed=seed, dtype=torch.float64)
    trainer = quiet_trainer(MAX_EPOCHS)
    last = fit_alpha(untrained, data, MAX_EPOCHS, trainer=trainer)
    fitted = trainer.lightning_module
    assert isinstance(fitted, Objective)
    path = np.array([float(epoch["alpha"][0]) for epoch in fitted.history])
    assert path[-1] == float(last[0])
    return path


def _cluster(distances: Floats, block: Block, method: str, alpha: float | None) -> Clustered:
    tree = linkage(distances, method, alpha=alpha)
    labels = cut_tree(tree, n_clusters=block.n_clusters)
    return Clustered(
        linkage=method,
        labels=labels,
        adjusted_rand=float(adjusted_rand(block.labels, labels)),
        purity=float(dendrogram_purity(tree, block.labels)),
    )
