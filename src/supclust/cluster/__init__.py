"""Cluster many blocks with a trained model: tables of any length, on all cores, resumable.

Nothing is imported here: torch is not needed for what ``supclust fit`` makes.
"""
