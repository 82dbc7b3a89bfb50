"""Records with three columns of text in blocks: encoding, comparisons, clusters per CPU second."""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import pairwise

import numpy as np

from benchmarks.timing import table

BLOCKS, QUICK_BLOCKS = 2_000, 200
_LETTERS = np.array(list("abcdefghijklmnopqrstuvwxyz"))


def make_records(n_blocks: int, seed: int = 0) -> tuple[dict[str, list[str]], np.ndarray]:
    """Names, titles and venues of records in blocks of 20 to 80, and the starts of the blocks.

    A block has one surname and a person for every 8 records; a third of the words have two letters
    swapped.
    """
    rng = np.random.default_rng(seed)

    def words(count: int, least: int, most: int) -> list[str]:
        return ["".join(rng.choice(_LETTERS, rng.integers(least, most))) for _ in range(count)]

    def some(source: list[str], count: int) -> list[str]:
        return [source[k] for k in rng.integers(0, len(source), count)]

    def mistyped(word: str) -> str:
        if len(word) < 4 or rng.random() > 0.3:
            return word
        k = int(rng.integers(len(word) - 1))
        return word[:k] + word[k + 1] + word[k] + word[k + 2 :]

    first, last, subjects = words(800, 3, 9), words(3000, 4, 11), words(4000, 3, 11)
    columns: dict[str, list[str]] = {"name": [], "title": [], "venue": []}
    starts = [0]
    for _ in range(n_blocks):
        n = int(rng.integers(20, 81))
        (surname,), people = some(last, 1), some(first, max(1, n // 8))
        venues = [" ".join(some(last, 3)) for _ in people]
        for person in rng.integers(0, len(people), n):
            columns["name"].append(f"{mistyped(people[person])} {mistyped(surname)}")
            columns["title"].append(" ".join(some(subjects, int(rng.integers(5, 10)))))
            columns["venue"].append(mistyped(venues[person]))
        starts.append(starts[-1] + n)
    return columns, np.array(starts)


def cpu_seconds(run: Callable[[], object], repeats: int = 3) -> float:
    """Least processor time of some runs, after one that compiles."""
    run()
    seconds = []
    for _ in range(repeats):
        start = time.process_time()
        run()
        seconds.append(time.process_time() - start)
    return min(seconds)


def report(quick: bool) -> str:
    """Return the section."""
    from rapidfuzz import process
    from rapidfuzz.distance import JaroWinkler

    from supclust.cluster.flat import flat_records
    from supclust.cut.rule import Cut
    from supclust.data.records.comparisons import Comparison, RecordComparisons
    from supclust.data.records.learning import learn_comparisons, pairs_of_blocks

    columns, starts = make_records(QUICK_BLOCKS if quick else BLOCKS)
    n = int(starts[-1])
    left, right = pairs_of_blocks(
        [np.arange(a, b) for a, b in pairwise(starts.tolist())], most=2_000_000
    )
    made = learn_comparisons(dict.fromkeys(columns, "text"), columns, left, right)
    records, layout = made.encode(columns), made.layout()
    weight = np.full(len(made.feature_names), -1, np.float32)

    def cluster() -> None:
        flat_records(made.encode(columns), layout, starts, weight, 0.0, Cut(-0.5, -15.0))

    one = RecordComparisons((Comparison("name", "text", ("Jaro-Winkler",)),))
    names = columns["name"]
    lists = [names[k] for k in left], [names[k] for k in right]
    encode, whole = cpu_seconds(lambda: made.encode(columns)), cpu_seconds(cluster)
    features = cpu_seconds(lambda: made.features(records, left, right))
    winkler = cpu_seconds(lambda: one.features(records, left, right))
    theirs = cpu_seconds(lambda: process.cpdist(*lists, scorer=JaroWinkler.similarity, workers=-1))
    rows = [
        ["encoding", f"{n / encode:,.0f} records"],
        ["encoding, comparing, clustering", f"{n / whole:,.0f} records"],
        [f"all {len(weight)} features of a pair", f"{len(left) / features:,.0f} pairs"],
        ["Jaro-Winkler alone", f"{len(left) / winkler:,.0f} pairs"],
        ["rapidfuzz `cpdist`, Jaro-Winkler", f"{len(left) / theirs:,.0f} pairs"],
    ]
    sizes = f"{n:,} records with three columns of text in {len(starts) - 1:,} blocks of 20 to 80."
    return f"{sizes}\n\n{table(['what', 'per processor second'], rows)}"
