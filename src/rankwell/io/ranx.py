"""ranx's `Run` and `Qrels` in memory; nothing is imported from ranx."""

from typing import Any

from rankwell.data.rankings import Hits, Ranking
from rankwell.data.tables import Judgments
from rankwell.io.formats import FORMATS, Request, file_format


def _is_run(thing: Any) -> bool:
    return _class_of(thing) == ("ranx", "Run")


def _is_qrels(thing: Any) -> bool:
    return _class_of(thing) == ("ranx", "Qrels")


def _class_of(thing: Any) -> tuple[str, str]:
    kind = type(thing)
    return kind.__module__.partition(".")[0], kind.__name__


def _hits(run: Any, judgments: Judgments, request: Request) -> Hits:
    find_in_mapping = FORMATS["python mapping run"].find_hits
    assert find_in_mapping is not None  # noqa: S101 - mappings have it
    return find_in_mapping(run.to_dict(), judgments, request)


@file_format("python ranx", "run", accepts=_is_run, find_hits=_hits)
def read_run(run: Any, request: Request) -> Ranking:
    """The ranking in a `ranx.Run`."""
    return FORMATS["python mapping run"].read(run.to_dict(), request)


@file_format("python ranx", "judgments", accepts=_is_qrels)
def read_judgments(qrels: Any, request: Request) -> Judgments:
    """The judgments in a `ranx.Qrels`."""
    return FORMATS["python mapping judgments"].read(qrels.to_dict(), request)
