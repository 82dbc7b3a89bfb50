"""A hash table from pairs of clusters to the edge between them.

Open addressing with linear probing. A slot holds an edge and 31 bits of the pair's hash; the pair
itself is read from the edge. A key is never looked up again once one of its clusters is merged, so
nothing is deleted: entries of merged clusters stay until the table is filled anew.
"""

from __future__ import annotations

from supclust.kernels import kernel

_BITS = (1 << 63) - 1
_MULTIPLIER = 0x1E3779B97F4A7C15
_EDGE = (1 << 32) - 1


@kernel
def capacity_bits(entries):
    """log2 of the number of slots that are at most half full with ``entries``."""
    bits = 3
    while (1 << bits) < 2 * entries:
        bits += 1
    return bits


@kernel
def hash_of(u, v):
    """63 bits that depend on the unordered pair of clusters."""
    low, high = int(min(u, v)), int(max(u, v))
    key = (high << 31) | low
    return ((key ^ (key >> 31)) * _MULTIPLIER) & _BITS


@kernel
def entry_of(hashed, edge):
    """Return what a slot holds for this edge; 0 is an empty slot."""
    return ((hashed & 0x7FFFFFFF) << 32) | (int(edge) + 1)


@kernel
def edge_of(entry):
    """Return the edge of a filled slot."""
    return (int(entry) & _EDGE) - 1


@kernel
def find(table, bits, edges, u, v, hashed):
    """Return the slot of the edge between clusters u and v, or the empty slot where it belongs.

    Args:
        table: (2^bits,) int64.
        bits: log2 of its length.
        edges: Records with the ends ``first`` (-1 for an edge that is gone) and ``second``.
        u: A cluster.
        v: Another cluster.
        hashed: `hash_of` the two.
    """
    mask = (1 << bits) - 1
    slot = hashed >> (63 - bits)
    while table[slot] != 0:
        entry = int(table[slot])
        if (entry >> 32) == (hashed & 0x7FFFFFFF):
            edge = edges[edge_of(entry)]
            a, b = edge["first"], edge["second"]
            if (a == u and b == v) or (a == v and b == u):
                return slot
        slot = (slot + 1) & mask
    return slot


@kernel
def fill(table, bits, edges):
    """Empty the table and enter the edges that are not gone; returns their number."""
    table[: 1 << bits] = 0
    live = 0
    for e in range(edges.size):
        u, v = edges[e]["first"], edges[e]["second"]
        if u >= 0:
            hashed = hash_of(u, v)
            table[find(table, bits, edges, u, v, hashed)] = entry_of(hashed, e)
            live += 1
    return live
