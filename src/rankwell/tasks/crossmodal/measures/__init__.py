"""Figures of the task."""
