"""An engine that takes its time, and notes what it was asked."""

import os
import time
from pathlib import Path


def search(query: str, k: int) -> list[str]:
    """Two items after some milliseconds; the query is appended to the file that the environment names."""
    time.sleep(float(os.environ.get("SLOW_SECONDS", "0.02")))
    with Path(os.environ["SLOW_LOG"]).open("a", encoding="utf-8") as stream:
        stream.write(query + "\n")
    return ["a", "b"][:k]
