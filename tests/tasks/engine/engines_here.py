"""Engines of the tests, as users write them: functions of a query and k, of which some fail."""

import os
import signal
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rankwell.engines import (
    Engine,
    EngineFamily,
    EngineHits,
    EngineItems,
    EngineQuery,
    Parameter,
    Session,
)

WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
LOCK = threading.Lock()
LOG: list[tuple[str, float]] = []
"""The queries that `pauses` and `tires` have answered, and when."""


def search(query: str, k: int) -> list[str]:
    """Items whose names hold a word of the query."""
    return [word for word in WORDS if word in query.split()][:k]


def hangs(query: str, k: int) -> list[str]:
    """Never answers a query that holds `six`."""
    if "six" in query:
        time.sleep(60)
    return search(query, k)


def ends(query: str, k: int) -> list[str]:
    """Ends its process at a query that holds `six`."""
    if "six" in query:
        os._exit(3)
    return search(query, k)


def tires(query: str, k: int) -> list[str]:
    """Ends its process at the 31st request."""
    LOG.append((query, time.perf_counter()))
    if len(LOG) > 30:
        os.kill(os.getpid(), signal.SIGKILL)
    return search(query, k)


def slow(query: str, k: int) -> list[str]:
    """Takes a twentieth of a second."""
    time.sleep(0.05)
    return search(query, k)


def who(query: str, k: int) -> list[str]:
    """The process that answers."""
    time.sleep(0.01)
    return [str(os.getpid())]


def dies(query: str, k: int) -> list[str]:
    """Fails from the 30th query on while a file `down` exists; every query is in a log."""
    with Path("log.txt").open("a", encoding="utf-8") as log:
        log.write(query + "\n")
    if Path("down").exists() and int(query.split()[0][1:]) >= 30:
        raise ConnectionRefusedError("nobody listens")
    return search(query, k)


class _CountedEngine(Engine):
    kind = "lexical"

    def _index(self, items: EngineItems) -> int:
        _log(f"index {self.opening.build['shape']}")
        return 1

    def _session(self) -> Session:
        return _CountedSession(self)


class _CountedSession(Session):
    depth = 10

    def _search(self, query: EngineQuery, k: int) -> EngineHits:
        n = _log(f"search {query.text}")
        if Path("kill").exists() and n >= int(Path("kill").read_text()):
            os.kill(os.getppid(), signal.SIGKILL)
            time.sleep(30)
        return EngineHits(search(str(query.text), min(k, self.depth)))

    def _configure(self, values: Mapping[str, Any]) -> None:
        self.depth = values["depth"]

    def _parameters(self) -> dict[str, Any]:
        return {"depth": self.depth}


COUNTED = EngineFamily(
    "counted",
    "An engine that logs every index and search, and ends the process above it at a given one",
    ("lexical",),
    _CountedEngine,
    build=(Parameter("shape", str, "narrow", "of its index"),),
    search=(Parameter("depth", int, 10, "of its lists"),),
)


class _ForeignEngine(Engine):
    """An index of 200 vectors that others built; it returns the first k of its ids, whatever the
    query is.
    """

    kind = "vector"
    metric = "cosine"
    can_index = False

    def _session(self) -> Session:
        return _ForeignSession(self)

    def _describe(self) -> dict[str, Any]:
        return {"items": 200}


class _ForeignSession(Session):
    def _search(self, query: EngineQuery, k: int) -> EngineHits:
        return EngineHits(self.engine.opening.connect["returned"].split()[:k])


FOREIGN = EngineFamily(
    "foreign",
    "An index that others built",
    ("vector",),
    _ForeignEngine,
    connect=(Parameter("returned", str, "", "the ids that it returns"),),
)


def _log(line: str) -> int:
    """Adds a line to the log, and returns the number of its searches."""
    with Path("engine.log").open("a", encoding="utf-8") as log:
        log.write(line + "\n")
    return Path("engine.log").read_text(encoding="utf-8").count("search")


def pauses(query: str, k: int) -> list[str]:
    """Answers one request at a time, and pauses 400 ms every 400 requests."""
    with LOCK:
        time.sleep(0.4 if len(LOG) % 400 == 399 else 0.0002)
        LOG.append((query, time.perf_counter()))
    return search(query, k)
