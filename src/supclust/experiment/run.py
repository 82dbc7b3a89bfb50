"""The Hydra side of an experiment: from the command line to jobs, and from jobs to an exit code."""

from __future__ import annotations

import hashlib
import logging
import os
import sys
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hydra import compose, initialize_config_dir
from hydra.core.hydra_config import HydraConfig
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from hydra.experimental.callback import Callback
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf, flag_override

from supclust.experiment.settings import Settings, check_config
from supclust.experiment.sweep import SweepBar, SweepReports, conclude
from supclust.experiment.usage import INTERRUPTED, explain, mistake_in, print_mistake
from supclust.tables.values import check_value

# Settings that name the folder anyway, or have no influence on numbers.
_NAMED = ("dataset", "objective", "linkage", "split", "seed", "axes", "logger", "dataset.path")
_logger = logging.getLogger(__name__)


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
    watched = None
    if settings.sweep_id is not None:
        watched = SweepReports(settings.outputs, settings.sweep_id).progress_path(number)
    try:
        job = Job(settings, progress=not multirun and sys.stderr.isatty(), watched=watched)
        outcome = job.outcome
        job.run()
    except Exception as error:
        logging.getLogger("supclust.traceback").exception("%s failed", settings.job_folder)
        if not multirun:
            raise
        _logger.error("%s failed: %s: %s", settings.job_folder, type(error).__name__, error)
        reason = f"{type(error).__name__}: {error}"
        if not outcome.failures:
            outcome.failures = dict.fromkeys(settings.splits, reason)
        if set(outcome.failures.values()) == {reason}:
            outcome.mistake = mistake_in(error)
    if settings.sweep_id is not None:
        SweepReports(settings.outputs, settings.sweep_id).add(settings, outcome)
    if not multirun:
        _show(settings, outcome)
    return _selection(outcome)


def plain(cfg: DictConfig) -> dict[str, Any]:
    """A configuration as dictionaries, without Hydra's own."""
    found = OmegaConf.to_container(OmegaConf.masked_copy(cfg, _keys(cfg)), resolve=False)
    resolved = OmegaConf.to_container(OmegaConf.create(found), resolve=True)
    assert isinstance(resolved, dict)
    return {str(key): value for key, value in resolved.items()}


def settings_from(conf: Path, words: list[str], job_number: int = 0) -> Settings:
    """The settings that ``train.py`` would have with these words.

    Args:
        conf: folder of the configuration.
        words: as on the command line.
        job_number: among the jobs that belong together.
    """
    with initialize_config_dir(str(conf.resolve()), version_base="1.3"):
        return Settings.from_config(plain(compose("config", words)), job_number=job_number)


def launch(main: Callable[[], Any]) -> None:
    """Call a ``hydra.main`` function.

    Wrong usage is one message and exit code 2, Ctrl-C one message and 130.
    """
    full_error = os.environ.get("HYDRA_FULL_ERROR") == "1"
    os.environ["HYDRA_FULL_ERROR"] = "1"  # or Hydra ends every error itself, with code 1
    try:
        main()
    except KeyboardInterrupt:
        for sweep in list(_running):
            sweep.abandon()
        print("Interrupted. The same command goes on from here.", file=sys.stderr)
        sys.exit(INTERRUPTED)
    except Exception as error:
        if full_error:
            raise
        code = explain(error, sys.argv[1:])
        # A worker that dies ends the sweep with an error; what there is, is summarised even so.
        for sweep in list(_running):
            sweep.conclude()
        sys.exit(code)


_running: list[SweepCallback] = []


class SweepCallback(Callback):
    """Checks a sweep before it starts, names its axes, and ends it with a table."""

    def __init__(self) -> None:
        self.reports: SweepReports | None = None
        self.bar: SweepBar | None = None
        self.expected = 0

    def __getstate__(self) -> dict[str, Any]:
        """Jobs in other processes get a copy without the thread of the bar."""
        return {**self.__dict__, "bar": None}

    def on_multirun_start(self, config: DictConfig, **kwargs: Any) -> None:
        """Refuse illegal values at once, and tell the jobs which sweep they belong to."""
        try:
            overrides = sweep_overrides(config)
            check_config(plain(config))
            swept = swept_values(overrides)
            for key, values in swept.items():
                for value in values:
                    check_value(key, value)
        except Exception as error:
            sys.exit(explain(error, sys.argv[1:]))
        self.expected = 1
        for values in swept.values():
            self.expected *= len(values)
        sweep_id = uuid.uuid4().hex[:12]
        # The same command again is the same group.
        text = " ".join(sorted(override.input_line or "" for override in overrides))
        group = f"sweep-{hashlib.sha256(text.encode()).hexdigest()[:8]}"
        told = [f"sweep.id={sweep_id}", f"sweep.group={group}"]
        axes = further_axes(swept, plain(config)["axes"])
        if axes:
            told.append(f"axes=[{','.join(axes)}]")
        with flag_override(config, ["readonly", "struct"], [False, False]):
            config.hydra.overrides.hydra = [*config.hydra.overrides.hydra, *told]
        self.reports = SweepReports(Path(config.paths.outputs), sweep_id)
        self.reports.open()
        self.bar = SweepBar(self.reports, self.expected)
        self.bar.start()
        _running.append(self)

    def on_multirun_end(self, config: DictConfig, **kwargs: Any) -> None:
        """Print the table and the failures; these make the exit code."""
        code = self.conclude()
        if code:
            sys.exit(code)

    def conclude(self) -> int:
        """Print the table and the failures; return the exit code, as in `sweep.conclude`."""
        if self.reports is None or self.bar is None:
            return 0
        self.bar.stop()
        text, code, mistakes = conclude(self.reports, self.expected)
        self.abandon()
        print(text, flush=True)
        for mistake in mistakes:
            print_mistake(mistake)
        return code

    def abandon(self) -> None:
        """Remove bar and reports, and say nothing: jobs that were interrupted did not fail."""
        if self.reports is not None and self.bar is not None:
            self.bar.stop()
            self.reports.remove()
            _running.remove(self)


def sweep_overrides(config: DictConfig) -> list[Override]:
    """Everything the sweep sets: the template's parameters, then the command line."""
    params = OmegaConf.select(config, "hydra.sweeper.params") or {}
    lines = [f"{key}={value}" for key, value in params.items()]
    lines += list(config.hydra.overrides.task)
    return list(OverridesParser.create().parse_overrides(lines))


def swept_values(overrides: list[Override]) -> dict[str, list[Any]]:
    """Values of every setting that has several, or was set; later ones win."""
    found: dict[str, list[Any]] = {}
    for override in overrides:
        key = override.key_or_group
        if override.is_discrete_sweep():
            found[key] = [_value(text) for text in override.sweep_string_iterator()]
        else:
            found[key] = [override.value()]
    return found


def further_axes(swept: dict[str, list[Any]], given: list[str]) -> list[str]:
    """Swept settings that the folder's name does not have yet."""
    names = {"dissimilarity": "dissimilarity.name", "trainer": "trainer.accelerator"}
    keys = [names.get(key, key) for key, values in swept.items() if len(values) > 1]
    new = [key for key in keys if key not in _NAMED and not key.startswith(("paths.", "hydra"))]
    return list(dict.fromkeys([*given, *new])) if new else []


def _value(text: str) -> Any:
    return OverridesParser.create().parse_override(f"x={text}").value()


def _keys(cfg: DictConfig) -> list[str]:
    return [str(key) for key in cfg if key != "hydra"]


def _show(settings: Settings, outcome: Any) -> None:
    from supclust.tables.aggregate import as_text, summarise

    cells = summarise(outcome.results)
    if cells:
        print(as_text(cells))
    folder = settings.outputs / settings.family
    if outcome.skipped:
        print(f"{outcome.skipped} of {len(settings.splits)} results were there already.")
    print(f"Results: {folder}")
    if outcome.failures:
        for split, reason in outcome.failures.items():
            print(f"FAILED split {split}: {reason}", file=sys.stderr)
        sys.exit(1)


def _selection(outcome: Any) -> float | None:
    scores = []
    for result in outcome.results:
        linkages = result["linkages"]
        chosen = linkages.get("exp") or next(iter(linkages.values()))
        scores.append(chosen["dev"]["dendrogram_purity"])
    known = [score for score in scores if score is not None]
    return sum(known) / len(known) if known else None


def _paper_value(key: str, *, _root_: DictConfig) -> Any:
    """``${paper:lr}``: the setting of the chosen data set, unless the objective has its own."""
    row = _root_.paper[_root_.dataset.name]
    exceptions = row["except"].get(_root_.objective.name) or {}
    return exceptions.get(key, row[key])


def _job_folder(*, _root_: DictConfig) -> str:
    """``${job_folder:}``: made of the values of the axes."""
    multirun = OmegaConf.select(_root_, "hydra.mode") == RunMode.MULTIRUN
    return str(Settings.from_config(plain(_root_), multirun=multirun).job_folder)


def _device_of_job(number: Any, devices: Any) -> str:
    """``${device_of_job:job,devices}``: devices in turn; before there is a job, the first."""
    return str(int(number or 0) % max(1, int(devices)))


OmegaConf.register_new_resolver("device_of_job", _device_of_job, replace=True)
OmegaConf.register_new_resolver("paper", _paper_value, replace=True)
OmegaConf.register_new_resolver("job_folder", _job_folder, replace=True)
