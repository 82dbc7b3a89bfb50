"""Training again from answers: as judged pairs, beside labels or instead of them."""

from __future__ import annotations

from itertools import combinations, pairwise

import pyarrow.csv

from store_tables import clusters_of, persons, table_of
from supclust.cli.main import main
from supclust.model import load


def corrected(store) -> None:
    """True answers to pairs of the same cluster and of neighbouring ones."""
    entity = {one["id"]: one["entity"] for one in persons(120, seed=3)}
    members = {}
    for id in clusters_of(store):
        members.setdefault(entity[id], []).append(id)
    together = [pair for ids in members.values() for pair in combinations(ids, 2)][:80]
    firsts = [ids[0] for ids in members.values()]
    store.correct(together=together, apart=list(pairwise(firsts[:61])))


def test_refit_from_answers_alone(store, tmp_path, capsys) -> None:
    assert main(["refit", str(store.folder), "-o", str(tmp_path / "m")]) == 2
    assert "has no corrections to learn from" in capsys.readouterr().err
    corrected(store)
    assert main(["refit", str(store.folder), "-o", str(tmp_path / "m")]) == 0
    assert "80 pairs that match, 60 that do not" in capsys.readouterr().out
    model = load(tmp_path / "m")
    assert dict(model.records["columns"]) == dict(store.model.records["columns"])
    assert [one["rule"] for one in model.records["candidates"]] == [
        one["rule"] for one in store.model.records["candidates"]
    ]


def test_refit_with_labels(store, tmp_path, capsys) -> None:
    corrected(store)
    records = persons(120, seed=3)
    pyarrow.csv.write_csv(table_of(records), tmp_path / "t.csv")
    words = ["refit", str(store.folder), "-o", str(tmp_path / "m")]
    assert main([*words, "--table", str(tmp_path / "t.csv")]) == 2
    assert "go together" in capsys.readouterr().err
    assert main([*words, "--table", str(tmp_path / "t.csv"), "--label", "entity"]) == 0
    out = capsys.readouterr().out
    assert "80 pairs that match" in out
    assert load(tmp_path / "m").record["confidence"] is not None
