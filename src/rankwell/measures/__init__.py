"""Measures, one file per family. A measure is a pure function from a view to one float64 per
query.
"""
