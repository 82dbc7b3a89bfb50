"""From a bare table to entities: candidate pairs, pair model, clustering on the graph of pairs.

Nothing is imported here: the parts need pyarrow and Numba, training needs LightGBM.
"""
