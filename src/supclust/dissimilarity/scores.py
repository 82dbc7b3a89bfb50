"""Linear scores of pairs as square matrices, without a copy of the pair features.

Plain autograd would keep O(b n^2 d) numbers for points, and a dozen small graph nodes for every
block of pair features; both functions here recompute instead.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.autograd.function import once_differentiable

from supclust.dissimilarity.base import Inputs
from supclust.hac.cpu.fill import points_of
from supclust.kernels import kernel

Group = tuple[Tensor, list[int]]  # pair features (e, d), and the blocks that have them
Floats = NDArray[np.floating]

_TILE = 32  # rows and columns at a time: the transposed half stays in the cache


def pair_scores(inputs: Inputs, weight: Tensor, bias: Tensor) -> Tensor:
    """Score the pairs of every block, w . x_ij + b, as symmetric matrices.

    Args:
        inputs: condensed pair features (u, e, d), or u tensors (e_i, d); lengths are needed where
            (u, e, d) features are padded.
        weight: (b, d) weights of every block.
        bias: (b,).

    Returns:
        (b, n, n) with a zero diagonal, n the largest number of points; zero in padding.

    Complexity: O(b e d): blocks that share an entry are one matrix product.

    Gradient: in weight and bias.
    """
    rows = inputs.row_of_block
    entry_of_block = list(range(len(weight))) if rows is None else rows.tolist()
    entries = _entries(inputs, weight, entry_of_block)
    n = max(points_of(len(entry)) for entry in entries.values())
    groups = [
        (entry, [i for i, r in enumerate(entry_of_block) if r == row])
        for row, entry in entries.items()
    ]
    apply: Callable[..., Tensor] = _PairScores.apply
    return apply(weight, bias, groups, n)


def gap_scores(points: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """Score all pairs of points of every block, w . |x_i - x_j| + b.

    Args:
        points: (b, n, d).
        weight: (b, d).
        bias: (b,).

    Returns:
        (b, n, n), zero on the diagonal.

    Complexity: O(b n^2 d) time, O(b n^2) memory, forward and backward.

    Gradient: in weight and bias.
    """
    _refuse_gradient(points)
    apply: Callable[..., Tensor] = _GapScores.apply
    eye = torch.eye(points.shape[1], dtype=torch.bool, device=points.device)
    return apply(points, weight, bias).masked_fill(eye, 0.0)


def _entries(inputs: Inputs, weight: Tensor, rows: list[int]) -> dict[int, Tensor]:
    """The pair features (e, d) of every entry in use, without padding."""
    points = None if inputs.lengths is None else inputs.lengths.tolist()
    entries: dict[int, Tensor] = {}
    for block, row in enumerate(rows):
        if row in entries:
            continue
        entry = inputs.features[row]
        if points is not None:
            entry = entry[: points[block] * (points[block] - 1) // 2]
        if entry.ndim != 2 or entry.shape[1] != weight.shape[1]:
            raise ValueError(
                f"pair features must have shape (e, {weight.shape[1]}) per block; "
                f"received {tuple(entry.shape)}. Points need LinearPair(kind='vectors')."
            )
        _refuse_gradient(entry)
        entries[row] = entry.to(weight.dtype)
    return entries


def _refuse_gradient(features: Tensor) -> None:
    if features.requires_grad:
        raise ValueError(
            "features are data and get no gradient here; received features that require one. "
            "Use Encoder to learn an embedding, or features.detach()."
        )


class _PairScores(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, weight: Tensor, bias: Tensor, groups: list[Group], n: int) -> Tensor:
        ctx.groups = groups
        ctx.shape = weight.shape
        square = weight.new_zeros(len(weight), n, n)
        for entry, blocks in groups:
            scores = torch.addmm(bias[blocks, None], weight[blocks], entry.T)  # (k, e)
            _spread(scores, blocks, square)
        return square

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor, None, None]:
        d_weight, d_bias = gradient.new_zeros(ctx.shape), gradient.new_zeros(ctx.shape[0])
        for entry, blocks in ctx.groups:
            per_pair = _gather(gradient, blocks, len(entry))  # (k, e)
            d_weight[blocks] = per_pair @ entry
            d_bias[blocks] = per_pair.sum(dim=1)
        return d_weight, d_bias, None, None


def _spread(scores: Tensor, blocks: list[int], square: Tensor) -> None:
    """Write the scores (k, e) of k blocks into both triangles of their matrices."""
    m = points_of(scores.shape[1])
    if square.device.type == "cpu":  # three times as fast as indexing
        squares = square.numpy()
        for block, row in zip(blocks, scores.numpy(), strict=True):
            _move_pairs(row, squares[block, :m, :m], False)
        return
    block_of, i, j = _pair_index(blocks, m, square.device)
    square[block_of, i, j] = scores
    square[block_of, j, i] = scores


def _gather(square: Tensor, blocks: list[int], e: int) -> Tensor:
    """(k, e) sums of the two entries of every pair of k blocks."""
    m = points_of(e)
    if square.device.type == "cpu":
        per_pair, squares = square.new_empty(len(blocks), e), square.numpy()
        for block, row in zip(blocks, per_pair.numpy(), strict=True):
            _move_pairs(row, squares[block, :m, :m], True)
        return per_pair
    block_of, i, j = _pair_index(blocks, m, square.device)
    return square[block_of, i, j] + square[block_of, j, i]


def _pair_index(blocks: list[int], m: int, device: torch.device) -> tuple[Tensor, ...]:
    """Index of the pairs i < j of m points of k blocks: (k, 1), (e,), (e,)."""
    return (
        torch.tensor(blocks, device=device)[:, None],
        *torch.triu_indices(m, m, offset=1, device=device),
    )


@kernel
def _move_pairs(condensed: Floats, square: Floats, gather: bool) -> None:
    """Write (e,) values into both triangles of (n, n), or gather the sums of both triangles."""
    n = square.shape[0]
    for top in range(0, n, _TILE):
        for left in range(top, n, _TILE):
            for i in range(top, min(top + _TILE, n)):
                base = i * (2 * n - i - 3) // 2 - 1
                for j in range(max(left, i + 1), min(left + _TILE, n)):
                    if gather:
                        condensed[base + j] = square[i, j] + square[j, i]
                    else:
                        square[i, j] = condensed[base + j]
                        square[j, i] = condensed[base + j]


class _GapScores(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, points: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        ctx.save_for_backward(points)
        b, n, d = points.shape
        scores = bias[:, None, None].expand(b, n, n).clone()
        for k in range(d):
            scores.addcmul_(_gap(points, k), weight[:, k, None, None])
        return scores

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[None, Tensor, Tensor]:
        (points,) = ctx.saved_tensors
        parts = [(gradient * _gap(points, k)).sum(dim=(1, 2)) for k in range(points.shape[2])]
        return None, torch.stack(parts, dim=1), gradient.sum(dim=(1, 2))


def _gap(points: Tensor, k: int) -> Tensor:
    """|x_ik - x_jk|, (b, n, n)."""
    return (points[:, :, None, k] - points[:, None, :, k]).abs()
