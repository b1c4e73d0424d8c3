"""Where the address space is limited, charts are drawn by another process, or left out with a
warning; figures are the same.
"""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from rankwell.errors import RankwellWarning
from rankwell.reporting import charts, drawing
from rankwell.reporting.page.scripts import vega_bundle

resource = pytest.importorskip("resource")
RANKWELL = str(Path(sys.executable).with_name("rankwell"))
SPEC = {
    "data": {"values": [{"a": 1}]},
    "mark": "bar",
    "encoding": {"x": {"field": "a", "type": "quantitative"}},
}
GIGABYTE = 1 << 30
LINES = (
    "evaluate qrels a.run -o results/one",
    "compare qrels a.run b.run -o results/two",
    "report results/one",
)


def typed(folder: Path, line: str, limit: int | None = None) -> "subprocess.CompletedProcess[str]":
    """A command under a limit of address space in bytes, with a cache of its own."""

    def _limited() -> None:
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_AS, (limit, limit))

    environment = {**os.environ, "XDG_CACHE_HOME": str(folder / "cache")}
    return subprocess.run(
        [RANKWELL, *shlex.split(line)],
        cwd=folder,
        env=environment,
        preexec_fn=_limited,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = [(f"q{query}", f"d{item}") for query in range(12) for item in range(5)]
    (tmp_path / "qrels").write_text(
        "".join(f"{query} 0 {item} {int(item < 'd2')}\n" for query, item in rows)
    )
    for name, sign in (("a", 1), ("b", -1)):
        lines = (
            f"{query} Q0 {item} 1 {sign * (number * 7 % 11)} x\n"
            for number, (query, item) in enumerate(rows)
        )
        (tmp_path / f"{name}.run").write_text("".join(lines))
    return tmp_path


def files(folder: Path, *suffixes: str) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.suffix in suffixes
    }


def below_limit(folder: Path, limit: int, lines: tuple[str, ...]) -> None:
    for line in lines:
        done = typed(folder, line, limit)
        assert done.returncode == 0, done.stderr
        assert (
            done.stderr.count("rankwell: no charts are drawn: `ulimit -v` leaves this process") == 1
        )
        assert "Traceback" not in done.stderr
    assert not files(folder / "results", ".png", ".svg")


def test_a_folder_is_written_without_charts_where_they_find_no_memory(folder: Path):
    below_limit(folder, 4 * GIGABYTE, LINES[:1])
    limited = files(folder / "results", ".csv", ".parquet")
    assert typed(folder, f"{LINES[0]} --overwrite").returncode == 0

    assert limited == files(folder / "results", ".csv", ".parquet")
    assert set(files(folder / "results", ".png", ".svg")) >= {
        "one/intervals.png",
        "one/intervals.svg",
    }


@pytest.mark.slow
@pytest.mark.parametrize("limit", [int(1.2 * GIGABYTE), 4 * GIGABYTE, 16 * GIGABYTE, 64 * GIGABYTE])
def test_figures_are_the_same_under_every_limit(folder: Path, limit: int):
    below_limit(folder, limit, LINES)
    limited = files(folder / "results", ".csv", ".parquet")
    for line in LINES:
        assert typed(folder, f"{line} --overwrite").returncode == 0

    assert limited == files(folder / "results", ".csv", ".parquet")


@pytest.mark.slow
def test_a_limit_that_is_wide_enough_gives_the_same_pictures(monkeypatch: pytest.MonkeyPatch):
    here = charts.draw_all([SPEC])[0]
    monkeypatch.setattr(drawing, "_limit", lambda: 1 << 60)

    assert charts.draw_all([SPEC])[0] == here


def test_one_failure_is_enough_and_a_page_says_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    calls: list[object] = []

    def _ends(*_: object, **__: object) -> "subprocess.CompletedProcess[bytes]":
        calls.append(1)
        return subprocess.CompletedProcess([], -5, b"", b"")

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(drawing, "_limit", lambda: 3_000_000_000)
    monkeypatch.setattr(drawing.subprocess, "run", _ends)
    with pytest.warns(
        RankwellWarning, match=r"leaves this process 3 GB of address space.*ends \(SIGTRAP\)"
    ):
        assert charts.write_charts(tmp_path, {"one": SPEC}) == []
    with pytest.warns(RankwellWarning):
        assert "Promise.reject" in vega_bundle()
    with pytest.raises(drawing.NotDrawn, match="no charts are drawn"):
        charts.draw_all([SPEC])[0]
    drawing._FAILURES.clear()

    assert len(calls) == 1
