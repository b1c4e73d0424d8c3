"""The recorded session of the documentation, typed again in a terminal of 80 columns."""

import importlib.util
import json
import platform
import re
from pathlib import Path
from types import ModuleType

import pytest

from regression.comparing import GOLDENS

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture
def session() -> ModuleType:
    pytest.importorskip("pty", reason="Windows has no pseudo-terminals")
    spec = importlib.util.spec_from_file_location("session", ROOT / "tools" / "session.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
def test_the_recorded_session_is_what_a_terminal_shows_today(session: ModuleType, tmp_path: Path):
    page = session.PAGE.read_text(encoding="utf-8")

    again = session.recorded(page, tmp_path)

    # The demo's documents are those of the Python that runs: under another one the lines are
    # compared without figures.
    same = (
        json.loads((GOLDENS / "environment.json").read_text())["python"]
        == platform.python_version()
    )
    kept = str if same else lambda text: re.sub(r"[\d.]+", "0", text)
    assert kept(again) == kept(page)


def test_no_line_of_the_session_is_longer_than_the_terminal(session: ModuleType):
    blocks = re.findall(
        r"^```console\n(.*?)^```$",
        session.PAGE.read_text(encoding="utf-8"),
        re.MULTILINE | re.DOTALL,
    )
    printed = [line for block in blocks for line in block.splitlines() if not line.startswith("$ ")]

    assert len(printed) > 25
    assert [line for line in printed if len(line) > session.WIDTH] == []


def test_the_session_goes_from_installation_to_page(session: ModuleType):
    page = session.PAGE.read_text(encoding="utf-8")
    steps = [
        "pip install rankwell",
        "$ rankwell evaluate",
        "$ rankwell compare",
        "$ rankwell gate",
        "$ rankwell report",
    ]

    places = [page.index(step) for step in steps]

    assert places == sorted(places)
