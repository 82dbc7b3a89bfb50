"""The ExpLink training loss on the host, compiled by Numba."""
