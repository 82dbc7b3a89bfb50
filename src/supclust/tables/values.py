"""Which values a setting may have: checked before anything heavy is imported."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from supclust.hac.family import METHODS, TOP_DOWN
from supclust.objectives import OBJECTIVES
from supclust.registry import DISSIMILARITIES, Registry

Check = Callable[[Any], "str | None"]


def splits_of(asked: Any, n_splits: int) -> tuple[int, ...]:
    """Numbers of the splits that ``split=...`` asks for, ascending.

    >>> splits_of("all", 3), splits_of([2, 0], 50), splits_of(7, 50)
    ((0, 1, 2), (0, 2), (7,))
    """
    problem = _split(asked)
    if problem:
        raise ValueError(f"split must be {problem}; received {asked!r}.")
    if asked == "all":
        return tuple(range(n_splits))
    numbers = tuple(sorted(asked)) if isinstance(asked, list | tuple) else (int(asked),)
    if numbers[-1] >= n_splits:
        raise ValueError(
            f"split must be below dataset.n_splits, which is {n_splits}; received {numbers[-1]}. "
            "Raise dataset.n_splits for more."
        )
    return numbers


def check_value(key: str, value: Any) -> None:
    """Refuse an illegal value of a setting, with the legal ones; other keys pass.

    >>> check_value("trainer.precision", 16)
    Traceback (most recent call last):
    ValueError: trainer.precision must be 32 or 64; received 16.
    """
    problem = CHECKS[key](value) if key in CHECKS else None
    if problem:
        raise ValueError(f"{key} must be {problem}; received {value!r}.")


def one_of(*legal: Any) -> Check:
    """A check for a few values."""
    text = " or ".join(", ".join(map(str, legal)).rsplit(", ", 1))
    return lambda value: None if value in legal and not isinstance(value, bool) else text


def whole(least: int, *others: Any) -> Check:
    """A check for an integer from ``least`` on, or one of the others."""
    text = " or ".join([f"an integer >= {least}", *("null" if o is None else o for o in others)])
    return lambda value: None if value in others or _is_whole(value, least) else text


def number(least: float | None = None, *others: Any) -> Check:
    """A check for a number, or one of the others."""
    text = "a number" if least is None else f"a number >= {least:g}"
    text = " or ".join([text, *("null" if o is None else o for o in others)])

    def check(value: Any) -> str | None:
        real = isinstance(value, int | float) and not isinstance(value, bool)
        fine = real and value == value and (least is None or value >= least)
        return None if fine or (not real and value in others) else text

    return check


def _is_whole(value: Any, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def _split(value: Any) -> str | None:
    fine = value is None or value == "all" or _is_whole(value, 0)
    if isinstance(value, list | tuple):
        fine = bool(value) and len(set(value)) == len(value) and all(_is_whole(v, 0) for v in value)
    return None if fine else "an integer >= 0, a list of different ones such as [0,1,2], or all"


def _widths(value: Any) -> str | None:
    fine = isinstance(value, list | tuple) and all(_is_whole(v, 1) for v in value)
    return None if fine else "a list of integers >= 1 such as [64]"


def _methods(value: Any) -> str | None:
    legal = (*METHODS, *TOP_DOWN)
    fine = isinstance(value, list | tuple) and value and all(v in legal for v in value)
    return None if fine else f"a list from {', '.join(legal)}"


def _registered(names: Registry, *others: str) -> Check:
    return lambda value: one_of(*others, *names)(value)


def _names(value: Any) -> str | None:
    fine = isinstance(value, list | tuple) and all(isinstance(v, str) for v in value)
    return None if fine else "a list of names"


def _columns(value: Any) -> str | None:
    return None if value is None or _names(value) is None else "a list of columns such as [x,y]"


CHECKS: dict[str, Check] = {
    "split": _split,
    "seed": whole(0),
    "axes": _names,
    "objective.name": _registered(OBJECTIVES),
    "linkage.methods": _methods,
    "dataset.source": one_of("auto", "real", "stand-in"),
    "dataset.split_seed": whole(0),
    "dataset.n_splits": whole(1),
    "dataset.dimensions": whole(1),
    "dataset.seed": whole(0),
    "dataset.features": _columns,
    "dataset.ignore": _columns,
    "dataset.entity_types": one_of("annotated", "none"),
    "dissimilarity.name": _registered(DISSIMILARITIES, "auto"),
    "dissimilarity.hidden": _widths,
    "dissimilarity.width": whole(1),
    "trainer.accelerator": one_of("cpu", "gpu"),
    "trainer.precision": one_of(32, 64),
    "trainer.max_epochs": whole(1),
    "trainer.purity_every": whole(1, None),
    "trainer.threads": whole(1, None),
    "recipe.lr": number(0),
    "recipe.weight_decay": number(0),
    "recipe.alpha_lr": number(0),
    "recipe.threshold": number(None, "auto", None),
    "recipe.margin": number(0, "auto", None),
    "recipe.step_unit": one_of("block", "cluster"),
    "recipe.variant": one_of("threshold", "ranking"),
    "recipe.competitors": one_of("adjacent", "all"),
    "recipe.ties": one_of("one", "every"),
    "recipe.samples_per_point": whole(1),
    "recipe.window": whole(1),
    "recipe.tolerance": number(0),
    "logger.name": one_of("wandb", "csv", "none"),
    "logger.tags": _names,
}
