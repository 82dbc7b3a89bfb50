"""`SplitAdam`: Adam for S models stacked along the first axis of every parameter."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.optim import Optimizer


class NonFiniteUpdateError(FloatingPointError):
    """A step would have made parameters non-finite; none has been changed.

    Attributes:
        splits: positions of the splits concerned.
    """

    def __init__(self, splits: list[int]) -> None:
        super().__init__(f"the update of split(s) at position {splits} is not finite")
        self.splits = splits


class _Update(NamedTuple):
    parameter: Tensor
    value: Tensor
    state: dict[str, Tensor]


class SplitAdam(Optimizer):
    """Adam that steps only the active splits, each with its own step count.

    Row s of every parameter goes through exactly the arithmetic of ``torch.optim.Adam`` (weight
    decay is L2, added to the gradient) whenever split s is active, and does not move otherwise:
    not its values, its moments, nor its step count. A gradient of ``None`` counts as zero.

    Args:
        params: parameters with a leading axis of length S, or groups of them.
        lr: learning rate.
        betas: decay of the two moments.
        eps: added to the root of the second moment.
        weight_decay: factor of the L2 term.

    >>> p = torch.nn.Parameter(torch.zeros(2, 3))
    >>> p.grad = torch.ones(2, 3)
    >>> SplitAdam([p], lr=0.5).step(active=torch.tensor([True, False]))
    >>> p.detach()[:, 0]
    tensor([-0.5000,  0.0000])
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
    ) -> None:
        if lr < 0 or eps < 0 or weight_decay < 0 or not all(0 <= beta < 1 for beta in betas):
            raise ValueError(
                "lr, eps and weight_decay must be >= 0 and betas in [0, 1); "
                f"received {lr=}, {eps=}, {weight_decay=}, {betas=}."
            )
        defaults = {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay}
        super().__init__(params, defaults)

    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None, active: Tensor | None = None) -> Any:
        """Update the active splits; a step that diverges changes nothing and raises.

        Args:
            closure: evaluated first, with gradients on; its result is returned.
            active: (S,) bool. Default: all.
        """
        result = None
        if closure is not None:
            with torch.enable_grad():
                result = closure()
        updates = [update for group in self.param_groups for update in self._updates(group, active)]
        _refuse_non_finite(updates)
        for update in updates:
            update.parameter.copy_(update.value)
            self.state[update.parameter] = update.state
        return result

    def _updates(self, group: dict[str, Any], active: Tensor | None) -> list[_Update]:
        """New values of a group; its parameters step together, so they share their step count."""
        (beta1, beta2), first = group["betas"], group["params"][0]
        old = self.state[first].get("step")
        if old is None:
            old = torch.zeros(len(first), dtype=torch.float64, device=first.device)
        moves = torch.ones_like(old, dtype=torch.bool) if active is None else active
        step = old + moves
        age = step.clamp(min=1.0)  # a split that never stepped would divide by zero
        rate, root = group["lr"] / (1 - beta1**age), (1 - beta2**age).sqrt()
        return [self._update(p, group, moves, step, rate, root) for p in group["params"]]

    def _update(
        self,
        p: Tensor,
        group: dict[str, Any],
        moves: Tensor,
        step: Tensor,
        rate: Tensor,
        root: Tensor,
    ) -> _Update:
        (beta1, beta2), state = group["betas"], self.state[p]
        old_first = state["exp_avg"] if state else torch.zeros_like(p)
        old_second = state["exp_avg_sq"] if state else torch.zeros_like(p)
        gradient = torch.zeros_like(p) if p.grad is None else p.grad
        if group["weight_decay"]:
            gradient = gradient.add(p, alpha=group["weight_decay"])
        shape = (-1,) + (1,) * (p.ndim - 1)
        first = old_first.lerp(gradient, 1 - beta1)
        second = (old_second * beta2).addcmul_(gradient, gradient, value=1 - beta2)
        spread = (second.sqrt() / root.to(p.dtype).view(shape)).add_(group["eps"])
        value = p - rate.to(p.dtype).view(shape) * first / spread
        moves = moves.view(shape)
        return _Update(
            p,
            torch.where(moves, value, p),
            {
                "step": step,
                "exp_avg": torch.where(moves, first, old_first),
                "exp_avg_sq": torch.where(moves, second, old_second),
            },
        )


def _refuse_non_finite(updates: list[_Update]) -> None:
    # A sum is finite exactly if all its terms are, short of an overflow that is looked into below.
    total = sum(
        (update.value.sum() + update.state["exp_avg_sq"].sum()).double() for update in updates
    )
    if not updates or bool(torch.as_tensor(total).isfinite()):
        return
    bad: set[int] = set()
    for update in updates:
        for tensor in (update.value, update.state["exp_avg_sq"]):
            finite = tensor.isfinite().reshape(len(tensor), -1).all(dim=1)
            bad |= set((~finite).nonzero()[:, 0].tolist())
    if bad:
        raise NonFiniteUpdateError(sorted(bad))
