"""Similarity of pairs against human scores."""

PUBLIC_NAMES: dict[str, str] = {}
"""The task adds no name to `rankwell`."""
