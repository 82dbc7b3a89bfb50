"""From X, y and groups to blocks: rows of columns, or features of pairs.

scikit-learn is imported where it is used: `supclust fit` does without.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supclust.data.block import Block, FloatArray, IntArray, Kind, encode_labels, n_pairs


@dataclass(frozen=True)
class Blocks:
    """The rows of an input, block by block; features are computed on request.

    Attributes:
        kind: of the features.
        names: of the blocks, in the order of their first rows.
        rows: of every block, positions in the input.
        n: rows of the input.
        features: (n_k, d) points or (e_k, d) condensed pair features of block k.
        columns: of records, by name, where the model compares these; in place of features.
    """

    kind: Kind
    names: list[Hashable]
    rows: list[IntArray]
    n: int
    features: Callable[[int], FloatArray]
    columns: Mapping[str, Any] | None = None

    def labelled(self, codes: IntArray, *, strangers: bool = False) -> dict[Hashable, Block]:
        """Blocks of the points whose code is not -1, by name; those with fewer than 2 are left out.

        They come in the order of their first labelled rows, so that unlabelled ones have no
        influence on training.

        Args:
            codes: (n,) cluster of every row.
            strangers: keep the points with code -1, as members of unknown other clusters.
        """
        known_of = [np.flatnonzero(codes[rows] >= 0) for rows in self.rows]
        used = [k for k, known in enumerate(known_of) if len(known) >= 2]
        blocks: dict[Hashable, Block] = {}
        for k in sorted(used, key=lambda k: int(self.rows[k][known_of[k][0]])):
            name, rows, known = self.names[k], self.rows[k], known_of[k]
            of_rows = codes[rows]
            names = [f"row {r}" if c < 0 else str(c) for r, c in zip(rows, of_rows, strict=True)]
            labels, clusters = encode_labels(names)
            ids = tuple(str(row) for row in rows)
            marks = of_rows < 0 if strangers and len(known) < len(rows) else None
            whole = Block(
                *(str(name), ids, labels, self.kind, self.features(k), clusters), strangers=marks
            )
            blocks[name] = whole if strangers or len(known) == len(rows) else whole.select(known)
        return blocks


def rows_by_group(groups: Any, n: int) -> tuple[list[Hashable], list[IntArray]]:
    """Names of the groups in order of first appearance, and the rows of each.

    >>> rows_by_group(["b", "a", "b"], 3)
    (['b', 'a'], [array([0, 2]), array([1])])
    """
    if groups is None:
        return ["all"], [np.arange(n)]
    values = np.asarray(groups)
    if values.shape != (n,):
        raise ValueError(
            f"groups must name the block of every row, shape ({n},); received shape "
            f"{values.shape}. Pass one name per row of X, or none for a single block."
        )
    codes, names = _factorize(values)
    if (codes < 0).any():
        row = int(np.argmax(codes < 0))
        raise ValueError(
            f"groups must name the block of every row; received {values[row]!r} in row {row}. "
            "Fill in the missing names, or remove the rows."
        )
    order = np.argsort(codes, kind="stable")
    parts = np.split(order, np.cumsum(np.bincount(codes))[:-1])
    return names, parts


def label_codes(y: Any, n: int) -> IntArray:
    """Clusters as codes from 0, -1 where unlabelled: y is -1, "-1", None or NaN there.

    >>> label_codes(["x", None, "y", "x"], 4)
    array([ 0, -1,  1,  0])
    """
    if y is None:
        raise ValueError(
            "SupervisedHAC requires y to be passed, but the target y is None: it learns from "
            "known clusters. Without any, use ExpLinkClustering."
        )
    values = np.asarray(y)
    if values.ndim == 2 and values.shape[1] == 1:
        from sklearn.utils.validation import column_or_1d

        values = column_or_1d(values, warn=True)
    if values.shape != (n,):
        raise ValueError(
            f"y must hold the cluster of every row, shape ({n},); received shape {values.shape}. "
            "Pass one label per row, -1 where it is not known."
        )
    if values.dtype.kind == "f":
        if np.isinf(values).any():
            raise ValueError("Input y contains infinity or a value too large for dtype('float64').")
        known = values[~np.isnan(values)]
        if (known != np.floor(known)).any():
            raise ValueError(
                "y must hold clusters, not quantities: Unknown label type: continuous, as "
                f"{known[known != np.floor(known)][0]}. Use whole numbers or names."
            )
    codes, names = _factorize(values)
    unlabelled = [k for k, name in enumerate(names) if name in (-1, "-1")]
    return np.where(np.isin(codes, unlabelled), -1, codes)


def read_blocks(estimator: Any, X: Any, groups: Any, *, reset: bool) -> Blocks:
    """The blocks of X, as ``estimator.pairs`` says.

    Args:
        estimator: stores the columns of X if ``reset``, else X is compared with them.
        X: see `SupervisedHAC.fit`.
        groups: block of every row; ``None``: one block.
        reset: whether this is `fit`.
    """
    from sklearn.utils import _safe_indexing
    from sklearn.utils.validation import _num_samples, validate_data

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
        features = pairs(_safe_indexing(X, rows[k]))
        return condensed(features, len(rows[k]), f"from pairs(...) for block {names[k]!r}")

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
    from supclust.hac.cpu.fill import points_of

    lengths = [len(a) if a.ndim == 3 else points_of(len(a)) for a in arrays]
    ends = np.cumsum(lengths)
    rows = [np.arange(end - n, end) for n, end in zip(lengths, ends.tolist(), strict=True)]

    def features(k: int) -> FloatArray:
        return condensed(arrays[k], lengths[k], f"for block {names[k]!r}")

    return Blocks("pairs", names, rows, int(ends[-1]), features)


def condensed(features: Any, n: int, whose: str) -> FloatArray:
    """(n (n - 1) / 2, d) pair features of n points, from these or (n, n, d)."""
    values: NDArray[Any] = np.asarray(features)
    if values.ndim == 3 and values.shape[:2] == (n, n):
        values = values[np.triu_indices(n, 1)]
    if values.ndim != 2 or len(values) != n_pairs(n) or values.shape[1] == 0:
        raise ValueError(
            f"pair features of {n} points must have shape ({n}, {n}, d) or ({n_pairs(n)}, d) in "
            f"condensed order; received {np.shape(features)} {whose}."
        )
    return values if values.dtype in (np.float32, np.float64) else values.astype(np.float64)


def _factorize(values: NDArray[Any]) -> tuple[IntArray, list[Hashable]]:
    """Codes by first appearance, -1 where missing, and the values."""
    numbers: dict[Any, int] = {}
    codes = [
        -1 if _is_missing(value) else numbers.setdefault(value, len(numbers))
        for value in values.tolist()
    ]
    names = [name.item() if isinstance(name, np.generic) else name for name in numbers]
    return np.array(codes, np.int64), names


def _is_missing(value: Any) -> bool:
    """Whether a value is None, NaN, NaT or pandas' NA, none of which equals itself."""
    try:
        return bool(value is None or value != value)
    except TypeError:  # a comparison with NA is neither true nor false
        return True
