"""A whole run of the command line: wall time, and how much of it is not spent in kernels."""

from __future__ import annotations

import functools
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.timing import table

ROOT = Path(__file__).parents[1]
QUICK = ["split=[0,1,2]", "trainer.max_epochs=20"]


def report(quick: bool) -> str:
    """Warm ``split=all`` Faces run of ``exp_alpha``: as a command, and inside one process."""
    words = ["objective=exp_alpha", "dataset=faces", *(QUICK if quick else ["split=all"])]
    with tempfile.TemporaryDirectory() as folder:
        outputs = Path(folder)
        # The first run fills the caches of data and compiled kernels; what it trains is not reused.
        _command([*words, "trainer.max_epochs=2", "logger=none"], outputs / "warm-up")
        rows = [
            [f"`train.py {' '.join(words)} logger={logger}`", f"{seconds:.1f} s"]
            for logger in ("none", "wandb")
            for seconds in [_command([*words, f"logger={logger}"], outputs / logger)]
        ]
        again = _command([*words, "logger=none"], outputs / "none")
        rows.append(["the same again: every result exists", f"{again:.1f} s"])
        whole, inside = _in_process([*words, "logger=none"], outputs / "here")
    rows.append(["one process, imports done: whole job", f"{whole:.1f} s"])
    rows.append(
        ["… of it in dissimilarities, losses, gradients, optimiser, trees", f"{inside:.1f} s"]
    )
    rows.append(["… of it outside (Lightning, Hydra, reading, writing)", _share(whole, inside)])
    note = (
        "The README's run on every split, each line measured once, after a run that fills the "
        "caches. Faces are the real set where SUPCLUST_DATA has it, else the stand-in."
    )
    return note + "\n\n" + table(["run", "wall time"], rows)


def _share(whole: float, inside: float) -> str:
    return f"{whole - inside:.1f} s = {100 * (whole - inside) / whole:.0f} %"


def _command(words: list[str], outputs: Path) -> float:
    start = time.perf_counter()
    subprocess.run(
        [sys.executable, str(ROOT / "train.py"), *words, f"paths.outputs={outputs}"],
        check=True,
        capture_output=True,
        env={**os.environ, "WANDB_MODE": "offline"},
    )
    return time.perf_counter() - start


def _in_process(words: list[str], outputs: Path) -> tuple[float, float]:
    """Seconds of a job, and of the parts that do the arithmetic."""
    from hydra import compose, initialize_config_dir

    from supclust.experiment import training
    from supclust.experiment.config import Settings, plain
    from supclust.experiment.job import Job
    from supclust.hac.module import ExpLinkHAC
    from supclust.objectives import Objective
    from supclust.objectives.training.optimizer import SplitAdamRows

    assert training
    with initialize_config_dir(str(ROOT / "conf"), version_base="1.3"):
        config = plain(compose("config", [*words, f"paths.outputs={outputs}"]))
    # Forward passes (dissimilarity and loss), gradients, updates, trees: none is inside another.
    work = [(Objective, "loss_parts"), (Objective, "manual_backward"), (SplitAdamRows, "step")]
    with timed([*work, (ExpLinkHAC, "forward")]) as seconds:
        start = time.perf_counter()
        Job(Settings.from_config(config)).run()
        whole = time.perf_counter() - start
    return whole, sum(seconds)


@contextmanager
def timed(methods: list[tuple[type, str]]) -> Iterator[list[float]]:
    """Collect the seconds of every call of some methods."""
    seconds: list[float] = []

    def wrap(method: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(method)
        def timed(*args: Any, **kwargs: Any) -> Any:
            start = time.perf_counter()
            try:
                return method(*args, **kwargs)
            finally:
                seconds.append(time.perf_counter() - start)

        return timed

    originals = [(owner, name, getattr(owner, name)) for owner, name in methods]
    for owner, name, method in originals:
        setattr(owner, name, wrap(method))
    try:
        yield seconds
    finally:
        for owner, name, method in originals:
            setattr(owner, name, method)
