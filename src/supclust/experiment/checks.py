"""Legal settings of a run: a schema by key, and combinations that make no sense."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from supclust.hac.family import METHODS, TOP_DOWN
from supclust.objectives.recipe import SETTINGS as RECIPE_SETTINGS
from supclust.schema import Columns, Count, Names, Natural, Rule, Split, Widths, check

LINKAGES = (*METHODS, *TOP_DOWN)
Linkages = Annotated[
    list[str],
    Rule(
        f"a list from {', '.join(LINKAGES)}",
        lambda value: (
            isinstance(value, list | tuple) and bool(value) and all(v in LINKAGES for v in value)
        ),
    ),
]
SCHEMA: dict[str, Any] = {
    "split": Split,
    "seed": Natural,
    "axes": Names,
    "linkage.methods": Linkages,
    "dataset.source": Literal["auto", "real", "stand-in"],
    "dataset.split_seed": Natural,
    "dataset.n_splits": Count,
    "dataset.dimensions": Count,
    "dataset.seed": Natural,
    "dataset.features": Columns,
    "dataset.ignore": Columns,
    "dataset.entity_types": Literal["annotated", "none"],
    "dissimilarity.hidden": Widths,
    "dissimilarity.width": Count,
    "trainer.accelerator": Literal["cpu", "gpu"],
    "trainer.precision": Literal[32, 64],
    "trainer.max_epochs": Count,
    "trainer.purity_every": Count | None,
    "trainer.threads": Count | None,
    **{f"recipe.{name}": annotation for name, annotation in RECIPE_SETTINGS.items()},
    "logger.tags": Names,
}
"""Legal values by key. Other keys of `recipe` and `trainer` do not exist; the other groups are
options of classes, which check them."""
_CLOSED = ("recipe", "trainer")


def check_value(key: str, value: Any) -> None:
    """Refuse an illegal value of a setting of `SCHEMA`; values of other keys pass."""
    if key in SCHEMA:
        check(key, SCHEMA[key], value)


def check_config(config: Mapping[str, Any]) -> None:
    """Refuse illegal values, and combinations of settings that no run accepts."""
    for group in ("dataset", "objective", "linkage", "dissimilarity", *_CLOSED, "logger", "paths"):
        if not isinstance(config[group], Mapping):
            raise ValueError(
                f"{group} is a group of settings; received {config[group]!r}. "
                f"Set one of them, as {group}.KEY=VALUE."
            )
    for key, value in _leaves(config):
        check_value(key, value)
        group, _, name = key.partition(".")
        if group in _CLOSED and key not in SCHEMA and not name.startswith("_"):
            legal = [k.partition(".")[2] for k in SCHEMA if k.startswith(f"{group}.")]
            raise ValueError(f"there is no option {key!r}. Options of {group}: {', '.join(legal)}")
    for key in config["axes"]:
        value_at(config, key)
    _check_combinations(config)


def _check_combinations(config: Mapping[str, Any]) -> None:
    """Refuse settings that contradict each other."""
    dataset, recipe = config["dataset"], config["recipe"]
    if dataset["name"] in ("vectors", "pairs") and not dataset["path"]:
        raise ValueError(
            f"dataset={dataset['name']} is your own data and needs dataset.path; received none. "
            f"Add dataset.path=FILE."
        )
    name = config["dissimilarity"]["name"]
    of_pairs = dataset["name"] in ("rexa", "aminer", "np_coref", "gum_coref", "pairs")
    if of_pairs and name in ("mahalanobis", "encoder"):
        raise ValueError(
            f"dissimilarity={name} works on points; dataset={dataset['name']} has features of "
            "pairs. Use dissimilarity=auto or dissimilarity=linear."
        )
    if (recipe["threshold"] == "auto") != (recipe["margin"] == "auto"):
        raise ValueError(
            "recipe.threshold and recipe.margin are both auto or both numbers; received "
            f"{recipe['threshold']} and {recipe['margin']}. Give both."
        )


def splits_of(asked: Any, n_splits: int) -> tuple[int, ...]:
    """Numbers of the splits that ``split=...`` asks for, ascending.

    >>> splits_of("all", 3), splits_of([2, 0], 50), splits_of(7, 50)
    ((0, 1, 2), (0, 2), (7,))
    """
    check("split", Split, asked)
    if asked == "all":
        return tuple(range(n_splits))
    numbers = tuple(sorted(asked)) if isinstance(asked, list | tuple) else (int(asked),)
    if numbers[-1] >= n_splits:
        raise ValueError(
            f"split must be below dataset.n_splits, which is {n_splits}; received {numbers[-1]}. "
            "Raise dataset.n_splits for more."
        )
    return numbers


def value_at(config: Mapping[str, Any], key: str) -> Any:
    """The value at a dotted key."""
    value: Any = config
    for part in key.split("."):
        if not isinstance(value, Mapping) or part not in value:
            raise ValueError(
                f"axes names settings; received {key!r}, which does not exist. "
                "Use names as in `python train.py --cfg job`, for example axes=[recipe.lr]."
            )
        value = value[part]
    return value


def _leaves(config: Mapping[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    """Dotted keys and values of nested dictionaries."""
    leaves: list[tuple[str, Any]] = []
    for key, value in config.items():
        name = f"{prefix}{key}"
        leaves += _leaves(value, f"{name}.") if isinstance(value, Mapping) else [(name, value)]
    return leaves
