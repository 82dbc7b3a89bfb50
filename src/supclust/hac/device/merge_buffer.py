"""Merges of a device kernel, out of order: collected in fixed buffers, then sorted and numbered.

A merge is a point of either side and a height. Numbering walks the sorted merges with a union-find,
so the kernels need no node ids while they run.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from supclust.hac.cpu.numbering import join_sorted
from supclust.kernels import kernel

Ints = NDArray[np.int64]


@dataclass
class Merges:
    """Merges of b blocks of up to n points, in the order recorded; the last column is a dummy.

    Attributes:
        leaves: (b, n, 2) int64, a point of each of the two merged clusters.
        heights: (b, n) float; +inf where nothing has been recorded.
        count: (b,) int64 merges so far.
    """

    leaves: Tensor
    heights: Tensor
    count: Tensor

    @classmethod
    def empty(cls, matrix: Tensor) -> Merges:
        """Buffers for the (b, n, n) matrix."""
        b, n, _ = matrix.shape
        leaves = torch.zeros(b, n, 2, dtype=torch.int64, device=matrix.device)
        return cls(leaves, matrix.new_full((b, n), float("inf")), leaves.new_zeros(b))

    def record(self, first: Tensor, second: Tensor, heights: Tensor, count: Tensor) -> None:
        """Append, for each block, the first ``count`` (b,) columns of the three (b, k) lists."""
        n = self.heights.shape[1]
        rank = torch.arange(first.shape[1], device=first.device)
        column = torch.where(rank < count[:, None], self.count[:, None] + rank, n - 1)  # (b, k)
        block = torch.arange(len(first), device=first.device)[:, None]
        self.leaves[block, column] = torch.stack([first, second], dim=-1)
        self.heights[block, column] = heights
        self.count = self.count + count


def sort_merges(merges: Merges, lengths: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Sort the merges of every block by height and give them SciPy's ids.

    The sort is stable and a parent is recorded after its children with a height no lower than
    theirs, so children stay in front.

    Args:
        merges: all n_i - 1 merges of every block.
        lengths: (b,) points per block.

    Returns:
        heights (b, n - 1), children (b, n - 1, 2) int64, sizes (b, n - 1) int64; 0, -1, 0 in
        padding.

    Complexity: O(b n log n); the ids are computed on the host, one transfer each way.
    """
    n = merges.heights.shape[1]
    column = torch.arange(n - 1, device=lengths.device)
    valid = column < lengths[:, None] - 1  # (b, n - 1)
    heights = merges.heights[:, : n - 1].masked_fill(~valid, float("inf"))
    heights, order = heights.sort(dim=1, stable=True)
    pairs = merges.leaves[:, : n - 1].gather(1, order[:, :, None].expand(-1, -1, 2))
    children, sizes = _join_blocks(pairs.cpu().numpy(), lengths.cpu().numpy())
    return (
        heights.masked_fill(~valid, 0.0),
        torch.from_numpy(children).to(lengths.device),
        torch.from_numpy(sizes).to(lengths.device),
    )


def row_minima(matrix: Tensor) -> tuple[Tensor, Tensor]:
    """Smallest value of each row of (b, m, m) and its lowest index, both (b, m).

    The index is made of order-free reductions, so ties come out the same on every device.
    """
    low = matrix.amin(dim=-1)
    column = torch.arange(matrix.shape[-1], dtype=torch.int32, device=matrix.device)
    nowhere = column.new_tensor(matrix.shape[-1] - 1)
    index = torch.where(matrix == low[..., None], column, nowhere).amin(dim=-1)
    return low, index.to(torch.int64)


@kernel
def _join_blocks(pairs: Ints, lengths: Ints) -> tuple[Ints, Ints]:
    """Children (b, n - 1, 2) and sizes (b, n - 1) of each block's sorted merges."""
    children = np.full_like(pairs, -1)
    sizes = np.zeros(pairs.shape[:2], dtype=np.int64)
    for i in range(len(lengths)):
        rows = max(lengths[i] - 1, 0)
        join_sorted(pairs[i, :rows], children[i, :rows], sizes[i, :rows])
    return children, sizes
