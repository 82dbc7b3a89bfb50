"""The GUM coreference set: mentions and their pair features."""
