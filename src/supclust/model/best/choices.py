"""The choices in the record of a model as sentences, for commands and reports."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def cut_line(threshold: float, learned: bool, choice: Mapping[str, Any] | None) -> str:
    """As in ``merges up to 1.2 are made; the best cut of these trees would reach F1 0.960``.

    Args:
        threshold: of the model.
        learned: whether the cut is learned.
        choice: the entry ``cut_choice`` of the record.
    """
    text = f"merges up to {threshold:.6g} are made"
    if learned:
        text = f"learned from features of the merges; the best single height is {threshold:.6g}"
    known = choice or {}
    reason = f" ({known['reason']})" if known.get("reason") else ""
    best = known.get("ceiling")
    limit = "" if best is None else f"; the best cut of these trees would reach F1 {best:.3f}"
    return f"{text}{reason}{limit}"


def dissimilarity_lines(record: Mapping[str, Any]) -> list[str]:
    """Which dissimilarity was chosen, and the scores that it rests on; none: it was given.

    >>> choice = {"chosen": "linear", "folds": 4, "scores": {"linear": 1.41, "stacked": 1.4}}
    >>> dissimilarity_lines({"dissimilarity_choice": choice})
    ['dissimilarity: linear (purity + F1/2 held out, 4 folds: linear 1.410, stacked 1.400)']
    """
    choice = record.get("dissimilarity_choice")
    if not choice or not choice["scores"]:
        return []
    scores = ", ".join(f"{name} {score:.3f}" for name, score in choice["scores"].items())
    return [
        f"dissimilarity: {choice['chosen']} (purity + F1/2 held out, {choice['folds']} folds: "
        f"{scores})"
    ]


def guard_lines(record: Mapping[str, Any]) -> list[str]:
    """Which of the candidates the model is, and what that rests on; none: not compared.

    >>> guard = {"shipped": "closed form", "folds": 4, "difference": -0.01, "standard_error": 0.002}
    >>> guard_lines({"start": "whitening", "guard": guard})
    ['weights: closed form (whitening); trained minus closed form -0.010 ± 0.002 over 4 folds']
    """
    guard = record.get("guard")
    if not guard:
        return []
    chosen = guard["shipped"]
    start = f"start: {record['start']}" if chosen.startswith("trained") else record["start"]
    text = f"weights: {chosen}" + ("" if "random" in chosen else f" ({start})")
    if guard["difference"] is None:
        return [f"{text}; too few clusters to compare it with training"]
    error = guard["standard_error"]
    spread = "" if error is None else f" ± {error:.3f}"
    ahead = f"trained minus closed form {guard['difference']:+.3f}{spread}"
    folds = f"{guard['folds']} fold{'' if guard['folds'] == 1 else 's'}"
    return [f"{text}; {ahead} over {folds}"]
