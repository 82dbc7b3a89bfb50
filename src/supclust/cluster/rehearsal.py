"""Have the compiled code ready by the time the first records have been read.

Loading it takes some tenths of a second; a thread does so while the table is read for the first
time.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager

import numpy as np

from supclust.cluster.model import ClusterModel

_BLAS = "scipy.linalg.cython_blas"


@contextmanager
def rehearsing(model: ClusterModel) -> Iterator[Future[None]]:
    """Rehearse in a thread; the result is to be waited for before the model is used."""
    with ThreadPoolExecutor(1, thread_name_prefix="supclust-rehearsal") as pool:
        yield pool.submit(rehearse, model)


def rehearse(model: ClusterModel) -> None:
    """Cluster two made-up records."""
    if model.distances is not None:  # its code is not ours
        return
    _start_numba()
    starts, cut = np.array([0, 2]), model.cut()
    comparisons = model.comparisons
    if comparisons is not None:
        made_up = {"text": ["", ""], "number": np.zeros(2)}
        columns = {name: made_up[kind] for name, kind in comparisons.kinds.items()}
        model.label_records(columns, starts, cut)
    elif model.kind == "vectors":
        model.label_points(np.zeros((2, len(model.feature_names))), starts, cut)


def _start_numba() -> None:
    """Start Numba without SciPy's linear algebra.

    It looks for a BLAS when it starts, which takes it 0.2 s, for the sake of `numpy.correlate`
    alone; whatever else needs a BLAS looks for it again.
    """
    if _BLAS in sys.modules:
        return
    sys.modules[_BLAS] = None  # type: ignore[assignment]
    try:
        import numba.np.arraymath  # noqa: F401
    finally:
        del sys.modules[_BLAS]
