"""CPU kernels, compiled by Numba: one tree, many trees, single linkage."""
