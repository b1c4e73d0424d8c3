"""Tables at the widths of terminals: no line is longer, every heading is there in full, and decimal
points are aligned.
"""

import re
from collections.abc import Generator
from itertools import pairwise, takewhile

import pytest

from rankwell import reporting
from rankwell.reporting import Document, PrintedFigure, Terminal, width_of
from rankwell.reporting.outputs.answers import text_table
from regression.cases import LINES, Runner

CASES = (
    "bench/parts",
    "bench/whole",
    "check/corpus",
    "check/plain",
    "compare/format-table-per-query",
    "compare/group",
    "compare/three",
    "crossmodal/per-query",
    "crossmodal/plain",
    "embeddings/all",
    "embeddings/ceiling",
    "embeddings/format-table-per-query",
    "embeddings/plain",
    "embeddings/scholar",
    "evaluate/format-table-per-query",
    "explain/Recall-at-5",
    "explain/list",
    "fuse/tune-several",
    "gate/fail",
    "gate/regression",
    "grid/plain",
    "images/per-query",
    "images/stats",
    "images/table",
    "images/table-published",
    "keywords/lint",
    "keywords/map",
    "keywords/per-query",
    "keywords/plain",
    "pairs/plain",
    "pairs/strata",
    "qa/per-query",
    "qa/plain",
)
COMMANDS = {**LINES, "bench/whole": "bench bench.toml -o out"}
"""Cases, and the whole of a bench, whose table is the widest."""
NUMBER = re.compile(r"\d*\.\d+")
OTHER = re.compile(r" (-f|--format) (?!table)")


@pytest.fixture(scope="module")
def runner() -> Generator[Runner]:
    with Runner() as made:
        yield made


def printed(
    runner: Runner,
    name: str,
    width: int | None,
    monkeypatch: pytest.MonkeyPatch,
    *,
    details: bool = True,
) -> list[str]:
    monkeypatch.setattr(reporting, "terminal_of", lambda *_: Terminal(width, details=details))
    commands = COMMANDS[name].split("\n")
    texts, _ = runner.workspace.printed(commands, lambda _: None)
    return [
        line
        for command, text in zip(commands, texts, strict=True)
        if not OTHER.search(command)
        for line in text.split("\n")
    ]


def tables(lines: list[str]) -> list[list[str]]:
    """The heading of each table and its rows."""
    found: list[list[str]] = []
    for place, line in enumerate(lines):
        if set(line) == {"─"}:
            end = next((at for at in range(place, len(lines)) if not lines[at]), len(lines))
            found.append([lines[place - 1], *lines[place + 1 : end]])
    return found


def headings(table: list[str]) -> list[str]:
    return re.split(r"  +", table[0].strip())


@pytest.mark.parametrize("width", [80, 100, 120])
@pytest.mark.parametrize("name", [each for each in CASES if each in COMMANDS])
def test_a_commands_tables_fit_a_terminal(
    runner: Runner, name: str, width: int, monkeypatch: pytest.MonkeyPatch
):
    if absent := runner.absent(name):
        pytest.skip(absent)
    whole = printed(runner, name, None, monkeypatch)

    lines = printed(runner, name, width, monkeypatch)

    answer = printed(runner, name, width, monkeypatch, details=False)
    # Code and command lines to copy are not broken.
    long = [
        line
        for line in (*lines, *answer)
        if width_of(line) > width and not line.startswith("  ") and "rankwell " not in line
    ]
    assert long == []
    text = "\n".join(lines)
    shown = {heading for table in tables(lines) for heading in headings(table)}
    for heading in {heading for table in tables(whole) for heading in headings(table)} - shown:
        # It is said once above the table, or stands before its figure where columns do not fit.
        assert re.search(re.escape(heading) + ":? ", text), f"the heading {heading!r} is gone"


def test_every_case_is_one():
    assert [name for name in CASES if name not in COMMANDS] == []


def test_both_ends_of_intervals_and_figures_without_one_are_aligned():
    cells = ["26.32 [9.15, 51.20]", "31.58 [12.58, 56.55] a", "100.00", "–", "none"]
    rows = [{"system": str(place), "MP@1": PrintedFigure(cell)} for place, cell in enumerate(cells)]
    costs = [
        {" ": "s", "a": PrintedFigure("6.02")},
        {" ": "t", "a": PrintedFigure("81")},
        {" ": "p", "a": "2 GPUs"},
    ]

    first, second = (
        text_table(Document(each, None, {}, (), summary=False)).split("\n")
        for each in (rows, costs)
    )
    lines = [*first[2:7], *second[2:5]]

    assert lines == [
        "0        26.32  [9.15, 51.20]",
        "1        31.58 [12.58, 56.55] a",
        "2       100.00",
        "3                             –",
        "4                          none",
        "s   6.02",
        "t  81",
        "p  2 GPUs",
    ]


@pytest.mark.parametrize(
    "name",
    [
        "embeddings/all",
        "crossmodal/plain",
        "compare/three",
        "evaluate/format-table-per-query",
        "pairs/plain",
    ],
)
def test_decimal_points_are_one_below_the_other(
    runner: Runner, name: str, monkeypatch: pytest.MonkeyPatch
):
    found = 0

    for heading, *rows in tables(printed(runner, name, 80, monkeypatch)):
        rows = list(takewhile(lambda row: not re.match(r"[\w ]+:( |$)|left out ", row), rows))
        points = [
            {each.start() + each[0].index(".") for each in NUMBER.finditer(row)} for row in rows
        ]
        columns = sorted(set().union(*points))
        assert all(after - before > 2 for before, after in pairwise(columns)), (heading, columns)
        found += len(columns)

    assert found
