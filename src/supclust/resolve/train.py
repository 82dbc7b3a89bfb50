"""The pair model by cross-validation over entities: folds, and the choice of a family.

Entities are divided into folds. A fold's model is trained without any record of the fold, so the
dissimilarities that it gives them are as good as those of new records.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supclust.hac.cpu.threads import thread_count
from supclust.resolve.keys import Ints
from supclust.resolve.pair_model import PairModel, train_boosted, train_logistic
from supclust.resolve.scoring import Compared
from supclust.resolve.training_pairs import LabelledPairs

FOLDS = 3
_ENOUGH = 1_000  # entities from which boosted trees are not compared with the logistic model
_TOO_FEW = 100  # matches below which they are not tried


class TrainedPairs(NamedTuple):
    """Pair models.

    Attributes:
        model: trained on all pairs.
        folds: one per fold, trained without its entities.
        fold: (n,) fold of every record, -1 for unlabelled ones.
        losses: cross-validated log loss of every family that was tried.
    """

    model: PairModel
    folds: Sequence[PairModel]
    fold: Ints
    losses: dict[str, float]

    def which(self, left: Ints, right: Ints) -> Ints:
        """Position, in ``[*folds, model]``, of the model that has not seen a pair's entity."""
        a, b = self.fold[left], self.fold[right]
        return np.where(a >= 0, a, np.where(b >= 0, b, len(self.folds)))


def folds_of(labels: Ints, seed: int = 0) -> Ints:
    """(n,) fold of every record: entities at random, -1 where there is no label."""
    entities = int(labels.max(initial=-1)) + 1
    order = np.random.default_rng(seed).permutation(entities) % FOLDS
    return np.where(labels >= 0, order[labels], -1) if entities else np.full(len(labels), -1)


def train_pairs(table: Compared, pairs: LabelledPairs, labels: Ints, seed: int = 0) -> TrainedPairs:
    """Train the pair model and those of the folds.

    Args:
        table: the records.
        pairs: labelled.
        labels: (n,) entity, -1: not known.
        seed: of folds and training.
    """
    fold = folds_of(labels, seed)
    matches = int(pairs.same.sum())
    several = int((np.bincount(labels[labels >= 0]) > 1).sum())  # entities with matches
    families = ["boosted"] if several >= _ENOUGH else ["logistic", "boosted"]
    if matches < _TOO_FEW:
        families = ["logistic"]
    trained: dict[str, list[PairModel]] = {}
    losses: dict[str, float] = {}
    for family in families:
        features = table.features(pairs.left, pairs.right, family == "boosted")
        trained[family] = _train_folds(family, features, pairs, fold, seed)
        losses[family] = _held_out_loss(trained[family], features, pairs, fold)
    best = min(losses, key=lambda family: losses[family])
    *folds, model = trained[best]
    return TrainedPairs(model, folds, fold, losses)


def _train_folds(
    family: str, features: NDArray[np.float32], pairs: LabelledPairs, fold: Ints, seed: int
) -> list[PairModel]:
    """Models of the folds, then that of all pairs; side by side, one core each."""

    def train(k: int) -> PairModel:
        used = (fold[pairs.left] != k) & (fold[pairs.right] != k)
        if k == FOLDS or pairs.same[used].all() or not pairs.same[used].any():
            used = np.ones(len(used), np.bool_)
        X, same, weight = features[used], pairs.same[used], pairs.weight[used]
        if family == "boosted":
            return train_boosted(X, same, weight, seed)
        return train_logistic(X, same, weight)

    with ThreadPoolExecutor(min(thread_count(), FOLDS + 1)) as pool:
        return list(pool.map(train, range(FOLDS + 1)))


def _held_out_loss(
    models: Sequence[PairModel], features: NDArray[np.float32], pairs: LabelledPairs, fold: Ints
) -> float:
    """Mean log loss of the pairs of every fold under the model that was trained without it."""
    total = count = 0.0
    for k in range(FOLDS):
        mine = (fold[pairs.left] == k) | (fold[pairs.right] == k)
        if mine.any():
            value = models[k].dissimilarity(features[mine])
            loss = np.logaddexp(0, np.where(pairs.same[mine], value, -value))
            total += float((pairs.weight[mine] * loss).sum())
            count += float(pairs.weight[mine].sum())
    return total / max(count, 1e-300)
