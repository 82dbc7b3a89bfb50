"""`TrainedModel`: a learned dissimilarity, linkage and cut, and the folder it is kept in.

A model folder holds ``model.safetensors`` (the weights) and ``model.json`` (everything else, and
the checksum of the weights), as the folders of trainings below ``outputs/trainings/`` do. Those
know no linkage and no cut, which belong to the results: `load` puts the two together.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray

from supclust.data.block import Kind
from supclust.dissimilarity import Dissimilarity
from supclust.dissimilarity.scores import points_of
from supclust.hac._linkage import linkages
from supclust.hac.tree import Floats, Ints, cut_tree
from supclust.model.folder import FORMAT, read_folder, write_folder
from supclust.model.sources import find_cut, find_training
from supclust.model.spec import build_form, describe_form, set_weights, weights_of

_OWN_KEYS = ("format", "objective", "dissimilarity", "feature_names", "cut", "weights_sha256")


@dataclass(frozen=True)
class Training:
    """The outcome of training one split.

    Attributes:
        weights: tensors of the dissimilarity's state, without the axis of splits.
        record: epochs, seconds, alpha (where it was learned), and what the training was; once
            stored, its ``place``.
    """

    weights: dict[str, torch.Tensor]
    record: dict[str, Any]


@dataclass(frozen=True)
class TrainedModel:
    """What training leaves behind: enough to cluster new blocks.

    Attributes:
        dissimilarity: one model, in evaluation mode.
        objective: name of what it was trained with.
        linkage: ``single``, ``average``, ``complete`` or ``exp``.
        alpha: of the linkage.
        threshold: height to cut at, chosen on dev data.
        kind: ``vectors`` (features of points) or ``pairs`` (features of pairs).
        feature_names: (d,).
        record: JSON-able, whatever a reader may want to know: epochs, dev scores, versions, ...;
            ``alpha`` in it is the learned one, ``None`` if the objective learns none.
    """

    dissimilarity: Dissimilarity
    objective: str
    linkage: str
    alpha: float
    threshold: float
    kind: Kind
    feature_names: tuple[str, ...]
    record: dict[str, Any] = field(default_factory=dict)

    @property
    def d(self) -> int:
        """Number of features."""
        return len(self.feature_names)

    @torch.no_grad()
    def distances(self, features: ArrayLike) -> NDArray[np.floating[Any]]:
        """Dissimilarities of the points of one block.

        Args:
            features: (n, d) points. For pair features (n, n, d), of which the upper triangle is
                read, or (n (n - 1) / 2, d) in condensed order.

        Returns:
            (n, n), symmetric with a zero diagonal, in the precision of the model.
        """
        values = self._checked(np.asarray(features))
        dtype = next(self.dissimilarity.parameters()).dtype
        tensor = torch.from_numpy(np.ascontiguousarray(values)).to(dtype)
        if self.kind == "vectors" and len(values) == 0:
            return np.zeros((0, 0), tensor.numpy().dtype)
        square: torch.Tensor = self.dissimilarity(tensor[None])[0]
        if not bool(square.isfinite().all()):
            raise ValueError(
                "dissimilarities must be finite; received features so large that they overflow. "
                "Scale the features as for training."
            )
        return cast("NDArray[np.floating[Any]]", square.numpy())

    def tree(self, features: ArrayLike) -> Floats:
        """Z, (n - 1, 4): the tree of one block in SciPy's form; arguments as `distances`."""
        return linkages([self.distances(features)], "exp", alpha=self.alpha)[0]

    def labels(
        self,
        features: ArrayLike,
        n_clusters: int | None = None,
        threshold: float | None = None,
    ) -> Ints:
        """Clusters of one block, numbered from 0 by first appearance.

        Args:
            features: as in `distances`.
            n_clusters: cut into this many, instead of at a height.
            threshold: cut at this height. Default: the model's.

        Returns:
            (n,) int64.
        """
        distances = self.distances(features)
        if len(distances) == 0:
            return np.zeros(0, np.int64)
        Z = linkages([distances], "exp", alpha=self.alpha)[0]
        if n_clusters is not None:
            return cut_tree(Z, n_clusters=n_clusters, height=threshold)
        return cut_tree(Z, height=self.threshold if threshold is None else threshold)

    def save(self, folder: str | Path) -> Path:
        """Write the model into a folder, which is made, and return it.

        Each of the two files is written completely or not at all, the weights first; a save that
        is cut short between them over an older model is noticed by the checksum.
        """
        taken = [key for key in _OWN_KEYS if key in self.record]
        if taken:
            raise ValueError(
                f"the record of a model must not use the keys {', '.join(_OWN_KEYS)}; "
                f"received {', '.join(taken)}. Choose other names."
            )
        cut = {"linkage": self.linkage, "alpha": self.alpha, "threshold": self.threshold}
        described = {
            "format": FORMAT,
            "objective": self.objective,
            "dissimilarity": describe_form(self.dissimilarity, self.kind, self.d),
            "feature_names": list(self.feature_names),
            "cut": cut,
            **self.record,
        }
        return write_folder(Path(folder), weights_of(self.dissimilarity), described)

    @classmethod
    def load(
        cls,
        folder: str | Path,
        *,
        linkage: str | None = None,
        dissimilarity: Dissimilarity | None = None,
    ) -> TrainedModel:
        """Read a model; see the function `load`."""
        return load(folder, linkage=linkage, dissimilarity=dissimilarity)

    def _checked(self, features: NDArray[Any]) -> NDArray[np.floating[Any]]:
        d, shape = self.d, features.shape
        wanted = f"(n, {d})" if self.kind == "vectors" else f"(n, n, {d}) or (n (n - 1) / 2, {d})"
        square = self.kind == "pairs" and len(shape) == 3 and shape[0] == shape[1]
        if not (len(shape) == 2 or square) or shape[-1] != d:
            raise ValueError(
                f"features of a block must have shape {wanted} for this model of {self.kind}; "
                f"received {shape}. Its features are {', '.join(self.feature_names[:8])}"
                f"{', ...' if d > 8 else ''}."
            )
        if square:
            features = features[np.triu_indices(shape[0], 1)]
        elif self.kind == "pairs":
            points_of(len(features))  # refuses a number of rows that no block has
        values = features if features.dtype in (np.float32, np.float64) else _floats(features)
        if not np.isfinite(values).all():
            raise ValueError(
                "features must be finite; received NaN or infinity. "
                "Fill in or remove the rows that have missing values."
            )
        return values


def load(
    folder: str | Path,
    *,
    linkage: str | None = None,
    dissimilarity: Dissimilarity | None = None,
) -> TrainedModel:
    """Read a model from where it was saved, or from what ``train.py`` wrote.

    Args:
        folder: of a saved model; or of one split of a job of ``train.py``, with its
            ``result.json``; or of a training, ``outputs/trainings/<batch>/<key>``, whose linkage
            and cut are taken from a result that used it.
        linkage: which of the linkages of a result. Default: ``exp`` if it is there, else the
            first. A saved model has one.
        dissimilarity: for a model whose dissimilarity was the user's own: one made as for training;
            the weights are put into it.

    Raises:
        ValueError: there is no model, it is damaged, or of a newer version of supclust.
    """
    place = find_training(Path(folder))
    weights, described = read_folder(place)
    cut = described.get("cut")
    scores: dict[str, Any] = {}
    if cut is None:
        cut, scores = find_cut(Path(folder), place, linkage)
    elif linkage not in (None, cut["linkage"]):
        raise ValueError(
            f"linkage must be that of the saved model, {cut['linkage']}; received {linkage!r}. "
            "Leave it out, or train with the other linkage."
        )
    form = described["dissimilarity"]
    model = dissimilarity if dissimilarity is not None else build_form(form)
    dtype = next((t.dtype for t in weights.values() if t.is_floating_point()), torch.float32)
    model = model.to(dtype)
    set_weights(model, weights)
    return TrainedModel(
        dissimilarity=model.eval().requires_grad_(False),
        objective=described["objective"],
        linkage=cut["linkage"],
        alpha=float(cut["alpha"]),
        threshold=float(cut["threshold"]),
        kind=form["kind"],
        feature_names=tuple(str(name) for name in described["feature_names"]),
        record={key: v for key, v in described.items() if key not in _OWN_KEYS} | scores,
    )


def as_training(model: TrainedModel) -> Training:
    """The model as the training of one split, as `supclust.experiment.training.restore` takes it.

    The other way round from `load`: a model that an estimator trained and saved is evaluated by
    the machinery of ``train.py``, or put into its store.
    """
    form = describe_form(model.dissimilarity, model.kind, model.d)
    record = {
        "objective": model.objective,
        "dissimilarity": form,
        "feature_names": list(model.feature_names),
        "alpha": None,
        **model.record,
    }
    return Training(weights_of(model.dissimilarity), record)


def _floats(features: NDArray[Any]) -> NDArray[np.floating[Any]]:
    try:
        return features.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"features must be numbers; received {features.dtype} ({error}). "
            "Turn text into numbers first."
        ) from None
