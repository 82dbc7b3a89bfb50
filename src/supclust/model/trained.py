"""`TrainedModel`: a learned dissimilarity, linkage and cut, and how blocks are clustered with them.

Torch is imported by `TrainedModel.distances` and whatever calls it. The compiled pass of
``supclust cluster`` needs the weights only.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supclust._lazy import extras_explained
from supclust.data.block import Kind
from supclust.model.checks import block_features
from supclust.model.spec import Weights, build_module, set_weights, spec_of_module, weights_of

if TYPE_CHECKING:
    from supclust.cut import LearnedCut
    from supclust.cut.rule import Cut
    from supclust.data.records.comparisons import RecordComparisons
    from supclust.dissimilarity import Dissimilarity

Floats = NDArray[np.floating[Any]]

RECORDS = "records"
"""Key of the record under which ``supclust fit`` stores how a table becomes features."""
_MOST_CLUSTERS = 2**31 - 1  # per block; the kernels count in int64
_COMPILED = ("mahalanobis", "linear")  # specs that the compiled pass of `supclust cluster` computes


@dataclass(frozen=True, eq=False)
class TrainedModel:
    """What training returns: enough to cluster new blocks.

    Training alone gives a dissimilarity and, under some objectives, alpha (in ``record``). Linkage,
    alpha and threshold are chosen afterwards; until then `has_cut` is false.

    Attributes:
        spec: of the dissimilarity, see `supclust.model.spec`.
        weights: of the dissimilarity, arrays by name.
        objective: name of the objective it was trained with.
        feature_names: (d,).
        linkage: ``single``, ``average``, ``complete`` or ``exp``; empty: not chosen yet.
        alpha: of the linkage.
        threshold: height to cut at, chosen on dev data.
        learned: the learned cut; ``None``: trees are cut at ``threshold``.
        record: JSON-able facts about the training: epochs, losses, dev scores, versions, ...;
            ``alpha`` in it is the learned one, ``None`` if the objective learns none.
        module: a dissimilarity that cannot be built from ``spec``, holding the weights.
        folder: where the model was read.
    """

    spec: Mapping[str, Any]
    weights: Weights
    objective: str
    feature_names: tuple[str, ...]
    linkage: str = ""
    alpha: float = math.nan
    threshold: float = math.nan
    learned: LearnedCut | None = None
    record: dict[str, Any] = field(default_factory=dict)
    module: Dissimilarity | None = None
    folder: Path | None = None

    @classmethod
    def from_module(
        cls,
        dissimilarity: Dissimilarity,
        kind: Kind,
        objective: str,
        feature_names: tuple[str, ...],
        *,
        position: int = 0,
        spec: Mapping[str, Any] | None = None,
        **more: Any,
    ) -> TrainedModel:
        """The model at one position of a trained dissimilarity; ``more``: further attributes."""
        spec = spec or spec_of_module(dissimilarity, kind, len(feature_names))
        if "class" in spec and dissimilarity.n_splits == 1:
            more["module"] = dissimilarity.eval().requires_grad_(False)
        weights = weights_of(dissimilarity, position)
        return cls(spec, weights, objective, tuple(feature_names), **more)

    def with_module(self, dissimilarity: Dissimilarity) -> TrainedModel:
        """The model with a dissimilarity made as for training; the weights are put into it."""
        set_weights(dissimilarity, [self.weights])
        return replace(self, module=dissimilarity.eval().requires_grad_(False))

    @property
    def kind(self) -> Kind:
        """``vectors`` (features of points) or ``pairs`` (features of pairs)."""
        return cast("Kind", self.spec["kind"])

    @property
    def d(self) -> int:
        """Number of features."""
        return len(self.feature_names)

    @property
    def has_cut(self) -> bool:
        """Whether linkage, alpha and threshold have been chosen."""
        return bool(self.linkage)

    @property
    def is_compiled(self) -> bool:
        """Whether the compiled pass computes the dissimilarities: known specs in float32."""
        single = all(array.dtype != np.float64 for array in self.weights.values())
        return self.spec["name"] in _COMPILED and single

    @property
    def records(self) -> Mapping[str, Any] | None:
        """What ``supclust fit`` stored about the table; ``None`` for other models."""
        return self.record.get(RECORDS)

    @cached_property
    def comparisons(self) -> RecordComparisons | None:
        """How two records are compared, where the features are comparisons of columns."""
        stored = (self.records or {}).get("comparisons")
        if stored is None:
            return None
        from supclust.data.records.comparisons import RecordComparisons

        return RecordComparisons.from_json(stored)

    @property
    def linear(self) -> tuple[NDArray[np.float32], float]:
        """Weights and bias of a linear dissimilarity, averaged over training."""
        weight = np.asarray(self.weights["average_weight"], np.float32)
        return weight, float(self.weights["average_bias"])

    @cached_property
    def digest(self) -> str:
        """SHA-256 of everything that the clusters depend on."""
        cut = {"linkage": self.linkage, "alpha": self.alpha, "threshold": self.threshold}
        sha = hashlib.sha256(repr((cut, dict(self.spec), self.records)).encode())
        if self.learned is not None:
            sha.update(repr((self.learned.to_json(), self.learned.booster.text)).encode())
        for name in sorted(self.weights):
            array = self.weights[name]
            sha.update(f"{name}{array.dtype.str}{array.shape}".encode())
            sha.update(np.ascontiguousarray(array).tobytes())
        return sha.hexdigest()

    @cached_property
    def dissimilarity(self) -> Dissimilarity:
        """The torch module, in evaluation mode."""
        if self.module is not None:
            return self.module
        module = build_module(self.spec)
        if self.spec["name"] != "stacked":  # which `distances` applies without it
            set_weights(module, [self.weights])
        return module.eval().requires_grad_(False)

    def cut(self, threshold: float | None = None, n_clusters: int | None = None) -> Cut:
        """The model's linkage with its own or another cut."""
        from supclust.cut.rule import Cut, no_rule  # compiled code

        self._require_cut()
        height = self.threshold if threshold is None else threshold
        own = threshold is None and not n_clusters and self.learned is not None
        rule = self.learned.rule if own and self.learned is not None else no_rule()
        return Cut(self.alpha, float(height), min(int(n_clusters or 0), _MOST_CLUSTERS), rule)

    def distances(self, features: ArrayLike) -> Floats:
        """Dissimilarities of the points of one block.

        Args:
            features: (n, d) points. For pair features (n, n, d), of which the upper triangle is
                read, or (n (n - 1) / 2, d) in condensed order.

        Returns:
            (n, n), symmetric with a zero diagonal, in the precision of the model.
        """
        values = block_features(np.asarray(features), self.kind, self.feature_names)
        if self.spec["name"] == "stacked":
            from supclust.model.stacked import stacked_distances

            return stacked_distances(self.weights, values, self.kind)
        with extras_explained():
            import torch

        dtype = next(self.dissimilarity.parameters()).dtype
        tensor = torch.from_numpy(np.ascontiguousarray(values)).to(dtype)
        if self.kind == "vectors" and len(values) == 0:
            return np.zeros((0, 0), tensor.numpy().dtype)
        with torch.no_grad():
            square = self.dissimilarity(tensor[None])[0].numpy()
        if not np.isfinite(square).all():
            raise ValueError(
                "dissimilarities must be finite; received features so large that they overflow. "
                "Scale the features as for training."
            )
        return cast("Floats", square)

    def tree(self, features: ArrayLike) -> NDArray[np.float64]:
        """Z, (n - 1, 4): the tree of one block in SciPy's format; arguments as `distances`."""
        from supclust.hac import linkages

        self._require_cut()
        return linkages([self.distances(features)], "exp", alpha=self.alpha)[0]

    def labels(
        self,
        features: ArrayLike,
        n_clusters: int | None = None,
        threshold: float | None = None,
        links: tuple[NDArray[np.int64], NDArray[np.int64]] | None = None,
    ) -> NDArray[np.int64]:
        """Clusters of one block, numbered from 0 by first appearance.

        Args:
            features: as in `distances`.
            n_clusters: cut into this many, instead of at a height.
            threshold: cut at this height. Default: the model's own cut, learned or a height.
            links: must-links and cannot-links, (k, 2) pairs of points each; trees with them are
                cut at a height.

        Returns:
            (n,) int64.
        """
        from supclust.hac import linkage
        from supclust.hac.graph.constraints import require_joined
        from supclust.hac.tree import cut_tree

        self._require_cut()
        distances = self.distances(features)
        if len(distances) == 0:
            return np.zeros(0, np.int64)
        must, cannot = links or (None, None)
        Z = linkage(distances, "exp", alpha=self.alpha, must_link=must, cannot_link=cannot)
        if links:
            require_joined(Z, n_clusters)
        if n_clusters is not None:
            return cut_tree(Z, n_clusters=n_clusters, height=threshold)
        if threshold is None and self.learned is not None and not links:
            return self.learned.labels(Z)
        return cut_tree(Z, height=self.threshold if threshold is None else threshold)

    def save(self, folder: str | Path) -> Path:
        """Write the model into a folder, which is made, and return it; see `write_model`."""
        from supclust.model.folder import write_model

        return write_model(self, Path(folder))

    @classmethod
    def load(
        cls,
        folder: str | Path,
        *,
        linkage: str | None = None,
        dissimilarity: Dissimilarity | None = None,
    ) -> TrainedModel:
        """Read a model; see `supclust.model.load`."""
        from supclust.model.locate import load

        return load(folder, linkage=linkage, dissimilarity=dissimilarity)

    def _require_cut(self) -> None:
        if not self.has_cut:
            raise ValueError(
                "the model has no linkage and cut yet; received a training without a result. "
                "Evaluate it: run its job of train.py to the end, with linkage=all."
            )
