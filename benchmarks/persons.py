"""Generated persons with errors of typing: up to five records each, seeded, up to a million.

    python -m benchmarks.persons 10000 persons.csv

Names are drawn with frequencies that fall like those of real names. A record repeats a person with
errors: letters changed, dropped, doubled or swapped, names abbreviated or exchanged, another
address, values missing.
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path

import numpy as np

CONSONANTS, VOWELS = list("bcdfghjklmnprstvwz"), list("aeiou")
LETTERS = list("abcdefghijklmnopqrstuvwxyz")
COLUMNS = ("given_name", "surname", "born", "street", "city", "zip", "phone")


def words(rng: np.random.Generator, count: int, syllables: tuple[int, int]) -> list[str]:
    """Distinct words that can be pronounced."""
    made: dict[str, None] = {}
    while len(made) < count:
        size = int(rng.integers(*syllables))
        made["".join(rng.choice(CONSONANTS) + rng.choice(VOWELS) for _ in range(size))] = None
    return list(made)


def draw(rng: np.random.Generator, values: list[str], size: int) -> list[str]:
    """Values with frequencies 1 / (rank + 10)."""
    weights = 1 / (np.arange(len(values)) + 10.0)
    return [values[k] for k in rng.choice(len(values), size, p=weights / weights.sum())]


def typo(rng: np.random.Generator, text: str) -> str:
    """One error of typing."""
    if len(text) < 2:
        return text
    at, kind = int(rng.integers(len(text) - 1)), int(rng.integers(4))
    letter = LETTERS[int(rng.integers(26))]
    if kind == 0:
        return text[:at] + letter + text[at + 1 :]
    if kind == 1:
        return text[:at] + text[at + 1 :]
    if kind == 2:
        return text[: at + 1] + text[at:]
    return text[:at] + text[at + 1] + text[at] + text[at + 2 :]


def generate(n: int, seed: int = 0) -> tuple[list[tuple[str, ...]], list[int]]:
    """About n records and the person of each."""
    rng = np.random.default_rng(seed)
    persons = max(1, round(n / 2.2))
    given = draw(rng, words(rng, 2_000, (2, 4)), persons)
    surnames = draw(rng, words(rng, 20_000, (2, 5)), persons)
    streets, cities = words(rng, 5_000, (2, 5)), words(rng, 1_000, (2, 5))
    street, city = draw(rng, streets, persons), draw(rng, cities, persons)
    zips = rng.integers(10_000, 99_999, len(cities))
    number = {name: k for k, name in enumerate(cities)}
    born = np.datetime64("1930-01-01") + rng.integers(0, 27_000, persons)
    phone = rng.integers(10**8, 10**9, persons)
    counts = rng.choice([1, 2, 3, 4, 5], persons, p=[0.4, 0.25, 0.15, 0.12, 0.08])
    records, labels = [], []
    for k in range(persons):
        house = int(rng.integers(1, 200))
        for copy in range(counts[k]):
            first, last, lives = given[k], surnames[k], f"{street[k]} street {house}"
            town, code = city[k], str(zips[number[city[k]]])
            day, call = str(born[k]), f"0{phone[k]}"
            if copy:
                chance = rng.random(9)
                first = typo(rng, first) if chance[0] < 0.2 else first
                first = first[:1] if chance[1] < 0.05 else first
                last = typo(rng, last) if chance[2] < 0.25 else last
                first, last = (last, first) if chance[3] < 0.02 else (first, last)
                if chance[4] < 0.15:  # moved
                    lives = f"{streets[int(rng.integers(5_000))]} street {int(rng.integers(200))}"
                    town = cities[int(rng.integers(1_000))]
                    code = str(zips[number[town]])
                lives = typo(rng, lives) if chance[5] < 0.2 else lives
                if chance[6] < 0.1:
                    day = f"{day[:4]}-{int(rng.integers(1, 13)):02d}-{day[8:]}"
                call = typo(rng, call) if chance[7] < 0.15 else call
            row = (first, last, day, lives, town, code, call)
            gone = rng.random(len(row)) < (0.02, 0.02, 0.15, 0.1, 0.1, 0.15, 0.35)
            records.append(tuple("" if m else value for value, m in zip(row, gone, strict=True)))
            labels.append(k)
    order = rng.permutation(len(records))
    return [records[k] for k in order], [labels[k] for k in order]


def write(path: Path, n: int, seed: int = 0) -> None:
    records, labels = generate(n, seed)
    with path.open("w", newline="") as stream:
        table = csv.writer(stream)
        table.writerow([*COLUMNS, "entity"])
        table.writerows((*row, f"p{k}") for row, k in zip(records, labels, strict=True))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("records", type=int)
    parser.add_argument("path", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    write(chosen.path, chosen.records, chosen.seed)
