"""The ExpLink training loss (Eq. 4 and Sec. 4.3) as a differentiable function, in O(n^2)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeAlias

import torch
from torch import Tensor

from supclust.hac.family import alphas_of_blocks
from supclust.hac.validation import check_tensor
from supclust.losses.hinge import (
    Competitors,
    LossParts,
    Reduction,
    Terms,
    Ties,
    Variant,
    check_choice,
    choose_terms,
)
from supclust.losses.inputs import (
    BlockReduction,
    Blocks,
    Labels,
    Unlabelled,
    as_blocks,
    reduce_blocks,
    strangers_of,
)

Kernel: TypeAlias = Literal["auto", "cpu", "device"]


def explink_loss(
    dissimilarity: Tensor,
    labels: Labels,
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
    block_reduction: BlockReduction = "sum",
    unlabelled: Unlabelled = "cluster",
) -> Tensor:
    """Loss of training HAC, which makes only pure merges, always the lowest (Sec. 4.3).

    With h the linkage of a round's pure merge, Psi those of the impure pairs of clusters alive in
    it:

    * ranking (Eq. 4): sum over rounds and impure pairs of max(0, h - Psi);
    * threshold: sum over rounds of max(0, h - (tau - mu)), plus, over rounds and impure pairs with
      Psi < h, max(0, (tau + mu) - Psi).

    Args:
        dissimilarity: (n, n), or (b, n, n) for b blocks; symmetric, smaller is closer, of any sign.
            Diagonal and padding are ignored. +inf is "never alike": harmless across clusters, and
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
            PyTorch's own minimum did before version 1.7, when the paper was written.
        block_reduction: "sum" over blocks, or "none" for one loss per block.
        unlabelled: what the label -1 means: a "cluster" like any other; or a point of some "other"
            cluster, not one of the labelled ones: it is across from all labelled points, and pairs
            of two such points count nowhere.

    Returns:
        0-dim sum of the blocks' losses, or (b,) losses. Blocks without a pure merge (one point,
        all singletons), of one cluster only or without a violation give 0.

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
    terms = choose_terms(variant, threshold, margin, competitors, reduction, ties)
    blocks = as_blocks(
        *(dissimilarity, labels, lengths),
        check=not _on_host(kernel, dissimilarity),
        strangers=strangers_of(labels, unlabelled),
    )
    return reduce_blocks(explink_parts(blocks, alpha, terms, kernel).total, block_reduction)


def explink_parts(
    blocks: Blocks, alpha: float | Tensor, terms: Terms, kernel: Kernel = "auto"
) -> LossParts:
    """`explink_loss` of each block, (b,), with its pure (within) and impure (across) parts.

    A ranking term is a difference of the two, so this variant has no parts. The device kernel
    trusts the values of the blocks.
    """
    on_host = _on_host(kernel, blocks.values)
    alphas = alphas_of_blocks(torch.as_tensor(alpha, dtype=torch.float64), blocks.values)
    gradient = torch.is_grad_enabled() and (blocks.values.requires_grad or alphas.requires_grad)
    # Not outputs of the autograd function: that would cost 20 us, a tenth of a small block.
    parts: list[Tensor] = []
    apply: Callable[..., Tensor] = _ExpLinkLosses.apply
    losses = apply(blocks.values, alphas, blocks, terms, on_host, gradient, parts)
    return LossParts(losses) if terms.ranking else LossParts(losses, *parts)


def _on_host(kernel: Kernel, values: Tensor) -> bool:
    """Whether the compiled CPU kernel computes the loss."""
    check_choice("kernel", kernel, ("auto", "cpu", "device"))
    check_tensor(values)
    return kernel == "cpu" or (kernel == "auto" and values.device.type == "cpu")


class _ExpLinkLosses(torch.autograd.Function):
    """(b,) losses; gradients are computed along with them and kept; parts go into a list."""

    @staticmethod
    def forward(
        ctx: Any, values: Tensor, alphas: Tensor, blocks: Blocks, terms: Terms,
        on_host: bool, gradient: bool, parts: list[Tensor],
    ) -> Tensor:  # fmt: skip
        if on_host:
            from supclust.losses.cpu.explink import solve
        else:
            from supclust.losses.device.explink import solve
        detached = blocks._replace(values=values.detach())
        solution = solve(detached, alphas.detach(), terms, gradient)
        if gradient:
            ctx.save_for_backward(values, alphas, solution.in_values, solution.in_alpha)
        parts += [solution.pure, solution.impure]
        return solution.losses.to(values.dtype)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        # With create_graph only: this graph costs as much as the rest of the backward pass.
        scale: Any = _FirstDerivative.apply if torch.is_grad_enabled() else _scaled
        in_values, in_alpha = scale(grads[0], *ctx.saved_tensors)
        return in_values, in_alpha, None, None, None, None, None


def _scaled(
    grad: Tensor, values: Tensor, alphas: Tensor, in_values: Tensor, in_alpha: Tensor
) -> tuple[Tensor, Tensor]:
    """Gradients in values and alphas: the stored ones times the gradient of the losses."""
    return grad[:, None, None] * in_values, grad.double() * in_alpha


class _FirstDerivative(torch.autograd.Function):
    """`_scaled` as a node of the graph that refuses a second derivative in the loss's inputs."""

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
