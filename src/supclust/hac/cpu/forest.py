"""Many trees in one call: blocks side by side on all cores, without a Python step per block."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np
from numba import types
from numba.np.numpy_support import carray
from numpy.typing import NDArray

from supclust.hac.cpu.chain_rows import numbers_needed, split_workspace
from supclust.hac.cpu.dispatch import SMALL, build_tree
from supclust.hac.cpu.fill import copy_checked, square_of, unfold_checked
from supclust.hac.cpu.nn_chain import Floats, Ints, merge_all
from supclust.hac.cpu.numbering import join_sorted, order_of
from supclust.hac.cpu.threads import over_parts
from supclust.hac.validation import check_square
from supclust.kernels import kernel, vector_intrinsic

_DONE, _SPECIAL = 0, 1
_CONDENSED = 0  # instead of a stride


@vector_intrinsic(lambda address: ctypes.c_void_p(int(address)))
def _pointer(typingctx: Any, address: Any) -> Any:
    """Turn an integer address into a pointer that `carray` accepts."""

    def convert(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.inttoptr(args[0], context.get_value_type(signature.return_type))

    return types.voidptr(address), convert


@kernel
def _grow_blocks(
    sample,
    addresses,
    lengths,
    strides,
    alphas,
    offsets,
    children,
    heights,
    sizes,
    status,
    start,
    stop,
):
    """Build the trees of blocks ``start`` to ``stop``; others are marked `_SPECIAL`."""
    kind = sample.dtype
    most = np.float64(np.finfo(kind).max)
    widest = 0
    for k in range(start, stop):
        if lengths[k] < SMALL:
            widest = max(widest, lengths[k])
    workspace = np.empty(numbers_needed(widest, True), kind)
    for k in range(start, stop):
        n, alpha = lengths[k], alphas[k]
        if n < 2:
            continue
        status[k] = _SPECIAL
        if n >= SMALL or most < abs(alpha) < np.inf:
            continue
        psi, weight = split_workspace(workspace, n, True)
        address = _pointer(addresses[k])
        if strides[k] == _CONDENSED:
            condensed = carray(address, (n * (n - 1) // 2,), kind)
            moderate, low, high = unfold_checked(condensed, n, psi, 0, n)
        else:
            block = carray(address, (n, strides[k]), kind)
            moderate, low, high = copy_checked(block, n, psi, 0, n)
        if not moderate:
            continue
        pairs, levels = np.empty((n - 1, 2), np.int64), np.empty(n - 1, kind)
        merge_all(psi, weight, alpha, low, high, pairs, levels)
        here = slice(offsets[k], offsets[k] + n - 1)
        order = order_of(levels)
        heights[here] = levels[order]
        join_sorted(pairs[order], children[here], sizes[here])
        status[k] = _DONE


def grow(
    blocks: Sequence[Floats], lengths: Ints, alphas: NDArray[np.float64], offsets: Ints, children:
    Ints | Floats, heights: Floats, sizes: Ints | Floats,
) -> None:  # fmt: skip
    """Fill the trees of many blocks into flat arrays, block k at ``offsets[k]``.

    Args:
        blocks: Matrices (>= n_k, stride) of one float type with contiguous rows, of which block k
            uses the first n_k rows and columns; or contiguous condensed vectors. Checked as
            `validation.check_square` does.
        lengths: (b,) points n_k; 0 and 1 give no merges.
        alphas: (b,) member of the family for each block.
        offsets: (b,) where the block's merges start in the outputs.
        children: (m, 2) output.
        heights: (m,) output.
        sizes: (m,) output. The three may be columns of SciPy's array.
    """
    addresses = np.array([block.__array_interface__["data"][0] for block in blocks], np.uint64)
    strides = np.array(
        [_CONDENSED if block.ndim == 1 else block.strides[0] // block.itemsize for block in blocks],
        np.int64,
    )
    status = np.zeros(len(blocks), np.int64)
    sample = np.empty(0, blocks[0].dtype)
    over_parts(
        lambda a, b: _grow_blocks(
            sample, addresses, lengths, strides, alphas, offsets, children, heights, sizes, status,
            a, b,
        ),
        len(blocks),
        parts=max(1, min(64, int(lengths.sum()) // 500)),
    )  # fmt: skip
    for k in np.flatnonzero(status == _SPECIAL).tolist():
        n, alpha = int(lengths[k]), float(alphas[k])
        try:
            block = blocks[k]
            square = square_of(block) if block.ndim == 1 else block[:n, :n]
            checked = check_square(square, alpha)
        except ValueError as error:
            raise ValueError(f"block {k}: {error}") from None
        here = slice(offsets[k], offsets[k] + n - 1)
        tree = build_tree(checked.values, alpha, checked.low, checked.high)
        children[here], heights[here], sizes[here] = tree[0], checked.restore(tree[1]), tree[2]


def build_forest(
    dissimilarity: Floats, lengths: Ints, alpha: NDArray[np.float64]
) -> tuple[Ints, Floats, Ints]:
    """Build the trees of a padded batch of blocks.

    Args:
        dissimilarity: (b, n, n) float32 or float64; block k uses its first ``lengths[k]`` rows and
            columns.
        lengths: (b,) points per block.
        alpha: (b,) member of the family per block, -inf to inf.

    Returns:
        children (b, n - 1, 2), heights (b, n - 1), sizes (b, n - 1); -1, 0 and 0 in padding.
    """
    b, n = dissimilarity.shape[:2]
    most = max(n - 1, 0)
    batch = np.ascontiguousarray(dissimilarity)
    children = np.full((b, most, 2), -1, np.int64)
    heights = np.zeros((b, most), batch.dtype)
    sizes = np.zeros((b, most), np.int64)
    grow(
        list(batch), lengths.astype(np.int64), alpha.astype(np.float64), np.arange(b) * most,
        children.reshape(-1, 2), heights.reshape(-1), sizes.reshape(-1),
    )  # fmt: skip
    return children, heights, sizes
