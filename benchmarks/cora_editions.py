"""Editions of a paper in Cora: labelled as one paper, or as several?

    python -m benchmarks.cora_editions --data DATA

Counts titles (letters and digits) of which two records give different years, in the labelled and
in the scored half of `bench_resolve`: those of which all such pairs have one label, and the others.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.bench_resolve import LABEL, labelled_half, read
from benchmarks.timing import table


def editions(records: pd.DataFrame) -> list[int]:
    """Titles labelled as one and as several papers; pairs of one and of two labels."""
    title = records.title.str.lower().str.replace(r"[^a-z0-9]", "", regex=True)
    year = records.year.str.extract(r"(\d{4})")[0]
    dated = records.assign(title=title, year=year).dropna(subset=["year"])
    counts = np.zeros(4, np.int64)
    for _, group in dated.groupby("title"):
        a, b = np.triu_indices(len(group), 1)
        years, labels = group.year.to_numpy(), group[LABEL].to_numpy()
        other_year = years[a] != years[b]
        same = (labels[a] == labels[b])[other_year]
        if len(same):
            counts += [same.all(), not same.all(), same.sum(), (~same).sum()]
    return counts.tolist()


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=Path("data"), help="folder of the data sets")
    records = read("cora", parser.parse_args())
    rows = [["all", *map(str, editions(records))]]
    for seed in (0, 1):
        _, labelled = labelled_half(records, seed)
        rows.append([f"labelled half {seed}", *map(str, editions(records[labelled]))])
        rows.append([f"scored half {seed}", *map(str, editions(records[~labelled]))])
    print(table(["records", "titles: one paper", "several", "pairs: one paper", "two"], rows))


if __name__ == "__main__":
    main()
