"""Tables of generated persons for tests."""

import csv

import numpy as np

FIRST = [
    "ann",
    "bob",
    "carl",
    "dora",
    "emil",
    "fritz",
    "gina",
    "hans",
    "ida",
    "jonas",
    "karl",
    "mia",
]


def persons(entities, seed=0):
    """Records of persons, three each, with typos and missing values; (rows, entity)."""
    rng = np.random.default_rng(seed)
    letters = "abcdefghijklmnopqrstuvwxyz"
    rows, labels = [], []
    for k in range(entities):
        first = FIRST[rng.integers(len(FIRST))]
        last = "".join(rng.choice(list(letters), 7))
        born = f"{rng.integers(1940, 2000)}-{rng.integers(1, 13):02d}-{rng.integers(1, 29):02d}"
        zip_code = f"{rng.integers(10000, 99999)}"
        for _ in range(3):
            typo = list(last)
            if rng.random() < 0.4:
                typo[rng.integers(7)] = letters[rng.integers(26)]
            rows.append(
                {
                    "given": first if rng.random() < 0.9 else "",
                    "surname": "".join(typo),
                    "born": born if rng.random() < 0.8 else "",
                    "zip": zip_code if rng.random() < 0.8 else "",
                }
            )
            labels.append(k)
    return rows, np.array(labels)


def write(path, rows, labels=None):
    with path.open("w", newline="") as stream:
        names = [*rows[0], *(["entity"] if labels is not None else [])]
        out = csv.DictWriter(stream, names)
        out.writeheader()
        for k, row in enumerate(rows):
            out.writerow(row | ({} if labels is None else {"entity": labels[k]}))
    return path
