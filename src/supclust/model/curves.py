"""The curves of one split's training, as they are kept in its record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor

DIGITS = 7
"""Significant digits of a curve: those of float32, and as many as a picture needs."""

# Key of the record -> key of the objective's details.
CURVES = {
    "train_within": "train_within",
    "train_across": "train_across",
    "dev_within": "dev_within",
    "dev_across": "dev_across",
    "alpha_path": "alpha",
    "dev_purity": "dev_purity",
}


def curves(
    details: Sequence[Mapping[str, Tensor]], position: int
) -> dict[str, list[float | None] | None]:
    """One value per epoch of each curve; ``None`` for a value, or a curve, that there is not.

    Args:
        details: of the objective, up to the last epoch of the split.
        position: of the split.
    """
    return {name: _curve([e.get(key) for e in details], position) for name, key in CURVES.items()}


def _curve(epochs: Sequence[Tensor | None], position: int) -> list[float | None] | None:
    values = [None if epoch is None else _rounded(float(epoch[position])) for epoch in epochs]
    return None if all(value is None for value in values) else values


def _rounded(value: float) -> float | None:
    return float(f"{value:.{DIGITS}g}") if value == value else None
