"""``supclust fit --block --labelled complete --distinct``: one labelled person in each block."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from supclust.cli import main as cli
from supclust.model import load

FIRST = ("anna", "bert", "carla", "dirk", "emma", "fritz", "gina", "hugo")
TOPICS = ("optics", "polymers", "engines", "genomes", "chips", "soil", "radar", "glass")


def write_mentions(path: Path, seed: int = 0) -> Path:
    """Thirty blocks of a surname; the first of four people in each is labelled, completely."""
    rng = np.random.default_rng(seed)
    lines = ["id,who,block,patent,name,topics,city"]
    for block in range(30):
        for person in range(4):
            name, city = FIRST[(person * 3 + block) % 8], f"town{block}{person}"
            topics = rng.choice(TOPICS, 3, replace=False)
            for k in range(6):
                who = f"p{block}" if person == 0 else ""
                known = ";".join(rng.choice(topics, 2, replace=False))
                patent = f"t{block}x{k}" if person < 2 else f"t{block}y{person}{k}"
                lines.append(
                    f"{len(lines)},{who},b{block},{patent},{name} smith{block},{known},"
                    f"{city if rng.random() < 0.8 else ''}"
                )
    path.write_text("\n".join(lines) + "\n")
    return path


def test_complete_labels_in_blocks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = write_mentions(tmp_path / "t.csv")
    words = ["fit", str(table), "--label", "who", "--block", "block", "--distinct", "patent"]
    assert cli.main([*words, "--labelled", "complete", "-o", str(tmp_path / "m")]) == 0
    shown = capsys.readouterr().out
    assert "--labelled complete" in shown and "held out: B-cubed" in shown
    assert load(tmp_path / "m").record["records"]["block"] == "block"
    output = str(tmp_path / "c.csv")
    assert cli.main(["cluster", str(table), "--model", str(tmp_path / "m"), "-o", output]) == 0
    with table.open() as one, Path(output).open() as two:
        records, found = list(csv.DictReader(one)), list(csv.DictReader(two))
    members: dict[str, list[dict[str, str]]] = {}
    for record, row in zip(records, found, strict=True):
        members.setdefault(row["cluster"], []).append(record)
    assert all(len({r["block"] for r in rows}) == 1 for rows in members.values())
    assert all(len({r["patent"] for r in rows}) == len(rows) for rows in members.values())
    right = sum(
        len(rows) == 6 and len({(r["block"], r["name"]) for r in rows}) == 1
        for rows in members.values()
    )
    assert right > 0.8 * 120  # of the people, most of whom nobody labelled
