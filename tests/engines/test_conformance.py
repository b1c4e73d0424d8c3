"""Every engine of the registry meets every point; and a point that is not met is a failure by its
name.
"""

import json
import random
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engines.test_chroma import Chroma
from rankwell.engines import ENGINES, EngineQuery
from rankwell.engines.conformance import Conformance
from rankwell.errors import BadUsage
from rankwell.tasks.engine.commands.engine_check import check
from rankwell.tasks.engine.commands.engine_list import list as engine_list
from rankwell.tasks.engine.inputs import read_pairs
from scripted_server import Received, Reply, ScriptedServer


def exact(queries: Any, items: Any, metric: str, k: int) -> Any:
    """The best scores by plain arithmetic."""
    rows: list[list[float]] = []
    for query in np.asarray(queries, dtype=float).tolist():
        scores = []
        for item in np.asarray(items, dtype=float).tolist():
            dot = sum(x * y for x, y in zip(query, item, strict=True))
            lengths = (sum(x * x for x in query) * sum(y * y for y in item)) ** 0.5
            distance = sum((x - y) ** 2 for x, y in zip(query, item, strict=True)) ** 0.5
            scores.append({"dot": dot, "cosine": dot / lengths, "l2": -distance}[metric])
        best = sorted(scores, reverse=True)[:k]
        rows.append(best + [float("nan")] * (k - len(best)))
    return np.array(rows)


class WordOverlap:
    """The smallest engine of a user: items that share most words with the query."""

    def index(self, ids: Any, texts: Any) -> None:
        self._words = {item: set(text.split()) for item, text in zip(ids, texts, strict=True)}

    def search(self, query: str, k: int) -> list[tuple[str, int]]:
        shared = {item: len(words & set(query.split())) for item, words in self._words.items()}
        ranked = sorted(
            (item for item in shared if shared[item]), key=lambda item: (-shared[item], item)
        )
        return [(item, shared[item]) for item in ranked[:k]]


def answer(_: int, request: Received) -> Reply:
    """A search server that finds the same for the same text."""
    if request.body is None:
        return Reply({"version": "1.2"})
    order = [f"d{number}" for number in range(20)]
    random.Random(request.body["text"]).shuffle(order)
    return Reply(
        {
            "took": 3,
            "hits": [
                {"id": item, "score": 20 - place}
                for place, item in enumerate(order[: request.body["size"]])
            ],
        }
    )


REQUEST = """
body = { text = "{query}", size = "{k}", depth = "{depth}" }
results = { list = "hits", id = "id", score = "score" }
version = { path = "/", value = "version" }
most_k = 100
parameters = { depth = 3 }
"""


@pytest.fixture
def endpoint(tmp_path: Path) -> Iterator[str]:
    """The file of a request to a server that answers."""
    with ScriptedServer(answer) as server:
        (tmp_path / "endpoint.toml").write_text(f'url = "{server.url}"\n{REQUEST}')
        yield str(tmp_path / "endpoint.toml")


CASES: Mapping[str, list[dict[str, Any]]] = {
    "sqlite-fts5": [{}, {"words": "all"}],
    "bm25s": [{}],
    "hnswlib": [{"metric": metric, "ef": 60} for metric in ("cosine", "dot", "l2")],
    "faiss": [{"metric": metric, "index": "flat"} for metric in ("cosine", "dot", "l2")]
    + [{"index": "ivf", "nlist": 6}, {"index": "hnsw", "ef_search": 40}],
    "pgvector": [
        *({"metric": metric} for metric in ("cosine", "dot", "l2")),
        {"index": "ivfflat", "lists": 5},
        {"kind": "lexical"},
        {"kind": "hybrid"},
    ],
    "qdrant": [
        *(
            {"url": url, "metric": metric}
            for url in (":memory:", "edge")
            for metric in ("cosine", "l2")
        ),
        {"url": "edge", "metric": "dot", "indexing_threshold": 1, "full_scan_threshold": 1},
    ],
    "chroma": [{}],
    "object": [{}],
    "http": [{}],
}
IN_PROCESS = ("sqlite-fts5", "bm25s", "hnswlib", "faiss", "qdrant")
PACKAGES = {"bm25s": "bm25s", "hnswlib": "hnswlib", "faiss": "faiss", "qdrant": "qdrant_edge"}


def lines(
    spec: Any, options: Mapping[str, Any] = {}, queries: Any = ()
) -> dict[str, tuple[str, str]]:
    return {
        each.statement: (each.state, each.message)
        for each in Conformance(spec, options, exact, queries).lines()
    }


def failures(spec: Any, options: Mapping[str, Any] = {}) -> dict[str, str]:
    return {
        name: message
        for name, (state, message) in lines(spec, options).items()
        if state == "failed"
    }


def test_every_engine_of_the_registry_has_a_case():
    assert set(CASES) == set(ENGINES.builtin_names)


@pytest.mark.parametrize(
    ("name", "options"), [(name, options) for name in IN_PROCESS for options in CASES[name]]
)
def test_an_engine_in_this_process_meets_every_point(name: str, options: dict[str, Any]):
    if name in PACKAGES:
        pytest.importorskip(PACKAGES[name])

    assert failures(name, options) == {}


def test_an_object_meets_every_point():
    assert failures(WordOverlap) == {}


def test_a_server_over_http_meets_every_point(endpoint: str):
    found = lines(endpoint)

    assert {name: message for name, (state, message) in found.items() if state == "failed"} == {}
    assert found["k above the limit is an error that names both"][0] == "ok"
    assert found["deleted items are gone"] == ("skipped", "a foreign index is only read")
    assert found["a late answer is a timeout"][0] in ("ok", "skipped")


def test_chroma_meets_every_point_as_far_as_a_script_plays_it():
    with ScriptedServer(Chroma()) as server:
        assert failures(f"chroma:{server.url}", {"metric": "l2"}) == {}


@pytest.mark.slow
@pytest.mark.parametrize("options", CASES["pgvector"])
def test_postgresql_meets_every_point(postgres: str, options: dict[str, Any]):
    assert failures(postgres, options) == {}


class Duplicates(WordOverlap):
    def search(self, query: str, k: int) -> Any:
        return [("item-000", 1.0)] * min(k, 2)


class RisingScores(WordOverlap):
    def search(self, query: str, k: int) -> Any:
        return [(item, place) for place, (item, _) in enumerate(super().search(query, k))]


class TooMany(WordOverlap):
    def search(self, query: str, k: int) -> Any:
        return super().search(query, k + 1)


class Strangers(WordOverlap):
    def search(self, query: str, k: int) -> Any:
        return [("never indexed", 1.0)]


class Moody(WordOverlap):
    def search(self, query: str, k: int) -> Any:
        return super().search(query, k)[threading.current_thread() is not threading.main_thread() :]


class Fragile(WordOverlap):
    def search(self, query: str, k: int) -> Any:
        if not query.strip():
            sys.exit(3)
        return super().search(query, k)


class Hoarder(WordOverlap):
    _words: dict[str, set[str]] = {}  # noqa: RUF012

    def index(self, ids: Any, texts: Any) -> None:
        self._words = {
            **self._words,
            **{item: set(text.split()) for item, text in zip(ids, texts, strict=True)},
        }


class Silent(WordOverlap):
    def search(self, query: str, k: int) -> Any:
        return []


@pytest.mark.parametrize(
    ("broken", "check"),
    [
        (Duplicates, "ids are strings that were indexed, each once"),
        (Strangers, "ids are strings that were indexed, each once"),
        (RisingScores, "scores do not rise"),
        (TooMany, "at most k results, and none for k = 0"),
        (Moody, "8 callers at once get what one gets"),
        (Fragile, "odd queries harm nothing"),
        (Hoarder, "deleted items are gone"),
        (Silent, "every ordinary query has results"),
    ],
)
def test_a_point_that_is_not_met_is_a_failure(broken: type, check: str):
    assert check in failures(broken)


def test_the_command_prints_a_line_for_each_point_and_exits_with_1(tmp_path: Path):
    (tmp_path / "my_app.py").write_text(
        "def good(query, k):\n    return ['a', 'b'][:k]\n\ndef bad(query, k):\n    return "
        "['a', 'a']\n"
    )

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "rankwell", "engine", "check", *words]
        return subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)

    good, bad, unknown = (
        run("./my_app.py:good", "--format", "json"),
        run("./my_app.py:bad"),
        run("./my_app.py:good", "--option", "depth"),
    )

    assert (good.returncode, good.stderr) == (0, "")
    assert {
        "check": "scores do not rise",
        "outcome": "ok",
        "message": "the engine returns no scores",
    } in json.loads(good.stdout)["rows"]
    assert bad.returncode == 1
    assert "an item appears twice" in bad.stdout
    assert (unknown.returncode, unknown.stdout) == (2, "")
    assert "expected NAME=VALUE" in unknown.stderr


ENDING = """
import os

print("loaded")


def at_once(query, k):
    os._exit(3)


def later(query, k):
    if "\\0" in query:
        os._exit(0)
    return ["a"][:k]


class WhenFilledAgain:
    def __init__(self):
        self.ids = []

    def index(self, ids, texts):
        if self.ids:
            os.kill(os.getpid(), 9)
        self.ids = ids

    def search(self, query, k):
        return self.ids[:k]
"""


@pytest.mark.parametrize(
    ("engine", "passed", "failed", "reason"),
    [
        ("at_once", 0, "it can be opened, filled and queried", "exit code 3"),
        ("later", 5, "odd queries harm nothing", "exit code 0"),
        ("WhenFilledAgain", 12, "deleted items are gone", "SIGKILL"),
    ],
)
def test_an_engine_that_ends_its_process_fails_by_name(
    engine: str,
    passed: int,
    failed: str,
    reason: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
):
    (tmp_path / "ending_engines.py").write_text(ENDING)
    monkeypatch.chdir(tmp_path)

    output = check(f"./ending_engines.py:{engine}", format="json")
    rows = json.loads(output.text)["rows"]

    assert output.exit_code == 1
    assert rows[passed] == {
        "check": failed,
        "outcome": "failed",
        "message": f"the engine ended its process ({reason})",
    }
    assert {row["outcome"] for row in rows[passed + 1 :]} <= {"skipped"}
    assert len({row["check"] for row in rows}) == len(rows) >= 14


def _finds_nothing(query: str, k: int) -> list[Any]:
    return []


def _counts_in_other_words(query: str, k: int) -> list[tuple[str, float]]:
    """Items with rising scores, each twice, of a query that is not one of the default words."""
    return [("a", 1.0), ("a", 2.0)][:k] if query.startswith("w1") else []


def _always_fails(query: str, k: int) -> list[str]:
    raise ValueError("boom")


def test_an_engine_without_any_result_does_not_pass():
    for engine in (_finds_nothing, _counts_in_other_words):
        found = lines(engine)
        assert [name for name, (state, _) in found.items() if state == "failed"] == [
            "every ordinary query has results"
        ]
        assert "give --queries" in found["every ordinary query has results"][1]
        for name in (
            "scores do not rise",
            "ids are strings that were indexed, each once",
            "odd queries harm nothing",
        ):
            assert found[name] == ("skipped", "no query returned a result")

    asked = lines(_counts_in_other_words, queries=[EngineQuery("q", "w1 w2")])
    assert {name for name, (state, _) in asked.items() if state == "failed"} == {
        "ids are strings that were indexed, each once",
        "scores do not rise",
    }
    assert "boom" in failures(_always_fails)["scores do not rise"]


def test_queries_of_files_are_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "queries.tsv").write_text("q1\tred river\nq2\tblue hill\n")
    np.save(tmp_path / "queries.npy", np.eye(2, dtype=np.float32))
    seen: list[Any] = []

    def engine(vector: Any, k: int) -> list[str]:
        seen.append(vector.tolist())
        return ["a"]

    found = lines(engine, {"takes": "vector"}, [EngineQuery("q", None, np.ones(2))])
    monkeypatch.chdir(tmp_path)
    output = check(
        "textwrap:wrap", queries="queries.tsv", query_vectors="queries.npy", format="json"
    )

    assert found["scores do not rise"][0] == "ok"
    assert [1.0, 1.0] in seen
    assert output.exit_code == 1  # the lines of a text are not its best items
    with pytest.raises(BadUsage, match="leave yours out"):
        check("sqlite-fts5", queries="queries.tsv")
    (tmp_path / "more.tsv").write_text("q1\ta\nq2\tb\nq3\tc\n")
    with pytest.raises(BadUsage, match="has 2 vectors for 3 queries"):
        check("textwrap:wrap", queries="more.tsv", query_vectors="queries.npy")
    with pytest.raises(BadUsage, match="dimensions is unknown"):
        lines(engine, {"takes": "vector"})
    with pytest.raises(BadUsage, match="ef is given twice"):
        read_pairs(["ef=1", "ef=2"], "--option")


def test_the_list_of_engines_has_parameters_defaults_and_how_to_install():
    listed = {each["name"]: each for each in json.loads(engine_list(format="json").text)["rows"]}

    assert list(listed) == list(ENGINES)
    assert listed["hnswlib"]["install"] == "pip install 'rankwell[engines]'"
    assert listed["bm25s"]["parameters"]["build"][0] == {
        "name": "k1",
        "type": "float",
        "default": 1.5,
        "choices": [],
        "about": "saturation of term frequencies",
    }
    assert "sqlite-fts5" in engine_list().text
    assert (
        subprocess.run(
            [sys.executable, "-m", "rankwell", "engine", "list"], capture_output=True, check=False
        ).returncode
        == 0
    )
