"""The interactive tree of a report: the data that its script draws, and a text alternative."""

from __future__ import annotations

import numpy as np
from markupsafe import Markup

from supclust.hac.tree import Floats
from supclust.report.page import render
from supclust.report.restore import LinkageTrees, SplitTrees
from supclust.report.scale import number
from supclust.report.scores import in_order
from supclust.report.trees import (
    Points,
    labelled_merges,
    mixed_merges,
    points_payload,
    purities,
    tree_payload,
)

MOST_BLOCKS, MOST_POINTS = 12, 6000
"""Limits of the blocks that a reader can choose between, and of their points together."""
LISTED = 12


def tree_section(trees: SplitTrees, first: str, key: str) -> Markup:
    """The tree of a test block, under any of the linkages.

    Args:
        trees: of one split.
        first: linkage shown first.
        key: element id of the tree, unique in the page; letters and digits.
    """
    blocks = _blocks(trees)
    linkages = [first, *(name for name in in_order(trees.linkages) if name != first)]
    shown, initial = blocks[0], trees.linkages[first]
    labelled = shown.labelled
    return render(
        "tree.html",
        key=key,
        choices=(
            ("block", "Block", [f"{p.name} ({len(p.ids)} points)" for p in blocks]),
            ("linkage", "Linkage", linkages),
            ("scale", "Heights", ["to scale", "evenly spaced"]),
        ),
        payload={
            "blocks": [points_payload(points) for points in blocks],
            "linkages": [
                {"trees": [tree_payload(p, of.trees[p.name], of.threshold) for p in blocks]}
                for of in (trees.linkages[name] for name in linkages)
            ],
        },
        left_out=len(trees.blocks) - len(blocks),
        words=_in_words(shown, first, initial) if labelled else "",
        mixed=_mixed_rows(shown, initial.trees[shown.name], initial.threshold) if labelled else [],
    )


def _blocks(trees: SplitTrees) -> list[Points]:
    """Blocks to choose from, largest first, within the limits; at least one."""
    chosen: list[Points] = []
    for points in trees.blocks.values():
        total = sum(len(other.ids) for other in chosen) + len(points.ids)
        if not chosen or (len(chosen) < MOST_BLOCKS and total <= MOST_POINTS):
            chosen.append(points)
    return chosen


def _in_words(points: Points, linkage: str, trees: LinkageTrees) -> str:
    """Counts of mixed merges: the text alternative of the picture."""
    tree = trees.trees[points.name]
    mixed, wrong, parted = mixed_merges(tree, points.labels, trees.threshold)
    clusters = len(np.unique(points.labels[points.labels >= 0]))
    known = int((points.labels >= 0).sum())
    some = "" if known == len(points.ids) else f" ({known} of them with a known cluster)"
    return (
        f"Block {points.name}, {linkage} linkage: {len(points.ids)} points{some} of {clusters} "
        f"true clusters. Of {len(tree)} merges {mixed} mix true clusters ({clusters - 1} are "
        f"unavoidable); {wrong} of them lie below the cut and are wrong. {parted} merges "
        "within one true cluster lie above the cut and part it."
    )


def _mixed_rows(points: Points, tree: Floats, threshold: float | None) -> list[tuple[object, ...]]:
    """The first `LISTED` merges that mix true clusters, for a table."""
    n = len(tree) + 1
    members: dict[int, list[int]] = {i: [i] for i in range(n)}
    heights = labelled_merges(tree, points.labels).heights
    shares = purities(tree, points.labels)
    rows: list[tuple[object, ...]] = []
    for k, (left, right) in enumerate(tree[:, :2].astype(int)):
        members[n + k] = members.pop(left) + members.pop(right)
        if shares[k] == 1 or len(rows) == LISTED:
            continue
        inside = points.labels[members[n + k]]
        codes, counts = np.unique(inside[inside >= 0], return_counts=True)
        order = np.argsort(-counts, kind="stable")[:6]
        names = ", ".join(f"{points.clusters[codes[i]]} ({counts[i]})" for i in order)
        more = f" and {len(codes) - 6} more" if len(codes) > 6 else ""
        wrong = threshold is not None and heights[k] <= threshold
        height, purity = number(float(heights[k]), 4), f"{100 * shares[k]:.0f} %"
        at_cut = "wrong" if wrong else "above"
        rows.append((height, len(members[n + k]), purity, at_cut, names + more))
    return rows
