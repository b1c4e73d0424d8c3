"""Engines that flag an answer as not whole, notes that `evaluate` alone gave, gates on times, and
interruptions.
"""

import json
from typing import Any

from hardening.cases import Case, Write, text_files

_SERVED = '''
import gzip, json, os, signal, subprocess, sys, threading, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

script = json.loads(open("script.json").read())


class Handler(BaseHTTPRequestHandler):
    """Every third search has the flagged answer; other requests are those of version and count."""

    protocol_version = "HTTP/1.1"
    searches = 0

    def answer(self):
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        status, body = 200, script["about"]
        if self.path.endswith(script["search"]):
            Handler.searches += 1
            body = script["flagged" if Handler.searches % 3 == 0 else "whole"]
            status = 501 if self.command in script["refused"] else 200
        elif body is None:
            status = 403
        content = json.dumps(body).encode()
        self.send_response(status)
        if script["is_zipped"]:
            content = gzip.compress(content)
            self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_POST = answer

    def log_message(self, *words): ...


def started(line):
    words = [sys.executable, "-m", "rankwell", *line.split()]
    paths = os.pathsep.join([os.getcwd(), os.environ.get("PYTHONPATH", "")])
    return subprocess.Popen(words, env={**os.environ, "TYPESENSE_API_KEY": "x", "PYTHONPATH": paths}, start_new_session=True)


def served(line):
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sys.exit(started(line.replace("URL", f"http://127.0.0.1:{server.server_address[1]}")).wait())


def interrupted(line):
    child = started(line)
    while not (os.path.exists("asked.txt") and len(open("asked.txt").readlines()) > 9):
        time.sleep(0.02)
    os.killpg(child.pid, signal.SIGINT)
    print("exit", child.wait(), flush=True)
    started(line).wait()
    print(len(open("asked.txt").readlines()), "asked")
'''  # noqa: E501
_QUERIES = "".join(f"q{row}\ttext {row}\n" for row in range(30))
_QRELS = "".join(f"q{row} 0 a 1\n" for row in range(30))
_JUDGED = "--queries queries.tsv --qrels qrels -m RR --rounds 1 --warm-up 0"


def _served(line: str) -> str:
    return f"python: exec(open('served.py').read()); served('engine run {line} {_JUDGED}')"


def _world(
    whole: Any, flagged: Any = None, about: Any = None, search: str = "", **more: Any
) -> Write:
    """A server whose every third answer is flagged, judgments and queries."""
    script = {
        "whole": whole,
        "flagged": whole if flagged is None else flagged,
        "about": about,
        "search": search,
    }
    script |= {"refused": [], "is_zipped": False, **more}
    files = {
        "served.py": _SERVED,
        "queries.tsv": _QUERIES,
        "qrels": _QRELS,
        "script.json": json.dumps(script),
    }
    return text_files({**files, "own.toml": _OWN})


_OWN = """path = "/find?q={query}&all=hits"
results = { list = "hits", id = "id" }
"""
_SHARDS = {"total": 3, "successful": 3, "skipped": 0, "failed": 0}
_WHOLE = {"timed_out": False, "_shards": _SHARDS, "hits": {"hits": [{"_id": "a", "_score": 2.0}]}}
_EMPTY = {**_WHOLE, "hits": {"hits": []}}
_ABOUT = {"version": {"number": "9"}, "count": 3}
_FAILURES = [{"reason": {"reason": "node 7 left"}}]
_LOST = {**_EMPTY, "_shards": {**_SHARDS, "successful": 1, "failed": 2, "failures": _FAILURES}}
_COVERED = {"coverage": 100, "full": True}
_VESPA = {"root": {"coverage": _COVERED, "children": [{"fields": {"id": "a"}, "relevance": 2.0}]}}
_SOLR = {"responseHeader": {"status": 0}, "response": {"docs": [{"id": "a", "score": 2.0}]}}
_TYPESENSE = {"results": [{"hits": [{"document": {"id": "a"}, "text_match": 2}]}]}
_CUT = {"results": [{"hits": [], "search_cutoff": True}]}
_SOLR_ABOUT = {"lucene": {"solr-spec-version": "9"}, "response": {"numFound": 3}}
_VESPA_ABOUT = {"application": {"vespa": {"version": "8"}}, "root": {"fields": {"totalCount": 3}}}
_PARTIAL = {
    "responseHeader": {
        "status": 0,
        "partialResults": True,
        "partialResultsDetails": "Limits exceeded!",
    }
}
_FAILED = "queries failed.*the engine flags its answer: "
FLAGGED = [
    Case(
        "failed shards are a short list",
        _served("URL --option preset=elasticsearch"),
        _world(_WHOLE, _LOST, _ABOUT, "_search"),
        shows=_FAILED + "_shards.failed is 2.*node 7 left",
    ),
    Case(
        "shards that are not there are a short list",
        _served("URL --option preset=opensearch"),
        _world(_WHOLE, {**_EMPTY, "_shards": {**_SHARDS, "successful": 2}}, _ABOUT, "_search"),
        shows=_FAILED + "_shards.successful is 2 and _shards.total is 3",
    ),
    Case(
        "a search that timed out is an empty list",
        _served("URL --option preset=elasticsearch"),
        _world(_WHOLE, {**_EMPTY, "timed_out": True}, _ABOUT, "_search"),
        shows=_FAILED + "timed_out is true",
    ),
    Case(
        "partial results of Solr are an empty list",
        _served("URL --option preset=solr"),
        _world(_SOLR, {**_PARTIAL, "response": {"docs": []}}, _SOLR_ABOUT, "/query"),
        shows=_FAILED + "responseHeader.partialResults is true.*Limits exceeded!",
    ),
    Case(
        "a search that Typesense cut off is an empty list",
        _served("URL --option preset=typesense"),
        _world(_TYPESENSE, _CUT, {"version": "27", "num_documents": 3}, "multi_search"),
        shows=_FAILED + "results.0.search_cutoff is true",
    ),
    Case(
        "degraded coverage of Vespa is an empty list",
        _served("URL --option preset=vespa"),
        _world(
            _VESPA, {"root": {"coverage": {"coverage": 7, "full": False}}}, _VESPA_ABOUT, "/search/"
        ),
        shows=_FAILED + "root.coverage.full is false",
    ),
    *(
        Case(
            f"an answer flagged with {json.dumps(flags)}",
            _served("own.toml --url URL"),
            _world({"hits": [{"id": "a"}]}, {"hits": [], **flags}, search="all=hits"),
            shows=_FAILED + next(iter(flags)),
        )
        for flags in (
            {"search_cutoff": True},
            {"is_partial": True},
            {"degraded": True},
            {"status": "partial"},
        )
    ),
    Case(
        "an error beside an empty list",
        _served("own.toml --url URL"),
        _world(
            {"hits": [{"id": "a"}]},
            {"hits": [], "errors": [{"message": "no such index"}]},
            search="all=hits",
        ),
        shows=_FAILED + "errors is .*no such index",
    ),
]
SERVERS = [
    Case(
        "a key that may only search one index",
        _served("URL --option preset=elasticsearch"),
        _world(_WHOLE, search="_search"),
        codes=(0,),
        shows="the version of the server is unknown: HTTP 403",
    ),
    Case(
        "an answer that is compressed although none was requested",
        _served("URL --option preset=elasticsearch"),
        _world(_WHOLE, about=_ABOUT, search="_search", is_zipped=True),
        codes=(0,),
        shows=r"RR +1\.000 ",
    ),
    Case(
        "a server that takes a search by its address alone",
        _served("own.toml --url URL"),
        _world({"hits": [{"id": "a"}]}, search="all=hits", refused=["POST"]),
        codes=(0,),
        shows=r"RR +1\.000 ",
    ),
    Case(
        "a class whose search takes vectors",
        "python: exec(open('served.py').read()); "
        "served('engine check mine:Nearest --option takes=vector --query-vectors queries.npy')",
        lambda folder: _vectors(folder),
        codes=(0,),
        shows="closed twice +ok",
    ),
]


def _vectors(folder: Any) -> None:
    import numpy as np

    _world({})(folder)
    np.save(folder / "queries.npy", np.eye(3, dtype=np.float32))
    lines = (
        "class Nearest:\n    def search(self, query, k):\n        return "
        "[(f'd{int(query.argmax())}', 1.0)][:k]\n"
    )
    (folder / "mine.py").write_text(lines)


_ENGINE = "def search(query, k):\n    return [f'x{query[5:]}', 'y'][:k]\n"
NOTES = [
    Case(
        "retrieve says nothing of ids that are judged nowhere",
        f"python: exec(open('served.py').read()); served('engine run mine:search {_JUDGED}')",
        lambda folder: (_world({})(folder), (folder / "mine.py").write_text(_ENGINE)),
        codes=(0,),
        shows="none of its items is judged for its query",
    ),
    Case(
        "retrieve says nothing of unjudged items in front",
        f"python: exec(open('served.py').read()); "
        f"served('engine run mine:search {_JUDGED} -m P@2')",
        lambda folder: (
            _world({})(folder),
            (folder / "qrels").write_text(f"{_QRELS}q0 0 b 0\n"),
            (folder / "mine.py").write_text(_ENGINE.replace("'y'", "'a'")),
        ),
        codes=(0,),
        shows="object: P@2 is between 0.5000 and 1.0000: 50 % of its first 2 are unjudged",
    ),
]
_SLOW = """import time


def search(query, k):
    with open("asked.txt", "a") as stream:
        stream.write(query + chr(10))
    time.sleep(0.05)
    return ["a"][:k]


def slower(query, k):
    time.sleep(0.005)
    return ["a"][:k]


def faster(query, k):
    return ["a"][:k]
"""
_RUN = (
    "started('engine run mine:{} --queries queries.tsv --qrels qrels -m P@1 --rounds 1 -o "
    "{}').wait(); "
)
OTHERS = [
    Case(
        "Ctrl-C says nothing, and loses answers that had come",
        f"python: exec(open('served.py').read()); interrupted('engine run mine:search {_JUDGED} "
        "-o out')",
        lambda folder: (_world({})(folder), (folder / "mine.py").write_text(_SLOW)),
        codes=(0,),
        shows=r"rankwell: interrupted; [\s\S]*exit 130[\s\S]*\n30 asked",
        seconds=120,
    ),
    Case(
        "a gate on one engine fails for the load of the machine",
        "python: exec(open('served.py').read()); "
        + _RUN.format("faster", "one")
        + _RUN.format("slower", "two")
        + "served('gate two --baseline one')",
        lambda folder: (_world({})(folder), (folder / "mine.py").write_text(_SLOW)),
        codes=(0,),
        shows="latency: times differ from call to call",
        hides="FAILED|Traceback",
        seconds=120,
    ),
]
CASES: list[Case] = [*FLAGGED, *SERVERS, *NOTES, *OTHERS]
