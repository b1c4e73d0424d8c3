"""Similarity of pairs adds no name to `rankwell`."""
