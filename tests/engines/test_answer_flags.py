"""Answers that an engine flags as partial, late, cut or failed are failures in its words;
conditions are read strictly.
"""

import gzip
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rankwell as rw
from rankwell.engines import EngineFailure, EngineQuery, open_engine
from rankwell.errors import BadInput
from rankwell.tasks.engine.measuring import EngineFailed
from scripted_server import Received, Reply, ScriptedServer

HITS: dict[str, Any] = {"hits": {"hits": [{"_id": "a", "_score": 2.5}]}}
HEALTHY = {
    "timed_out": False,
    "_shards": {"total": 3, "successful": 3, "skipped": 1, "failed": 0},
    **HITS,
}
LOST = {"total": 3, "successful": 2, "skipped": 0, "failed": 0}
SHARDS = {
    "total": 3,
    "successful": 1,
    "failed": 2,
    "failures": [{"shard": 1, "reason": {"type": "x", "reason": "node 7 left"}}],
}
CLUSTERS = {"total": 2, "successful": 1, "skipped": 0, "partial": 0, "failed": 0, "running": 0}
SOLR: dict[str, Any] = {"response": {"docs": [{"id": "a", "score": 1}]}}
SOLR_HEADER: dict[str, Any] = {"status": 0, "QTime": 5}
TYPESENSE: dict[str, Any] = {"hits": [{"document": {"id": "a"}, "text_match": 1}]}
CHILDREN = [{"fields": {"id": "a"}, "relevance": 1}]
COVERED = {
    "coverage": 100,
    "documents": 9,
    "full": True,
    "nodes": 1,
    "results": 1,
    "resultsFull": 1,
}
DEGRADED = {
    "match-phase": True,
    "timeout": False,
    "adaptive-timeout": False,
    "non-ideal-state": False,
}


def solr(**header: Any) -> dict[str, Any]:
    return {"responseHeader": {**SOLR_HEADER, **header}, **SOLR}


def vespa(**root: Any) -> dict[str, Any]:
    return {"root": {"coverage": COVERED, "children": CHILDREN, **root}}


WHOLE = [
    ("elasticsearch", HEALTHY),
    (
        "elasticsearch",
        {**HEALTHY, "_clusters": {**CLUSTERS, "successful": 2}, "terminated_early": False},
    ),
    ("opensearch", HEALTHY),
    ("solr", solr(partialResults=False)),
    ("typesense", {"results": [{**TYPESENSE, "search_cutoff": False}]}),
    ("vespa", vespa()),
    ("lucene", {"candidates": [{"docid": "a", "score": 1}], "error": None, "errors": []}),
]
FLAGGED: list[tuple[str, dict[str, Any], str]] = [
    (name, {**HEALTHY, **more}, said)
    for name in ("elasticsearch", "opensearch")
    for more, said in (
        ({"timed_out": True}, "timed_out is true"),
        ({"terminated_early": True}, "terminated_early is true"),
        ({"is_partial": True}, "is_partial is true"),
        (
            {"_shards": SHARDS},
            r'_shards.failed is 2; .*_shards.failures.0.reason.reason: "node 7 left"',
        ),
        ({"_shards": LOST}, "_shards.successful is 2 and _shards.total is 3"),
        ({"_clusters": {**CLUSTERS, "skipped": 1}}, "_clusters.skipped is 1"),
        ({"_clusters": {**CLUSTERS, "partial": 1}}, "_clusters.partial is 1"),
        (
            {"_clusters": {**CLUSTERS, "failed": 1, "details": {"eu": {"status": "failed"}}}},
            "_clusters.failed is 1.*eu",
        ),
        ({"error": {"reason": "no such index"}}, "error is .*no such index"),
    )
]
FLAGGED += [
    (
        "solr",
        solr(partialResults=True, partialResultsDetails="Limits exceeded!"),
        'partialResults is true; .*"Limits exceeded!"',
    ),
    ("solr", solr(partialResults="omitted"), 'partialResults is "omitted"'),
    ("solr", solr(segmentTerminatedEarly=True), "segmentTerminatedEarly is true"),
    ("solr", solr(maxHitsTerminatedEarly=True), "maxHitsTerminatedEarly is true"),
    ("solr", solr(status=500), "responseHeader.status is 500"),
    (
        "typesense",
        {"results": [{**TYPESENSE, "search_cutoff": True}]},
        "results.0.search_cutoff is true",
    ),
    ("typesense", {"results": [TYPESENSE], "search_cutoff": True}, ": search_cutoff is true"),
    (
        "typesense",
        {"results": [{"code": 404, "error": "Not found."}]},
        'results.0.error is "Not found."',
    ),
    (
        "vespa",
        vespa(errors=[{"code": 12, "message": "Error in search cluster"}]),
        "root.errors is .*Error in search cluster",
    ),
    ("vespa", vespa(coverage={**COVERED, "full": False}), "root.coverage.full is false"),
    (
        "vespa",
        vespa(coverage={**COVERED, "degraded": DEGRADED}),
        'root.coverage.degraded is {"match-phase": true',
    ),
    ("vespa", {"message": "unknown"}, "the answer has no root"),
    (
        "lucene",
        {"candidates": [], "error": "unknown index", "message": "it is not there"},
        'error is "unknown index"; message: "it',
    ),
    ("lucene", {"candidates": [], "errors": [{"message": "too long"}]}, "errors is .*too long"),
]


def ask_preset(name: str, answer: Any) -> Any:
    with (
        ScriptedServer(lambda *_: Reply(answer)) as server,
        open_engine(server.url, {"preset": name}).session() as session,
    ):
        return session.search(EngineQuery("q", "river", np.array([1.0])), 3)


@pytest.mark.parametrize(("name", "answer"), WHOLE)
def test_a_whole_answer_is_read(name: str, answer: Any, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TYPESENSE_API_KEY", "x")

    assert ask_preset(name, answer).ids == ["a"]


@pytest.mark.parametrize(("name", "answer", "said"), FLAGGED)
def test_a_flagged_answer_is_a_failure_in_the_words_of_the_engine(
    name: str, answer: Any, said: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("TYPESENSE_API_KEY", "x")

    with pytest.raises(EngineFailure, match=said):
        ask_preset(name, answer)


def opened(folder: Path, text: str, url: str = "http://127.0.0.1:1") -> Any:
    results = 'results = { list = "hits.hits", id = "_id", score = "_score" }\n'
    (folder / "own.toml").write_text(
        f'url = "{url}"\nbody = {{ q = "{{query}}" }}\n{results}{text}'
    )
    return open_engine(str(folder / "own.toml"))


def ask_own(folder: Path, text: str, answer: Any) -> Any:
    reply = answer if isinstance(answer, Reply) else Reply(answer)
    with (
        ScriptedServer(lambda *_: reply) as server,
        opened(folder, text, server.url).session() as session,
    ):
        return session.search(EngineQuery("q", "river"), 3)


@pytest.mark.parametrize("answer", [{**HEALTHY, "timed_out": True}, {**HEALTHY, "_shards": SHARDS}])
def test_a_file_without_conditions_has_those_of_all_presets(tmp_path: Path, answer: Any):
    with pytest.raises(EngineFailure, match="the engine flags its answer"):
        ask_own(tmp_path, "", answer)


@pytest.mark.parametrize(
    ("path", "flags", "said"),
    [
        ("hits", {"search_cutoff": True}, "search_cutoff is true"),
        ("hits", {"degraded": True}, "degraded is true"),
        ("hits", {"is_partial": True}, "is_partial is true"),
        ("hits", {"status": "partial"}, 'status is "partial"'),
        ("hits", {"status": {"total": 6, "failed": 2, "successful": 4}}, "status.failed is 2"),
        (
            "hits",
            {"warnings": [{"code": 3, "text": "shard 2 timed out"}]},
            "warnings is .*shard 2 timed out",
        ),
        ("hits", {"remoteErrors": {"eu": {"code": "x"}}}, "remoteErrors is .*eu"),
        ("response.hits", {"response": {"timed_out": True}}, "response.timed_out is true"),
        (
            "response.hits",
            {"response": {"_shards": SHARDS}},
            'response._shards.failed is 2.*: "node 7 left"',
        ),
        (
            "response.hits",
            {"response": {"_shards": LOST}},
            "response._shards.successful is 2 and response._shards.total is 3",
        ),
        ("response.hits", {"is_partial": True}, ": is_partial is true"),
        ("results.0.hits", {"results": [{"degraded": True}]}, "results.0.degraded is true"),
    ],
)
def test_a_known_flag_is_found_at_the_top_and_beside_the_hits(
    tmp_path: Path, path: str, flags: dict[str, Any], said: str
):
    with pytest.raises(
        EngineFailure, match=f"the engine flags its answer{said if said[0] == ':' else f'.*{said}'}"
    ):
        ask_at(tmp_path, path, flags)


@pytest.mark.parametrize(
    "flags",
    [
        {
            "degraded": False,
            "is_partial": False,
            "status": "ok",
            "warnings": [],
            "timed_out": False,
        },
        {
            "status": {"total": 6, "failed": 0, "successful": 6},
            "warnings": ["the option x is deprecated"],
            "remoteErrors": {},
        },
        {"status": 0, "warning": None, "meta": {"degraded": True}},
    ],
)
def test_an_answer_that_flags_no_loss_is_read(tmp_path: Path, flags: dict[str, Any]):
    assert ask_at(tmp_path, "hits", flags).ids == ["a"]


def ask_at(folder: Path, path: str, flags: dict[str, Any]) -> Any:
    hits: list[Any] = [{"id": "a"}]
    answer: Any = {**flags}
    if path == "hits":
        answer["hits"] = hits
    elif path == "response.hits":
        answer["response"] = {**flags.get("response", {}), "hits": hits}
    else:
        answer["results"] = [{**flags["results"][0], "hits": hits}]
    (folder / "own.toml").write_text(
        f'body = {{ q = "{{query}}" }}\nresults = {{ list = "{path}", id = "id" }}\n'
    )
    with ScriptedServer(lambda *_: Reply(answer)) as server:
        session = open_engine(str(folder / "own.toml"), {"url": server.url}).session()
        with session:
            return session.search(EngineQuery("q", "river"), 3)


def test_an_answer_with_the_status_of_a_part_is_a_failure(tmp_path: Path):
    with pytest.raises(EngineFailure, match="HTTP 206 Partial Content"):
        ask_own(tmp_path, "fail_if = []\n", Reply(HITS, status=206))


def test_conditions_of_a_file_take_the_place_of_the_known_ones(tmp_path: Path):
    assert ask_own(tmp_path, "fail_if = []\n", {**HEALTHY, "timed_out": True}).ids == ["a"]
    with pytest.raises(EngineFailure, match="error is true"):
        ask_own(tmp_path, "fail_if = []\n", {**HEALTHY, "error": True})


@pytest.mark.parametrize(
    ("condition", "holding", "others"),
    [
        ("partial", [True, 1, "yes", [0], {"a": 0}], [False, 0, 0.0, None, "", [], {}]),
        ("partial == true", [True], [1, "true", False, None]),
        ("partial != 0", [1, "0", False, None], [0, 0.0]),
        ('partial == "a < b"', ["a < b"], ["a", True]),
        ("partial == null", [None], [0, False]),
        ("partial>1.5", [2, 1.6], [1.5, 1, -3]),
        ("partial >= 2", [2, 3], [1]),
        ("partial < 0", [-1], [0]),
        ("partial <= -1", [-1], [0]),
        ("partial < hits.total", [1], [2, 3]),
        ("partial == hits.hits.0._id", ["a"], ["b"]),
    ],
)
def test_a_condition_holds_for_the_values_that_it_says(
    tmp_path: Path, condition: str, holding: list[Any], others: list[Any]
):
    def ask(value: Any) -> Any:
        answer = {"partial": value, "hits": {**HITS["hits"], "total": 2}}
        return ask_own(tmp_path, f"fail_if = ['{condition}']\n", answer)

    for value in holding:
        with pytest.raises(EngineFailure, match="the engine flags its answer: partial is"):
            ask(value)
    for value in others:
        assert ask(value).ids == ["a"]
    assert ask_own(tmp_path, f"fail_if = ['{condition}']\n", HITS).ids == [
        "a"
    ]  # what is absent says nothing


def test_a_flag_that_cannot_be_compared_is_a_failure(tmp_path: Path):
    with pytest.raises(EngineFailure, match='fail_if compares numbers with >, but partial is "2"'):
        ask_own(tmp_path, 'fail_if = ["partial > 0"]\n', {**HITS, "partial": "2"})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('fail_if = "timed_out"', "fail_if is 'timed_out'; expected a list of strings"),
        ("fail_if = [1]", r"fail_if is \[1\]; expected a list of strings"),
        ('fail_if = [""]', "fail_if has ''; expected a path"),
        ('fail_if = ["a..b"]', "fail_if has 'a..b'; expected a path"),
        ('fail_if = ["timed_out = true"]', "fail_if has 'timed_out = true'; expected a path"),
        ('fail_if = ["a => 1"]', "fail_if has 'a => 1'; expected a path"),
        ('fail_if = ["a > 1 or b"]', "fail_if has 'a > 1 or b'; 1 or b is not"),
        ('fail_if = ["a is true"]', "fail_if has 'a is true'; expected a path"),
        ('fail_if = ["a == True"]', "True is not a number, true, false"),
        ('fail_if = ["a == ok"]', "ok is not a number, true, false"),
        ('fail_if = ["a > NaN"]', "NaN is not a number"),
        ('fail_if = ["a > true"]', "> compares numbers"),
        ("fail_if = [\"__import__('os')\"]", "expected a path"),
        ("fail_reason = ['a b']", "fail_reason has 'a b'; expected a path"),
        ("fail-if = []", "unknown key 'fail-if'; did you mean 'fail_if'"),
        (
            "[lexical]\nfail_fi = []",
            "unknown key 'lexical.fail_fi'; did you mean 'lexical.fail_if'|did you mean 'fail_if'",
        ),
        ("lexical = 3", "lexical is 3; expected a table"),
        (
            "version = { path = '/', valu = 'x' }",
            "unknown key 'version.valu'; did you mean 'value'",
        ),
        ("method = 'FETCH'", "method is 'FETCH'; expected GET, POST, PUT"),
    ],
)
def test_a_condition_that_cannot_be_read_is_refused(tmp_path: Path, text: str, message: str):
    with pytest.raises(BadInput, match=message):
        opened(tmp_path, text)


def test_a_flagged_answer_of_chroma_is_a_failure():
    def answer(_: int, request: Received) -> Reply:
        if request.method == "GET":
            return Reply(
                {"id": "key", "dimension": 2, "configuration_json": {"hnsw": {"space": "l2"}}}
            )
        return Reply(
            {
                "ids": [["a"]],
                "distances": [[0.5]],
                "error": "InternalError",
                "message": "segment 3 is gone",
            }
        )

    said = 'error is "InternalError"; message: "segment 3 is gone"'
    with (
        ScriptedServer(answer) as server,
        open_engine(f"chroma:{server.url}", {"collection": "shop"}) as engine,
        engine.session() as session,
        pytest.raises(EngineFailure, match=said),
    ):
        session.search(EngineQuery("q", vector=np.array([0.5, 1])), 1)


def test_a_flagged_answer_of_qdrant_is_a_failure():
    pytest.importorskip("qdrant_client")
    described = {
        "result": {
            "status": "green",
            "optimizer_status": "ok",
            "segments_count": 1,
            "payload_schema": {},
            "config": {
                "params": {"vectors": {"size": 2, "distance": "Dot"}},
                "hnsw_config": {"m": 16, "ef_construct": 100},
                "optimizer_config": {},
            },
        },
        "status": "ok",
        "time": 0,
    }
    failed = {"result": None, "status": {"error": "shard 1 is dead"}, "time": 0}
    with ScriptedServer(
        lambda _, request: Reply(described if request.method == "GET" else failed)
    ) as server:
        try:
            engine = open_engine(f"qdrant:{server.url}", {"collection": "shop"})
        except EngineFailure:
            pytest.skip("the client reads another description")
        with engine.session() as session, pytest.raises(EngineFailure):
            session.search(EngineQuery("q", vector=np.array([0.5, 1])), 1)


@pytest.mark.parametrize(
    "whole", [{"took": 3, "timed_out": True, "hits": []}, {"error": "x"}, {"d1": 0.5}]
)
def test_a_mapping_that_an_object_returns_is_refused_as_ids(whole: Any):
    with pytest.raises(EngineFailed, match="returned the mapping"):
        rw.evaluate_engine(
            lambda query, k: whole, {"q": "river"}, qrels={"q": {"d1": 1}}, measures="RR", rounds=1
        )


def test_other_numbers_of_ids_and_scores_are_a_failure(tmp_path: Path):
    results = 'results = { ids = "ids", scores = "scores" }\n'
    (tmp_path / "own.toml").write_text(f'body = {{ q = "{{query}}" }}\n{results}')
    with ScriptedServer(lambda *_: Reply({"ids": ["a", "b"], "scores": [1]})) as server:
        session = open_engine(str(tmp_path / "own.toml"), {"url": server.url}).session()
        with session, pytest.raises(EngineFailure, match="2 ids and 1 scores; expected as many"):
            session.search(EngineQuery("q", "river"), 3)


RAW = b'{"hits": {"hits": [{"_id": "a", "_score": 2.5}]}}'


@pytest.mark.parametrize(
    ("body", "encoding"),
    [
        (gzip.compress(RAW, mtime=0), {"Content-Encoding": "gzip"}),
        (gzip.compress(RAW, mtime=0), {}),
        (zlib.compress(RAW), {"Content-Encoding": "Deflate"}),
        (zlib.compress(RAW)[2:-4], {"Content-Encoding": "deflate"}),
        (RAW, {"Content-Encoding": "identity"}),
    ],
)
def test_an_answer_that_is_compressed_against_the_request_is_read(
    tmp_path: Path, body: bytes, encoding: dict[str, str]
):
    assert ask_own(tmp_path, "", Reply(body, headers=encoding)).ids == ["a"]


@pytest.mark.parametrize(
    ("body", "encoding", "message"),
    [
        (RAW, "br", r"compressed \(br\), although the request excludes that"),
        (RAW, "zstd", r"compressed \(zstd\)"),
        (b"{}" + RAW, "gzip", "is said to be gzip, and is not"),
        (gzip.compress(RAW, mtime=0)[:-9], "gzip", "ends before its compression does"),
    ],
    ids=["br", "zstd", "plain", "cut"],
)
def test_a_compression_that_cannot_be_undone_is_named(
    tmp_path: Path, body: bytes, encoding: str, message: str
):
    with pytest.raises(EngineFailure, match=message):
        ask_own(tmp_path, "", Reply(body, headers={"Content-Encoding": encoding}))


def test_an_answer_that_unpacks_to_more_than_is_read_is_refused(tmp_path: Path):
    body = gzip.compress(bytes((1 << 28) + 1), compresslevel=1)
    with pytest.raises(EngineFailure, match="the answer has more than 256 MiB"):
        ask_own(tmp_path, "", Reply(body, headers={"Content-Encoding": "gzip"}))


def test_the_words_of_a_compressed_error_are_read(tmp_path: Path):
    reply = Reply(
        gzip.compress(b"the index is closed"), status=503, headers={"Content-Encoding": "gzip"}
    )
    with pytest.raises(EngineFailure, match="HTTP 503 Service Unavailable: the index is closed"):
        ask_own(tmp_path, "", reply)


def test_a_request_without_a_body_is_sent_as_get(tmp_path: Path):
    with ScriptedServer(lambda *_: Reply({"ids": ["a"]})) as server:
        for more in ("", 'method = "GET"\n', 'method = "POST"\n'):
            (tmp_path / "own.toml").write_text(
                f'path = "/find?q={{query}}"\nresults = {{ ids = "ids" }}\n{more}'
            )
            with open_engine(str(tmp_path / "own.toml"), {"url": server.url}).session() as session:
                assert session.search(EngineQuery("q", "red river"), 3).ids == ["a"]

    assert [(each.method, each.path, each.body) for each in server.received] == [
        (method, "/find?q=red%20river", None) for method in ("GET", "GET", "POST")
    ]


@pytest.mark.parametrize("status", [401, 403, 404, 500])
def test_a_version_or_count_that_the_server_keeps_for_itself_is_a_note(status: int):
    def answer(_: int, request: Received) -> Reply:
        return (
            Reply(HEALTHY)
            if request.path.endswith("_search")
            else Reply("not for this key", status=status)
        )

    with ScriptedServer(answer) as server:
        result = rw.evaluate_engine(
            server.url,
            {"q": "river"},
            option={"preset": "elasticsearch"},
            qrels={"q": {"a": 1}},
            measures="RR",
            rounds=1,
        )

    assert result["RR"] == 1.0
    for name in ("version", "count"):
        assert any(
            f"the {name} of the server is unknown: HTTP {status}" in note for note in result.notes
        ), result.notes


def test_a_version_that_is_not_where_it_should_be_is_a_note():
    with ScriptedServer(lambda *_: Reply({"tagline": "another server"})) as server:
        described = open_engine(server.url, {"preset": "elasticsearch"}).describe()

    assert described["version"] is None
    assert (
        "the version of the server is unknown: the answer has no version.number"
        in described["notes"][0]
    )
    with pytest.raises(EngineFailure, match="refused"):
        open_engine(server.url, {"preset": "elasticsearch"}).describe()


def test_chroma_without_a_version_is_asked_all_the_same():
    def answer(_: int, request: Received) -> Reply:
        if "/collections/" not in request.path or request.path.endswith("count"):
            return Reply({"error": "Forbidden"}, status=403)
        if request.method == "GET":
            return Reply(
                {"id": "key", "dimension": 2, "configuration_json": {"hnsw": {"space": "l2"}}}
            )
        return Reply({"ids": [["a"]], "distances": [[0.5]]})

    with (
        ScriptedServer(answer) as server,
        open_engine(f"chroma:{server.url}", {"collection": "shop"}) as engine,
    ):
        with engine.session() as session:
            assert session.search(EngineQuery("q", vector=np.array([0.5, 1])), 1).ids == ["a"]
        described = engine.describe()

    assert (described["version"], described["items"]) == (None, None)
    assert [note.partition(":")[0] for note in described["notes"]] == [
        "the count of the server is unknown",
        "the version of the server is unknown",
    ]


class Vectors:
    """A class whose search takes a vector."""

    def search(self, query: Any, k: int) -> list[tuple[str, float]]:
        """The items by the vector's parts."""
        return [
            (f"d{place}", float(query[place])) for place in np.argsort(-query, kind="stable")[:k]
        ]


@pytest.mark.parametrize("engine", [Vectors, Vectors(), f"{__name__}:Vectors"])
def test_the_search_of_a_class_takes_vectors_where_they_are_chosen(engine: Any):
    with open_engine(engine, {"takes": "vector"}).session() as session:
        assert session.search(EngineQuery("q", vector=np.array([0.5, 2.0, 1.0])), 2).ids == [
            "d1",
            "d2",
        ]
    result = rw.evaluate_engine(
        Vectors(),
        {"q": "river"},
        query_vectors={"q": [0.5, 2.0]},
        option={"takes": "vector"},
        qrels={"q": {"d1": 1}},
        rounds=1,
    )
    assert result.values
