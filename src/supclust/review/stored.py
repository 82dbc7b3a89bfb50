"""Components of an entity store as `supclust.explain` reads them, and their explanations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supclust.data.errors import DataError
from supclust.explain.component import Component, Ints
from supclust.explain.confidence import confidence_columns
from supclust.explain.membership import membership
from supclust.explain.records import described, explain_cluster, explain_meeting
from supclust.explain.waterfall import merge_waterfall
from supclust.hac.graph.constraints import shortest_chain
from supclust.hac.graph.forest import Forest
from supclust.model.trained import TrainedModel
from supclust.resolve.pair_model import PairModel, pair_model
from supclust.resolve.scoring import Edges
from supclust.resolve.table_model import compared, keys_of, rules_of, takes_all_pairs
from supclust.review.answers import active_constraints
from supclust.store.batch import columns_of
from supclust.store.entity_store import EntityStore
from supclust.store.recluster import missing_of

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class StoredComponent:
    """A component of a store: its records, pairs and trees.

    Attributes:
        store: that it is of.
        ids: of the records, ascending; record k is node k.
        forest: trees of the records.
        edges: scored pairs among them.
    """

    store: EntityStore
    ids: list[str]
    forest: Forest
    edges: Edges

    @classmethod
    def of(cls, store: EntityStore, id: str) -> StoredComponent:
        """The component of a record."""
        component = store.component_of(id)
        tree, pairs = store.tree(component), store.pairs_of(component)
        node = {name: k for k, name in enumerate(tree.ids)}
        left, right = (
            np.array([node[name] for name in pairs.column(end).to_pylist()], np.int32)
            for end in ("left", "right")
        )
        edges = Edges(left, right, pairs.column("dissimilarity").to_numpy())
        return cls(store, tree.ids, tree.forest, edges)

    @cached_property
    def node(self) -> Mapping[str, int]:
        """Position of every record."""
        return {id: k for k, id in enumerate(self.ids)}

    @cached_property
    def component(self) -> Component:
        """The component as `supclust.explain` reads it."""
        model, order = self.store.model, np.argsort(self.forest.heights, kind="stable")
        return Component(
            n=len(self.ids),
            first=self.edges.left.astype(np.int64),
            second=self.edges.right.astype(np.int64),
            dissimilarity=self.edges.dissimilarity.astype(np.float64),
            pairs=self.forest.pairs[order].astype(np.int64),
            heights=self.forest.heights[order],
            alpha=model.alpha,
            missing=missing_of(model),
            threshold=self.store.threshold,
            names=model.feature_names,
            contributions=lambda first, second: contributions(self.store, self.ids, first, second),
        )

    @cached_property
    def facts(self) -> dict[str, Floats]:
        """Confidence and margin of every record; nothing for models that have none."""
        store = self.store
        alpha, missing = store.model.alpha, missing_of(store.model)
        standing = membership(self.edges, self.forest, alpha, missing, store.threshold)
        return confidence_columns(store.model.record, standing, store.threshold)


def contributions(store: EntityStore, ids: Sequence[str], first: Ints, second: Ints) -> Floats:
    """(k, d + 1) contributions of pairs of records, given by their positions in ``ids``."""
    nodes, local = np.unique(np.concatenate([first, second]), return_inverse=True)
    if not len(first):
        return np.empty((0, len(store.model.feature_names) + 1))
    values = columns_of(store.records([ids[int(k)] for k in nodes]))
    table = compared(store.model, values)
    model = _scorer(store.model)
    # Pairs are compared in the order of their ids, as when they were scored.
    low, high = (
        np.minimum(local[: len(first)], local[len(first) :]),
        np.maximum(local[: len(first)], local[len(first) :]),
    )
    return model.contributions(table.features(low, high, model.nan))


@lru_cache(maxsize=2)
def _scorer(model: TrainedModel) -> PairModel:
    """The pair model of a model, read once."""
    return pair_model(model.spec, model.weights)


def explain_records(store: EntityStore, a: str, b: str) -> dict[str, Any]:
    """Why two records of a store are together or apart, as plain values."""
    if a == b:
        raise DataError(f"two records are needed; received {a!r} twice. Name another one")
    same = store.component_of(a) == store.component_of(b)
    corrections = active_constraints(store)
    facts: dict[str, Any] = {
        "records": [a, b],
        "clusters": [store.cluster_of(a), store.cluster_of(b)],
    }
    if same:
        stored = StoredComponent.of(store, a)
        facts |= explain_meeting(stored.component, stored.ids, stored.node[a], stored.node[b])
    else:
        facts |= {"together": False, "reason": "not connected", "threshold": store.threshold}
        facts |= _compared_now(store, a, b)
    facts["corrections"] = _corrections(facts, corrections, a, b)
    if facts["reason"] == "never" and facts["corrections"]:
        facts["reason"] = "cannot-link"
    return facts


def explain_stored_cluster(store: EntityStore, cluster: int) -> dict[str, Any]:
    """What holds a cluster of a store together, as plain values."""
    stored = StoredComponent.of(store, store.members(cluster)[0])
    facts = explain_cluster(stored.component, stored.ids, stored.node[store.members(cluster)[0]])
    members = [stored.node[id] for id in facts["members"]]
    for name, values in stored.facts.items():
        facts[name] = {stored.ids[k]: float(values[k]) for k in members}
    if "confidence" in facts:
        facts["mean_confidence"] = float(np.mean(list(facts["confidence"].values())))
    return {"cluster": cluster, **facts}


def _compared_now(store: EntityStore, a: str, b: str) -> dict[str, Any]:
    """Rules that two records of different components satisfy, and what comparing them gives."""
    low, high = sorted((a, b))
    values = columns_of(store.records([low, high]))
    rules = rules_of(store.model)
    rules = () if takes_all_pairs(store.model, len(store)) else rules
    shared = []
    if rules:
        keys = keys_of(store.model, values, rules)
        for rule in rules:
            starts, items = keys.of_rule(rule)
            if np.intersect1d(items[: starts[1]], items[starts[1] :]).size:
                shared.append(str(rule))
    parts = contributions(store, [low, high], np.array([0]), np.array([1]))
    names, alpha, missing = store.model.feature_names, store.model.alpha, missing_of(store.model)
    waterfall = merge_waterfall(names, parts, parts.sum(axis=1), 1, alpha, missing)
    return {
        "rules": shared,
        "all_rules": [str(rule) for rule in rules],
        "missing": missing,
        "direct": {"dissimilarity": waterfall.height, "waterfall": described(waterfall)},
    }


def _corrections(
    facts: Mapping[str, Any], active: Sequence[Mapping[str, Any]], a: str, b: str
) -> list[dict[str, Any]]:
    """Corrections that decide: the chain of must-links between two records, or what parts them."""
    must = [one for one in active if one["constraint"] == "together"]
    if facts["reason"] == "must-link":
        names = list(dict.fromkeys(id for one in must for id in (one["id_a"], one["id_b"])))
        node = {name: k for k, name in enumerate(names)}
        pairs = np.array([(node[one["id_a"]], node[one["id_b"]]) for one in must])
        chain = [names[k] for k in shortest_chain(pairs, node[a], node[b])]
        steps = [{u, v} for u, v in pairwise(chain)]
        return [dict(one) for one in must if {one["id_a"], one["id_b"]} in steps]
    if facts["reason"] != "never":
        return []
    left, right = (set(side) for side in facts["sides"])
    return [
        dict(one)
        for one in active
        if one["constraint"] == "apart"
        and (
            (one["id_a"] in left and one["id_b"] in right)
            or (one["id_a"] in right and one["id_b"] in left)
        )
    ]
