"""Side-by-side timings; not run by the tests."""
