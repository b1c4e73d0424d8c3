"""A Hugging Face Hub on loopback for tests: a data set whose files are read by ranges, and which
counts what is read.
"""

import hashlib
import json
import re
import threading
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote

import pytest

REPOSITORY = "datasets/owner/name"


class Hub:
    """The data set of a running server. status: with which it answers every request, where it is
    not 200.
    """

    def __init__(self) -> None:
        self.url, self.status = "", 200
        self.files: dict[str, bytes] = {}
        self.reads: list[tuple[str, int]] = []

    def put(self, path: str, content: bytes) -> str:
        self.files[path] = content
        return f"hf://{REPOSITORY}/{path}"

    def bytes_read(self, path: str) -> int:
        return sum(size for name, size in self.reads if name == path)

    def entry(self, path: str) -> dict[str, Any]:
        content = self.files[path]
        oid = hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
        return {"type": "file", "path": path, "size": len(content), "oid": oid}

    def entries(self, folder: str) -> list[dict[str, Any]]:
        """The files of a folder, and the folders in it."""
        inside = [path.removeprefix(folder) for path in self.files if path.startswith(folder)]
        folders = {name.partition("/")[0] for name in inside if "/" in name}
        found = [
            {"type": "directory", "path": folder + name, "size": 0, "oid": "0"}
            for name in sorted(folders)
        ]
        return [*found, *(self.entry(folder + name) for name in inside if "/" not in name)]


def _handler(hub: Hub) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self, status: int, content: bytes, **headers: str) -> None:
            self.send_response(status)
            for name, value in {"Content-Length": str(len(content)), **headers}.items():
                self.send_header(name.replace("_", "-"), value)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(content)

        def answer_json(self, value: Any) -> None:
            self.answer(200, json.dumps(value).encode(), Content_Type="application/json")

        def do_POST(self) -> None:
            given = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
            if self.refused():
                return
            self.answer_json([hub.entry(path) for path in given["paths"] if path in hub.files])

        def do_GET(self) -> None:
            if self.refused():
                return
            path = unquote(self.path.partition("?")[0])
            if found := re.fullmatch(rf"/api/{REPOSITORY}/tree/main(?:/(.*))?", path):
                entries = hub.entries(f"{found[1]}/" if found[1] else "")
                self.answer_json(entries) if entries else self.answer(
                    404, b"", X_Error_Code="EntryNotFound"
                )
            elif re.fullmatch(rf"/api/{REPOSITORY}(/revision/main)?", path):
                self.answer_json(
                    {"id": "owner/name", "sha": "0" * 40, "private": False, "tags": []}
                )
            elif (found := re.fullmatch(rf"/{REPOSITORY}/resolve/main/(.*)", path)) and found[
                1
            ] in hub.files:
                span = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
                content = hub.files[found[1]]
                some = content if span is None else content[int(span[1]) : int(span[2]) + 1]
                hub.reads.append((found[1], len(some)))
                self.answer(200 if span is None else 206, some)
            else:
                other = f"/api/{REPOSITORY}/revision/"
                self.answer(
                    404,
                    b"",
                    X_Error_Code="RevisionNotFound" if path.startswith(other) else "RepoNotFound",
                )

        def refused(self) -> bool:
            if hub.status != 200:
                self.answer(hub.status, b"{}")
            return hub.status != 200

        def log_message(self, format: str, *args: Any) -> None:
            pass

    return Handler


@contextmanager
def hub(monkeypatch: pytest.MonkeyPatch) -> Generator[Hub]:
    """An empty data set, and an environment that leads to it. Skips the test without
    huggingface_hub.
    """
    constants = pytest.importorskip("huggingface_hub.constants")

    from rankwell.store import remote

    found = Hub()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(found))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    found.url = f"http://127.0.0.1:{server.server_port}"
    monkeypatch.setenv("HF_ENDPOINT", found.url)
    monkeypatch.setenv("HF_HUB_OFFLINE", "0")
    monkeypatch.setattr(constants, "ENDPOINT", found.url)
    monkeypatch.setattr(
        constants,
        "HUGGINGFACE_CO_URL_TEMPLATE",
        found.url + "/{repo_id}/resolve/{revision}/{filename}",
    )
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(remote, "_FIRST_PAUSE", 0.01)
    remote.forget()
    try:
        yield found
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
        remote.forget()
