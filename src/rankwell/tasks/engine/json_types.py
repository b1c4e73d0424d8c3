"""Rows of JSON output on engines."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypedDict


class ConformanceObject(TypedDict):
    """A statement about an engine, and whether it holds."""

    check: str
    outcome: Literal["ok", "failed", "skipped"]
    message: str


class FamilyObject(TypedDict):
    """A kind of engines: its searches, its installed version and its parameters."""

    name: str
    title: str
    kinds: Sequence[str]
    version: str | None
    install: str | None
    parameters: Mapping[str, Any]


class SettingObject(TypedDict):
    """A setting of an engine: its parameters, and what it was chosen as."""

    run: str
    tried: Sequence[str]
    values: Mapping[str, Any]
    choices: Sequence[str]
    others: Any


class UnansweredObject(TypedDict):
    """A query that an engine did not answer."""

    run: str
    query: str
    round: int
    status: str
    error: str
