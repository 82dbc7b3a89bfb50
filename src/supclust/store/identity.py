"""Ids that survive: new clusters take the ids of the former ones that they share most records with.

Clusters old and new that share records, directly or by a chain, are matched so that as many records
as possible keep their id. A cluster whose records are the same as before is alone with itself, so
it keeps its id always.
"""

from __future__ import annotations

from itertools import permutations
from math import perm

import numpy as np
from numpy.typing import NDArray

from supclust.hac.graph.arrange import flatten, join

Ints = NDArray[np.int64]

_FEW = 1_000  # assignments that are all tried


def matched_ids(labels: Ints, previous: Ints, next_id: int) -> tuple[Ints, int]:
    """Permanent ids of new clusters.

    Args:
        labels: (n,) new cluster of every record, numbered from 0.
        previous: (n,) id of its former cluster; -1: it was in none.
        next_id: of a new cluster that matches none.

    Returns:
        (clusters,) ids, and the next id.

    >>> matched_ids(np.array([0, 0, 0, 1, 2]), np.array([7, 7, 5, 5, -1]), 9)
    (array([7, 5, 9]), 10)
    """
    n = int(labels.max(initial=-1)) + 1
    ids = np.full(n, -1)
    known = previous >= 0
    old, position = np.unique(previous[known], return_inverse=True)
    cells, shared = np.unique(labels[known] * max(1, len(old)) + position, return_counts=True)
    new, former = cells // max(1, len(old)), cells % max(1, len(old))
    alone = (np.bincount(new, minlength=n)[new] == 1) & (
        np.bincount(former, minlength=len(old))[former] == 1
    )
    ids[new[alone]] = old[former[alone]]
    for rows in _parts(new[~alone], former[~alone]):
        own = np.flatnonzero(~alone)[rows]
        a, i = np.unique(new[own], return_inverse=True)
        b, j = np.unique(former[own], return_inverse=True)
        weight = np.zeros((len(a), len(b)))
        weight[i, j] = shared[own]
        chosen = _assignment(weight)
        ids[a[chosen[0]]] = old[b[chosen[1]]]
    fresh = np.flatnonzero(ids < 0)
    ids[fresh] = next_id + np.arange(len(fresh))
    return ids, next_id + len(fresh)


def _parts(new: Ints, former: Ints) -> list[Ints]:
    """Positions of the cells of every connected part."""
    if not len(new):
        return []
    n = int(new.max()) + 1
    parent = np.arange(n + int(former.max()) + 1, dtype=np.int32)
    join(parent, np.column_stack([new, n + former]).astype(np.int32))
    flatten(parent)
    part = parent[new]
    order = np.argsort(part, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(part[order])) + 1)


def _assignment(weight: NDArray[np.float64]) -> tuple[Ints, Ints]:
    """Pairs of new and former clusters with the most shared records; only of those that share."""
    small, large = sorted(weight.shape)
    if perm(large, small) <= _FEW:
        tall = weight if weight.shape[1] == small else weight.T
        choices = np.array(list(permutations(range(large), small)))
        best = choices[tall[choices, np.arange(small)].sum(axis=1).argmax()]
        rows, columns = (best, np.arange(small)) if tall is weight else (np.arange(small), best)
    else:
        from scipy.optimize import linear_sum_assignment  # slow to import, and rarely needed

        rows, columns = linear_sum_assignment(weight, maximize=True)
    real = weight[rows, columns] > 0
    return rows[real], columns[real]
