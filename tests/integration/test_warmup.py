"""After ``supclust warmup`` no command has to compile anything."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from supclust.hac.cpu.dispatch import SMALL

# A process of its own, in which no other test has used a kernel. A kernel that was used with new
# types since the warm-up would have been compiled then (or read from the disk, had it been
# compiled in an earlier process; here that is what keeps this test fast).
CODE = """
import json, sys
from numba.core.dispatcher import Dispatcher
from supclust.cli import main as cli

def used():
    found = {}
    for name, module in list(sys.modules.items()):
        if name.startswith("supclust"):
            for key, value in vars(module).items():
                if isinstance(value, Dispatcher):
                    found[f"{value.py_func.__module__}.{key}"] = set(map(str, value.signatures))
    return {(key, one) for key, all in found.items() for one in all}

assert cli.main(["warmup", *sys.argv[2:]]) == 0
known = used()
new = {}
for words in json.loads(sys.argv[1]):
    assert cli.main(words) == 0, words
    new[" ".join(words)] = sorted(used() - known)
    known = used()
print("NEW " + json.dumps(new))
"""


def write(path: Path, rows: list[dict[str, Any]]) -> str:
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return str(path)


def chain(n: int, name: str) -> list[dict[str, Any]]:
    return [{"id_a": i, "id_b": i + 1, name: 0.1 + (i % 7) / 20} for i in range(n - 1)]


def records(rng: np.random.Generator, n: int, blocks: int) -> list[dict[str, Any]]:
    """Blocks of unlike sizes; the first number makes a chain, the hardest of trees."""
    block = np.sort(rng.integers(blocks, size=n))
    return [
        {
            "id": i,
            "name": f"name {block[i]}",
            "who": f"{block[i]}-{i % 3}",
            "title": " ".join(rng.choice(["ant", "bee", "cat", "dog"], 3)),
            "x": i * i,
            "y": float(rng.normal()),
        }
        for i in range(n)
    ]


def people(rng: np.random.Generator, n: int) -> list[dict[str, Any]]:
    """Pairs of records of one entity, with a column of every kind and without blocks."""
    words = ["".join(rng.choice(list("aeiklmnorstu"), 6)) for _ in range(n)]
    return [
        {
            "id": i,
            "who": i // 2,
            "name": f"{words[i]} {words[i // 2]}",
            "notes": " ".join(rng.choice(words, 30)),
            "code": f"{12340 + i // 2:05d}",
            "tags": ";".join(rng.choice(words, 2)),
            "born": f"{1950 + i // 2 % 60}-02-{10 + i % 9}" if i % 5 else "",
            "size": round(float(rng.normal()), 3) if i % 7 else "",
            "place": f"{i % 90 + 0.5},{i % 7 + 0.25}",
        }
        for i in range(n)
    ]


def newly_compiled(lines: list[list[str]], *options: str) -> dict[str, list[str]]:
    """Kernels that every command used with types that the warm-up did not."""
    done = subprocess.run(
        [sys.executable, "-c", CODE, json.dumps(lines), *options],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    new: dict[str, list[str]] = json.loads(done.stdout.rpartition("NEW ")[2])
    return {words: kernels for words, kernels in new.items() if kernels}


@pytest.mark.timeout(400)  # where nothing is compiled yet
def test_after_the_warmup_nothing_is_compiled(tmp_path: Path, rng: np.random.Generator) -> None:
    few = write(tmp_path / "few.csv", records(rng, 150, 20))
    edges = write(tmp_path / "edges.csv", chain(30, "dissimilarity"))
    long = write(tmp_path / "long.csv", chain(SMALL + 10, "probability"))
    table = write(tmp_path / "people.csv", people(rng, 120))
    out, text, numbers, bare, rules = (
        str(tmp_path / name) for name in ("out.csv", "text", "numbers", "bare", "rules")
    )
    fit = ["fit", few, "--label", "who", "--block", "name", "--epochs", "2"]
    lines = [
        ["edges", edges, "--threshold", "0.3", "-o", out],
        ["edges", edges, "--threshold", "0.3", "--missing", "inf", "--alpha", "2", "-o", out],
        ["edges", long, "-o", out, "--tree", out],
        ["edges", long, "--probability", "probability", "--linkage", "single", "-o", out],
        [*fit, "-o", text],
        ["cluster", few, "--model", text, "-o", out],
        ["cluster", few, "--model", text, "--n-clusters", "2", "-o", out],
        [*fit, "--columns", "x", "-o", numbers],
        ["cluster", few, "--model", numbers, "-o", out],
        ["fit", table, "--label", "who", "-o", bare],
        ["cluster", table, "--model", bare, "-o", out],
        ["candidates", table, "--model", bare],
        ["fit", table, "--label", "who", "--candidates", "prefix3(code), word(notes)", "-o", rules],
        ["cluster", table, "--model", rules, "-o", out],
    ]
    assert newly_compiled(lines) == {}


@pytest.mark.timeout(400)  # where nothing is compiled yet
def test_after_the_whole_warmup_large_blocks_need_none(
    tmp_path: Path, rng: np.random.Generator
) -> None:
    few = write(tmp_path / "few.csv", records(rng, 150, 20))
    many = write(tmp_path / "many.csv", records(rng, SMALL + 500, 1))
    out, text, numbers = (str(tmp_path / name) for name in ("out.csv", "text", "numbers"))
    fit = ["fit", few, "--label", "who", "--block", "name", "--epochs", "2"]
    lines = [
        [*fit, "-o", text],
        ["cluster", many, "--model", text, "-o", out],
        [*fit, "--columns", "x", "-o", numbers],
        ["cluster", many, "--model", numbers, "-o", out],
    ]
    assert newly_compiled(lines, "--all") == {}
