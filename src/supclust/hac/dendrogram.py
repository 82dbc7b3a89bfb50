"""A batch of binary trees as tensors: SciPy's numbering per block, padded to one width.

Block i of length n_i uses rows 0 .. n_i - 2: leaves are 0 .. n_i - 1 and merge k makes node n_i +
k. Rows beyond it are padding: children -1, height 0, size 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from supclust.hac.tree import check_tree, cut_tree

BlockTree = tuple[NDArray[np.int64], NDArray[np.floating], NDArray[np.int64]]


@dataclass(frozen=True, eq=False, repr=False)
class Dendrogram:
    """Trees of b blocks, padded to n points; heights may carry gradients, the rest is integer.

    Attributes:
        children: (b, n - 1, 2) int64, smaller id first; -1 in padding.
        heights: (b, n - 1) float, non-decreasing within a block; 0 in padding.
        sizes: (b, n - 1) int64 points under each merge; 0 in padding.
        lengths: (b,) int64 points of each block, 0 to n.
    """

    children: Tensor
    heights: Tensor
    sizes: Tensor
    lengths: Tensor

    @classmethod
    def from_blocks(
        cls,
        blocks: Sequence[BlockTree],
        *,
        lengths: Sequence[int] | None = None,
        n: int | None = None,
        device: torch.device | str | None = None,
    ) -> Dendrogram:
        """Pad the trees of several blocks into one batch.

        Args:
            blocks: per block (children (n_i - 1, 2), heights (n_i - 1,), sizes (n_i - 1,)), at
                least one block.
            lengths: points per block; needed only where a block has none at all, since it shows the
                same empty arrays as a block of one. Default: rows + 1.
            n: width to pad to. Default: the longest block.
            device: where the tensors go. Default: the CPU.

        Returns:
            Dendrogram of len(blocks) blocks; heights in the widest dtype among the blocks.

        >>> Dendrogram.from_blocks([(np.array([[0, 1]]), np.array([0.5]), np.array([2]))], n=3).n
        3
        """
        if not blocks:
            raise ValueError("at least one block is needed; received none; pass one tree or more")
        points = [len(heights) + 1 for _, heights, _ in blocks]
        sizes_of = points if lengths is None else list(lengths)
        # Only a block of no points counts fewer than rows + 1; `or 1` lets it pass for one point.
        if [size or 1 for size in sizes_of] != points:
            raise ValueError(
                f"lengths must be rows + 1 of each block, {points}, or 0 where there are no rows; "
                f"received {sizes_of}; leave lengths out unless a block has no points"
            )
        widest = max(points)
        width = widest if n is None else n
        if width < widest:
            raise ValueError(
                f"n must be at least the points of the longest block, {widest}; received {n}; "
                "leave n out to pad to exactly that"
            )
        dtype = np.result_type(*(heights.dtype for _, heights, _ in blocks))
        children = np.full((len(blocks), width - 1, 2), -1, dtype=np.int64)
        heights = np.zeros((len(blocks), width - 1), dtype=dtype)
        sizes = np.zeros((len(blocks), width - 1), dtype=np.int64)
        for i, (kids, levels, counts) in enumerate(blocks):
            children[i, : len(levels)] = kids
            heights[i, : len(levels)] = levels
            sizes[i, : len(levels)] = counts
        tensors = (children, heights, sizes, np.asarray(sizes_of, dtype=np.int64))
        return cls(*(torch.from_numpy(array).to(device) for array in tensors))

    @property
    def n(self) -> int:
        """Padded number of points."""
        return self.heights.shape[1] + 1

    @property
    def valid(self) -> Tensor:
        """(b, n - 1) bool: which rows are merges, not padding."""
        rows = torch.arange(self.n - 1, device=self.lengths.device)
        return rows < self.lengths[:, None] - 1

    def __len__(self) -> int:
        return len(self.lengths)

    def __repr__(self) -> str:
        return f"Dendrogram(blocks={len(self)}, n={self.n}, heights={self.heights.dtype})"

    def to_scipy(self, i: int = 0) -> NDArray[np.float64]:
        """Tree of block ``i`` as SciPy's Z, (n_i - 1, 4) float64, detached.

        A block of one point, and one of none, gives shape (0, 4).
        """
        rows = max(int(self.lengths[i]) - 1, 0)
        Z = np.empty((rows, 4), dtype=np.float64)
        Z[:, :2] = self.children[i, :rows].cpu().numpy()
        Z[:, 2] = self.heights[i, :rows].detach().cpu().numpy()
        Z[:, 3] = self.sizes[i, :rows].cpu().numpy()
        return Z

    def cut(
        self,
        *,
        height: float | Tensor | None = None,
        n_clusters: int | Tensor | None = None,
    ) -> Tensor:
        """Cluster of every point, cutting each tree at a height or into a number of clusters.

        Args:
            height: apply every merge with height <= it (SciPy fcluster's "distance"); one number
                or (b,), one per block.
            n_clusters: how many clusters to leave, 1 to the block's length; one integer or (b,). A
                block of no points ignores it. Give exactly one of the two.

        Returns:
            (b, n) int64 labels, numbered from 0 in order of first appearance, -1 in padding; on the
            device of the tree.

        Complexity: O(b n), on the host. Gradient: none; heights are detached.

        >>> tree = Dendrogram.from_blocks([(np.array([[0, 1]]), np.array([0.5]), np.array([2]))])
        >>> tree.cut(height=0.4), tree.cut(n_clusters=1)
        (tensor([[0, 1]]), tensor([[0, 0]]))
        """
        if (height is None) == (n_clusters is None):
            raise ValueError(
                "give exactly one of height and n_clusters; "
                f"received height={height}, n_clusters={n_clusters}; "
                "drop one, or pass the missing one"
            )
        host = self.cpu()
        labels = torch.full((len(self), self.n), -1, dtype=torch.int64)
        levels = _per_block("height", height, len(self))
        counts = _per_block("n_clusters", n_clusters, len(self))
        for i, length in enumerate(host.lengths.tolist()):
            if length == 0:
                continue
            try:
                # cut_tree checks that the number of clusters is an integer.
                count = cast("int | None", counts[i])
                cut = cut_tree(host.to_scipy(i), height=levels[i], n_clusters=count)
            except ValueError as error:
                raise ValueError(f"block {i}: {error}") from error
            labels[i, :length] = torch.from_numpy(cut)
        return labels.to(self.children.device)

    def cpu(self) -> Dendrogram:
        """Detached copy on the host (the same storage where it is there already)."""
        return Dendrogram(
            self.children.cpu(), self.heights.detach().cpu(), self.sizes.cpu(), self.lengths.cpu()
        )

    def check(self) -> Dendrogram:
        """Return self after verifying every invariant.

        Raises:
            ValueError: naming the block, for wrong shapes or lengths, child ids out of range, used
                twice or in the wrong order, wrong sizes, NaN or decreasing heights, dirty padding.
        """
        b, n = len(self), self.n
        shapes = tuple(t.shape for t in (self.children, self.heights, self.sizes, self.lengths))
        if shapes != ((b, n - 1, 2), (b, n - 1), (b, n - 1), (b,)):
            _refuse(
                "children, heights, sizes, lengths must be (b, n-1, 2), (b, n-1), (b, n-1), (b,)",
                f"{[tuple(shape) for shape in shapes]}",
            )
        host = self.cpu()
        if bool(((host.lengths < 0) | (host.lengths > n)).any()):
            _refuse(f"lengths must lie between 0 and {n}", f"{host.lengths.tolist()}")
        padding = ~host.valid
        clean = (host.children == -1).all(dim=-1) & (host.heights == 0) & (host.sizes == 0)
        if bool((padding & ~clean).any()):
            _refuse("padding must hold children -1, height 0, size 0", "other values there")
        for i in range(b):
            _check_block(i, host.to_scipy(i))
        return self


def _check_block(i: int, Z: NDArray[np.float64]) -> None:
    try:
        check_tree(Z)
    except ValueError as error:
        raise ValueError(f"block {i}: {error}") from error
    if not (Z[:, 0] < Z[:, 1]).all():
        row = int(np.argmin(Z[:, 0] < Z[:, 1]))
        _refuse(f"block {i}: the smaller child id must come first", f"{Z[row, :2]} in row {row}")
    falls = Z[1:, 2] < Z[:-1, 2]
    if falls.any():
        row = int(np.argmax(falls))
        _refuse(
            f"block {i}: heights must not decrease",
            f"{Z[row, 2]} followed by {Z[row + 1, 2]} in row {row + 1}",
        )


def _per_block(name: str, value: float | Tensor | None, b: int) -> list[float | int | None]:
    """One Python number (or None) per block."""
    if isinstance(value, (list, tuple)) or (isinstance(value, np.ndarray) and value.ndim > 0):
        raise ValueError(
            f"{name} must be one number or a tensor of shape ({b},), one per block; "
            f"received {value!r}; pass torch.tensor(...) for one value per block"
        )
    if not isinstance(value, Tensor):
        return [value] * b
    if value.ndim == 0:
        return [value.item()] * b
    if value.shape != (b,):
        raise ValueError(
            f"{name} must be one number or have shape ({b},), one per block; "
            f"received shape {tuple(value.shape)}; pass one value for each block of the batch"
        )
    return list(value.tolist())


def _refuse(requirement: str, received: str) -> None:
    raise ValueError(
        f"{requirement}; received {received}; build the tree with ExpLinkHAC or "
        "Dendrogram.from_blocks instead of by hand"
    )
