"""The ExpLink family: which alpha a linkage name stands for, and how infinities enter.

For clusters u, v with cross dissimilarities f_ij the family is (the paper's Sec. 4.1)

    Psi(u, v) = sum exp(alpha f_ij) f_ij / sum exp(alpha f_ij),

single linkage at alpha = -inf, average at 0, complete at +inf. With L = log sum exp(alpha f_ij),
the union of u1 and u2 has L = logaddexp(L1, L2) and Psi = w Psi1 + (1 - w) Psi2 with w = exp(L1 -
L): O(1) per other cluster, whatever the sizes.
"""

from __future__ import annotations

import math

ALPHA_BY_NAME: dict[str, float] = {"single": -math.inf, "average": 0.0, "complete": math.inf}
METHODS: tuple[str, ...] = (*ALPHA_BY_NAME, "exp")


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


def nearest_linkage(alpha: float, scale: float = 1.0) -> str:
    """Name the classical linkage that alpha is nearest to, for dissimilarities of spread ``scale``.

    ExpLink depends on alpha times the spread of the dissimilarities: below 1/2 in absolute value
    the weights differ by less than a factor of 1.7 (average); beyond it the smallest or the
    largest rule.

    >>> nearest_linkage(-3.0), nearest_linkage(0.1), nearest_linkage(0.1, scale=100.0)
    ('single', 'average', 'complete')
    """
    reach = alpha * scale
    if abs(reach) < 0.5:
        return "average"
    return "single" if reach < 0 else "complete"


def infinity_stand_in(max_abs: float, n: int, alpha: float) -> float:
    """Return a finite number that behaves as +inf in every ExpLink mean of ``n`` points.

    A pair "never alike" has dissimilarity +inf, and inf - inf would poison the statistics with NaN.
    The stand-in is so large that its weight is exactly 0 beside any finite pair when alpha < 0,
    and that every mean it has weight in exceeds `infinite_above` when alpha >= 0.

    Args:
        max_abs: Largest absolute value of the finite dissimilarities.
        n: Number of points.
        alpha: Finite member of the family (the min and max forms take infinities as they are).
    """
    beyond_means = 16.0 * n * n * (max_abs + 1.0)
    if alpha == 0.0:
        return beyond_means
    return max(beyond_means, max_abs + 2000.0 / abs(alpha))


def infinite_above(max_abs: float) -> float:
    """Return the height above which a merge holds an `infinity_stand_in`."""
    return 1.5 * max_abs + 1.0


def overflows(alpha: float, largest: float) -> bool:
    """Whether a finite alpha lies beyond the largest number of a float type."""
    return largest < abs(alpha) < math.inf
