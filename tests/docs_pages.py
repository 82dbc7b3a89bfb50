"""The documentation as tests see it: its code blocks, commands and links."""

from __future__ import annotations

import contextlib
import io
import math
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
RUN = "<!-- tests run this page -->"
"""Marks a page whose ``python`` blocks, and ``supclust`` commands in ``bash`` blocks, are run."""

NEEDS = re.compile(r"<!-- needs data: (\w+) -->")
"""Names a folder of real data below SUPCLUST_DATA, without which the page is not run."""

_FENCE = re.compile(r"^```(?P<language>[\w-]*)[^\n]*\n(?P<text>.*?)^```[ ]*$", re.M | re.S)
_INDENTED = re.compile(r"^ {4}((?:supclust|python train\.py|make) [^\n]*)$", re.M)
_INLINE = re.compile(r"`((?:supclust|python train\.py|make) [^`\n]+)`")
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_SHELL = ("", "bash", "sh", "console")


class Fence(NamedTuple):
    """A fenced block."""

    language: str
    text: str


class Line(NamedTuple):
    """A command that a page shows; ``inline``: in a sentence, so perhaps without its arguments."""

    page: str
    words: tuple[str, ...]
    inline: bool

    def __str__(self) -> str:
        return f"{self.page}: {shlex.join(self.words)}"


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def fences(text: str) -> list[Fence]:
    return [Fence(found["language"], found["text"]) for found in _FENCE.finditer(text)]


def shell_lines(text: str) -> Iterator[tuple[str, ...]]:
    """Words of every command of a shell block; comments and environment variables are dropped."""
    for line in text.replace("\\\n", " ").splitlines():
        words = shlex.split(line, comments=True)
        while words and re.fullmatch(r"[A-Z_]+=.*", words[0]):
            words.pop(0)
        if words:
            yield tuple(words)


def commands(page: Path) -> Iterator[Line]:
    """Every command of this project that a page shows, and every target of ``make``."""
    text, name = page.read_text(encoding="utf-8"), name_of(page)
    shown = [f.text for f in fences(text) if f.language in _SHELL and not f.text.startswith(">>>")]
    rest = _FENCE.sub("", text)
    shown += [found[1] for found in _INDENTED.finditer(rest)]
    for block in shown:
        for words in shell_lines(block):
            yield Line(name, words, inline=False)
    for found in _INLINE.finditer(_INDENTED.sub("", rest)):
        yield Line(name, tuple(shlex.split(found[1])), inline=True)


def links(page: Path) -> list[str]:
    """Targets of a page's links and pictures that are no web address."""
    text = _FENCE.sub("", page.read_text(encoding="utf-8"))
    return [t for t in _LINK.findall(text) if not re.match(r"[a-z]+:", t)]


def anchors(page: Path) -> set[str]:
    """Names of a page's headings, as in its address."""
    text = _FENCE.sub("", page.read_text(encoding="utf-8"))
    heads = re.findall(r"^#+ +(.+?) *$", text, re.M)
    plain = [re.sub(r"[^\w\s-]", "", head.lower()).strip() for head in heads]
    return {re.sub(r"[-\s]+", "-", head) for head in plain}


def run_page(page: Path) -> None:
    """Run a page from top to bottom in the working folder, and compare what it shows as output.

    A ``text`` block must be what the block before it printed. Numbers with a decimal point may
    differ by 2 %, or 0.02 (another processor rounds otherwise); ``...`` stands for anything.
    """
    values: dict[str, Any] = {"__name__": name_of(page)}
    printed = ""
    for number, fence in enumerate(fences(page.read_text(encoding="utf-8"))):
        where = f"{name_of(page)}, block {number + 1}"
        if fence.language == "text":
            problem = difference(fence.text, printed)
            assert problem is None, f"{where}: {problem}\n--- printed\n{printed}"
        elif fence.language == "python":
            with contextlib.redirect_stdout(io.StringIO()) as stream:
                exec(compile(fence.text, where, "exec"), values)
            printed = stream.getvalue()
        elif fence.language == "bash":
            printed = "".join(map(_run_supclust, shell_lines(fence.text)))


def _run_supclust(words: tuple[str, ...]) -> str:
    from supclust.cli import main as cli

    if words[0] != "supclust":  # others take minutes; that they are well formed is tested too
        return ""
    with contextlib.redirect_stdout(io.StringIO()) as stream:
        assert cli.main(words[1:]) == 0, shlex.join(words)
    return stream.getvalue()


_NUMBER = r"[-+]?\d+\.\d+"


def difference(expected: str, printed: str) -> str | None:
    """Why two outputs are not the same, or ``None``.

    >>> difference("alpha 0.50, ... s", "alpha 0.51, 3.2 s")
    >>> difference("f1 0.90", "f1 0.80")
    '0.90 is shown, 0.80 was printed'
    """
    parts = re.split(rf"({_NUMBER}|\.\.\.)", " ".join(expected.split()))
    pattern = "".join(
        ".*?" if p == "..." else f"({_NUMBER})" if re.fullmatch(_NUMBER, p) else re.escape(p)
        for p in parts
    )
    found = re.fullmatch(pattern, " ".join(printed.split()))
    if found is None:
        return f"the text differs; shown is\n{expected}"
    shown = [p for p in parts if re.fullmatch(_NUMBER, p)]
    for a, b in zip(shown, found.groups(), strict=True):
        if not math.isclose(float(a), float(b), rel_tol=0.02, abs_tol=0.02):
            return f"{a} is shown, {b} was printed"
    return None
