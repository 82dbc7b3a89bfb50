"""Columns of a table as the arrays that compiled comparisons read."""
