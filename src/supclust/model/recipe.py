"""How to train on people's own data: the rows ``vectors`` and ``pairs`` of conf/recipes.yaml.

Those files are the business of ``train.py`` and are not installed with the package; a test keeps
the two the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from supclust.data.block import Kind
from supclust.objectives.recipe import SETTINGS, Recipe
from supclust.schema import Count, check

DEFAULTS: dict[Kind, dict[str, Any]] = {
    "vectors": {
        "max_epochs": 500,
        "lr": 0.01,
        "weight_decay": 0.01,
        "alpha_lr": 0.01,
        "threshold": "auto",
        "margin": "auto",
        "step_unit": "block",
        "ties": "one",
    },
    "pairs": {
        "max_epochs": 200,
        "lr": 0.01,
        "weight_decay": 0.001,
        "alpha_lr": 0.01,
        "threshold": 0,
        "margin": 2,
        "step_unit": "block",
        "ties": "one",
    },
}
"""Per kind of data; whatever is not here is as in `Recipe`."""


def complete_recipe(kind: Kind, given: Mapping[str, Any]) -> dict[str, Any]:
    """The default recipe of a kind of data with the given settings in place of its own.

    Args:
        kind: ``vectors`` or ``pairs``.
        given: settings by name; ``None`` stands for the default, except for ``threshold`` and
            ``margin``, where it means none.

    Returns:
        Every setting of `Recipe`, ``max_epochs`` and ``step_unit``, checked.

    >>> complete_recipe("pairs", {"lr": 0.1, "alpha_lr": None})["alpha_lr"]
    0.01
    """
    values = {field.name: field.default for field in fields(Recipe)} | DEFAULTS[kind]
    unknown = [name for name in given if name not in values]
    if unknown:
        raise ValueError(
            f"a recipe has the settings {', '.join(values)}; received {', '.join(unknown)}. "
            "Leave it out, or correct its name."
        )
    # No threshold and no margin is a choice of its own: the plain forms of the losses.
    values |= {
        name: value
        for name, value in given.items()
        if value is not None or name in ("threshold", "margin")
    }
    for name, value in values.items():
        check(name, Count if name == "max_epochs" else SETTINGS[name], value)
    if (values["threshold"] == "auto") != (values["margin"] == "auto"):
        raise ValueError(
            "threshold and margin of a recipe are both 'auto' or both numbers; received "
            f"{values['threshold']} and {values['margin']}. Give both."
        )
    return values
