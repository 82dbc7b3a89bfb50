"""The interactive tree of a report: what the script draws, and the same in words and a table."""

from __future__ import annotations

from typing import Any

import numpy as np

from supclust.report.axes import number
from supclust.report.escape import script_json, text
from supclust.report.restored import LinkageCase, TreeCase
from supclust.report.sections import in_order
from supclust.report.trees import (
    Points,
    labelled_merges,
    mixed_merges,
    points_payload,
    purities,
    tree_payload,
)

MOST_BLOCKS, MOST_POINTS = 12, 6000
"""Of the blocks that a reader can choose between: at most so many, of so many points together."""
LISTED = 12
_BUTTONS = (
    ("in", "Zoom in", "+"),
    ("out", "Zoom out", "−"),
    ("left", "Move left", "←"),
    ("right", "Move right", "→"),
    ("fit", "Show the whole tree", "Whole tree"),
    ("next", "Go to the next wrong merge", "Next wrong merge"),
    ("reset", "Put the cut back to the chosen one", "Chosen cut"),
)


def tree_section(case: TreeCase, first: str, key: str) -> str:
    """The tree of a test block, under any of the linkages.

    Args:
        case: trees of one split.
        first: linkage shown first.
        key: distinguishes it from other trees of the page; letters and digits.
    """
    blocks = _blocks(case)
    linkages = [first, *(name for name in in_order(case.linkages) if name != first)]
    payload = {
        "blocks": [points_payload(points) for points in blocks],
        "linkages": [{"trees": _trees(blocks, case.linkages[name])} for name in linkages],
    }
    left_out = len(case.blocks) - len(blocks)
    note = f"<p class='note'>{left_out} further test blocks are left out.</p>" if left_out else ""
    return (
        f'<div class="tree" data-source="{key}">{_controls(blocks, linkages, key)}'
        f"{_stage(key)}{_legend()}</div>{note}"
        f'<script type="application/json" id="{key}">{script_json(payload)}</script>'
        f"{_in_words(blocks[0], first, case.linkages[first])}"
    )


def _trees(blocks: list[Points], case: LinkageCase) -> list[dict[str, Any]]:
    return [tree_payload(points, case.trees[points.name], case.threshold) for points in blocks]


def _blocks(case: TreeCase) -> list[Points]:
    """Blocks to choose from, largest first, while they fit; at least one."""
    chosen: list[Points] = []
    for points in case.blocks.values():
        total = sum(len(other.ids) for other in chosen) + len(points.ids)
        if chosen and (len(chosen) == MOST_BLOCKS or total > MOST_POINTS):
            continue
        chosen.append(points)
    return chosen


def _controls(blocks: list[Points], linkages: list[str], key: str) -> str:
    choices = (
        ("block", "Block", [f"{p.name} ({len(p.ids)} points)" for p in blocks]),
        ("linkage", "Linkage", linkages),
        ("scale", "Heights", ["to scale", "evenly spaced"]),
    )
    selects = "".join(
        f'<label>{label} <select data-role="{role}" autocomplete="off">'
        + "".join(f'<option value="{i}">{text(name)}</option>' for i, name in enumerate(names))
        + "</select></label>"
        for role, label, names in choices
    )
    buttons = "".join(
        f'<button type="button" data-act="{act}" aria-label="{words}" title="{words}">'
        f"{face}</button>"
        for act, words, face in _BUTTONS
    )
    return (
        f'<div class="controls">{selects}</div>'
        f'<div class="controls" role="toolbar" aria-label="Move around in the tree" '
        f'aria-controls="{key}-stage">{buttons}</div>'
        f'<div class="cutting"><label for="{key}-cut">Cut</label>'
        f'<input id="{key}-cut" data-role="cut" type="range" min="0" max="1" step="1" value="0" '
        f'autocomplete="off"><output for="{key}-cut" data-role="scores"></output></div>'
    )


def _stage(key: str) -> str:
    return (
        f'<p class="note" id="{key}-help">Point at a merge to see its height, size and purity; '
        "click it for the points in it. Drag to move.</p>"
        '<details class="note"><summary>Wheel and keys</summary>Ctrl + wheel zooms, and the wheel '
        "alone once the tree is active. Keys in the tree: arrows go to the parent (up), into a "
        "merge (down) and to its other side (left, right); Enter zooms to the node, + and − zoom, "
        "Shift + left or right moves, 0 shows the whole tree, N goes to the next wrong merge, "
        "Esc lets go.</details>"
        f'<div class="stage" id="{key}-stage" data-role="stage" tabindex="0" role="application" '
        f'aria-label="Dendrogram" aria-describedby="{key}-help">'
        "<noscript>The tree is drawn by a script, which is switched off in this browser.</noscript>"
        '<div class="tip" data-role="tip" hidden></div></div>'
        '<div class="details" data-role="details" aria-live="polite"></div>'
    )


def _legend() -> str:
    marks = (
        ("wrong", "wrong merge: mixes true clusters below the cut"),
        ("mixed", "mixes true clusters above the cut, where it does no harm"),
        ("parted", "one true cluster, parted by the cut"),
    )
    items = "".join(
        f'<li><svg class="marker {name}" viewBox="-8 -8 16 16" aria-hidden="true">'
        f'<path d="{MARKS[name]}"/></svg>{words}</li>'
        for name, words in marks
    )
    return (
        f'<ul class="legend" aria-label="Merges">{items}</ul>'
        '<ul class="legend clusters" data-role="clusters" aria-label="True clusters"></ul>'
    )


MARKS = {
    "wrong": "M-6 -6L6 6M6 -6L-6 6",
    "mixed": "M0 -5L5 0L0 5L-5 0Z",
    "parted": "M-4 -4H4V4H-4Z",
}


def _in_words(points: Points, linkage: str, case: LinkageCase) -> str:
    """The same as the picture for those who do not see it: counts, and the mixed merges."""
    if not points.labelled:
        return ""
    tree = case.trees[points.name]
    mixed, wrong, parted = mixed_merges(tree, points.labels, case.threshold)
    clusters = len(np.unique(points.labels[points.labels >= 0]))
    known = int((points.labels >= 0).sum())
    some = "" if known == len(points.ids) else f" ({known} of them with a known cluster)"
    sentence = (
        f"Block {points.name}, {linkage} linkage: {len(points.ids)} points{some} of {clusters} "
        f"true clusters. Of {len(tree)} merges {mixed} mix true clusters ({clusters - 1} have "
        f"to, to reach the top); {wrong} of them lie below the cut and are wrong. {parted} merges "
        "within one true cluster lie above the cut and part it."
    )
    rows = "".join(
        "<tr>" + "".join(f"<td>{text(value)}</td>" for value in row) + "</tr>"
        for row in _mixed_rows(points, tree, case.threshold)
    )
    table = (
        '<div class="scroll" tabindex="0" role="region" aria-label="Merges that mix true clusters">'
        "<table><caption>Merges that mix true clusters, lowest first</caption><thead><tr>"
        '<th scope="col">height</th><th scope="col">points</th><th scope="col">purity</th>'
        '<th scope="col">at the cut</th><th scope="col">true clusters in it</th></tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
    )
    listed = f"<details><summary>The mixed merges as a table</summary>{table}</details>"
    return f'<p class="words">{text(sentence)}</p>{listed if mixed else ""}'


def _mixed_rows(points: Points, tree: Any, threshold: float | None) -> list[tuple[object, ...]]:
    n = len(tree) + 1
    members: dict[int, list[int]] = {i: [i] for i in range(n)}
    heights = labelled_merges(tree, points.labels).heights
    shares = purities(tree, points.labels)
    found: list[tuple[object, ...]] = []
    for k, (left, right) in enumerate(tree[:, :2].astype(int)):
        members[n + k] = members.pop(left) + members.pop(right)
        if shares[k] == 1 or len(found) == LISTED:
            continue
        inside = points.labels[members[n + k]]
        codes, counts = np.unique(inside[inside >= 0], return_counts=True)
        order = np.argsort(-counts, kind="stable")[:6]
        names = ", ".join(f"{points.clusters[codes[i]]} ({counts[i]})" for i in order)
        more = f" and {len(codes) - 6} more" if len(codes) > 6 else ""
        wrong = threshold is not None and heights[k] <= threshold
        found.append(
            (
                number(float(heights[k]), 4),
                len(members[n + k]),
                f"{100 * shares[k]:.0f} %",
                "wrong" if wrong else "above",
                names + more,
            )
        )
    return found
