"""The components that a change touches, clustered again: the rest stays as it is, exactly."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from supclust.hac.graph.forest import Forest
from supclust.model.trained import TrainedModel
from supclust.resolve.apply import id_order
from supclust.resolve.graph_cut import cluster_graph
from supclust.resolve.kept_apart import components, pairs_apart
from supclust.resolve.scoring import Edges
from supclust.resolve.table_model import text_codes
from supclust.store.constraints import Constraint, links, require_consistent

Ints = NDArray[np.int64]


def missing_of(model: TrainedModel) -> float:
    """Dissimilarity that a model of a bare table gives to pairs that are not compared."""
    return float((model.records or {})["missing"])


class Nodes(NamedTuple):
    """Rows that are clustered together.

    Attributes:
        rows: in the order of their ids.
        ids: of the rows.
        forest: trees of them; node k is ``rows[k]``.
    """

    rows: Ints
    ids: list[str]
    forest: Forest

    def to_scipy(self) -> NDArray[np.float64]:
        """One tree in SciPy's format, leaf k of which is ``ids[k]``; see `Forest.to_scipy`."""
        return self.forest.to_scipy()


def clustered(
    model: TrainedModel,
    rows: Ints,
    ids: pa.Array,
    distinct: list[str | None] | None,
    edges: Edges,
    constraints: tuple[Constraint, ...],
    limit: float = np.inf,
) -> Nodes:
    """Trees of some rows; they must be whole components of pairs up to a limit.

    Args:
        model: of the store.
        rows: to cluster.
        ids: of the rows.
        distinct: values that two records of one entity never share; ``None``: there are none.
        edges: scored pairs among the rows.
        constraints: of the store; those about other rows are ignored.
        limit: height up to which clusters are merged.
    """
    if not len(rows):
        nothing = np.empty(0, np.int32), np.empty((0, 2), np.int32), np.empty(0)
        return Nodes(rows, [], Forest(0, *nothing, np.zeros(1, np.int64), np.inf))
    order = id_order(ids)
    rows, names = rows[order], [ids[int(k)].as_py() for k in order]
    place = np.full(int(rows.max(initial=-1)) + 1, -1)
    place[rows] = np.arange(len(rows))
    left, right = place[edges.left], place[edges.right]
    must, cannot = links(constraints, {name: k for k, name in enumerate(names)})
    own = Edges(left.astype(np.int32), right.astype(np.int32), edges.dissimilarity)
    if distinct is not None:
        values = text_codes([distinct[int(k)] for k in order])
        apart = pairs_apart(values, components(len(rows), own, must, limit))
        cannot = cannot if apart is None else np.concatenate([cannot, apart])
    require_consistent(must, cannot, names)
    forest = cluster_graph(own, len(rows), model.alpha, missing_of(model), cannot, must, limit)
    return Nodes(rows, names, forest)
