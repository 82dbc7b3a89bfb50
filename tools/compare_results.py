"""Compare the scores of two outputs folders: did a change of the code change a number?

python tools/compare_results.py BEFORE AFTER [--tolerance 1e-6] [--means 0.2]

Results are paired by their path (data set, objective, linkages, seed, split). Printed per
objective: the largest difference of one score of one split, and the largest difference of a mean
over splits, in points (%). The exit code is 1 if a result is missing, or if a difference is above
a tolerance that was given.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import mean

Scores = dict[tuple[str, ...], float]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    parser.add_argument("--tolerance", type=float, help="of one score of one split, in points")
    parser.add_argument("--means", type=float, help="of a mean over splits, in points")
    options = parser.parse_args()
    before, after = read(options.before), read(options.after)
    missing = sorted(set(before) - set(after))
    for path in missing:
        print(f"missing in {options.after}: {path}", file=sys.stderr)
    worst_score = worst_mean = 0.0
    print(f"{'objective':<12}{'scores':>8}{'differ':>8}{'largest':>12}{'largest of a mean':>20}")
    for objective in sorted({path.split("/")[1] for path in before}):
        pairs: dict[tuple[str, ...], list[float]] = {}
        for path, scores in before.items():
            if path.split("/")[1] == objective and path in after:
                for key, score in scores.items():
                    pairs.setdefault(key, []).append(100 * (after[path][key] - score))
        differences = [abs(d) for values in pairs.values() for d in values]
        if not differences:
            continue
        largest = max(differences)
        largest_mean = max(abs(mean(values)) for values in pairs.values())
        differ = sum(d > 1e-4 for d in differences)
        print(
            f"{objective:<12}{len(differences):>8}{differ:>8}{largest:>12.2g}{largest_mean:>20.2g}"
        )
        worst_score, worst_mean = max(worst_score, largest), max(worst_mean, largest_mean)
    above = (options.tolerance is not None and worst_score > options.tolerance) or (
        options.means is not None and worst_mean > options.means
    )
    return int(bool(missing) or above)


def read(outputs: Path) -> dict[str, Scores]:
    """Scores of the finished results below a folder, by their path relative to it."""
    results = {}
    for path in sorted(outputs.glob("*/**/result.json")):
        result = json.loads(path.read_text(encoding="utf-8"))
        if result["status"] == "done":
            results[str(path.parent.relative_to(outputs))] = dict(leaves(result["linkages"]))
    return results


def leaves(
    scores: dict[str, object], prefix: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], float]]:
    """Dev and test scores of every linkage; alpha and the cut are no scores."""
    for key, value in scores.items():
        if isinstance(value, dict):
            yield from leaves(value, (*prefix, key))
        elif isinstance(value, float) and prefix and prefix[-1] in ("dev", "test"):
            yield (*prefix, key), value


if __name__ == "__main__":
    sys.exit(main())
