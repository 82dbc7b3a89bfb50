"""The commit that results name: that of our checkout, of nobody else's, and never a failure."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from supclust.experiment import provenance
from supclust.experiment.provenance import commit, source_commit


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    """Every test asks anew."""
    source_commit.cache_clear()
    yield
    source_commit.cache_clear()


def git(folder: Path, *words: str) -> None:
    who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    subprocess.run(["git", "-C", folder, *who, *words], check=True, capture_output=True)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A repository with a package in it."""
    module = tmp_path / "src" / "supclust" / "experiment" / "provenance.py"
    module.parent.mkdir(parents=True)
    module.write_text("one = 1\n")
    try:
        git(tmp_path, "init", "--quiet")
    except OSError:
        pytest.skip("needs git")
    git(tmp_path, "add", "src")
    git(tmp_path, "commit", "--quiet", "-m", "first")
    return tmp_path


def test_a_checkout_has_a_commit_and_says_whether_code_was_changed(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = checkout / "src" / "supclust" / "experiment" / "provenance.py"
    monkeypatch.setattr(provenance, "__file__", str(module))
    found = source_commit()
    assert found is not None and len(found) == 40
    module.write_text("one = 2\n")
    assert source_commit() == found  # what runs was imported before
    source_commit.cache_clear()
    assert source_commit() == f"{found}+"


def test_a_repository_around_an_environment_is_not_ours(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = checkout / ".venv/lib/python3/site-packages/supclust/experiment/provenance.py"
    place.parent.mkdir(parents=True)
    place.touch()
    monkeypatch.setattr(provenance, "__file__", str(place))
    assert commit(place.parent) is not None  # Git finds one
    assert source_commit() is None


def test_without_git_there_is_no_commit_and_no_error(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = checkout / "src" / "supclust" / "experiment" / "provenance.py"
    monkeypatch.setattr(provenance, "__file__", str(module))
    monkeypatch.setenv("PATH", "")
    assert source_commit() is None
