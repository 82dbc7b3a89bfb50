"""The ExpLink training loss (Eq. 4 and Sec. 4.3) as a differentiable function, in O(n^2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, get_args

import torch
from torch import Tensor

from supclust.losses.cpu.explink import solve
from supclust.losses.device.explink import solve_on_device
from supclust.losses.inputs import Blocks, as_blocks
from supclust.losses.parts import LossParts
from supclust.losses.terms import Competitors, Reduction, Terms, Ties, Variant, choose_terms

Kernel = Literal["auto", "cpu", "device"]


def explink_losses(
    dissimilarity: Tensor,
    labels: Tensor | Sequence[int],
    alpha: float | Tensor,
    *,
    variant: Variant = "ranking",
    threshold: float | None = None,
    margin: float | None = None,
    competitors: Competitors = "all",
    reduction: Reduction = "sum",
    lengths: Tensor | None = None,
    kernel: Kernel = "auto",
    ties: Ties = "one",
) -> Tensor:
    """ExpLink training loss of each block; arguments as `explink_loss`.

    Returns:
        (b,) losses in the dtype of the dissimilarities; (1,) for one matrix.

    >>> D = torch.tensor([[0.0, 3.0, 4.0], [3.0, 0.0, 2.0], [4.0, 2.0, 0.0]])
    >>> explink_losses(D, [0, 0, 1], alpha=0.0)  # 3 - 2
    tensor([1.])
    """
    return explink_loss_parts(
        dissimilarity, labels, alpha, variant=variant, threshold=threshold, margin=margin,
        competitors=competitors, reduction=reduction, lengths=lengths, kernel=kernel, ties=ties,
    ).total  # fmt: skip


def explink_loss_parts(
    dissimilarity: Tensor,
    labels: Tensor | Sequence[int],
    alpha: float | Tensor,
    *,
    variant: Variant = "ranking",
    threshold: float | None = None,
    margin: float | None = None,
    competitors: Competitors = "all",
    reduction: Reduction = "sum",
    lengths: Tensor | None = None,
    kernel: Kernel = "auto",
    ties: Ties = "one",
) -> LossParts:
    """`explink_losses` with their pure (within) and impure (across) parts, float64.

    A ranking term is a difference of the two, so this variant has no parts.
    """
    terms = choose_terms(variant, threshold, margin, competitors, reduction, ties)
    if kernel not in get_args(Kernel):
        raise ValueError(
            f"kernel must be one of {', '.join(get_args(Kernel))}; received {kernel!r}. "
            "Use 'auto' to follow the device of the input."
        )
    on_host = kernel == "cpu" or (kernel == "auto" and dissimilarity.device.type == "cpu")
    blocks = as_blocks(dissimilarity, labels, lengths, check=not on_host)
    alphas = _alphas(alpha, blocks.values)
    wanted = torch.is_grad_enabled() and (blocks.values.requires_grad or alphas.requires_grad)
    # Parts leave by the side: as outputs they would cost autograd 20 us, a tenth of a small block.
    parts: list[Tensor] = []
    losses: Tensor = _ExpLinkLosses.apply(  # type: ignore[no-untyped-call]
        blocks.values, alphas, blocks.labels, blocks.lengths, terms, on_host, wanted, parts
    )
    return LossParts(losses) if terms.ranking else LossParts(losses, *parts)


def explink_loss(
    dissimilarity: Tensor,
    labels: Tensor | Sequence[int],
    alpha: float | Tensor,
    *,
    variant: Variant = "ranking",
    threshold: float | None = None,
    margin: float | None = None,
    competitors: Competitors = "all",
    reduction: Reduction = "sum",
    lengths: Tensor | None = None,
    kernel: Kernel = "auto",
    ties: Ties = "one",
) -> Tensor:
    """Loss of training HAC, which makes only pure merges, always the lowest (Sec. 4.3).

    With h the linkage of a round's pure merge, Psi those of the impure pairs of clusters alive in
    it:

    * ranking (Eq. 4): sum over rounds and impure pairs of max(0, h - Psi);
    * threshold: sum over rounds of max(0, h - (tau - mu)), plus, over rounds and impure pairs with
      Psi < h, max(0, (tau + mu) - Psi).

    Args:
        dissimilarity: (n, n), or (b, n, n) for b blocks; symmetric, smaller is closer, of any sign.
            Diagonal and padding are not read. +inf is "never alike": harmless across clusters, and
            within one where alpha < 0 and the merge has a finite pair too; a pure merge at +inf
            makes the loss infinite (and has no gradient itself). NaN and -inf are refused.
        labels: (n,) or (b, n) integers: the ground-truth clusters.
        alpha: a number from -inf (single) over 0 (average) to inf (complete), a 0-dim tensor, or
            (b,), one per block.
        variant: "ranking" or "threshold".
        threshold: tau; needed by "threshold", not used by "ranking".
        margin: mu; likewise.
        competitors: "all" impure pairs alive in a round, or those "adjacent" to its pure merge,
            that is, with a cluster in common.
        reduction: "sum" of the active terms, or "mean": the pure and the impure part each over the
            number of its active terms. The paper's experiments are threshold, adjacent, mean.
        lengths: (b,) points per block; n everywhere by default.
        kernel: "auto" computes CPU tensors with the compiled kernel, blocks in parallel, and others
            with torch on their device; "cpu" and "device" fix the choice.
        ties: where alpha is infinite and several pairs of points attain the minimum or maximum
            that is a linkage, "one" of them has its gradient, or "every" one has it in full, as
            PyTorch's own minimum did before version 1.7, when the paper was made.

    Returns:
        0-dim sum of the blocks' losses; `explink_losses` gives them one by one. Blocks without
        a pure merge (one point, all singletons), of one cluster only or without a violation
        give 0.

    Ties between pure merges go to the pair whose smallest points come first. Linkages that differ
    by less than 1e-12 of the largest dissimilarity count as equal, hence as no violation.

    Complexity: O(n^2 log n) time and O(n^2) memory per block, value and gradients together, which
    the forward pass computes at once. The device kernel takes n sequential steps for the batch.

    Gradient: in the dissimilarities, half in either triangle, and in a finite alpha (0 for an
    infinite one). The order of the merges and the set of active terms have none. No second
    derivatives.

    >>> D = torch.tensor([[0.0, 3.0, 4.0], [3.0, 0.0, 2.0], [4.0, 2.0, 0.0]])
    >>> explink_loss(D, [0, 0, 1], alpha=0.0, variant="threshold", threshold=2.5, margin=0.5)
    tensor(2.)
    """
    return explink_losses(
        dissimilarity, labels, alpha, variant=variant, threshold=threshold, margin=margin,
        competitors=competitors, reduction=reduction, lengths=lengths, kernel=kernel, ties=ties,
    ).sum()  # fmt: skip


def _alphas(alpha: float | Tensor, batch: Tensor) -> Tensor:
    """(b,) float64 alpha of each block, connected to the graph of a learned one."""
    b = len(batch)
    given = torch.as_tensor(alpha, dtype=torch.float64)
    if given.ndim > 1 or (given.ndim == 1 and len(given) != b):
        raise ValueError(
            f"alpha must be one number or have shape ({b},), one per block; "
            f"received shape {tuple(given.shape)}. Pass one value for each block of the batch."
        )
    if bool(given.detach().isnan().any()):
        raise ValueError(
            f"alpha must be a number from -inf to inf; received {given.detach().tolist()}. "
            "A NaN here usually comes from a diverged training: lower the learning rate."
        )
    return given.to(batch.device).expand(b)


class _ExpLinkLosses(torch.autograd.Function):
    """(b,) losses; their gradients are computed along with them and kept, parts put aside."""

    @staticmethod
    def forward(
        ctx: Any, values: Tensor, alphas: Tensor, labels: Tensor, lengths: Tensor, terms: Terms,
        on_host: bool, wanted: bool, aside: list[Tensor],
    ) -> Tensor:  # fmt: skip
        blocks = Blocks(values.detach(), labels, lengths)
        run = _on_host if on_host else solve_on_device
        losses, parts, in_alpha, in_values = run(blocks, alphas.detach(), terms, wanted)
        if wanted:
            ctx.save_for_backward(values, alphas, in_values, in_alpha)
        aside += parts
        return losses.to(values.dtype)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        # A graph of the gradient is made on request only: it costs as much as all the rest here.
        scale: Any = _FirstDerivative.apply if torch.is_grad_enabled() else _scaled
        in_values, in_alpha = scale(grads[0], *ctx.saved_tensors)
        return in_values, in_alpha, None, None, None, None, None, None


def _scaled(
    grad: Tensor, values: Tensor, alphas: Tensor, in_values: Tensor, in_alpha: Tensor
) -> tuple[Tensor, Tensor]:
    return grad[:, None, None] * in_values, grad.double() * in_alpha


class _FirstDerivative(torch.autograd.Function):
    """Scale the stored gradients, as a function of the loss's inputs that refuses to be derived."""

    @staticmethod
    def forward(
        ctx: Any, grad: Tensor, values: Tensor, alphas: Tensor, in_values: Tensor, in_alpha: Tensor
    ) -> tuple[Tensor, Tensor]:
        return _scaled(grad, values, alphas, in_values, in_alpha)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, ...]:
        raise RuntimeError(
            "explink_loss can be differentiated once; received a request for its second derivative "
            "(create_graph=True, then backward through the gradient). "
            "Detach its gradient, or use finite differences of it."
        )


def _on_host(
    blocks: Blocks, alphas: Tensor, terms: Terms, gradient: bool
) -> tuple[Tensor, tuple[Tensor, Tensor], Tensor, Tensor | None]:
    """Run the compiled kernel, wherever the tensors are; results on their device."""
    values, labels, lengths, alpha = (t.cpu().contiguous().numpy() for t in (*blocks, alphas))
    solved = solve(values, labels, lengths, alpha, terms, gradient)
    device = blocks.values.device
    slopes = solved.in_dissimilarity
    return (
        torch.from_numpy(solved.losses).to(device),
        (torch.from_numpy(solved.pure).to(device), torch.from_numpy(solved.impure).to(device)),
        torch.from_numpy(solved.in_alpha).to(device),
        None if slopes is None else torch.from_numpy(slopes).to(device),
    )
