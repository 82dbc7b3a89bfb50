"""Compare a tile of a matrix with its mirror image, held in vectors: a check at memory's speed."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils

from supclust.hac._vector import INT, LONG, VECTOR_BYTES, halves, intrinsic


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


def _build_mirrored(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    first_type, second_type = signature.args[:2]
    first = context.make_array(first_type)(context, builder, args[0])
    second = context.make_array(second_type)(context, builder, args[1])
    kind = ir.FloatType() if first_type.dtype == types.float32 else ir.DoubleType()
    itemsize = 4 if first_type.dtype == types.float32 else 8
    lanes = VECTOR_BYTES // itemsize
    vector = ir.VectorType(kind, lanes)

    def tile(array: Any, i: Any, j: Any) -> list[Any]:
        stride = cgutils.unpack_tuple(builder, array.strides, 2)[0]
        base = builder.ptrtoint(array.data, LONG)
        base = builder.add(base, builder.mul(j, LONG(itemsize)))
        rows = []
        for r in range(lanes):
            at = builder.add(base, builder.mul(builder.add(i, LONG(r)), stride))
            rows.append(builder.load(builder.inttoptr(at, vector.as_pointer()), align=itemsize))
        return rows

    i, j = args[2], args[3]
    rows = tile(first, i, j)
    if len(args) == 5:
        _widen(builder, rows, context.make_array(signature.args[4])(context, builder, args[4]).data)
    turned = _turned(builder, rows)
    unequal = None
    for a, b in zip(turned, tile(second, j, i), strict=True):
        differs = builder.fcmp_unordered("!=", a, b)
        unequal = differs if unequal is None else builder.or_(unequal, differs)
    bits = builder.bitcast(unequal, ir.IntType(lanes))
    return builder.icmp_unsigned("==", bits, ir.IntType(lanes)(0))


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
