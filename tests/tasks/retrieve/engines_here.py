"""Engines of the tests, as users write them: functions of a query and k, of which some fail."""

import threading
import time
from pathlib import Path

WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
LOCK = threading.Lock()
LOG: list[tuple[str, float]] = []
"""The queries that `pauses` has answered, and when."""


def search(query: str, k: int) -> list[str]:
    """Items whose names hold a word of the query."""
    return [word for word in WORDS if word in query.split()][:k]


def hangs(query: str, k: int) -> list[str]:
    """Never answers a query that holds `six`."""
    if "six" in query:
        time.sleep(60)
    return search(query, k)


def dies(query: str, k: int) -> list[str]:
    """Fails from the 30th query on while a file `down` exists; every query is in a log."""
    with Path("log.txt").open("a", encoding="utf-8") as log:
        log.write(query + "\n")
    if Path("down").exists() and int(query.split()[0][1:]) >= 30:
        raise ConnectionRefusedError("nobody listens")
    return search(query, k)


def pauses(query: str, k: int) -> list[str]:
    """Answers one request at a time, and pauses 400 ms every 400 requests."""
    with LOCK:
        time.sleep(0.4 if len(LOG) % 400 == 399 else 0.0002)
        LOG.append((query, time.perf_counter()))
    return search(query, k)
