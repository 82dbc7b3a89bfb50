"""A standard Adam for S models that are stacked along the first axis of every parameter."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch
from torch import Tensor, nn


class SplitAdamRows:
    """The rows of stacked parameters as parameters of one ``torch.optim.Adam``.

    Row s shares the memory of row s of its stacked parameter, so a step of Adam updates the stacked
    parameter in place. Adam skips parameters whose gradient is ``None``: a row that receives none
    keeps its values (no weight decay), its moments and its step count. Every split is therefore
    optimised exactly as by an Adam of its own.

    Args:
        groups: parameter groups of ``torch.optim.Adam``; every parameter is (S, ...).

    Attributes:
        optimizer: the Adam over all rows.
    """

    def __init__(self, groups: Iterable[dict[str, Any]]) -> None:
        groups = [dict(group) for group in groups]
        self.stacked: list[nn.Parameter] = [p for group in groups for p in group["params"]]
        self._rows = [[nn.Parameter(row) for row in p.detach().unbind()] for p in self.stacked]
        remaining = iter(self._rows)
        for group in groups:
            group["params"] = [row for _ in group["params"] for row in next(remaining)]
        # foreach: one call per operation instead of one per row and operation.
        self.optimizer = torch.optim.Adam(groups, foreach=True)

    @torch.no_grad()
    def step(self, active: Tensor, step: Callable[[], Any] | None = None) -> list[int]:
        """Step the rows of active splits with the gradients of the stacked parameters.

        A gradient of ``None`` counts as zero. A step that is not finite changes no parameter.

        Args:
            active: (S,) bool.
            step: what to call instead of ``optimizer.step``, as Lightning's wrapper of it.

        Returns:
            Positions of the splits whose step is not finite; normally none.
        """
        gradients = [torch.zeros_like(p) if p.grad is None else p.grad for p in self.stacked]
        # Adam squares gradients: a square that overflows would freeze the parameter silently.
        if bad := _non_finite([g.square() for g in gradients], active):
            return bad
        chosen = active.tolist()
        for rows, gradient in zip(self._rows, gradients, strict=True):
            for row, own, moves in zip(rows, gradient.unbind(), chosen, strict=True):
                row.grad = own if moves else None
        before = [p.clone() for p in self.stacked]
        (step or self.optimizer.step)()
        if bad := _non_finite(self.stacked, active):
            for p, old in zip(self.stacked, before, strict=True):
                p.copy_(old)
        return bad


def _non_finite(stacked: Sequence[Tensor], active: Tensor) -> list[int]:
    """Positions of active splits with a non-finite entry in any of the (S, ...) tensors."""
    # A finite sum has finite terms; the converse may fail by overflow, so entries decide below.
    if bool(torch.stack([t.sum().double() for t in stacked]).isfinite().all()):
        return []
    finite = torch.stack([t.isfinite().reshape(len(t), -1).all(dim=1) for t in stacked]).all(dim=0)
    positions: list[int] = (~finite & active).nonzero()[:, 0].tolist()
    return positions
