"""Command lines of live engines. Times differ from call to call, so that the cases are those that end before anything is asked."""

from pathlib import Path

from tasks.retrieve import smallest

_BASE = "retrieve sqlite-fts5 --items live/docs.tsv --queries live/asked.tsv"
CASES = {
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
    "retrieve/load": "retrieve qdrant:http://192.0.2.1:6333 --query-vectors live/vectors.npy --item-vectors live/vectors.npy --rate 5 --allow-load other.example --server-pid 1",
    "retrieve/requests": f"{_BASE} --most-requests 3 --most-seconds 60 --allow-failures 1",
    "retrieve/recall": f"{_BASE} --recall 2 --cost p99 --truth none --intervals t --seed 3",
    "retrieve/filter": f"{_BASE} --filter colour --duplicates first",
    "retrieve/collapse": f"{_BASE} --collapse document -o out --overwrite",
}


def write(folder: Path) -> None:
    """Writes the inputs."""
    import numpy as np

    (folder / "live").mkdir()
    smallest.write(folder / "live")
    (folder / "live" / "others.txt").write_text("z1 0 a 1\n", encoding="utf-8")
    np.save(folder / "live" / "vectors.npy", np.eye(3, dtype=np.float32))
