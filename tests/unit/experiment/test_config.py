"""Settings: folders made of axis values, identities, and values that are refused."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest

from experiment_runs import composed
from supclust.experiment.checks import check_value, splits_of, usage_error
from supclust.experiment.config import Settings, plain, without_targets
from supclust.experiment.run import further_axes, swept_values
from supclust.experiment.store import fingerprint


@pytest.fixture(scope="module")
def default() -> dict[str, Any]:
    return plain(composed("paths.outputs=out"))


def changed(config: dict[str, Any], **values: Any) -> Settings:
    config = copy.deepcopy(config)
    for key, value in values.items():
        *parents, last = key.split("__")
        node = config
        for parent in parents:
            node = node[parent]
        node[last] = value
    return Settings.from_config(config)


def test_folders_are_made_of_axis_values(default: dict[str, Any]) -> None:
    settings = changed(default, split=7, seed=3)
    assert settings.job_folder == Path("faces/exp_alpha/all/seed-3/split-7")
    assert settings.result_path(7) == Path("out/faces/exp_alpha/all/seed-3/split-7/result.json")
    several = changed(default, split=[2, 0])
    assert several.job_folder == Path("faces/exp_alpha/all/seed-0/splits-0,2")
    assert changed(default, split="all").job_folder.name == "splits-all"
    long = changed(default, split=list(range(30))).job_folder.name
    assert len(long) < 60
    assert long != changed(default, split=list(range(29))).job_folder.name
    with_axes = changed(default, axes=["recipe.lr", "dataset.path"], dataset__path="/a/b c")
    assert with_axes.family.name == "seed-0,recipe.lr=0.001,dataset.path=_a_b_c"


def test_own_data_are_named_by_their_file(default: dict[str, Any]) -> None:
    settings = changed(default, dataset__name="vectors", dataset__path="/some/people.v2.csv")
    assert settings.title == "vectors-people"


def test_the_identity_of_a_training_knows_no_linkage(default: dict[str, Any]) -> None:
    one = changed(default, linkage={"name": "single", "methods": ["single"]})
    other = changed(default)
    assert one.training_identity(0, "d") == other.training_identity(0, "d")
    assert one.result_identity(0, "d") != other.result_identity(0, "d")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("seed", 1),
        ("recipe__lr", 0.5),
        ("trainer__max_epochs", 7),
        ("trainer__precision", 64),
        ("dataset__split_seed", 1),
        ("objective__name", "mst"),
        ("dissimilarity__name", "linear"),
    ],
)
def test_the_identity_holds_what_numbers_depend_on(
    default: dict[str, Any], key: str, value: Any
) -> None:
    before, after = changed(default), changed(default, **{key: value})
    assert fingerprint(before.training_identity(0, "d")) != fingerprint(
        after.training_identity(0, "d")
    )


@pytest.mark.parametrize("key", ["paths__outputs", "logger__name", "trainer__threads"])
def test_the_identity_holds_nothing_else(default: dict[str, Any], key: str) -> None:
    value = {"paths__outputs": "elsewhere", "logger__name": "csv", "trainer__threads": 1}[key]
    before, after = changed(default), changed(default, **{key: value})
    assert before.result_identity(0, "d") == after.result_identity(0, "d")


def test_data_and_split_are_part_of_the_identity(default: dict[str, Any]) -> None:
    settings = changed(default)
    keys = {fingerprint(settings.training_identity(s, d)) for s in (0, 1) for d in ("a", "b")}
    assert len(keys) == 4


@pytest.mark.parametrize(
    ("key", "value", "legal"),
    [
        ("split", -1, "an integer >= 0"),
        ("split", True, "an integer >= 0"),
        ("split", [], "or all"),
        ("split", [0, "x"], "or all"),
        ("seed", 0.5, "an integer >= 0"),
        ("dataset__source", "fake", "auto, real or stand-in"),
        ("trainer__precision", 16, "32 or 64"),
        ("trainer__max_epochs", 0, "an integer >= 1"),
        ("trainer__purity_every", 0, "an integer >= 1 or null"),
        ("recipe__lr", "high", "a number >= 0"),
        ("recipe__lr", float("nan"), "a number >= 0"),
        ("recipe__margin", -1, "a number >= 0 or auto or null"),
        ("recipe__step_unit", "point", "block, cluster or all"),
        ("linkage__methods", ["ward"], "single, average, complete, exp, rsc, random"),
    ],
)
def test_illegal_values_are_refused_with_the_legal_ones(
    default: dict[str, Any], key: str, value: Any, legal: str
) -> None:
    with pytest.raises(ValueError, match=f"{key.replace('__', '.')} must be .*{legal}.*received"):
        changed(default, **{key: value})


def test_combinations_that_make_no_sense_are_refused(default: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"needs dataset\.path"):
        changed(default, dataset__name="vectors")
    with pytest.raises(ValueError, match="works on points"):
        changed(default, dataset__name="rexa", dissimilarity__name="encoder")
    with pytest.raises(ValueError, match="both auto or both numbers"):
        changed(default, recipe__threshold="auto")
    with pytest.raises(ValueError, match=r"'recipe\.lrr', which does not exist"):
        changed(default, axes=["recipe.lrr"])
    with pytest.raises(ValueError, match=r"below dataset\.n_splits, which is 50"):
        changed(default, split=50)


def test_unknown_keys_pass_check_value_and_known_splits_are_sorted() -> None:
    check_value("something.else", object())
    assert splits_of([3, 1, 2], 50) == (1, 2, 3)


def test_swept_settings_beyond_the_usual_axes_name_the_folder() -> None:
    from hydra.core.override_parser.overrides_parser import OverridesParser

    lines = ["objective=mst,best", "split=0,1", "recipe.lr=0.1,0.2", "seed=1", "logger=csv,none"]
    lines += ["dissimilarity=linear,auto", "paths.data=a,b", "recipe.lr=0.3,0.4,0.5", "split=[0,1]"]
    swept = swept_values(OverridesParser.create().parse_overrides(lines))
    assert swept["recipe.lr"] == [0.3, 0.4, 0.5]
    assert swept["split"] == [[0, 1]]
    assert further_axes(swept, []) == ["recipe.lr", "dissimilarity.name"]
    assert further_axes({"split": [0, 1]}, ["recipe.lr"]) == []


def test_an_interval_of_optuna_is_an_axis_and_its_ends_are_checked() -> None:
    from hydra.core.override_parser.overrides_parser import OverridesParser

    lines = ["recipe.lr=tag(log, interval(-0.1, 0.1))", "objective=exp_alpha"]
    swept = swept_values(OverridesParser.create().parse_overrides(lines))
    assert swept == {"recipe.lr": [-0.1, 0.1], "objective": ["exp_alpha"]}
    assert further_axes(swept, []) == ["recipe.lr"]
    with pytest.raises(ValueError, match=r"recipe\.lr must be a number >= 0; received -0\.1"):
        check_value("recipe.lr", swept["recipe.lr"][0])


def test_classes_of_a_stored_configuration_are_not_run(default: dict[str, Any]) -> None:
    config = copy.deepcopy(default)
    config["dataset"]["_target_"] = "os.system"
    config["objective"] |= {"_target_": "os.system", "_partial_": True}
    settings = Settings.from_config(without_targets(config))
    assert settings.build("objective").func.__name__ == "ExpAlpha"
    loader = settings.targets["dataset"]
    assert loader["_target_"] == "supclust.data.sets.registry.load_dataset"
    assert loader["name"] == "faces"
    identity = Settings.from_config(default).training_identity(0, "d")
    assert settings.training_identity(0, "d") == identity


def test_a_class_that_cannot_be_imported_is_an_error_of_usage(default: dict[str, Any]) -> None:
    settings = changed(default, objective___target_="nowhere.Objective")
    with pytest.raises(ValueError, match=r"class of objective cannot be imported: .*nowhere"):
        settings.build("objective")


def test_a_class_without_its_arguments_is_an_error_of_usage(default: dict[str, Any]) -> None:
    settings = changed(default, objective___partial_=False)
    with pytest.raises(ValueError, match=r"class of objective .* needs `_partial_: true`"):
        settings.build("objective")


def test_an_error_raised_again_in_its_handler_is_searched_once() -> None:
    inner, outer = RuntimeError("inner"), KeyError("outer")
    inner.__context__, outer.__cause__ = outer, inner
    assert usage_error(inner) is None
    inner.__context__ = ValueError("wrong input")
    assert usage_error(outer) == "wrong input"
