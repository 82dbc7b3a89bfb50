"""Every option and template composes, the paper's settings are the paper's, mistakes are cheap."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from experiment_runs import ROOT, add_plugins, composed, train_here, train_py
from supclust.experiment.config import Settings, plain
from supclust.objectives import OBJECTIVES
from supclust.registry import DISSIMILARITIES, Registry
from training_blocks import TRAINED

CONF = ROOT / "conf"
TEMPLATES = ROOT / "multirun_templates"
OPTIONS = [(p.parent.name, p.stem) for p in sorted(CONF.glob("*/*.yaml"))]
OWN = ("dataset=vectors", "dataset=pairs")

# lr, weight decay, alpha's lr per data set; objectives that differ. From the paper's fact sheet.
PAPER = {
    "faces": (
        *(1000, 0.001, 0.01, 0.01),
        {"all_pairs": (0.001, 0.1, 0.01), "triplet": (0.001, 0.1, 0.01)},
    ),
    "rexa": (500, 0.1, 0.01, 0.2, {"all_pairs": (0.05, 0.01, 0.2), "exp_plus": (0.1, 0.005, 0.2)}),
    "aminer": (200, 0.05, 0.001, 0.005, {"all_pairs": (0.005, 0.01, 0.005)}),
    "np_coref": (
        *(100, 0.01, 0.001, 0.005),
        {
            "all_pairs": (0.001, 0.001, 0.1),
            "best": (0.05, 0.001, 0.05),
            "mst": (0.02, 0.001, 0.05),
            "triplet": (0.05, 0.001, 0.1),
            "exp_plus": (0.005, 0.001, 0.005),
            "exp_alpha": (0.01, 0.001, 0.01),
        },
    ),
}  # fmt: skip
PAPER["gum_coref"] = PAPER["np_coref"]


def settings_of(*overrides: str, **more: Any) -> Settings:
    return Settings.from_config(plain(composed(*overrides)), **more)


@pytest.mark.parametrize(("group", "option"), OPTIONS)
def test_every_option_composes_and_is_accepted(group: str, option: str) -> None:
    chosen = [f"{group}={option}"]
    if chosen[0] in OWN:
        chosen.append("dataset.path=somewhere.csv")
    if option == "stacked":
        chosen.append("recipe=best")
    settings = settings_of(*chosen)
    assert settings.splits == (0,)
    named = {"objective": settings.objective, "linkage": settings.linkage}
    assert named.get(group, option) == option


def test_groups_are_those_of_the_contract() -> None:
    groups = {group for group, _ in OPTIONS}
    expected = {"dataset", "objective", "linkage", "dissimilarity", "recipe", "trainer", "logger"}
    assert groups == expected
    assert {option for group, option in OPTIONS if group == "objective"} == set(OBJECTIVES)


@pytest.mark.parametrize(
    ("group", "registry"), [("objective", OBJECTIVES), ("dissimilarity", DISSIMILARITIES)]
)
def test_classes_in_conf_are_the_registered_ones(group: str, registry: Registry) -> None:
    for name in registry:
        more = ["recipe=best"] if name == "stacked" else []
        factory = settings_of(f"{group}={name}", *more).build(group)
        assert factory.func is registry.load(name)
        assert factory.func.name == name


@pytest.mark.parametrize(("dataset", "objective"), [*itertools.product(PAPER, TRAINED)])
def test_settings_are_the_papers(dataset: str, objective: str) -> None:
    epochs, *usual, exceptions = PAPER[dataset]
    settings = settings_of(f"dataset={dataset}", f"objective={objective}")
    recipe = settings.recipe
    found = (recipe["lr"], recipe["weight_decay"], recipe["alpha_lr"])
    assert found == exceptions.get(objective, tuple(usual))
    assert settings.trainer["max_epochs"] == epochs
    expected = (100, 10, "cluster") if dataset == "faces" else (0, 2, "block")
    assert (recipe["threshold"], recipe["margin"], recipe["step_unit"]) == expected


@pytest.mark.parametrize(
    ("words", "name", "epochs"),
    [
        (["dataset=faces"], "paper", 1000),
        (["dataset=rexa", "recipe=best"], "best", 60),
        (["dataset=vectors", "dataset.path=x.csv"], "best", 60),
        (["dataset=pairs", "dataset.path=x.csv", "recipe=paper"], "paper", 200),
        (["dataset=vectors", "dataset.path=x.csv", "dissimilarity=encoder"], "paper", 500),
        (["dataset=faces", "recipe=best", "objective=rca"], "paper", 1000),
    ],
)
def test_the_recipe_in_force(words: list[str], name: str, epochs: int) -> None:
    settings = settings_of(*words)
    assert settings.recipe_name == name and settings.trainer["max_epochs"] == epochs
    assert ("recipe=best" in str(settings.family)) == (name == "best")
    assert ("recipe_name" in settings.training_identity(0, "")) == (name == "best")


def test_a_value_on_the_command_line_wins_over_the_papers() -> None:
    settings = settings_of("dataset=np_coref", "objective=best", "recipe.lr=0.7")
    assert settings.recipe["lr"] == 0.7
    assert settings.recipe["alpha_lr"] == 0.05


@pytest.mark.parametrize(
    ("asked", "multirun", "expected"),
    [
        ("null", False, (0,)),
        ("null", True, tuple(range(50))),
        ("all", False, tuple(range(50))),
        ("7", True, (7,)),
        ("[3,1]", False, (1, 3)),
    ],
)
def test_splits_that_are_asked_for(asked: str, multirun: bool, expected: tuple[int, ...]) -> None:
    assert settings_of(f"split={asked}", multirun=multirun).splits == expected


def test_paths_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DATA", "OUTPUTS", "CACHE"):
        monkeypatch.setenv(f"SUPCLUST_{name}", f"/somewhere/{name.lower()}")
    settings = settings_of()
    assert settings.data == Path("/somewhere/data")
    assert settings.outputs == Path("/somewhere/outputs")
    assert settings.cache == Path("/somewhere/cache")


def _values(text: str) -> list[str]:
    if "interval(" in text:  # its ends
        return text.partition("interval(")[2].rstrip(")").split(",")
    text = text.removeprefix("choice(").rstrip(")") if text.startswith("choice") else text
    if text.startswith("glob(*"):
        excluded = text.partition("[")[2].rstrip("])").split(",")
        return [name for name in OBJECTIVES if name not in excluded]
    return [text] if text.startswith("[") else text.split(",")


@pytest.mark.parametrize(
    "template",
    ["smoke", "faces", "paper", "reproduce", "beyond", "multi_gpu", "slurm", "ray", "optuna"],
)
def test_every_template_composes_and_sweeps_legal_values(template: str) -> None:
    add_plugins()
    from hydra import compose, initialize_config_dir

    with initialize_config_dir(str(TEMPLATES), version_base="1.3"):
        more = f"hydra.searchpath=[file://{CONF}]"
        config = compose(template, [more], return_hydra_config=True)
        params = dict(config.hydra.sweeper.params)
        launcher = config.hydra.launcher._target_
        axes = {key: _values(text) for key, text in params.items()}
        for place in range(max(map(len, axes.values()))):
            job = [f"{key}={values[place % len(values)]}" for key, values in axes.items()]
            assert Settings.from_config(plain(compose(template, [more, *job])), multirun=True)
    assert str(config.hydra.mode) == "RunMode.MULTIRUN"
    assert {"dataset", "objective", "split"} <= set(params)
    expected = {
        "smoke": "basic",
        "optuna": "basic",
        "slurm": "submitit",
        "ray": "ray_launcher",
    }.get(template, "joblib")
    assert expected in launcher
    assert f"--config-name {template}" in (TEMPLATES / f"{template}.yaml").read_text()


def test_there_is_no_template_without_a_test() -> None:
    assert {path.stem for path in TEMPLATES.iterdir()} == {
        *("smoke", "faces", "paper", "reproduce", "beyond", "multi_gpu", "slurm", "ray", "optuna")
    }


def test_jobs_of_the_multi_gpu_template_take_devices_in_turn() -> None:
    from supclust.experiment.run import _device_of_job

    assert [_device_of_job(number, 3) for number in range(5)] == ["0", "1", "2", "0", "1"]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["objectivee=mst"], ["Did you mean objective?", "dataset, objective, linkage"]),
        (
            ["objective=mstt"],
            ["Did you mean objective=mst?", "all_pairs, best, boosted, euclidean"],
        ),
        (["dataset.srce=real"], ["Did you mean dataset.source?"]),
        (["split=foo"], ["[0,1,2], or all", "'foo'"]),
        (["-m", "split=0,foo"], ["[0,1,2], or all", "'foo'"]),
        (["-m", "linkage=single,exq"], ["complete", "exp"]),
        (["-m", "trainer.precision=32,16"], ["32 or 64"]),
        (["+recipe.lrr=1"], ["weight_decay", "alpha_lr"]),
        (["recipe=bst"], ["Did you mean recipe=best?", "best, paper"]),
        (["paths.outputs="], ["paths.outputs must be a folder; received ''"]),
        (["dataset=rexa", "dissimilarity=mahalanobis"], ["dissimilarity=linear"]),
        (["dataset=vectors"], ["dataset.path=FILE"]),
        (["dataset=vectors", "dataset.path=x.csv"], ["x.csv: no such file or folder below"]),
        (["dataset=vectors", "dataset.path=x", "dataset.ignore=y"], ["a list of columns such as"]),
        (["dataset=np_coref", "dataset.source=real"], ["dataset.source=stand-in"]),
    ],
)
def test_a_mistake_is_exit_code_2_with_the_legal_values_and_no_traceback(
    words: list[str],
    expected: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("DATA", "OUTPUTS", "CACHE"):
        monkeypatch.delenv(f"SUPCLUST_{name}", raising=False)
    assert train_here(*words) == 2
    shown = capsys.readouterr().err
    assert "Traceback" not in shown
    assert shown.count("train.py: error: ") == 1
    assert all(text in shown for text in expected), shown


def test_a_mistake_takes_about_a_second_of_work(tmp_path: Path) -> None:
    before = os.times()
    done = train_py("-m", "split=0,foo", cwd=tmp_path)
    after = os.times()
    seconds = after.children_user + after.children_system
    seconds -= before.children_user + before.children_system
    assert done.returncode == 2 and "Traceback" not in done.stderr
    assert seconds < 3  # however busy the machine is; importing Lightning takes longer


def test_help_is_for_newcomers() -> None:
    done = train_py("--help")
    assert done.returncode == 0
    assert "python train.py objective=exp_alpha dataset=faces" in done.stdout
    assert "linkage: all, average, complete, exp, random, rsc, single" in done.stdout
    assert len(done.stdout.splitlines()) < 45


def test_every_value_can_be_shown_resolved() -> None:
    done = train_py("--cfg", "job", "--resolve")
    assert done.returncode == 0, done.stderr
    assert "max_epochs: 1000" in done.stdout


def test_a_run_without_mistakes_loads_nothing_heavy_before_its_data(tmp_path: Path) -> None:
    code = (
        "import sys, supclust.experiment.run\n"
        "heavy = ('torch', 'pytorch_lightning', 'wandb', 'pandas', 'sklearn')\n"
        "print([m for m in heavy if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
