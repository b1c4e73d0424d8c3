"""Rows of JSON output on images."""

from typing import TypedDict


class InstanceObject(TypedDict):
    """How often the first reference is right, of one instance in a run."""

    run: str
    instance: str
    references: int
    queries: int
    named: float
    right: float
    precision: float | None
