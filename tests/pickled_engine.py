"""An engine for tests that works as a cluster does."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable, Generator, Iterable
from typing import Any


class PickledBackwards:
    """An engine as of a cluster: everything is pickled, and the last task ends first."""

    def __init__(self, stop_after: float = math.inf) -> None:
        self.computed = 0
        self.stop_after = stop_after

    def map(
        self, compute: Callable, items: Iterable[tuple[int, Any]], prepare: Callable
    ) -> Generator[tuple[int, Any], None, None]:
        sent = [(number, pickle.dumps((prepare, compute, item))) for number, item in items]
        for number, content in reversed(sent):
            if self.computed == self.stop_after:
                raise KeyboardInterrupt
            prepare, compute, item = pickle.loads(content)
            self.computed += 1
            yield number, pickle.loads(pickle.dumps(compute(prepare(item))))
