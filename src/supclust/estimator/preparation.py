"""What `SupervisedHAC.fit` determines before training: seed, held-out data, options, names."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from supclust.data.block import Block, IntArray
from supclust.estimator.blocks import Blocks

if TYPE_CHECKING:
    from supclust.model.fit import FitOptions

BLOCK_SHARE, CLUSTER_SHARE = 0.15, 0.4
"""Held out by default: of the blocks; of the clusters, where there is one block."""
HOLD_OUT_STREAM = 201  # kind of random numbers drawn from the seed
SAVED = ("dev_fraction", "max_epochs", "lr", "weight_decay", "alpha_lr", "recipe", "precision",
         "accelerator", "random_state", "verbose")  # fmt: skip
"""Parameters that a folder holds as they are."""


def seed_of(random_state: Any) -> int:
    """A seed: the number given, or one drawn from what scikit-learn accepts."""
    if isinstance(random_state, int | np.integer) and random_state >= 0:
        return int(random_state)
    from sklearn.utils import check_random_state

    return int(check_random_state(random_state).randint(2**31 - 1))


def train_and_dev(
    blocks: Blocks,
    codes: IntArray,
    share: float | None,
    dev_groups: Iterable[Hashable] | None,
    seed: int,
) -> tuple[list[Block], list[Block]]:
    """Labelled blocks to train on, and those to stop and cut by.

    Args:
        blocks: of the input.
        codes: (n,) clusters, -1 where unlabelled.
        share: to hold out, see `hold_out`.
        dev_groups: names of the blocks to hold out instead.
        seed: of the choice.
    """
    labelled = blocks.labelled(codes)
    if not any(1 < block.n_clusters < block.n for block in labelled.values()):
        raise ValueError(
            "y must hold two clusters in one block, one of them with two rows or more; received "
            f"{int((codes >= 0).sum())} labelled rows of n_samples={blocks.n} in "
            f"{len(blocks.rows)} block(s), no more than one class to learn from in any. "
            "Label more rows (-1 means unlabelled)."
        )
    if dev_groups is None:
        return hold_out(list(labelled.values()), share, seed)
    chosen = set(dev_groups)
    unknown = sorted(repr(name) for name in chosen if name not in blocks.names)
    if unknown:
        raise ValueError(
            f"dev_groups must be some of the groups; received {', '.join(unknown)}, which no row "
            "has. Use names as in groups."
        )
    train = [block for name, block in labelled.items() if name not in chosen]
    if not train:
        raise ValueError(
            "dev_groups must leave groups with labels to train on; received all of them. "
            "Hold out fewer."
        )
    return train, [block for name, block in labelled.items() if name in chosen]


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


def fit_options(estimator: Any, seed: int) -> FitOptions:
    """The parameters of an estimator as those of `fit_model`."""
    from supclust.model.fit import FitOptions

    named = ("max_epochs", "lr", "weight_decay", "alpha_lr")
    given = {name: getattr(estimator, name) for name in named}
    return FitOptions(
        objective=estimator.objective,
        linkage=estimator.linkage,
        dissimilarity=estimator.dissimilarity,
        recipe={**(estimator.recipe or {}), **{k: v for k, v in given.items() if v is not None}},
        seed=seed,
        precision=estimator.precision,
        accelerator=estimator.accelerator,
    )


def feature_names(estimator: Any, d: int) -> tuple[str, ...]:
    """Names of the d features: given, those of a data frame's columns, or x0, x1, ..."""
    names = estimator.feature_names
    if names is None and estimator.pairs is None:
        names = getattr(estimator, "feature_names_in_", None)
    complete = tuple(f"x{k}" for k in range(d)) if names is None else tuple(map(str, names))
    if len(complete) != d:
        raise ValueError(
            f"feature_names must name each of the {d} features; received {len(complete)}. "
            "Give as many names as features, or none."
        )
    return complete


def saved_parameters(estimator: Any, alpha: float) -> dict[str, Any]:
    """Parameters of an estimator that a folder can hold; a linkage given as alpha is its number."""
    values = {name: getattr(estimator, name) for name in SAVED}
    if isinstance(estimator.recipe, Mapping):
        values["recipe"] = dict(estimator.recipe)
    if not isinstance(estimator.random_state, int | np.integer):
        values["random_state"] = None
    values["linkage"] = estimator.linkage if isinstance(estimator.linkage, str) else alpha
    if isinstance(estimator.dissimilarity, str):
        values["dissimilarity"] = estimator.dissimilarity
    return {name: v.item() if isinstance(v, np.generic) else v for name, v in values.items()}
