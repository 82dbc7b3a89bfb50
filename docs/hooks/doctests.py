"""For the API page: doctests in docstrings are shown as code."""

from __future__ import annotations

import re
from typing import Any

from griffe import Extension, Object

_DOCTEST = re.compile(r"^>>> .*(?:\n.+)*", re.M)


class ShowDoctests(Extension):
    """Puts a fence around every doctest, which Markdown would take for a quotation."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        """Change the docstring of an object once it has been read."""
        if obj.docstring is not None:
            obj.docstring.value = _DOCTEST.sub(
                lambda found: f"```pycon\n{found[0]}\n```", obj.docstring.value
            )
