"""Test F1 of every kind of cut, averaged over splits: python tools/cut_scores.py OUTPUTS.

Reads the results of ``python train.py ... split=all cut=auto``.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from statistics import mean

from supclust.model.results import find_results

COLUMNS = ("dev", "threshold", "learned", "auto", "ceiling")


def main(folder: str) -> None:
    scores: dict[tuple[str, str, str], list[dict[str, float]]] = defaultdict(list)
    for result in find_results(folder):
        for linkage, entry in result.get("linkages", {}).items():
            if (entry.get("cut") or {}).get("asked") == "auto":
                found = {**entry["cut"]["test_f1"], "ceiling": entry["ceiling"]}
                found["auto"] = entry["test"]["pairwise_f1"]
                scores[result["dataset"], result["objective"], linkage].append(found)
    print(
        f"{'data':<12}{'objective':<12}{'linkage':<10}{'splits':>7}", *(f"{c:>10}" for c in COLUMNS)
    )
    for (data, objective, linkage), rows in sorted(scores.items()):
        means = [f"{100 * mean(row[column] for row in rows):>10.1f}" for column in COLUMNS]
        print(f"{data:<12}{objective:<12}{linkage:<10}{len(rows):>7}", *means)


if __name__ == "__main__":
    main(*sys.argv[1:])
