"""Similarity of pairs against human scores."""

from rankwell.data.catalogue import ResultKind

PUBLIC_NAMES: dict[str, str] = {}
"""The task adds no name to `rankwell`."""

RESULTS = ResultKind(noun=("pair", "pairs"))
