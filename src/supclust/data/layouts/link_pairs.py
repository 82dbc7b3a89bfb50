"""Reader of constraints: pairs of ids that must, or cannot, be in one cluster."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supclust.data.errors import DataError
from supclust.data.tables.columns import read_table

Ints = NDArray[np.int64]
COLUMN = "constraint"
_MUST, _CANNOT = ("must", "must-link", "must_link"), ("cannot", "cannot-link", "cannot_link")


@dataclass(frozen=True)
class LinkPairs:
    """Constraints between records by id.

    Attributes:
        pairs: of ids.
        must: whether each is a must-link; else it is a cannot-link.
        path: where they were read.
    """

    pairs: tuple[tuple[str, str], ...]
    must: tuple[bool, ...]
    path: Path

    @property
    def rows(self) -> tuple[str, ...]:
        """One text per constraint."""
        return tuple(f"{a}|{b}|{must}" for (a, b), must in zip(self.pairs, self.must, strict=True))

    def numbered(self, ids: Any) -> tuple[Ints, Ints]:
        """Must-links and cannot-links, (k, 2), as positions in a sequence of ids.

        Args:
            ids: of all records; integers are compared as text.

        Raises:
            DataError: an id is not among them.
        """
        linked = {id for pair in self.pairs for id in pair}
        number = {str(id): k for k, id in enumerate(ids) if str(id) in linked}
        unknown = next((id for pair in self.pairs for id in pair if id not in number), None)
        if unknown is not None:
            raise DataError(
                f"no record has the id {unknown!r}; correct it, or remove the pair", self.path
            )
        numbered = np.array([[number[a], number[b]] for a, b in self.pairs], np.int64)
        kinds = np.array(self.must, np.bool_)
        return numbered[kinds].reshape(-1, 2), numbered[~kinds].reshape(-1, 2)


def read_link_pairs(path: str | Path) -> LinkPairs:
    """Read a table with the columns id_a, id_b and constraint, which is ``must`` or ``cannot``."""
    table = read_table(path)
    table.require("id_a", "id_b", COLUMN)
    kinds = table.texts(COLUMN)
    bad = next((k for k, kind in enumerate(kinds) if kind not in _MUST + _CANNOT), None)
    if bad is not None:
        raise table.error(f"column {COLUMN!r} must be must or cannot; received {kinds[bad]!r}", bad)
    pairs = tuple(zip(table.texts("id_a"), table.texts("id_b"), strict=True))
    return LinkPairs(pairs, tuple(kind in _MUST for kind in kinds), table.path)
