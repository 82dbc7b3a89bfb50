"""Test scores with every kind of cut, averaged over splits: python tools/cut_scores.py OUTPUTS...

Reads the results of ``python train.py ... split=all cut=auto``. ``dev``, ``threshold``,
``learned`` and ``auto`` are F1 with that cut, ``ceiling`` is that of the best cut of the test
trees; ``se`` is the standard error of ``auto``.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from statistics import mean, stdev

from supclust.model.results import find_results

COLUMNS = ("purity", "dev", "threshold", "learned", "auto", "ceiling")


def main(*folders: str) -> None:
    scores: dict[tuple[str, ...], list[dict[str, float]]] = defaultdict(list)
    for folder in folders:
        for result in find_results(folder):
            config = result.get("config", {})
            recipe = config.get("recipe_name", "paper")
            dissimilarity = config.get("dissimilarity", {}).get("name", "auto")
            name = result["objective"] if dissimilarity == "auto" else dissimilarity
            for linkage, entry in result.get("linkages", {}).items():
                if (entry.get("cut") or {}).get("asked") == "auto":
                    found = {**entry["cut"]["test_f1"], "ceiling": entry["ceiling"]}
                    found["auto"] = entry["test"]["pairwise_f1"]
                    found["purity"] = entry["test"]["dendrogram_purity"]
                    scores[result["dataset"], name, recipe, linkage].append(found)
    header = [f"{'data':<14}{'objective':<12}{'recipe':<8}{'linkage':<10}{'splits':>7}"]
    print(*header, *(f"{column:>10}" for column in COLUMNS), f"{'se':>6}")
    for (data, name, recipe, linkage), rows in sorted(scores.items()):
        means = [f"{100 * mean(row[column] for row in rows):>10.1f}" for column in COLUMNS]
        spread = stdev(row["auto"] for row in rows) / len(rows) ** 0.5 if len(rows) > 1 else 0.0
        print(f"{data:<14}{name:<12}{recipe:<8}{linkage:<10}{len(rows):>7}", *means,
              f"{100 * spread:>6.1f}")  # fmt: skip


if __name__ == "__main__":
    main(*sys.argv[1:])
