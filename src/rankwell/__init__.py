"""rankwell measures how well anything retrieves. The public names, in the order of the pipeline, each loaded on first use."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rankwell.files.mapping import judged_rankings
    from rankwell.registry import Measure, parse_measure
    from rankwell.tables.judgments import Judgments
    from rankwell.tables.ranking import Ranking
    from rankwell.views.judged import JudgedRankings

__version__ = "0.1.0"

__all__ = ["JudgedRankings", "Judgments", "Measure", "Ranking", "__version__", "judged_rankings", "parse_measure"]

_HOME = {
    "Judgments": "rankwell.tables.judgments",
    "Ranking": "rankwell.tables.ranking",
    "judged_rankings": "rankwell.files.mapping",
    "JudgedRankings": "rankwell.views.judged",
    "Measure": "rankwell.registry",
    "parse_measure": "rankwell.registry",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'rankwell' has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
