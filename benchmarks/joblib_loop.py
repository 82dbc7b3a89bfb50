"""What one writes without supclust: a table of blocks through joblib, pdist and fastcluster.

Run as a script: ``python -m benchmarks.joblib_loop INPUT OUTPUT``.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import numpy as np
from joblib import Parallel, delayed

HEIGHT = 2.5


def cluster_block(points: np.ndarray) -> np.ndarray:
    """Flat clusters of one block."""
    from fastcluster import linkage
    from scipy.cluster.hierarchy import fcluster
    from scipy.spatial.distance import pdist

    if len(points) == 1:
        return np.ones(1, np.int32)
    return fcluster(linkage(pdist(points), "average"), HEIGHT, "distance")


def tree_of_block(points: np.ndarray) -> np.ndarray:
    """The tree of one block, not cut."""
    from fastcluster import linkage
    from scipy.spatial.distance import pdist

    return linkage(pdist(points), "average")


def loop(blocks: Sequence[np.ndarray], work=cluster_block) -> list[np.ndarray]:
    """Every block, on two processes."""
    return Parallel(n_jobs=2)(delayed(work)(points) for points in blocks)


def main(source: str, target: str) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pq.read_table(source)
    names = [name for name in table.column_names if name.startswith("x")]
    points = np.column_stack([table.column(name).to_numpy() for name in names])
    _, codes = np.unique(table.column("block").to_numpy(zero_copy_only=False), return_inverse=True)
    order = np.argsort(codes, kind="stable")
    bounds = np.cumsum(np.bincount(codes))[:-1]
    labels = np.concatenate(loop(np.split(points[order], bounds)))
    clusters = np.empty(len(labels), np.int64)
    clusters[order] = labels
    columns = {"id": table.column("id"), "block": table.column("block"), "cluster": clusters}
    pq.write_table(pa.table(columns), target)


if __name__ == "__main__":
    main(*sys.argv[1:])
