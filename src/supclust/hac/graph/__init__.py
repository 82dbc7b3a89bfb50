"""Sparse graphs to forests: exact ExpLink trees from the given pairs alone, in O(edges) memory."""
