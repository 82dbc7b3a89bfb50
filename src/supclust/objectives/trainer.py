"""A Lightning trainer without its talk, and without parts that cost more than a step of ours."""

from __future__ import annotations

import logging
import signal
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytorch_lightning as pl
from lightning_fabric.utilities.warnings import PossibleUserWarning

_LOGGERS = ("pytorch_lightning", "lightning_fabric")


@contextmanager
def quiet_lightning() -> Iterator[None]:
    """Leave out what Lightning says about every trainer; its real warnings are still heard.

    Left out: messages of level INFO (devices, tips, why training ended), warnings that Lightning
    itself takes for possibly beside the point (workers, modules in evaluation mode), and those
    about its own use of torch.
    """
    loggers = [logging.getLogger(name) for name in _LOGGERS]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(max(logging.WARNING, logger.level))
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", category=PossibleUserWarning)
            for category in (DeprecationWarning, FutureWarning):
                warnings.filterwarnings("ignore", category=category, module="pytorch_lightning")
            yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


@contextmanager
def interruptible() -> Iterator[None]:
    """Let Ctrl-C in a trainer be a ``KeyboardInterrupt`` for its caller.

    Lightning ends the process with ``SystemExit(1)`` instead, which looks like a failure. If that
    happens while it sets up, it leaves SIGINT ignored: a notebook could not be interrupted again.
    """
    handler = signal.getsignal(signal.SIGINT)
    try:
        yield
    except SystemExit as error:
        if not isinstance(error.__context__, KeyboardInterrupt):
            raise  # somebody's own exit
        if handler is not None:  # None: not set by Python, so Python cannot set it again
            signal.signal(signal.SIGINT, handler)
        raise KeyboardInterrupt from None


class _QuietTrainer(pl.Trainer):
    """Says nothing about itself while it works, and can be interrupted."""

    def fit(self, *args: Any, **kwargs: Any) -> None:
        with interruptible(), quiet_lightning():
            super().fit(*args, **kwargs)

    def validate(self, *args: Any, **kwargs: Any) -> Any:
        with interruptible(), quiet_lightning():
            return super().validate(*args, **kwargs)

    def test(self, *args: Any, **kwargs: Any) -> Any:
        with interruptible(), quiet_lightning():
            return super().test(*args, **kwargs)


def quiet_trainer(
    max_epochs: int, *, purity_every: int | None = None, **options: Any
) -> pl.Trainer:
    """Make a trainer for `Objective`: no logger, bar, summary or checkpoints unless asked for.

    It prints nothing about devices and offers no tips; warnings are still heard.

    Args:
        max_epochs: the cap on epochs.
        purity_every: epochs between two dev purities; ``None``: none are computed.
        options: any argument of ``pytorch_lightning.Trainer``, overriding the above.
    """
    settings: dict[str, Any] = {
        "accelerator": "cpu",
        "logger": False,
        "enable_checkpointing": False,
        "enable_progress_bar": False,
        "enable_model_summary": False,
        "num_sanity_val_steps": 0,
        "limit_val_batches": 0 if purity_every is None else None,
        "check_val_every_n_epoch": purity_every or 1,
    }
    with quiet_lightning():
        return _QuietTrainer(max_epochs=max_epochs, **{**settings, **options})
