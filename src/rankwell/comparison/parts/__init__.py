"""Kinds of parts of experiments."""
