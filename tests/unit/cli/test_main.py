"""The command line: what it prints, its exit codes, and that it starts without heavy imports."""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

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


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_every_command_has_help_and_a_run_function(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        cli.main([name, "--help"])
    assert stopped.value.code == 0
    assert f"usage: supclust {name}" in capsys.readouterr().out


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_every_command_is_a_module_of_its_name(name: str) -> None:
    assert cli.COMMANDS[name].configure == f"supclust.cli.{name}:configure"


@pytest.mark.parametrize("arguments", [[], ["wramup"], ["warmup", "--nonsense"]])
def test_wrong_usage_is_exit_code_2(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        cli.main(arguments)
    assert stopped.value.code == 2
    assert "usage: supclust" in capsys.readouterr().err


def configure_refusing(parser: argparse.ArgumentParser) -> None:
    def refuse(_: argparse.Namespace) -> int:
        raise ValueError("alpha must be a number; received NaN. Pass --alpha 0.")

    parser.set_defaults(run=refuse)


def test_wrong_input_is_one_line_without_a_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(cli, "configure_refusing", configure_refusing, raising=False)
    command = cli.Command("refuse", (), "supclust.cli.main:configure_refusing")
    monkeypatch.setitem(cli.COMMANDS, "refuse", command)
    assert cli.main(["refuse"]) == 2
    captured = capsys.readouterr()
    expected = "supclust: error: alpha must be a number; received NaN. Pass --alpha 0.\n"
    assert (captured.out, captured.err) == ("", expected)


def interrupted(_: object) -> int:
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    "configure",  # while the command is imported, and while it works
    [interrupted, lambda parser: parser.set_defaults(run=interrupted)],
)
def test_ctrl_c_is_one_line_and_exit_code_130(
    configure: Callable[[argparse.ArgumentParser], object],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(cli, "configure_waiting", configure, raising=False)
    monkeypatch.setitem(
        cli.COMMANDS, "wait", cli.Command("wait", (), "supclust.cli.main:configure_waiting")
    )
    assert cli.main(["wait"]) == 130
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


@pytest.mark.parametrize(
    ("words", "code", "out", "err"),
    [
        ("['data', 'list']", 0, "faces", ""),
        ("['data', 'check', 'nowhere.csv']", 2, "", "supclust: error: nowhere.csv"),
        ("['--version']", 0, "supclust ", ""),
        ("['nonsense']", 2, "", "invalid choice"),
    ],
)
def test_the_program_leaves_with_its_code_and_all_it_said(
    words: str, code: int, out: str, err: str
) -> None:
    script = (
        "import atexit, sys\n"
        "from supclust.cli.main import program\n"
        "atexit.register(print, 'last words')\n"
        f"sys.argv = ['supclust', *{words}]\n"
        "program()"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert done.returncode == code
    assert out in done.stdout and err in done.stderr and "Traceback" not in done.stderr
    assert done.stdout.endswith("last words\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_output_that_nobody_can_read_is_a_failure() -> None:
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-m", "supclust.cli", "data", "list"]
        assert subprocess.run(command, stdout=full, check=False).returncode == 1


@pytest.mark.timeout(400)  # where nothing is compiled yet
def test_warmup_uses_every_kernel_in_both_precisions(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert cli.main(["warmup"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[:2] for line in lines[:-1]] == [
        [kernel, dtype]
        for kernel in ("single", "small", "large", "blocks", "training", "tables", "fit")
        for dtype in ("float32", "float64")
    ]
    assert lines[-1].startswith("ready in ")
