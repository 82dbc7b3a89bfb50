"""`SupervisedHAC`: learn from labelled clusters how to cluster the rest."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from supclust._lazy import extras_explained
from supclust.data.block import IntArray
from supclust.estimator.blocks import label_codes, read_blocks
from supclust.estimator.prediction import clusters, links_of, pairwise_f1, read_new_blocks
from supclust.estimator.preparation import (
    epoch_callbacks,
    feature_names,
    fit_options,
    loaded_facts,
    saved_facts,
    seed_of,
    train_and_dev,
)
from supclust.hac.tree import Floats

if TYPE_CHECKING:
    from supclust.dissimilarity import Dissimilarity
    from supclust.model.trained import TrainedModel


class SupervisedHAC(BaseEstimator):
    """Hierarchical clustering with a dissimilarity, a linkage and a cut learned from examples.

    Some rows of X have a known cluster (y), the others have -1. Training brings rows of one cluster
    together and pushes clusters apart, through the tree that is cut in the end; `predict` clusters
    any rows, of clusters never seen before.

    Points are compared by a learned linear map of the columns of X, so put a ``StandardScaler``
    before this where columns have different units. With ``pairs`` rows are compared by features of
    pairs instead.

    In ``GridSearchCV`` and ``Pipeline`` blocks are handed on as ``groups`` once
    ``sklearn.set_config(enable_metadata_routing=True)`` has been called; without it a search would
    cluster each fold as one block.

    Args:
        objective: ``exp_alpha`` (learns the linkage as well), ``exp_zero``, ``exp_minus``,
            ``exp_plus``, ``mst``, ``best``, ``triplet``, ``all_pairs``; a baseline that is computed
            without epochs, ``euclidean``, ``rca``, ``logistic``, ``boosted``; or an
            `supclust.objectives.Objective`, as a class or untrained.
        linkage: ``exp`` (alpha is learned), ``single``, ``average``, ``complete``; or alpha, as a
            number or in an `supclust.hac.ExpLinkHAC`.
        dissimilarity: ``mahalanobis``, ``linear``, ``encoder``, ``stacked``; ``auto``:
            ``mahalanobis`` for points and ``linear`` for pairs, unless another of them is clearly
            better on held-out clusters (compared with ``recipe="best"`` and 12 clusters or more);
            or a `supclust.dissimilarity.Dissimilarity`, or a torch network that embeds points.
            Objects given are copied, never changed.
        pairs: how rows are compared. ``None``: by their columns. A function: from the rows of X of
            one block, n of them, to features of their pairs, (n, n, d) or (n (n - 1) / 2, d) in
            SciPy's condensed order (of a square, the upper triangle is read). ``"precomputed"``: X
            holds such features, see `fit`.
        feature_names: names of the pair features, for reports. Columns of a data frame have theirs.
        dev_fraction: share of the blocks, or of the clusters where there is one block, on which
            training is stopped and the cut chosen. ``None``: 0.15 of the blocks, 0.4 of the
            clusters. 0, or fewer than 4 clusters in one block: the training data serve for both.
        unlabelled: what rows with y = -1 are. ``ignored``: nothing is known about them. ``other``:
            the known clusters are complete, so these rows are in other clusters, which are not
            known; they are pushed away from known clusters, and count when the cut is chosen.
        cut: how trees are cut. ``threshold``: at the height with the best F1 on training and
            held-out data. ``learned``: by features of every merge, at heights that differ.
            ``auto``: learned, unless clearly worse in cross-validation. ``dev``: at the best height
            on held-out data alone.
        max_epochs: cap on passes over the blocks. ``None``: that of the recipe; 60.
        lr: learning rate. ``None``: that of the recipe; 0.02.
        weight_decay: L2 factor. ``None``: that of the recipe; 0.6, towards the start.
        alpha_lr: learning rate of alpha. ``None``: that of the recipe; 0.02.
        recipe: ``best`` (``None``): a start in closed form, trained from there where that is better
            on held-out clusters. ``paper``: trained from random values. Or ``best`` with further
            settings by name, as in `supclust.objectives.Recipe`, and ``step_unit``.
        precision: bits of the numbers, 32 or 64.
        accelerator: ``cpu`` or ``gpu``, for training.
        random_state: seed of initial values, order and what is held out; 0 is that of ``train.py``.
        verbose: 0 is silent; k prints the losses every 25 // k epochs.

    Attributes:
        alpha_ (float): of the linkage; -inf is single, 0 average, inf complete linkage.
        threshold_ (float): height to cut at; may be changed before `predict`, which then cuts at
            that height also where the cut was learned.
        dissimilarity_ (Dissimilarity): learned, in evaluation mode.
        model_ (TrainedModel): all that was learned, with a record of how.
        n_iter_ (int): epochs.
        n_features_in_ (int): columns of X.

    >>> X = [[0.0], [0.1], [5.0], [5.1], [9.0], [9.1], [3.0], [3.1]]
    >>> model = SupervisedHAC(max_epochs=5).fit(X, [0, 0, 1, 1, 2, 2, 3, 3])
    >>> model.predict([[1.0], [1.1], [7.0]], n_clusters=2)
    array([0, 0, 1])
    """

    # Under metadata routing groups go wherever they are given to (set_config in scikit-learn).
    __metadata_request__fit = {"groups": True}  # noqa: RUF012 - as scikit-learn reads it
    __metadata_request__predict = {"groups": True}  # noqa: RUF012
    # Pipeline.score asks for this name; None: weights that are given are an error.
    __metadata_request__score = {"groups": True, "sample_weight": None}  # noqa: RUF012

    def __init__(
        self,
        objective: Any = "exp_alpha",
        linkage: Any = "exp",
        dissimilarity: Any = "auto",
        *,
        pairs: Any = None,
        feature_names: Sequence[str] | None = None,
        dev_fraction: float | None = None,
        unlabelled: str = "ignored",
        cut: str = "auto",
        max_epochs: int | None = None,
        lr: float | None = None,
        weight_decay: float | None = None,
        alpha_lr: float | None = None,
        recipe: Mapping[str, Any] | str | None = None,
        precision: int = 32,
        accelerator: str = "cpu",
        random_state: Any = 0,
        verbose: int = 0,
    ) -> None:
        self.objective = objective
        self.linkage = linkage
        self.dissimilarity = dissimilarity
        self.pairs = pairs
        self.feature_names = feature_names
        self.dev_fraction = dev_fraction
        self.unlabelled = unlabelled
        self.cut = cut
        self.max_epochs = max_epochs
        self.lr = lr
        self.weight_decay = weight_decay
        self.alpha_lr = alpha_lr
        self.recipe = recipe
        self.precision = precision
        self.accelerator = accelerator
        self.random_state = random_state
        self.verbose = verbose

    def fit(
        self,
        X: Any,
        y: Any,
        groups: ArrayLike | None = None,
        *,
        dev_groups: Iterable[Any] | None = None,
    ) -> SupervisedHAC:
        """Learn from the rows whose cluster is known.

        Args:
            X: (n, columns). With ``pairs="precomputed"``: pair features of one block, (n, n, d) or
                condensed, or a list of such arrays, one per block.
            y: (n,) cluster of every row, -1 where it is not known (None and NaN too). The same
                label in two blocks is two clusters. For precomputed blocks: one after the other.
            groups: (n,) block of every row; rows of different blocks are never clustered together.
                Default: one block. For precomputed blocks: one name per block, or none.
            dev_groups: blocks to hold out, instead of a random choice.

        Returns:
            Itself.
        """
        with extras_explained():
            from supclust.model.fit import fit_model

        blocks = read_blocks(self, X, groups, reset=True)
        seed = seed_of(self.random_state)
        codes = label_codes(y, blocks.n)
        train, dev = train_and_dev(
            blocks, codes, self.dev_fraction, dev_groups, seed, self.unlabelled
        )
        names, options = feature_names(self, train[0].d), fit_options(self, seed)
        model = fit_model(train, dev, names, options, callbacks=epoch_callbacks(self.verbose))
        self._adopt(replace(model, record={**model.record, **saved_facts(self, model.alpha)}))
        return self

    def predict(
        self,
        X: Any,
        groups: ArrayLike | None = None,
        *,
        n_clusters: int | Mapping[Any, int] | None = None,
        must_link: ArrayLike | None = None,
        cannot_link: ArrayLike | None = None,
    ) -> IntArray:
        """Cluster rows, block by block.

        Args:
            X: as in `fit`. For a model that ``supclust fit`` made: a data frame with its columns.
            groups: as in `fit`. Default for such a model: its column of blocks.
            n_clusters: of every block, or of each by name, instead of the learned height.
            must_link: (k, 2) pairs of rows, of one block, that are merged before the start.
            cannot_link: (k, 2) pairs of rows that no cluster may hold both of.

        Returns:
            (n,) clusters, numbered from 0; no cluster spans two blocks.
        """
        check_is_fitted(self, "model_")
        blocks = read_new_blocks(self, X, groups)
        links = links_of(blocks, must_link, cannot_link)
        return clusters(blocks, self.model_, self._own_height(), n_clusters, links)

    def fit_predict(self, X: Any, y: Any, groups: ArrayLike | None = None) -> IntArray:
        """Learn from the rows whose cluster is known, then cluster all rows.

        Known clusters are examples, not constraints: the result may differ from y.
        """
        return self.fit(X, y, groups).predict(X, groups)

    def linkage_matrix(self, X: Any) -> Floats:
        """Z, (n - 1, 4): the tree of one block in SciPy's format."""
        check_is_fitted(self, "model_")
        blocks = read_blocks(self, X, None, reset=False)
        if len(blocks.rows) != 1:
            raise ValueError(
                f"a tree is that of one block; received {len(blocks.rows)}. Pass one at a time."
            )
        return self.model_.tree(blocks.features(0))

    def score(self, X: Any, y: Any, groups: ArrayLike | None = None) -> float:
        """Pairwise F1 of `predict`, pair counts pooled over blocks.

        Args:
            X: as in `fit`.
            y: (n,) true clusters, -1 where not known: those rows are clustered, but not counted;
                with ``unlabelled="other"``, half of their pairs with labelled rows are wrong.
            groups: as in `fit`. Pairs of one label in different blocks are not counted; a warning
                says how many there are, and F1 with them.
        """
        check_is_fitted(self, "model_")
        blocks = read_new_blocks(self, X, groups)
        codes, predicted = label_codes(y, blocks.n), self.predict(X, groups)
        return pairwise_f1(blocks, y, codes, predicted, others=self.unlabelled == "other")

    def save(self, folder: str | Path) -> Path:
        """Write what was learned into a folder, without pickle and without a function ``pairs``."""
        check_is_fitted(self, "model_")
        height = self._own_height()
        changes: dict[str, Any] = {} if height is None else {"threshold": height, "learned": None}
        return replace(self.model_, **changes).save(folder)

    @classmethod
    def load(
        cls,
        folder: str | Path,
        *,
        linkage: str | None = None,
        pairs: Any = None,
        dissimilarity: Dissimilarity | None = None,
    ) -> SupervisedHAC:
        """Read a fitted estimator from what `save`, ``supclust fit`` or ``train.py`` wrote.

        Args:
            folder: see `supclust.model.trained.load`.
            linkage: which of the linkages of a result of ``train.py``.
            pairs: the function that makes pair features. Default for a model of pairs:
                ``"precomputed"``.
            dissimilarity: for a model of a dissimilarity of your own: one made as for training.
        """
        from supclust.model import load

        model = load(folder, linkage=linkage, dissimilarity=dissimilarity)
        if pairs is None and model.kind == "pairs":
            pairs = "precomputed"
        parameters, columns = loaded_facts(model)
        known = {name: parameters[name] for name in parameters if name in cls().get_params()}
        estimator = cls(model.objective, pairs=pairs, **known)
        for name, value in columns.items():
            setattr(estimator, name, value)
        estimator._adopt(model)
        return estimator

    @property
    def dissimilarity_(self) -> Dissimilarity:
        """The learned dissimilarity, a torch module in evaluation mode."""
        check_is_fitted(self, "model_")
        return self.model_.dissimilarity

    def _adopt(self, model: TrainedModel) -> None:
        self.model_ = model
        self.alpha_, self.threshold_ = model.alpha, model.threshold
        self.n_iter_ = int(model.record.get("epochs", 0))

    def _own_height(self) -> float | None:
        """The height that the user set in place of the model's cut; ``None`` if there is none."""
        return None if self.threshold_ == self.model_.threshold else float(self.threshold_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags
