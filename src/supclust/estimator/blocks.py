"""From X, y and groups to labelled blocks, and which of them are held out."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supclust.data.block import Block, FloatArray, IntArray, Kind, encode_labels, n_pairs

BLOCK_SHARE, CLUSTER_SHARE = 0.15, 0.4
"""Held out by default: of the blocks; of the clusters, where there is one block."""
HOLD_OUT_STREAM = 201  # kind of random numbers drawn from the seed


@dataclass(frozen=True)
class Blocks:
    """The rows of an input, block by block; features are made when they are asked for.

    Attributes:
        kind: of the features.
        names: of the blocks, in the order of their first rows.
        rows: of every block, positions in the input.
        n: rows of the input.
        features: (n_k, d) points or (e_k, d) condensed pair features of block k.
    """

    kind: Kind
    names: list[Hashable]
    rows: list[IntArray]
    n: int
    features: Callable[[int], FloatArray]

    def labelled(self, codes: IntArray) -> dict[Hashable, Block]:
        """Blocks of the points whose code is not -1, by name; those with fewer than 2 are left out.

        They come in the order of their first labelled rows, so that unlabelled ones have no
        influence on training.

        Args:
            codes: (n,) cluster of every row.
        """
        known_of = [np.flatnonzero(codes[rows] >= 0) for rows in self.rows]
        used = [k for k, known in enumerate(known_of) if len(known) >= 2]
        found: dict[Hashable, Block] = {}
        for k in sorted(used, key=lambda k: int(self.rows[k][known_of[k][0]])):
            name, rows, known = self.names[k], self.rows[k], known_of[k]
            labels, clusters = encode_labels([str(code) for code in codes[rows]])
            ids = tuple(str(row) for row in rows)
            whole = Block(str(name), ids, labels, self.kind, self.features(k), clusters)
            found[name] = whole if len(known) == len(rows) else whole.select(known)
        return found


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


def hold_out(
    blocks: Sequence[Block], share: float | None, seed: int
) -> tuple[list[Block], list[Block]]:
    """Training blocks and dev blocks; with one block, its clusters are dealt out.

    Args:
        blocks: labelled, at least one.
        share: of blocks or clusters that is held out; ``None``: the default; 0: nothing.
        seed: of the draw.

    Returns:
        Training blocks; dev blocks, none where there are too few clusters to hold any out.
    """
    if share is not None and not 0 <= share < 1:
        raise ValueError(
            f"dev_fraction must be a number >= 0 and < 1, or None; received {share!r}. "
            "Use e.g. 0.2."
        )
    rng = np.random.default_rng([seed, HOLD_OUT_STREAM])
    if share == 0:
        return list(blocks), []
    if len(blocks) == 1:
        return _split_clusters(blocks[0], CLUSTER_SHARE if share is None else share, rng)
    count = round((BLOCK_SHARE if share is None else share) * len(blocks))
    count = min(max(count, 1), len(blocks) - 1)
    order = rng.permutation(len(blocks)).tolist()
    # A cut cannot be chosen where no two points belong together.
    while count < len(blocks) // 2 and not any(_has_pair(blocks[i]) for i in order[:count]):
        count += 1
    chosen = set(order[:count])
    return (
        [block for i, block in enumerate(blocks) if i not in chosen],
        [block for i, block in enumerate(blocks) if i in chosen],
    )


def _split_clusters(
    block: Block, share: float, rng: np.random.Generator, attempts: int = 100
) -> tuple[list[Block], list[Block]]:
    k = block.n_clusters
    sizes = np.bincount(block.labels)
    if k >= 4:
        count = min(max(round(share * k), 2), k - 2)
        for _ in range(attempts):
            dev = np.zeros(k, bool)
            dev[rng.permutation(k)[:count]] = True
            if sizes[dev].max() > 1 and sizes[~dev].max() > 1:
                held = dev[block.labels]
                return (
                    [block.select(np.flatnonzero(~held), f"{block.name}/train")],
                    [block.select(np.flatnonzero(held), f"{block.name}/dev")],
                )
    return [block], []


def _has_pair(block: Block) -> bool:
    return block.n_clusters < block.n


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
    import pandas as pd

    codes, names = pd.factorize(values, use_na_sentinel=True)
    return codes.astype(np.int64), _plain(names)


def _plain(values: Iterable[Any]) -> list[Hashable]:
    return [value.item() if isinstance(value, np.generic) else value for value in values]
