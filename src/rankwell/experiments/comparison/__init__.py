"""Comparison of systems: paired differences, tests, verdicts, the order of systems."""
