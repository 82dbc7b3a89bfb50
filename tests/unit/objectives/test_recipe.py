"""The defaults for users' own data are those of the configuration files."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from hydra import compose, initialize_config_dir

from supclust.experiment.config import plain
from supclust.model.spec import HIDDEN, WIDTH
from supclust.objectives.recipe import DEFAULTS, complete_recipe
from supclust.registry import DISSIMILARITIES

CONF = Path(__file__).parents[3] / "conf"


def read(name: str) -> dict:
    return yaml.safe_load((CONF / name).read_text(encoding="utf-8"))


@pytest.mark.parametrize("kind", ["vectors", "pairs"])
def test_the_configuration_has_the_defaults_for_users_data(kind: str) -> None:
    overrides = [f"dataset={kind}", "dataset.path=points.csv", "recipe=paper"]
    with initialize_config_dir(str(CONF), version_base="1.3"):
        config = plain(compose("config", overrides))
    complete = complete_recipe(kind, {})
    assert config["trainer"]["max_epochs"] == complete["max_epochs"]
    recipe = {**config["recipe"], "tolerance": float(config["recipe"]["tolerance"])}
    assert recipe.pop("name") == "paper"
    assert recipe.keys() >= {"lr", "threshold", "ties", "window"}
    assert recipe == {name: complete[name] for name in recipe}


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
