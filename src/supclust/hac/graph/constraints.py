"""Must-links and cannot-links: pairs of nodes, and the error that shows a contradiction."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supclust.hac.graph.arrange import flatten, join

Ints = NDArray[np.int64]


def check_pairs(pairs: ArrayLike | None, n: int, name: str) -> Ints:
    """Return pairs of nodes as (k, 2) int64.

    Args:
        pairs: (k, 2) whole numbers from 0 to n - 1, or ``None`` for none.
        n: Number of nodes.
        name: Of the argument, for messages.
    """
    given = np.asarray([] if pairs is None else pairs)
    if given.size == 0:
        return np.empty((0, 2), np.int64)
    if given.ndim != 2 or given.shape[1] != 2 or given.dtype.kind not in "iu":
        raise ValueError(
            f"{name} must be pairs of node numbers, (k, 2) integers; received {given.dtype} of "
            f"shape {given.shape}. Pass e.g. [(0, 3), (4, 7)]."
        )
    if given.min() < 0 or given.max() >= n:
        row = int(np.argmax(((given < 0) | (given >= n)).any(axis=1)))
        raise ValueError(
            f"{name} must be pairs of nodes from 0 to {n - 1}; received "
            f"{tuple(given[row].tolist())} in row {row}. Correct or remove it."
        )
    return given.astype(np.int64)


def merged_groups(
    must: Ints,
    cannot: Ints,
    n: int,
    name_of: Callable[[int], object] = int,
    remedy: str = "Remove one of these pairs.",
) -> NDArray[np.int32]:
    """Return, (n,), the smallest node that each node is must-linked with, directly or by a chain.

    Args:
        must: (k, 2) pairs.
        cannot: (l, 2) pairs.
        n: Number of nodes.
        name_of: What a message calls a node.
        remedy: How to fix it, for the message.

    Raises:
        ValueError: a cannot-link joins nodes of one group; it shows the shortest chain.
    """
    group = np.arange(n, dtype=np.int32)
    join(group, must.astype(np.int32))
    flatten(group)
    broken = cannot[group[cannot[:, 0]] == group[cannot[:, 1]]]
    if len(broken):
        chain = min((shortest_chain(must, a, b) for a, b in broken.tolist()), key=len)
        links = " = ".join(str(name_of(node)) for node in chain)
        a, b = name_of(chain[0]), name_of(chain[-1])
        why = f"must-links {links}" if len(chain) > 1 else "a node is always with itself"
        raise ValueError(
            f"constraints must not contradict each other; received cannot-link {a} | {b}, but "
            f"{why}. {remedy}"
        )
    return group


def links_by_block(
    must: Ints, cannot: Ints, block: NDArray[np.integer], place: NDArray[np.integer]
) -> dict[int, tuple[Ints, Ints]]:
    """Constraints of blocks that are clustered on their own.

    Args:
        must: (k, 2) pairs of rows.
        cannot: (l, 2) pairs of rows; those of two blocks hold anyway.
        block: (n,) block of every row.
        place: (n,) position of every row in its block.

    Returns:
        Must-links and cannot-links by block, as positions in it; blocks without any are left out.
    """
    apart = must[block[must[:, 0]] != block[must[:, 1]]]
    if len(apart):
        raise ValueError(
            "a must-link must lie within one block, since blocks are clustered on their own; "
            f"received rows {apart[0, 0]} and {apart[0, 1]} (counted from 0) of different blocks. "
            "Remove the pair, or put the rows into one block."
        )
    cannot = cannot[block[cannot[:, 0]] == block[cannot[:, 1]]]
    owners = [block[pairs[:, 0]] for pairs in (must, cannot)]
    return {
        int(k): (place[must[owners[0] == k]], place[cannot[owners[1] == k]])
        for k in np.unique(np.concatenate(owners))
    }


def require_joined(Z: NDArray[np.float64], n_clusters: int | None) -> None:
    """Refuse a number of clusters that only merges at infinity would reach."""
    least = 1 + int(np.isposinf(Z[:, 2]).sum())
    if n_clusters is not None and n_clusters < least:
        raise ValueError(
            f"n_clusters must be at least {least}: other clusters are never joined, because of "
            f"cannot-links or missing pairs; received {n_clusters}. Raise it, or cut at a height."
        )


def shortest_chain(must: Ints, start: int, end: int) -> list[int]:
    """Shortest chain of must-links, or other pairs, that connects two nodes."""
    neighbours: dict[int, list[int]] = {}
    for a, b in must.tolist():
        neighbours.setdefault(a, []).append(b)
        neighbours.setdefault(b, []).append(a)
    before = {start: start}
    queue = deque([start])
    while end not in before:
        node = queue.popleft()
        for neighbour in neighbours[node]:
            if neighbour not in before:
                before[neighbour] = node
                queue.append(neighbour)
    chain = [end]
    while chain[-1] != start:
        chain.append(before[chain[-1]])
    return chain[::-1]
