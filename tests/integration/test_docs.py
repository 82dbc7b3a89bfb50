"""The documentation agrees with the project: its commands work, its links lead somewhere."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from contextlib import nullcontext
from importlib import import_module
from importlib.metadata import metadata
from pathlib import Path
from typing import Any

import pytest
import yaml

from docs_pages import DOCS, PAGES, ROOT, Line, anchors, commands, difference, links, name_of
from experiment_runs import add_plugins
from supclust.cli import main as cli

COMMANDS = [line for page in PAGES for line in commands(page)]
SUPCLUST = [line for line in COMMANDS if line.words[0] == "supclust"]
TRAIN = [line for line in COMMANDS if line.words[:2] == ("python", "train.py")]
MAKE = [line for line in COMMANDS if line.words[0] == "make"]
PIP = [line for line in COMMANDS if line.words[0] == "pip"]
TOOLS = [line for line in COMMANDS if " ".join(line.words).startswith("python tools/")]
_MODULE = re.compile(r"`(supclust(?:\.\w+)+)(?:\(\))?`")
_PATH = re.compile(r"`((?:src|conf|tests|docs|benchmarks|multirun_templates)/[\w./-]*)`")


def test_every_shown_command_is_of_a_kind_that_is_checked() -> None:
    known = {*SUPCLUST, *TRAIN, *MAKE, *PIP, *TOOLS}
    assert [str(line) for line in COMMANDS if line not in known] == []
    assert min(map(len, (SUPCLUST, TRAIN, MAKE, PIP))) > 3


@pytest.mark.parametrize("line", SUPCLUST, ids=str)
def test_supclust_accepts_the_command(line: Line) -> None:
    words = list(line.words[1:])
    if line.inline and len(words) == 1:  # the name of a command in a sentence
        assert words[0] in {*cli.COMMANDS, "--version"}
        return
    asks_for_help = words[-1] in ("--help", "--version")
    with pytest.raises(SystemExit, match=r"^0$") if asks_for_help else nullcontext():
        cli.build_parser(words).parse_args(words)


def jobs_of(words: list[str]) -> tuple[str, Path, bool, list[list[str]]]:
    """Config name and folder, whether it is a multirun, and settings that try every swept value."""
    from hydra._internal.utils import get_args_parser
    from hydra.core.override_parser.overrides_parser import OverridesParser

    options = get_args_parser().parse_args(words)
    parsed = OverridesParser.create().parse_overrides(options.overrides)
    swept: dict[str, list[str]] = {}
    for given in parsed:
        values = [*given.sweep_string_iterator()] if given.is_sweep_override() else []
        swept[given.get_key_element()] = values or [str(given.input_line).partition("=")[2]]
    assert options.multirun or options.config_name or all(len(v) == 1 for v in swept.values()), (
        "values with commas need -m"
    )
    longest = max(map(len, swept.values()), default=1)
    jobs = [[f"{k}={v[i % len(v)]}" for k, v in swept.items()] for i in range(longest)]
    folder = ROOT / (options.config_dir or "conf")
    return options.config_name or "config", folder, bool(options.multirun), jobs


@pytest.mark.parametrize("line", TRAIN, ids=str)
def test_train_py_accepts_the_command(line: Line) -> None:
    add_plugins()
    from hydra import compose, initialize_config_dir

    from supclust.experiment.config import Settings, plain

    name, folder, multirun, jobs = jobs_of(list(line.words[2:]))
    more = [] if folder == ROOT / "conf" else [f"hydra.searchpath=[file://{ROOT / 'conf'}]"]
    with initialize_config_dir(str(folder), version_base="1.3"):
        for job in jobs:
            config: Any = plain(compose(name, [*more, *job]))
            assert Settings.from_config(config, multirun=multirun)


@pytest.mark.parametrize("line", TOOLS, ids=str)
def test_the_tool_is_there(line: Line) -> None:
    assert (ROOT / line.words[1]).is_file()


@pytest.mark.parametrize("line", MAKE, ids=str)
def test_make_has_the_target(line: Line) -> None:
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M)
    assert line.words[1] in targets


@pytest.mark.parametrize("line", PIP, ids=str)
def test_pip_installs_what_there_is(line: Line) -> None:
    wanted = re.findall(r"\[([\w,-]+)\]", " ".join(line.words))
    extras = {extra for found in wanted for extra in found.split(",")}
    assert extras <= set(metadata("supclust").get_all("Provides-Extra") or ())


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page: Path) -> None:
    for link in links(page):
        target, _, anchor = link.partition("#")
        place = (page.parent / target).resolve() if target else page
        assert place.is_file(), f"{name_of(page)}: {link}"
        if anchor:
            assert anchor in anchors(place), f"{name_of(page)}: {link}: {sorted(anchors(place))}"


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_named_files_are_there(page: Path) -> None:
    for path in _PATH.findall(page.read_text(encoding="utf-8")):
        assert (ROOT / path).exists(), f"{name_of(page)}: {path}"


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_named_modules_are_there(page: Path) -> None:
    for name in sorted(set(_MODULE.findall(page.read_text(encoding="utf-8")))):
        value: Any = import_module("supclust")
        for part in name.split(".")[1:]:
            inner = f"{getattr(value, '__name__', '')}.{part}"
            value = getattr(value, part, None) or import_module(inner)


def test_every_page_is_in_the_navigation() -> None:
    config = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))

    def pages(entry: Any) -> list[str]:
        if isinstance(entry, str):
            return [entry]
        inner = entry.values() if isinstance(entry, dict) else entry
        return [page for value in inner for page in pages(value)]

    found = pages(config["nav"])
    assert sorted(found) == sorted(p.relative_to(DOCS).as_posix() for p in DOCS.rglob("*.md"))


def test_every_public_name_of_the_root_is_in_the_reference() -> None:
    import supclust

    text = (DOCS / "api.md").read_text(encoding="utf-8")
    missing = [name for name in supclust.__all__ if not re.search(rf"\b{name}\b", text)]
    assert [name for name in missing if name not in ("__version__", "estimator")] == []


@pytest.mark.parametrize(
    ("expected", "printed", "same"),
    [
        ("alpha 0.50, ... s", "alpha 0.51,\n 3.2 s", True),
        ("f1 0.90", "f1 0.80", False),
        ("7 people", "8 people", False),
        ("-1.00", "1.00", False),
        ("a ... z", "a z", False),
        ("", "something", False),
    ],
)
def test_outputs_are_compared_strictly_enough(expected: str, printed: str, same: bool) -> None:
    assert (difference(expected, printed) is None) is same


def docs_command() -> list[str]:
    """What ``make docs`` runs once the environment is there."""
    recipe = (ROOT / "Makefile").read_text(encoding="utf-8").partition("\ndocs:")[2]
    lines = recipe.splitlines()[1:]
    return shlex.split(lines[0]) if lines else []


def test_make_docs_shows_nobody_the_notice_of_the_theme() -> None:
    assert docs_command() == ["NO_MKDOCS_2_WARNING=1", "$(BIN)/mkdocs", "build", "--strict"]


@pytest.mark.slow
def test_the_site_builds_without_a_warning(tmp_path: Path) -> None:
    pytest.importorskip("mkdocs", reason='needs the extra "docs"')
    pytest.importorskip("mkdocstrings", reason='needs the extra "docs"')
    switch, _, *words = docs_command()
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", *words, "--site-dir", str(tmp_path / "site")],
        cwd=ROOT,
        env={**os.environ, **dict([switch.split("=")])},
        capture_output=True,
        text=True,
        check=False,
    )
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    assert "WARNING" not in said and "end of life" not in said
    assert (tmp_path / "site" / "api" / "index.html").stat().st_size > 50_000
