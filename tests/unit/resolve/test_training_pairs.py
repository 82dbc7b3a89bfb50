"""Draw of labelled pairs: entities of every size take part."""

import numpy as np
import pytest

from supclust.resolve import training_pairs
from supclust.resolve.blocking.candidates import Candidates
from supclust.resolve.blocking.keys import KeyColumn
from supclust.resolve.blocking.rules import KeyTable
from supclust.resolve.training_pairs import count_pairs, draw_pairs, match_shares


def labels_of(sizes):
    return np.repeat(np.arange(len(sizes)), sizes)


@pytest.mark.parametrize("sizes", [[1], [2, 2, 2], [2, 3, 40], [1, 5, 5, 300], [7, 0, 9]])
@pytest.mark.parametrize("most", [1, 10, 100, 10**6])
def test_shares_fall_with_size_and_draw_the_number_asked_for(sizes, most):
    share = match_shares(labels_of(sizes), most)
    pairs = np.array([k * (k - 1) / 2 for k in sizes])
    assert (share * pairs).sum() == pytest.approx(min(most, pairs.sum()))
    drawn = (share < 1) & (pairs > 0)
    c = (share * sizes)[drawn]
    assert c == pytest.approx(np.full(len(c), c[0] if len(c) else 0))
    if len(c):
        assert (np.array(sizes)[~drawn & (pairs > 0)] <= c[0] + 1e-9).all()


def test_no_label_has_no_share():
    assert len(match_shares(np.array([-1, -1]), 5)) == 0


def test_small_entities_are_drawn_beside_a_large_one(monkeypatch):
    monkeypatch.setattr(training_pairs, "MATCHES", 500)
    labels = labels_of([200, *[3] * 20, 40])
    labels[labels == labels.max()] = -1
    column = KeyColumn.of(["x"] * len(labels), "code")
    candidates = Candidates.of(KeyTable({"all": column}), ())
    counts = count_pairs(candidates, labels)
    pairs = draw_pairs(candidates, labels, counts, complete=True)
    drawn = np.bincount(labels[pairs.left[pairs.same]], minlength=21)
    assert (drawn[1:] == 3).all()
    assert 350 < drawn[0] < 530
    assert pairs.weight[pairs.same].sum() == pytest.approx(counts.same, rel=0.1)
    assert pairs.weight[~pairs.same].sum() == pytest.approx(counts.different + counts.mixed)
