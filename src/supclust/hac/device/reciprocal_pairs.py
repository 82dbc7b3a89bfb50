"""Device kernel: every reciprocal nearest-neighbour pair of every block merges in the same round.

ExpLink is reducible (the linkage of a union lies between those of its parts), so merging all
reciprocal pairs at once gives the same tree as merging the closest pair each time. Pure torch, CPU
or CUDA; one transfer to the host per round, for the loop test.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import pad

from supclust.hac.dendrogram import Dendrogram
from supclust.hac.device.boruvka import spanning_edges
from supclust.hac.device.merge_buffer import Merges, row_minima, sort_merges
from supclust.hac.family import infinite_above, infinity_stand_in, merge_log_sums
from supclust.hac.validation import pair_mask

INF = float("inf")


@torch.no_grad()
def rounds_tree(
    dissimilarity: Tensor, lengths: Tensor | None = None, alpha: float | Tensor = 0.0
) -> Dendrogram:
    """Build the exact ExpLink trees of a batch of blocks.

    Psi(u, v) = sum exp(alpha f) f / sum exp(alpha f) over the pairs between u and v; the closest
    two clusters merge until one is left. Ties go to the lowest index.

    Args:
        dissimilarity: (b, n, n) float32 or float64, symmetric; smaller is closer, +inf is "never
            alike"; the diagonal and what lies beyond a block's length are not read. Not checked
            here: `ExpLinkHAC` refuses NaN, -inf and asymmetry.
        lengths: (b,) integer points per block, 0 to n. Default: n everywhere.
        alpha: one number, or a (b,) tensor with one per block; any from -inf to inf.

    Returns:
        Dendrogram on the same device, heights in the input's dtype.

    Complexity: O(n^2) a round and block, about log n rounds (n in the worst case; at most log2 n
    for alpha = -inf); memory four matrices of the batch. Gradient: none, see `merge_heights`.

    >>> D = torch.tensor([[[0.0, 1.0, 4.0], [1.0, 0.0, 2.0], [4.0, 2.0, 0.0]]])
    >>> rounds_tree(D).heights
    tensor([[1., 3.]])
    """
    b, n, _ = dissimilarity.shape
    device = dissimilarity.device
    if lengths is None:
        lengths = torch.full((b,), n, device=device)
    lengths = lengths.to(device=device, dtype=torch.int64)
    alphas = torch.as_tensor(alpha, dtype=torch.float64, device="cpu").expand(b)
    matrix, ceiling = _without_infinities(dissimilarity, lengths, alphas)
    merges = _merges_by_kind(matrix, lengths, alphas)
    heights, children, sizes = sort_merges(merges, lengths)
    heights = torch.where(heights > ceiling[:, None], INF, heights).to(dissimilarity.dtype)
    return Dendrogram(children, heights, sizes, lengths)


def _without_infinities(D: Tensor, lengths: Tensor, alphas: Tensor) -> tuple[Tensor, Tensor]:
    """Copy with +inf in padding and on the diagonal only, and the height that means +inf, (b,).

    An infinite dissimilarity becomes a finite stand-in; where that does not fit float32 the copy is
    float64.
    """
    unused = ~pair_mask(lengths, D.shape[1])
    # Halves first: two values near the largest float must not overflow in their sum.
    matrix = 0.5 * D + 0.5 * D.mT
    never = matrix.isinf() & ~unused
    ceiling = torch.full_like(lengths, INF, dtype=matrix.dtype)
    affected = never.flatten(1).any(dim=1)  # (b,)
    if bool(affected.any()):
        max_abs = matrix.abs().masked_fill(unused | never, 0.0).amax(dim=(1, 2))
        limits = list(zip(max_abs.tolist(), lengths.tolist(), alphas.tolist(), strict=True))
        largest = torch.finfo(torch.float64).max / 4
        stand_in = torch.tensor(
            [min(infinity_stand_in(*limit), largest) for limit in limits], dtype=torch.float64
        )
        if bool(stand_in[affected.cpu()].max() > torch.finfo(matrix.dtype).max / 4):
            matrix = matrix.double()
        stand_in = stand_in.to(device=D.device, dtype=matrix.dtype)
        matrix = torch.where(never, stand_in[:, None, None], matrix)
        above = torch.tensor([infinite_above(value) for value, _, _ in limits], dtype=torch.float64)
        ceiling = torch.where(affected, above.to(D.device), INF).to(matrix.dtype)
    return matrix.masked_fill_(unused, INF), ceiling


def _merges_by_kind(matrix: Tensor, lengths: Tensor, alphas: Tensor) -> Merges:
    """Run each of the three rules (min, max, softmax) on its blocks."""
    kinds = torch.where(alphas.isinf(), alphas.sign(), 0.0)  # (b,) on the host
    present = sorted(set(kinds.tolist()))
    if len(present) == 1:
        return _merges(matrix, lengths, alphas, present[0])
    merges = Merges.empty(matrix)
    for kind in present:
        members = (kinds == kind).nonzero()[:, 0]
        where = members.to(matrix.device)
        part = _merges(matrix[where], lengths[where], alphas[members], kind)
        for whole, piece in ((merges.leaves, part.leaves), (merges.heights, part.heights)):
            whole[where] = piece
    return merges


def _merges(matrix: Tensor, lengths: Tensor, alphas: Tensor, kind: float) -> Merges:
    """All merges of blocks of one kind; ``matrix`` is consumed."""
    if kind < 0:
        return spanning_edges(matrix)
    log_weight = None if kind > 0 else _log_weights(matrix, alphas)
    return reciprocal_merges(matrix, log_weight, lengths)


def _log_weights(matrix: Tensor, alphas: Tensor) -> Tensor:
    """L = alpha (f - lowest f) of single pairs, (b, n, n); 0 where there is no pair.

    Weights matter only up to a factor. Where alpha f would leave the float range, alpha is pulled
    in to a value at which the mean is already the extreme to rounding.
    """
    lowest = matrix.amin(dim=(1, 2), keepdim=True)
    spread = torch.where(matrix.isfinite(), matrix - lowest, 0.0)  # (b, n, n)
    limits = torch.finfo(matrix.dtype)
    bound = limits.max / 8 / spread.amax(dim=(1, 2)).double().clamp(min=1.0)
    alpha = alphas.to(device=matrix.device, dtype=torch.float64)
    alpha = torch.maximum(torch.minimum(alpha, bound), -bound).to(matrix.dtype)
    return alpha[:, None, None] * spread


def reciprocal_merges(psi: Tensor, log_weight: Tensor | None, lengths: Tensor) -> Merges:
    """Merge reciprocal nearest neighbours until every block is one cluster.

    Args:
        psi: (b, n, n) exactly symmetric linkages, +inf exactly where no pair is.
        log_weight: (b, n, n) L of the softmax mean, finite; None for the maximum.
        lengths: (b,) points per block.

    Returns:
        The merges of every block in round order; children come before their parents.
    """
    b, n, _ = psi.shape
    merges = Merges.empty(psi)
    # Slot m is a dummy: lists of merges are padded with it, and its linkages stay infinite.
    psi = pad(psi, (0, 1, 0, 1), value=INF)
    weight = None if log_weight is None else pad(log_weight, (0, 1, 0, 1))
    leaf = torch.arange(n + 1, device=psi.device).expand(b, -1)  # a point of each slot's cluster
    alive = leaf < lengths[:, None]
    live = lengths
    while True:
        low, nearest = row_minima(psi)
        slot = torch.arange(psi.shape[1], device=psi.device)
        is_left = (nearest.gather(1, nearest) == slot) & (slot < nearest) & (low < INF)
        count = is_left.sum(dim=1)
        live = live - count
        most, survivors = torch.stack([count.max(), live.max()]).tolist()
        if most == 0:
            return merges
        left, right = _listed(is_left, nearest, most)  # (b, most)
        merges.record(leaf.gather(1, left), leaf.gather(1, right), low.gather(1, left), count)
        alive = alive.scatter(1, right, False)
        _merge_slots(psi, weight, left, right, alive)
        if 2 * survivors <= psi.shape[1] - 1:
            psi, weight, leaf, alive = _compacted(psi, weight, leaf, alive, survivors)


def _listed(is_left: Tensor, nearest: Tensor, most: int) -> tuple[Tensor, Tensor]:
    """Slots of the merging pairs, each (b, most), padded with the dummy."""
    b, width = is_left.shape
    slot = torch.arange(width, device=is_left.device)
    rank = torch.where(is_left, is_left.cumsum(dim=1) - 1, width)
    left = slot.new_full((b, width + 1), width - 1).scatter_(1, rank, slot.expand(b, -1))
    left = left[:, :most]
    right = torch.where(left == width - 1, left, nearest.gather(1, left))
    return left, right


def _merge_slots(
    psi: Tensor, weight: Tensor | None, left: Tensor, right: Tensor, alive: Tensor
) -> None:
    """Write the union of every listed pair to its left slot, in place; remove the right slot."""
    block = torch.arange(len(psi), device=psi.device)[:, None]  # (b, 1)
    rows, row_weights = _mixed(
        (psi[block, left], psi[block, right]),
        None if weight is None else (weight[block, left], weight[block, right]),
    )  # (b, k, m): unions against old slots
    shape = (-1, left.shape[1], -1)
    listed_left, listed_right = left[:, None].expand(shape), right[:, None].expand(shape)
    both, both_weights = _mixed(
        (rows.gather(2, listed_left), rows.gather(2, listed_right)),
        None
        if row_weights is None
        else (row_weights.gather(2, listed_left), row_weights.gather(2, listed_right)),
    )  # (b, k, k): unions against unions
    # Rounding depends on which side merged first, so one triangle is mirrored: rounds only progress
    # while the matrix is exactly symmetric.
    rows.scatter_(2, listed_left, _mirrored(both))
    own_slot = torch.arange(psi.shape[1], device=psi.device) == left[:, :, None]
    rows.masked_fill_(own_slot | ~alive[:, None] | ~alive.gather(1, left)[:, :, None], INF)
    psi[block, left] = rows
    psi[block, :, left] = rows
    psi[block, right] = INF
    psi[block, :, right] = INF
    if weight is not None and row_weights is not None and both_weights is not None:
        row_weights.scatter_(2, listed_left, _mirrored(both_weights))
        weight[block, left] = row_weights
        weight[block, :, left] = row_weights


def _mixed(
    psi: tuple[Tensor, Tensor], weight: tuple[Tensor, Tensor] | None
) -> tuple[Tensor, Tensor | None]:
    """Linkage, and log weight, of a union to others, from those of its two parts."""
    if weight is None:
        return torch.maximum(*psi), None
    return merge_log_sums(psi, weight)


def _mirrored(square: Tensor) -> Tensor:
    """Copy the upper triangle onto the lower one."""
    index = torch.arange(square.shape[-1], device=square.device)
    # Not triu: on the CPU it wakes every thread, however small the matrix.
    return torch.where(index >= index[:, None], square, square.mT)


def _compacted(
    psi: Tensor, weight: Tensor | None, leaf: Tensor, alive: Tensor, survivors: int
) -> tuple[Tensor, Tensor | None, Tensor, Tensor]:
    """Keep ``survivors`` slots and the dummy; blocks with fewer are padded with unused slots."""
    order = (~alive).long().argsort(dim=1, stable=True)[:, :survivors]  # (b, survivors)
    kept = pad(order, (0, 1), value=psi.shape[1] - 1)
    block = torch.arange(len(psi), device=psi.device)[:, None, None]
    chosen = (block, kept[:, :, None], kept[:, None, :])
    return (
        psi[chosen],
        None if weight is None else weight[chosen],
        leaf.gather(1, kept),
        alive.gather(1, kept),
    )
