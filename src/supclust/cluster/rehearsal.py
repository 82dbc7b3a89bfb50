"""Have the compiled code ready by the time the first records have been read.

Loading it takes some tenths of a second; a thread does so while the table is read for the first
time.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager

import numpy as np

from supclust.cluster.model import ClusterModel


@contextmanager
def rehearsing(model: ClusterModel) -> Iterator[Future[None]]:
    """Rehearse in a thread; the result is to be waited for before the model is used."""
    with ThreadPoolExecutor(1, thread_name_prefix="supclust-rehearsal") as pool:
        yield pool.submit(rehearse, model)


def rehearse(model: ClusterModel) -> None:
    """Cluster two made-up records."""
    if model.distances is not None:  # its code is not ours
        return
    starts, cut = np.array([0, 2]), model.cut()
    comparisons = model.comparisons
    if comparisons is not None:
        made_up = {"text": ["", ""], "number": np.zeros(2)}
        columns = {name: made_up[kind] for name, kind in comparisons.kinds.items()}
        model.label_records(columns, starts, cut)
    elif model.kind == "vectors":
        model.label_points(np.zeros((2, len(model.feature_names))), starts, cut)
