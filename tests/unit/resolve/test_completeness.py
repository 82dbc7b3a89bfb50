"""Whether labels are taken as complete, by the unlabelled neighbours of labelled records."""

import csv

import numpy as np
import pytest

from supclust.data.records.learning import learn_comparisons
from supclust.data.records.table import ColumnChoice, read_records
from supclust.resolve.blocking.candidates import Candidates
from supclust.resolve.blocking.table_rules import key_table
from supclust.resolve.completeness import completeness
from supclust.resolve.scoring import Compared
from supclust.resolve.training_pairs import count_pairs, draw_pairs


def products(path, labelled, shared):
    """Offers, two per product, of six words from 80, some of them the same in both."""
    rng = np.random.default_rng(0)
    words = ["".join(rng.choice(list("abcdefghijklmnop"), 6)) for _ in range(80)]
    with path.open("w", newline="") as stream:
        out = csv.writer(stream)
        out.writerow(["title", "entity"])
        for product in range(300):
            common = rng.choice(words, shared).tolist()
            for _ in range(2):
                title = rng.permutation(common + rng.choice(words, 6 - shared).tolist())
                known = labelled(product, rng)
                out.writerow([" ".join(title), f"p{product}" if known else ""])
    return path


@pytest.mark.parametrize("shared", [3, 4])
@pytest.mark.parametrize(
    ("labelled", "complete"),
    [
        (lambda product, rng: product < 150, True),  # both records of half of the products
        (lambda product, rng: rng.random() < 0.7, False),  # records at random
    ],
)
def test_labels_are_judged_by_neighbours_also_where_columns_tell_little(
    shared, labelled, complete, tmp_path
):
    records = read_records(products(tmp_path / "t.csv", labelled, shared), ColumnChoice("entity"))
    candidates = Candidates.of(key_table(records, False), ())
    counts = count_pairs(candidates, records.labels)
    pairs = draw_pairs(candidates, records.labels, counts, complete=False)
    comparisons = learn_comparisons(records.kinds, records.values, pairs.left, pairs.right)
    table = Compared(comparisons, comparisons.encode(records.values))
    decided = completeness("auto", candidates, table, records.labels, counts)
    assert decided.complete == complete, decided.reason
