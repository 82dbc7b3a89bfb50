"""The pair features of GUM coreference: one table of names, rules in words, and formulas.

All are in [0, 1], so that one learning rate suits them all. ``docs/gum_coref.md`` shows the table;
a test compares the two. To add a feature, add a row to its group and run
``python -m supclust.data.sets.gum.features``, which prints the table for the page.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from supclust.data.block import n_pairs
from supclust.data.sets.gum.attributes import Mentions
from supclust.data.sets.gum.grammar_features import AGREEMENT, GRAMMAR, TYPE
from supclust.data.sets.gum.pairs import Pairs
from supclust.data.sets.gum.word_features import DISTANCE, WORDS

GROUPS = {
    "Distance": DISTANCE,
    "Words": WORDS,
    "Type of phrase": TYPE,
    "Agreement": AGREEMENT,
    "Grammar": GRAMMAR,
}
FEATURES = tuple(feature for group in GROUPS.values() for feature in group)
FEATURE_NAMES = tuple(feature.name for feature in FEATURES)


def pair_features(mentions: Mentions) -> npt.NDArray[np.float32]:
    """The features of all pairs of a document.

    Args:
        mentions: n mentions.

    Returns:
        (n(n-1)/2, d) in condensed upper-triangle order, each in [0, 1].

    Complexity: O(n^2 (d + w)) time for w different words, O(n^2 d) memory, one column at a time.
    """
    columns = np.empty((len(FEATURES), n_pairs(mentions.n)), np.float32)
    pairs = Pairs(mentions)
    for row, feature in enumerate(FEATURES):
        columns[row] = pairs.condensed(feature.compute(pairs))
    return np.ascontiguousarray(columns.T)


def feature_table() -> str:
    """The table of the documentation, in Markdown."""
    lines = ["| # | feature | group | rule | values |", "|---|---|---|---|---|"]
    group_of = {f.name: name for name, group in GROUPS.items() for f in group}
    for number, feature in enumerate(FEATURES, start=1):
        lines.append(
            f"| {number} | `{feature.name}` | {group_of[feature.name]} | {feature.rule} | "
            f"{feature.values} |"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    print(feature_table())
