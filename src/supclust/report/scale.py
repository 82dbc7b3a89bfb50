"""Axes of charts: position of a value between the two ends, and round ticks."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal

STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
LOG_RATIO = 50.0
"""Positive values whose largest ratio exceeds this get a logarithmic axis."""


PERCENT = (0.0, 100.0)
"""Limits of an axis in percent."""
LOG_DEPTH = 1e5
"""Ratio of the ends of a logarithmic axis, at most; smaller values lie at its lower end."""


@dataclass(frozen=True)
class Scale:
    """One axis, from ``low`` to a larger ``high``, with round ticks between the two."""

    low: float
    high: float
    log: bool
    ticks: tuple[float, ...]

    def share(self, value: float) -> float:
        """Position of a value along the axis, 0 to 1; values beyond it lie at its ends."""
        if self.log:
            value = max(value, self.low)
            share = math.log(value / self.low) / math.log(self.high / self.low)
        else:
            share = (value - self.low) / (self.high - self.low)
        return min(1.0, max(0.0, share))


def scale_of(
    values: Iterable[float],
    *,
    log: bool | None = False,
    ticks: int = 5,
    within: tuple[float, float] | None = None,
) -> Scale:
    """An axis that covers all the finite values.

    Args:
        values: to be shown.
        log: logarithmic or not; ``None``: where the values are positive and span a wide range.
        ticks: about how many.
        within: limits of the padding around a single value.

    >>> scale_of([0.0, 9.0]).ticks
    (0.0, 2.0, 4.0, 6.0, 8.0)
    """
    known = [value for value in values if math.isfinite(value)]
    low, high = (min(known), max(known)) if known else (0.0, 1.0)
    least = min((value for value in known if value > 0), default=0.0)
    if log is None:
        log = low >= 0 and 0 < LOG_RATIO * least < high
    if log and 1e-300 < least < high:
        start = max(least, high / LOG_DEPTH)
        return Scale(start, high, True, _powers(start, high, ticks))
    if high - low <= max(1e-9 * max(abs(low), abs(high)), 1e-300):  # indistinguishable
        pad = abs(high) / 20 if abs(high) > 1e-6 else 0.5
        least, most = within or (-math.inf, math.inf)
        low, high = max(low - pad, least), min(high + pad, most)
    return Scale(low, high, False, _round_ticks(low, high, ticks))


def number(value: float, digits: int = 3) -> str:
    """A number as short text.

    >>> number(0.00012345), number(123456.0), number(0.5)
    ('0.000123', '1.23e5', '0.5')
    """
    if not math.isfinite(value):
        return "∞" if value > 0 else "−∞" if value < 0 else "–"
    size = abs(value)
    if size >= 10**5 or 0 < size < 10**-4:
        mantissa, _, power = f"{value:.{digits - 1}e}".partition("e")
        mantissa = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
        return f"{mantissa}e{int(power)}".replace("-", "−")
    if size >= 10**digits:
        return f"{value:.0f}".replace("-", "−")
    return f"{value:.{digits}g}".replace("-", "−")


def signed(value: float) -> str:
    """A number with its sign, to four digits.

    >>> signed(-0.05671), signed(2.0), signed(-0.0)
    ('−0.05671', '+2', '+0')
    """
    return f"{value + 0.0:+.4g}".replace("-", "−")


def tick_words(scale: Scale) -> list[str]:
    """The ticks of an axis, with as many decimals as the step between them needs.

    >>> tick_words(scale_of([95.0, 105.0], ticks=4))
    ['95.0', '97.5', '100.0', '102.5', '105.0']
    """
    if scale.log:
        return [number(tick) for tick in scale.ticks]
    exact = [Decimal(f"{tick:.12g}").normalize() for tick in scale.ticks]
    last = min((int(tick.as_tuple().exponent) for tick in exact if tick), default=0)
    top = max((tick.adjusted() for tick in exact if tick), default=0)
    if top < 5 and last >= -5:
        return [f"{tick:.{max(0, -last)}f}".replace("-", "−") for tick in scale.ticks]
    return [number(tick, max(3, top - last + 1)) for tick in scale.ticks]


def _round_ticks(low: float, high: float, count: int) -> tuple[float, ...]:
    rough = (high - low) / count
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(s * power for s in STEPS if s * power >= rough * 0.999)
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return tuple(float(f"{i * step:.12g}") + 0.0 for i in range(first, last + 1))


def _powers(low: float, high: float, count: int) -> tuple[float, ...]:
    first, last = math.ceil(math.log10(low)), math.floor(math.log10(high))
    every = max(1, math.ceil((last - first + 1) / count))
    powers = tuple(10.0**p for p in range(first, last + 1, every))
    return powers if len(powers) >= 2 else (low, *powers, high)


def thinned(values: Sequence[tuple[float, float]], most: int) -> list[tuple[float, float]]:
    """At most about ``most`` of the points: first, last, and the extremes of even stretches.

    >>> thinned([(i, float(i == 7)) for i in range(100)], 10)[1:3]
    [(1, 0.0), (7, 1.0)]
    """
    if len(values) <= most:
        return list(values)
    inner = range(1, len(values) - 1)
    stretches = max(1, (most - 2) // 2)
    kept = {0, len(values) - 1}
    for i in range(stretches):
        part = inner[i * len(inner) // stretches : (i + 1) * len(inner) // stretches]
        kept |= {min(part, key=lambda j: values[j][1]), max(part, key=lambda j: values[j][1])}
    return [values[j] for j in sorted(kept)]
