"""The average of boosted models, as one model: the trees of all, their leaves divided by k."""

from __future__ import annotations

from collections.abc import Sequence

from supclust.boosting.booster import Booster

_VALUES = ("leaf_value=", "internal_value=")


def average_boosters(boosters: Sequence[Booster]) -> Booster:
    """One model whose raw score is the mean of the raw scores of some.

    Args:
        boosters: trained on the same features, with the same objective.
    """
    first = boosters[0]
    if any((b.n_features, b.objective) != (first.n_features, first.objective) for b in boosters):
        raise ValueError("boosted models of one average need the same features and objective.")
    trees = [
        tree
        for booster in boosters
        for tree in booster.text.partition("\nend of trees\n")[0].split("\nTree=")[1:]
    ]
    scaled = [f"Tree={k}\n{_scaled(tree, len(boosters))}\n" for k, tree in enumerate(trees)]
    header = first.text.partition("\nTree=")[0].split("\n")
    sizes = " ".join(str(len(tree)) for tree in scaled)
    lines = [f"tree_sizes={sizes}" if line.startswith("tree_sizes=") else line for line in header]
    return Booster.from_text("\n".join(lines) + "\n" + "".join(scaled) + "end of trees\n")


def _scaled(tree: str, k: int) -> str:
    """The fields of a tree, its values divided by k."""
    lines = []
    for line in tree.split("\n")[1:]:
        name, sign, values = line.partition("=")
        if name + sign in _VALUES:
            values = " ".join(repr(float(value) / k) for value in values.split())
        lines.append(f"{name}{sign}{values}")
    return "\n".join(lines).rstrip("\n") + "\n\n"
