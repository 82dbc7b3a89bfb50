"""Dense dissimilarities with constraints, clustered as a complete graph."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supclust.hac.cpu.fill import points_of, square_of
from supclust.hac.graph._graph_linkage import link
from supclust.hac.memory import require_memory
from supclust.hac.validation import check_square

_BYTES = 120  # per pair: the edge three times, its record, heap and table


def constrained_linkage(
    given: NDArray[np.floating],
    alpha: float,
    must_link: ArrayLike | None,
    cannot_link: ArrayLike | None,
) -> NDArray[np.float64]:
    """Z of a matrix or condensed vector under constraints; see `supclust.linkage`."""
    square = given
    if given.ndim == 1:
        one = points_of(given.size) == 1
        square = np.zeros((1, 1)) if one else square_of(np.ascontiguousarray(given))
    n = len(square)
    require_memory(_BYTES * n * (n - 1) // 2, f"clustering {n:,} points with constraints")
    checked = check_square(square, alpha)
    first, second = (ends.astype(np.int32) for ends in np.triu_indices(n, 1))
    f = checked.restore(checked.values[first, second]).astype(np.float64)
    forest = link(first, second, f, n, alpha, "ignored", None, must_link, cannot_link)
    return forest.to_scipy()
