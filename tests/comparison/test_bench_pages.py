"""Pages of cells: `pages = true` in `[table]` writes those that are missing, and
`table.html` leads to them.
"""

import json
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import unquote

import pytest

import rankwell
from benches import NOISE, RUNS_ALONE, TOML, make_bench
from rankwell import cli
from rankwell.comparison import pages
from rankwell.errors import BadUsage
from rankwell.reporting import charts

CELLS = [
    f"{dataset}/{system}"
    for dataset in re.findall(r'\[dataset\]\]\nname = "(\w+)"', TOML)
    for system in NOISE
]
"""The bench with the first data set alone."""
COSTS = "[table]\ncosts = true\npages = true\n"
PAGES = "[table]\npages = true\n"
MUSEUM = TOML[: TOML.index("[[dataset]]")] + TOML[TOML.index('[[dataset]]\nname = "paintings"') :]

Typed = Callable[..., tuple[int, str, str]]


@pytest.fixture(autouse=True, scope="module")
def no_pictures() -> Iterator[None]:
    """Charts are most of the time, and none of what is tested here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "rankwell.reporting.charts.draw_all",
            lambda specs: [charts.Picture(b"", "") for _ in specs],
        )
        yield


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Typed:
    """What a user sees who types this: exit code, standard output, standard error."""

    def _typed(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["rankwell", *map(str, arguments)])
        return cli.main(), *capsys.readouterr()

    return _typed


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """The file of a bench of two cells, which get pages."""
    return make_bench(tmp_path, RUNS_ALONE + PAGES)


def without_pages(file: Path) -> Path:
    """The same bench in the same place, whose cells get no page."""
    file.write_text(file.read_text().replace(PAGES, ""))
    return file


def with_pages(file: Path) -> Path:
    """The same bench in the same place, whose cells get pages."""
    file.write_text(without_pages(file).read_text() + PAGES)
    return file


def linked(table: Path) -> set[Path]:
    """The files that a page of tables leads to."""
    links = re.findall(r'<a href="([^"#]+)"', table.read_text())
    return {(table.parent / unquote(link)).resolve() for link in links}


def dates(folder: Path) -> dict[str, int]:
    return {
        path.relative_to(folder).as_posix(): path.stat().st_mtime_ns
        for path in folder.rglob("*")
        if path.is_file()
    }


def content(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_every_link_of_the_table_leads_to_the_page_of_a_cell(tmp_path: Path, typed: Typed) -> None:
    code, _, err = typed("bench", make_bench(tmp_path, TOML + PAGES))

    assert code == 0, err
    out = tmp_path / "bench-results"
    expected = {out / cell / "report.html" for cell in CELLS}
    assert len(expected) == 12
    assert linked(out / "table.html") == expected
    assert all(path.is_file() for path in expected)


def test_a_page_is_that_of_the_report_command(runs: Path, typed: Typed) -> None:
    rankwell.bench(runs)
    cell = runs.parent / "bench-results" / "runs" / "low"
    before = content(cell)
    (cell / "report.html").unlink()

    assert typed("report", cell)[0] == 0

    assert content(cell) == before


def test_a_second_call_writes_the_missing_page_alone(runs: Path) -> None:
    out = runs.parent / "bench-results"
    rankwell.bench(without_pages(runs))
    assert linked(out / "table.html") == set()
    rankwell.bench(with_pages(runs))
    whole, before = content(out), dates(out)
    (out / "runs" / "low" / "report.html").unlink()

    rankwell.bench(runs)

    assert content(out) == whole
    changed = {
        name
        for name, date in dates(out).items()
        if before[name] != date and name.startswith("runs/")
    }
    assert changed == {"runs/low/report.html", "runs/low/manifest.json"}


def test_a_stopped_call_goes_on_with_the_pages_that_are_missing(
    runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, real, written = runs.parent / "bench-results", pages.write_report, list[Path]()

    def _stopped(places: list[Path], target: Path) -> object:
        if written:
            raise KeyboardInterrupt
        written.append(target)
        return real(places, target)

    monkeypatch.setattr(pages, "write_report", _stopped)
    with pytest.raises(KeyboardInterrupt):
        rankwell.bench(runs)
    monkeypatch.setattr(pages, "write_report", real)
    first = written[0].stat().st_mtime_ns

    rankwell.bench(runs)

    assert written[0].stat().st_mtime_ns == first
    assert linked(out / "table.html") == {out / "runs" / system / "report.html" for system in NOISE}


def test_the_pages_are_the_same_bytes_for_any_number_of_jobs(tmp_path: Path) -> None:
    for jobs in "12":
        rankwell.bench(
            make_bench(tmp_path / jobs, RUNS_ALONE + PAGES), executor=f"processes:{jobs}"
        )

    one, two = (
        {
            path.name: (path / "report.html").read_bytes()
            for path in (tmp_path / jobs).glob("bench-results/runs/*")
        }
        for jobs in "12"
    )
    assert set(one) == set(NOISE)
    assert one == two


def test_a_cell_that_is_evaluated_again_gets_a_new_page_or_none(runs: Path) -> None:
    cell = runs.parent / "bench-results" / "runs" / "low"
    rankwell.bench(runs)
    old = (cell / "report.html").read_bytes()
    run = runs.parent / "runs" / "low.run"
    run.write_text(
        run.read_text().replace(" 1 ", " 2 ", 1).replace("d1", "d2", 1).replace("d2", "d1", 1)
        + "q00 Q0 new 8 -9 x\n"
    )

    rankwell.bench(without_pages(runs))
    assert not (cell / "report.html").exists()
    assert linked(cell.parents[1] / "table.html") == {cell.parent / "high" / "report.html"}

    rankwell.bench(with_pages(runs))
    assert (cell / "report.html").read_bytes() != old


@pytest.mark.parametrize("evaluated", [False, True])
def test_a_page_of_the_users_is_refused_before_anything_is_evaluated(
    runs: Path, typed: Typed, evaluated: bool
) -> None:
    cell = runs.parent / "bench-results" / "runs" / "high"
    if evaluated:
        rankwell.bench(runs)
    cell.mkdir(parents=True, exist_ok=True)
    (cell / "report.html").write_text("my own")
    before = content(cell.parents[1])

    code, out, err = typed("bench", runs)

    assert (code, out) == (2, "")
    assert re.search(r"runs/high/report\.html\s+was\s+not\s+written\s+by\s+rankwell", err)
    assert content(cell.parents[1]) == before
    assert typed("bench", runs, "--overwrite")[0] == 0
    assert (cell / "report.html").read_text() != "my own"


def test_systems_on_data_sets_have_pages_too(tmp_path: Path, typed: Typed) -> None:
    file, table = make_bench(tmp_path, MUSEUM + COSTS), tmp_path / "table" / "table.html"

    code, _, err = typed("bench", file, "-o", table.parent)

    assert code == 0, err
    expected = {table.parent / "paintings" / system / "report.html" for system in NOISE}
    assert linked(table) == expected
    assert all(path.is_file() for path in expected)


def test_folders_of_results_get_the_page_that_they_lack(tmp_path: Path, typed: Typed) -> None:
    file, table = make_bench(tmp_path, MUSEUM), tmp_path / "table" / "table.html"
    rankwell.bench(file)
    low, high = (tmp_path / "bench-results" / "paintings" / system for system in NOISE)
    assert typed("report", low, "--title", "My title")[0] == 0
    mine = (low / "report.html").read_bytes()

    kept = tmp_path / "kept.toml"
    kept.write_text(f"{COSTS}results = {json.dumps([f'a={low}', f'b={high}'])}\n")
    code, _, err = typed("bench", kept, "-o", table.parent)

    assert code == 0, err
    assert (low / "report.html").read_bytes() == mine
    assert linked(table) == {low / "report.html", high / "report.html"}
    (high / "report.html").write_text("my own")
    assert typed("bench", kept)[0] == 2
    assert (high / "report.html").read_text() == "my own"


def test_missing_lists_beside_a_page_are_written_again(
    runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = pages.write_page
    monkeypatch.setattr(
        pages, "write_page", lambda path, source: real(path, source, most_bytes=1_000)
    )
    rankwell.bench(runs)
    cell = runs.parent / "bench-results" / "runs" / "low"
    whole = content(cell)
    next(iter((cell / "report_data").iterdir())).unlink()

    rankwell.bench(runs)

    assert content(cell) == whole


def test_in_python_another_page_is_an_error_too(runs: Path) -> None:
    (runs.parent / "bench-results" / "runs" / "low").mkdir(parents=True)
    (runs.parent / "bench-results" / "runs" / "low" / "report.html").write_text("my own")

    with pytest.raises(BadUsage, match="not written by rankwell"):
        rankwell.bench(runs)
