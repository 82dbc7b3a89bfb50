"""The direction of imports (import-linter) and the libraries that only some rooms may import."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

import supclust

ROOT = Path(__file__).parents[2]
ROOMS = ["cli", "estimator", "cluster", "report", "experiment", "model", "objectives"]
ROOMS += ["losses", "metrics", "dissimilarity", "data", "hac"]

ROOT_NAMES = {name for name in supclust.__all__ if find_spec(f"supclust.{name}") is None}
ROOT_NAMES -= {"__version__"}

# Library -> the modules (with everything below them) that may import it. import-linter can only
# name modules that exist; this table also holds for those to come.
CONFINED: dict[str, tuple[str, ...]] = {
    "pytorch_lightning": (
        "supclust.data.datamodule",
        "supclust.objectives",
        "supclust.model.fit",
        "supclust.model.best",
        "supclust.experiment",
    ),
    "lightning": (),  # its classes do not mix with pytorch_lightning's
    "hydra": ("supclust.experiment",),
    "wandb": ("supclust.experiment.loggers",),
}


def lint_imports(folder: Path) -> subprocess.CompletedProcess[str]:
    """Check the package ``supclust`` that lies in ``folder`` against the project's contract."""
    command = Path(sys.executable).with_name("lint-imports")
    return subprocess.run(
        [command, "--config", ROOT / "pyproject.toml", "--no-cache", "--no-logo"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


def write_modules(folder: Path, sources: dict[str, str]) -> None:
    for name, source in sources.items():
        path = folder.joinpath(*name.split("."), "__init__.py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source, encoding="utf-8")


def imports_of(path: Path) -> Iterator[tuple[str, str]]:
    """Yield (module, name) for every absolute import in a file, also inside functions."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield from ((node.module, alias.name) for alias in node.names)


def confinement_violations(source_root: Path) -> list[str]:
    """Name every import of a confined library from a module that may not import it."""
    found = []
    for path in sorted(source_root.rglob("*.py")):
        parts = path.relative_to(source_root.parent).with_suffix("").parts
        module = ".".join(parts).removesuffix(".__init__")
        for imported, name in imports_of(path):
            allowed = CONFINED.get(imported.partition(".")[0])
            if allowed is not None and not f"{module}.".startswith(tuple(f"{a}." for a in allowed)):
                found.append(f"{module} imports {imported}")
            if imported == "supclust" and name in ROOT_NAMES and parts[1] != "cli":
                found.append(f"{module} imports {name} from the root instead of its home")
    return found


def test_the_project_obeys_the_layers() -> None:
    done = lint_imports(ROOT / "src")
    assert done.returncode == 0, done.stdout


def test_all_rooms_together_are_legal(tmp_path: Path) -> None:
    legal = dict.fromkeys((f"supclust.{room}" for room in ROOMS), "")
    legal["supclust.cli"] = "import supclust.report, supclust.hac"
    legal["supclust.objectives"] = "import supclust.losses, supclust.metrics, supclust.data"
    write_modules(tmp_path, {"supclust": "from supclust import estimator", **legal})
    done = lint_imports(tmp_path)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("importer", "imported"),
    [
        ("hac", "metrics"),
        ("losses", "data"),
        ("metrics", "objectives"),
        ("objectives", "experiment"),
        ("experiment", "report"),
        ("cluster", "cli"),
    ],
)
def test_an_upward_or_sideways_import_is_refused(
    tmp_path: Path, importer: str, imported: str
) -> None:
    rooms = dict.fromkeys((f"supclust.{room}" for room in ROOMS), "")
    rooms[f"supclust.{importer}"] = f"import supclust.{imported}"
    write_modules(tmp_path, {"supclust": "", **rooms})
    done = lint_imports(tmp_path)
    assert done.returncode == 1
    assert f"supclust.{importer} -> supclust.{imported}" in done.stdout


def test_a_room_without_a_place_is_refused(tmp_path: Path) -> None:
    rooms = dict.fromkeys((f"supclust.{room}" for room in [*ROOMS, "utils"]), "")
    write_modules(tmp_path, {"supclust": "", **rooms})
    done = lint_imports(tmp_path)
    assert done.returncode == 1
    assert "utils" in done.stdout


def test_confined_libraries_stay_in_their_rooms() -> None:
    assert confinement_violations(ROOT / "src" / "supclust") == []


def test_a_confined_library_elsewhere_is_found(tmp_path: Path) -> None:
    write_modules(
        tmp_path,
        {
            "supclust.data.datamodule": "import pytorch_lightning as pl",
            "supclust.data.readers": "def read():\n    from pytorch_lightning.utilities import x",
            "supclust.experiment.run": "import hydra",
            "supclust.experimental": "from hydra import main",
            "supclust.report": "import wandb",
            "supclust.losses": "from supclust import linkage",
        },
    )
    assert confinement_violations(tmp_path / "supclust") == [
        "supclust.data.readers imports pytorch_lightning.utilities",
        "supclust.experimental imports hydra",
        "supclust.losses imports linkage from the root instead of its home",
        "supclust.report imports wandb",
    ]


def test_importing_the_package_does_not_import_torch() -> None:
    code = "import sys, supclust, supclust.cli; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
