"""The folder of a store: segments, which of them are current, and their sum in memory."""
