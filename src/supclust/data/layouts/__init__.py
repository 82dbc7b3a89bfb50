"""Layouts of data files: vectors, pair folders, pair tables, edge lists."""
