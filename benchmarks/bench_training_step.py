"""Training step of `exp_alpha` (loss and backward) beside the direct definition; growth, memory.

One thread throughout. The recipe is the paper's: threshold, adjacent competitors, mean, alpha
learned.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch

from benchmarks.timing import exponent, interleaved, peak_extra_bytes, table
from supclust.losses import all_pairs_loss, best_loss, explink_loss, mst_loss, triplet_loss

Step = Callable[[], None]
RECIPE: dict[str, Any] = {
    "variant": "threshold",
    "threshold": 6.0,
    "margin": 0.6,
    "competitors": "adjacent",
    "reduction": "mean",
}
PAIR_LOSSES = {
    "all_pairs": all_pairs_loss,
    "triplet": triplet_loss,
    "best": best_loss,
    "mst": mst_loss,
}
DIRECT_SIZES = [50, 100]
SIZES = [200, 400, 800, 1600, 3200, 6400]
MEMORY_SIZE = 5000


def block(n: int, clusters: int = 7) -> tuple[torch.Tensor, torch.Tensor]:
    """Overlapping Gaussian clusters in 20 dimensions, as Faces has seven in a training block."""
    source = torch.Generator().manual_seed(n)
    labels = torch.randint(clusters, (n,), generator=source)
    points = torch.randn(clusters, 20, generator=source)[labels]
    points += torch.randn(n, 20, generator=source)
    D = torch.cdist(points, points)
    return torch.maximum(D, D.T), labels


def explink_step(n: int, alpha: float = -0.1, clusters: int = 7) -> Step:
    D, labels = block(n, clusters)
    D.requires_grad_(True)
    learned = torch.tensor(alpha, requires_grad=True)

    def step() -> None:
        D.grad = learned.grad = None
        explink_loss(D, labels, learned, **RECIPE).backward()

    return step


def pair_step(name: str, n: int) -> Step:
    D, labels = block(n)
    D.requires_grad_(True)

    def step() -> None:
        D.grad = None
        PAIR_LOSSES[name](D, labels, threshold=6.0, margin=0.6).backward()

    return step


def direct_step(n: int) -> Step:
    """Each round, each impure pair, linkage by linkage, through autograd: the tests' oracle."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
    from oracles.losses import explink_loss as definition

    D, labels = block(n)
    D = D.double().requires_grad_(True)
    learned = torch.tensor(-0.1, dtype=torch.float64, requires_grad=True)
    truth = labels.tolist()

    def step() -> None:
        D.grad = learned.grad = None
        definition(D, truth, learned, **RECIPE).backward()

    return step


@contextmanager
def one_thread() -> Iterator[None]:
    threads, setting = torch.get_num_threads(), os.environ.get("SUPCLUST_THREADS")
    torch.set_num_threads(1)
    os.environ["SUPCLUST_THREADS"] = "1"
    try:
        yield
    finally:
        torch.set_num_threads(threads)
        if setting is None:
            del os.environ["SUPCLUST_THREADS"]
        else:
            os.environ["SUPCLUST_THREADS"] = setting


def milliseconds(seconds: float) -> str:
    return f"{1e3 * seconds:,.2f}" if seconds < 0.1 else f"{1e3 * seconds:,.0f}"


def beside_the_definition(sizes: list[int]) -> str:
    rows = []
    for n in sizes:
        seconds = interleaved({"direct": direct_step(n), "ours": explink_step(n)}, 1)
        ours = interleaved({"ours": explink_step(n)}, 20)["ours"]
        ratio = seconds["direct"] / ours
        rows.append([str(n), milliseconds(seconds["direct"]), milliseconds(ours), f"{ratio:,.0f}"])
    return table(["n", "direct definition, ms", "supclust, ms", "ratio"], rows)


def growth(sizes: list[int]) -> str:
    forms = {
        "7 clusters": {"clusters": 7},
        "n/28 clusters": {"clusters": 0},
        "7 clusters, alpha = -1000 (log domain)": {"alpha": -1000.0},
    }
    rows = []
    for label, options in forms.items():
        seconds = []
        for n in sizes:
            chosen = dict(options)
            if chosen.get("clusters") == 0:
                chosen["clusters"] = max(2, n // 28)
            step = explink_step(n, **chosen)  # type: ignore[arg-type]
            seconds.append(interleaved({"": step}, 15 if n <= 800 else 3)[""])
        slope = f"{exponent(sizes, seconds):.2f}" if len(sizes) > 1 else "-"
        rows.append([label, *map(milliseconds, seconds), slope])
    return table(["block", *(f"n = {n}" for n in sizes), "exponent"], rows)


def pair_losses(n: int) -> str:
    seconds = interleaved({name: pair_step(name, n) for name in PAIR_LOSSES}, 15)
    return table(["loss", f"n = {n}, ms"], [[k, milliseconds(s)] for k, s in seconds.items()])


def memory_of(n: int) -> str:
    import psutil

    explink_step(50)()  # compiled, so that the compiler's memory is not counted
    step = explink_step(n)
    before = psutil.Process().memory_info().rss
    extra = peak_extra_bytes(step)
    return (
        f"Memory: a step at n = {n:,} takes {extra / 2**30:.2f} GiB beside the "
        f"{4 * n**2 / 2**30:.2f} GiB of the dissimilarities; the process peaks at "
        f"{(before + extra) / 2**30:.2f} GiB."
    )


def report(quick: bool = False) -> str:
    sizes = SIZES[:3] if quick else SIZES
    memory_size = 1000 if quick else MEMORY_SIZE
    with one_thread():
        memory = memory_of(memory_size)  # first: later parts would have left memory to reuse
        direct = beside_the_definition(DIRECT_SIZES[:1] if quick else DIRECT_SIZES)
        growing = growth(sizes)
        others = pair_losses(200)
    return "\n\n".join(
        [
            "Loss and backward of `exp_alpha` (threshold, adjacent, mean, alpha learned), float32, "
            "one thread, milliseconds. The direct definition takes so long that it is timed once, "
            "after a warm-up; supclust is the median of 20 steps there, of 3 to 15 below.",
            direct,
            growing,
            memory,
            "The pair objectives, for comparison:",
            others,
        ]
    )


if __name__ == "__main__":
    print(report("--quick" in sys.argv))
