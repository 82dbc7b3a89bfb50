"""``supclust warmup``: compile the kernels ahead of time."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

EXAMPLES = ("supclust warmup",)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments: none."""
    parser.set_defaults(run=run)


def run(_: argparse.Namespace) -> int:
    """Use every compiled kernel once in both precisions, and print the seconds each took."""
    import numpy as np
    import torch

    import supclust
    from supclust.cluster.warmup import use_kernels, use_training
    from supclust.hac import linkages
    from supclust.hac.cpu.dispatch import SMALL
    from supclust.losses import explink_loss

    def squares(n: int, dtype: type) -> np.ndarray:
        x = np.arange(n) ** 2  # one cluster that grows by one point after another
        distances: np.ndarray = np.abs(x[:, None] - x[None, :]).astype(dtype)
        return distances

    def condensed(n: int, dtype: type) -> np.ndarray:
        distances: np.ndarray = np.random.default_rng(0).random(n * (n - 1) // 2, dtype)
        return distances

    def small(dtype: type) -> None:
        D = squares(64, dtype)
        supclust.linkage(D, "exp", alpha=-1.0)
        D[0, 1] = D[1, 0] = np.inf  # never alike: looked at by a kernel of its own
        supclust.linkage(D, "exp", alpha=-1.0)
        supclust.linkage(condensed(64, dtype), "exp", alpha=-1.0)
        supclust.linkage(squares(SMALL, dtype), "exp", alpha=-1.0)  # copied on all cores
        supclust.linkage(condensed(SMALL, dtype), "exp", alpha=-1.0)

    def single(dtype: type) -> None:
        supclust.linkage(squares(64, dtype), "single")
        rows, columns = np.triu_indices(SMALL + 100, 1)
        supclust.linkage(squares(SMALL + 100, dtype)[rows, columns], "single")

    def large(dtype: type) -> None:
        supclust.linkage(squares(SMALL + 100, dtype), "exp", alpha=-1.0)
        supclust.linkage(condensed(SMALL + 100, dtype), "exp", alpha=-1.0)

    def loss(dtype: type) -> None:
        D = torch.from_numpy(squares(12, dtype)).requires_grad_(True)
        torch.autograd.grad(explink_loss(D, torch.arange(12) % 3, -1.0), D)

    kernels: dict[str, Callable[[type], object]] = {
        "single": single,
        "small": small,
        "large": large,
        "blocks": lambda dtype: linkages([squares(64, dtype)] * 2, "average"),
        "training": loss,
        "tables": use_kernels,
        "fit": use_training,
    }
    start = time.perf_counter()
    for name, use in kernels.items():
        for dtype in (np.float32, np.float64):
            begin = time.perf_counter()
            use(dtype)
            print(f"{name:<9} {dtype.__name__}  {time.perf_counter() - begin:6.2f} s", flush=True)
    print(f"ready in {time.perf_counter() - start:.2f} s")
    return 0
