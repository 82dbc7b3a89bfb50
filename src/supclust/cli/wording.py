"""Text that the commands share: counts, lists of names, and lines about a model."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from supclust.data.records.comparisons import ColumnKind


def counted(count: int, what: str) -> str:
    """A number and its noun, in the plural where it is not one.

    >>> counted(1, "block"), counted(12000, "record")
    ('1 block', '12,000 records')
    """
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def names_in(text: str | None) -> list[str] | None:
    """Names from a file, one per line, or from a list separated by commas.

    >>> names_in("a, b"), names_in(None)
    (['a', 'b'], None)
    """
    if text is None:
        return None
    path = Path(text)
    if path.is_file():
        lines = path.read_text(encoding="utf-8").splitlines()
        names = [line.strip() for line in lines if line.strip()]
    else:
        names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise ValueError(f"a list of names is empty: {text!r}. Write them as a,b,c or in a file.")
    return names


KIND_HELP = (
    "kinds of columns, as dob=date,zip=code: text, document, code, list, date, number or "
    "coordinates (default: inferred; supclust data check says them)"
)


def kinds_in(text: str | None) -> dict[str, ColumnKind]:
    """Kinds of columns from an option.

    >>> kinds_in("dob=date, zip=code"), kinds_in(None)
    ({'dob': 'date', 'zip': 'code'}, {})
    """
    from supclust.data.records.kinds import checked_kinds

    parts = [name.partition("=") for name in names_in(text) or ()]
    unequal = [name for name, equals, kind in parts if not (name and equals and kind)]
    if unequal:
        raise ValueError(
            f"--kind must be column=kind, as dob=date,zip=code; received {unequal[0]!r}."
        )
    return checked_kinds({name.strip(): kind.strip() for name, _, kind in parts})


def linkage_line(linkage: str, alpha: float, spread: float | None) -> str:
    """As in ``alpha -1.2: of the classical linkages, nearest to single``.

    Args:
        linkage: name.
        alpha: of it.
        spread: of the dissimilarities, the unit of alpha; ``None``: not recorded.
    """
    from supclust.hac.family import nearest_linkage

    if linkage != "exp":
        return f"linkage {linkage} (alpha {alpha:g})"
    nearest = nearest_linkage(alpha, spread or 1.0)
    doubt = "" if spread else ", if the dissimilarities have a spread of about 1"
    return f"alpha {alpha:.4g}: of the classical linkages, nearest to {nearest}{doubt}"


def cut_line(threshold: float, learned: bool, choice: Mapping[str, Any] | None) -> str:
    """As in ``merges up to 1.2 are made; the best cut of these trees would reach F1 0.960``.

    Args:
        threshold: of the model.
        learned: whether the cut is learned.
        choice: what the record says about it.
    """
    text = f"merges up to {threshold:.6g} are made"
    if learned:
        text = f"learned from features of the merges; the best single height is {threshold:.6g}"
    known = choice or {}
    reason = f" ({known['reason']})" if known.get("reason") else ""
    best = known.get("ceiling")
    limit = "" if best is None else f"; the best cut of these trees would reach F1 {best:.3f}"
    return f"{text}{reason}{limit}"


def scores_line(dev: Mapping[str, Any] | None, sizes: Mapping[str, Any] | None) -> str:
    """As in ``held out: pairwise F1 0.912 (precision ..., recall ...), dendrogram purity ...``."""
    if not dev:
        return (
            "no F1 is recorded: no two records held out are known to be of different clusters, so "
            "precision cannot be measured; label more clusters of one block"
        )
    where = "held out" if (sizes or {}).get("dev", {}).get("blocks", 1) else "on training data"
    purity = dev["dendrogram_purity"]
    shown = "" if purity is None else f", dendrogram purity {purity:.3f}"
    return (
        f"{where}: pairwise F1 {dev['pairwise_f1']:.3f} (precision {dev['precision']:.3f}, "
        f"recall {dev['recall']:.3f}){shown}"
    )


def dissimilarity_lines(record: Mapping[str, Any]) -> list[str]:
    """Which dissimilarity was chosen, and the scores that it rests on; none: it was given.

    >>> found = {"chosen": "linear", "folds": 4, "scores": {"linear": 1.41, "stacked": 1.4}}
    >>> dissimilarity_lines({"dissimilarity_choice": found})
    ['dissimilarity: linear (purity + F1/2 held out, 4 folds: linear 1.410, stacked 1.400)']
    """
    choice = record.get("dissimilarity_choice")
    if not choice or not choice["scores"]:
        return []
    scores = ", ".join(f"{name} {score:.3f}" for name, score in choice["scores"].items())
    folds = counted(choice["folds"], "fold")
    return [f"dissimilarity: {choice['chosen']} (purity + F1/2 held out, {folds}: {scores})"]


def guard_lines(record: Mapping[str, Any]) -> list[str]:
    """Which of closed form and trained the model is, and what that rests on; none: not compared.

    >>> guard = {"shipped": "closed form", "folds": 4, "difference": -0.01, "standard_error": 0.002}
    >>> guard_lines({"start": "whitening", "guard": guard})
    ['shipped: closed form (whitening); trained minus closed form -0.010 ± 0.002 over 4 folds']
    """
    guard = record.get("guard")
    if not guard:
        return []
    text = f"shipped: {guard['shipped']} ({record['start']})"
    if guard["difference"] is None:
        return [f"{text}; too few clusters to compare it with training"]
    error = guard["standard_error"]
    spread = "" if error is None else f" ± {error:.3f}"
    ahead = f"trained minus closed form {guard['difference']:+.3f}{spread}"
    return [f"{text}; {ahead} over {counted(guard['folds'], 'fold')}"]
