"""Lines about a training, for people who ask for them (``verbose``)."""

from __future__ import annotations

import pytorch_lightning as pl

from supclust.objectives import Objective


class EpochLines(pl.Callback):
    """Prints losses and alpha every so many epochs, and at the end.

    Args:
        every: epochs between two lines.
    """

    def __init__(self, every: int = 25) -> None:
        self.every = int(every)

    def on_train_epoch_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Print one line in ``every``."""
        if (trainer.current_epoch + 1) % self.every == 0:
            self._print(trainer.current_epoch + 1, trainer, pl_module)

    def on_train_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Print the last epoch."""
        if trainer.current_epoch % self.every:
            self._print(trainer.current_epoch, trainer, pl_module)

    def _print(self, epoch: int, trainer: pl.Trainer, module: pl.LightningModule) -> None:
        parts = [f"epoch {epoch}/{trainer.max_epochs}"]
        if isinstance(module, Objective) and module.history:
            parts += [f"{part} loss {float(v[0]):.4g}" for part, v in module.history[-1].items()]
            if module.learns_alpha:
                parts.append(f"alpha {float(module.alpha.detach()[0]):.3f}")
        print("  ".join(parts), flush=True)
