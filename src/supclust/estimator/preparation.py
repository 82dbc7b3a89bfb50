"""Around the training of `SupervisedHAC`: seed, held-out data, options, and what is saved."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from supclust.data.block import Block, IntArray
from supclust.data.splits import hold_out
from supclust.estimator.blocks import Blocks
from supclust.schema import check

if TYPE_CHECKING:
    from supclust.model.fit import FitOptions
    from supclust.model.trained import TrainedModel

SAVED = ("dev_fraction", "cut", "unlabelled", "max_epochs", "lr", "weight_decay", "alpha_lr",
         "recipe", "precision", "accelerator", "random_state", "verbose")  # fmt: skip
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
    unlabelled: str = "ignored",
) -> tuple[list[Block], list[Block]]:
    """Labelled blocks to train on, and those to stop and cut by.

    Args:
        blocks: of the input.
        codes: (n,) clusters, -1 where unlabelled.
        share: to hold out, see `hold_out`.
        dev_groups: names of the blocks to hold out instead.
        seed: of the choice.
        unlabelled: ``ignored``; or ``other``: rows of other clusters, which are not known.
    """
    if unlabelled not in ("ignored", "other"):
        raise ValueError(f"unlabelled must be ignored or other; received {unlabelled!r}.")
    labelled = blocks.labelled(codes, strangers=unlabelled == "other")
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


def fit_options(estimator: Any, seed: int) -> FitOptions:
    """The parameters of an estimator as those of `fit_model`."""
    from supclust.model.cuts import check_cut
    from supclust.model.fit import FitOptions

    named = ("max_epochs", "lr", "weight_decay", "alpha_lr")
    given = {name: getattr(estimator, name) for name in named}
    recipe = estimator.recipe
    if isinstance(recipe, str):
        check("recipe", Literal["best", "paper"], recipe)
    return FitOptions(
        objective=estimator.objective,
        linkage=estimator.linkage,
        dissimilarity=estimator.dissimilarity,
        recipe={
            **(recipe if isinstance(recipe, Mapping) else {}),
            **{name: value for name, value in given.items() if value is not None},
        },
        recipe_name="paper" if recipe == "paper" else "best",
        seed=seed,
        precision=estimator.precision,
        accelerator=estimator.accelerator,
        cut=check_cut(estimator.cut),
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


def epoch_callbacks(verbose: int) -> list[Any]:
    """Callbacks that print the losses every 25 // ``verbose`` epochs; none for 0."""
    if not verbose:
        return []
    from supclust.experiment.progress import epoch_lines

    return [epoch_lines(max(1, 25 // int(verbose)))]


def saved_facts(estimator: Any, alpha: float) -> dict[str, Any]:
    """What a model's record says about a fitted estimator: its columns and parameters.

    Args:
        estimator: fitted.
        alpha: of the linkage; saved where the linkage was not given by name.
    """
    values = {name: getattr(estimator, name) for name in SAVED}
    if isinstance(estimator.recipe, Mapping):
        values["recipe"] = dict(estimator.recipe)
    if not isinstance(estimator.random_state, int | np.integer):
        values["random_state"] = None
    values["linkage"] = estimator.linkage if isinstance(estimator.linkage, str) else alpha
    if isinstance(estimator.dissimilarity, str):
        values["dissimilarity"] = estimator.dissimilarity
    columns = getattr(estimator, "feature_names_in_", None)
    return {
        "n_features_in": getattr(estimator, "n_features_in_", None),
        "feature_names_in": None if columns is None else list(columns),
        "estimator": {k: v.item() if isinstance(v, np.generic) else v for k, v in values.items()},
    }


def loaded_facts(model: TrainedModel) -> tuple[dict[str, Any], dict[str, Any]]:
    """Parameters of the estimator of a model, and the attributes that describe its columns."""
    saved = model.record.get("estimator") or {}
    parameters = {"linkage": model.linkage, "feature_names": list(model.feature_names), **saved}
    columns: dict[str, Any] = {}
    default = len(model.feature_names) if model.kind == "vectors" else None
    n = model.record.get("n_features_in", default)
    if n is not None:
        columns["n_features_in_"] = int(n)
    if model.record.get("feature_names_in"):
        columns["feature_names_in_"] = np.array(model.record["feature_names_in"], dtype=object)
    return parameters, columns
