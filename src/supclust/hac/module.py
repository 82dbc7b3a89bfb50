"""`ExpLinkHAC`: the one module that turns dissimilarities into trees, over both kernels."""

from __future__ import annotations

import math
from typing import Any, Literal, get_args

import numpy as np
import torch
from torch import Tensor, nn

from supclust.hac.cpu.forest import build_forest
from supclust.hac.dendrogram import Dendrogram
from supclust.hac.family import alpha_of, alphas_of_blocks, check_alpha, nearest_linkage
from supclust.hac.validation import as_batch, check_batch, check_lengths

Kernel = Literal["auto", "cpu", "device"]


class ExpLinkHAC(nn.Module):
    """Hierarchical clustering with exponential linkage, alpha fixed or learned.

    Psi(u, v) = sum exp(alpha f) f / sum exp(alpha f) over the pairs between clusters u and v (Sec.
    4.1): single linkage at alpha = -inf, average at 0, complete at +inf.

    Args:
        alpha: a number from -inf to inf, or "single", "average", "complete".
        learn_alpha: make ``alpha`` a parameter, which must then be finite; a buffer otherwise.
        kernel: "auto" builds trees of CPU tensors with the compiled chain kernel, blocks in
            parallel, and of other tensors with torch rounds on their device; "cpu" and "device" fix
            the choice.

    >>> D = torch.tensor([[0.0, 1.0, 4.0], [1.0, 0.0, 2.0], [4.0, 2.0, 0.0]])
    >>> ExpLinkHAC("average")(D).heights
    tensor([[1., 3.]])
    """

    alpha: Tensor

    def __init__(
        self, alpha: float | str, learn_alpha: bool = False, kernel: Kernel = "auto"
    ) -> None:
        super().__init__()
        value = alpha_of(alpha) if isinstance(alpha, str) else check_alpha(alpha)
        if learn_alpha and math.isinf(value):
            raise ValueError(
                f"a learned alpha must start from a finite number; received {value}. "
                "Start from e.g. alpha=0.0, or keep it fixed with learn_alpha=False."
            )
        if kernel not in get_args(Kernel):
            raise ValueError(
                f"kernel must be one of {', '.join(get_args(Kernel))}; received {kernel!r}. "
                "Use 'auto' to follow the device of the input."
            )
        self.kernel = kernel
        # float64: as a buffer alpha must not depend on the default dtype of the moment.
        start = torch.tensor(value, dtype=None if learn_alpha else torch.float64)
        if learn_alpha:
            self.alpha = nn.Parameter(start)
        else:
            self.register_buffer("alpha", start)

    def forward(
        self,
        dissimilarity: Tensor,
        lengths: Tensor | None = None,
        alpha: float | Tensor | None = None,
    ) -> Dendrogram:
        """Build the tree of every block.

        Args:
            dissimilarity: (b, n, n), or (n, n) for one block; symmetric, smaller is closer; +inf is
                "never alike", NaN and -inf are refused. Diagonal and padding are not read.
            lengths: (b,) points per block, 0 to n. Default: n everywhere.
            alpha: overrides the module's: a number, a 0-dim tensor, or (b,), one per block.

        Returns:
            Dendrogram of b blocks on the input's device, heights in its dtype.

        Complexity: O(b n^2).

        Gradient: where the dissimilarities or alpha require it, heights are differentiable in both
        (see `merge_heights`); the topology never is.
        """
        batch = as_batch(dissimilarity)
        lengths = check_lengths(lengths, batch)
        alphas = alphas_of_blocks(self.alpha if alpha is None else _real_alpha(alpha), batch)
        tree = self._build(batch.detach(), lengths, alphas.detach())
        if not (torch.is_grad_enabled() and (batch.requires_grad or alphas.requires_grad)):
            return tree
        from supclust.hac.heights import merge_heights

        heights = _sorted(merge_heights(batch, tree, alphas), tree.valid)
        return Dendrogram(tree.children, heights, tree.sizes, tree.lengths)

    def _build(self, batch: Tensor, lengths: Tensor, alphas: Tensor) -> Dendrogram:
        on_host = self.kernel == "cpu" or (self.kernel == "auto" and batch.device.type == "cpu")
        if not on_host:
            from supclust.hac.device.reciprocal_pairs import rounds_tree

            check_batch(batch, lengths)
            return rounds_tree(batch, lengths, alphas)
        # The host kernel checks each block while it reads it.
        arrays = build_forest(*(tensor.cpu().numpy() for tensor in (batch, lengths, alphas)))
        children, heights, sizes = (torch.from_numpy(a).to(batch.device) for a in arrays)
        return Dendrogram(children, heights, sizes, lengths)

    def extra_repr(self) -> str:
        """Alpha, the linkage it is nearest to, and the kernel."""
        value = float(self.alpha.detach())
        learned = isinstance(self.alpha, nn.Parameter)
        return (
            f"alpha={value:.4g} (nearest {nearest_linkage(value)}), "
            f"learn_alpha={learned}, kernel={self.kernel}"
        )


def _real_alpha(alpha: Any) -> Tensor:
    """float64 tensor of an alpha given to ``forward``, connected to its graph."""
    try:
        # Asked first: the conversion would drop an imaginary part.
        lost = alpha.is_complex() if isinstance(alpha, Tensor) else np.iscomplexobj(alpha)
        value = None if lost else torch.as_tensor(alpha, dtype=torch.float64)
    except (TypeError, ValueError, RuntimeError):
        value = None
    if value is None:
        raise ValueError(
            f"alpha must be a number from -inf to inf, or one per block; received {alpha!r}. "
            'A name belongs where the module is made, e.g. ExpLinkHAC("single").'
        )
    return value


def _sorted(heights: Tensor, valid: Tensor) -> Tensor:
    """Lift heights that rounding left below an earlier one, without moving any gradient."""
    with torch.no_grad():
        top = heights.cummax(dim=1).values
        # Where nothing is to be lifted the difference may be inf - inf.
        lift = torch.where(valid & (heights < top), top - heights, 0.0)
    return heights + lift
