"""A Lightning trainer that prints nothing and has only the parts that an `Objective` needs."""

from __future__ import annotations

import logging
import signal
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytorch_lightning as pl
from lightning_fabric.utilities.warnings import PossibleUserWarning
from pytorch_lightning.callbacks import Checkpoint

NEVER = 2**31  # epochs between two validations: `validate` works all the same
_LOGGERS = ("pytorch_lightning", "lightning_fabric")


@contextmanager
def quiet_lightning() -> Iterator[None]:
    """Suppress Lightning's routine messages; its other warnings are still shown.

    Suppressed: messages of level INFO (devices, tips, why training ended), warnings of the category
    "possible user warning" (workers, modules in evaluation mode), and deprecations in Lightning.
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
    """Raise ``KeyboardInterrupt`` to the caller of a trainer on Ctrl-C.

    Lightning raises ``SystemExit(1)`` instead, which looks like a failure. If that happens during
    its setup, it leaves SIGINT ignored: a notebook could not be interrupted again.
    """
    handler = signal.getsignal(signal.SIGINT)
    try:
        yield
    except SystemExit as error:
        if not isinstance(error.__context__, KeyboardInterrupt):
            raise  # an exit that was asked for
        if handler is not None:  # None: not set by Python, so Python cannot set it again
            signal.signal(signal.SIGINT, handler)
        raise KeyboardInterrupt from None


class _QuietTrainer(pl.Trainer):
    """Prints nothing and can be interrupted."""

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

    It prints nothing about devices and offers no tips; warnings are still shown.

    Args:
        max_epochs: the cap on epochs.
        purity_every: epochs between two validations, which give dev purities; ``None``: no
            validation. Dev losses are computed every epoch all the same.
        options: any argument of ``pytorch_lightning.Trainer``, overriding the above.
    """
    callbacks = options.get("callbacks") or ()
    settings: dict[str, Any] = {
        "accelerator": "cpu",
        "logger": False,
        "enable_checkpointing": any(isinstance(callback, Checkpoint) for callback in callbacks),
        "enable_progress_bar": False,
        "enable_model_summary": False,
        "num_sanity_val_steps": 0,
        "check_val_every_n_epoch": purity_every or NEVER,
    }
    with quiet_lightning():
        return _QuietTrainer(max_epochs=max_epochs, **{**settings, **options})
