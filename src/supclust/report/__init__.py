"""Results and models made visible: plots in Python, and one self-contained page."""
