"""Public names of a package, imported from their modules on first use; extras that are missing."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from typing import Any

EXTRAS = {
    "torch": "train",
    "pytorch_lightning": "train",
    "torchmetrics": "train",
    "lightgbm": "train",
    "hydra": "experiment",
    "omegaconf": "experiment",
    "wandb": "experiment",
    "pandas": "experiment",
    "matplotlib": "report",
    "jinja2": "report",
    "markupsafe": "report",
    "PIL": "report",
    "duckdb": "resolve",
    "ray": "ray",
    "pytorch_metric_learning": "metric-learning",
    "wandb_workspaces": "dashboard",
}
"""Optional library -> the extra of ``pyproject.toml`` that installs it."""


class MissingExtraError(ModuleNotFoundError):
    """A library that an extra of supclust installs is missing; says how to install it."""


def install_hint(extra: str) -> str:
    """The sentence that says how to install an extra."""
    return f'Install it with: pip install "supclust[{extra}]"'


@contextmanager
def extras_explained() -> Iterator[None]:
    """Turn the failed import of an optional library into one line that says how to install it.

    >>> with extras_explained():
    ...     raise ModuleNotFoundError("No module named 'torch'", name="torch")
    Traceback (most recent call last):
    supclust._lazy.MissingExtraError: this needs torch, which is not installed. ...
    """
    try:
        yield
    except MissingExtraError:
        raise
    except ModuleNotFoundError as error:
        library = (error.name or "").partition(".")[0]
        if library not in EXTRAS:
            raise
        raise MissingExtraError(
            f"this needs {library}, which is not installed. {install_hint(EXTRAS[library])}",
            name=error.name,
        ) from None


def require(library: str) -> None:
    """Raise, before the work begins, where an optional library is not installed."""
    with extras_explained():
        if find_spec(library) is None:
            raise ModuleNotFoundError(f"No module named {library!r}", name=library)


@contextmanager
def interrupted_afterwards() -> Iterator[None]:
    """Raise the ``KeyboardInterrupt`` of a Ctrl-C at the end of the block, not inside it.

    For imports of torch: it calls Python from C++ while it is loaded, and aborts the process if
    that is interrupted.
    """
    handler = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(handler):
        yield  # only the main thread is interrupted, and may set handlers
        return
    received: list[int] = []
    signal.signal(signal.SIGINT, lambda number, frame: received.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
    if received:
        handler(signal.SIGINT, None)


def attach(
    package: str, names: Mapping[str, Sequence[str]], submodules: Sequence[str] = ()
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Make the ``__getattr__``, ``__dir__`` and ``__all__`` of a package with lazy imports.

    Type checkers do not see these names: import them under ``TYPE_CHECKING`` too, in the form
    ``from package.module import Name as Name``.

    Args:
        package: the package's ``__name__``.
        names: module, relative to the package -> the public names it defines.
        submodules: modules of the package that are public themselves.
    """
    home = {name: module for module, members in names.items() for name in members}
    shadowed = home.keys() & {*names, *submodules}
    if shadowed:  # the import system would bind the name to the module
        raise ImportError(f"{package}: a public name and a module are both called {shadowed}")
    public = sorted({*home, *submodules})

    def get_attribute(name: str) -> Any:
        with extras_explained():
            if name in submodules:
                return import_module(f"{package}.{name}")
            if name not in home:
                raise AttributeError(f"module {package!r} has no attribute {name!r}")
            value = getattr(import_module(f"{package}.{home[name]}"), name)
        setattr(sys.modules[package], name, value)  # looked up once
        return value

    def list_attributes() -> list[str]:
        return sorted({*vars(sys.modules[package]), *public})

    return get_attribute, list_attributes, public
