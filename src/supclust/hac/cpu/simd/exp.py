"""exp without a branch, a table or a call: of one number, and of a row in explicit vectors (Numba).

A loop over it takes a quarter of the time of the library's.
"""

from __future__ import annotations

import math
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils

from supclust.hac.cpu.simd.argmin import INT, LONG, VECTOR_BYTES, intrinsic, spread

LARGEST = 700.0  # of |x| in float64 (80 in float32); beyond it the result leaves the normal range

_PER_LOG_2 = 1.4426950408889634
_FUSED = ("contract",)  # a product and a sum may be rounded once
# The polynomials 1 + c1 r + c2 r^2 + ... nearest to exp(r) for |r| <= log(2) / 2, by Remez' method;
# relative errors 2e-17 and 3e-9.
_DOUBLE = (
    1.0, 1.0000000000000007, 0.5000000000000006, 0.16666666666657304, 0.041666666666573635,
    0.008333333337715335, 0.0013888888932341965, 0.00019841261491621495, 2.480150450940956e-05,
    2.756425473134473e-06, 2.7626297220014356e-07, 2.2981375717397095e-08,
)  # fmt: skip
_SINGLE = (
    1.0, 1.000000049640328, 0.5000000434377219, 0.16666365440690586, 0.04166477727565841,
    0.008379011281876049, 0.0014061243951529272,
)  # fmt: skip


class Exponential:
    """Builds exp(x) = 2^k exp(r), k the integer nearest to x / log 2, for one float type.

    It is exactly 1 at 0.

    Args:
        builder: of the code.
        kind: Numba's float32 or float64.
        lanes: of a vector; 0: a number.
    """

    def __init__(self, builder: Any, kind: Any, lanes: int) -> None:
        double = kind == types.float64
        self.builder, self.lanes, self.double = builder, lanes, double
        number, whole = (ir.DoubleType(), LONG) if double else (ir.FloatType(), INT)
        self.number = ir.VectorType(number, lanes) if lanes else number
        self.whole = ir.VectorType(whole, lanes) if lanes else whole
        # log 2 in two parts, the first with so few bits that its products with k are exact.
        self.log_2 = (
            (0.693147180369123816490, 1.90821492927058770002e-10)
            if double
            else (0.693359375, -2.12194440e-4)
        )
        # Adding it rounds a small number to an integer and leaves that in the lowest bits.
        self.rounder = 1.5 * 2.0**52 if double else 1.5 * 2.0**23
        self.fraction_bits = 52 if double else 23

    def constant(self, value: float | int, kind: Any) -> Any:
        """A constant in every lane."""
        return ir.Constant(kind, [value] * self.lanes if self.lanes else value)

    def of(self, x: Any, rounded: bool = False) -> Any:
        """The code for exp(x).

        Of an x that is ``rounded`` itself, by half a unit in its last place, one step is left out:
        what that adds to the error is a third of what the rounding has done already (as much, where
        the processor cannot multiply and add at once).
        """
        builder, rounder = self.builder, self.constant(self.rounder, self.number)
        shifted = self.add(self.times(x, self.constant(_PER_LOG_2, self.number)), rounder)
        k = builder.fsub(shifted, rounder)
        r = x
        for part in (math.log(2.0),) if rounded else self.log_2:
            r = builder.fsub(r, self.times(k, self.constant(part, self.number)), flags=_FUSED)
        # exp(r) lies near 1: k is added to its exponent. The shift drops the rounder's bits.
        bits = builder.bitcast(shifted, self.whole)
        bits = builder.shl(bits, self.constant(self.fraction_bits, self.whole))
        near_one = builder.bitcast(self.near_one(r), self.whole)
        return builder.bitcast(builder.add(near_one, bits), self.number)

    def near_one(self, r: Any) -> Any:
        """exp(r), the even and the odd powers by themselves: two sums that do not wait."""
        terms = [self.constant(c, self.number) for c in (_DOUBLE if self.double else _SINGLE)]
        square = self.times(r, r)
        even, odd = (self._polynomial(terms[first::2], square) for first in (0, 1))
        return self.add(self.times(odd, r), even)

    def _polynomial(self, terms: list[Any], x: Any) -> Any:
        value = terms[-1]
        for term in reversed(terms[:-1]):
            value = self.add(self.times(value, x), term)
        return value

    def times(self, a: Any, b: Any) -> Any:
        """A * b, which the compiler may fuse with an addition."""
        return self.builder.fmul(a, b, flags=_FUSED)

    def add(self, a: Any, b: Any) -> Any:
        """A + b, which the compiler may fuse with a product."""
        return self.builder.fadd(a, b, flags=_FUSED)


def _build_one(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    return Exponential(builder, signature.args[0], 0).of(args[0])


@intrinsic
def exponential(_: Any, x: Any) -> Any:
    """exp(x) for |x| <= `LARGEST`, to about two units in the last place."""
    return x(x), _build_one


def _build_row(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    kind = signature.args[0].dtype
    values, weights = (
        builder.gep(context.make_array(signature.args[i])(context, builder, args[i]).data,
                    [args[i + 1]])
        for i in (0, 2)
    )  # fmt: skip
    length, alpha, centre = args[4:]
    itemsize = kind.bitwidth // 8
    lanes = VECTOR_BYTES // itemsize

    def write(wide: int, at: Any) -> None:
        made = Exponential(builder, kind, wide)
        pointer = made.number.as_pointer()
        source, target = (builder.bitcast(builder.gep(data, [at]), pointer)
                          for data in (values, weights))  # fmt: skip
        scalars = (centre, alpha)
        middle, factor = (spread(builder, s, made.number) if wide else s for s in scalars)
        x = builder.fmul(builder.fsub(builder.load(source, align=itemsize), middle), factor)
        builder.store(made.of(x), target, align=itemsize)

    enough = builder.icmp_signed(">=", length, LONG(lanes))
    with builder.if_else(enough) as (long, short):
        with long:
            last = builder.sub(length, LONG(lanes))
            with cgutils.for_range_slice(builder, LONG(0), last, LONG(lanes)) as (at, _):
                write(lanes, at)
            write(lanes, last)  # overlaps what is there: the same numbers again
        with short, cgutils.for_range_slice(builder, LONG(0), length, LONG(1)) as (at, _):
            write(0, at)
    return context.get_dummy_value()


@intrinsic
def exponentials(
    _: Any, values: Any, start: Any, weights: Any, begin: Any, length: Any, alpha: Any, centre: Any
) -> Any:
    """weights[begin + i] = exp(alpha (values[start + i] - centre)) for i below ``length``.

    Both arrays are contiguous, of one type, and do not overlap.
    """
    kind = values.dtype
    place = types.int64
    return types.void(values, place, weights, place, place, kind, kind), _build_row
