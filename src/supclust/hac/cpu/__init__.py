"""CPU kernels, compiled by Numba: one tree, many trees, single linkage."""

import supclust.kernels  # noqa: F401  (first: its error names the variable that Numba refuses)
