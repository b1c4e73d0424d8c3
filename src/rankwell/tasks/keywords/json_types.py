"""Rows of JSON output on keywords."""

from typing import TypedDict


class MeaningObject(TypedDict):
    """A keyword that a text was read as."""

    text: str
    group: str | None
    keyword: str | None
    score: float | None


class CalibrationObject(TypedDict):
    """The keywords that a threshold of similarity finds, in the queries of a part."""

    queries: str
    threshold: float
