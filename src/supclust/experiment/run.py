"""One run of ``train.py``: from the composed configuration to results and an exit code."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable
from typing import Any

from hydra.core.hydra_config import HydraConfig
from hydra.types import RunMode
from omegaconf import DictConfig

from supclust.experiment.config import Settings, plain
from supclust.experiment.errors import INTERRUPTED, explain, usage_error
from supclust.experiment.sweep import SweepReports, running_sweeps

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
            outcome.mistake = usage_error(error)
    if settings.sweep_id is not None:
        SweepReports(settings.outputs, settings.sweep_id).add(settings, outcome)
    if not multirun:
        _show(settings, outcome)
    return _selection(outcome)


def launch(main: Callable[[], Any]) -> None:
    """Call a ``hydra.main`` function and turn its errors into messages and exit codes.

    Wrong usage: one message and exit code 2. Ctrl-C: one message and 130.
    """
    full_error = os.environ.get("HYDRA_FULL_ERROR") == "1"
    os.environ["HYDRA_FULL_ERROR"] = "1"  # else Hydra prints every error itself and exits with 1
    try:
        main()
    except KeyboardInterrupt:
        for sweep in running_sweeps():
            sweep.abandon()
        print("Interrupted. The same command goes on from here.", file=sys.stderr)
        sys.exit(INTERRUPTED)
    except Exception as error:
        if full_error:
            raise
        code = explain(error)
        # A worker process that dies ends the sweep with an error; its results are summarised.
        for sweep in running_sweeps():
            sweep.conclude()
        sys.exit(code)


def _show(settings: Settings, outcome: Any) -> None:
    from supclust.model.aggregate import summarise
    from supclust.tables.render import render

    cells = summarise(outcome.results)
    if cells:
        print(render(cells))
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
