"""X as blocks: columns of rows, features of pairs from a function, or precomputed ones."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples, validate_data

from supclust.data.block import FloatArray
from supclust.dissimilarity.scores import points_of
from supclust.estimator.blocks import Blocks, condensed, rows_by_group


def read_blocks(estimator: Any, X: Any, groups: Any, *, reset: bool) -> Blocks:
    """The blocks of X, as ``estimator.pairs`` says.

    Args:
        estimator: remembers the columns of X if ``reset``, else X is compared with them.
        X: see `SupervisedHAC.fit`.
        groups: block of every row; ``None``: one block.
        reset: whether this is `fit`.
    """
    pairs = estimator.pairs
    if pairs is None:
        points = validate_data(
            estimator, X, reset=reset, dtype=[np.float64, np.float32], ensure_min_samples=1
        )
        names, rows = rows_by_group(groups, len(points))
        return Blocks("vectors", names, rows, len(points), lambda k: points[rows[k]])
    if isinstance(pairs, str) and pairs == "precomputed":
        return _precomputed(X, groups)
    if not callable(pairs):
        raise ValueError(
            "pairs must be None, a function from the rows of a block to the features of their "
            f"pairs, or 'precomputed'; received {pairs!r}."
        )
    validate_data(estimator, X, reset=reset, skip_check_array=True)
    n = _num_samples(X)
    names, rows = rows_by_group(groups, n)

    def features(k: int) -> FloatArray:
        made = pairs(_safe_indexing(X, rows[k]))
        return condensed(made, len(rows[k]), f"from pairs(...) for block {names[k]!r}")

    return Blocks("pairs", names, rows, n, features)


def _precomputed(X: Any, groups: Any) -> Blocks:
    arrays = [np.asarray(x) for x in X] if isinstance(X, list | tuple) else [np.asarray(X)]
    if not arrays:
        raise ValueError("at least one block is needed; received an empty list.")
    names = list(range(len(arrays))) if groups is None else list(groups)
    if len(names) != len(arrays) or len(set(names)) != len(names):
        raise ValueError(
            f"groups must name each of the {len(arrays)} precomputed blocks, distinctly; received "
            f"{len(names)} names, {len(set(names))} of them distinct."
        )
    lengths = [len(a) if a.ndim == 3 else points_of(len(a)) for a in arrays]
    ends = np.cumsum(lengths)
    rows = [np.arange(end - n, end) for n, end in zip(lengths, ends.tolist(), strict=True)]

    def features(k: int) -> FloatArray:
        return condensed(arrays[k], lengths[k], f"for block {names[k]!r}")

    return Blocks("pairs", names, rows, int(ends[-1]), features)
