"""A clustering that is kept up to date: records, scored pairs, clusters with permanent ids.

`EntityStore` is imported on first use: it needs pyarrow and Numba.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from supclust._lazy import attach

if TYPE_CHECKING:
    from supclust.store.changes import Changes as Changes
    from supclust.store.entity_store import EntityStore as EntityStore

__getattr__, __dir__, __all__ = attach(
    __name__, {"changes": ("Changes",), "entity_store": ("EntityStore",)}
)
