"""Jinja2 templates to one self-contained HTML page: assets inline, nothing loaded, text escaped."""

from __future__ import annotations

import base64
import hashlib
import json
import math
from collections.abc import Sequence
from datetime import datetime, timezone
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

import supclust
from supclust.data.files import write_text
from supclust.model.aggregate import row_name
from supclust.report.scale import number, signed

STYLES = ("page.css", "charts.css", "tree.css")
SCRIPTS = ("tree_model.js", "tree_view.js", "tree_controls.js", "page.js")
MARKERS = (
    "M-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0 -9 0Z",
    "M-4 -4H4V4H-4Z",
    "M0 -5L5 4H-5Z",
    "M0 -5.8L5.8 0L0 5.8L-5.8 0Z",
    "M0 5L5 -4H-5Z",
    "M-5.5 -2H-2V-5.5H2V-2H5.5V2H2V5.5H-2V2H-5.5Z",
    "M-5 -5H-1.6L0 -2.8L1.6 -5H5L2 0L5 5H1.6L0 2.8L-1.6 5H-5L-2 0Z",
)
"""Outlines of chart markers around (0, 0), distinguishable without colour."""


def render(template: str, **values: Any) -> Markup:
    """Render a template of ``templates/``; every value that is not `Markup` is escaped."""
    return Markup(_environment().get_template(template).render(**values))


def page(title: str, lead: Markup | str, sections: Sequence[tuple[str, str, Markup]]) -> str:
    """Assemble a page.

    Args:
        title: of the page.
        lead: HTML below the title.
        sections: (anchor, heading, HTML).
    """
    script = f"(() => {{\n'use strict';\n{''.join(_asset(name) for name in SCRIPTS)}}})();"
    return render(
        "page.html",
        title=title,
        lead=lead,
        sections=sections,
        markers=MARKERS,
        policy=_policy(script),
        style=Markup("".join(_asset(name) for name in STYLES)),
        script=Markup(script),
        version=supclust.__version__,
        date=datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
    )


def write_page(path: Path, content: str) -> Path:
    """Write a page atomically."""
    write_text(path, content)
    return path


@lru_cache(maxsize=1)
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("supclust.report"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
        finalize=_printable,
    )
    environment.policies["json.dumps_function"] = _dumps
    environment.filters.update(
        number=number,
        signed=signed,
        percent=lambda share: f"{100 * share:.1f}",
        row_name=row_name,
        sentence=lambda text: text[:1].upper() + text[1:],
        marker=lambda index: index % len(MARKERS),
    )
    return environment


def _printable(value: Any) -> Any:
    """Replace control characters and lone surrogates, which HTML forbids, by U+FFFD."""
    if not isinstance(value, str) or hasattr(value, "__html__"):
        return value
    text = "".join(c if c >= " " or c in "\n\t" else "\ufffd" for c in value)
    return text.encode("utf-8", "replace").decode("utf-8")


def _dumps(value: Any, **_: Any) -> str:
    """JSON for the ``tojson`` filter, which escapes ``<``; NaN and infinities become null."""
    return json.dumps(_finite(value), separators=(",", ":"), allow_nan=False)


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _policy(script: str) -> str:
    """Content security policy: only this script runs and nothing is loaded."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return (
        "default-src 'none'; img-src data:; style-src 'unsafe-inline'; "
        f"script-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    )


def _asset(name: str) -> str:
    return files("supclust.report").joinpath("assets", name).read_text(encoding="utf-8")
