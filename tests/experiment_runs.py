"""Small experiments for tests: a data file, a composed configuration, a command line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[1]


def write_points(path: Path, n_blocks: int = 6, seed: int = 0) -> Path:
    """A CSV of blocks whose clusters differ in two of four features."""
    rng = np.random.default_rng(seed)
    lines = ["id,who,where,a,b,c,d"]
    for block in range(n_blocks):
        for cluster, size in enumerate((5, 4, 3)):
            centre = rng.normal(scale=3.0, size=2)
            for _ in range(size):
                point = [*(centre + rng.normal(scale=0.6, size=2)), *rng.normal(scale=2.0, size=2)]
                numbers = ",".join(f"{x:.4f}" for x in point)
                lines.append(f"p{len(lines)},block{block}-{cluster},block{block},{numbers}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def arguments(folder: Path, *more: str) -> list[str]:
    """Overrides of a small run: own points, few epochs, everything below ``folder``."""
    points = folder / "points.csv"
    if not points.exists():
        write_points(points)
    return [
        "dataset=vectors",
        # One training by gradients; the default for users' data is recipe=best.
        *(() if any(word.startswith("recipe=") for word in more) else ("recipe=paper",)),
        f"dataset.path={points}",
        "dataset.label=who",
        "dataset.block=where",
        "dataset.id=id",
        "dataset.n_splits=4",
        "trainer.max_epochs=3",
        "recipe.lr=0.01",
        "logger=none",
        f"paths.outputs={folder / 'outputs'}",
        f"paths.cache={folder / 'cache'}",
        f"paths.data={folder / 'data'}",
        *more,
    ]


def composed(*overrides: str, config: str = "config", directory: Path = ROOT / "conf") -> Any:
    """The configuration as ``train.py`` gets it."""
    from hydra import compose, initialize_config_dir

    import supclust.experiment.config  # noqa: F401  (registers the resolvers)

    with initialize_config_dir(str(directory), version_base="1.3"):
        return compose(config, list(overrides))


def add_plugins() -> None:
    """Stand in for plugins of Hydra that are not installed, so that templates with them compose."""
    from hydra.core.config_store import ConfigStore
    from hydra.core.plugins import Plugins
    from omegaconf import OmegaConf

    Plugins.instance()
    store = ConfigStore.instance()
    searched = dict.fromkeys(("direction", "n_trials", "n_jobs", "params"))
    target = "hydra_plugins.hydra_ray_launcher.ray_launcher.RayLauncher"
    nodes = {
        "launcher": ("ray", {"_target_": target, "ray": {"init": {"address": None}, "remote": {}}}),
        "sweeper": ("optuna", {"_target_": "", **searched, "sampler": {"seed": None}}),
    }
    for group, (name, node) in nodes.items():
        if f"{name}.yaml" not in store.repo["hydra"][group]:
            store.store(group=f"hydra/{group}", name=name, node=OmegaConf.create(node))


def run_here(folder: Path, *more: str) -> float | None:
    """Run one job in this process."""
    from supclust.experiment.run import run

    return run(composed(*arguments(folder, *more)))


def train_here(*words: str) -> int:
    """Run ``train.py`` in this process with a command line; the exit code."""
    import logging
    import runpy
    from unittest import mock

    from supclust.experiment.run import launch

    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    main = runpy.run_path(str(ROOT / "train.py"))["main"]
    argv = ["train.py", "--config-path", str(ROOT / "conf"), *words]
    with mock.patch.object(sys, "argv", argv), mock.patch.dict(os.environ):
        os.environ.pop("HYDRA_FULL_ERROR", None)
        try:
            launch(main)
        except SystemExit as end:
            return int(end.code or 0)
        finally:  # Hydra configures logging for the process
            root.handlers[:], root.level = handlers, level
    return 0


def command(*words: str) -> list[str]:
    return [sys.executable, str(ROOT / "train.py"), *words]


def environment(**more: str) -> dict[str, str]:
    """Of this process, without keys or settings that would change a run."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("WANDB_", "SUPCLUST_"))}
    return {**kept, **more}


def train_py(*words: str, cwd: Path | None = None, **more: str) -> subprocess.CompletedProcess[str]:
    """Run ``train.py`` in a process of its own."""
    return subprocess.run(
        command(*words),
        capture_output=True,
        text=True,
        check=False,
        cwd=cwd,
        env=environment(**more),
    )


def result(folder: Path, objective: str, split: int, linkage: str = "all", seed: str = "0") -> Any:
    """A result as plain JSON."""
    place = folder / "outputs" / "vectors-points" / objective / linkage
    (path,) = place.glob(f"seed-{seed}*/split-{split}/result.json")  # seed-0 or seed-0,recipe=best
    return json.loads(path.read_text(encoding="utf-8"))


def numbers_of(folder: Path) -> dict[str, Any]:
    """The scores in every result below a folder."""
    paths = sorted((folder / "outputs").rglob("result.json"))
    read = {str(p.relative_to(folder)): json.loads(p.read_text(encoding="utf-8")) for p in paths}
    return {path: value["linkages"] for path, value in read.items()}
