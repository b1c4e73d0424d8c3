"""The server of one judge's session, until Ctrl-C: on this machine only, for the browser that has
the token, and for its own page.

A file that only its user can read holds the token, and posts it, so that no address ever has it.
"""

import html
import json
import os
import re
import secrets
import socket
import sys
import webbrowser
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from http import HTTPStatus
from http.cookies import CookieError, SimpleCookie
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

from rankwell.documents import parse_json
from rankwell.errors import RankwellError, count_of, printable
from rankwell.reporting.options import StatusNote
from rankwell.reporting.page.scripts import source_hash
from rankwell.tasks.judge.folder import Study, held_journal, journal_of
from rankwell.tasks.judge.judging_session import (
    JudgingAct,
    JudgingSession,
    OutdatedAct,
    judging_page,
)
from rankwell.tasks.judge.options import JudgeOptions

_SUBMIT = "document.forms[0].submit();"
_GO_ON = 'location.replace("/");'
# A page of this address goes on to it: a browser would not send a strict cookie after a redirection
# from elsewhere.
_ENTERED = (
    '<!doctype html><html lang="en"><title>rankwell</title><p><a '
    f'href="/">Judge</a></p><script>{_GO_ON}</script></html>\n'
)
_ENTERED_POLICY = (
    f"default-src 'none'; script-src {source_hash(_GO_ON)}; base-uri 'none'; frame-ancestors 'none'"
)
MOST_BYTES = 100_000
"""Of a request."""
_HEADERS = {
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
_HTML, _JSON = "text/html; charset=utf-8", "application/json"


class _Refused(Exception):
    """A request that is not answered."""

    def __init__(self, message: str, status: HTTPStatus = HTTPStatus.FORBIDDEN) -> None:
        super().__init__(message)
        self.status = status


class JudgingServer(ThreadingHTTPServer):
    """Serves a session on a random port of 127.0.0.1.

    session: the sittings of the judge.
    page: the document that it serves, with its policy.
    token: opens the session once; afterwards a cookie does.
    """

    daemon_threads = False  # `server_close` waits for others alone

    def __init__(self, session: JudgingSession) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self._connections = set[socket.socket]()
        self.session, self.page = session, judging_page(session.judge)
        self.token, self._cookie = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
        self._is_used = False

    @property
    def origin(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.server_port}"

    @property
    def cookie_name(self) -> str:
        """The name of its cookie, which has the port as browsers send cookies to every port of a
        machine.
        """
        return f"rankwell-{self.server_port}"

    def enter(self, token: str) -> str:
        """The cookie in exchange for the token. Raises _Refused for a wrong one, and from the
        second time on.
        """
        if not secrets.compare_digest(token.encode(), self.token.encode()):
            raise _Refused("This is not the link of this session.")
        if self._is_used:
            raise _Refused(
                "This link has been used; start `rankwell judge label` again for another."
            )
        self._is_used = True
        return f"{self.cookie_name}={self._cookie}; HttpOnly; SameSite=Strict; Path=/"

    def is_known(self, cookie: str) -> bool:
        """Whether a request has the cookie of this session."""
        try:
            morsel = SimpleCookie(cookie).get(self.cookie_name)
        except CookieError:
            return False
        return morsel is not None and secrets.compare_digest(
            morsel.value.encode(), self._cookie.encode()
        )

    def process_request(self, request: Any, client_address: Any) -> None:
        """Remembers the connection until it is closed."""
        self._connections.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        """Forgets the connection, and closes it."""
        self._connections.discard(request)
        super().shutdown_request(request)

    def server_close(self) -> None:
        """Ends the session, and the connections that browsers keep open with their threads, so that
        none outlives the server.
        """
        self.session.close()
        for connection in self._connections.copy():
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        super().server_close()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Drops a connection that the browser has closed."""


class _Handler(BaseHTTPRequestHandler):
    """One connection of a browser.

    server: the server of the session, with its page and its token.
    """

    protocol_version = "HTTP/1.1"
    server_version, sys_version = "rankwell", ""
    timeout = 120
    server: JudgingServer  # pyright: ignore[reportIncompatibleVariableOverride]

    def do_GET(self) -> None:
        """Answers a request to read, such as that of the page, or to write, such as that of a
        judgment; every refusal and failure becomes an answer.
        """
        try:
            if self.headers.get_all("Host") != [self.server.origin.removeprefix("http://")]:
                problem = "This is not the address of this session."
                raise _Refused(problem, HTTPStatus.MISDIRECTED_REQUEST)
            if self.command == "POST":
                self._write()
            else:
                self._read()
        except _Refused as refusal:
            self._fail(refusal.status, str(refusal))
        except OutdatedAct as error:
            self._fail(HTTPStatus.CONFLICT, str(error))
        except RankwellError as error:
            self._fail(HTTPStatus.BAD_REQUEST, printable(str(error)))
        except ConnectionError:
            self.close_connection = True
        except OSError as error:
            self._fail(HTTPStatus.INSUFFICIENT_STORAGE, error.strerror or str(error))

    do_POST = do_GET  # noqa: N815 - named by the library

    def _read(self) -> None:
        """Answers a GET: the page, its state, or an item."""
        self._refuse_foreign()
        if self.path == "/":
            policy = f"{self.server.page.policy}; frame-ancestors 'none'"
            self._send(self.server.page.text, _HTML, {"Content-Security-Policy": policy})
        elif self.path == "/state":
            self._send(json.dumps(self.server.session.state()))
        elif match := re.fullmatch(r"/items/([0-9]{1,18})/([0-9]{1,18})", self.path):
            self._send(json.dumps(self.server.session.item(int(match[1]), int(match[2]))))
        else:
            raise _Refused("There is nothing at this address.", HTTPStatus.NOT_FOUND)

    def _write(self) -> None:
        """Answers a POST: the token, an act, or the request for the next batch."""
        body = self._body()
        if self.path == "/enter":
            if self.headers.get("Origin", "null") not in ("null", self.server.origin):
                raise _Refused("Another site has sent this request.")
            token = parse_qs(body.decode("ascii", "replace")).get("token", [""])[0]
            headers = {"Set-Cookie": self.server.enter(token)}
            self._send(_ENTERED, _HTML, {**headers, "Content-Security-Policy": _ENTERED_POLICY})
            return
        self._refuse_foreign(needs_origin=True)
        if self.headers.get_content_type() != _JSON:
            raise _Refused("expected JSON", HTTPStatus.UNSUPPORTED_MEDIA_TYPE)
        content, session = parse_json(body, "the request", "an act"), self.server.session
        if self.path == "/act":
            act = JudgingAct.of(content, session.study)
            self._send(json.dumps(session.act(act)))
        elif self.path == "/next":
            turn = content.get("turn") if isinstance(content, Mapping) else None
            self._send(json.dumps(session.advance(turn if isinstance(turn, int) else -1)))
        else:
            raise _Refused("There is nothing at this address.", HTTPStatus.NOT_FOUND)

    def _refuse_foreign(self, *, needs_origin: bool = False) -> None:
        """Raises _Refused for a request of another page, and for one without the cookie."""
        origin = self.headers.get("Origin")
        if origin != self.server.origin if origin is not None else needs_origin:
            raise _Refused("Another site has sent this request.")
        if not self.server.is_known(self.headers.get("Cookie", "")):
            advice = (
                "Open the session with the file that `rankwell judge label` names; its link works "
                "once."
            )
            raise _Refused(advice)

    def _body(self) -> bytes:
        """The content of the request. Raises _Refused for one that is too long, or of unknown
        length.
        """
        length = self.headers.get("Content-Length", "")
        if (
            not length.isdecimal()
            or len(length) > 18
            or int(length) > MOST_BYTES
            or "Transfer-Encoding" in self.headers
        ):
            self.close_connection = True
            raise _Refused(
                f"expected at most {MOST_BYTES} bytes", HTTPStatus.REQUEST_ENTITY_TOO_LARGE
            )
        return self.rfile.read(int(length))

    def _fail(self, status: HTTPStatus, message: str) -> None:
        """Answers with a sentence; a request whose content was not read ends the connection."""
        if self.command == "POST":
            self.close_connection = True
        headers = {"Content-Security-Policy": "default-src 'none'"}
        self._send(message + "\n", "text/plain; charset=utf-8", headers, status)

    def _send(
        self,
        text: str,
        kind: str = _JSON,
        headers: Mapping[str, str] = {},
        status: HTTPStatus = HTTPStatus.OK,
    ) -> None:
        raw = text.encode("utf-8", "surrogatepass")
        self.send_response(status)
        connection = {"Connection": "close"} if self.close_connection else {}
        content = {"Content-Type": kind, "Content-Length": str(len(raw))}
        for name, value in {**_HEADERS, **headers, **connection, **content}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(raw)

    def log_message(self, format: str, *args: Any) -> None:
        """Writes nothing: the terminal is for the judge."""


@contextmanager
def opening_file(path: Path, origin: str, token: str) -> Generator[None]:
    """A file of mode 0600 that opens a session when a browser reads it; there while the block
    lasts.
    """
    policy = (
        f"default-src 'none'; script-src {source_hash(_SUBMIT)}; form-action {origin}; base-uri "
        "'none'"
    )
    text = (
        f'<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="referrer" content="no-referrer">\n<title>rankwell</title>\n<form '
        f'method="post" action="{origin}/enter">\n'
        f'<input type="hidden" name="token" value="{html.escape(token)}">\n<button>Open the '
        "judging page</button>\n</form>\n"
        f"<script>{_SUBMIT}</script>\n</html>\n"
    )
    path.unlink(missing_ok=True)
    with open(path, "x", encoding="utf-8", opener=partial(os.open, mode=0o600)) as file:
        file.write(text)
    try:
        yield
    finally:
        path.unlink(missing_ok=True)


def serve_session(
    study: Study, judge: str, options: JudgeOptions, *, browser: bool
) -> Sequence[str]:
    """Serves the page of a judge until Ctrl-C, its journal locked, the browser opened; returns
    notes.

    Raises BadUsage where another process has the judge's journal.
    """
    with held_journal(study, judge):
        session = JudgingSession(study, judge, options)
        path = study.folder / f"open-{judge}.html"
        with JudgingServer(session) as server, opening_file(path, server.origin, server.token):
            opened = browser and webbrowser.open(path.resolve().as_uri())
            how = "opened in the browser" if opened else f"open {printable(str(path))} in a browser"
            with suppress(KeyboardInterrupt):
                sys.stderr.write(f"judging as {judge} at {server.origin}: {how}; Ctrl-C ends it\n")
                sys.stderr.flush()
                server.serve_forever(poll_interval=0.1)
        wrote = f"{count_of(session.n_acts, 'line')} written to {journal_of(study, judge)}"
        return (*session.findings, StatusNote(wrote))
