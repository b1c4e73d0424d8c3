"""Conventions of search over annotated clips."""
