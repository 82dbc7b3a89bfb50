"""Losses of an epoch, and their parts, summed per split."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from supclust.losses.hinge import LossParts

TOTAL = 0  # row of the sums; the others are the parts
_SUFFIXES = ("", "_within", "_across")


class EpochSums:
    """Adds up the losses of the steps of an epoch.

    A step only files its parts: they are added when they are read, once an epoch.

    Args:
        n_splits: number of splits, S.
        device: of the losses.

    >>> sums = EpochSums(2)
    >>> sums.add(torch.tensor([1, 1]), LossParts(torch.tensor([1.0, 2.0])))
    >>> sums.read()[TOTAL]
    tensor([0., 3.], dtype=torch.float64)
    """

    def __init__(self, n_splits: int, device: torch.device | str = "cpu") -> None:
        self._total = torch.zeros(n_splits, dtype=torch.float64, device=device)
        self._filed: list[tuple[Tensor, LossParts]] = []

    def add(self, split_of_block: Tensor, losses: LossParts) -> None:
        """Take the losses of a step, (b,), and the split of each."""
        total = losses.total.detach()
        self._total.index_add_(0, split_of_block, total.double())
        self._filed.append((split_of_block, losses._replace(total=total)))

    def read(self) -> Tensor:
        """(3, S) float64 sums: total, within part, across part; NaN where a loss has no parts."""
        rows = [self._total]
        splits = [split for split, _ in self._filed]
        for parts in ([p.within for _, p in self._filed], [p.across for _, p in self._filed]):
            known = [part for part in parts if part is not None]
            row = torch.zeros_like(self._total)
            if known and len(known) == len(parts):
                row.index_add_(0, torch.cat(splits), torch.cat(known).double())
            elif parts:
                row.fill_(torch.nan)
            rows.append(row)
        return torch.stack(rows)


def times(losses: LossParts, unit: Tensor) -> LossParts:
    """Losses and their parts, (b,) each, times the (b,) units they were computed in."""
    within, across = (part if part is None else part * unit for part in losses[1:])
    return LossParts(losses.total * unit, within, across)


def parts_by_name(kind: str, sums: Tensor) -> dict[str, Tensor]:
    """The (S,) parts among (3, S) sums as ``train_within`` and ``train_across``."""
    return {f"{kind}{suffix}": row for suffix, row in zip(_SUFFIXES[1:], sums[1:], strict=True)}


def means_by_name(kind: str, sums: Tensor) -> dict[str, float]:
    """Means over splits as ``train/loss``, ``train/loss_within``, ``train/loss_across``.

    Parts that do not exist are left out; NaN marks splits that have stopped.
    """
    means = zip(_SUFFIXES, sums.nanmean(dim=1).tolist(), strict=True)
    return {f"{kind}/loss{part}": m for part, m in means if not (part and math.isnan(m))}
