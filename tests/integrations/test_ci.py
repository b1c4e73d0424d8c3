"""The gate of continuous integration: the steps of action.yml are run by bash, as GitHub does, with
hostile inputs.
"""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import rankwell as rw
from rankwell.integrations import ci, gitlab_note

ROOT = Path(__file__).parents[2]
QRELS = {f"q{number}": {"a": 1} for number in range(12)}
HOSTILE = '$(touch owned) `touch owned` "; touch owned; #'


def results_in(folder: Path, run: str = "mine") -> Path:
    rw.evaluate(QRELS, {run: {query: {"a": 1.0, "b": 2.0} for query in QRELS}}, ["RR", "P@1"]).save(
        folder, charts=False
    )
    return folder


def steps() -> list[tuple[dict[str, str], str]]:
    """(environment with its expressions, script) of every step of the action."""
    text = (ROOT / "action.yml").read_text(encoding="utf-8").partition("  steps:\n")[2]
    blocks = re.split(r"^    - ", text, flags=re.MULTILINE)[1:]
    return [
        (
            dict(re.findall(r"^ +(RANKWELL_\w+): (.+)$", each, re.MULTILINE)),
            re.findall(r"^ +run: (.+)$", each, re.MULTILINE)[0],
        )
        for each in blocks
    ]


def test_no_input_is_part_of_a_command():
    scripts = [script for _, script in steps()]

    assert len(scripts) == 2
    assert [script for script in scripts if "${{" in script] == []
    assert "${{" not in (ROOT / "integrations" / "gitlab.yml").read_text(encoding="utf-8")


def test_the_action_fails_and_adds_the_summary_whatever_its_inputs_hold(tmp_path: Path):
    folder = results_in(tmp_path / f"out {HOSTILE.replace('/', '')}")
    inputs = {"results": folder.name, "require": "RR >= 0.4\nP@1 >= 0.5\n"}
    environment, script = steps()[1]
    values = {
        name: inputs.get(expression.split("inputs.")[1].split(" ")[0], "")
        for name, expression in environment.items()
    }
    own = {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT / "src"),
        "GITHUB_ACTIONS": "true",
    }
    summary = tmp_path / "summary.md"

    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script],
        cwd=tmp_path,
        env={**own, **values, "GITHUB_STEP_SUMMARY": str(summary)},
        capture_output=True,
        encoding="utf-8",
    )

    assert done.returncode == 1, done.stderr
    assert not (tmp_path / "owned").exists()
    lines = done.stdout.splitlines()
    assert lines[0].startswith("::stop-commands::")
    assert lines[-1] == f"::{lines[0].removeprefix('::stop-commands::')}::"
    assert lines[1:-1] == [
        "passed  mine RR: mean is 0.5000 (n = 12), required >= 0.4",
        "FAILED  mine P@1: mean is 0.0000 (n = 12), required >= 0.5: 0.5000 too low",
    ]
    text = summary.read_text(encoding="utf-8")
    assert text.startswith(
        "### rankwell gate: 1 of 2 requirements failed\n\n* **failed**: mine P@1"
    )
    assert "| RR " in text


def checked(tmp_path: Path, **settings: Any) -> tuple[int, str]:
    """The exit code and the summary of the gate."""
    place = tmp_path / "summary.md"
    code = ci.main(
        {f"RANKWELL_{name}": str(value) for name, value in settings.items()}
        | {"RANKWELL_SUMMARY": str(place)}
    )
    return code, place.read_text(encoding="utf-8")


def test_a_gate_that_holds_is_0_and_a_name_never_becomes_markup(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    folder = results_in(tmp_path / "out", "<img src=x>\n::error::|*a*")

    code, text = checked(tmp_path, RESULTS=folder, REQUIRE="RR >= 0.5")

    assert code == 0
    assert "<img" not in text.replace("\\<img", "")
    assert not any(
        line.startswith("::")
        for line in [*text.splitlines(), *capsys.readouterr().out.splitlines()]
    )


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({}, "RANKWELL\\_RESULTS is not set"),
        ({"RESULTS": "nowhere", "REQUIRE": "RR > 0"}, "nowhere is not a folder"),
        ({"RESULTS": "out"}, "nothing is required"),
        ({"RESULTS": "out", "REQUIRE": "RR is good"}, "cannot be understood"),
    ],
)
def test_what_cannot_be_checked_is_2_and_never_passes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: Any, words: str
):
    monkeypatch.chdir(tmp_path)
    results_in(tmp_path / "out")

    code, text = checked(tmp_path, **settings, JUNIT="junit.xml")

    assert code == 2
    assert text.startswith("### rankwell gate: could not be checked")
    assert words in text.replace("RANKWELL_RESULTS", "RANKWELL\\_RESULTS")
    assert 'errors="1"' in (tmp_path / "junit.xml").read_text(encoding="utf-8")


def test_a_note_is_posted_with_the_token_to_the_server_of_the_job_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    from http.server import BaseHTTPRequestHandler, HTTPServer
    from threading import Thread

    seen: list[tuple[str, str | None, bytes]] = []

    class Server(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            seen.append(
                (
                    self.path,
                    self.headers["PRIVATE-TOKEN"],
                    self.rfile.read(int(self.headers["Content-Length"])),
                )
            )
            self.send_response(201)
            self.end_headers()

        def log_message(self, *args: Any) -> None:
            pass

    (tmp_path / "summary.md").write_text("### gate")
    job = {
        "CI_PROJECT_ID": "7",
        "CI_MERGE_REQUEST_IID": "3",
        "RANKWELL_GITLAB_TOKEN": "s3cret",
        "RANKWELL_SUMMARY": str(tmp_path / "summary.md"),
    }
    with HTTPServer(("127.0.0.1", 0), Server) as server:
        Thread(target=server.handle_request, daemon=True).start()
        posted = gitlab_note.main(
            job | {"CI_API_V4_URL": f"http://127.0.0.1:{server.server_port}/api/v4"}
        )

    assert posted == 0
    assert seen == [
        ("/api/v4/projects/7/merge_requests/3/notes", "s3cret", b'{"body": "### gate"}')
    ]
    assert gitlab_note.main(job | {"CI_API_V4_URL": "http://example.org"}) == 2
    assert gitlab_note.main({}) == 2
    assert "s3cret" not in "".join(capsys.readouterr())
