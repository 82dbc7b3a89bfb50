"""Read what a report shows from a folder of results."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from supclust.data.files import files_below
from supclust.model.aggregate import Cell, row_name, summarise
from supclust.model.locate import training_record
from supclust.model.results import RESULT_FILE, find_results
from supclust.report.restore import NotRestorableError, SplitTrees, restore_trees

_logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class ReportOptions:
    """Which result the tree and the cut are drawn from; ``None`` is the default."""

    objective: str | None = None  # row of the table; default: the best under the linkage
    linkage: str | None = None  # shown first; default: exp, else the first there is
    split: int | None = None  # default: the first finished
    data: Path | None = None  # folder of the real data sets; default: that of the run
    trees: bool = True  # whether to compute trees at all


@dataclass(frozen=True)
class DatasetResults:
    """The results on one data set from one source."""

    dataset: str
    source: str  # real, stand-in or file
    cells: list[Cell]
    results: list[dict[str, Any]]  # finished ones
    records: list[dict[str, Any] | None]  # of their trainings; ``None``: missing
    linkage: str  # shown first
    best: str  # row of the table that is best under that linkage
    trees: SplitTrees | None = None
    no_trees: str = ""  # why there are none

    @property
    def notes(self) -> list[str]:
        """Notes of the data set's reader, each once."""
        return list(dict.fromkeys(n for result in self.results for n in result.get("notes", ())))

    @property
    def rows(self) -> list[str]:
        """Rows of the table, in its order."""
        return list(dict.fromkeys(cell.objective for cell in self.cells))


@dataclass(frozen=True)
class Report:
    """The content of the page: one group per data set and source, and what is not in them."""

    folder: Path
    groups: list[DatasetResults]
    failed: list[dict[str, Any]] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)  # paths of result files


def gather(folder: Path, options: ReportOptions | None = None) -> Report:
    """Read the results below a folder, and recompute the trees of one split per data set.

    Raises:
        ValueError: there is no result, or none that the options name.
    """
    options = options or ReportOptions()
    results = list(find_results(folder))
    read = {result["path"] for result in results}
    unreadable = [str(p) for p in files_below(folder, RESULT_FILE) if str(p) not in read]
    if not results:
        raise ValueError(
            f"no readable result below {folder}. "
            "Make some with `python train.py objective=exp_alpha dataset=faces`."
        )
    done = [result for result in results if result["status"] == "done"]
    _check(options, done)
    kinds = list(dict.fromkeys((result["dataset"], result["source"]) for result in done))
    groups = [
        _group([r for r in done if (r["dataset"], r["source"]) == kind], options) for kind in kinds
    ]
    failed = [result for result in results if result["status"] != "done"]
    return Report(folder, groups, failed, unreadable)


def _check(options: ReportOptions, done: Sequence[dict[str, Any]]) -> None:
    rows = list(dict.fromkeys(row_name(result) for result in done))
    linkages = list(dict.fromkeys(name for result in done for name in result["linkages"]))
    splits = sorted({result["split"] for result in done})
    for name, value, legal in (
        ("--objective", options.objective, rows),
        ("--linkage", options.linkage, linkages),
        ("--split", options.split, splits),
    ):
        if value is not None and value not in legal:
            raise ValueError(
                f"{name} must be among the finished results; received {value}. "
                f"There: {', '.join(map(str, legal)) or 'none'}."
            )


def _group(results: list[dict[str, Any]], options: ReportOptions) -> DatasetResults:
    cells = summarise(results)
    cut = [c.linkage for c in cells if c.metric == "pairwise_f1"] or [c.linkage for c in cells]
    linkage = options.linkage if options.linkage in {c.linkage for c in cells} else None
    linkage = linkage or ("exp" if "exp" in cut else cut[0])
    group = DatasetResults(
        dataset=results[0]["dataset"],
        source=results[0]["source"],
        cells=cells,
        results=results,
        records=[training_record(result) for result in results],
        linkage=linkage,
        best=_best(cells, linkage),
    )
    if not options.trees:
        return replace(group, no_trees="trees were not asked for (--no-trees)")
    chosen = _chosen(group, options)
    if chosen is None:
        return replace(group, no_trees="no finished result of the objective and split asked for")
    try:
        return replace(group, trees=restore_trees(chosen, options.data))
    except NotRestorableError as problem:
        _logger.warning("%s: no tree in the report: %s", group.dataset, problem)
        return replace(group, no_trees=str(problem))


def _best(cells: Sequence[Cell], linkage: str) -> str:
    """The row marked best under a linkage, or that with the highest mean purity."""
    column = [c for c in cells if c.metric == "dendrogram_purity" and c.linkage == linkage]
    return max(column or cells, key=lambda cell: (cell.mark == "best", cell.mean)).objective


def _chosen(group: DatasetResults, options: ReportOptions) -> dict[str, Any] | None:
    row = options.objective or group.best
    fitting = [
        result
        for result in group.results
        if row_name(result) == row
        and group.linkage in result["linkages"]
        and options.split in (None, result["split"])
    ]
    return min(fitting, key=lambda result: (result["split"], result["seed"]), default=None)
