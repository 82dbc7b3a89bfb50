"""`supclust.linkage` beside fastcluster and higra: one matrix, many blocks, growth, memory."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor

import fastcluster
import higra
import numpy as np
from scipy.cluster.hierarchy import linkage as scipy_linkage
from scipy.spatial.distance import pdist, squareform

import supclust
from benchmarks.timing import exponent, interleaved, peak_extra_bytes, table
from supclust.hac import linkages
from supclust.metrics import best_threshold, dendrogram_purity

OURS = {
    "exp -1": ("exp", -1.0),
    "exp +1": ("exp", 1.0),
    "average": ("average", None),
    "complete": ("complete", None),
}


def gaussian(n: int, rng: np.random.Generator) -> np.ndarray:
    return rng.normal(size=(n, 16))


def clustered(n: int, rng: np.random.Generator) -> np.ndarray:
    centres = 5 * rng.normal(size=(50, 16))
    return centres[rng.integers(50, size=n)] + rng.normal(size=(n, 16))


def chain_like(n: int, rng: np.random.Generator) -> np.ndarray:
    t = np.cumsum(rng.uniform(0.5, 1.5, size=n)) * 0.01
    return np.column_stack([t * np.cos(t / 20), t * np.sin(t / 20)]) / 10


SETS = {"16-d Gaussian": gaussian, "50 clusters": clustered, "chain": chain_like}


def one_matrix(sizes: list[int], repeats: int) -> str:
    """Times at each size, as ratios to fastcluster's average (single: to its single)."""
    rows = []
    for name, points in SETS.items():
        for n in sizes:
            condensed = pdist(points(n, np.random.default_rng(n)))
            runs = {
                "fastcluster average": lambda c=condensed: fastcluster.linkage(c, "average"),
                "fastcluster single": lambda c=condensed: fastcluster.linkage(c, "single"),
            }
            square = squareform(condensed)
            inputs = {
                "float32": square.astype(np.float32),
                "float64": square,
                "float64, condensed": condensed,
            }
            for kind, D in inputs.items():
                for label, (method, alpha) in {**OURS, "single": ("single", None)}.items():
                    runs[f"{label} {kind}"] = lambda D=D, method=method, alpha=alpha: (
                        supclust.linkage(D, method, alpha=alpha)
                    )
            # A tree of a few milliseconds is over before the machine has found its pace.
            seconds = interleaved(runs, repeats if n < 5000 else max(3, repeats // 8))
            average, single = seconds["fastcluster average"], seconds["fastcluster single"]
            for kind in inputs:
                cells = [f"{average / seconds[f'{label} {kind}']:.1f}x" for label in OURS]
                cells.append(f"{single / seconds[f'single {kind}']:.1f}x")
                rows.append([name, f"{n:,}", kind, f"{average:.4f} s", *cells])
                print("  ", *rows[-1], flush=True)
    return table(
        ["data", "n", "input", "fastcluster average", *OURS, "single (to its single)"], rows
    )


def beside_higra(n: int) -> str:
    condensed = pdist(gaussian(n, np.random.default_rng(0)))
    graph = higra.UndirectedGraph(n)
    graph.add_edges(*np.triu_indices(n, 1))
    runs = {
        "higra": lambda: higra.binary_partition_tree_exponential_linkage(graph, condensed, -1.0),
        "ours": lambda: supclust.linkage(condensed, "exp", alpha=-1.0),
    }
    seconds = interleaved(runs, 3)
    return (
        f"ExpLink at n = {n:,}, float64, alpha -1: higra {seconds['higra']:.2f} s, "
        f"ours {seconds['ours']:.4f} s: {seconds['higra'] / seconds['ours']:.0f}x."
    )


def many_blocks(count: int, repeats: int) -> str:
    rng = np.random.default_rng(0)
    condensed = [pdist(rng.normal(size=(n, 8))) for n in rng.integers(50, 301, size=count)]
    rows = []
    inputs = {
        "float32": [squareform(c).astype(np.float32) for c in condensed],
        "float64": [squareform(c) for c in condensed],
        "float64, condensed": condensed,
    }
    for kind, blocks in inputs.items():
        runs = {"fastcluster loop": lambda: [fastcluster.linkage(c, "average") for c in condensed]}
        for label, (method, alpha) in OURS.items():
            runs[label] = lambda blocks=blocks, method=method, alpha=alpha: linkages(
                blocks, method, alpha=alpha
            )
        seconds = interleaved(runs, repeats)
        loop = seconds["fastcluster loop"]
        rows.append([kind, f"{loop:.3f} s", *(f"{loop / seconds[label]:.1f}x" for label in OURS)])
    return table(["input", "Python loop over fastcluster average", *OURS], rows)


def small_calls(sizes: list[int], repeats: int) -> str:
    """Microseconds of one call: of a small tree, most is not the tree."""
    rows = []
    for n in sizes:
        condensed = pdist(gaussian(n, np.random.default_rng(n)))
        calls = {
            "fastcluster average": lambda c=condensed: fastcluster.linkage(c, "average"),
            "SciPy average": lambda c=condensed: scipy_linkage(c, "average"),
            "average": lambda c=condensed: supclust.linkage(c, "average"),
            "exp -1": lambda c=condensed: supclust.linkage(c, "exp", alpha=-1.0),
        }
        count = max(1, 20_000 // n)
        runs = {
            label: lambda call=call, count=count: [call() for _ in range(count)]
            for label, call in calls.items()
        }
        seconds = interleaved(runs, repeats)
        rows.append([f"{n:,}", *(f"{seconds[label] / count * 1e6:.0f}" for label in calls)])
    return table(["n", *calls], rows)


def growth(sizes: list[int]) -> str:
    """Fitted exponents, the memory of the largest tree, and what scoring it costs."""
    seconds: dict[str, list[float]] = {label: [] for label in OURS}
    for n in sizes:
        D = squareform(pdist(gaussian(n, np.random.default_rng(n)).astype(np.float32))).astype(
            np.float32
        )
        runs = {
            label: lambda D=D, method=method, alpha=alpha: supclust.linkage(D, method, alpha=alpha)
            for label, (method, alpha) in OURS.items()
        }
        for label, value in interleaved(runs, 3).items():
            seconds[label].append(value)
    with ThreadPoolExecutor(1) as pool:  # a new thread has no memory of earlier trees
        extra = peak_extra_bytes(
            lambda: pool.submit(supclust.linkage, D, "exp", alpha=-1.0).result()
        )
    Z, labels = supclust.linkage(D, "exp", alpha=-1.0), np.arange(len(D)) % 500
    score = interleaved(
        {
            "purity": lambda: dendrogram_purity(Z, labels),
            "threshold": lambda: best_threshold([(Z, labels)]),
        },
        5,
    )
    built = seconds["exp -1"][-1]
    fits = ", ".join(f"{label} {exponent(sizes, values):.2f}" for label, values in seconds.items())
    return (
        f"Exponent of time in n, {sizes[0]:,} to {sizes[-1]:,}, float32: {fits}.\n"
        f"Peak extra memory at n = {sizes[-1]:,} (exp, float32): {extra / D.nbytes:.2f} matrices.\n"
        f"At n = {sizes[-1]:,}: tree {built:.2f} s, purity {score['purity'] * 1e3:.1f} ms "
        f"({score['purity'] / built:.2%}), best_threshold {score['threshold'] * 1e3:.1f} ms "
        f"({score['threshold'] / built:.2%})."
    )


def report(quick: bool) -> str:
    """Run everything and return Markdown."""
    from benchmarks import alone  # which needs the data sets above

    assert math.isfinite(supclust.linkage(np.zeros((3, 3)), "average").sum())
    sizes = [1000, 2000] if quick else [1000, 2000, 5000, 10000]
    parts = [
        "### One matrix: how many times faster than fastcluster\n",
        one_matrix(sizes, 3 if quick else 41),
        "\n### Each alone in a process\n",
        alone.report({1000: 3} if quick else {1000: 41, 10000: 7}),
        "\n### higra\n",
        beside_higra(500 if quick else 2000),
        "\n### Many blocks in one call (50 to 300 points)\n",
        many_blocks(200 if quick else 2000, 3 if quick else 7),
        "\n### Small trees, one call each, microseconds (float64, condensed)\n",
        small_calls([10, 50, 100, 200, 500], 3 if quick else 15),
        "\n### Growth, memory, scoring\n",
        growth([1000, 2000] if quick else [1000, 2000, 5000, 10000, 20000]),
    ]
    return "\n".join(parts)
