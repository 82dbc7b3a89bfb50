"""From a configuration to results: run, evaluate, store, track, tabulate.

Nothing is imported here: a mistyped option is reported before torch and Lightning are loaded.
"""
