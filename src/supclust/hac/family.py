"""The ExpLink family: names and alphas, the additive statistics and the one merge rule.

For clusters u, v with cross dissimilarities f_ij the family is (the paper's Sec. 4.1)

    Psi(u, v) = sum exp(alpha f_ij) f_ij / sum exp(alpha f_ij),

single linkage at alpha = -inf, average at 0, complete at +inf. A pair of clusters is described by
Psi and S = sum exp(alpha f_ij), both additive. The merge rule, for the union of u1 and u2 against a
third cluster, is

    S = S1 + S2,    Psi = (S1 Psi1 + S2 Psi2) / S,    clamped to [min(Psi1, Psi2), max(Psi1, Psi2)],

O(1) whatever the sizes; the clamp keeps the linkage reducible under rounding. The constants below
number the representations of S. `supclust.hac.cpu.merge_rules.merge_pair` is the compiled rule and
`merge_log_sums` its twin for tensors.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor

# Weight representations: what is stored for S. From LINEAR on there is a weight per pair.
EXTREME = 0  # alpha = +-inf: the extreme of both; no weight (or the code of the extreme pair)
MEAN = 1  # alpha = 0: S is the number of pairs, known from the cluster sizes
LINEAR = 2  # S scaled: sum exp(alpha (f - centre)), where the range of f is proven safe
LOG = 3  # any range: the entropy H = log S - alpha Psi, 0 for a single pair of points

ALPHA_BY_NAME: dict[str, float] = {"single": -math.inf, "average": 0.0, "complete": math.inf}
METHODS: tuple[str, ...] = (*ALPHA_BY_NAME, "exp")
TOP_DOWN: tuple[str, ...] = ("rsc", "random")
"""Trees that are not built by merging: recursive sparsest cut, random."""


def alpha_of(method: str, alpha: float | None = None) -> float:
    """Return the alpha that a linkage name stands for.

    Args:
        method: One of `METHODS`.
        alpha: The parameter of ``exp``, any float from -inf to inf; the other names fix their own.

    Returns:
        The alpha of the ExpLink family.

    >>> alpha_of("single"), alpha_of("exp", alpha=-1)
    (-inf, -1.0)
    """
    if method not in METHODS:
        raise ValueError(
            f"method must be one of {', '.join(METHODS)}; received {method!r}. "
            "Other SciPy methods (ward, centroid, ...) are not members of the ExpLink family."
        )
    if method != "exp":
        if alpha is not None:
            raise ValueError(
                f"alpha belongs to method 'exp' only; received method {method!r} with alpha "
                f"{alpha!r}. Drop alpha, or use method='exp'."
            )
        return ALPHA_BY_NAME[method]
    if alpha is None:
        raise ValueError(
            "method 'exp' needs alpha, a number from -inf (single) over 0 (average) to inf "
            "(complete); received None. Pass alpha=..., e.g. alpha=-1.0."
        )
    return check_alpha(alpha)


def check_alpha(alpha: float) -> float:
    """Return alpha as a float, refusing NaN and what is not a number."""
    try:
        value = float(alpha)
    except (TypeError, ValueError, OverflowError):  # the last of a whole number of 400 digits
        value = math.nan
    if math.isnan(value):
        raise ValueError(
            f"alpha must be a number from -inf to inf; received {alpha!r}. "
            "A NaN here usually comes from a diverged training: lower the learning rate."
        )
    return value


def alphas_of_blocks(alpha: Tensor, batch: Tensor) -> Tensor:
    """(b,) float64 alpha of each block of a batch, connected to the graph of a learned one.

    Args:
        alpha: One number, or (b,), one per block.
        batch: (b, ...) tensor of the blocks.
    """
    b = len(batch)
    if alpha.ndim > 1 or (alpha.ndim == 1 and len(alpha) != b):
        raise ValueError(
            f"alpha must be one number or have shape ({b},), one per block; "
            f"received shape {tuple(alpha.shape)}. Pass one value for each block of the batch."
        )
    if bool(alpha.detach().isnan().any()):
        raise ValueError(
            f"alpha must be a number from -inf to inf; received {alpha.detach().tolist()}. "
            "A NaN here usually comes from a diverged training: lower the learning rate."
        )
    return alpha.to(batch.device).double().expand(b)


def nearest_linkage(alpha: float, scale: float = 1.0) -> str:
    """Name the classical linkage that alpha is nearest to, for dissimilarities of spread ``scale``.

    ExpLink depends on alpha times the spread of the dissimilarities: below 1/2 in absolute value
    the weights differ by less than a factor of 1.7 (average); beyond it the smallest or the
    largest rule.

    >>> nearest_linkage(-3.0), nearest_linkage(0.1), nearest_linkage(0.1, scale=100.0)
    ('single', 'average', 'complete')
    """
    exponent = alpha * scale
    if abs(exponent) < 0.5:
        return "average"
    return "single" if exponent < 0 else "complete"


def merge_log_sums(
    psi: tuple[Tensor, Tensor], log_sums: tuple[Tensor, Tensor]
) -> tuple[Tensor, Tensor]:
    """Merge rule for tensors: linkage and L = log S of a union from those of its two parts.

    Args:
        psi: Linkages of the two parts to the other clusters, of one shape.
        log_sums: Their L, of the same shape.

    Returns:
        Linkage and L of the union.
    """
    import torch

    first, second = psi
    gap = log_sums[0] - log_sums[1]
    mean = torch.sigmoid(gap) * first + torch.sigmoid(-gap) * second
    mean = mean.clamp(torch.minimum(first, second), torch.maximum(first, second))
    return mean, torch.logaddexp(*log_sums)


def infinity_stand_in(max_abs: float, n: int, alpha: float) -> float:
    """Return a finite number that behaves as +inf in every ExpLink mean of ``n`` points.

    A pair "never alike" has dissimilarity +inf, and inf - inf would poison the statistics with NaN.
    The stand-in is so large that its weight is exactly 0 beside any finite pair when alpha < 0,
    and that every mean it has weight in exceeds `infinite_above` when alpha >= 0.

    Args:
        max_abs: Largest absolute value of the finite dissimilarities.
        n: Number of points.
        alpha: Finite member of the family (minimum and maximum take infinities as they are).
    """
    beyond_means = 16.0 * n * n * (max_abs + 1.0)
    if alpha == 0.0:
        return beyond_means
    return max(beyond_means, max_abs + 2000.0 / abs(alpha))


def infinite_above(max_abs: float) -> float:
    """Return the height above which a merge holds an `infinity_stand_in`."""
    return 1.5 * max_abs + 1.0


def is_weighted(alpha: float) -> bool:
    """Whether pairs of clusters carry weights: the alpha is finite and not 0."""
    return alpha != 0.0 and math.isfinite(alpha)


def overflows(alpha: float, largest: float) -> bool:
    """Whether a finite alpha lies beyond the largest number of a float type."""
    return largest < abs(alpha) < math.inf
