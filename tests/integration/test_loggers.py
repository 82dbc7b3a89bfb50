"""Loggers: a real offline W&B run read back, failures that cost nothing, CSV, the dashboard."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import wandb

import wandb_file
from experiment_runs import arguments, composed, result, run_here, train_py
from supclust.cli import main as cli
from supclust.experiment import loggers, training
from supclust.experiment.run import run
from supclust.model import load


@pytest.fixture
def offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No key, no settings of the machine."""
    for name in ("WANDB_API_KEY", "WANDB_MODE", "WANDB_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    monkeypatch.setenv("WANDB_DATA_DIR", str(tmp_path / "wandb-data"))
    monkeypatch.setenv("WANDB_CACHE_DIR", str(tmp_path / "wandb-cache"))
    monkeypatch.setenv("WANDB_CONFIG_DIR", str(tmp_path / "wandb-config"))


def run_with_wandb(folder: Path, *more: str) -> None:
    words = [word for word in arguments(folder) if word != "logger=none"]
    run(composed(*words, "logger=wandb", *more))


def logged_models(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, list[str]]]:
    """Artifacts of models and their aliases, filled while runs log; tables are artifacts, too."""
    original, models = wandb.Run.log_artifact, []

    def log(self: Any, artifact: Any, *words: Any, **more: Any) -> Any:
        if artifact.type == "model":
            models.append((artifact, more["aliases"]))
        return original(self, artifact, *words, **more)

    monkeypatch.setattr(wandb.Run, "log_artifact", log)
    return models


@pytest.mark.usefixtures("offline")
def test_an_offline_run_holds_metrics_summary_config_table_and_picture(tmp_path: Path) -> None:
    more = ("objective=exp_alpha", "split=[0,1]", "trainer.purity_every=1", "logger.tags=[mine]")
    run_with_wandb(tmp_path, *more, "sweep.group=sweep-1")
    assert wandb.run is None
    wandb.teardown()  # W&B's own process may not have written everything before it ends
    job = tmp_path / "outputs/vectors-points/exp_alpha/all/seed-0/splits-0,1"
    found = wandb_file.records(job)
    head = next(record.run for record in found if record.HasField("run"))
    assert (head.project, head.run_group, head.job_type) == ("supclust", "sweep-1", "exp_alpha")
    assert set(head.tags) == {"vectors-points", "file", "exp_alpha", "all", "mine"}
    config = wandb_file.items(head.config.update)
    assert config["recipe"]["lr"] == 0.01 and config["splits"] == [0, 1]

    history = wandb_file.history(found)
    losses = [row for row in history if "train/loss" in row]
    assert [row["epoch"] for row in losses] == [0, 1, 2]
    assert all({"dev/loss", "alpha/mean", "alpha/split-1"} <= row.keys() for row in losses)
    for row in losses:
        for kind in ("train", "dev"):
            parts = row[f"{kind}/loss_within"] + row[f"{kind}/loss_across"]
            assert parts == pytest.approx(row[f"{kind}/loss"])
    assert [row["epoch"] for row in history if "dev/purity" in row] == [0, 1, 2]

    summary = wandb_file.summary(found)
    purities = [
        result(tmp_path, "exp_alpha", split)["linkages"]["exp"]["test"]["dendrogram_purity"]
        for split in (0, 1)
    ]
    assert summary["test/exp/dendrogram_purity"] == pytest.approx(sum(purities) / 2)
    assert {f"dev/{name}/pairwise_f1" for name in ("single", "average")} <= summary.keys()
    (table,) = job.glob("wandb/offline-run-*/files/media/table/*.json")
    content = json.loads(table.read_text())
    assert content["columns"][:3] == ["split", "objective", "linkage"]
    assert len(content["data"]) == 2 * 4
    assert len(list(job.glob("wandb/offline-run-*/files/media/images/*.png"))) == 1
    (end,) = [record.exit for record in found if record.HasField("exit")]
    assert end.exit_code == 0
    assert wandb.run is None


@pytest.mark.usefixtures("offline")
def test_the_models_are_an_artifact_with_scores_and_an_alias(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    logged = logged_models(monkeypatch)
    run_with_wandb(tmp_path, "objective=exp_alpha", "split=[0,1]")
    ((artifact, aliases),) = logged
    assert (artifact.name, artifact.type) == ("vectors-points-exp_alpha", "model")
    assert sorted(aliases) == ["all-seed-0-splits-0-1", "latest"]
    scores = result(tmp_path, "exp_alpha", 1)["linkages"]["exp"]["test"]
    assert artifact.metadata["splits"]["split-1"]["exp"]["test"] == scores
    assert "test/exp/dendrogram_purity" in artifact.metadata["scores"]
    files = artifact.manifest.entries
    assert {"split-0/model.json", "split-1/model.safetensors"} <= files.keys()
    copies = tmp_path / "downloaded" / "split-1"
    copies.mkdir(parents=True)
    for name in ("model.json", "model.safetensors"):
        shutil.copy(files[f"split-1/{name}"].local_path, copies / name)
    here = load(tmp_path / "outputs/vectors-points/exp_alpha/all/seed-0/split-1")
    assert load(copies).digest == here.digest and here.linkage == "exp"


@pytest.mark.usefixtures("offline")
def test_an_offline_run_keeps_the_artifact_for_later(tmp_path: Path) -> None:
    run_with_wandb(tmp_path, "objective=exp_alpha")
    wandb.teardown()
    found = wandb_file.records(tmp_path / "outputs")
    logged = [r.request.log_artifact.artifact for r in found if r.request.HasField("log_artifact")]
    logged += [r.artifact for r in found if r.HasField("artifact")]
    models = {one.name: sorted(one.aliases) for one in logged if one.type == "model"}
    assert models == {"vectors-points-exp_alpha": ["all-seed-0-split-0", "latest"]}


@pytest.mark.usefixtures("offline")
def test_models_are_not_logged_where_the_setting_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    logged = logged_models(monkeypatch)
    run_with_wandb(tmp_path, "objective=exp_alpha", "logger.artifact=false")
    assert logged == [] and result(tmp_path, "exp_alpha", 0)["status"] == "done"


@pytest.mark.usefixtures("offline")
def test_notes_hold_the_command_of_the_job(tmp_path: Path) -> None:
    words = [word for word in arguments(tmp_path) if word != "logger=none"]
    done = train_py("-m", *words, "logger=wandb", "objective=exp_alpha", "split=[0,1]")
    assert done.returncode == 0, done.stderr
    found = wandb_file.records(tmp_path / "outputs")
    head = next(record.run for record in found if record.HasField("run"))
    assert head.notes.startswith("python train.py dataset=vectors ")
    assert "objective=exp_alpha" in head.notes and "'split=[0,1]'" in head.notes
    assert "sweep." not in head.notes


@pytest.mark.usefixtures("offline")
def test_a_failed_run_is_finished_and_marked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any, **__: Any) -> Any:
        raise RuntimeError("no memory")

    monkeypatch.setattr(training, "train", broken)
    with pytest.raises(RuntimeError, match="no memory"):
        run_with_wandb(tmp_path, "objective=exp_alpha")
    found = wandb_file.records(tmp_path / "outputs")
    (end,) = [record.exit for record in found if record.HasField("exit")]
    assert end.exit_code == 1
    assert wandb.run is None


@pytest.mark.usefixtures("offline")
@pytest.mark.parametrize("where", ["init", "log"])
def test_a_broken_wandb_costs_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, where: str
) -> None:
    def broken(*_: Any, **__: Any) -> Any:
        raise ConnectionError("the service has died")

    if where == "init":
        monkeypatch.setattr(wandb, "init", broken)
    else:
        monkeypatch.setattr(wandb.Run, "log", broken)
    run_with_wandb(tmp_path, "objective=exp_alpha")
    assert result(tmp_path, "exp_alpha", 0)["status"] == "done"
    assert caplog.text.count("the service has died; going on without it") == 1
    wandb.teardown()


@pytest.mark.usefixtures("offline")
def test_an_unreachable_server_costs_a_warning_and_logs_offline(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    original, modes = wandb.init, []

    def unreachable(*_: Any, **settings: Any) -> Any:
        modes.append(settings["mode"])
        if settings["mode"] == "online":
            raise wandb.errors.CommError("no route to host")
        return original(**settings)

    monkeypatch.setenv("WANDB_API_KEY", "x" * 40)
    monkeypatch.setattr(wandb, "init", unreachable)
    run_with_wandb(tmp_path, "objective=exp_alpha")
    assert modes == ["online", "offline"]
    assert "no route to host" in caplog.text
    wandb.teardown()  # W&B's own process may not have written everything before it ends
    assert wandb_file.summary(wandb_file.records(tmp_path / "outputs"))


def test_online_only_with_a_key(tmp_path: Path) -> None:
    nothing = {"HOME": str(tmp_path)}
    assert loggers.modes_to_try(nothing) == ("offline",)
    assert loggers.modes_to_try({**nothing, "WANDB_API_KEY": "k"}) == ("online", "offline")
    (tmp_path / ".netrc").write_text("machine api.wandb.ai login user password k\n")
    assert loggers.modes_to_try(nothing) == ("online", "offline")
    assert loggers.modes_to_try({**nothing, "WANDB_BASE_URL": "https://other"}) == ("offline",)
    assert loggers.modes_to_try({**nothing, "WANDB_MODE": "offline"}) == ("offline",)
    assert loggers.modes_to_try({**nothing, "WANDB_MODE": "disabled"}) == ("disabled",)


def test_csv_has_a_row_per_epoch(tmp_path: Path) -> None:
    run_here(tmp_path, "objective=exp_alpha", "logger=csv", "trainer.purity_every=3")
    folder = tmp_path / "outputs/vectors-points/exp_alpha/all/seed-0/split-0"
    with (folder / "metrics.csv").open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    losses = [row for row in rows if row["train/loss"]]
    assert [int(float(row["epoch"])) for row in losses] == [0, 1, 2]
    assert all(float(row["alpha/mean"]) and float(row["dev/loss"]) for row in losses)
    assert [int(float(row["epoch"])) for row in rows if row["dev/purity"]] == [2]


def test_the_dashboard_shows_what_the_runs_log(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "dashboard.json"
    assert cli.main(["dashboard", "--dry-run", "-o", str(target), "--project", "p"]) == 0
    assert f"wrote {target}" in capsys.readouterr().out
    definition = json.loads(target.read_text())
    assert definition["project"] == "p"
    text = json.dumps(definition)
    for linkage in ("single", "average", "complete", "exp"):
        for metric in ("dendrogram_purity", "pairwise_f1"):
            assert f"test/{linkage}/{metric}" in text
    logged = ["alpha/mean", "dev/purity", "splits/active", "dendrogram"]
    logged += [
        f"{kind}/loss{part}" for kind in ("train", "dev") for part in ("", "_within", "_across")
    ]
    assert all(f'"{name}"' in text for name in logged)
    sections = definition["spec"]["section"]["panelBankConfig"]["sections"]
    assert [section["name"] for section in sections] == [
        *("Dendrogram purity", "Pairwise F1", "Alpha", "Training curves", "Results per split")
    ]
    assert all(section["panels"] for section in sections)


def test_the_dashboard_needs_an_entity_to_be_sent(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("WANDB_ENTITY", raising=False)
    assert cli.main(["dashboard"]) == 2
    assert "--entity NAME" in capsys.readouterr().err
