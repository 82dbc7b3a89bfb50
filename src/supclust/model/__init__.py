"""Trained models: fit, evaluate, save and load."""
