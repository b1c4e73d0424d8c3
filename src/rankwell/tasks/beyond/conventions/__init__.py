"""Conventions of measures beyond accuracy."""
