"""Square tiles of a matrix, held in vectors: compared with their mirror images, or unfolded.

Both run at memory's speed: a tile is turned in registers, and no column is read number by number.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils

from supclust.hac.cpu.simd.argmin import INT, LONG, VECTOR_BYTES, halves, intrinsic
from supclust.hac.cpu.simd.streaming_store import store_past_caches


def _turned(builder: Any, rows: list[Any]) -> list[Any]:
    """Transpose a square tile held in vectors, by exchanging ever smaller blocks."""
    lanes = len(rows)
    ints = ir.VectorType(INT, lanes)
    for width in halves(lanes):
        upper = [i if not i & width else lanes + i - width for i in range(lanes)]
        lower = [i + width if not i & width else lanes + i for i in range(lanes)]
        for r in range(lanes):
            if not r & width:
                a, b = rows[r], rows[r + width]
                rows[r] = builder.shuffle_vector(a, b, ir.Constant(ints, upper))
                rows[r + width] = builder.shuffle_vector(a, b, ir.Constant(ints, lower))
    return rows


class _Places:
    """Where the rows of tiles stand in memory."""

    def __init__(self, builder: Any, kind: Any) -> None:
        self.builder = builder
        self.itemsize = 4 if kind == types.float32 else 8
        self.lanes = VECTOR_BYTES // self.itemsize
        number = ir.FloatType() if kind == types.float32 else ir.DoubleType()
        self.vector = ir.VectorType(number, self.lanes)

    def of(self, array: Any, i: Any, j: Any) -> list[Any]:
        """The rows of the tile at (i, j) of a matrix."""
        builder = self.builder
        stride = cgutils.unpack_tuple(builder, array.strides, 2)[0]
        base = builder.ptrtoint(array.data, LONG)
        base = builder.add(base, builder.mul(j, LONG(self.itemsize)))
        starts = [builder.mul(builder.add(i, LONG(r)), stride) for r in range(self.lanes)]
        return [self._at(builder.add(base, start)) for start in starts]

    def of_condensed(self, array: Any, at: Any, step: Any) -> list[Any]:
        """The rows of a tile of a condensed vector; see `unfold`."""
        builder = self.builder
        places = []
        for r in range(self.lanes):
            places.append(builder.bitcast(builder.gep(array.data, [at]), self.vector.as_pointer()))
            at = builder.add(at, builder.sub(step, LONG(r)))
        return places

    def _at(self, address: Any) -> Any:
        return self.builder.inttoptr(address, self.vector.as_pointer())

    def load(self, places: list[Any]) -> list[Any]:
        return [self.builder.load(place, align=self.itemsize) for place in places]

    def store(self, rows: list[Any], places: list[Any], streamed: bool = False) -> None:
        for row, place in zip(rows, places, strict=True):
            if streamed:
                store_past_caches(self.builder, row, place)
            else:
                self.builder.store(row, place, align=self.itemsize)


def _build_mirrored(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    first_type, second_type = signature.args[:2]
    first = context.make_array(first_type)(context, builder, args[0])
    second = context.make_array(second_type)(context, builder, args[1])
    places = _Places(builder, first_type.dtype)
    i, j = args[2], args[3]
    rows = places.load(places.of(first, i, j))
    if len(args) == 5:
        _widen(builder, rows, context.make_array(signature.args[4])(context, builder, args[4]).data)
    turned = _turned(builder, rows)
    image = places.load(places.of(second, j, i))
    differ = [builder.fcmp_unordered("!=", a, b) for a, b in zip(turned, image, strict=True)]
    return _nowhere(builder, differ)


def _build_unfold(streamed: bool, context: Any, builder: Any, signature: Any, args: Any) -> Any:
    condensed, square, extremes = (
        context.make_array(signature.args[k])(context, builder, args[k]) for k in (0, 3, 6)
    )
    places = _Places(builder, signature.args[0].dtype)
    rows = places.load(places.of_condensed(condensed, args[1], args[2]))
    _widen(builder, rows, extremes.data)
    i, j = args[4], args[5]
    places.store(rows, places.of(square, i, j), streamed)
    odd = [builder.fcmp_unordered("uno", a, b) for a, b in zip(rows[::2], rows[1::2], strict=True)]
    places.store(_turned(builder, rows), places.of(square, j, i), streamed)
    return _nowhere(builder, odd)


def _build_turn(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    panel, square = (
        context.make_array(signature.args[k])(context, builder, args[k]) for k in (0, 2)
    )
    places = _Places(builder, signature.args[0].dtype)
    rows = places.load(places.of(panel, LONG(0), args[1]))
    places.store(_turned(builder, rows), places.of(square, args[1], args[3]), streamed=True)
    return context.get_dummy_value()


def _nowhere(builder: Any, found: list[Any]) -> Any:
    """Whether all of these vectors of bits are false."""
    anywhere = found[0]
    for bits in found[1:]:
        anywhere = builder.or_(anywhere, bits)
    number = ir.IntType(anywhere.type.count)
    return builder.icmp_unsigned("==", builder.bitcast(anywhere, number), number(0))


def _widen(builder: Any, rows: list[Any], extremes: Any) -> None:
    """Let the range that a vector of least and one of largest numbers describe hold the rows."""
    vector = rows[0].type
    for order, start in (("<", 0), (">", vector.count)):
        place = builder.bitcast(builder.gep(extremes, [LONG(start)]), vector.as_pointer())
        numbers = [*rows, builder.load(place, align=4)]
        while len(numbers) > 1:
            a, b = numbers.pop(0), numbers.pop(0)
            numbers.append(builder.select(builder.fcmp_ordered(order, a, b), a, b))
        builder.store(numbers[0], place, align=4)


@intrinsic
def is_mirrored(_: Any, first: Any, second: Any, i: Any, j: Any) -> Any:
    """Whether a square tile of ``first`` at (i, j) is the mirror image of ``second``'s at (j, i).

    A side of the tile is one vector, `VECTOR_BYTES`; a NaN is no image of anything.
    """
    return types.boolean(first, second, types.int64, types.int64), _build_mirrored


@intrinsic
def is_mirrored_within(_: Any, first: Any, second: Any, i: Any, j: Any, extremes: Any) -> Any:
    """As `is_mirrored`; widens ``extremes``: a vector of least, then one of largest numbers.

    A NaN may or may not be among them.
    """
    return types.boolean(first, second, types.int64, types.int64, extremes), _build_mirrored


@intrinsic
def unfold(
    _: Any, condensed: Any, at: Any, step: Any, square: Any, i: Any, j: Any, extremes: Any
) -> Any:
    """Write a square tile of a condensed vector to (i, j) of ``square``, its image to (j, i).

    The tile's first row begins at place ``at`` of the vector, the second ``step`` behind it, and so
    on with ever shorter steps. Widens ``extremes`` as `is_mirrored_within` does.

    Returns:
        Whether there is no NaN in it.
    """
    return _unfolding(condensed, square, extremes), partial(_build_unfold, False)


@intrinsic
def unfold_past_caches(
    _: Any, condensed: Any, at: Any, step: Any, square: Any, i: Any, j: Any, extremes: Any
) -> Any:
    """As `unfold`, past the caches; at both places lines of memory begin."""
    return _unfolding(condensed, square, extremes), partial(_build_unfold, True)


def _unfolding(condensed: Any, square: Any, extremes: Any) -> Any:
    long = types.int64
    return types.boolean(condensed, long, long, square, long, long, extremes)


@intrinsic
def turn(_: Any, panel: Any, left: Any, square: Any, top: Any) -> Any:
    """Write the image of the tile at column ``left`` of a panel to (left, top), past the caches.

    A panel has as many rows as a tile. Where the image goes, lines of memory begin.
    """
    return types.void(panel, types.int64, square, types.int64), _build_turn
