"""What went wrong and where the numbers come from: the last parts of a report."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from supclust.report.data import DatasetResults, Report
from supclust.report.escape import text
from supclust.tables.aggregate import row_name

MOST_VALUES = 6
STAND_IN = (
    "STAND-IN DATA. These numbers were made with generated data of the shape of {names}, "
    "not with the real set. They say nothing about the real one."
)


def stand_in_warning(groups: Sequence[DatasetResults]) -> str:
    """A warning that cannot be overlooked, where results are of generated data."""
    names = [group.dataset for group in groups if group.source == "stand-in"]
    if not names:
        return ""
    words = text(STAND_IN.format(names=", ".join(names)))
    return f'<div class="warning" role="note"><strong>⚠ {words}</strong></div>'


def failures(report: Report) -> str:
    """Every run that failed, with its reason."""
    unreadable = "".join(f"<li><code>{text(path)}</code></li>" for path in report.unreadable)
    lost = (
        f"<h3>Results that cannot be read</h3><ul>{unreadable}</ul><p>Run their jobs again.</p>"
        if unreadable
        else ""
    )
    if not report.failed:
        return f"<p>No run failed.</p>{lost}"
    rows = "".join(
        f"<tr><td>{text(result['dataset'])}</td><td>{text(row_name(result))}</td>"
        f"<td>{text(result['split'])}</td><td>{text(result['seed'])}</td>"
        f'<td class="error">{text(result.get("error", "no reason was recorded"))}</td></tr>'
        for result in report.failed
    )
    count = len(report.failed)
    return (
        f"<p>{count} {'run' if count == 1 else 'runs'} failed; the tables above are made without "
        "them. The same command runs again exactly those.</p>"
        '<div class="scroll" tabindex="0" role="region" aria-label="Failed runs"><table>'
        '<thead><tr><th scope="col">data set</th><th scope="col">objective</th>'
        '<th scope="col">split</th><th scope="col">seed</th><th scope="col">error</th></tr></thead>'
        f"<tbody>{rows}</tbody></table></div>{lost}"
    )


def provenance(group: DatasetResults) -> str:
    """Versions, commit, data and settings of the results on one data set."""
    results = group.results
    known = [
        ("data", f"{group.source}, SHA-256 {_values(map(_data_digest, results))}"),
        ("notes", "; ".join(group.notes) or "none"),
        ("commit", _values(r.get("commit") for r in results) or "not recorded"),
    ]
    for name in dict.fromkeys(key for r in results for key in r.get("versions", {})):
        known.append((name, _values(r.get("versions", {}).get(name) for r in results)))
    seconds = [r["seconds"] for r in results if isinstance(r.get("seconds"), int | float)]
    known.append(("training time", f"{sum(seconds):.0f} s for {len(seconds)} results"))
    known.append(("trees made again", _check(group)))
    settings = [flat(r["config"]) for r in results]
    keys = [k for k in dict.fromkeys(k for s in settings for k in s) if k not in ("data", "split")]
    table = facts((key, _values(s.get(key) for s in settings)) for key in keys)
    return (
        f"{facts(known)}<details><summary>Settings</summary>{table}</details>"
        "<details><summary>Configuration of every result</summary>"
        f'<ul class="hashes">{"".join(_hash(r) for r in results)}</ul></details>'
    )


def _check(group: DatasetResults) -> str:
    if group.case is None:
        return f"no: {group.no_case}"
    pairs = [(c.f1_again, c.f1_stored) for c in group.case.linkages.values()]
    known = [(a, b) for a, b in pairs if a is not None and b is not None]
    worst = max((abs(a - b) for a, b in known), default=0.0)
    if worst <= 1e-6:
        return f"yes; {len(known)} test F1 scores agree with the stored ones"
    return f"yes, but a test F1 score differs from the stored one by {worst:.2g}"


def _hash(result: dict[str, Any]) -> str:
    name = f"{row_name(result)}, split {result['split']}, seed {result['seed']}"
    return f"<li>{text(name)}: <code>{text(_short(result['config_hash']))}</code></li>"


def facts(pairs: Iterable[tuple[str, str]]) -> str:
    """Names and values, as a list."""
    rows = "".join(f"<dt>{text(name)}</dt><dd>{text(value)}</dd>" for name, value in pairs)
    return f'<dl class="facts">{rows}</dl>'


def _values(values: Iterable[Any]) -> str:
    """The different values, as text."""
    known = list(dict.fromkeys(str(value) for value in values if value is not None))
    more = f" and {len(known) - MOST_VALUES} more" if len(known) > MOST_VALUES else ""
    return ", ".join(known[:MOST_VALUES]) + more


def _data_digest(result: Mapping[str, Any]) -> str:
    return _short(result["config"].get("data"))


def _short(digest: Any) -> str:
    return str(digest)[:16]


def flat(config: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested settings with names as in ``recipe.lr``."""
    found: dict[str, Any] = {}
    for key, value in config.items():
        inner = isinstance(value, Mapping)
        found |= flat(value, f"{prefix}{key}.") if inner else {f"{prefix}{key}": value}
    return found
