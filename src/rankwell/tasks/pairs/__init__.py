"""Similarity of pairs against human scores."""
