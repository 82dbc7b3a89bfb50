"""Words that the commands share."""

from __future__ import annotations


def counted(count: int, what: str) -> str:
    """A number and its noun, in the plural where it is not one.

    >>> counted(1, "block"), counted(12000, "record")
    ('1 block', '12,000 records')
    """
    return f"{count:,} {what}{'' if count == 1 else 's'}"
