"""Cells of experiment files that are evaluated here."""
