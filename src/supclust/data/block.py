"""A labelled block of points, and a data set: a named set of blocks."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from supclust.data.errors import DataError

Kind: TypeAlias = Literal["vectors", "pairs"]
Source: TypeAlias = Literal["real", "stand-in", "file"]
Unit: TypeAlias = Literal["cluster", "block"]
ONE_BLOCK = "all"  # the block of a table without a column of blocks

FloatArray: TypeAlias = npt.NDArray[np.floating[Any]]
IntArray: TypeAlias = npt.NDArray[np.int64]
ByteArray: TypeAlias = npt.NDArray[np.uint8]


def n_pairs(n: int) -> int:
    """Number of unordered pairs of ``n`` points."""
    return n * (n - 1) // 2


def condensed_index(i: npt.ArrayLike, j: npt.ArrayLike, n: int) -> IntArray:
    """Row of the pair (i, j), i < j, in condensed upper-triangle order (SciPy's ``pdist``).

    >>> condensed_index([0, 0, 1], [1, 2, 2], 3).tolist()
    [0, 1, 2]
    """
    i, j = np.asarray(i, dtype=np.int64), np.asarray(j, dtype=np.int64)
    return np.asarray(i * n - i * (i + 1) // 2 + (j - i - 1))


def encode_labels(values: Sequence[str]) -> tuple[IntArray, tuple[str, ...]]:
    """Codes numbered by first appearance, and the name of each code.

    >>> encode_labels(["b", "a", "b"])
    (array([0, 1, 0]), ('b', 'a'))
    """
    codes: dict[str, int] = {}
    labels = np.fromiter(
        (codes.setdefault(value, len(codes)) for value in values), np.int64, len(values)
    )
    return labels, tuple(codes)


def encode_known(
    values: Sequence[str | None],
) -> tuple[IntArray, tuple[str, ...], npt.NDArray[np.bool_] | None]:
    """Codes and names as `encode_labels`, and which points are strangers, labelled ``None``.

    >>> encode_known(["b", None, "b"])
    (array([0, 1, 0]), ('b', '(unlabelled 1)'), array([False,  True, False]))
    """
    marks = np.array([value is None for value in values], bool)
    named = [f"(unlabelled {k})" if value is None else value for k, value in enumerate(values)]
    return *encode_labels(named), marks if marks.any() else None


@dataclass(frozen=True, eq=False)
class Block:
    """A set of points that is clustered on its own, with its true clusters.

    Attributes:
        name: Unique in its data set.
        ids: One distinct string per point, (n,).
        labels: Cluster code of each point, (n,) int64, codes 0..k-1 all in use. Codes are local to
            the block: equal codes of two blocks do not mean the same cluster.
        kind: ``"vectors"`` or ``"pairs"``.
        features: (n, d) for vectors; (n(n-1)/2, d) for pairs, rows in condensed upper-triangle
            order.
        cluster_names: Name of each code, (k,). Default: the codes as strings.
        images: Optional picture of each point, (n, height, width) uint8.
        strangers: Optional, (n,) bool: points that are in none of the labelled clusters, and whose
            own cluster is not known; each has a code of its own.
    """

    name: str
    ids: tuple[str, ...]
    labels: IntArray
    kind: Kind
    features: FloatArray
    cluster_names: tuple[str, ...] = ()
    images: ByteArray | None = None
    strangers: npt.NDArray[np.bool_] | None = None

    def __post_init__(self) -> None:
        """Refuse what is not a block, with the reason."""
        if not self.cluster_names and self.labels.size:
            names = tuple(str(code) for code in range(int(self.labels.max()) + 1))
            object.__setattr__(self, "cluster_names", names)
        self._check_points()
        self._check_features()

    def _fail(self, problem: str) -> None:
        raise DataError(f"block {self.name!r}: {problem}")

    def _check_points(self) -> None:
        n = len(self.ids)
        if n == 0:
            self._fail("a block needs at least one point; received none")
        if len(set(self.ids)) != n:
            repeated = Counter(self.ids).most_common(1)[0][0]
            self._fail(f"ids must be distinct, {repeated!r} appears more than once; rename one")
        if self.labels.shape != (n,) or self.labels.dtype != np.int64:
            self._fail(
                f"labels must be int64 of shape ({n},), one per id; received {self.labels.dtype} "
                f"of shape {self.labels.shape}"
            )
        k = len(self.cluster_names)
        used = np.unique(self.labels)
        if not np.array_equal(used, np.arange(k)):
            self._fail(
                f"labels must use every code 0..{k - 1} of its {k} cluster names; "
                "make them with encode_labels()"
            )
        if self.strangers is not None:
            codes = self.labels[self.strangers] if self.strangers.shape == (n,) else None
            if codes is None or (np.bincount(self.labels)[codes] > 1).any():
                self._fail(f"strangers must be ({n},) bool, each with a code of its own")
        if self.images is not None and (self.images.ndim != 3 or len(self.images) != n):
            self._fail(f"images must be ({n}, height, width); received shape {self.images.shape}")

    def _check_features(self) -> None:
        if self.kind not in ("vectors", "pairs"):
            self._fail(f"kind must be 'vectors' or 'pairs'; received {self.kind!r}")
        rows = self.n if self.kind == "vectors" else n_pairs(self.n)
        if self.features.ndim != 2 or len(self.features) != rows or self.features.shape[1] == 0:
            self._fail(
                f"features of {self.n} points of kind {self.kind!r} must have shape ({rows}, d), "
                f"d >= 1; received {self.features.shape}"
            )
        if self.features.dtype not in (np.float32, np.float64):
            self._fail(f"features must be float32 or float64; received {self.features.dtype}")
        finite = np.isfinite(self.features).all(axis=1)
        if not finite.all():
            row = int(np.argmin(finite))
            self._fail(
                f"features must be finite, row {row} is not; remove it or fill in its values"
            )

    @property
    def n(self) -> int:
        """Number of points."""
        return len(self.ids)

    @property
    def d(self) -> int:
        """Number of features."""
        return int(self.features.shape[1])

    @property
    def n_clusters(self) -> int:
        """Number of true clusters."""
        return len(self.cluster_names)

    @property
    def known_labels(self) -> IntArray:
        """(n,) the labels, -1 for strangers."""
        return self.labels if self.strangers is None else np.where(self.strangers, -1, self.labels)

    def select(self, indices: npt.ArrayLike, name: str | None = None) -> Block:
        """The block of the given points, in the given order; cluster codes are numbered anew."""
        index = np.asarray(indices, dtype=np.int64)
        if self.kind == "vectors":
            features = self.features[index]
        else:
            first, second = np.triu_indices(len(index), 1)
            a, b = index[first], index[second]
            features = self.features[condensed_index(np.minimum(a, b), np.maximum(a, b), self.n)]
        labels, names = encode_labels([self.cluster_names[c] for c in self.labels[index]])
        return Block(
            name=self.name if name is None else name,
            ids=tuple(self.ids[i] for i in index),
            labels=labels,
            kind=self.kind,
            features=features,
            cluster_names=names,
            images=None if self.images is None else self.images[index],
            strangers=None if self.strangers is None else self.strangers[index],
        )


@dataclass(frozen=True, eq=False)
class Dataset:
    """A named set of blocks of one kind, and how it is split.

    Attributes:
        name: As in ``dataset=...``.
        kind: ``"vectors"`` or ``"pairs"``, that of every block.
        source: ``"real"`` (the set the name stands for), ``"stand-in"`` (generated) or ``"file"``
            (the user's own).
        blocks: At least one, names distinct.
        feature_names: (d,).
        notes: What a reader of the results has to know (blocks left out, stand-in, ignored
            columns).
        unit: What a split deals out: ``"block"``, or ``"cluster"`` of the only block.
        sizes: Units for train, dev, test; ``None``: the default fractions
            (``splits.default_sizes``).
        balance: Largest relative difference allowed between dev and test in the mean distance of
            their cluster centroids (Faces: 0.05); ``None``: any split will do.
    """

    name: str
    kind: Kind
    source: Source
    blocks: tuple[Block, ...]
    feature_names: tuple[str, ...]
    notes: tuple[str, ...] = ()
    unit: Unit = "block"
    sizes: tuple[int, int, int] | None = None
    balance: float | None = None

    def __post_init__(self) -> None:
        """Refuse blocks that do not belong together."""
        if not self.blocks:
            raise DataError(f"data set {self.name!r}: needs at least one block; received none")
        names = [block.name for block in self.blocks]
        if len(set(names)) != len(names):
            raise DataError(
                f"data set {self.name!r}: block names must be distinct; received {names}"
            )
        for block in self.blocks:
            if block.kind != self.kind or block.d != len(self.feature_names):
                raise DataError(
                    f"data set {self.name!r}: every block must be {self.kind!r} with "
                    f"{len(self.feature_names)} features, block {block.name!r} is {block.kind!r} "
                    f"with {block.d}"
                )
        if self.unit == "cluster" and len(self.blocks) != 1:
            raise DataError(
                f"data set {self.name!r}: a split over clusters needs exactly one block; received "
                f"{len(self.blocks)}; use unit='block'"
            )

    @property
    def n(self) -> int:
        """Number of points over all blocks."""
        return sum(block.n for block in self.blocks)

    @property
    def d(self) -> int:
        """Number of features."""
        return len(self.feature_names)

    @property
    def n_clusters(self) -> int:
        """Number of true clusters over all blocks."""
        return sum(block.n_clusters for block in self.blocks)

    @property
    def n_pairs(self) -> int:
        """Number of within-block pairs."""
        return sum(n_pairs(block.n) for block in self.blocks)

    def with_notes(self, *notes: str) -> Dataset:
        """The same set with further notes."""
        return replace(self, notes=self.notes + notes)

    def digest(self) -> str:
        """SHA-256 of everything training depends on: equal digests, equal data."""
        sha = hashlib.sha256(f"{self.kind}/{self.unit}/{self.sizes}/{self.balance}".encode())
        for block in self.blocks:
            sha.update(repr((block.name, block.ids, block.cluster_names)).encode())
            marks = () if block.strangers is None else (block.strangers,)
            for array in (block.labels, block.features, *marks):
                sha.update(f"{array.dtype.str}{array.shape}".encode())
                sha.update(np.ascontiguousarray(array).data)
        return sha.hexdigest()
