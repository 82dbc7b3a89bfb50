"""The numbers that the paper printed, to compare with: facts, in CSV files beside this module."""

from __future__ import annotations

import csv
from functools import lru_cache
from importlib.resources import files
from typing import NamedTuple

BEST_LINKAGE = "best linkage"
"""Column of the sparsest-cut table: the best of the four linkages."""
COUNTERPARTS = {"gum_coref": "np_coref"}
"""Sets of ours that stand beside another set of the paper's, for orientation only."""


class Key(NamedTuple):
    """Of one printed number."""

    dataset: str
    objective: str
    linkage: str
    metric: str


class Printed(NamedTuple):
    """One printed number."""

    percent: float
    mark: str
    """best, p<0.05, p<0.01 or nothing."""


@lru_cache(maxsize=1)
def published() -> dict[Key, Printed]:
    """Every number of the paper's three tables.

    >>> published()[Key("faces", "mst", "single", "dendrogram_purity")]
    Printed(percent=95.3, mark='best')
    """
    found = {}
    for metric in ("dendrogram_purity", "pairwise_f1"):
        for row in _rows(metric):
            key = Key(row["dataset"], row["objective"], row["linkage"], metric)
            found[key] = Printed(float(row["mean_over_50_splits"]), row["mark"])
    for row in _rows("recursive_sparsest_cut"):
        for linkage, column in (("rsc", "rsc_dp"), (BEST_LINKAGE, "hac_best_linkage_dp")):
            key = Key(row["dataset"], row["objective"], linkage, "dendrogram_purity")
            found[key] = Printed(float(row[column]), "")
    return found


def printed(dataset: str, objective: str, linkage: str, metric: str) -> Printed | None:
    """The paper's number for a cell of ours, if it has one."""
    name = COUNTERPARTS.get(dataset, dataset)
    return published().get(Key(name, objective, linkage, metric))


def _rows(name: str) -> list[dict[str, str]]:
    text = (files("supclust.tables") / "published_numbers" / f"{name}.csv").read_text(
        encoding="utf-8"
    )
    return list(csv.DictReader(text.splitlines()))
