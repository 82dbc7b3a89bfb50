"""The W&B dashboard as code: panels of the workspace of a project."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from supclust._lazy import extras_explained
from supclust.hac.family import METHODS
from supclust.model.aggregate import METRICS

NAME = "supclust"


def build_workspace(entity: str, project: str) -> Any:
    """The workspace: scores by objective and linkage, alpha, training curves, result tables.

    Args:
        entity: user or team.
        project: as in ``logger.project``.

    Returns:
        A ``wandb_workspaces`` workspace; ``save()`` sends it.
    """
    with extras_explained():
        wr: Any = import_module("wandb_workspaces.reports.v2")  # its exports carry no types
        ws: Any = import_module("wandb_workspaces.workspaces")
    objective = wr.Config("objective")

    def bars(metric: str) -> list[Any]:
        # One job is one objective on all its splits, one bar is their mean.
        return [
            wr.BarPlot(
                title=f"{METRICS[metric]}, {linkage} linkage, by objective",
                metrics=[wr.SummaryMetric(f"test/{linkage}/{metric}")],
                groupby=objective,
                groupby_aggfunc="mean",
                groupby_rangefunc="stddev",
            )
            for linkage in METHODS
        ]

    def lines(title: str, *metrics: str) -> Any:
        return wr.LinePlot(
            title=title,
            x="epoch",
            y=list(metrics),
            groupby=objective,
            groupby_aggfunc="mean",
            groupby_rangefunc="stddev",
        )

    sections = [
        ws.Section(name="Dendrogram purity", panels=bars("dendrogram_purity"), is_open=True),
        ws.Section(name="Pairwise F1", panels=bars("pairwise_f1"), is_open=True),
        ws.Section(name="Alpha", panels=[lines("learned alpha", "alpha/mean")], is_open=True),
        ws.Section(
            name="Training curves",
            panels=[
                lines("training loss", "train/loss"),
                lines("dev loss", "dev/loss"),
                lines("training loss within clusters", "train/loss_within"),
                lines("training loss across clusters", "train/loss_across"),
                lines("dev loss within clusters", "dev/loss_within"),
                lines("dev loss across clusters", "dev/loss_across"),
                lines("dev purity", "dev/purity"),
                lines("splits still training", "splits/active"),
            ],
        ),
        ws.Section(
            name="Results per split",
            panels=[
                wr.WeavePanelSummaryTable(table_name="results"),
                wr.MediaBrowser(title="dendrograms", media_keys=["dendrogram"]),
            ],
        ),
    ]
    return ws.Workspace(
        entity=entity,
        project=project,
        name=NAME,
        sections=sections,
        settings=ws.WorkspaceSettings(x_axis="epoch"),
    )


def definition(workspace: Any) -> dict[str, Any]:
    """The definition that is sent to W&B, as JSON-able dictionaries."""
    model: dict[str, Any] = workspace._to_model().model_dump(
        mode="json", by_alias=True, exclude_none=True
    )
    return model
