"""Explanations as lines of text."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from supclust.explain.records import MOST_MEMBERS

_BAR = 20  # columns of the longest bar
_MOST_ROWS = 12  # columns of a waterfall that are listed


def records_lines(facts: Mapping[str, Any]) -> list[str]:
    """Why two records are together or apart."""
    a, b = facts["records"]
    first, second = facts["clusters"]
    where = f"cluster {first}" if first == second else f"clusters {first} and {second}"
    verb = "together" if facts["together"] else "apart"
    lines = [f"{a} and {b} are {verb}, in {where}: {_reason(facts)}"]
    lines += [f"  {correction_line(one)}" for one in facts["corrections"]]
    if facts["reason"] == "not connected":
        return [*lines, *_direct_lines(facts["direct"], "compared now")]
    lines += ["", *sides_lines(facts)]
    if facts["chain"]:
        lines += ["", "the two were not compared with each other, or are not close; best chain:"]
        lines += _pair_lines(facts["chain"])
    elif facts["pairs"] > 1:
        lines += _direct_lines(facts["direct"], "the two themselves")
    return lines


def cluster_lines(facts: Mapping[str, Any]) -> list[str]:
    """What holds a cluster together, and what is next to it."""
    count = len(facts["members"])
    mean = facts.get("mean_confidence", math.nan)
    sure = "" if math.isnan(mean) else f", confidence {mean:.3f}"
    lines = [f"cluster {facts['cluster']}: {counted(count, 'record')}{sure}"]
    confidence, margin = facts.get("confidence", {}), facts.get("margin", {})
    for id in facts["members"][:MOST_MEMBERS]:
        more = f"  confidence {confidence[id]:.3f}" if confidence.get(id, -1) >= 0 else ""
        more += f"  margin {margin[id]:+.3f}" if id in margin else ""
        lines.append(f"  {id}{more}")
    if count > MOST_MEMBERS:
        lines.append(f"  ... and {count - MOST_MEMBERS:,} more")
    for name, title in (("last", "its last merge"), ("next", "the merge that the cut prevents")):
        if facts[name] is not None:
            forced = ", a must-link" if facts[name]["must_link"] else ""
            lines += ["", f"{title}{forced}", *sides_lines({**facts, **facts[name]})]
    return lines


def sides_lines(facts: Mapping[str, Any]) -> list[str]:
    """Two clusters: their records, the height of their merge, its waterfall, some pairs."""
    compared = f"{facts['given']:,} of {counted(facts['pairs'], 'pair')} compared and close"
    lines = [f"  {_listed(side)}" for side in facts["sides"]]
    lines += [f"  {compared}; height {facts['height']:+.3f}, cut {facts['threshold']:+.3f}"]
    lines += waterfall_lines(facts["waterfall"], "height")
    for name in ("strongest", "weakest"):
        if facts[name] and facts["given"] > 1:
            lines += [f"  {name} pairs", *_pair_lines(facts[name])]
    return lines


def waterfall_lines(waterfall: Mapping[str, Any], total: str) -> list[str]:
    """A waterfall by column: the largest parts, the rest, and the sum."""
    columns = list(waterfall["columns"].items())
    rows = columns[:_MOST_ROWS]
    if len(columns) > _MOST_ROWS:
        rest = sum(part for _, part in columns[_MOST_ROWS:])
        rows.append((f"{len(columns) - _MOST_ROWS} other columns", rest))
    rows.append(("(always)", waterfall["always"]))
    if waterfall["not_given"]:
        rows.append(("(pairs not compared or not close)", waterfall["not_given"]))
    width = max(len(name) for name in (total, *(name for name, _ in rows)))
    largest = max(abs(part) for _, part in rows) or 1.0
    lines = []
    for name, part in rows:
        bar = ("+" if part > 0 else "-") * round(_BAR * abs(part) / largest)
        lines.append(f"    {name:<{width}}  {part:+8.3f}  {bar}".rstrip())
    return [*lines, f"    {total:<{width}}  {waterfall['height']:+8.3f}"]


def correction_line(one: Mapping[str, Any]) -> str:
    """A constraint, as in ``correction 3, version 7: a and b together``."""
    return (
        f"correction {one['correction']}, version {one['version']}: {one['id_a']} and "
        f"{one['id_b']} {one['constraint']}"
    )


def counted(count: int, noun: str) -> str:
    """A number and its noun, as in ``1 pair`` or ``2,000 pairs``."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _reason(facts: Mapping[str, Any]) -> str:
    reason, height = facts["reason"], facts.get("height", 0.0)
    margin = abs(facts["threshold"] - height)
    if reason == "not connected":
        return _not_connected(facts)
    return {
        "merge": f"their clusters are merged {margin:.3f} below the cut",
        "must-link": "corrections say so",
        "cannot-link": "a correction says so",
        "cut": f"their clusters would be merged {margin:.3f} above the cut",
        "never": "their clusters are not merged at any height below that of a pair that is not "
        "compared, or the model keeps records apart that share a value",
    }[reason]


def _not_connected(facts: Mapping[str, Any]) -> str:
    if not facts["all_rules"] or facts["rules"]:
        rules = f" (by {', '.join(facts['rules'])})" if facts["rules"] else ""
        return (
            f"compared{rules}, but no chain of pairs closer than {facts['missing']:g} connects them"
        )
    return (
        "never compared, and no chain of compared pairs connects them: they agree on none of the "
        f"rules {', '.join(facts['all_rules'])}"
    )


def _direct_lines(direct: Mapping[str, Any] | None, title: str) -> list[str]:
    if direct is None:
        return []
    return ["", title, *waterfall_lines(direct["waterfall"], "dissimilarity")]


def _pair_lines(pairs: Sequence[Mapping[str, Any]]) -> list[str]:
    return [
        f"    {one['records'][0]}  {one['records'][1]}  {one['dissimilarity']:+.3f}"
        for one in pairs
    ]


def _listed(ids: Sequence[str]) -> str:
    more = f", ... ({len(ids):,})" if len(ids) > MOST_MEMBERS else ""
    return "{" + ", ".join(ids[:MOST_MEMBERS]) + more + "}"
