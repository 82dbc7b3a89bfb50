"""What a batch of dissimilarity matrices must be, checked where the tensors are."""

from __future__ import annotations

import torch
from torch import Tensor

SYMMETRY = {torch.float32: 1e-5, torch.float64: 1e-8}  # of the largest magnitude


def as_batch(dissimilarity: Tensor) -> Tensor:
    """(b, n, n) float32 or float64 view of the input, connected to its graph.

    Other dtypes are converted: half precision to float32, integers to torch's default.
    """
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


@torch.no_grad()
def check_values(batch: Tensor, lengths: Tensor) -> None:
    """Refuse NaN, -inf and asymmetry, on the device; the same rules as `validate.check_square`.

    Numbers that would overflow are refused, too: there is no copy in float64 here. Only pairs of
    real points are looked at, never the diagonal. Asymmetry is refused beyond a relative 1e-5
    (float32) or 1e-8 (float64) of the block's largest finite magnitude.

    Args:
        batch: (b, n, n) float32 or float64.
        lengths: (b,) points per block.

    Complexity: O(b n^2), one message from the device to the host.
    """
    n = batch.shape[1]
    point = torch.arange(n, device=batch.device)
    real = point < lengths[:, None]
    used = real[:, :, None] & real[:, None, :] & (point[:, None] != point)
    values = batch.masked_fill(~used, 0.0)
    magnitude = values.abs()
    scale = magnitude.masked_fill(magnitude.isinf(), 0.0).amax(dim=(1, 2), keepdim=True)
    # inf - inf is NaN and fails the comparison, so equal infinities are let through by name.
    gap = torch.where(values == values.mT, 0.0, (values - values.mT).abs())
    uneven = ~(gap <= scale * SYMMETRY[batch.dtype])
    largest = torch.finfo(batch.dtype).max / 4  # differences must stay finite
    faults = torch.stack(
        [values.isnan().any(), values.isneginf().any(), uneven.any(), (scale > largest).any()]
    ).tolist()
    if faults[0] or faults[1]:
        bad = values.isnan() | values.isneginf()
        block, i, j = bad.nonzero()[0].tolist()
        raise ValueError(
            f"block {block}: dissimilarities must be numbers or +inf, neither NaN nor -inf; "
            f"received {batch[block, i, j].item()} at [{i}, {j}]. "
            "Replace missing pairs by a number, or by +inf for 'never alike'."
        )
    if faults[2]:
        block, i, j = uneven.nonzero()[0].tolist()
        raise ValueError(
            f"block {block}: dissimilarities must be symmetric; "
            f"received {batch[block, i, j].item()} at [{i}, {j}] "
            f"but {batch[block, j, i].item()} at [{j}, {i}]. "
            "Symmetrise them first, e.g. (D + D.mT) / 2."
        )
    if faults[3]:
        raise ValueError(
            f"dissimilarities of {batch.dtype} must stay below {largest:.1e} in magnitude; "
            f"received up to {scale.max().item():g}. Pass float64, or divide them by a constant."
        )


def check_lengths(lengths: Tensor | None, batch: Tensor) -> Tensor:
    """(b,) int64 points of each block on the batch's device; n everywhere by default."""
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
