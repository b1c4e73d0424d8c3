"""Servers over HTTP: the request that is sent, what is read from the answer, and every way in which
a server fails.
"""

import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rankwell.engines import EngineFailure, EngineQuery, family_of, open_engine
from rankwell.engines.http_requests import presets
from rankwell.errors import BadInput, BadUsage, UnknownName
from scripted_server import Received, Reply, ScriptedServer

HITS = {"hits": [{"id": "a", "score": 2**53 + 1}, {"id": 7, "score": 2**53}], "took": 2}
BODY = 'body = { text = "{query}", size = "{k}" }\n'
RESULTS = 'results = { list = "hits", id = "id", score = "score" }\n'


@pytest.fixture
def request_of(tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """An engine of a request to a server that gives a reply; its attribute `server` is the
    server.
    """
    opened: list[Any] = []

    def make(reply: Reply, text: str = BODY + RESULTS, **options: Any) -> Any:
        server = ScriptedServer(lambda *_: reply).__enter__()
        (tmp_path / "endpoint.toml").write_text(f'url = "{server.url}/base"\n{text}')
        engine = open_engine(str(tmp_path / "endpoint.toml"), options)
        opened.append(server)
        engine.server = server  # type: ignore[attr-defined]
        return engine

    yield make
    for each in opened:
        each.__exit__()


def ask(engine: Any, k: int = 2) -> Any:
    with engine.session() as session:
        return session.search(EngineQuery("q", "red river", np.array([0.5, 1])), k)


def test_ids_scores_and_time_are_read_and_the_configured_request_is_sent(
    request_of: Callable[..., Any],
):
    engine = request_of(Reply(HITS))

    hits = ask(engine)

    assert hits.ids == ["a", "7"]
    assert hits.scores == [2**53 + 1, 2**53]
    [sent] = engine.server.received
    assert (sent.method, sent.path, sent.body) == (
        "POST",
        "/base/",
        {"text": "red river", "size": 2},
    )


def test_places_are_filled_by_type_in_texts_and_in_quoted_paths(request_of: Callable[..., Any]):
    text = (
        'method = "POST"\npath = "/{index}/find?q={query}&n={k}"\nparameters = { index = '
        '"a/b", depth = 3, share = 0.5 }\n'
        'body = { vector = "{vector}", inside = "[{vector}] {depth} {unknown}", "{index}" = true, '
        'list = ["{depth}", "{share}"] }\n'
    )
    engine = request_of(Reply({"ids": ["x"]}), text + 'results = { ids = "ids" }\n', depth="4")

    hits = ask(engine)

    [sent] = engine.server.received
    assert sent.path == "/base/a%2Fb/find?q=red%20river&n=2"
    assert sent.body == {
        "vector": [0.5, 1.0],
        "inside": "[0.5,1.0] 4 {unknown}",
        "list": [4, 0.5],
        "a/b": True,
    }
    assert (hits.ids, hits.scores, engine.kind) == (["x"], None, "hybrid")
    assert family_of(engine.label).search[0].name == "depth"


def test_lists_side_by_side_and_distances_are_read(request_of: Callable[..., Any]):
    results = 'results = { ids = "found.0.ids", scores = "found.0.distances", distance = true }\n'
    engine = request_of(
        Reply({"found": [{"ids": ["x", "y"], "distances": [0, 0.25]}]}), BODY + results
    )

    assert ask(engine)[:2] == (["x", "y"], [0, -0.25])


def test_hits_without_scores_have_none(request_of: Callable[..., Any]):
    assert ask(request_of(Reply({"hits": [{"id": "a", "score": None}]}))).scores is None
    assert ask(request_of(Reply({"hits": []}))).ids == []


@pytest.mark.parametrize(
    ("reply", "kind", "message"),
    [
        (Reply("no", status=500), "status", "HTTP 500 Internal Server Error"),
        (Reply("no", status=404), "status", "HTTP 404"),
        (Reply("", status=302, headers={"Location": "http://127.0.0.1:1/"}), "status", "HTTP 302"),
        (Reply(b"{not json"), "malformed", "the answer is not JSON"),
        (Reply(b"[" * 100_000), "malformed", "the answer is not JSON"),
        (Reply(b'{"hits": [{"id": "a", "score": NaN}]}'), "malformed", "NaN is not JSON"),
        (Reply([]), "malformed", "the answer has no hits"),
        (Reply({"hits": {}}), "malformed", "expected a list"),
        (Reply({"hits": [{}]}), "malformed", "the answer has no id"),
        (Reply({"hits": [{"id": 1.5}]}), "malformed", "has the id 1.5"),
        (Reply({"hits": [{"id": "a", "score": "high"}]}), "malformed", "has the score 'high'"),
        (
            Reply({"hits": [{"id": name, "score": 1} for name in "abc"]}),
            "malformed",
            "3 results for k = 2",
        ),
        (Reply(HITS, sent=20), "disconnected", "ends before its length"),
        (Reply(HITS, dies=True), "disconnected", "Remote end closed|reset"),
        (Reply(HITS, delay=1.0), "timeout", "no answer within 0.2 s"),
    ],
)
def test_every_fault_of_a_server_is_a_failure_with_kind_and_message(
    request_of: Callable[..., Any], reply: Reply, kind: str, message: str
):
    engine = request_of(reply, timeout=0.2)

    with pytest.raises(EngineFailure, match=message) as caught:
        ask(engine)

    assert caught.value.kind == kind
    assert str(caught.value).startswith(engine.label)


def test_a_dead_server_refuses_and_one_that_is_back_answers_in_the_same_session(tmp_path: Path):
    def answer(number: int, _: Received) -> Reply:
        return Reply(HITS, dies=number == 1)

    query = EngineQuery("q", "x")
    with ScriptedServer(answer) as server:
        (tmp_path / "endpoint.toml").write_text(f'url = "{server.url}"\n{BODY}{RESULTS}')
        session = open_engine(str(tmp_path / "endpoint.toml")).session()
        first = session.search(query, 2)
        kinds: list[str] = []
        for _ in range(2):
            with pytest.raises(EngineFailure) as caught:
                session.search(query, 2)
            kinds.append(caught.value.kind)
    with ScriptedServer(lambda *_: Reply(HITS), port=server.port):
        again = session.search(query, 2)
        session.close()

    assert kinds == ["disconnected", "refused"]
    assert again == first


def test_a_late_answer_is_not_taken_for_the_next_one(request_of: Callable[..., Any]):
    engine = request_of(Reply(HITS), timeout=0.2)
    engine.server.answer = lambda number, _: Reply(
        {"hits": [{"id": f"answer-{number}"}]}, delay=0.5 if number == 0 else 0
    )

    with engine.session() as session:
        with pytest.raises(EngineFailure):
            session.search(EngineQuery("q", "x"), 2)
        assert session.search(EngineQuery("q", "x"), 2).ids == ["answer-1"]


def test_an_idle_connection_that_the_server_closed_is_opened_again(request_of: Callable[..., Any]):
    engine = request_of(Reply(HITS))
    with engine.session() as session:
        session.search(EngineQuery("q", "x"), 2)
        for each in engine.server._sockets:
            each.shutdown(socket.SHUT_RDWR)

        assert session.search(EngineQuery("q", "x"), 2).ids == ["a", "7"]


def test_secrets_are_sent_and_never_shown(
    request_of: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("SEARCH_KEY", "hunter2")
    headers = 'headers = { X-Api-Key = "${SEARCH_KEY}" }\n'
    engine = request_of(
        Reply({"error": "the key hunter2 is old"}, status=403), headers + BODY + RESULTS
    )

    with pytest.raises(EngineFailure) as caught:
        ask(engine)

    assert engine.server.received[0].headers["X-Api-Key"] == "hunter2"
    assert "the key ${SEARCH_KEY} is old" in str(caught.value)
    assert "hunter2" not in str(engine.describe())
    with pytest.raises(BadUsage, match="X-Api-Key is in plain text"):
        request_of(Reply(HITS), headers.replace("${SEARCH_KEY}", "hunter2") + BODY + RESULTS)


def test_the_description_has_the_address_of_the_file_with_secrets_by_their_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("SEARCH_PASSWORD", "hunter2")
    address = "http://app:${SEARCH_PASSWORD}@127.0.0.1:1"
    (tmp_path / "endpoint.toml").write_text(f'url = "{address}"\n{BODY}{RESULTS}')

    described, given = (
        open_engine(str(tmp_path / "endpoint.toml"), options).describe()
        for options in ({}, {"url": "http://127.0.0.1:2"})
    )

    assert described["connect"]["url"] == address
    assert given["connect"]["url"] == "http://127.0.0.1:2"


def test_a_password_in_the_address_is_basic_authorization(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("SEARCH_PASSWORD", "a%20b%40c")
    with ScriptedServer(lambda *_: Reply(HITS)) as server:
        address = server.url.replace("http://", "http://me:${SEARCH_PASSWORD}@")
        (tmp_path / "endpoint.toml").write_text(BODY + RESULTS)
        ask(open_engine(str(tmp_path / "endpoint.toml"), {"url": address}))

    assert server.received[0].headers["Authorization"] == "Basic bWU6YSBiQGM="


@pytest.mark.parametrize(
    ("text", "kind", "message"),
    [
        (
            "body = { size = 3 }\n" + RESULTS,
            BadInput,
            r"neither path nor body has \{query\} or \{vector\}",
        ),
        (BODY, BadInput, "results needs list and id"),
        (BODY + 'results = { list = "hits" }', BadInput, "results needs list and id"),
        (
            BODY + 'results = { list = "hits", id = "id", scor = "x" }',
            BadInput,
            "unknown key 'results.scor'; did you mean",
        ),
        (
            BODY + 'results = { list = 3, id = "id" }',
            BadInput,
            "results.list is 3; expected a string",
        ),
        (BODY + RESULTS + "headers = 3", BadInput, "headers is 3; expected a table"),
        (BODY + RESULTS + "headers = { a = 3 }", BadInput, "headers.a is 3; expected a string"),
        (BODY + RESULTS + "url = 3", BadInput, "url is 3; expected a string"),
        (BODY + RESULTS + "most_k = 'many'", BadInput, "most_k is 'many'; expected an integer"),
        (BODY + RESULTS + "parameters = 3", BadInput, "parameters is 3; expected a table"),
        (
            BODY + RESULTS + "version = { path = '/' }",
            BadInput,
            "version is .*; expected the path to ask, and that of the value",
        ),
        (BODY + RESULTS + "kind = 'x'", BadInput, "kind is 'x'; expected lexical, vector, hybrid"),
        (BODY + RESULTS + "bodi = 3", BadInput, "unknown key 'bodi'; did you mean 'body'"),
        (BODY + RESULTS + "parameters = { depth = [1] }", BadInput, r"parameters.depth is \[1\]"),
        ("not toml", BadInput, "is not valid TOML"),
    ],
)
def test_a_request_that_cannot_be_sent_is_refused_with_its_reason(
    tmp_path: Path, text: str, kind: type, message: str
):
    (tmp_path / "endpoint.toml").write_text(text)

    with pytest.raises(kind, match=message):
        open_engine(str(tmp_path / "endpoint.toml"), {"url": "http://127.0.0.1:1"})


def test_what_is_missing_of_an_address_is_named(tmp_path: Path):
    with pytest.raises(
        BadUsage, match=r"name FILE\.toml, or an address and the option preset=NAME"
    ):
        open_engine("http://127.0.0.1:1")
    with pytest.raises(UnknownName, match="unknown preset 'elastic'; did you mean 'elasticsearch'"):
        open_engine("http://127.0.0.1:1", {"preset": "elastic"})
    with pytest.raises(BadUsage, match="no such file"):
        open_engine(str(tmp_path / "absent.toml"))
    (tmp_path / "endpoint.toml").write_text(BODY + RESULTS)
    with pytest.raises(BadUsage, match="no address"):
        open_engine(str(tmp_path / "endpoint.toml"))
    with pytest.raises(BadUsage, match=r"expected http://HOST:PORT"):
        ask(open_engine(str(tmp_path / "endpoint.toml"), {"url": "ftp://host"}))


VECTOR = [0.5, 1.0]
ANSWERS: dict[str, Any] = {
    "elasticsearch": {"took": 5, "hits": {"hits": [{"_id": "a", "_score": 2.5}]}},
    "opensearch": {"took": 5, "hits": {"hits": [{"_id": "a", "_score": 2.5}]}},
    "solr": {"responseHeader": {"QTime": 5}, "response": {"docs": [{"id": "a", "score": 2.5}]}},
    "vespa": {
        "timing": {"searchtime": 0.005},
        "root": {"children": [{"fields": {"id": "a"}, "relevance": 2.5}]},
    },
    "typesense": {
        "results": [{"search_time_ms": 5, "hits": [{"document": {"id": "a"}, "text_match": 2.5}]}]
    },
    "lucene": {"candidates": [{"docid": "a", "score": 2.5}]},
}
"""Answers in the form that each server documents."""
REQUESTS: dict[tuple[str, str], Any] = {
    ("elasticsearch", "lexical"): {
        "size": 3,
        "_source": False,
        "query": {"match": {"text": {"query": "red river"}}},
    },
    ("elasticsearch", "vector"): {
        "size": 3,
        "_source": False,
        "knn": {"field": "embedding", "query_vector": VECTOR, "k": 3, "num_candidates": 100},
    },
    ("opensearch", "vector"): {
        "size": 3,
        "_source": False,
        "query": {
            "knn": {
                "embedding": {"vector": VECTOR, "k": 3, "method_parameters": {"ef_search": 100}}
            }
        },
    },
    ("solr", "lexical"): {
        "query": {"edismax": {"qf": "text", "query": "red river"}},
        "limit": 3,
        "fields": ["id", "score"],
    },
    ("solr", "vector"): {
        "query": "{!knn f=embedding topK=3}[0.5,1.0]",
        "limit": 3,
        "fields": ["id", "score"],
    },
    ("vespa", "vector"): {
        "yql": "select id from items where "
        "{targetHits:3,hnsw.exploreAdditionalHits:0}nearestNeighbor(embedding,q)",
        "input.query(q)": VECTOR,
        "hits": 3,
        "ranking": "default",
        "presentation.timing": True,
    },
    ("typesense", "lexical"): {
        "searches": [
            {
                "collection": "items",
                "q": "red river",
                "query_by": "text",
                "per_page": 3,
                "include_fields": "id",
            }
        ]
    },
    ("lucene", "lexical"): None,
}


@pytest.mark.parametrize("name", presets())
def test_a_preset_sends_what_its_server_documents_and_reads_its_answer(
    name: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("TYPESENSE_API_KEY", "hunter2")
    with ScriptedServer(lambda *_: Reply(ANSWERS[name])) as server:
        for (_, kind), body in ((key, each) for key, each in REQUESTS.items() if key[0] == name):
            engine = open_engine(server.url, {"preset": name, "kind": kind})
            hits = ask(engine, 3)

            assert engine.kind == kind
            assert server.received[-1].body == body
            assert (hits.ids, hits.scores) == (["a"], [2.5])


@pytest.mark.parametrize("name", presets())
@pytest.mark.parametrize("kind", ["lexical", "vector", "hybrid"])
def test_every_search_of_a_preset_is_a_request_that_is_whole(
    name: str, kind: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("TYPESENSE_API_KEY", "hunter2")
    absent = {
        ("solr", "hybrid"),
        ("typesense", "hybrid"),
        ("lucene", "vector"),
        ("lucene", "hybrid"),
    }
    with ScriptedServer(lambda *_: Reply({}, status=500)) as server:
        if (name, kind) in absent:
            with pytest.raises(BadUsage, match=f"there is no {kind} search"):
                open_engine(server.url, {"preset": name, "kind": kind})
            return
        engine = open_engine(server.url, {"preset": name, "kind": kind})
        with pytest.raises(EngineFailure, match="HTTP 500"):
            ask(engine, 3)

    sent = f"{server.received[0].path} {server.received[0].body}"
    places = (
        "query}",
        "vector}",
        "k}",
        "index}",
        "text_field}",
        "vector_field}",
        "id_field}",
        "schema}",
        "collection}",
        "depth}",
    )
    assert not [place for place in places if "{" + place in sent]


def test_an_answer_of_vespa_without_hits_is_an_empty_list():
    with ScriptedServer(lambda *_: Reply({"root": {"fields": {"totalCount": 0}}})) as server:
        assert ask(open_engine(server.url, {"preset": "vespa"})).ids == []
