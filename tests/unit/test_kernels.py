"""Compiled code and its cache: what an edit of a source recompiles."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from supclust.kernels import source_stamp

SOURCES = {
    "__init__": "",
    "constants": "SCALE = 10\nUNUSED = 3\n",
    "callee": "from supclust.kernels import kernel\n\n@kernel\ndef number():\n    return 1\n",
    "caller": (
        "from supclust.kernels import kernel\nfrom {name}.callee import number\n"
        "from {name}.constants import SCALE\n\n"
        "@kernel(error_model='numpy')\ndef answer():\n    return SCALE * number()\n"
    ),
    "stranger": "from supclust.kernels import kernel\n\n@kernel\ndef other():\n    return 5\n",
}
RUN = """
from tiny.caller import answer
from tiny.stranger import other
print(answer(), other())
for function in (answer, other):
    print(sum(function.stats.cache_hits.values()))
"""


def write(folder: Path, name: str, **edited: str) -> None:
    (folder / name).mkdir(exist_ok=True)
    for module, source in {**SOURCES, **edited}.items():
        (folder / name / f"{module}.py").write_text(source.replace("{name}", name))


@pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="needs compiled code")
def test_an_edit_recompiles_the_callers_and_nothing_else(tmp_path: Path) -> None:
    environment = {k: v for k, v in os.environ.items() if k != "NUMBA_CACHE_DIR"}

    def run() -> list[str]:
        command = [sys.executable, "-c", RUN]
        return subprocess.run(
            command, cwd=tmp_path, env=environment, check=True, capture_output=True, text=True
        ).stdout.split()

    write(tmp_path, "tiny")
    assert run() == ["10", "5", "0", "0"]
    assert run() == ["10", "5", "1", "1"]
    write(tmp_path, "tiny", callee=SOURCES["callee"].replace("1", "2"))
    assert run() == ["20", "5", "0", "1"]


@pytest.mark.parametrize(
    ("edited", "caller_changes"),
    [
        ({}, False),
        ({"callee": SOURCES["callee"].replace("1", "2")}, True),
        ({"callee": SOURCES["callee"].replace("@kernel", "@kernel(fastmath=True)")}, True),
        ({"callee": "# a comment\n" + SOURCES["callee"]}, False),
        ({"constants": "SCALE = 11\nUNUSED = 3\n"}, True),
        ({"constants": "SCALE = 10\nUNUSED = 4\n"}, False),
        ({"stranger": SOURCES["stranger"].replace("5", "6")}, False),
    ],
)
def test_a_stamp_follows_what_the_function_refers_to(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    edited: dict[str, str],
    caller_changes: bool,
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    stamps = []
    for edits in ({}, edited):
        write(tmp_path, "pack", **edits)
        for module in [name for name in sys.modules if name.partition(".")[0] == "pack"]:
            del sys.modules[module]
        importlib.invalidate_caches()
        caller = importlib.import_module("pack.caller").answer
        stamps.append(source_stamp(caller))
    assert (stamps[0] != stamps[1]) is caller_changes


@pytest.mark.parametrize(
    "code",
    [
        "import numpy, supclust; supclust.linkage(numpy.zeros((2, 2)))",
        "import supclust.cli.main as cli; cli.sys.exit(cli.main(['edges', *cli.sys.argv[1:]]))",
    ],
)
def test_a_setting_that_numba_refuses_is_named(code: str, tmp_path: Path) -> None:
    edges = tmp_path / "edges.csv"
    edges.write_text("id_a,id_b,probability\na,b,0.9\n")
    done = subprocess.run(
        [sys.executable, "-c", code, str(edges), "-o", str(tmp_path / "clusters.csv")],
        env={**os.environ, "NUMBA_NUM_THREADS": "0"},
        capture_output=True,
        text=True,
    )
    last = done.stderr.splitlines()[-1]
    assert done.returncode in (1, 2) and "for example NUMBA_NUM_THREADS" in last
    assert "cli" not in code or (done.returncode == 2 and done.stderr.count("\n") == 1)
