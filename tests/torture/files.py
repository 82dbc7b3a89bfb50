"""Fuzz of the tables that users bring: damaged bytes, odd cells and types, in every format.

To add a command that reads tables, add it to `COMMANDS`.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import numpy as np

from torture.commands import run
from torture.inputs import Inputs
from torture.tampering import damaged_bytes

ODD_CELLS = (
    *("", " ", "nan", "inf", "-inf", "1e400", "NULL", "None", "0x1f", "1,5", '"', '""', "'", "\t"),
    *("\0", "\ufeff", "é" * 50, "a\nb", "=1+1", "<b>", "-0", "007", "9" * 40, "1e-320", "true"),
)
SUFFIXES = (".csv", ".tsv", ".csv.gz", ".parquet", ".npz")
Case = tuple[str, str | None]
Words = Callable[[Path, str, Inputs, Path], tuple[object, ...]]
COMMANDS: dict[str, Words] = {
    "data check": lambda path, kind, inputs, out: ("data", "check", path, "--label", "who"),
    "cluster": lambda path, kind, inputs, out: (
        *("cluster", path, "--model", inputs.models[kind], "-o", out / "c.parquet"),
    ),
    "cluster --keep": lambda path, kind, inputs, out: (
        *("cluster", path, "--model", inputs.models[kind], "--keep", "all", "-o", out / "c.npz"),
    ),
    "cluster of a bare table": lambda path, kind, inputs, out: (
        *("cluster", path, "--model", inputs.bare, "-o", out / "c.csv"),
    ),
    "edges": lambda path, kind, inputs, out: (
        *("edges", path, "--id-a", "id", "--id-b", "who", "--threshold", 0.5),
        *("--dissimilarity", "x" if kind == "vectors" else "year", "-o", out / "e.csv"),
    ),
}


FIT: dict[str, Words] = {
    "fit of a bare table": lambda path, kind, inputs, out: (
        *("fit", path, "--label", "who", "-o", out / "model"),
    ),
}
"""Takes seconds where the table is accepted, and has a part of its own."""


def fuzz_fit(inputs: Inputs, cases: int, rng: random.Random) -> Iterator[Case]:
    """Learn from damaged tables."""
    return fuzz_files(inputs, cases, rng, FIT)


def fuzz_files(
    inputs: Inputs, cases: int, rng: random.Random, commands: Mapping[str, Words] = COMMANDS
) -> Iterator[Case]:
    """Write a table, damage it, and let a command read it."""
    if "cluster of a bare table" in commands:
        assert inputs.bare  # made before anything runs in this process
    folder = inputs.scratch / "files"
    folder.mkdir(exist_ok=True)
    for _ in range(cases):
        kind = rng.choice(list(inputs.tables))
        rows = [line.split(",") for line in inputs.tables[kind].read_text().splitlines()]
        if rng.random() < 0.6:
            _change_cells(rows, rng)
        path = folder / f"table{rng.choice(SUFFIXES)}"
        _write(path, rows, rng)
        if rng.random() < 0.4:
            path.write_bytes(damaged_bytes(path.read_bytes(), rng))
        name = rng.choice(list(commands))
        ended = run(*commands[name](path, kind, inputs, inputs.scratch))
        yield f"{name} {''.join(path.suffixes)}", ended.fault


def _change_cells(rows: list[list[str]], rng: random.Random) -> None:
    """Odd cells, columns and numbers of columns."""
    for _ in range(rng.choice((1, 1, 3, 30))):
        row = rng.choice(rows)
        row[rng.randrange(len(row))] = rng.choice(ODD_CELLS)
    action = rng.random()
    if action < 0.1:
        rng.choice(rows).append("more")
    elif action < 0.2:
        rng.choice(rows).pop()
        if not all(rows):
            rows[:] = [row for row in rows if row] or [["x"]]
    elif action < 0.25:
        del rows[rng.randrange(2) :]
    elif action < 0.3:
        column, cell = rng.randrange(len(rows[0])), rng.choice(ODD_CELLS)
        for row in rows[1:]:
            row[min(column, len(row) - 1)] = cell
    if not rows:
        rows.append([""])


def _write(path: Path, rows: list[list[str]], rng: random.Random) -> None:
    import gzip

    suffix = "".join(path.suffixes)
    if suffix.startswith((".csv", ".tsv")):
        text = "\n".join((("\t" if "tsv" in suffix else ",").join(row)) for row in rows)
        encoding = rng.choice(("utf-8", "utf-8", "utf-8", "utf-8-sig", "utf-16", "latin-1"))
        content = text.encode(encoding, "replace") + rng.choice((b"\n", b"", b"\r\n"))
        path.write_bytes(gzip.compress(content) if suffix.endswith(".gz") else content)
        return
    width = min(len(row) for row in rows)
    names = [name or f"c{k}" for k, name in enumerate(rows[0][:width])]
    columns = {name: [row[k] for row in rows[1:]] for k, name in enumerate(names)}
    if suffix == ".npz":
        arrays = {name.replace("/", "_"): np.array(values) for name, values in columns.items()}
        np.savez(path, **{key: value for key, value in arrays.items() if key and "\0" not in key})
    else:
        _write_parquet(path, columns, rng)


def _write_parquet(path: Path, columns: dict[str, list[str]], rng: random.Random) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    odd = (
        lambda values: pa.array([[value] for value in values]),
        lambda values: pa.array([{"a": value} for value in values]),
        lambda values: pa.array([value.encode() for value in values]),
        lambda values: pa.array(range(len(values)), pa.timestamp("s")),
        lambda values: pa.array(values).dictionary_encode(),
        lambda values: pa.nulls(len(values)),
        lambda values: pa.array([None, *values[1:]]),
        lambda values: pa.array([float(len(value)) for value in values], pa.float16()),
    )
    arrays = {}
    for name, values in columns.items():
        change = rng.choice(odd) if rng.random() < 0.15 else pa.array
        try:
            numbers = [float(value) for value in values]
            arrays[name] = pa.array(numbers) if rng.random() < 0.7 else change(values)
        except ValueError:
            arrays[name] = change(values)
    pq.write_table(pa.table(arrays), path)
