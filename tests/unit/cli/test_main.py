"""The command line: what it prints, its exit codes, and that it starts without heavy imports."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import types
from collections.abc import Callable

import pytest

import supclust
from supclust.cli import main as cli


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        cli.main(["--version"])
    assert stopped.value.code == 0
    assert capsys.readouterr().out == f"supclust {supclust.__version__}\n"


def test_help_lists_every_command_with_examples(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        cli.main(["--help"])
    shown = capsys.readouterr().out
    assert stopped.value.code == 0
    assert "examples:\n  supclust" in shown
    assert all(name in shown for name in cli.COMMANDS)


@pytest.mark.parametrize("name", [name for name in cli.COMMANDS if name != "train"])  # Hydra's
def test_every_command_has_help_and_a_run_function(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        cli.main([name, "--help"])
    assert stopped.value.code == 0
    shown = capsys.readouterr().out
    assert f"usage: supclust {name}" in shown
    assert f"examples:\n  supclust {name}" in shown


@pytest.mark.parametrize("arguments", [[], ["wramup"], ["warmup", "--nonsense"]])
def test_wrong_usage_is_exit_code_2(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        cli.main(arguments)
    assert stopped.value.code == 2
    assert "usage: supclust" in capsys.readouterr().err


def add_command(
    monkeypatch: pytest.MonkeyPatch,
    run: Callable[[argparse.Namespace], int],
    configure: Callable[[argparse.ArgumentParser], object] = lambda parser: None,
) -> None:
    """Add a command ``try`` to the list, with a module of its own."""
    module = types.ModuleType("supclust.cli.try")
    vars(module).update(EXAMPLES=("supclust try",), configure=configure, run=run)
    monkeypatch.setitem(sys.modules, "supclust.cli.try", module)
    monkeypatch.setitem(cli.COMMANDS, "try", "try something")


def refuse(_: argparse.Namespace) -> int:
    raise ValueError("alpha must be a number; received NaN. Pass --alpha 0.")


def interrupt(_: object) -> int:
    raise KeyboardInterrupt


def test_wrong_input_is_one_line_without_a_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    add_command(monkeypatch, refuse)
    assert cli.main(["try"]) == 2
    captured = capsys.readouterr()
    expected = "supclust: error: alpha must be a number; received NaN. Pass --alpha 0.\n"
    assert (captured.out, captured.err) == ("", expected)


@pytest.mark.parametrize(
    "configure",  # while the command is imported, and while it works
    [interrupt, lambda parser: None],
)
def test_ctrl_c_is_one_line_and_exit_code_130(
    configure: Callable[[argparse.ArgumentParser], object],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    add_command(monkeypatch, interrupt, configure)
    assert cli.main(["try"]) == 130
    assert capsys.readouterr() == ("", "Interrupted.\n")


@pytest.mark.parametrize("argument", ["--version", "--help"])
def test_starting_loads_nothing_heavy(argument: str) -> None:
    code = (
        "import sys, contextlib\n"
        "from supclust.cli.main import main\n"
        "with contextlib.suppress(SystemExit):\n"
        f"    main([{argument!r}])\n"
        "sys.exit(str([m for m in ('numpy', 'numba', 'torch', 'scipy') if m in sys.modules]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr.strip() == "[]"


def run_process(*words: str, stdout: int = subprocess.PIPE) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "supclust", *words]
    return subprocess.run(command, stdout=stdout, stderr=subprocess.PIPE, text=True, check=False)


def test_the_process_returns_the_exit_code() -> None:
    done = run_process("data", "list")
    assert (done.returncode, done.stderr) == (0, "")
    assert "faces" in done.stdout
    done = run_process("data", "check", "nowhere.csv")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("supclust: error: nowhere.csv")


def test_a_closed_pipe_is_exit_code_1_without_a_traceback() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = run_process("data", "list", stdout=writer)
    os.close(writer)
    assert (done.returncode, done.stderr) == (1, "")


DEFAULT = ("linkage", "cluster", "cluster entities", "edges", "fit", "fit entities")


@pytest.mark.timeout(400)  # where nothing is compiled yet
def test_warmup_uses_every_kernel_in_both_precisions(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert cli.main(["warmup", "--all"]) == 0
    lines = capsys.readouterr().out.splitlines()
    both = [f"{part} float{bits}" for bits in (32, 64) for part in ("large", "linkages", "loss")]
    assert [line[:17].strip() for line in lines[:-1]] == [
        *(*DEFAULT, "linkage float32", *both, "fit float64")
    ]
    assert all(line.endswith(" s") for line in lines)
    assert lines[-1].startswith("ready in ")
