"""Names of objectives and dissimilarities: the entry points of all installed packages.

A package registers a class of its own in its ``pyproject.toml``, as supclust does:

    [project.entry-points."supclust.objectives"]
    my_objective = "mypackage:MyObjective"
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.metadata import EntryPoint, EntryPoints, entry_points
from typing import Any

from supclust._lazy import extras_explained


@cache
def _entry_points(group: str, path: tuple[str, ...]) -> EntryPoints:
    """The entry points of a group in the packages on ``path``, which is ``sys.path``."""
    return entry_points(group=group)


class Registry(Mapping[str, str]):
    """The names registered for one kind of class: name -> name of the class.

    Metadata are read once per ``sys.path``; a class is imported by `load` only.

    Args:
        group: of entry points.
        kind: what the classes are, for error messages.
        order: names that come first; all others follow alphabetically.
    """

    def __init__(self, group: str, kind: str, order: Sequence[str] = ()) -> None:
        self.group, self.kind, self._order = group, kind, tuple(order)

    def load(self, name: str) -> Any:
        """Import the class that a name stands for.

        Raises:
            ValueError: the name is not registered.
            MissingExtraError: the class needs a library that is not installed.
        """
        entry = self._entry(name)
        with extras_explained():
            return entry.load()

    def path(self, name: str) -> str:
        """Dotted path of the class, as in a ``_target_`` of Hydra."""
        return self._entry(name).value.replace(":", ".")

    def _entry(self, name: str) -> EntryPoint:
        entries = self._entries()
        if name not in entries:
            raise ValueError(
                f"{self.kind} must be one of {', '.join(entries)}; received {name!r}. "
                f"A package registers its own under the entry points {self.group!r}."
            )
        return entries[name]

    def _entries(self) -> dict[str, EntryPoint]:
        entries: dict[str, EntryPoint] = {}
        for entry in sorted(_entry_points(self.group, tuple(sys.path)), key=self._position):
            other = entries.setdefault(entry.name, entry)
            if other.value != entry.value:
                raise ValueError(
                    f"{self.kind} {entry.name!r} is registered twice: {other.value} and "
                    f"{entry.value}. Uninstall one of the packages, or rename one."
                )
        if not entries:
            raise ValueError(
                f"no entry points {self.group!r} are installed. Install supclust again, in a "
                "checkout with: pip install -e ."
            )
        return entries

    def _position(self, entry: EntryPoint) -> tuple[int, str]:
        known = entry.name in self._order
        return (self._order.index(entry.name) if known else len(self._order)), entry.name

    def __getitem__(self, name: str) -> str:
        return self._entries()[name].attr

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries())

    def __len__(self) -> int:
        return len(self._entries())


DISSIMILARITIES = Registry("supclust.dissimilarities", "dissimilarity")
"""Name of a dissimilarity -> name of its class; those of other installed packages included."""
