"""A 4-ary min-heap of (key, id) pairs in two arrays; equal keys are ordered by id."""

from __future__ import annotations

from supclust.kernels import kernel

_WAYS = 4  # the children of a node share a cache line


@kernel
def sift_down(keys, ids, count, place):
    """Move the pair at ``place`` down until no child is smaller."""
    key, id = keys[place], ids[place]
    while True:
        first = _WAYS * place + 1
        if first >= count:
            break
        least, least_key, least_id = first, keys[first], ids[first]
        for child in range(first + 1, min(first + _WAYS, count)):
            if keys[child] < least_key or (keys[child] == least_key and ids[child] < least_id):
                least, least_key, least_id = child, keys[child], ids[child]
        if key < least_key or (key == least_key and id < least_id):
            break
        keys[place], ids[place] = least_key, least_id
        place = least
    keys[place], ids[place] = key, id


@kernel
def heapify(keys, ids, count):
    """Order the first ``count`` pairs as a heap; O(count)."""
    for place in range((count - 2) // _WAYS, -1, -1):
        sift_down(keys, ids, count, place)


@kernel
def drop_least(keys, ids, count):
    """Remove the least pair; returns the new length."""
    count -= 1
    if count > 0:
        keys[0], ids[0] = keys[count], ids[count]
        sift_down(keys, ids, count, 0)
    return count
