"""Memory that is kept between trees."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import numpy as np
import pytest

from supclust.hac import memory
from supclust.hac.cpu import workspace as rooms_module
from supclust.hac.cpu.small_tree import divide, numbers_needed
from supclust.hac.cpu.workspace import large_rooms, release, small_room

F64 = np.dtype(np.float64)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n", [1, 2, 5, 16, 33])
def test_matrices_of_one_room_do_not_overlap(n: int, weighted: bool) -> None:
    space = small_room(numbers_needed(n, weighted), np.dtype(np.float32))
    psi, weight = divide(space, n, weighted)
    psi[:], weight[:] = 1, 2
    assert psi.shape == (n, n) and weight.shape == (n if weighted else 1, n)
    assert (psi == 1).all() and (weight == 2).all()
    assert np.shares_memory(psi, space) and not np.shares_memory(psi, weight)


def test_the_next_call_uses_the_memory_again() -> None:
    large, small = small_room(1600, F64), small_room(100, F64)
    assert large.shape == (1600,) and small.shape == (100,)
    assert np.shares_memory(large, small)


def test_another_thread_has_its_own() -> None:
    mine = small_room(100, F64)
    theirs: list[np.ndarray] = []
    thread = threading.Thread(target=lambda: theirs.append(small_room(100, F64)))
    thread.start()
    thread.join()
    assert not np.shares_memory(mine, theirs[0])


def test_large_rooms_are_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rooms_module, "KEPT_BYTES", 1000)
    assert not np.shares_memory(small_room(10000, F64), small_room(10000, F64))


def address(array: np.ndarray) -> int:
    return int(array.ctypes.data)


needs_lazy_return = pytest.mark.skipif(
    not rooms_module._can_lend(1), reason="needs a system that takes memory back lazily"
)


@needs_lazy_return
def test_a_large_room_is_lent_again_and_its_matrices_do_not_overlap() -> None:
    with large_rooms((30, 30), (1, 30), dtype=F64) as (first, second):
        first[:], second[:] = 1, 2
        assert (first == 1).all() and (second == 2).all()
        place = address(first)
    with large_rooms((20, 20), dtype=F64) as (again,):
        again[:] = 3  # whatever it holds, it can be written
        assert address(again) == place and (again == 3).all()
    release()
    assert rooms_module._large[0].pages is None


@needs_lazy_return
def test_a_room_that_is_lent_is_not_lent_twice() -> None:
    with large_rooms((9, 9), dtype=F64) as (mine,), large_rooms((9, 9), dtype=F64) as (other,):
        mine[:], other[:] = 1, 2
        assert (mine == 1).all()


@needs_lazy_return
def test_an_error_gives_the_room_back() -> None:
    with pytest.raises(KeyError), large_rooms((9, 9), dtype=F64):
        raise KeyError
    assert not rooms_module._large[0].lock.locked()


def test_more_than_its_share_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    release()
    monkeypatch.setattr(rooms_module, "LENT_SHARE", 0.0)
    with large_rooms((9, 9), dtype=F64) as (matrix,):
        matrix[:] = 1
    assert rooms_module._large[0].pages is None


@needs_lazy_return
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_the_child_of_a_fork_is_lent_its_own() -> None:
    code = (
        "import os, sys, numpy as np\n"
        "from supclust.hac.cpu.workspace import large_rooms\n"
        "with large_rooms((9, 9), dtype=np.dtype(float)) as (mine,):\n"
        "    mine[:] = 1\n"
        "    child = os.fork()\n"
        "    if not child:\n"
        "        with large_rooms((9, 9), dtype=np.dtype(float)) as (own,):\n"
        "            own[:] = 2\n"
        "            os._exit(int(not ((own == 2).all() and (mine == 1).all())))\n"
        "    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) or int((mine != 1).any()))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@needs_lazy_return
def test_a_large_room_is_given_back_before_a_matrix_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with large_rooms((50, 50), dtype=F64):
        pass
    kept = rooms_module._large[0]

    def available() -> int:
        return 2**30 if kept.pages is None else 2**10  # as in a container: what is kept is used

    monkeypatch.setattr(memory, "available_bytes", available)
    memory.require_memory(2**25, "a test")
    assert kept.pages is None
    with large_rooms((50, 50), dtype=F64):
        release()  # not while it is lent
        assert kept.pages is not None
        with pytest.raises(ValueError, match="a test needs"):
            memory.require_memory(2**25, "a test")


class Locked:
    """Pages that the system will not take back."""

    def madvise(self, advice: int) -> None:
        raise OSError(22, "Invalid argument")


@needs_lazy_return
def test_pages_that_cannot_be_given_back_are_kept() -> None:
    room = rooms_module._Large()
    room.pages = pages = Locked()  # type: ignore[assignment]
    room.give_back()
    assert room.pages is pages


@needs_lazy_return
def test_both_rooms_together_keep_to_their_share(monkeypatch: pytest.MonkeyPatch) -> None:
    release()
    pages = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    monkeypatch.setattr(rooms_module, "LENT_SHARE", 1000 * 8 / pages)

    def kept() -> list[int]:
        return [room.size() for room in rooms_module._large]

    with large_rooms((20, 20), dtype=F64), large_rooms((20, 20), dtype=F64):
        assert kept() == [400 * 8] * 2  # in whole lines of the cache
        with large_rooms((2, 2), dtype=F64) as (third,):
            third[:] = 1  # there is no third one
    with large_rooms((25, 25), dtype=F64), large_rooms((25, 25), dtype=F64) as (second,):
        second[:] = 1
        assert kept() == [5056, 0]  # idle, the other made room; lent, there is none left
    release()
