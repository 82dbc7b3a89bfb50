"""Losses, alpha and dev purity per epoch and split: summed, named for logs, kept for records."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from supclust.losses.hinge import LossParts

PARTS = ("", "_within", "_across")
"""Rows of `LossSums`, as suffixes: the loss and its two parts."""
CURVES = {
    "train_loss": "train",
    "dev_loss": "dev",
    **{f"{kind}{part}": f"{kind}{part}" for kind in ("train", "dev") for part in PARTS[1:]},
    "alpha_path": "alpha",
    "dev_purity": "dev_purity",
}
"""Key of a training's record -> key of an epoch."""
DIGITS = 7
"""Significant digits of a recorded curve: those of float32."""

Epoch = dict[str, Tensor]
"""(S,) values of one epoch: the keys are the values of `CURVES`, and ``active``."""


class LossSums:
    """Sums of the losses of an epoch per split.

    Args:
        n_splits: number of splits, S.
        device: of the losses.

    Attributes:
        values: (3, S) float64 sums: loss, within part, across part; NaN where a loss has no parts.

    >>> sums = LossSums(2)
    >>> sums.add(torch.tensor([1, 1]), LossParts(torch.tensor([1.0, 2.0])))
    >>> sums.values[0]
    tensor([0., 3.], dtype=torch.float64)
    """

    def __init__(self, n_splits: int, device: torch.device | str = "cpu") -> None:
        self.values = torch.zeros(len(PARTS), n_splits, dtype=torch.float64, device=device)

    def add(self, split_of_block: Tensor, losses: LossParts) -> None:
        """Add the (b,) losses of blocks, given the split of each."""
        total = losses.total.detach()
        rows = [total if part is None else part for part in (total, *losses[1:])]
        self.values.index_add_(1, split_of_block, torch.stack(rows).double())
        if losses.within is None:
            self.values[1:] = torch.nan


def epoch_of(train: Tensor, dev: Tensor, active: Tensor) -> Epoch:
    """An epoch from the (3, S) sums of its losses; NaN for splits that had stopped before it."""
    rows = {"train": train, "dev": dev}
    return {
        f"{kind}{part}": row
        for kind, sums in rows.items()
        for part, row in zip(PARTS, sums.masked_fill(~active, torch.nan).cpu(), strict=True)
    }


def metrics_of(epoch: Epoch, has_dev: Tensor, splits: Sequence[int]) -> dict[str, float]:
    """What is logged of an epoch: means over splits; values that do not exist are left out.

    Args:
        epoch: (S,) values.
        has_dev: (S,) bool; the training loss stands in for the dev loss of the others.
        splits: numbers of the splits; up to ten have an alpha logged for each.
    """
    values = {}
    for part in PARTS:
        train, dev = epoch[f"train{part}"], epoch[f"dev{part}"]
        values[f"train/loss{part}"] = train
        values[f"dev/loss{part}"] = torch.where(has_dev, dev, train)
    if "alpha" in epoch:
        values["alpha/mean"] = epoch["alpha"]
        if len(splits) <= 10:
            names = (f"alpha/split-{split}" for split in splits)
            values |= dict(zip(names, epoch["alpha"].unbind(), strict=True))
    values["dev/purity"] = epoch["dev_purity"]
    means = {name: float(value.nanmean()) for name, value in values.items()}
    present = {name: mean for name, mean in means.items() if not math.isnan(mean)}
    return {**present, "splits/active": float(epoch["active"].sum())}


def curves(history: Sequence[Epoch], position: int) -> dict[str, list[float | None] | None]:
    """Curves of one split for its record; ``None`` for a value, or a curve, that does not exist.

    Losses are kept in full, the others with `DIGITS` digits.

    Args:
        history: epochs up to the last one of the split.
        position: of the split.
    """
    by_name: dict[str, list[float | None] | None] = {}
    for name, key in CURVES.items():
        column = [float(epoch[key][position]) if key in epoch else math.nan for epoch in history]
        if name.endswith("loss"):
            by_name[name] = list(column)
            continue
        values = [None if math.isnan(x) else float(f"{x:.{DIGITS}g}") for x in column]
        by_name[name] = None if all(value is None for value in values) else values
    return by_name


def pack(history: Sequence[Epoch]) -> dict[str, Tensor]:
    """The history as (epochs, S) tensors, for a checkpoint."""
    keys = history[0] if history else ()
    return {key: torch.stack([epoch[key] for epoch in history]) for key in keys}


def unpack(packed: Mapping[str, Tensor]) -> list[Epoch]:
    """The inverse of `pack`."""
    rows = [values.unbind() for values in packed.values()]
    return [dict(zip(packed, values, strict=True)) for values in zip(*rows, strict=True)]
