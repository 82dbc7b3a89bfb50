"""How an objective is trained: module of S splits, optimiser, stopping, curves, trainer."""
