"""Words that the commands share: those they write, and those they read."""

from __future__ import annotations

from pathlib import Path


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
