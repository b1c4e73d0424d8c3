"""Measures of the task, one file per family."""
