"""Merge heights as a differentiable function of dissimilarities and alpha, for a given topology.

Every pair of points meets at exactly one merge, their lowest common ancestor (LCA). Lay the leaves
out in tree order: the LCA of two positions is the highest merge among the gaps between them, so a
running maximum finds all of them, and the height of a merge is a softmax mean over its pairs.
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from supclust.hac.dendrogram import Dendrogram
from supclust.kernels import kernel

INF = float("inf")
Ints = NDArray[np.int64]


def merge_heights(
    dissimilarity: Tensor, dendrogram: Dendrogram, alpha: float | Tensor = 0.0
) -> Tensor:
    """Recompute the height of every merge from the dissimilarities.

    Psi_k = sum exp(alpha f_ij) f_ij / sum exp(alpha f_ij) over the pairs i, j that meet at merge k,
    with f_ij = (D_ij + D_ji) / 2; the smallest f_ij for alpha = -inf, the largest for +inf.

    Args:
        dissimilarity: (b, n, n); +inf is ignored for alpha < 0 unless all pairs of a merge are
            infinite, and makes the height infinite for alpha >= 0. Diagonal and padding are not
            read.
        dendrogram: b trees padded to n points, on the same device; only the topology is used.
        alpha: one number, a 0-dim tensor, or (b,), one per block; any from -inf to inf.

    Returns:
        (b, n - 1) heights, 0 in padding. Not forced to be sorted: for another tree than the one
        these dissimilarities give, they need not be.

    Complexity: O(b n^2) time and memory; O(b n) of it on the host, for the leaf order.

    Gradient: in the dissimilarities, half to [i, j] and half to [j, i], and in a finite alpha:
    dPsi/df = w (1 + alpha (f - Psi)), dPsi/dalpha = sum w f^2 - Psi^2, w the softmax weights. For
    alpha = +-inf it goes to the extreme pair with the smallest (i, j). An infinite height has none.

    >>> D = torch.tensor([[[0.0, 1.0, 4.0], [1.0, 0.0, 2.0], [4.0, 2.0, 0.0]]])
    >>> tree = Dendrogram(torch.tensor([[[0, 1], [2, 3]]]), *torch.ones(2, 1, 2), torch.tensor([3]))
    >>> merge_heights(D, tree, alpha=float("inf"))
    tensor([[1., 4.]])
    """
    b, n, _ = dissimilarity.shape
    alphas = torch.as_tensor(alpha, dtype=dissimilarity.dtype, device=dissimilarity.device).expand(
        b
    )
    endless = alphas.detach().isinf()
    meeting, code = _meeting_merges(dissimilarity, dendrogram)
    pairs = _pair_values(dissimilarity, code)
    heights = pairs.new_zeros(b, n)  # the last row collects padding
    if not bool(endless.all()):
        heights = _softmax_means(pairs, meeting, alphas.masked_fill(endless, 0.0), n)
    if bool(endless.any()):
        extremes = _extremes(pairs, meeting, code, alphas, n)
        heights = torch.where(endless[:, None], extremes, heights)
    return torch.where(dendrogram.valid, heights[:, :-1], 0.0)


def _meeting_merges(dissimilarity: Tensor, dendrogram: Dendrogram) -> tuple[Tensor, Tensor]:
    """Merge at which each pair meets, and the pair's code i n + j with i < j, both (b, e).

    Pairs with a padded point meet in row n - 1, one beyond the merges.
    """
    n = dissimilarity.shape[1]
    device = dissimilarity.device
    host = dendrogram.cpu()
    order_array, gap_array = _leaf_order(host.children.numpy(), host.lengths.numpy())
    order = torch.from_numpy(order_array).to(device)  # (b, n): the point at each position
    gaps = torch.from_numpy(gap_array).to(device)  # (b, n): merge that joins position p - 1 to p
    position = torch.arange(n, device=device)
    after = position > position[:, None]  # (n, n)
    # int32 halves the largest temporary of this function.
    between = torch.where(after, gaps.to(torch.int32)[:, None, :], -1)
    first, second = torch.triu_indices(n, n, 1, device=device)
    meeting = between.cummax(dim=2).values[:, first, second].to(torch.int64)
    one, other = order[:, first], order[:, second]
    return meeting, torch.minimum(one, other) * n + torch.maximum(one, other)


def _pair_values(dissimilarity: Tensor, code: Tensor) -> Tensor:
    """f_ij = (D_ij + D_ji) / 2 of the coded pairs, (b, e)."""
    n = dissimilarity.shape[1]
    flat = dissimilarity.flatten(1)
    mirrored = code % n * n + code // n
    return 0.5 * flat.gather(1, code) + 0.5 * flat.gather(1, mirrored)


def _softmax_means(pairs: Tensor, meeting: Tensor, alphas: Tensor, n: int) -> Tensor:
    """(b, n) softmax mean of the pairs of each merge, for finite alphas.

    Values enter relative to the merge's heaviest pair, so that no exponent is positive and a mean
    near 3000 does not lose digits to its own size.
    """
    finite = pairs.isfinite()
    falling = (alphas < 0)[:, None]
    sign = torch.where(falling, -1.0, 1.0).to(pairs.dtype)
    with torch.no_grad():
        signed = torch.where(finite, sign * pairs, -INF)
        heaviest = sign * _reduced(signed, meeting, n, "amax", -INF)  # (b, n)
        heaviest = torch.where(heaviest.isfinite(), heaviest, 0.0)
    reference = heaviest.gather(1, meeting)
    beyond = torch.where(finite, pairs - reference, 0.0)  # 0 keeps the gradient of exp finite
    weight = torch.where(finite, torch.exp(alphas[:, None] * beyond), 0.0)
    zeros = torch.zeros_like(heaviest)
    total = zeros.scatter_add(1, meeting, weight)
    moment = zeros.scatter_add(1, meeting, weight * beyond)
    mean = heaviest + moment / torch.where(total > 0, total, 1.0)
    some_infinite = _reduced(finite.to(pairs.dtype), meeting, n, "amin", 1.0) == 0
    infinite = (total == 0) | (some_infinite & ~falling)
    return torch.where(infinite, INF, mean)


def _extremes(pairs: Tensor, meeting: Tensor, code: Tensor, alphas: Tensor, n: int) -> Tensor:
    """(b, n) smallest (alpha < 0) or largest pair of each merge; gradient to the first such."""
    sign = torch.where(alphas < 0, 1.0, -1.0).to(pairs.dtype)[:, None]
    with torch.no_grad():
        signed = sign * pairs
        best = _reduced(signed, meeting, n, "amin", INF)
        tied = signed == best.gather(1, meeting)
        none = n * n  # beyond every code
        first_code = _reduced(torch.where(tied, code, none), meeting, n, "amin", none)
        chosen = tied & (code == first_code.gather(1, meeting))
    picked = torch.where(chosen, pairs, 0.0)
    return torch.where(best.isinf(), INF, torch.zeros_like(best).scatter_add(1, meeting, picked))


def _reduced(values: Tensor, meeting: Tensor, n: int, how: str, start: float) -> Tensor:
    """Reduce the (b, e) values of each merge to (b, n); merges without a pair keep ``start``."""
    return values.new_full((len(values), n), start).scatter_reduce(1, meeting, values, how)


@kernel
def _leaf_order(children: Ints, lengths: Ints) -> tuple[Ints, Ints]:
    """Points in tree order (b, n), and the merge that joins position p - 1 to p (b, n).

    Padding keeps its place behind the block, joined by row n - 1.
    """
    b, rows, _ = children.shape
    n = rows + 1
    order = np.empty((b, n), dtype=np.int64)
    gaps = np.full((b, n), rows, dtype=np.int64)
    start = np.zeros(2 * n, dtype=np.int64)
    sizes = np.empty(2 * n, dtype=np.int64)
    for block in range(b):
        points = lengths[block]
        order[block] = np.arange(n)
        sizes[:points] = 1
        for k in range(points - 1):
            sizes[points + k] = sizes[children[block, k, 0]] + sizes[children[block, k, 1]]
        start[max(2 * points - 2, 0)] = 0
        for k in range(points - 2, -1, -1):  # from the root down
            left, right = children[block, k]
            start[left] = start[points + k]
            start[right] = start[left] + sizes[left]
            gaps[block, start[right]] = k
        for leaf in range(points):
            order[block, start[leaf]] = leaf
    return order, gaps
