"""A study as judgments."""
