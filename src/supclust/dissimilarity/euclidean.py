"""Euclidean distances between the embedded points of every block."""

from __future__ import annotations

import torch
from torch import Tensor


def centred(points: Tensor, lengths: Tensor | None) -> Tensor:
    """Points of every block (b, n, d) minus their mean; padding, zero on entry, stays finite.

    Distances do not change, but the digits that a common offset would eat survive the subtraction
    of nearby points.
    """
    if lengths is None:
        return points - points.mean(dim=1, keepdim=True)
    counts = lengths.clamp(min=1).to(points.dtype)[:, None, None]
    real = torch.arange(points.shape[1], device=points.device) < lengths[:, None]
    total = points.masked_fill(~real[:, :, None], 0.0).sum(dim=1, keepdim=True)
    return points - total / counts


def pairwise_distances(points: Tensor, anchors: Tensor | None = None) -> Tensor:
    """|y_i - y_j|_2 within every block, from coordinate differences.

    The matrix product |y|^2 + |y'|^2 - 2 y.y' is not used: in float32 distances below about
    3e-4 |y| would be noise, negative squares included.

    Args:
        points: (b, n, k) embedded points.
        anchors: (b, m) points whose rows are computed, -1 is padding. Default: all.

    Returns:
        (b, n, n), exactly symmetric, zero on the diagonal; with ``anchors`` (b, m, n).

    Complexity: O(b m n k) time, O(b m n) memory, forward and backward.

    Gradient: (y - y') / |y - y'|, and zero, not NaN, where two points coincide.

    >>> pairwise_distances(torch.tensor([[[0.0, 0.0], [3.0, 4.0]]]))
    tensor([[[0., 5.],
             [5., 0.]]])
    """
    first = points
    if anchors is not None:
        index = anchors.clamp(min=0)[:, :, None].expand(-1, -1, points.shape[2])
        first = points.gather(1, index)  # (b, m, k)
    return torch.cdist(first, points, compute_mode="donot_use_mm_for_euclid_dist")
