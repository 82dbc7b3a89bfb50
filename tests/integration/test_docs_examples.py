"""The pages that show code and its output are run, from top to bottom, and the outputs compared."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from docs_pages import DOCS, NEEDS, PAGES, RUN, fences, name_of, run_page
from supclust.data.sets import registry

RUNNING = [page for page in PAGES if RUN in page.read_text(encoding="utf-8")]


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.mark.parametrize("page", RUNNING, ids=name_of)
def test_what_a_page_shows_is_what_happens(
    page: Path, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    needed = NEEDS.search(page.read_text(encoding="utf-8"))
    if needed:
        folder = Path(os.environ.get("SUPCLUST_DATA", "")) / needed[1]
        if not os.environ.get("SUPCLUST_DATA") or not folder.is_dir():
            pytest.skip(f"needs real data: set SUPCLUST_DATA to a folder that holds {needed[1]}")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SUPCLUST_CACHE", str(cache))
    monkeypatch.setattr(registry, "SPECS", dict(registry.SPECS))  # a page adds a data set
    run_page(page)


def test_the_worked_examples_are_among_them() -> None:
    assert {DOCS / "examples/author_names.md", DOCS / "examples/faces.md"} <= set(RUNNING)


@pytest.mark.parametrize("page", [p for p in PAGES if p not in RUNNING], ids=name_of)
def test_python_on_other_pages_can_be_parsed(page: Path) -> None:
    for fence in fences(page.read_text(encoding="utf-8")):
        if fence.language == "python" and not fence.text.startswith(">>>"):
            compile(fence.text, name_of(page), "exec")
