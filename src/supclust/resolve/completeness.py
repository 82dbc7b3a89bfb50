"""Whether labels are complete: whether a record without a label is a stranger to every entity.

A reference usually consists of whole entities, and all other records are other entities. Or some
records of an entity have no label. The two differ in the unlabelled neighbours of labelled records:
in the second case they are matches as often as labelled neighbours are.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from supclust.resolve.blocking.candidates import Candidates
from supclust.resolve.blocking.keys import Ints
from supclust.resolve.pair_model import train_logistic
from supclust.resolve.scoring import Compared
from supclust.resolve.training_pairs import PairCounts, draw_pairs, pair_kinds

Labelled: TypeAlias = Literal["auto", "complete", "partial"]

_FEW_STRANGERS = 0.02  # of the pairs of one entity, as pairs of two labelled entities
_FEW_MATCHES = 0.5  # of the matches that labels missing at random would leave
_SAMPLE = 20_000  # labelled pairs that the quick model is trained on
_LOOKED = 200_000  # pairs of a kind whose mean probability is taken, at most


class Completeness(NamedTuple):
    """Whether unlabelled records are strangers, and the reason for the answer."""

    complete: bool
    reason: str


def few_strangers(counts: PairCounts) -> bool:
    """Whether hardly any pairs of two labelled entities are candidates."""
    return counts.different <= _FEW_STRANGERS * counts.same


def completeness(
    asked: Labelled, candidates: Candidates, table: Compared, labels: Ints, counts: PairCounts
) -> Completeness:
    """Decide; ``auto`` looks at the unlabelled neighbours of labelled records."""
    known = float((labels >= 0).mean())
    if known == 1.0:
        return Completeness(True, "every record has a label")
    if asked != "auto":
        return Completeness(asked == "complete", f"--labelled {asked}")
    if not counts.mixed:
        return Completeness(True, "labelled and unlabelled records are never compared")
    if few_strangers(counts):
        return Completeness(
            True,
            "labels are taken as complete: hardly any two labelled entities are compared, so "
            "unlabelled records must be strangers (if not, say --labelled partial)",
        )
    expected = counts.same * 2 * (1 - known) / known
    share = _matching_share(candidates, table, labels, counts)
    if share * counts.mixed < _FEW_MATCHES * expected:
        return Completeness(
            True,
            f"labels are taken as complete: of the pairs with one labelled record {share:.1%} "
            f"look like matches, where records of the same entities without a label would make it "
            f"{min(1.0, expected / counts.mixed):.1%} (if not, say --labelled partial)",
        )
    return Completeness(
        False,
        "labels are taken as partial: unlabelled records look like those of labelled entities and "
        "are left out of training and scores (if not, say --labelled complete)",
    )


def _matching_share(
    candidates: Candidates, table: Compared, labels: Ints, counts: PairCounts
) -> float:
    """Share of matches among the pairs of a labelled and an unlabelled record, by a quick model.

    With the mean probabilities m of the model, share = (m_mixed - m_different) / (m_same -
    m_different): the adjusted count of Forman (2008). The mean alone is the share of matches among
    labelled pairs where the model tells nothing, so that labels would look partial.
    """
    pairs = draw_pairs(candidates, labels, counts, complete=False)
    rng = np.random.default_rng(0)
    some = pairs.of(rng.permutation(len(pairs.left))[:_SAMPLE])
    features = table.features(some.left, some.right, False)
    model = train_logistic(features, some.same, some.weight)

    def probability(left: Ints, right: Ints) -> NDArray[np.float64]:
        value = model.dissimilarity(table.features(left, right, False))
        return 1 / (1 + np.exp(np.clip(value, -50, 50)))

    matches = pairs.of(np.flatnonzero(pairs.same)[:_LOOKED])
    same = float(np.average(probability(matches.left, matches.right), weights=matches.weight))
    chance = np.minimum(1.0, [0, _LOOKED / counts.different, _LOOKED / counts.mixed, 0])
    total, drawn = np.zeros(4), np.zeros(4)
    for left, right in candidates.chunks():
        kinds = pair_kinds(labels, left, right)
        kept = np.flatnonzero(rng.random(len(kinds)) < chance[kinds])
        if len(kept):
            kinds = kinds[kept]
            total += np.bincount(kinds, probability(left[kept], right[kept]), minlength=4)
            drawn += np.bincount(kinds, minlength=4)
    _, different, mixed, _ = total / np.maximum(drawn, 1)
    return float(np.clip((mixed - different) / max(same - different, 1e-9), 0, 1))
