"""What a dissimilarity matrix must be: one check for arrays, condensed vectors and tensors.

Real numbers; no NaN and no -inf (+inf means "never alike"); symmetric up to a relative 1e-5
(float32) or 1e-8 (float64) of the largest finite magnitude. The diagonal is ignored. The kernels
behind this check rely on exact symmetry and finite values, and get both.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supclust.hac.cpu.fill import fill_square
from supclust.hac.cpu.scan import (
    GAP,
    HIGH,
    INFINITE,
    LOW,
    SYMMETRY,
    max_magnitude,
    refuse_bad,
    scan,
    scan_rows,
)
from supclust.hac.family import infinite_above, infinity_stand_in, is_weighted, overflows
from supclust.hac.memory import require_memory

if TYPE_CHECKING:
    from torch import Tensor

Floats = NDArray[np.floating]

_LARGEST = {4: 1e30, 8: 1e290}  # magnitudes whose sums over pairs stay finite


class CheckedMatrix(NamedTuple):
    """A matrix that the kernels can rely on.

    Attributes:
        values: (n, n) contiguous, exactly symmetric, finite off the diagonal.
        low: Smallest off-diagonal value.
        high: Largest off-diagonal value.
        infinite_above: Heights above this stand for +inf; inf when there was no infinity.
    """

    values: Floats
    low: float
    high: float
    infinite_above: float

    def restore(self, heights: Floats) -> Floats:
        """Return heights with +inf where a pair "never alike" has weight."""
        return np.where(heights > self.infinite_above, np.inf, heights).astype(heights.dtype)


def check_square(dissimilarity: ArrayLike, alpha: float) -> CheckedMatrix:
    """Check a square matrix of dissimilarities and make it safe for the kernels.

    Args:
        dissimilarity: (n, n) numbers. Not changed; copied only if it is not exactly symmetric, not
            contiguous, not float32/float64, or holds infinities.
        alpha: The member of the family it will be used with (it decides what stands for +inf).

    Returns:
        The checked matrix.

    Complexity: O(n^2), one pass.
    """
    matrix = as_floats(dissimilarity)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(
            f"dissimilarities must be a square (n, n) matrix; received shape {matrix.shape}. "
            "For vectors, compute distances first, e.g. scipy.spatial.distance.pdist(X)."
        )
    n = len(matrix)
    if n == 0:
        raise ValueError(
            "at least one point is needed; received an empty matrix. Pass at least one point."
        )
    copies = (alpha > -math.inf) + is_weighted(alpha) + (not matrix.flags.c_contiguous)
    require_memory(copies * matrix.nbytes, f"clustering {n:,} points")
    matrix = np.ascontiguousarray(matrix)
    if n > 1 and not overflows(alpha, float(np.finfo(matrix.dtype).max)):
        moderate, low, high = fill_square(matrix, None)
        if moderate:
            return CheckedMatrix(matrix, low, high, math.inf)
    result = scan(matrix)
    refuse_bad(matrix, result)
    return _made_safe(matrix, result, alpha)


def as_floats(values: ArrayLike) -> Floats:
    """Return numbers as float32 (float16 and float32) or float64 (any other real kind)."""
    if np.ma.is_masked(values):
        raise ValueError(
            "every dissimilarity must be known; received an array with masked entries. "
            "Fill them, e.g. with .filled(np.inf) for 'never alike'."
        )
    try:
        array = np.asarray(values)
    except (TypeError, ValueError, RuntimeError) as error:  # ragged lists, odd tensors
        raise ValueError(
            f"dissimilarities must be an array of real numbers; received {type(values).__name__} "
            f"({error}). Pass rows of one length, or tensor.detach().float().cpu().numpy()."
        ) from None
    if array.dtype.kind not in "fiub":
        raise ValueError(
            f"dissimilarities must be real numbers; received dtype {array.dtype}. "
            "Convert them, e.g. with .astype(float)."
        )
    if array.dtype in (np.float32, np.float64):
        return array
    single = array.dtype.newbyteorder("=") in (np.float16, np.float32)
    kind = np.dtype(np.float32 if single else np.float64)
    require_memory(array.size * kind.itemsize, f"a copy of {array.dtype} numbers as {kind}")
    return array.astype(kind)


def _made_safe(matrix: Floats, result: NDArray[np.float64], alpha: float) -> CheckedMatrix:
    """Return a matrix without asymmetry, infinities or numbers too large to add up."""
    n = len(matrix)
    low, high = float(result[LOW]), float(result[HIGH])
    if low > high:
        low = high = 0.0  # one point, or nothing but infinities
    max_abs, infinite = max_magnitude(result), bool(result[INFINITE])
    stand_in = infinity_stand_in(max_abs, n, alpha if math.isfinite(alpha) else 0.0)
    largest = max(max_abs, stand_in) if infinite else max_abs
    if largest > _LARGEST[matrix.itemsize] or overflows(alpha, float(np.finfo(matrix.dtype).max)):
        if largest > _LARGEST[8]:
            needed = f"; infinite ones need {stand_in:.0e} (alpha {alpha:g}, n {n})" * infinite
            raise ValueError(
                f"dissimilarities must stay below 1e290 in magnitude{needed}; "
                f"received up to {max_abs:g}. Divide them by a constant"
                f"{', or take an alpha of 0 or further from it' * infinite}."
            )
        matrix = matrix.astype(np.float64)
    if result[GAP]:
        matrix = (matrix + matrix.T) / 2
    if not infinite:
        return CheckedMatrix(matrix, low, high, math.inf)
    matrix = np.where(np.isinf(matrix), matrix.dtype.type(stand_in), matrix)
    return CheckedMatrix(matrix, low, stand_in, infinite_above(max_abs))


def check_tensor(dissimilarity: object) -> None:
    """Refuse what is not a torch tensor of real numbers."""
    import torch

    if not isinstance(dissimilarity, torch.Tensor):
        raise ValueError(
            f"dissimilarities must be a torch tensor; received a {type(dissimilarity).__name__}. "
            "Convert numbers with torch.as_tensor, or use supclust.linkage for NumPy arrays."
        )
    if dissimilarity.is_complex():
        raise ValueError(
            f"dissimilarities must be real numbers; received {dissimilarity.dtype}. "
            "Take their .real or .abs() first."
        )


def as_batch(dissimilarity: Tensor) -> Tensor:
    """(b, n, n) float32 or float64 view of the input, connected to its graph.

    Other dtypes are converted: half precision to float32, integers to torch's default.
    """
    import torch

    check_tensor(dissimilarity)
    if dissimilarity.ndim not in (2, 3) or dissimilarity.shape[-1] != dissimilarity.shape[-2]:
        raise ValueError(
            "dissimilarities must be square, (n, n) or (b, n, n); "
            f"received shape {tuple(dissimilarity.shape)}. "
            "Pass one matrix per block, padded to one n."
        )
    if dissimilarity.numel() == 0:
        raise ValueError(
            "at least one block and one point are needed; "
            f"received shape {tuple(dissimilarity.shape)}. Leave empty blocks out of the batch."
        )
    batch = dissimilarity[None] if dissimilarity.ndim == 2 else dissimilarity
    if batch.dtype in (torch.float32, torch.float64):
        return batch
    return batch.float() if batch.is_floating_point() else batch.to(torch.get_default_dtype())


def check_batch(batch: Tensor, lengths: Tensor) -> None:
    """Refuse what `check_square` refuses, on the tensor's device.

    Numbers that would overflow are refused, too: there is no copy in float64 here. Only pairs of
    real points are looked at, never the diagonal.

    Args:
        batch: (b, n, n) float32 or float64.
        lengths: (b,) points per block.

    Complexity: O(b n^2), one transfer from the device to the host.
    """
    import torch

    values = batch.detach().masked_fill(~pair_mask(lengths, batch.shape[1]), 0.0)
    magnitude = values.abs()
    scale = magnitude.masked_fill(magnitude.isinf(), 0.0).amax(dim=(1, 2))  # (b,)
    # inf - inf is NaN and fails the comparison, so equal infinities are excluded first.
    gap = torch.where(values == values.mT, 0.0, (values - values.mT).abs())
    tolerance = scale * SYMMETRY[batch.element_size()]
    uneven = ~(gap <= tolerance[:, None, None]) | values.isneginf()  # NaN is uneven
    largest = torch.finfo(batch.dtype).max / 4  # differences must stay finite
    bad, too_large = uneven.flatten(1).any(dim=1), (scale > largest).any()
    faults = torch.cat([bad, too_large[None]]).tolist()
    for k in [k for k, fault in enumerate(faults[:-1]) if fault]:
        matrix, result = batch[k].detach().cpu().numpy(), np.zeros(7)
        n = int(lengths[k])
        scan_rows(matrix, n, result, 0, n)
        refuse_bad(matrix, result, k)
    if faults[-1]:
        raise ValueError(
            f"dissimilarities of {batch.dtype} must stay below {largest:.1e} in magnitude; "
            f"received up to {scale.max().item():g}. Pass float64, or divide them by a constant."
        )


def pair_mask(lengths: Tensor, n: int) -> Tensor:
    """(b, n, n) bool: pairs of two different points, both within their block's length."""
    import torch

    point = torch.arange(n, device=lengths.device)
    real = point < lengths[:, None]  # (b, n)
    return real[:, :, None] & real[:, None, :] & (point[:, None] != point)


def check_lengths(lengths: Tensor | None, batch: Tensor) -> Tensor:
    """(b,) int64 points of each block on the batch's device; n everywhere by default."""
    import torch

    b, n, _ = batch.shape
    if lengths is None:
        return torch.full((b,), n, dtype=torch.int64, device=batch.device)
    lengths = torch.as_tensor(lengths)
    if lengths.shape != (b,) or lengths.is_floating_point() or lengths.dtype == torch.bool:
        raise ValueError(
            f"lengths must be integers of shape ({b},), one per block; "
            f"received {lengths.dtype} of shape {tuple(lengths.shape)}. "
            "Pass the number of points of each block."
        )
    if bool(((lengths < 0) | (lengths > n)).any()):
        raise ValueError(
            f"lengths must lie between 0 and the padded width {n}; received {lengths.tolist()}. "
            "Pad the matrices further, or correct the lengths."
        )
    return lengths.to(device=batch.device, dtype=torch.int64)
