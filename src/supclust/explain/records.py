"""Why two records are together or apart, and what holds a cluster together: facts, plain values."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from supclust.explain.component import Component, Ints
from supclust.explain.waterfall import Waterfall

SHOWN = 3
"""Strongest and weakest pairs that are listed."""
MOST_MEMBERS = 20
"""Records of a side that are listed."""


def explain_meeting(component: Component, ids: Sequence[str], a: int, b: int) -> dict[str, Any]:
    """Why two records of one component are together or apart.

    Args:
        component: of both records.
        ids: (n,) of its records.
        a: a node.
        b: another node.

    Returns:
        ``reason``: ``merge`` (together), ``must-link``, ``cut`` (they would be merged above it) or
        ``never`` (no height below that of missing pairs, or a cannot-link); and of the two clusters
        that are merged there, or kept apart: height, waterfall and pairs.
    """
    meeting = component.meeting(a, b)
    if meeting is None:
        reason, sides = "never", (component.cluster_of(a), component.cluster_of(b))
    else:
        reason = "merge" if meeting.height <= component.threshold else "cut"
        reason = "must-link" if meeting.height == -np.inf else reason
        sides = (meeting.left, meeting.right)
        if b in meeting.left:
            sides = sides[::-1]
    return {
        "together": reason in ("merge", "must-link"),
        "reason": reason,
        "threshold": component.threshold,
        **explain_sides(component, ids, *sides),
        "direct": explain_pair(component, a, b),
        "chain": _chain(component, ids, a, b),
    }


def explain_sides(
    component: Component, ids: Sequence[str], left: Ints, right: Ints
) -> dict[str, Any]:
    """Linkage of two clusters: its height, waterfall, and the strongest and weakest pairs."""
    waterfall = component.waterfall(left, right)
    given = component.between(left, right)
    shown = min(SHOWN, len(given) // 2 if len(given) > 1 else 1)

    def pairs(positions: Ints) -> list[dict[str, Any]]:
        return [
            {
                "records": [ids[int(component.first[k])], ids[int(component.second[k])]],
                "dissimilarity": float(component.dissimilarity[k]),
            }
            for k in positions
        ]

    return {
        "height": waterfall.height,
        "sides": [[ids[int(k)] for k in side] for side in (left, right)],
        "pairs": len(left) * len(right),
        "given": len(given),
        "missing": component.missing,
        "waterfall": described(waterfall),
        "strongest": pairs(given[:shown]),
        "weakest": pairs(given[::-1][:shown] if len(given) > 1 else given[:0]),
    }


def explain_pair(component: Component, a: int, b: int) -> dict[str, Any] | None:
    """Dissimilarity of two records and its waterfall; ``None`` if it is not given."""
    given = component.between([a], [b])
    if not len(given):
        return None
    waterfall = component.waterfall(np.array([a]), np.array([b]))
    return {"dissimilarity": waterfall.height, "waterfall": described(waterfall)}


def explain_cluster(component: Component, ids: Sequence[str], node: int) -> dict[str, Any]:
    """What holds the cluster of a node together, and which cluster is next to it.

    Returns:
        ``last``: the last merge of the cluster, ``None`` of a record alone; ``next``: the merge
        that the cut prevents, ``None`` if there is none.
    """
    members = component.cluster_of(node)
    last = following = None
    inside = component.clusters == component.clusters[node]
    for k in np.flatnonzero(inside[component.pairs[:, 0]] | inside[component.pairs[:, 1]]):
        if component.heights[k] <= component.threshold:
            last = int(k)
        else:
            following = int(k)
            break
    return {
        "members": [ids[int(k)] for k in members],
        "threshold": component.threshold,
        "last": None if last is None else _merge(component, ids, last),
        "next": None if following is None else _merge(component, ids, following),
    }


def described(waterfall: Waterfall) -> dict[str, Any]:
    """A waterfall as plain values: its features, by column, the largest part first."""
    features = sorted(
        zip(waterfall.names, waterfall.parts.tolist(), strict=True), key=lambda one: -abs(one[1])
    )
    return {
        "columns": waterfall.by_column,
        "features": {name: part for name, part in features if part != 0},
        "always": waterfall.always,
        "not_given": waterfall.not_given,
        "height": waterfall.height,
    }


def _merge(component: Component, ids: Sequence[str], k: int) -> dict[str, Any]:
    merge = component.merge(k)
    facts = explain_sides(component, ids, merge.left, merge.right)
    return {"must_link": merge.height == -np.inf, **facts}


def _chain(component: Component, ids: Sequence[str], a: int, b: int) -> list[dict[str, Any]]:
    """The best chain of pairs between two records that have no pair of their own."""
    if len(component.between([a], [b])):
        return []
    nodes = component.chain(a, b)
    return [
        {
            "records": [ids[u], ids[v]],
            "dissimilarity": float(component.dissimilarity[component.between([u], [v])[0]]),
        }
        for u, v in pairwise(nodes)
    ]
