"""Compiled work of a store: pairs of groups of rows."""

from __future__ import annotations

from supclust.kernels import kernel


@kernel
def count_group_pairs(starts, members, first, whole):
    """Number of pairs that `list_group_pairs` lists."""
    count = 0
    for group in range(starts.shape[0] - 1):
        for b in range(starts[group], starts[group + 1]):
            if whole[group] or members[b] >= first:
                count += b - starts[group]
    return count


@kernel
def list_group_pairs(starts, members, first, whole, out):
    """Pairs of rows of a group, as larger row + smaller row << 32; those with a new row.

    Args:
        starts: (groups + 1,).
        members: rows of the groups, ascending in each.
        first: rows from here on are new.
        whole: (groups,) whether all pairs of a group are listed.
        out: filled.
    """
    count = 0
    for group in range(starts.shape[0] - 1):
        for b in range(starts[group], starts[group + 1]):
            if whole[group] or members[b] >= first:
                for a in range(starts[group], b):
                    out[count] = (members[a] << 32) | members[b]
                    count += 1
