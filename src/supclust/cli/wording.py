"""Text that the commands share: counts, lists of names, and lines about a model."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from supclust.data.records.features import ColumnKind


def counted(count: int, what: str) -> str:
    """A number and its noun, in the plural where it is not one.

    >>> counted(1, "block"), counted(12000, "record")
    ('1 block', '12,000 records')
    """
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def shortened(text: str, widest: int) -> str:
    """A text of at most so many characters, which ends in three dots where it was cut.

    >>> shortened("sony turntable", 14), shortened("sony turntable", 10)
    ('sony turntable', 'sony tu...')
    """
    return text if len(text) <= widest else text[: widest - 3] + "..."


def names_in(text: str | None) -> list[str] | None:
    """Names from a file, one per line, or from a list separated by commas.

    >>> names_in("a, b"), names_in(None)
    (['a', 'b'], None)
    """
    if text is None:
        return None
    path = Path(text)
    if os.path.isfile(path):  # false, and not an error, for a list longer than a name of a file
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
