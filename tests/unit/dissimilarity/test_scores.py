"""Between condensed pairs and square matrices: the CPU kernel and the index of the device path."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.spatial.distance import squareform

from supclust.dissimilarity import scores


@pytest.mark.parametrize("m", [1, 2, 3, 31, 33, 70])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_spreads_and_gathers_pairs(m: int, dtype: torch.dtype) -> None:
    source = torch.Generator().manual_seed(m)
    n, e, blocks = 72, m * (m - 1) // 2, [2, 0]
    values = torch.randn(2, e, generator=source, dtype=dtype)
    square = torch.zeros(3, n, n, dtype=dtype)
    scores._spread(values, blocks, square)
    for block, row in zip(blocks, values.numpy(), strict=True):
        expected = np.zeros((n, n))
        expected[:m, :m] = squareform(row) if m > 1 else 0.0
        np.testing.assert_array_equal(square[block].numpy(), expected)
    assert (square[1] == 0).all()
    gradient = torch.randn(3, n, n, generator=source, dtype=dtype)
    gathered = scores._gather(gradient, blocks, e)
    block_of, i, j = scores._pair_index(blocks, m, torch.device("cpu"))
    assert torch.equal(gathered, gradient[block_of, i, j] + gradient[block_of, j, i])
    assert torch.equal(values, square[block_of, i, j])
