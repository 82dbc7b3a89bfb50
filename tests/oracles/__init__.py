"""Slow, obvious versions of everything fast in `supclust`, written from the definitions."""
