"""Kernels: what reads a run's bytes and keeps the judged items only. Every kernel gives the same `Hits` to the last bit."""

from collections.abc import Callable
from dataclasses import dataclass

from rankwell.tables.order import TieRule

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Layout:
    """Which white-space-separated field of a line is what; `score` None means that only a rank is given, in field `rank`."""

    name: str
    fields: int
    query: int
    item: int
    score: int | None
    rank: int | None = None


TREC_RUN = Layout("TREC run", fields=6, query=0, item=2, score=4, rank=3)
MSMARCO_RUN = Layout("MS MARCO run", fields=3, query=0, item=1, score=None, rank=2)


@dataclass(frozen=True)
class Reading:
    """How a run is to be read. keep: how many first items of each query, judged or not, to hand back as well (0: none)."""

    ties: TieRule = "id-desc"
    single_precision: bool = False
    keep: int = 0
    comments: bool = False
    duplicates: str = "error"
