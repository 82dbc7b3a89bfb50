"""A trained model as clustering needs it: read without torch where its form allows.

``supclust fit`` adds what it did to the table (``records`` in model.json): the columns, and how
they are compared. So a table is clustered by its file and the model alone.

Compiled code is imported where it is used: what a model is can be read without it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from supclust.cluster.cut import Cut
from supclust.data.block import n_pairs
from supclust.data.files import read_json

if TYPE_CHECKING:
    from supclust.cluster.flat import Ints, Labels
    from supclust.data.records.comparisons import RecordComparisons

FORMAT = 1
RECORDS = "records"  # key of model.json that says how a table becomes features
_WEIGHTS_FILE, _RECORD_FILE = "model.safetensors", "model.json"
_KNOWN_FORMS = ("mahalanobis", "linear")  # that the compiled pass computes
Floats = NDArray[np.floating[Any]]


@dataclass(frozen=True)
class ClusterModel:
    """What is needed to cluster blocks.

    Attributes:
        folder: where it was read.
        form: of the dissimilarity, as in model.json.
        weights: of the dissimilarity, by name.
        linkage: name.
        alpha: of the linkage.
        threshold: height to cut at.
        feature_names: (d,).
        description: all of model.json.
        digest: SHA-256 of everything that the clusters depend on.
        distances: for forms and precisions that only torch computes, the (n, n) dissimilarities
            of a block's features; else ``None``.
    """

    folder: Path
    form: Mapping[str, Any]
    weights: Mapping[str, Floats]
    linkage: str
    alpha: float
    threshold: float
    feature_names: tuple[str, ...]
    description: Mapping[str, Any]
    digest: str
    distances: Callable[[Floats], Floats] | None = None

    @property
    def kind(self) -> str:
        """``vectors`` or ``pairs``."""
        return str(self.form["kind"])

    @property
    def records(self) -> Mapping[str, Any] | None:
        """What ``supclust fit`` noted about the table; ``None`` for other models."""
        return self.description.get(RECORDS)

    @property
    def comparisons(self) -> RecordComparisons | None:
        """How two records are compared, where the features are comparisons of columns."""
        noted = (self.records or {}).get("comparisons")
        if noted is None:
            return None
        from supclust.data.records.comparisons import RecordComparisons

        return RecordComparisons.from_json(noted)

    @property
    def linear(self) -> tuple[NDArray[np.float32], float]:
        """Weights and bias of a linear form, averaged over training."""
        weight = np.asarray(self.weights["average_weight"], np.float32)
        return weight, float(self.weights["average_bias"])

    def cut(self, threshold: float | None = None, n_clusters: int | None = None) -> Cut:
        """The model's linkage with its own or another cut."""
        height = self.threshold if threshold is None else threshold
        return Cut(self.alpha, float(height), int(n_clusters or 0))

    def label_points(self, points: Floats, starts: Ints, cut: Cut) -> tuple[Labels, Ints]:
        """Cluster blocks of points, (n, d), that stand one after the other; see `flat_points`."""
        from supclust.cluster.flat import centred, embedded, flat_points, flat_squares

        if not np.isfinite(points).all():
            raise ValueError("the numbers of a record must be finite; received NaN or infinity.")
        compute = self.distances
        if compute is not None:
            return flat_squares(lambda k: compute(points[starts[k] : starts[k + 1]]), starts, cut)
        if self.form["name"] == "mahalanobis":
            matrix = np.asarray(self.weights["weight"], np.float32)
            return flat_points(embedded(points, starts, matrix), starts, cut)
        weight, bias = self.linear
        return flat_points(centred(points, starts), starts, cut, weight, bias)

    def label_records(
        self, columns: Mapping[str, Any], starts: Ints, cut: Cut
    ) -> tuple[Labels, Ints]:
        """Cluster blocks of records that stand one after the other, by their columns."""
        from supclust.cluster.flat import flat_records

        comparisons = self.comparisons
        if comparisons is None:
            raise ValueError("the model does not compare records; received columns of a table.")
        weight, bias = self.linear
        encoded = comparisons.encode(columns)
        return flat_records(encoded, comparisons.layout, starts, weight, bias, cut)

    def label_pairs(self, features: Floats, n: int, cut: Cut) -> Labels:
        """Cluster one block of n points by its condensed pair features, (n (n - 1) / 2, d)."""
        from supclust.cluster.flat import flat_squares

        if features.shape != (n_pairs(n), len(self.feature_names)):
            raise ValueError(
                f"a block of {n} points needs pair features of shape "
                f"({n_pairs(n)}, {len(self.feature_names)}); received {features.shape}."
            )
        weight, bias = self.weights["average_weight"], self.weights["average_bias"]
        square = np.zeros((n, n), weight.dtype)
        square[np.triu_indices(n, 1)] = features.astype(weight.dtype, copy=False) @ weight + bias
        return flat_squares(lambda _: square + square.T, np.array([0, n]), cut)[0]


def open_model(folder: str | Path, linkage: str | None = None) -> ClusterModel:
    """Read a model that ``supclust fit`` or an estimator saved, or that ``train.py`` trained.

    Args:
        folder: of the model, of one split of a job, or of a training.
        linkage: which linkage of a result of ``train.py``.

    Raises:
        ValueError: there is none, or it is damaged.
    """
    folder = Path(folder)
    described = read_json(folder / _RECORD_FILE)
    if (
        linkage is None
        and described is not None
        and {"cut", "dissimilarity", "feature_names"} <= set(described)
        and described.get("format") == FORMAT
        and described["dissimilarity"]["name"] in _KNOWN_FORMS
    ):
        weights = _read_weights(folder, described)
        if _is_single(weights):
            return _made(folder, described, weights)
    return _through_torch(folder, linkage)


def _is_single(weights: Mapping[str, Floats]) -> bool:
    """Whether the model computes in float32, as the compiled pass does."""
    return all(array.dtype != np.float64 for array in weights.values())


def _read_weights(folder: Path, described: Mapping[str, Any]) -> dict[str, Floats]:
    from safetensors import SafetensorError
    from safetensors.numpy import load

    try:
        content = (folder / _WEIGHTS_FILE).read_bytes()
        if hashlib.sha256(content).hexdigest() != described.get("weights_sha256"):
            raise ValueError("they do not match their checksum")
        return dict(load(content))
    except (OSError, ValueError, SafetensorError) as problem:
        raise ValueError(
            f"the weights {folder / _WEIGHTS_FILE} are missing or damaged ({problem}). "
            "Train again, or copy the whole folder again."
        ) from None


def _made(
    folder: Path,
    described: Mapping[str, Any],
    weights: Mapping[str, Floats],
    distances: Callable[[Floats], Floats] | None = None,
) -> ClusterModel:
    cut = described["cut"]
    sha = hashlib.sha256(repr((cut, described["dissimilarity"], described.get(RECORDS))).encode())
    for name in sorted(weights):
        sha.update(f"{name}{weights[name].dtype.str}{weights[name].shape}".encode())
        sha.update(np.ascontiguousarray(weights[name]).tobytes())
    return ClusterModel(
        folder,
        described["dissimilarity"],
        weights,
        cut["linkage"],
        float(cut["alpha"]),
        float(cut["threshold"]),
        tuple(map(str, described["feature_names"])),
        described,
        sha.hexdigest(),
        distances,
    )


def _through_torch(folder: Path, linkage: str | None) -> ClusterModel:
    from supclust.model.spec import describe_form, weights_of
    from supclust.model.trained import load

    model = load(folder, linkage=linkage)
    described = {
        **model.record,
        "objective": model.objective,
        "dissimilarity": describe_form(model.dissimilarity, model.kind, model.d),
        "feature_names": list(model.feature_names),
        "cut": {"linkage": model.linkage, "alpha": model.alpha, "threshold": model.threshold},
    }
    weights = {name: tensor.numpy() for name, tensor in weights_of(model.dissimilarity).items()}
    known = described["dissimilarity"]["name"] in _KNOWN_FORMS and _is_single(weights)
    return _made(folder, described, weights, None if known else model.distances)
