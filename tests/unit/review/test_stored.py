"""Explanations of a store: every case, sums of waterfalls, text and JSON."""

from __future__ import annotations

import json

import numpy as np
import pytest

from store_tables import clusters_of
from supclust.cli.main import main
from supclust.data.errors import DataError
from supclust.explain.wording import records_lines
from supclust.review.stored import StoredComponent, explain_records, explain_stored_cluster


def total(waterfall) -> float:
    return sum(waterfall["features"].values()) + waterfall["always"] + waterfall["not_given"]


def test_every_pair_of_records_is_explained(made) -> None:
    clusters = clusters_of(made)
    ids = list(clusters)
    rng = np.random.default_rng(0)
    reasons = set()
    pairs = [tuple(rng.choice(ids, 2, replace=False)) for _ in range(150)]
    for id in ids[:40]:
        mates = [other for other in ids if clusters[other] == clusters[id] and other != id]
        near = StoredComponent.of(made, id).ids
        pairs += [(id, other) for other in (*mates[:2], *near[:3]) if other != id]
    for a, b in pairs:
        facts = explain_records(made, str(a), str(b))
        reasons.add(facts["reason"])
        assert facts["together"] == (clusters[a] == clusters[b])
        assert facts["clusters"] == [clusters[a], clusters[b]]
        if facts["reason"] == "merge":
            assert facts["height"] <= made.threshold
        if facts["reason"] == "cut":
            assert facts["height"] > made.threshold
        if "waterfall" in facts:
            assert total(facts["waterfall"]) == pytest.approx(facts["height"], abs=1e-6)
            assert a in facts["sides"][0]
            assert b in facts["sides"][1]
        if facts["direct"]:
            direct = facts["direct"]
            assert total(direct["waterfall"]) == pytest.approx(direct["dissimilarity"], abs=1e-6)
        assert f"{a} and {b} are" in records_lines(facts)[0]
    assert {"merge", "not connected"} <= reasons


def test_heights_are_those_of_the_tree(made) -> None:
    biggest = max(clusters_of(made).values(), key=list(clusters_of(made).values()).count)
    found = StoredComponent.of(made, made.members(biggest)[0])
    finite = 0
    for merge in found.component.merges:
        made_of = found.component.waterfall(merge.left, merge.right)
        assert made_of.height == pytest.approx(merge.height, abs=1e-6)
        finite += 1
    assert finite == len(found.forest.heights) > 1


def test_corrections_are_the_reason(store) -> None:
    clusters = clusters_of(store)
    a = next(iter(clusters))
    b = next(id for id in clusters if clusters[id] != clusters[a])
    c = next(id for id in clusters if clusters[id] not in (clusters[a], clusters[b]))
    store.correct(together=[(a, b)])
    store.correct(together=[(b, c)])
    facts = explain_records(store, a, c)
    assert (facts["together"], facts["reason"]) == (True, "must-link")
    assert [one["correction"] for one in facts["corrections"]] == [1, 2]
    assert "correction 2" in "\n".join(records_lines(facts))

    pairs = store.members(store.cluster_of(a))
    mates = [id for id in clusters if id not in pairs and len(store.members(clusters[id])) > 1]
    one = mates[0]
    two = next(id for id in store.members(store.cluster_of(one)) if id != one)
    store.correct(apart=[(one, two)])
    facts = explain_records(store, one, two)
    assert facts["together"] is False
    if store.component_of(one) == store.component_of(two):
        assert facts["reason"] == "cannot-link"
        assert facts["corrections"][0]["correction"] == 3


def test_clusters(made) -> None:
    clusters = clusters_of(made)
    for cluster in sorted(set(clusters.values()))[:20]:
        facts = explain_stored_cluster(made, cluster)
        assert facts["members"] == made.members(cluster)
        assert (facts["last"] is None) == (len(facts["members"]) == 1)
        for name in ("last", "next"):
            if facts[name]:
                part = facts[name]
                assert total(part["waterfall"]) == pytest.approx(part["height"], abs=1e-6)
                assert (part["height"] <= made.threshold) == (name == "last")
        if facts["last"]:
            assert (
                sorted([*facts["last"]["sides"][0], *facts["last"]["sides"][1]]) == facts["members"]
            )
        assert set(facts["confidence"]) == set(facts["members"])


def test_command(made, capsys) -> None:
    ids = max((made.members(c) for c in set(clusters_of(made).values())), key=len)
    folder = str(made.folder)
    assert main(["explain", folder, "--records", ids[0], ids[1]]) == 0
    assert "are together" in capsys.readouterr().out
    assert main(["explain", folder, "--records", ids[0], ids[1], "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["together"] is True
    assert main(["explain", folder, "--cluster", str(made.cluster_of(ids[0]))]) == 0
    assert f"{len(ids)} records" in capsys.readouterr().out
    assert main(["explain", folder, "--cluster", str(made.cluster_of(ids[0])), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["members"] == ids
    assert main(["explain", folder]) == 0  # the store's model
    assert "candidates" in capsys.readouterr().out


def test_bad_input(made, capsys) -> None:
    folder = str(made.folder)
    id = next(iter(clusters_of(made)))
    for words, message in (
        (["--records", id, "nobody"], "no record has the id 'nobody'"),
        (["--records", id, id], "twice"),
        (["--cluster", "99999"], "no cluster has the id 99999"),
        (["--records", id, id, "--cluster", "1"], "received both"),
    ):
        assert main(["explain", folder, *words]) == 2
        assert message in capsys.readouterr().err
    assert main(["explain", str(made.folder / "model"), "--records", id, id]) == 2
    assert "is no entity store" in capsys.readouterr().err
    with pytest.raises(DataError, match="twice"):
        explain_records(made, id, id)
