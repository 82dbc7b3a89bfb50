"""Names come from the entry points of installed packages, ours and others alike."""

from __future__ import annotations

from pathlib import Path

import pytest

from supclust.objectives import OBJECTIVES, objective_class
from supclust.registry import DISSIMILARITIES, Registry


def install(folder: Path, group: str, *lines: str, name: str = "somebody") -> None:
    """Write the metadata of an installed package into a folder of ``sys.path``."""
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("\n".join([f"[{group}]", *lines]) + "\n")


def test_our_own_names_lead_to_classes_of_that_name() -> None:
    assert objective_class("mst").__module__ == "supclust.objectives.mst"
    assert OBJECTIVES["exp_alpha"] == "ExpAlpha"
    assert set(DISSIMILARITIES) >= {"encoder", "linear", "mahalanobis"}
    assert DISSIMILARITIES.load("linear").__name__ == "LinearPair"


def test_names_of_another_package_follow_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, "supclust.objectives", "another = fractions:Fraction")
    monkeypatch.syspath_prepend(tmp_path)
    names = list(OBJECTIVES)
    assert names.index("another") > names.index("exp_alpha")
    assert OBJECTIVES.load("another").__name__ == "Fraction"


def test_a_name_that_two_packages_register_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, "supclust.objectives", "mst = fractions:Fraction")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ValueError, match=r"'mst' is registered twice: .*fractions:Fraction"):
        objective_class("mst")


def test_errors_list_the_names_or_say_that_there_are_none() -> None:
    with pytest.raises(ValueError, match=r"must be one of .*encoder, linear.*received 'line'"):
        DISSIMILARITIES.load("line")
    with pytest.raises(ValueError, match=r"no entry points 'nothing' .* pip install -e \."):
        list(Registry("nothing", "thing"))
