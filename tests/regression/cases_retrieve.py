"""Command lines of live engines, most of which end before anything is asked; the others ask an
engine of the world.
"""

from pathlib import Path

from tasks.retrieve import smallest

_BASE = "retrieve sqlite-fts5 --items live/docs.tsv --queries live/asked.tsv"
_OWN = "--queries live/asked.tsv --qrels live/judged.txt -m RR --rounds 2 --warm-up 1"
CASES = {
    "retrieve/function": f"retrieve live_engine:search {_OWN} -o out",
    "retrieve/sweep": f"retrieve live_engine:FAMILY {_OWN} --items live/docs.tsv --build "
    "shape=wide --sweep "
    "depth=1,2 -f md",
    "retrieve/bench": "bench live/bench.toml -o out",
    "retrieve/no-queries": "retrieve sqlite-fts5 --items live/docs.tsv",
    "retrieve/unknown-engine": "retrieve sqlite-fts --items live/docs.tsv --queries live/asked.tsv",
    "retrieve/unknown-parameter": f"{_BASE} --option word=any",
    "retrieve/build-and-option": f"{_BASE} --option tokenizer=porter --build tokenizer=unicode61",
    "retrieve/url": f"{_BASE} --url http://127.0.0.1:1",
    "retrieve/twice": f"{_BASE} --sweep words=any,any",
    "retrieve/measure-without-judgments": f"{_BASE} -m RR -c ranx -q -f csv",
    "retrieve/no-common-query": f"{_BASE} --qrels live/others.txt",
    "retrieve/rounds": f"{_BASE} --rounds 0 --warm-up 5 --retries 1 -k 5",
    "retrieve/rate": f"{_BASE} --rate 0 --clients 3 --timeout 5",
    "retrieve/load": "retrieve qdrant:http://192.0.2.1:6333 --query-vectors live/vectors.npy "
    "--item-vectors "
    "live/vectors.npy --rate 5 --allow-load other.example --server-pid 1",
    "retrieve/requests": f"{_BASE} --most-requests 3 --most-seconds 60 --allow-failures 1",
    "retrieve/recall": f"{_BASE} --recall 2 --cost p99 --truth none --intervals t --seed 3",
    "retrieve/filter": f"{_BASE} --filter colour --duplicates first",
    "retrieve/encoder": "retrieve live_engine:near --items live/words.tsv --queries "
    "live/asked.tsv --qrels "
    "live/judged.txt -m RR --rounds 2 --warm-up 1 --encoder tfidf-svd:2 -o out",
    "retrieve/needless-encoder": f"{_BASE} --encoder tfidf-svd:2",
    "retrieve/collapse": f"{_BASE} --collapse document -o out --overwrite",
}


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
command = "retrieve"
items = "docs.tsv"
queries = "asked.tsv"
qrels = "judged.txt"
measure = "RR"
rounds = 2
warm-up = 1

[[system]]
name = "own"
engine = "live_engine:FAMILY"
build = { shape = "wide" }
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
