"""The calibration curve of a model's confidence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from markupsafe import Markup

from supclust.report.charts import Line, line_chart


def calibration_chart(record: Mapping[str, Any]) -> Markup | None:
    """Confidence against what was observed on entities held out; ``None`` for models without it.

    Args:
        record: of a model's training.
    """
    stored = record.get("confidence")
    if stored is None or not stored["curve"]["confidence"]:
        return None
    curve = stored["curve"]
    points = [
        (100 * x, 100 * y) for x, y in zip(curve["confidence"], curve["observed"], strict=True)
    ]
    low, high = min(min(one) for one in points), max(max(one) for one in points)
    return line_chart(
        "Calibration of the confidence",
        [
            Line("as said", [(low, low), (high, high)], "line dev"),
            Line("observed", points, "line test"),
        ],
        x_name="confidence in %",
        y_name="records that belong, in %",
        words=f"In training, on {int(sum(curve['records'])):,} records of entities that were held "
        f"out: expected calibration error {100 * stored['error']:.2f} %, that of the mean "
        f"probability of pairs {100 * stored['raw_error']:.2f} %. Dashed: a perfect confidence.",
        y_within=(0, 100),
    )
