"""The pair model by cross-validation over entities: folds, and the choice of a family.

Entities are divided into folds. A fold's model is trained without any record of the fold, so the
dissimilarities that it gives them are as good as those of new records.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from supclust.data.records.comparisons import RecordComparisons
from supclust.data.records.encode.columns import Column
from supclust.data.records.learning import rows_of_pairs, take_rows
from supclust.hac.cpu.threads import thread_count
from supclust.resolve.blocking.keys import Ints
from supclust.resolve.pair_model import Boosted, PairModel, train_boosted, train_logistic
from supclust.resolve.scoring import Compared
from supclust.resolve.training_pairs import LabelledPairs

FOLDS = 3
_ENOUGH = 1_000  # entities from which boosted trees are not compared with the logistic model
_ENOUGH_RECORDS = 5_000  # of fewer entities, likewise
_CLEAR = 1.1  # times the log loss of boosted trees that the logistic model may have
_TOO_FEW = 100  # matches below which they are not tried
ROUNDS = (20, 30, 40, 60, 80, 110, 150, 220)
"""Of boosting: trees are added up to one of these, the one with the least held-out loss."""
FEW_COLUMNS = 12
"""Columns up to which all are compared."""
_USELESS = 0.01  # share of the gain of all columns that is given up


class TrainedPairs(NamedTuple):
    """Pair models of one family.

    Attributes:
        family: ``boosted`` or ``logistic``.
        model: of all pairs.
        folds: one per fold, trained without its entities.
        fold: (n,) fold of every record, -1 for unlabelled ones.
        losses: cross-validated log loss of every family that was tried.
    """

    family: str
    model: PairModel
    folds: Sequence[PairModel]
    fold: Ints
    losses: Mapping[str, float]

    def which(self, left: Ints, right: Ints) -> Ints:
        """Position, in ``[*folds, model]``, of the model that has not seen a pair's entity."""
        a, b = self.fold[left], self.fold[right]
        return np.where(a >= 0, a, np.where(b >= 0, b, len(self.folds)))


def folds_of(labels: Ints, seed: int = 0) -> Ints:
    """(n,) fold of every record: entities at random, -1 where there is no label."""
    entities = int(labels.max(initial=-1)) + 1
    order = np.random.default_rng(seed).permutation(entities) % FOLDS
    return np.where(labels >= 0, order[labels], -1) if entities else np.full(len(labels), -1)


def train_pairs(
    table: Compared, pairs: LabelledPairs, labels: Ints, seed: int = 0, complete: bool = False
) -> TrainedPairs:
    """Train the pair model and those of the folds.

    With many entities, or records of them, they are boosted trees. With few, a logistic model
    describes new entities better, unless the log loss of held-out entities clearly says otherwise.

    Args:
        table: the records.
        pairs: labelled.
        labels: (n,) entity, -1: not known.
        seed: of folds and training.
        complete: whether unlabelled records are strangers to all labelled entities.
    """
    fold = folds_of(labels, seed)
    sizes = np.bincount(labels[labels >= 0])
    sizes = sizes[sizes > 1]  # entities with matches
    many = len(sizes) >= _ENOUGH or sizes.sum() >= _ENOUGH_RECORDS
    families = ["boosted"] if many else ["logistic", "boosted"]
    if int(pairs.same.sum()) < _TOO_FEW:
        families = ["logistic"]
    known = complete and bool(sizes.sum() >= _ENOUGH_RECORDS)  # of few records: no gain
    pairs = pairs._replace(weight=entity_weights(pairs, labels, known))
    models, losses = {}, {}
    for family in families:
        features = table.features(pairs.left, pairs.right, family == "boosted")
        directions = table.comparisons.directions
        trained = _train_folds(family, features, directions, pairs, fold, seed)
        models[family], losses[family] = _stopped(trained, features, pairs, fold)
    best = min(families, key=lambda name: losses[name] * (_CLEAR if name == "boosted" else 1.0))
    *folds, model = models[best]
    return TrainedPairs(best, model, folds, fold, losses)


def useless_columns(
    comparisons: RecordComparisons,
    values: Mapping[str, Column],
    pairs: LabelledPairs,
    seed: int = 0,
) -> list[str]:
    """Columns that boosted trees hardly use to tell matches from others.

    Positions in a list, flags and the like: comparing them takes time and teaches nothing. Those
    with the least gain are left out while they have 1 % of the gain of all columns together.

    Args:
        comparisons: of all columns.
        values: of the columns, of all records.
        pairs: labelled, some.
        seed: of the training.
    """
    rows, (left, right) = rows_of_pairs(pairs.left, pairs.right)
    encoded = comparisons.encode(
        {name: take_rows(values[name], rows) for name in comparisons.kinds}
    )
    features = comparisons.features(encoded, left, right, nan=True)
    directions = comparisons.directions
    model = train_boosted(features, pairs.same, pairs.weight, directions, seed)
    gains, at = {}, 0
    for one in comparisons.comparisons:
        gains[one.column] = float(model.importances[at : at + len(one.features)].sum())
        at += len(one.features)
    order = sorted(gains, key=lambda column: gains[column])
    useless = np.cumsum([gains[column] for column in order]) <= _USELESS
    return [column for column, drop in zip(order[:-1], useless[:-1], strict=True) if drop]


def entity_weights(
    pairs: LabelledPairs, labels: Ints, complete: bool = False
) -> NDArray[np.float64]:
    """(e,) weights of pairs, in inverse proportion to the size of the entities of their records.

    The pairs of an entity grow as the square of its records; weighted so, a few large ones do not
    decide what a match is. Where labels are complete the strangers of an entity are known as its
    matches are. They are weighted, too: an entity counts as its mean record does, and the large
    ones do not decide how frequent matches are, either. Else matches alone are.

    Args:
        pairs: labelled.
        labels: (n,) entity, -1: not known.
        complete: whether unlabelled records are strangers to all labelled entities.
    """
    size = np.bincount(labels[labels >= 0], minlength=1)
    share = np.append(1 / np.maximum(size, 1), 0.0)  # the last: of records without a label
    ends = share[labels[pairs.left]] + share[labels[pairs.right]]  # 0: judged, without labels
    of_entity = (ends > 0) & (pairs.same | complete)
    weight = pairs.weight.copy()
    weight[of_entity] *= ends[of_entity]
    weight[of_entity] *= pairs.weight[of_entity].sum() / max(weight[of_entity].sum(), 1e-300)
    return weight


def _train_folds(
    family: str,
    features: NDArray[np.float32],
    directions: Sequence[int],
    pairs: LabelledPairs,
    fold: Ints,
    seed: int,
) -> list[PairModel]:
    """Models of the folds, then that of all pairs; side by side, one core each."""

    def train(k: int) -> PairModel:
        used = (fold[pairs.left] != k) & (fold[pairs.right] != k)
        if k == FOLDS or pairs.same[used].all() or not pairs.same[used].any():
            used = np.ones(len(used), np.bool_)
        X, same, weight = features[used], pairs.same[used], pairs.weight[used]
        if family == "boosted":
            return train_boosted(X, same, weight, directions, seed, max(ROUNDS))
        return train_logistic(X, same, weight, directions)

    # BLAS threads of the logistic models would spin-wait for each other.
    with threadpool_limits(1), ThreadPoolExecutor(min(thread_count(), FOLDS + 1)) as pool:
        return list(pool.map(train, range(FOLDS + 1)))


def _stopped(
    models: Sequence[PairModel], features: NDArray[np.float32], pairs: LabelledPairs, fold: Ints
) -> tuple[Sequence[PairModel], float]:
    """Boosted trees after the rounds with the least held-out loss, and that loss.

    Trees that are added later describe the entities of training. Logistic models stay as they are.
    """
    boosted = [model for model in models if isinstance(model, Boosted)]
    tried: list[Sequence[PairModel]] = [models]
    if boosted:
        tried = [[model.first(rounds) for model in boosted] for rounds in ROUNDS]
    losses = [_held_out_loss(one, features, pairs, fold) for one in tried]
    best = int(np.argmin(losses))
    return tried[best], losses[best]


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
