"""A session of a judge for tests: its server in a thread, and a client that speaks to it as a
browser would.
"""

import http.client
import json
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from rankwell.tasks.judge.folder import held_journal, read_study
from rankwell.tasks.judge.judging_server import JudgingServer
from rankwell.tasks.judge.judging_session import JudgingSession
from rankwell.tasks.judge.options import JudgeOptions


class Client:
    """A browser's requests to the server. headers: replace those that a browser of this page sends,
    None for none.
    """

    def __init__(self, server: JudgingServer):
        self.server, self.cookie = server, ""

    def send(
        self, method: str, path: str, body: Any = None, **headers: str | None
    ) -> tuple[int, dict[str, str], str]:
        own: dict[str, str | None] = {
            "Host": self.server.origin.removeprefix("http://"),
            "Cookie": self.cookie or None,
        }
        if method == "POST":
            own |= {"Origin": self.server.origin, "Content-Type": "application/json"}
        own |= {name.replace("_", "-"): value for name, value in headers.items()}
        raw = body if isinstance(body, str) else json.dumps(body)
        connection = http.client.HTTPConnection("127.0.0.1", self.server.server_port, timeout=20)
        try:
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            for name, value in own.items():
                if value is not None:
                    connection.putheader(name, value)
            if method == "POST":
                connection.putheader("Content-Length", str(len(raw.encode())))
            connection.endheaders(raw.encode() if method == "POST" else None)
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read().decode()
        finally:
            connection.close()

    def enter(
        self, token: str | None = None, origin: str | None = "null"
    ) -> tuple[int, dict[str, str], str]:
        form = urlencode({"token": self.server.token if token is None else token})
        answer = self.send(
            "POST", "/enter", form, Origin=origin, Content_Type="application/x-www-form-urlencoded"
        )
        self.cookie = answer[1].get("Set-Cookie", "").partition(";")[0] or self.cookie
        return answer

    def get(self, path: str) -> Any:
        status, _, text = self.send("GET", path)
        assert status == 200, text
        return json.loads(text)

    def act(self, ask: int, *, turn: int = 1, seen: Any = None, **given: Any) -> tuple[int, Any]:
        act = {"turn": turn, "ask": ask, "seen": seen, "note": "", "seconds": 1.5} | given
        status, _, text = self.send("POST", "/act", act)
        return status, json.loads(text) if status == 200 else text.strip()


@contextmanager
def serving(study: Path, judge: str = "ann", **options: Any) -> Generator[JudgingServer]:
    """The server of a session, as `rankwell judge label` starts it."""
    found = read_study(study)
    with (
        held_journal(found, judge),
        JudgingServer(JudgingSession(found, judge, JudgeOptions(**options))) as server,
    ):
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def lines_of(study: Path, judge: str = "ann") -> list[dict[str, Any]]:
    """The lines of a journal."""
    path = study / "judgments" / f"{judge}.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
