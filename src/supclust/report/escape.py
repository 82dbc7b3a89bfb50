"""Text from data on its way into a page: nothing in it may become markup or script."""

from __future__ import annotations

import html
import json
import math
from typing import Any

# Harmless in JSON, and JSON has no other use for them outside of strings.
_UNSAFE = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}


def text(value: object) -> str:
    """Escape a value for an element's content or a quoted attribute.

    Control characters, which no page may hold, become the replacement character.

    >>> text('<b title="x">')
    '&lt;b title=&quot;x&quot;&gt;'
    """
    shown = "".join(c if c >= " " or c in "\n\t" else "\ufffd" for c in str(value))
    return html.escape(shown.encode("utf-8", "replace").decode("utf-8"), quote=True)


def script_json(value: Any) -> str:
    r"""Write a value as JSON that is safe inside of a ``<script>`` element.

    No ``<`` is left, so neither ``</script>`` nor ``<!--`` can end or change the element. NaN and
    infinities, which JSON lacks, become null.

    >>> script_json({"name": "</script>"})
    '{"name":"\\u003c/script\\u003e"}'
    """
    written = json.dumps(_finite(value), separators=(",", ":"), allow_nan=False)
    for character, escaped in _UNSAFE.items():
        written = written.replace(character, escaped)
    return written


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
