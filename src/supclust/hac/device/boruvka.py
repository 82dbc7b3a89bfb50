"""Single linkage on a device: Borůvka's minimum spanning tree, all components in each round.

The merges of single linkage are the edges of a minimum spanning tree sorted by weight. Every
component takes its cheapest edge out; ties go to the smallest (i, j), one order for all, so the
edges taken together never close a cycle. Components at least halve each round.
"""

from __future__ import annotations

import torch
from torch import Tensor

from supclust.hac.device.merge_buffer import Merges, row_minima

INF = float("inf")


def spanning_edges(matrix: Tensor) -> Merges:
    """Edges of a minimum spanning tree of each block.

    Args:
        matrix: (b, n, n) symmetric; +inf exactly where there is no pair (diagonal, padding).
            Consumed.

    Returns:
        The n_i - 1 edges of each block as merges, unsorted.

    Complexity: O(n^2) per block and round, at most log2(n) rounds; one matrix of the batch beside
    it.

    >>> D = torch.tensor([[[INF, 1.0, 4.0], [1.0, INF, 2.0], [4.0, 2.0, INF]]])
    >>> spanning_edges(D).heights[:, :2].sort().values
    tensor([[1., 2.]])
    """
    b, n, _ = matrix.shape
    edges = Merges.empty(matrix)
    point = torch.arange(n, device=matrix.device).expand(b, -1)
    component = point  # (b, n): the component of each point, named by one of its points
    while True:
        weight, edge = _cheapest_edges(matrix, component)  # (b, n) per component
        near, far = edge // n, edge % n
        ends = component.gather(1, near), component.gather(1, far)
        other = torch.where(ends[0] == point, ends[1], ends[0])
        taken = weight < INF
        # Two components that chose the same edge record it once; the lower name is the root.
        mutual = edge.gather(1, other) == edge
        taken &= ~(mutual & (point < other))
        count = taken.sum(dim=1)
        if int(count.max()) == 0:
            return edges
        first = (~taken).long().argsort(dim=1, stable=True)  # taken ones in front
        edges.record(near.gather(1, first), far.gather(1, first), weight.gather(1, first), count)
        component = _roots(torch.where(taken, other, point)).gather(1, component)
        matrix.masked_fill_(component[:, :, None] == component[:, None, :], INF)


def _cheapest_edges(matrix: Tensor, component: Tensor) -> tuple[Tensor, Tensor]:
    """Weight and code i n + j (i < j) of each component's cheapest edge out, both (b, n).

    Weight +inf and the code 0 stand for a name no component bears, or one with no edge left.
    """
    n = matrix.shape[1]
    low, nearest = row_minima(matrix)
    point = torch.arange(n, device=matrix.device)
    code = torch.minimum(point, nearest) * n + torch.maximum(point, nearest)
    weight = torch.full_like(low, INF).scatter_reduce(1, component, low, "amin")
    code = torch.where((low == weight.gather(1, component)) & (low < INF), code, n * n)
    edge = torch.full_like(code, n * n).scatter_reduce(1, component, code, "amin")
    return weight, torch.where(edge < n * n, edge, 0)


def _roots(parent: Tensor) -> Tensor:
    """Follow parents to the top by pointer jumping: log2(n) steps, no test on the way."""
    for _ in range(parent.shape[1].bit_length()):
        parent = parent.gather(1, parent)
    return parent
