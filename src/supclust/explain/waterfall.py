"""What every comparison contributed to a dissimilarity or to the height of a merge, exactly.

The height of an ExpLink merge is a mean of the dissimilarities f of the pairs between its sides,
weighted by exp(alpha f). A pair model's f is a sum of contributions of its features, so the height
is the sum of the contributions' means under the same weights, plus the part of the pairs that are
not given, each of which counts `missing`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_ROUNDING = 1e-4  # of dissimilarities, which are kept in float32


@dataclass(frozen=True)
class Waterfall:
    """Contributions that add up to a height.

    Attributes:
        names: (d,) of the features, as in ``surname: equal``.
        parts: (d,) what every feature adds.
        always: what is added to every pair: the bias, or the expected dissimilarity.
        not_given: what pairs add that are not compared, or not closer than ``missing``.
        height: the sum.
    """

    names: tuple[str, ...]
    parts: Floats
    always: float
    not_given: float
    height: float

    @property
    def by_column(self) -> dict[str, float]:
        """What the features of every column add, the largest part first."""
        sums: dict[str, float] = {}
        for name, part in zip(self.names, self.parts.tolist(), strict=True):
            column = name.rsplit(": ", 1)[0]
            sums[column] = sums.get(column, 0.0) + part
        return dict(sorted(sums.items(), key=lambda one: -abs(one[1])))


def merge_waterfall(
    names: Sequence[str],
    contributions: Floats,
    dissimilarity: Floats,
    pairs: int,
    alpha: float,
    missing: float,
) -> Waterfall:
    """Contributions to the linkage of two clusters.

    Args:
        names: (d,) of the features.
        contributions: (k, d + 1) of the given pairs between the two clusters.
        dissimilarity: (k,) of these pairs, as the tree was built from. The part by which it differs
            from the sum of the contributions, rounding, goes to ``always``.
        pairs: number of all pairs between the clusters.
        alpha: of the linkage, finite.
        missing: what a pair that is not given counts.
    """
    f = np.asarray(dissimilarity, np.float64)
    rounding = f - contributions.sum(axis=1)
    worst = float(np.abs(rounding / (1 + np.abs(f))).max(initial=0.0))
    if worst > _ROUNDING:
        raise ValueError(
            f"contributions must add up to the dissimilarities; they differ by {worst:.2g}. The "
            "pairs were scored by another model: cluster the records again with this one."
        )
    weight = pair_weights(f, pairs, alpha, missing)
    means = weight[:-1] @ contributions
    not_given = float(weight[-1]) * missing
    always = float(means[-1] + weight[:-1] @ rounding)
    height = float(weight[:-1] @ f) + not_given
    return Waterfall(tuple(names), means[:-1], always, not_given, height)


def pair_weights(dissimilarity: Floats, pairs: int, alpha: float, missing: float) -> Floats:
    """(k + 1,) weights of the given pairs in a linkage, then that of all others; their sum is 1."""
    absent = pairs - len(dissimilarity)
    logs = alpha * np.append(dissimilarity, missing)
    weight = np.exp(logs - logs[: None if absent else -1].max())
    weight[-1] = absent * weight[-1] if absent else 0.0
    return np.asarray(weight / weight.sum())
