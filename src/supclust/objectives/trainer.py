"""A Lightning trainer without the parts that cost more than a step of ours."""

from __future__ import annotations

from typing import Any

import pytorch_lightning as pl


def quiet_trainer(
    max_epochs: int, *, purity_every: int | None = None, **options: Any
) -> pl.Trainer:
    """Make a trainer for `Objective`: no logger, bar, summary or checkpoints unless asked for.

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
    return pl.Trainer(max_epochs=max_epochs, **{**settings, **options})
