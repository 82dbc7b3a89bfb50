"""``train.py``: from a composed configuration to results and an exit code, one job or a sweep."""

from __future__ import annotations

import hashlib
import logging
import math
import os
import sys
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from hydra.core.global_hydra import GlobalHydra
from hydra.core.hydra_config import HydraConfig
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import IntervalSweep, Override
from hydra.experimental.callback import Callback
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf, flag_override

from supclust.data.errors import flush_stdout
from supclust.experiment.checks import (
    INTERRUPTED,
    check_config,
    check_value,
    explain,
    interrupted,
    print_usage_error,
    usage_error,
)
from supclust.experiment.config import Settings, plain

if TYPE_CHECKING:
    from supclust.experiment.job import Outcome
    from supclust.experiment.sweep import Sweep

# Settings that name the folder already, or have no influence on numbers.
_NAMED = (
    *("dataset", "objective", "linkage", "recipe", "split", "seed", "axes", "logger"),
    "dataset.path",
)
_logger = logging.getLogger(__name__)
_running: list[SweepCallback] = []


def run(cfg: DictConfig) -> float | None:
    """Run one job: seed, data, model, fit, alpha, threshold on dev, test, ``result.json``.

    Args:
        cfg: composed from ``conf/``.

    Returns:
        Mean dev purity over the splits, under ``exp`` if that is evaluated, else under the first
        linkage; ``None`` if nothing was finished.

    Raises:
        Exception: whatever went wrong, in a plain run. In a sweep it is logged and reported, and
            the other jobs go on.
    """
    multirun = HydraConfig.initialized() and HydraConfig.get().mode == RunMode.MULTIRUN
    number = int(HydraConfig.get().job.num) if multirun else 0
    settings = Settings.from_config(plain(cfg), multirun=multirun, job_number=number)
    from supclust.experiment.job import Job, Outcome

    outcome = Outcome()
    sweep = None
    if settings.sweep_id:
        from supclust.experiment.sweep import Sweep

        sweep = Sweep(settings.outputs, settings.sweep_id)
    progress_file = sweep.progress_path(number) if sweep else None
    try:
        bar = not multirun and sys.stderr.isatty()
        job = Job(settings, progress=bar, progress_file=progress_file)
        outcome = job.outcome
        job.run()
    except Exception as error:
        if interrupted(error):
            raise KeyboardInterrupt from None
        logging.getLogger("supclust.traceback").exception("%s failed", settings.job_folder)
        if not multirun:
            raise
        _logger.error("%s failed: %s: %s", settings.job_folder, type(error).__name__, error)
        reason = f"{type(error).__name__}: {error}"
        if not outcome.failures:
            outcome.failures = dict.fromkeys(settings.splits, reason)
        if set(outcome.failures.values()) == {reason}:
            outcome.mistake = usage_error(error)
    if sweep:
        sweep.report(settings, outcome)
    if not multirun:
        _show(settings, outcome)
    return _mean_dev_purity(outcome)


def launch(main: Callable[[], Any]) -> None:
    """Call a ``hydra.main`` function and turn its errors into messages and exit codes.

    Wrong usage: one message and exit code 2. Ctrl-C: one message and 130. A closed pipe, as in
    ``train.py --help | head -1``: 1.
    """
    logging.raiseExceptions = False  # else a line that cannot be logged is a traceback
    full_error = os.environ.get("HYDRA_FULL_ERROR") == "1"
    os.environ["HYDRA_FULL_ERROR"] = "1"  # else Hydra prints every error itself and exits with 1
    try:
        main()
        sys.stdout.flush()
    except BrokenPipeError:
        sys.exit(1)
    except KeyboardInterrupt:
        _exit_interrupted()
    except Exception as error:
        if interrupted(error):
            _exit_interrupted()
        if full_error:
            raise
        code = explain(error)
        # A worker process that dies ends the sweep with an error; its results are summarised.
        for callback in [*_running]:
            callback.conclude()
        sys.exit(code)
    finally:
        flush_stdout()


def _exit_interrupted() -> NoReturn:
    for callback in [*_running]:  # `stop` removes it from the list
        callback.stop()
    print("Interrupted. The same command goes on from here.", file=sys.stderr)
    sys.exit(INTERRUPTED)


class SweepCallback(Callback):
    """Hydra callback: checks a sweep, names its axes, and prints a table at its end."""

    def __init__(self) -> None:
        self.sweep: Sweep | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Jobs in other processes get a copy without the thread of the bar."""
        return {**self.__dict__, "sweep": None}

    def on_multirun_start(self, config: DictConfig, **kwargs: Any) -> None:
        """Refuse illegal values, and give the jobs the sweep's id and the axes of its folders."""
        from supclust.experiment.sweep import Sweep

        try:
            overrides = sweep_overrides(config)
            check_config(plain(config))
            swept = swept_values(overrides)
            for key, values in swept.items():
                for value in values:
                    check_value(key, value)
        except Exception as error:
            if interrupted(error):
                raise KeyboardInterrupt from None
            sys.exit(explain(error))
        sweep_id = f"s{uuid.uuid4().hex[:12]}"  # a letter first: Hydra reads 12e4 as a number
        # Repeating a command gives the same W&B group.
        text = " ".join(sorted(override.input_line or "" for override in overrides))
        group = f"sweep-{hashlib.sha256(text.encode()).hexdigest()[:8]}"
        added = [f"sweep.id={sweep_id}", f"sweep.group={group}"]
        axes = further_axes(swept, plain(config)["axes"])
        if axes:
            added.append(f"axes=[{','.join(axes)}]")
        with flag_override(config, ["readonly", "struct"], [False, False]):
            config.hydra.overrides.hydra = [*config.hydra.overrides.hydra, *added]
        combinations = math.prod(len(values) for values in swept.values())
        n_jobs = OmegaConf.select(config, "hydra.sweeper.n_trials") or combinations  # of Optuna
        self.sweep = Sweep(Path(config.paths.outputs), sweep_id, n_jobs)
        try:
            self.sweep.start()
        except OSError as error:  # Hydra would warn, and go on
            sys.exit(explain(error))
        _running.append(self)

    def on_multirun_end(self, config: DictConfig, **kwargs: Any) -> None:
        """Print the table and the failures; these make the exit code."""
        code = self.conclude()
        if code:
            sys.exit(code)

    def conclude(self) -> int:
        """Print the table and the failures; return the exit code of `Sweep.summarise`."""
        if self.sweep is None:
            return 0
        text, code, usage_errors = self.sweep.summarise()
        self.stop()
        print(text, flush=True)
        for message in usage_errors:
            print_usage_error(message)
        return code

    def stop(self) -> None:
        """Remove bar and reports without a summary: interrupted jobs have not failed."""
        if self.sweep is not None:
            self.sweep.stop()
            _running.remove(self)


def sweep_overrides(config: DictConfig) -> list[Override]:
    """Everything that the sweep sets: the template's parameters, then the command line."""
    params = OmegaConf.select(config, "hydra.sweeper.params") or {}
    lines = [*(f"{key}={value}" for key, value in params.items()), *config.hydra.overrides.task]
    hydra = GlobalHydra.instance()
    loader = hydra.config_loader() if hydra.is_initialized() else None  # expands glob(*)
    return list(OverridesParser.create(loader).parse_overrides(lines))


def swept_values(overrides: list[Override]) -> dict[str, list[Any]]:
    """Values of every setting that was set; the last override of a setting counts.

    Of an interval, which Optuna searches, these are its ends.
    """
    swept: dict[str, list[Any]] = {}
    parse = OverridesParser.create().parse_override
    for override in overrides:
        value = override.value()
        values: list[Any] = [value]
        if override.is_discrete_sweep():
            values = [parse(f"x={text}").value() for text in override.sweep_string_iterator()]
        elif isinstance(value, IntervalSweep):
            values = [value.start, value.end]
        swept[override.key_or_group] = values
    return swept


def further_axes(swept: dict[str, list[Any]], given: list[str]) -> list[str]:
    """Swept settings that the name of the folder does not contain yet."""
    names = {"dissimilarity": "dissimilarity.name", "trainer": "trainer.accelerator"}
    keys = [names.get(key, key) for key, values in swept.items() if len(values) > 1]
    new = [key for key in keys if key not in _NAMED and not key.startswith(("paths.", "hydra"))]
    return list(dict.fromkeys([*given, *new])) if new else []


def _show(settings: Settings, outcome: Outcome) -> None:
    """Print the table of a plain run; its failures are the exit code."""
    from supclust.model.aggregate import summarise
    from supclust.tables.render import render

    cells = summarise(outcome.results)
    if cells:
        print(render(cells))
    if outcome.skipped:
        print(f"{outcome.skipped} of {len(settings.splits)} results were there already.")
    print(f"Results: {settings.outputs / settings.family}")
    if outcome.failures:
        for split, reason in outcome.failures.items():
            print(f"FAILED split {split}: {reason}", file=sys.stderr)
        sys.exit(1)


def _mean_dev_purity(outcome: Outcome) -> float | None:
    linkages = [result["linkages"] for result in outcome.results]
    entries = [by_name.get("exp") or next(iter(by_name.values())) for by_name in linkages]
    purities = [entry["dev"]["dendrogram_purity"] for entry in entries]
    known = [purity for purity in purities if purity is not None]
    return sum(known) / len(known) if known else None


def _job_folder(*, _root_: DictConfig) -> str:
    """``${job_folder:}``: the folder of the job, named by the values of the axes."""
    mode = OmegaConf.select(_root_, "hydra.mode")
    multirun = mode is not None and mode.name == "MULTIRUN"
    return str(Settings.from_config(plain(_root_), multirun=multirun).job_folder)


def _device_of_job(number: Any, devices: Any) -> str:
    """``${device_of_job:job,devices}``: job modulo devices; the first where there is no job yet."""
    return str(int(number or 0) % max(1, int(devices)))


OmegaConf.register_new_resolver("device_of_job", _device_of_job, replace=True)
OmegaConf.register_new_resolver("job_folder", _job_folder, replace=True)
