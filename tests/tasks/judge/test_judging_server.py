"""The server of a judge: who may speak to it, what it writes before it answers, and what it never
shows.
"""

import errno
import http.client
import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rankwell.io.result_folder import digest_of
from rankwell.tasks.judge import judging_session
from rankwell.tasks.judge.folder import read_journals
from tasks.judge.judging import Client, lines_of, serving
from tasks.judge.studies import pool_study, write_world


@pytest.fixture
def study(tmp_path: Path) -> Path:
    write_world(tmp_path, queries=10)
    return pool_study(tmp_path, batch_size=20)


@pytest.fixture
def client(study: Path) -> Iterator[Client]:
    with serving(study) as server:
        client = Client(server)
        client.enter()
        yield client


def test_the_token_opens_once_and_becomes_a_strict_cookie(study: Path):
    with serving(study) as server:
        client = Client(server)

        before = client.send("GET", "/")[0]
        wrong = client.enter("wrong")[0]
        status, headers, text = client.enter()
        again = Client(server).enter()

        assert (before, wrong, status) == (403, 403, 200)
        assert re.fullmatch(
            rf"rankwell-{server.server_port}=[\w-]{{43}}; HttpOnly; SameSite=Strict; Path=/",
            headers["Set-Cookie"],
        )
        assert 'location.replace("/")' in text
        assert again[0] == 403
        assert "Set-Cookie" not in again[1]
        assert client.send("GET", "/")[0] == 200


def test_a_connection_that_a_browser_keeps_open_ends_with_the_server(study: Path):
    threads = threading.active_count()
    with serving(study) as server:
        connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=20)
        connection.request("GET", "/")
        connection.getresponse().read()

    assert connection.sock is not None
    assert connection.sock.recv(1) == b""
    assert threading.active_count() == threads
    connection.close()


def test_the_policy_allows_only_what_the_page_holds(client: Client):
    status, headers, text = client.send("GET", "/")

    policy = headers["Content-Security-Policy"]
    assert status == 200
    assert policy.startswith(
        "default-src 'none'; connect-src 'self'; img-src 'self' data:; script-src 'sha256-"
    )
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert headers["Cache-Control"] == "no-store"
    assert not re.search(r"\son\w+=|style=|https?://(?!www\.w3\.org)", text), (
        "handlers, styles and addresses have no place here"
    )


FOREIGN: dict[str, tuple[str, dict[str, Any], int]] = {
    "another host": ("GET", {"Host": "evil.example"}, 421),
    "another name of this machine": ("GET", {"Host": "localhost:80"}, 421),
    "no host": ("GET", {"Host": None}, 421),
    "another page reads": ("GET", {"Origin": "http://evil.example"}, 403),
    "another page writes": ("POST", {"Origin": "http://evil.example"}, 403),
    "a page of no origin": ("POST", {"Origin": "null"}, 403),
    "no page": ("POST", {"Origin": None}, 403),
    "a wrong cookie": ("POST", {"Cookie": "rankwell-1=x"}, 403),
    "a broken cookie": ("POST", {"Cookie": "=;=\x01"}, 403),
    "a form": ("POST", {"Content_Type": "text/plain"}, 415),
}


@pytest.mark.parametrize("who", FOREIGN)
def test_a_foreign_request_is_refused_and_writes_nothing(client: Client, study: Path, who: str):
    method, headers, expected = FOREIGN[who]
    act = {"turn": 1, "ask": 0, "seen": None, "grade": 1, "note": "", "seconds": 1}

    status, _, text = client.send(method, "/act" if method == "POST" else "/state", act, **headers)

    assert status == expected, text
    assert lines_of(study) == []


def test_the_token_of_another_site_is_refused(study: Path):
    with serving(study) as server:
        assert Client(server).enter(origin="http://evil.example")[0] == 403
        assert Client(server).enter()[0] == 200


NO_ACTS: list[dict[str, Any]] = [
    {},
    {"grade": 7},
    {"grade": True},
    {"action": "stop"},
    {"grade": 1, "action": "open"},
    {"grade": 1, "seconds": -1},
    {"grade": 1, "note": 3},
    {"grade": 1, "seconds": "NaN"},
    {"grade": 1, "ask": "0"},
    {"grade": 1, "seen": []},
]


def test_a_request_that_is_too_long_or_no_act_is_refused(client: Client, study: Path):
    assert client.send("POST", "/act", "x" * 200_000)[0] == 413
    assert client.send("POST", "/act", "{")[0] == 400
    for wrong in NO_ACTS:
        status, text = client.act(**{"ask": 0, **wrong})
        assert status == 400, (wrong, text)
    assert client.send("GET", "/judgments/ann.jsonl")[0] == 404
    assert client.send("GET", "/items/1/../0")[0] == 404
    assert lines_of(study) == []


def test_each_act_is_a_line_with_the_keys_of_the_journal(client: Client, study: Path):
    assert client.act(0, grade=2, note="clear") == (
        200,
        {"answer": 2.0, "postponed": 0, "note": "clear"},
    )
    assert client.act(1, action="postpone")[0] == 200
    assert client.act(1, action="open")[0] == 200
    assert client.act(2, action="unknown")[0] == 200
    assert client.act(2, seen="unknown", action="note", note="why")[0] == 200
    assert client.act(0, seen=2, grade=0)[0] == 200

    lines = lines_of(study)
    assert list(lines[0]) == [
        "time",
        "judge",
        "query",
        "item",
        "grade",
        "note",
        "seconds",
        "place",
        "guideline",
    ]
    assert [line.get("grade", line.get("action")) for line in lines] == [
        2.0,
        "postpone",
        "open",
        "unknown",
        "note",
        0.0,
    ]
    assert [line["place"] for line in lines] == [1, 2, 3, 4, 5, 6]
    assert {line["guideline"] for line in lines} == {digest_of(study / "guideline.md")}
    assert [ask[0] for ask in client.get("/state")["asks"][:3]] == [0.0, "open", "unknown"]


def test_a_line_is_on_the_disk_before_the_answer(client: Client, monkeypatch: pytest.MonkeyPatch):
    synced = list[int]()
    monkeypatch.setattr("os.fsync", lambda handle: synced.append(os.fstat(handle).st_size))

    client.act(0, grade=1)

    assert synced[0] > 0


def test_a_full_disk_is_one_sentence_and_the_answer_can_be_given_again(
    client: Client, study: Path, monkeypatch: pytest.MonkeyPatch
):
    def _full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(judging_session, "append_lines", _full)
        assert client.act(0, grade=1) == (507, "No space left on device")
    assert client.get("/state")["asks"][0][0] is None
    assert client.act(0, grade=1)[0] == 200
    assert len(lines_of(study)) == 1


def test_a_second_window_cannot_overwrite_what_it_has_not_seen(client: Client, study: Path):
    client.act(0, grade=1)

    assert client.act(0, grade=3)[0] == 409
    assert client.act(0, turn=2, grade=3)[0] == 409
    assert client.act(99, grade=3)[0] == 409
    assert [line["grade"] for line in lines_of(study)] == [1.0]


def test_nothing_shows_runs_ranks_scores_or_chances(study: Path, client: Client):
    state = client.get("/state")
    texts = json.dumps(
        [state, *(client.get(f"/items/1/{ask}") for ask in range(len(state["asks"])))]
    )

    assert set(state) == {
        "turn",
        "asks",
        "batch",
        "batches",
        "left",
        "judge",
        "study",
        "grades",
        "guideline",
    }
    assert set(client.get("/items/1/0")["query"]) == {"text", "fields"}
    assert set(client.get("/items/1/0")["item"]) == {"text", "fields"}
    assert not re.search(r"run|rank|score|prior|size|u_", texts)


def test_a_finished_batch_is_followed_by_the_next_until_nothing_is_left(
    client: Client, study: Path
):
    turn = 1
    while asks := client.get("/state")["asks"]:
        assert client.get("/state")["batch"] == turn
        assert json.loads(client.send("POST", "/next", {"turn": turn})[2])["turn"] == turn, (
            "an unfinished batch stays"
        )
        for ask in range(len(asks)):
            client.act(ask, turn=turn, grade=ask % 4)
        client.send("POST", "/next", {"turn": turn})
        turn += 1

    judged = {(line["query"], line["item"]) for line in lines_of(study)}
    assert turn > 3
    assert len(judged) == len(lines_of(study))
    state = client.get("/state")
    assert (state["left"], state["asks"]) == (0, [])


def test_a_session_goes_on_where_the_last_one_was_killed(study: Path):
    with serving(study) as server:
        client = Client(server)
        client.enter()
        client.act(0, grade=1, note="kept")
        client.act(1, action="postpone")
        before = client.get("/items/1/3")
    with (study / "judgments" / "ann.jsonl").open("a") as file:
        file.write('{"time": "2026')

    with serving(study) as server:
        client = Client(server)
        client.enter()
        asks = client.get("/state")["asks"]
        assert asks[0] == [1.0, 0, "kept"]
        assert asks[1][1] > 0
        assert client.get("/items/1/3") == before
        client.act(2, grade=0)
    assert len(lines_of(study)) == 3, "the torn line is gone"


def test_an_open_connection_writes_nothing_after_the_end(study: Path):
    with serving(study) as server:
        client = Client(server)
        client.enter()
        session = server.session

    with pytest.raises(OSError, match="the session has ended"):
        session.act(judging_session.JudgingAct(1, 0, None, 1.0, "", "", 1.0))
    assert lines_of(study) == []


def test_two_judges_have_batches_of_their_own(study: Path):
    with serving(study) as one, serving(study, "ben") as other:
        clients = [Client(one), Client(other)]
        for client in clients:
            client.enter()
        assert [client.get("/state")["batch"] for client in clients] == [1, 2]
        assert clients[0].send("GET", "/state", Cookie=clients[1].cookie)[0] == 403


def test_pictures_titles_answers_and_columns_are_shown_and_a_missing_picture_is_named(
    tmp_path: Path,
):
    image = pytest.importorskip("PIL.Image")
    write_world(tmp_path, queries=2)
    (tmp_path / "documents.jsonl").write_text(
        "".join(
            json.dumps(
                {
                    "id": f"d{n:03}",
                    "text": f"the text {n}",
                    "title": f"T{n}",
                    "answer": "text",
                    "page": n,
                }
            )
            + "\n"
            for n in range(0, 300, 2)
        )
    )
    (tmp_path / "img").mkdir()
    for n in range(0, 300, 4):
        image.new("RGB", (2000, 1000), (n % 255, 90, 120)).save(tmp_path / "img" / f"d{n:03}.jpg")
    (tmp_path / "img" / "d002.jpg").write_bytes(b"broken")
    import tasks.judge.studies as studies

    studies.pool(
        *(str(tmp_path / f"{run}.run") for run in "ab"),
        output=tmp_path / "study",
        queries=str(tmp_path / "queries.tsv"),
        documents=str(tmp_path / "documents.jsonl"),
        thumbnails=str(tmp_path / "img"),
    )

    with serving(tmp_path / "study") as server:
        client = Client(server)
        client.enter()
        shown = [
            client.get(f"/items/1/{ask}")["item"]
            for ask in range(len(client.get("/state")["asks"]))
        ]

    pictured = [item for item in shown if "picture" in item]
    assert pictured
    assert all(item["picture"].startswith("data:image/jpeg;base64,") for item in pictured)
    bare = [item for item in shown if "id" in item]
    assert bare
    assert all(item == {"fields": [], "missing": "no file", "id": item["id"]} for item in bare)
    texts = [item for item in shown if "text" in item]
    assert all(
        item["answer"] == "text" and item["fields"] == [["page", item["title"][1:]]]
        for item in texts
    )
    assert any(item.get("missing") == "no file" for item in texts)


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT for one process")
def test_the_command_serves_until_interrupted_and_refuses_a_second_server(study: Path):
    command = [sys.executable, "-m", "rankwell", "judge", "label", str(study), "--judge", "ann"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        line = process.stderr.readline()
        found = re.search(
            r"judging as ann at http://127\.0\.0\.1:\d+: open (\S+) in a browser; Ctrl-C ends it",
            line,
        )
        assert found, line
        assert Path(found[1]).stat().st_mode & 0o777 == 0o600

        second = subprocess.run(command, capture_output=True, text=True, check=False)
        process.send_signal(signal.SIGINT)
        rest = process.stderr.read()
        code = process.wait()

    assert second.returncode == 2
    assert re.match(r"rankwell: \S+ann\.jsonl is being written by process \d+", second.stderr), (
        second.stderr
    )
    assert (code, second.stderr.count("\n")) == (0, 1)
    assert "0 lines written to" in rest
    assert not Path(found[1]).exists()
    assert read_journals_of(study) == []


def read_journals_of(study: Path) -> list[Any]:
    from rankwell.tasks.judge.folder import read_study

    return list(read_journals(read_study(study)).lines)
