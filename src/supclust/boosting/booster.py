"""Boosted trees: a model that is trained by LightGBM and applied without it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supclust._lazy import extras_explained
from supclust.boosting.contributions import (
    LeafPaths,
    add_contributions,
    expected_score,
    leaf_paths,
    quadrature,
)
from supclust.boosting.model_text import Trees, read_text
from supclust.boosting.score import score_rows
from supclust.hac.cpu.threads import over_parts, thread_count

_SMALL = 200_000  # entries of a table that is faster to train on with one thread
_PARALLEL = 20_000  # visits of (row, tree) from which several threads pay off
_FEW_EXPLAINED = 16  # rows whose contributions one thread computes


@dataclass(frozen=True)
class Booster:
    """A LightGBM model with one output.

    Attributes:
        trees: what the model computes.
        feature_names: one per column of the input.
        objective: as LightGBM writes it, for example ``"binary sigmoid:1"``.
        text: the model in LightGBM's text form.
    """

    trees: Trees
    feature_names: tuple[str, ...]
    objective: str
    text: str

    @classmethod
    def from_text(cls, text: str) -> Booster:
        """Read and check a model in LightGBM's text form (``lightgbm.Booster.model_to_string``)."""
        return cls(*read_text(text), text)

    def to_text(self) -> str:
        """The model in LightGBM's text form."""
        return self.text

    @property
    def n_features(self) -> int:
        """Number of columns of the input."""
        return len(self.feature_names)

    def first(self, rounds: int) -> Booster:
        """The model that training with fewer boosting rounds would have made; needs LightGBM.

        Args:
            rounds: trees to keep; all, where there are not as many.
        """
        if rounds < 1:
            raise ValueError(f"rounds must be at least 1; received {rounds}.")
        whole = _lightgbm().Booster(model_str=self.text)
        return Booster.from_text(whole.model_to_string(num_iteration=rounds))

    def predict_raw(self, X: ArrayLike) -> NDArray[np.float64]:
        """Raw scores of the rows of X, as ``lightgbm.Booster.predict(X, raw_score=True)``.

        Args:
            X: (n, d) numbers; NaN where a value is missing.

        Returns:
            (n,) float64. For a binary objective: log odds.

        Complexity:
            O(n x trees x depth), on all cores.
        """
        rows = self._rows(X)
        scores = np.empty(len(rows))

        def part(start: int, stop: int) -> None:
            score_rows(rows[start:stop], self.trees, scores[start:stop])

        visits = len(rows) * self.trees.root.size
        over_parts(part, len(rows), None if visits >= _PARALLEL else 1)
        return scores

    def contributions(self, X: ArrayLike) -> NDArray[np.float64]:
        """Exact Shapley contributions of the features, as ``lightgbm``'s ``pred_contrib=True``.

        Returns:
            (n, d + 1): a column per feature, then the expected score. Rows sum to the raw score.

        Complexity:
            O(n x leaves x k^2) for k features on the way to a leaf, on all cores.
        """
        rows, paths = self._rows(X), self._paths
        points, weights = quadrature(paths)
        shapley = np.zeros((len(rows), self.n_features + 1))
        shapley[:, -1] = expected_score(self.trees, paths)

        def part(start: int, stop: int) -> None:
            add_contributions(
                rows[start:stop], self.trees, paths, points, weights, shapley[start:stop]
            )

        over_parts(part, len(rows), None if len(rows) >= _FEW_EXPLAINED else 1)
        return shapley

    @cached_property
    def _paths(self) -> LeafPaths:
        return leaf_paths(self.trees)

    def _rows(self, X: ArrayLike) -> NDArray[np.floating]:
        rows = np.asarray(X)
        if rows.dtype not in (np.float32, np.float64):
            rows = rows.astype(np.float64)
        if rows.ndim != 2 or rows.shape[1] != self.n_features:
            raise ValueError(f"X must be (n, {self.n_features}); received shape {rows.shape}.")
        return np.ascontiguousarray(rows)


def train_booster(
    X: ArrayLike,
    y: ArrayLike,
    weight: ArrayLike | None = None,
    *,
    objective: str,
    params: Mapping[str, Any] | None = None,
    seed: int = 0,
    num_threads: int | None = None,
) -> Booster:
    """Train gradient-boosted trees with LightGBM, deterministically.

    Args:
        X: (n, d) features; NaN where a value is missing.
        y: (n,) targets.
        weight: (n,) weights of the rows; 1 by default.
        objective: LightGBM's name, for example ``"binary"`` or ``"cross_entropy"``.
        params: further parameters of LightGBM, for example ``{"num_iterations": 200}``.
        seed: of everything random in it.
        num_threads: by default all cores, or one where X has fewer than 200,000 entries: starting
            threads for every node of a small tree takes longer than the work. The result does not
            depend on it.
    """
    lightgbm = _lightgbm()
    rows = np.ascontiguousarray(X)
    if rows.dtype not in (np.float32, np.float64):
        rows = rows.astype(np.float64)
    settings = {
        **(params or {}),
        "objective": objective,
        "seed": seed,
        "num_threads": num_threads or (1 if rows.size < _SMALL else thread_count()),
        "deterministic": True,
        "force_row_wise": True,
        "verbosity": -1,
    }
    data = lightgbm.Dataset(
        rows, np.asarray(y), weight=weight, params=settings, categorical_feature=[]
    )
    return Booster.from_text(lightgbm.train(settings, data).model_to_string())


def _lightgbm() -> ModuleType:
    with extras_explained():
        import lightgbm
    module: ModuleType = lightgbm
    return module
