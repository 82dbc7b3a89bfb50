"""Searches through rows with explicit vectors: the compiler leaves their loops scalar (Numba).

A search for a minimum carries a comparison from element to element, which LLVM does not vectorise
for floats. Written as vectors of its intermediate language it takes a fifth of the time. Nothing
here depends on the processor: LLVM splits the vectors into what the machine has.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic as _intrinsic

intrinsic: Any = _intrinsic  # its own type takes the typing context for an argument

VECTOR_BYTES = 64
CHAINS = 4  # vectors compared side by side, so that no comparison waits for the one before
INT = ir.IntType(32)
LONG = ir.IntType(64)


def spread(builder: Any, scalar: Any, vector: Any) -> Any:
    """A vector with the same number in every lane."""
    empty = ir.Constant(vector, ir.Undefined)
    zeros = ir.Constant(ir.VectorType(INT, vector.count), [0] * vector.count)
    return builder.shuffle_vector(builder.insert_element(empty, scalar, INT(0)), empty, zeros)


def prefetch(builder: Any, pointer: Any, soon: bool) -> None:
    """Ask for a line of memory without waiting, into the first cache if it is needed ``soon``.

    Of an address that is nobody's nothing comes.
    """
    place = ir.IntType(8).as_pointer()
    kind = ir.FunctionType(ir.VoidType(), [place, INT, INT, INT])
    fetch = builder.module.declare_intrinsic("llvm.prefetch", (place,), kind)
    # To read; for how long; as data.
    builder.call(fetch, [builder.bitcast(pointer, place), INT(0), INT(3 if soon else 1), INT(1)])


class Search:
    """Builds the search of one row: lanes keep their smallest value and where it stood."""

    def __init__(
        self, builder: Any, order: str, data: Any, barrier: Any, kind: Any, width: int = 0
    ) -> None:
        self.builder, self.order, self.data, self.barrier = builder, order, data, barrier
        self.float = ir.FloatType() if kind == types.float32 else ir.DoubleType()
        self.itemsize = 4 if kind == types.float32 else 8
        self.lanes = VECTOR_BYTES // self.itemsize
        self.floats = ir.VectorType(self.float, self.lanes)
        self.ints = ir.VectorType(INT, self.lanes)
        chains = range(width // self.lanes or CHAINS)
        self.least = [cgutils.alloca_once(builder, self.floats) for _ in chains]
        self.where = [cgutils.alloca_once(builder, self.ints) for _ in chains]
        self.found = cgutils.alloca_once(builder, LONG)

    def read(self, at: Any) -> Any:
        """The values of the columns from ``at`` on."""
        values = [self._load(self.data, at)]
        if self.barrier is not None:
            values.append(self._load(self.barrier, at))
            return self.builder.fadd(*values)
        return values[0]

    def _load(self, data: Any, at: Any) -> Any:
        place = self.builder.bitcast(self.builder.gep(data, [at]), self.floats.as_pointer())
        return self.builder.load(place, align=self.itemsize)

    def start(self, chain: int, at: Any) -> None:
        """Begin a chain of comparisons with the vector at a position."""
        self.builder.store(self.read(at), self.least[chain])
        self._note(chain, at)

    def _note(self, chain: int, at: Any) -> None:
        here = spread(self.builder, self.builder.trunc(at, INT), self.ints)
        self.builder.store(here, self.where[chain])

    def step(self, chain: int, at: Any) -> None:
        """Compare the next vector with a chain's; at a tie the earlier column stays."""
        builder = self.builder
        found, known = self.read(at), builder.load(self.least[chain])
        lower = builder.fcmp_ordered(self.order, found, known)
        builder.store(builder.select(lower, found, known), self.least[chain])
        self.beaten(chain, builder.select(lower, known, found))
        here = spread(builder, builder.trunc(at, INT), self.ints)
        place = builder.select(lower, here, builder.load(self.where[chain]))
        builder.store(place, self.where[chain])

    def beaten(self, chain: int, number: Any) -> None:
        """Take notice of the other number of a comparison; here nobody does."""

    def lesser(self, a: Any, b: Any) -> Any:
        """The smaller of two vectors, lane by lane (in a search for the largest, the larger)."""
        return self.builder.select(self.builder.fcmp_ordered(self.order, a, b), a, b)

    def least_of_lanes(self, least: Any) -> Any:
        """A vector with the smallest of its numbers in every lane."""
        for width in halves(self.lanes):
            turned = ir.Constant(self.ints, [(i + width) % self.lanes for i in range(self.lanes)])
            least = self.lesser(self.builder.shuffle_vector(least, least, turned), least)
        return least

    def finish(self, count: int) -> None:
        """Store the lowest column of the smallest value of the first ``count`` chains."""
        builder = self.builder
        least = builder.load(self.least[0])
        for chain in range(1, count):
            least = self.lesser(builder.load(self.least[chain]), least)
        least = self.least_of_lanes(least)
        nowhere = ir.Constant(self.ints, [2**31 - 1] * self.lanes)
        lane = ir.Constant(self.ints, list(range(self.lanes)))
        column = nowhere
        for chain in range(count):
            # unordered: a place is found even among NaN
            equal = builder.fcmp_unordered("==", builder.load(self.least[chain]), least)
            at = builder.add(builder.load(self.where[chain]), lane)
            at = builder.select(equal, at, nowhere)
            column = builder.select(builder.icmp_signed("<", at, column), at, column)
        for width in halves(self.lanes):
            turned = ir.Constant(self.ints, [(i + width) % self.lanes for i in range(self.lanes)])
            other = builder.shuffle_vector(column, column, turned)
            column = builder.select(builder.icmp_signed("<", other, column), other, column)
        column = builder.extract_element(column, INT(0))
        builder.store(builder.sext(column, LONG), self.found)


def halves(lanes: int) -> list[int]:
    """8, 4, 2, 1 of 16: the steps in which lanes are brought together."""
    return [lanes >> k for k in range(1, lanes.bit_length())]


def sweep(builder: Any, length: Any, lanes: int, lane_work: Any, short_row: Any) -> None:
    """Call ``start``, ``step`` and ``finish`` of ``lane_work`` over a row, in chains of vectors.

    The last vectors overlap columns already seen, which cannot change a minimum or a maximum.
    A row shorter than a vector is left to ``short_row``.
    """
    stride = lanes * CHAINS
    with builder.if_else(builder.icmp_signed(">=", length, LONG(stride))) as (long, medium):
        with long:
            sweep_chains(builder, length, lanes, CHAINS, lane_work)
        with medium:
            some = builder.icmp_signed(">=", length, LONG(lanes))
            with builder.if_else(some) as (one_chain, few):
                with one_chain:
                    sweep_chains(builder, length, lanes, 1, lane_work)
                with few:
                    short_row()


def sweep_chains(builder: Any, length: Any, lanes: int, count: int, lane_work: Any) -> None:
    """As `sweep`, in ``count`` chains, for a row that is long enough for them."""
    stride = LONG(lanes * count)
    offsets = [LONG(chain * lanes) for chain in range(count)]
    for chain, offset in enumerate(offsets):
        lane_work.start(chain, offset)
    whole = builder.mul(builder.sdiv(length, stride), stride)
    with cgutils.for_range_slice(builder, stride, whole, stride) as (at, _):
        for chain, offset in enumerate(offsets):
            lane_work.step(chain, builder.add(at, offset))
    last = builder.sub(length, stride)
    for chain, offset in enumerate(offsets):
        lane_work.step(chain, builder.add(last, offset))
    lane_work.finish(count)


def _build(order: str, context: Any, builder: Any, signature: Any, args: Any) -> Any:
    row_type = signature.args[0]
    data = context.make_array(row_type)(context, builder, args[0]).data
    data, length = builder.gep(data, [args[1]]), args[2]
    barrier = None
    if len(args) == 4:
        barrier = context.make_array(signature.args[3])(context, builder, args[3]).data
    search = Search(builder, order, data, barrier, row_type.dtype)

    def short_row() -> None:
        builder.store(_one_by_one(builder, order, data, barrier, length), search.found)

    sweep(builder, length, search.lanes, search, short_row)
    return builder.load(search.found)


def _one_by_one(builder: Any, order: str, data: Any, barrier: Any, length: Any) -> Any:
    def value(at: Any) -> Any:
        number = builder.load(builder.gep(data, [at]))
        if barrier is None:
            return number
        return builder.fadd(number, builder.load(builder.gep(barrier, [at])))

    best = cgutils.alloca_once_value(builder, LONG(0))
    with cgutils.for_range_slice(builder, LONG(1), length, LONG(1)) as (at, _):
        lower = builder.fcmp_ordered(order, value(at), value(builder.load(best)))
        builder.store(builder.select(lower, at, builder.load(best)), best)
    return builder.load(best)


@intrinsic
def argmin(_: Any, values: Any, start: Any, length: Any) -> Any:
    """Return the lowest place of the smallest of ``values[start : start + length]``.

    Counted from ``start``. There must be a first value, and no NaN; the values are contiguous.
    """
    return types.int64(values, types.int64, types.int64), partial(_build, "<")


@intrinsic
def argmax(_: Any, values: Any, start: Any, length: Any) -> Any:
    """As `argmin`, of the largest."""
    return types.int64(values, types.int64, types.int64), partial(_build, ">")


@intrinsic
def argmin_beyond(_: Any, values: Any, start: Any, length: Any, barrier: Any) -> Any:
    """As `argmin`, of the sums of the values and ``barrier[:length]``."""
    return types.int64(values, types.int64, types.int64, barrier), partial(_build, "<")


def _build_larger(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    return builder.select(builder.fcmp_ordered(">", *args), *args)


@intrinsic
def larger(_: Any, a: Any, b: Any) -> Any:
    """The larger of two floats, as a selection.

    Of Python's max the compiler makes a store that depends on a comparison, and no vectors.
    """
    return a(a, b), _build_larger
