"""Rows of JSON output on answers."""

from typing import TypedDict


class FailureObject(TypedDict):
    """The number and the share of questions that failed, or did not, for one reason."""

    failed: str
    why: str
    questions: int
    share: float
