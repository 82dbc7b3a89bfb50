"""Lazy public names of every package that uses `supclust._lazy.attach`."""

from __future__ import annotations

import ast
import importlib
import signal
import sys
import types
from collections.abc import Iterator
from pathlib import Path

import pytest

import supclust
from supclust._lazy import attach, interrupted_afterwards

PACKAGES = ["", ".cluster", ".data", ".estimator", ".hac", ".losses", ".metrics", ".objectives"]


@pytest.mark.parametrize("package", [f"supclust{name}" for name in PACKAGES])
def test_every_name_resolves_is_listed_and_is_seen_by_type_checkers(package: str) -> None:
    module = importlib.import_module(package)
    assert module.__file__ is not None
    tree = ast.parse(Path(module.__file__).read_text(encoding="utf-8"))
    typed = {
        alias.asname or alias.name
        for block in tree.body
        if isinstance(block, ast.If)
        for statement in block.body
        if isinstance(statement, ast.ImportFrom)
        for alias in statement.names
    }
    assert set(module.__all__) <= typed | set(vars(module))
    for name in module.__all__:
        assert getattr(module, name) is not None
        assert name in dir(module)


def test_a_name_is_looked_up_once(monkeypatch: pytest.MonkeyPatch) -> None:
    package, defining = types.ModuleType("lazy_package"), types.ModuleType("lazy_package.module")
    monkeypatch.setitem(sys.modules, "lazy_package", package)
    monkeypatch.setitem(sys.modules, "lazy_package.module", defining)
    defining.Name = object()  # type: ignore[attr-defined]
    get, _, public = attach("lazy_package", {"module": ("Name",)})
    assert public == ["Name"]
    assert get("Name") is defining.Name
    assert vars(package)["Name"] is defining.Name


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'linkagee'"):
        _ = supclust.hac.linkagee


def test_a_name_that_its_module_would_shadow_is_refused() -> None:
    with pytest.raises(ImportError, match="are both called"):
        attach("package", {"linkage": ("linkage", "linkages")})


@pytest.fixture
def sigint() -> Iterator[None]:
    """Restores the handler of SIGINT, which is ignored where the tests run in the background."""
    before = signal.getsignal(signal.SIGINT)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("sigint")
def test_ctrl_c_waits_for_the_end_of_an_import() -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)
    done = []

    def load() -> None:
        signal.raise_signal(signal.SIGINT)
        done.append("the rest of the import")

    with pytest.raises(KeyboardInterrupt), interrupted_afterwards():
        load()
    assert done and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    with pytest.raises(ImportError), interrupted_afterwards():
        raise ImportError
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.usefixtures("sigint")
@pytest.mark.parametrize("handler", [signal.SIG_IGN, signal.SIG_DFL])
def test_another_handling_of_ctrl_c_stays(handler: signal.Handlers) -> None:
    signal.signal(signal.SIGINT, handler)
    with interrupted_afterwards():
        assert signal.getsignal(signal.SIGINT) is handler
