"""Public names of a package, imported from their modules on first use."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any


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
