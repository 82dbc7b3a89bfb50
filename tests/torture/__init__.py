"""Faults on purpose: damaged files, full disks, killed processes (``make torture``)."""
