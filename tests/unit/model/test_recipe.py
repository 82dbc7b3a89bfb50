"""The defaults for users' own data are those of the configuration files."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from supclust.model.recipe import DEFAULTS, complete_recipe
from supclust.model.spec import HIDDEN, WIDTH
from supclust.registry import DISSIMILARITIES

CONF = Path(__file__).parents[3] / "conf"


def read(name: str) -> dict:
    return yaml.safe_load((CONF / name).read_text(encoding="utf-8"))


@pytest.mark.parametrize("kind", ["vectors", "pairs"])
def test_defaults_are_those_of_the_configuration(kind: str) -> None:
    row = read("recipes.yaml")[kind]
    assert row.pop("except") == {}
    row["max_epochs"] = row.pop("epochs")
    assert row == DEFAULTS[kind]
    complete = complete_recipe(kind, {})
    common = {k: v for k, v in read("config.yaml")["recipe"].items() if "paper:" not in str(v)}
    common["tolerance"] = float(common["tolerance"])
    assert common and {name: complete[name] for name in common} == common


def test_the_encoder_is_that_of_the_configuration() -> None:
    options = read("dissimilarity/encoder.yaml")
    assert (options["hidden"], options["width"]) == (list(HIDDEN), WIDTH)
    assert {"auto", *DISSIMILARITIES} == {path.stem for path in (CONF / "dissimilarity").iterdir()}


def test_given_settings_replace_defaults() -> None:
    found = complete_recipe(
        "pairs", {"lr": 0.3, "alpha_lr": None, "threshold": None, "margin": None}
    )
    assert (found["lr"], found["alpha_lr"]) == (0.3, DEFAULTS["pairs"]["alpha_lr"])
    assert found["threshold"] is None


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"lrr": 1}, "received lrr"),
        ({"lr": -1}, "lr must be a number >= 0; received -1"),
        ({"max_epochs": 0}, "max_epochs must be an integer >= 1"),
        ({"threshold": "auto", "margin": 1}, "both 'auto' or both numbers"),
    ],
)
def test_mistakes(given: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        complete_recipe("pairs", given)
