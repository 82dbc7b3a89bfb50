"""Pair scores on the host and in torch: one result, spread and gathered."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.spatial.distance import squareform

from supclust.dissimilarity import scores


@pytest.mark.parametrize("m", [1, 2, 3, 31, 33, 70])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_host_and_device_spread_and_gather_alike(m: int, dtype: torch.dtype) -> None:
    source = torch.Generator().manual_seed(m)
    n, e, blocks = 72, m * (m - 1) // 2, [2, 0]
    values = torch.randn(2, e, generator=source, dtype=dtype)
    squares = [torch.zeros(3, n, n, dtype=dtype) for _ in range(2)]
    scores._spread_on_host(values, blocks, squares[0])
    scores._spread_on_device(values, blocks, squares[1])
    assert torch.equal(*squares)
    for block, row in zip(blocks, values.numpy(), strict=True):
        expected = np.zeros((n, n))
        expected[:m, :m] = squareform(row) if m > 1 else 0.0
        np.testing.assert_array_equal(squares[0][block].numpy(), expected)
    gradient = torch.randn(3, n, n, generator=source, dtype=dtype)
    gathered = scores._gather_on_host(gradient, blocks, e)
    assert torch.equal(gathered, scores._gather_on_device(gradient, blocks, e))
    i, j = np.triu_indices(m, 1)
    both = (gradient + gradient.mT).numpy()
    np.testing.assert_array_equal(gathered.numpy(), both[blocks][:, i, j])
