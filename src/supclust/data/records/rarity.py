"""How often values and words occur in the training table, frozen in a model.

A model keeps the counts of at most `MOST` hashed values of a column; for all others it has one
count, their average. So the size of a model does not depend on the table, and two records compare
alike in every later run.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supclust.data.errors import DataError

Ints = NDArray[np.int64]

MOST = 4096
"""Values that a comparison counts, at most."""
LARGEST = 1 << 14
"""Values that any table of frequencies may list."""


def _none() -> NDArray[np.uint32]:
    return np.empty(0, np.uint32)


@dataclass(frozen=True, eq=False)
class Frequencies:
    """Counts of hashed values.

    Attributes:
        total: number of records counted.
        other: count of values that are not listed.
        hashes: (k,) uint32, increasing.
        counts: (k,) uint32.
    """

    total: int = 1
    other: float = 1.0
    hashes: NDArray[np.uint32] = field(default_factory=_none)
    counts: NDArray[np.uint32] = field(default_factory=_none)

    def __post_init__(self) -> None:
        """Validate."""
        n = len(self.hashes)
        good = n <= LARGEST and len(self.counts) == n and self.total >= 1 and self.other > 0
        if (
            not good
            or (np.diff(self.hashes.astype(np.int64)) <= 0).any()
            or (self.counts < 1).any()
        ):
            raise DataError(
                f"frequencies must be at most {LARGEST} increasing hashes with counts; "
                f"received {n} hashes, {len(self.counts)} counts, total {self.total}"
            )

    def __eq__(self, other: object) -> bool:
        """Whether two tables hold the same."""
        return isinstance(other, Frequencies) and self.to_json() == other.to_json()

    @classmethod
    def count(cls, hashes: Ints, counts: Ints, total: int, most: int = MOST) -> Frequencies:
        """From the count of every distinct value.

        Args:
            hashes: (e,) of the values; values of one hash are counted together.
            counts: (e,) records that have the value.
            total: number of records.
            most: values to list, those that occur most often.

        >>> table = Frequencies.count(np.array([7, 9]), np.array([3, 1]), 4)
        >>> table.rarity(np.array([7, 9, 1])).round(2)
        array([0.53, 1.  , 1.  ], dtype=float32)
        """
        known, inverse = np.unique(hashes, return_inverse=True)
        sums = np.bincount(inverse, counts, len(known)).astype(np.int64)
        order = np.argsort(-sums, kind="stable")
        kept, rest = np.sort(order[:most]), order[most:]
        other = float(sums[rest].mean()) if len(rest) else 1.0
        return cls(
            max(int(total), 1),
            max(other, 1.0),
            known[kept].astype(np.uint32),
            np.maximum(sums[kept], 1).astype(np.uint32),
        )

    def rarity(self, hashes: Ints) -> NDArray[np.float32]:
        """Rarity of values: log(1 + total / count) / log(1 + total), in (0, 1]; 1 is rarest."""
        scale, counts = np.log1p(self.total), self.counts_of(hashes)
        rarity: NDArray[np.float32] = (np.log1p(self.total / counts) / scale).astype(np.float32)
        return np.minimum(rarity, np.float32(1.0))

    def counts_of(self, hashes: Ints) -> NDArray[np.float64]:
        """Counts of values; of those that are not listed, ``other``."""
        counts = np.full(len(hashes), self.other)
        if len(self.hashes):
            at = np.minimum(np.searchsorted(self.hashes, hashes), len(self.hashes) - 1)
            listed = self.hashes[at] == hashes
            counts[listed] = self.counts[at[listed]]
        return counts

    def to_json(self) -> dict[str, Any]:
        """As plain values; arrays as base64 of little-endian uint32."""
        packed = [
            base64.b64encode(array.astype("<u4").tobytes()).decode()
            for array in (self.hashes, self.counts)
        ]
        return {"total": self.total, "other": self.other, "hashes": packed[0], "counts": packed[1]}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Frequencies:
        """The inverse of `to_json`."""
        try:
            arrays = [
                np.frombuffer(base64.b64decode(values[key], validate=True), "<u4").astype(np.uint32)
                for key in ("hashes", "counts")
            ]
            return cls(int(values["total"]), float(values["other"]), *arrays)
        except (KeyError, TypeError, ValueError, OverflowError) as problem:
            raise DataError(f"the frequencies of a model are damaged ({problem})") from None
