"""Train, dev and test parts as a pure function of (ids, split, seed).

Units are ordered by a hash of their own id, so that a split depends on neither the order of the
ids, nor the platform, nor any random number generator's state or version.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from supclust.data.block import ONE_BLOCK, Block, Dataset, FloatArray, IntArray, Unit
from supclust.data.errors import DataError

BLOCK_FRACTIONS = (0.6, 0.1, 0.3)
CLUSTER_FRACTIONS = (0.35, 0.30, 0.35)
MAX_ATTEMPTS = 1000
BLOCK_SHARE, CLUSTER_SHARE = 0.15, 0.4
"""Held out by default: of the blocks; of the clusters, where there is one block."""
HOLD_OUT_STREAM = 201  # kind of random numbers drawn from the seed


class SplitIndices(NamedTuple):
    """Positions in the given ids, each list ascending; disjoint."""

    train: list[int]
    dev: list[int]
    test: list[int]


class DatasetSplit(NamedTuple):
    """The blocks of each part."""

    train: tuple[Block, ...]
    dev: tuple[Block, ...]
    test: tuple[Block, ...]


def default_sizes(count: int, unit: Unit, advice: str = "add data") -> tuple[int, int, int]:
    """Units for train, dev, test: 60/10/30 % of blocks, 35/30/35 % of clusters, at least one each.

    Args:
        count: units there are.
        unit: what they are.
        advice: ends the error for too small a number.

    >>> default_sizes(100, "block"), default_sizes(20, "cluster")
    ((60, 10, 30), (7, 6, 7))
    """
    if count < 3:
        raise DataError(
            f"a split into train, dev and test needs at least 3 {unit}s; received {count}; {advice}"
        )
    _, dev_share, test_share = BLOCK_FRACTIONS if unit == "block" else CLUSTER_FRACTIONS
    dev = max(1, math.floor(dev_share * count + 0.5))
    test = max(1, math.floor(test_share * count + 0.5))
    return count - dev - test, dev, test


def split(
    ids: Sequence[str],
    split: int,
    seed: int,
    sizes: tuple[int, int, int],
    accept: Callable[[SplitIndices], bool] | None = None,
    max_attempts: int = MAX_ATTEMPTS,
) -> SplitIndices:
    """Deal the ids out into train, dev and test.

    Attempt t orders the ids by sha256("seed/split/t/id") and takes the first ``sizes[0]`` for
    train, the next ``sizes[1]`` for dev and the next ``sizes[2]`` for test; the first accepted
    attempt is the split.

    Args:
        ids: Distinct strings; their order does not change which id goes where.
        split: Number of the split, >= 0.
        seed: Number of the family of splits.
        sizes: Units of train, dev, test, each >= 1, together at most ``len(ids)``.
        accept: Decides whether an attempt will do; default: the first one does.
        max_attempts: Attempts before giving up.

    Returns:
        Positions in ``ids``.

    >>> split(["a", "b", "c", "d"], 0, 0, (2, 1, 1)) == split(["a", "b", "c", "d"], 0, 0, (2, 1, 1))
    True
    """
    _check_request(ids, split, sizes)
    n_train, n_dev, n_test = sizes
    for attempt in range(max_attempts):
        order = sorted(range(len(ids)), key=lambda i: _rank(seed, split, attempt, ids[i]))
        parts = SplitIndices(
            sorted(order[:n_train]),
            sorted(order[n_train : n_train + n_dev]),
            sorted(order[n_train + n_dev : n_train + n_dev + n_test]),
        )
        if accept is None or accept(parts):
            return parts
    raise DataError(
        f"split {split} (seed {seed}): none of {max_attempts} draws passed the balance rule; "
        "allow a larger difference (balance=...) or other sizes"
    )


def _rank(seed: int, split: int, attempt: int, unit_id: str) -> tuple[bytes, str]:
    return hashlib.sha256(f"{seed}/{split}/{attempt}/{unit_id}".encode()).digest(), unit_id


def _check_request(ids: Sequence[str], split: int, sizes: tuple[int, int, int]) -> None:
    if isinstance(split, bool) or not isinstance(split, int | np.integer) or split < 0:
        raise DataError(
            f"the number of a split must be an integer >= 0; received {split!r}. Use 0 for the "
            "first"
        )
    if len(set(ids)) != len(ids):
        raise DataError("a split needs distinct ids, some are repeated")
    if len(sizes) != 3 or min(sizes) < 1 or sum(sizes) > len(ids):
        raise DataError(
            f"sizes must be three counts >= 1 with a sum of at most {len(ids)}, the number of "
            f"units; received {tuple(sizes)}"
        )


def split_dataset(
    dataset: Dataset,
    split_number: int,
    seed: int = 0,
    sizes: tuple[int, int, int] | None = None,
) -> DatasetSplit:
    """Deal a data set out into train, dev and test: the blocks of each part of one split.

    A set split by block gives each part its blocks. A set split by cluster gives each part one
    block, holding the points of its clusters; no cluster is in two parts either way.

    Args:
        dataset: to deal out.
        split_number: which split, 0 or above; not how many. Every number is another way to deal
            the same data out, always the same for the same number: ``split`` of ``train.py``.
            The paper's fifty splits are 0 to 49.
        seed: another seed gives another family of splits; ``dataset.split_seed`` of ``train.py``.
        sizes: blocks (or clusters) for train, dev and test. Default: those of the data set, or 60,
            10 and 30 % of the blocks, 35, 30 and 35 % of the clusters.

    Returns:
        ``train``, ``dev`` and ``test``, a tuple of blocks each.

    >>> names = ["ann", "bob", "cai", "dee", "eve"]
    >>> X, y = np.zeros((2, 1)), np.array([0, 1])
    >>> blocks = tuple(Block(name, ("p", "q"), y, "vectors", X) for name in names)
    >>> data = Dataset("names", "vectors", "file", blocks, ("x",))
    >>> for number in 0, 1:
    ...     print([[block.name for block in part] for part in split_dataset(data, number)])
    [['cai', 'eve'], ['bob'], ['ann', 'dee']]
    [['dee', 'eve'], ['bob'], ['ann', 'cai']]
    """
    units = (
        dataset.blocks[0].cluster_names
        if dataset.unit == "cluster"
        else tuple(block.name for block in dataset.blocks)
    )
    advice = "add data"
    if dataset.unit == "cluster" and dataset.blocks[0].name in (dataset.name, ONE_BLOCK):
        advice += ", or name a block column if the points form several blocks"
    chosen = sizes or dataset.sizes or default_sizes(len(units), dataset.unit, advice)
    if dataset.unit == "block":
        parts = split(units, split_number, seed, chosen)
        return DatasetSplit(*(tuple(dataset.blocks[i] for i in part) for part in parts))
    block = dataset.blocks[0]
    accept = None
    if dataset.balance is not None and block.kind == "vectors":
        accept = _balance_rule(block.features, block.labels, dataset.balance)
    parts = split(units, split_number, seed, chosen, accept)
    return DatasetSplit(
        *(
            (block.select(np.flatnonzero(np.isin(block.labels, part)), f"{block.name}/{role}"),)
            for role, part in zip(SplitIndices._fields, parts, strict=True)
        )
    )


def _balance_rule(
    features: FloatArray, labels: IntArray, tolerance: float
) -> Callable[[SplitIndices], bool]:
    """Accept when the mean centroid distances of dev and test differ by less than the tolerance."""
    sums = np.zeros((int(labels.max()) + 1, features.shape[1]))
    np.add.at(sums, labels, features.astype(np.float64))
    centroids = sums / np.bincount(labels)[:, None]
    gaps = np.linalg.norm(centroids[:, None] - centroids[None], axis=2)  # (k, k)

    def mean_gap(part: list[int]) -> float:
        rows, columns = np.triu_indices(len(part), 1)
        index = np.asarray(part)
        return float(gaps[index[rows], index[columns]].mean())

    def accept(parts: SplitIndices) -> bool:
        if min(len(parts.dev), len(parts.test)) < 2:  # a single cluster has no distance to balance
            return True
        dev, test = mean_gap(parts.dev), mean_gap(parts.test)
        return abs(dev - test) < tolerance * min(dev, test)

    return accept


def hold_out(
    blocks: Sequence[Block], share: float | None, seed: int
) -> tuple[list[Block], list[Block]]:
    """Training blocks and dev blocks; with one block, its clusters are dealt out.

    Args:
        blocks: labelled, at least one.
        share: of blocks or clusters that is held out; ``None``: the default; 0: nothing.
        seed: of the draw.

    Returns:
        Training blocks; dev blocks, none where there are not enough clusters to hold any out.
    """
    if share is not None and not 0 <= share < 1:
        raise ValueError(
            f"dev_fraction must be a number >= 0 and < 1, or None; received {share!r}. "
            "Use e.g. 0.2."
        )
    rng = np.random.default_rng([seed, HOLD_OUT_STREAM])
    if share == 0:
        return list(blocks), []
    if len(blocks) == 1:
        return _split_clusters(blocks[0], CLUSTER_SHARE if share is None else share, rng)
    count = round((BLOCK_SHARE if share is None else share) * len(blocks))
    count = min(max(count, 1), len(blocks) - 1)
    order = rng.permutation(len(blocks)).tolist()
    # A cut cannot be chosen where no two points belong together.
    while count < len(blocks) // 2 and not any(_has_pair(blocks[i]) for i in order[:count]):
        count += 1
    chosen = set(order[:count])
    return (
        [block for i, block in enumerate(blocks) if i not in chosen],
        [block for i, block in enumerate(blocks) if i in chosen],
    )


def _split_clusters(
    block: Block, share: float, rng: np.random.Generator, attempts: int = 100
) -> tuple[list[Block], list[Block]]:
    k = block.n_clusters
    sizes = np.bincount(block.labels)
    if k >= 4:
        count = min(max(round(share * k), 2), k - 2)
        for _ in range(attempts):
            dev = np.zeros(k, bool)
            dev[rng.permutation(k)[:count]] = True
            if sizes[dev].max() > 1 and sizes[~dev].max() > 1:
                held = dev[block.labels]
                return (
                    [block.select(np.flatnonzero(~held), f"{block.name}/train")],
                    [block.select(np.flatnonzero(held), f"{block.name}/dev")],
                )
    return [block], []


def _has_pair(block: Block) -> bool:
    return block.n_clusters < block.n
