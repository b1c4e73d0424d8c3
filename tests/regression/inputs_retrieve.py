"""Inputs of the cases of `engine run`: an engine of its own, queries and judgments."""

from pathlib import Path

from tasks.engine import smallest

_ENGINE = """
from rankwell.engines import Engine, EngineFamily, EngineHits, Parameter, Session


def search(query, k):
    return [item for item, word in (("a", "command"), ("b", "scheduler"), ("c", "parse")) if word in query.split()][:k]


def near(vector, k):
    return ["abc"[(place + len(vector)) % 3] for place in range(3)][:k]


class Own(Engine):
    kind = "lexical"

    def _index(self, items):
        return 1000

    def _session(self):
        return OwnSession(self)


class OwnSession(Session):
    depth = 10

    def _search(self, query, k):
        return EngineHits(search(query.text, min(k, self.depth)))

    def _configure(self, values):
        self.depth = values["depth"]

    def _parameters(self):
        return {"depth": self.depth}


FAMILY = EngineFamily(
    "own", "An engine of the goldens", ("lexical",), Own,
    build=(Parameter("shape", str, "narrow", "of the index"),), search=(Parameter("depth", int, 10, "of lists"),), own_version="1",
)
"""
_BENCH = """
[[dataset]]
name = "faq"
command = "engine run"
documents = "docs.tsv"
queries = "asked.tsv"
qrels = "judged.txt"
measure = "RR"
rounds = 2
warm-up = 1

[[system]]
name = "own"
engine = "live_engine:FAMILY"
option = { shape = "wide" }
sweep = { depth = [1, 2] }

[[system]]
name = "function"
engine = "live_engine:search"
"""


def write(folder: Path) -> None:
    """Writes the inputs."""
    import numpy as np

    (folder / "live").mkdir()
    smallest.write(folder / "live")
    (folder / "live_engine.py").write_text(_ENGINE, encoding="utf-8")
    (folder / "live" / "live_engine.py").write_text(_ENGINE, encoding="utf-8")
    (folder / "live" / "bench.toml").write_text(_BENCH, encoding="utf-8")
    (folder / "live" / "words.tsv").write_text(
        "a\tparse a command\nb\ta command scheduler\nc\tparse the scheduler\n", encoding="utf-8"
    )
    (folder / "live" / "others.txt").write_text("z1 0 a 1\n", encoding="utf-8")
    np.save(folder / "live" / "vectors.npy", np.eye(3, dtype=np.float32))
