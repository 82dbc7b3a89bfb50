"""A quiet trainer says nothing about devices, tips and epochs; warnings are still heard."""

from __future__ import annotations

import logging
import signal
import subprocess
import sys
import warnings

import pytest
import pytorch_lightning as pl
from lightning_fabric.utilities.warnings import PossibleUserWarning

from supclust.objectives.training.trainer import quiet_lightning, quiet_trainer
from training_blocks import overlapping_parts

USES = {
    # In processes of their own: under pytest Lightning's messages do not go to the terminal.
    "the estimator": (
        "from supclust import SupervisedHAC\n"
        "X = [[0.0], [0.1], [5.0], [5.1], [9.0], [9.1], [3.0], [3.1]]\n"
        "for objective in ('exp_alpha', 'mst'):\n"  # of which one fits alpha after training
        "    SupervisedHAC(objective, max_epochs=3).fit(X, [0, 0, 1, 1, 2, 2, 3, 3])\n"
    ),
    "the objectives": (
        "from supclust.data import Block, BlockDataModule, DatasetSplit\n"
        "from supclust.dissimilarity import Mahalanobis\n"
        "from supclust.objectives import ExpAlpha, Recipe, quiet_trainer\n"
        "import numpy as np\n"
        "X, y = np.arange(12.0).reshape(6, 2), np.array([0, 0, 1, 1, 2, 2])\n"
        "block = Block('a', tuple('abcdef'), y, 'vectors', X)\n"
        "data = BlockDataModule([DatasetSplit((block,), (block,), (block,))])\n"
        "objective = ExpAlpha(Mahalanobis(2), Recipe(threshold=2.0, margin=0.5))\n"
        "trainer = quiet_trainer(2, purity_every=1)\n"
        "trainer.fit(objective, datamodule=data)\n"
        "trainer.test(objective, datamodule=data, verbose=False)\n"
    ),
}


@pytest.mark.parametrize("code", USES.values(), ids=USES)
def test_training_prints_nothing(code: str) -> None:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("", "")


class Warns(pl.Callback):
    def on_train_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        logging.getLogger("pytorch_lightning.callbacks").warning("this disk is full")
        logging.getLogger("pytorch_lightning.callbacks").info("this is a disk")
        warnings.warn("the loss is odd", stacklevel=1)
        warnings.warn("perhaps more workers", PossibleUserWarning, stacklevel=1)


def test_warnings_are_heard(caplog: pytest.LogCaptureFixture) -> None:
    from supclust.data.datamodule import BlockDataModule
    from supclust.dissimilarity import LinearPair
    from supclust.objectives import MST, Recipe

    objective = MST(LinearPair(4), Recipe(threshold=0.0, margin=1.0))
    logger = logging.getLogger("pytorch_lightning")
    logger.addHandler(caplog.handler)  # it does not always hand its messages on
    try:
        trainer = quiet_trainer(1, callbacks=[Warns()])
        data = BlockDataModule(overlapping_parts("pairs", 1))
        with pytest.warns() as caught:
            trainer.fit(objective, datamodule=data)
    finally:
        logger.removeHandler(caplog.handler)
    assert "the loss is odd" in [str(warning.message) for warning in caught]
    assert "perhaps more workers" not in [str(warning.message) for warning in caught]
    assert {record.message for record in caplog.records} == {"this disk is full"}


def raises(error: BaseException, where: str) -> pl.Callback:
    """A callback that raises an error in one of its hooks."""

    def hook(*_: object, **__: object) -> None:
        raise error

    callback = pl.Callback()
    setattr(callback, where, hook)
    return callback


@pytest.mark.parametrize("where", ["setup", "on_train_epoch_end"])
@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(3)], ids=repr)
def test_an_interruption_reaches_the_caller_and_the_next_one_will(
    error: BaseException, where: str
) -> None:
    from supclust.data.datamodule import BlockDataModule
    from supclust.dissimilarity import LinearPair
    from supclust.objectives import MST, Recipe

    objective = MST(LinearPair(4), Recipe(threshold=0.0, margin=1.0))
    data = BlockDataModule(overlapping_parts("pairs", 1))
    trainer = quiet_trainer(1, callbacks=[raises(error, where)])
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may ignore it
    try:
        with pytest.raises(type(error)) as caught:
            trainer.fit(objective, datamodule=data)
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)
    assert getattr(caught.value, "code", None) == getattr(error, "code", None)


def fail_quietly() -> None:
    with quiet_lightning():
        raise KeyError


@pytest.mark.parametrize("level", [logging.INFO, logging.ERROR])
def test_levels_come_back_after_an_error(level: int, monkeypatch: pytest.MonkeyPatch) -> None:
    logger = logging.getLogger("pytorch_lightning")
    monkeypatch.setattr(logger, "level", level)
    with quiet_lightning():
        assert logger.level == max(level, logging.WARNING)  # never louder than asked for
    with pytest.raises(KeyError):
        fail_quietly()
    assert logger.level == level
