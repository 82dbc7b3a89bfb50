"""The root package: version, lazy public names, and the files that must agree with each other."""

from __future__ import annotations

import importlib
import importlib.metadata
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

import supclust

ROOT = Path(__file__).parents[2]


def test_version_is_the_same_everywhere() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert supclust.__version__ == importlib.metadata.version("supclust") == citation["version"]


def test_import_is_light() -> None:
    heavy = ["torch", "numba", "scipy", "sklearn", "pandas", "pytorch_lightning", "hydra", "wandb"]
    code = f"import sys, supclust; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_public_name_resolves_and_is_listed() -> None:
    for name in supclust.__all__:
        assert getattr(supclust, name) is not None
        assert name in dir(supclust)


def test_public_names_are_the_objects_of_their_module() -> None:
    from supclust.estimator.supervised import SupervisedHAC
    from supclust.hac import linkage

    assert supclust.linkage is linkage
    assert supclust.SupervisedHAC is SupervisedHAC
    assert supclust.hac is importlib.import_module("supclust.hac")


def test_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'linkagee'"):
        _ = supclust.linkagee


def test_package_is_typed() -> None:
    assert (Path(supclust.__file__).parent / "py.typed").is_file()


def test_constraints_are_exact_and_portable() -> None:
    pin = re.compile(r'[a-z0-9-]+==[A-Za-z0-9.!]+( ; python_version >= "3\.\d+")?')
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pins = [line for line in lines if not line.startswith("#")]
    assert "torch==2.13.0" in pins
    assert [line for line in pins if not pin.fullmatch(line)] == []
