"""Label many blocks with a trained model, by the compiled pass where it computes the model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from supclust.data.block import n_pairs
from supclust.model.trained import Cut, Floats, TrainedModel

if TYPE_CHECKING:
    from supclust.cluster.flat import Ints, Labels


def label_points(
    model: TrainedModel, points: Floats, starts: Ints, cut: Cut
) -> tuple[Labels, Ints]:
    """Cluster consecutive blocks of points, (n, d); see `supclust.cluster.flat.flat_points`."""
    from supclust.cluster.flat import centred, embedded, flat_points, flat_squares

    if not np.isfinite(points).all():
        raise ValueError("the numbers of a record must be finite; received NaN or infinity.")
    if not model.is_compiled:
        return flat_squares(
            lambda k: model.distances(points[starts[k] : starts[k + 1]]), starts, cut
        )
    if model.spec["name"] == "mahalanobis":
        matrix = np.asarray(model.weights["weight"], np.float32)
        return flat_points(embedded(points, starts, matrix), starts, cut)
    return flat_points(centred(points, starts), starts, cut, *model.linear)


def label_records(
    model: TrainedModel, columns: Mapping[str, Any], starts: Ints, cut: Cut
) -> tuple[Labels, Ints]:
    """Cluster consecutive blocks of records by their columns."""
    from supclust.cluster.flat import flat_records

    comparisons = model.comparisons
    if comparisons is None:
        raise ValueError("the model does not compare records; received columns of a table.")
    weight, bias = model.linear
    encoded = comparisons.encode(columns)
    return flat_records(encoded, comparisons.layout, starts, weight, bias, cut)


def label_pairs(model: TrainedModel, features: Floats, n: int, cut: Cut) -> Labels:
    """Cluster one block of n points by its condensed pair features, (n (n - 1) / 2, d)."""
    from supclust.cluster.flat import flat_squares

    if features.shape != (n_pairs(n), model.d):
        raise ValueError(
            f"a block of {n} points needs pair features of shape ({n_pairs(n)}, {model.d}); "
            f"received {features.shape}."
        )
    if model.spec["name"] != "linear":
        return flat_squares(lambda _: model.distances(features), np.array([0, n]), cut)[0]
    weight, bias = model.weights["average_weight"], model.weights["average_bias"]
    square = np.zeros((n, n), weight.dtype)
    square[np.triu_indices(n, 1)] = features.astype(weight.dtype, copy=False) @ weight + bias
    return flat_squares(lambda _: square + square.T, np.array([0, n]), cut)[0]
