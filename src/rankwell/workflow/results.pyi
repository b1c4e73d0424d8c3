"""The methods of results, with their types: written by tools/public_stub.py."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from rankwell.commands.gate import GateOptions
from rankwell.evaluation.results import Results
from rankwell.experiments.comparison.judging import ComparisonOptions

def compare(
    result: Results,
    *,
    baseline: str | None = ...,
    measures: Sequence[str] | str | None = ...,
    test: Literal["randomisation", "t", "wilcoxon", "sign", "bootstrap"] = ...,
    family: Literal["primary", "all"] = ...,
    correction: Literal["holm", "bh", "max-t", "tukey", "none"] = ...,
    intervals: Literal["bootstrap-t", "bootstrap", "t", "none"] = ...,
    level: float = ...,
    power: float = ...,
    resamples: int = ...,
    seed: int = ...,
    group: str | None = ...,
    cluster: str | None = ...,
    options: ComparisonOptions | None = ...,
) -> Results: ...
def gate(
    result: Results,
    *required: str,
    require: Sequence[str] | str | None = ...,
    no_regression: str | None = ...,
    tolerance: float | str | None = ...,
    measures: Sequence[str] | str | None = ...,
    requirements: Path | None = ...,
    intervals: Literal["bootstrap-t", "bootstrap", "t"] = ...,
    level: float = ...,
    resamples: int = ...,
    seed: int = ...,
    options: GateOptions | None = ...,
) -> Results: ...
def report(
    result: Results,
    path: str | Path = ...,
    *,
    documents: str | Path | Mapping[str, str] | None = ...,
    query_texts: str | Path | Mapping[str, str] | None = ...,
    thumbnails: str | None = ...,
    title: str | None = ...,
    seed: int = ...,
    overwrite: bool = ...,
) -> Path: ...
def save(
    result: Results, directory: str | Path, *, overwrite: bool = ..., charts: bool = ...
) -> Results: ...
