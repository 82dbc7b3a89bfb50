"""Memory that is kept between trees."""

from __future__ import annotations

import mmap
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from supclust.hac import linkage, memory
from supclust.hac.cpu import dispatch
from supclust.hac.cpu.chain_rows import numbers_needed, split_workspace
from supclust.hac.memory import container_limits, release, return_large_workspaces, workspace

F64 = np.dtype(np.float64)

needs_lazy_return = pytest.mark.skipif(
    not memory._largest(), reason="needs a system that takes memory back lazily"
)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n", [1, 2, 5, 16, 33])
def test_matrices_of_one_workspace_do_not_overlap(n: int, weighted: bool) -> None:
    space = workspace("test", numbers_needed(n, weighted), np.dtype(np.float32))
    psi, weight = split_workspace(space, n, weighted)
    psi[:], weight[:] = 1, 2
    assert psi.shape == (n, n) and weight.shape == (n if weighted else 1, n)
    assert (psi == 1).all() and (weight == 2).all()
    assert np.shares_memory(psi, space) and not np.shares_memory(psi, weight)


@needs_lazy_return
def test_the_next_call_uses_the_memory_again() -> None:
    large, small = workspace("test", 1600, F64), workspace("test", 100, F64)
    assert large.shape == (1600,) and small.shape == (100,)
    assert np.shares_memory(large, small)
    assert not np.shares_memory(large, workspace("other", 1600, F64))
    assert not np.shares_memory(large, workspace("test", 10000, F64))


def test_another_thread_has_its_own() -> None:
    mine = workspace("test", 100, F64)
    theirs: list[np.ndarray] = []
    thread = threading.Thread(target=lambda: theirs.append(workspace("test", 100, F64)))
    thread.start()
    thread.join()
    assert not np.shares_memory(mine, theirs[0])


def test_more_than_its_share_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "_largest", lambda: 1000.0)
    assert not np.shares_memory(workspace("test", 10000, F64), workspace("test", 10000, F64))


@needs_lazy_return
def test_large_trees_return_their_memory_and_can_use_it_again(
    monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator
) -> None:
    monkeypatch.setattr(dispatch, "SMALL", 20)
    D = rng.random((150, 150))
    D += D.T
    expected = linkage(D, alpha=-1.0)
    monkeypatch.setattr(memory, "_KEPT_BYTES", 0)
    for _ in range(3):
        np.testing.assert_array_equal(linkage(D, alpha=-1.0), expected)


class Pages:
    """Records advice; locked pages refuse it."""

    def __init__(self, size: int, locked: bool) -> None:
        self.size, self.locked = size, locked
        self.advice: list[int] = []

    def __len__(self) -> int:
        return self.size

    def madvise(self, advice: int) -> None:
        if self.locked:
            raise OSError(22, "Invalid argument")
        self.advice.append(advice)


@needs_lazy_return
def test_only_what_a_large_tree_filled_is_returned_once_and_locked_pages_stay(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pages = {name: Pages(2**30, name == "locked") for name in ("small", "locked", "large")}
    monkeypatch.setattr(memory._kept, "pages", pages)
    monkeypatch.setattr(memory._kept, "filled", {"locked", "large", "freed since"})
    for _ in range(2):
        return_large_workspaces()
    assert [page.advice for page in pages.values()] == [[], [], [mmap.MADV_FREE]]


@needs_lazy_return
def test_a_small_tree_after_a_large_one_returns_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    release()
    monkeypatch.setattr(memory, "_KEPT_BYTES", 1000)
    workspace("test", 1000, F64)
    assert memory._kept.filled == {"test"}
    return_large_workspaces()
    workspace("test", 10, F64)
    assert not memory._kept.filled


@needs_lazy_return
def test_workspaces_are_freed_before_a_matrix_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    workspace("test", 2500, F64)

    def available() -> int:
        return 2**10 if memory._kept.pages else 2**30  # as in a container: what is kept is used

    monkeypatch.setattr(memory, "available_bytes", available)
    memory.require_memory(2**25, "a test")
    assert not memory._kept.pages
    monkeypatch.setattr(memory, "available_bytes", lambda: 2**10)
    with pytest.raises(ValueError, match="a test needs"):
        memory.require_memory(2**25, "a test")
    release()


def test_limits_of_control_groups_and_of_those_around_them(tmp_path: Path) -> None:
    """Version 2 (nested; files that were read can make way) and version 1."""
    groups, mount = tmp_path / "cgroup", tmp_path / "mount"

    def group(name: str, files: dict[str, object]) -> None:
        (mount / name).mkdir(parents=True, exist_ok=True)
        for file, value in files.items():
            (mount / name / file).write_text(f"{value}\n")

    assert container_limits(groups, mount) == []
    stat = {"memory.stat": "anon 7\ninactive_file 50"}
    group("a/b", {"memory.max": "max", "memory.current": 100, **stat})
    group("a", {"memory.max": 1000, "memory.current": 400, **stat})
    groups.write_text("0::/a/b\n")
    assert container_limits(groups, mount) == [650]
    old = {"memory.stat": "inactive_file 1\ntotal_inactive_file 20"}
    group("memory", {"memory.limit_in_bytes": 300, "memory.usage_in_bytes": 200, **old})
    groups.write_text("5:memory:/docker/abc\n4:cpu:/\n")
    assert set(container_limits(groups, mount)) == {120}


def test_the_limit_of_the_address_space_is_seen() -> None:
    code = (
        "import resource; from supclust.hac.memory import available_bytes;"
        " resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30));"
        " print(0 <= available_bytes() < 3 << 30)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "True\n", done.stderr
