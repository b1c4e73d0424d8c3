"""Displays of results for whoever holds one in Python: tables, charts, data frames."""
