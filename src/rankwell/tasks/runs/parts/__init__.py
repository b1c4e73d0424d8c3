"""Kinds of parts of runs against judgments."""
