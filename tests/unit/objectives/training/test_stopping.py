"""The stopping rule, split by split, against the rule written out."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from supclust.objectives.training.stopping import Plateau


def stops_at(losses: np.ndarray, window: int, tolerance: float) -> int:
    """Epochs until one dev loss is near the mean of the ones before, one split."""
    for epoch in range(window, len(losses)):
        mean = np.mean(losses[epoch - window : epoch])
        if abs(losses[epoch] - mean) <= tolerance * abs(mean):
            return epoch + 1
    return len(losses)


@pytest.mark.parametrize("window", [1, 3, 10])
def test_every_split_stops_by_its_own_losses(window: int, rng: np.random.Generator) -> None:
    epochs, n_splits = 60, 20
    decay = np.exp(-np.arange(epochs)[:, None] * rng.uniform(0.05, 0.5, n_splits))
    losses = (decay + 1.0 + rng.normal(scale=1e-3, size=decay.shape)) * rng.choice(
        [-1, 1], n_splits
    )
    rule = Plateau(n_splits, window, tolerance=0.01)
    for row in losses:
        rule.update(torch.tensor(row))
    expected = [stops_at(losses[:, s], window, 0.01) for s in range(n_splits)]
    assert rule.epochs.tolist() == expected
    assert len(set(expected)) > 3
    assert rule.active.tolist() == [e == epochs for e in expected]


def test_a_loss_of_zero_stops() -> None:
    rule = Plateau(1, window=10)
    for _ in range(11):
        rule.update(torch.zeros(1))
    assert rule.epochs.item() == 11 and not rule.active.any()


def test_losses_of_stopped_splits_are_not_looked_at() -> None:
    rule = Plateau(2, window=1)
    rule.update(torch.tensor([1.0, 1.0]))
    rule.update(torch.tensor([1.0, 2.0]))
    assert rule.active.tolist() == [False, True]
    rule.update(torch.tensor([torch.nan, 4.0]))
    assert rule.epochs.tolist() == [2, 3] and rule.history.isfinite().all()


def test_tolerance_zero_never_stops() -> None:
    rule = Plateau(1, window=1, tolerance=0.0)
    for _ in range(5):
        rule.update(torch.zeros(1))
    assert rule.active.all()


def test_state_survives_saving() -> None:
    rule, resumed = Plateau(2, window=2), Plateau(2, window=2)
    for losses in ([3.0, 1.0], [1.0, 2.0]):
        rule.update(torch.tensor(losses))
    resumed.load_state_dict(rule.state_dict())
    assert resumed.update(torch.tensor([2.0, 9.0])).tolist() == [False, True]


def test_nonsense_settings_are_refused() -> None:
    with pytest.raises(ValueError, match="window must be >= 1"):
        Plateau(1, window=0)
