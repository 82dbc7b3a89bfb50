"""Data sets by name: readers, downloads, generated stand-ins."""
