"""Records that are different entities because they share a value, as cannot-links of a graph.

All pairs of a group would be needed, but records of different components are never merged anyway:
only pairs inside the connected components of close pairs are listed.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from supclust.data.errors import DataError
from supclust.hac.graph.arrange import flatten, join, join_near
from supclust.resolve.blocking.keys import Ints
from supclust.resolve.scoring import Edges

_MOST = 50_000_000  # cannot-links, 16 bytes each


def components(
    n: int, edges: Edges, must: Ints | None = None, limit: float = np.inf
) -> NDArray[np.int32]:
    """(n,) smallest row that is connected with a row by pairs up to a limit, or by must-links.

    Merges up to a height happen inside the components of pairs up to that height, whatever other
    pairs there are.
    """
    parent = np.arange(n, dtype=np.int32)
    value = edges.dissimilarity.astype(np.float64)
    join_near(parent, edges.left, edges.right, value, float(limit))
    if must is not None:
        join(parent, must.astype(np.int32))
    flatten(parent)
    return parent


def pairs_apart(codes: Ints, component: NDArray[np.int32]) -> Ints | None:
    """(k, 2) pairs of records of one component that share a code; ``None`` without any.

    Args:
        codes: (n,) records that share one are different entities; negative: nothing is said.
        component: (n,) of every record.

    Raises:
        DataError: there are more than fit the memory.
    """
    rows = np.flatnonzero(codes >= 0)
    rows = rows[np.lexsort((codes[rows], component[rows]))]
    new = (np.diff(codes[rows]) != 0) | (np.diff(component[rows]) != 0)
    bounds = np.concatenate([[0], np.flatnonzero(new) + 1, [len(rows)]])
    sizes = np.diff(bounds)
    total = int((sizes * (sizes - 1) // 2).sum())
    if total > _MOST:
        raise DataError(
            f"--distinct needs at most {_MOST:,} pairs of connected records that share a value; "
            f"received {total:,}: {int(sizes.max()):,} records of one value are connected by close "
            "pairs. Name a column of more values, or narrower rules with --candidates"
        )
    if total == 0:
        return None
    pairs, end = np.empty((total, 2), np.int64), 0
    for k in np.flatnonzero(sizes > 1):
        group = rows[bounds[k] : bounds[k + 1]]
        for at, one in enumerate(group[:-1], 1):
            more = len(group) - at
            pairs[end : end + more, 0], pairs[end : end + more, 1] = one, group[at:]
            end += more
    return pairs
