"""Driving clips with keyword ground truth."""
