"""Usage of ``train.py``: legal settings, and errors as one message with the legal values."""

from __future__ import annotations

import difflib
import sys
import traceback
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Annotated, Any, Literal

from omegaconf.errors import ConfigAttributeError, ConfigKeyError, OmegaConfBaseException

from supclust._lazy import install_hint
from supclust.cut import CutName
from supclust.data.errors import system_error
from supclust.hac.family import METHODS, TOP_DOWN
from supclust.objectives.recipe import SETTINGS as RECIPE_SETTINGS
from supclust.schema import Columns, Count, Names, Natural, Rule, Split, Widths, check

if TYPE_CHECKING:
    from hydra.errors import MissingConfigException

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
    "cut": CutName | None,
    "linkage.methods": Linkages,
    "dataset.source": Literal["auto", "real", "stand-in"],
    "dataset.split_seed": Natural,
    "dataset.n_splits": Count,
    "dataset.dimensions": Count,
    "dataset.seed": Natural,
    "dataset.features": Columns,
    "dataset.ignore": Columns,
    "dataset.names": Literal[100, 109],
    "dataset.labelled": Literal["all", "complete"],
    "dataset.entity_types": Literal["annotated", "none"],
    "dissimilarity.hidden": Widths,
    "dissimilarity.width": Count,
    "trainer.accelerator": Literal["cpu", "gpu"],
    "trainer.precision": Literal[32, 64],
    "trainer.max_epochs": Count,
    "trainer.purity_every": Count | None,
    "trainer.threads": Count | None,
    "recipe.name": Literal["paper", "best"],
    **{f"recipe.{name}": annotation for name, annotation in RECIPE_SETTINGS.items()},
    "logger.tags": Names,
    "paths.outputs": Annotated[
        str, Rule("a folder", lambda v: isinstance(v, str) and v.strip() != "")
    ],
}
"""Legal values by key. Other keys of `recipe` and `trainer` do not exist; the other groups are
options of classes, which check them."""
_CLOSED = ("recipe", "trainer")
INTERRUPTED = 130  # exit code after Ctrl-C, as in shells
_PLUGIN_EXTRAS = {"joblib": "parallel", "submitit": "slurm", "ray": "ray", "optuna": "optuna"}
_HIDDEN = ("hydra", "paper", "sweep")  # top-level keys that are not options of a run


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
    for key, value in flat(config).items():
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
    if name == "stacked" and recipe.get("name") != "best":
        raise ValueError(
            "dissimilarity=stacked is fitted in stages and needs recipe=best; received "
            "recipe=paper. Add recipe=best."
        )
    if of_pairs and config["objective"]["name"] in ("euclidean", "rca"):
        raise ValueError(
            f"objective={config['objective']['name']} works on points; dataset={dataset['name']} "
            "has features of pairs. Use objective=logistic or objective=boosted."
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


def flat(config: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested settings with names as in ``recipe.lr``.

    >>> flat({"seed": 0, "recipe": {"lr": 0.1}})
    {'seed': 0, 'recipe.lr': 0.1}
    """
    settings: dict[str, Any] = {}
    for key, value in config.items():
        inner = isinstance(value, Mapping)
        settings |= flat(value, f"{prefix}{key}.") if inner else {f"{prefix}{key}": value}
    return settings


# -- errors of usage ----------------------------------------------------------------------------


def interrupted(error: BaseException) -> bool:
    """Whether an error hides a Ctrl-C.

    OmegaConf resets flags in a ``finally``. Where Ctrl-C comes while it copies a configuration,
    that fails, and the error takes the place of the ``KeyboardInterrupt``.
    """
    return any(isinstance(link, KeyboardInterrupt) for link in _chain(error, suppressed=True))


def explain(error: BaseException) -> int:
    """Print an error and return the exit code.

    Returns:
        2 for wrong usage (errors of Hydra and OmegaConf, and ``ValueError``, which supclust raises
        for illegal input) and paths that cannot be used, 1 for a fault in the middle of the work
        (`supclust.data.errors.system_error`), 1 with a traceback for everything else.
    """
    from hydra.errors import HydraException

    message = usage_error(error)
    if message is None and isinstance(error, HydraException | OmegaConfBaseException):
        message = _composition_message(error)
    if message is not None:
        print_usage_error(message)
        return 2
    for link in _chain(error):
        if fault := system_error(link):
            print_usage_error(fault[0])
            return fault[1]
    traceback.print_exception(error)
    return 1


def usage_error(error: BaseException) -> str | None:
    """The message of the first ``ValueError`` of ours in a chain of exceptions, if there is one."""
    for link in _chain(error):
        if isinstance(link, ValueError) and not isinstance(link, OmegaConfBaseException):
            return str(link)
    return None


def print_usage_error(message: str) -> None:
    """Print an error of usage, without a traceback."""
    print(f"train.py: error: {message}", file=sys.stderr)
    print("Help: python train.py --help; traceback: HYDRA_FULL_ERROR=1.", file=sys.stderr)


def _chain(error: BaseException, *, suppressed: bool = False) -> Iterator[BaseException]:
    """The error and the exceptions it was raised from, also ``from None`` if ``suppressed``."""
    link: BaseException | None = error
    seen: set[int] = set()  # errors of worker processes can be each other's cause
    while link is not None and id(link) not in seen:
        yield link
        seen.add(id(link))
        hidden = link.__suppress_context__ and not suppressed
        link = link.__cause__ or (None if hidden else link.__context__)


def _composition_message(error: BaseException) -> str:
    """Message for an error of Hydra, by the attributes of the exceptions in its chain."""
    from hydra.errors import MissingConfigException

    for link in _chain(error):
        if isinstance(link, ConfigAttributeError | ConfigKeyError) and link.full_key:
            return _unknown_option(link)
        if isinstance(link, MissingConfigException) and link.missing_cfg_file is not None:
            return _unknown_choice(link)
    cause = error.__cause__
    text = str(error).strip()
    kind, _, message = text.partition("raised while resolving interpolation: ")
    if message and kind.strip() == "ValueError":  # a check of ours, in a resolver
        return message.splitlines()[0]
    return f"{text}\n{cause}" if cause is not None and str(cause) not in text else text


def _unknown_option(error: OmegaConfBaseException) -> str:
    """A key that does not exist, with the keys of its parent."""
    key = str(error.full_key)
    parent, _, last = key.rpartition(".")
    siblings = [] if error.parent_node is None else list(error.parent_node)
    legal = [str(name) for name in siblings if parent or name not in _HIDDEN]
    close = difflib.get_close_matches(last, legal, n=1)
    prefix = f"{parent}." if parent else ""
    hint = f" Did you mean {prefix}{close[0]}?" if close else ""
    options = f"Options of {parent}" if parent else "Options"
    return f"there is no option {key!r}.{hint}\n{options}: {', '.join(legal)}"


def _unknown_choice(error: MissingConfigException) -> str:
    """A file of ``conf/`` that does not exist, with the choices of its group."""
    path = PurePosixPath(str(error.missing_cfg_file))
    group, name, legal = str(path.parent), path.name, list(error.options or [])
    if group in ("hydra/launcher", "hydra/sweeper"):
        for plugin, extra in _PLUGIN_EXTRAS.items():
            if name.startswith(plugin):
                kind = group.removeprefix("hydra/")
                return f"the {kind} {name!r} is not installed. {install_hint(extra)}"
    if group == "." or not legal:
        return str(error).strip()
    close = difflib.get_close_matches(name, legal, n=1)
    hint = f" Did you mean {group}={close[0]}?" if close else ""
    return f"there is no {group} {name!r}.{hint}\nChoices of {group}: {', '.join(legal)}"
