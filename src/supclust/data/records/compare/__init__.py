"""Compiled comparisons of two records, column by column."""
