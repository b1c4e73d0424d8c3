"""Benches of live engines: a cell for every combination, one index for a build, rounds of all
engines, kills, and secrets.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import rankwell as rw
from rankwell.cli import main
from rankwell.comparison.pages import page_source
from rankwell.errors import BadInput
from rankwell.io.result_folder import read_results
from rankwell.tasks.engine.inputs import read_inputs
from rankwell.tasks.engine.measuring import ask_rounds, plan_work
from rankwell.tasks.engine.options import EngineOptions
from rankwell.tasks.engine.task import write
from scripted_server import Reply, ScriptedServer
from tasks.engine import engines_here

HERE = Path(__file__).parent
TOML = """
[[dataset]]
name = "faq"
command = "engine run"
documents = "docs.tsv"
queries = "asked.tsv"
qrels = "judged.txt"
measure = "RR"
intervals = "none"
rounds = 2
warm-up = 0
"""
COUNTED = (
    '[[system]]\nname = "own"\nengine = "engines_here:COUNTED"\noption = { shape = "wide" '
    "}\nsweep = { depth = [1, 2, 5] }\n"
)


def make_bench(folder: Path, systems: str) -> Path:
    """A bench of 12 documents and 20 queries."""
    words = engines_here.WORDS
    (folder / "docs.tsv").write_text("".join(f"{word}\tparse {word}\n" for word in words))
    (folder / "asked.tsv").write_text(
        "".join(f"q{row}\tx{row} {words[row % 10]} one\n" for row in range(20))
    )
    (folder / "judged.txt").write_text(
        "".join(f"q{row} 0 {words[row % 10]} 1\n" for row in range(20))
    )
    path = folder / "bench.toml"
    path.write_text(TOML + systems)
    return path


@pytest.fixture
def found_here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The folder of a bench whose worker processes find the engines of the tests; without charts
    and slow quantiles.
    """
    path = os.pathsep.join([str(HERE), *filter(None, [os.environ.get("PYTHONPATH")])])
    monkeypatch.setenv("PYTHONPATH", path)
    monkeypatch.syspath_prepend(str(HERE))
    monkeypatch.setattr("rankwell.reporting.folder.CHARTS", {})
    monkeypatch.setattr(
        "rankwell.stats.system_comparisons.studentised_range_quantile", lambda *_: 3.0
    )
    return tmp_path


def test_a_sweep_is_a_cell_for_every_combination_and_one_index_serves_a_build(
    found_here: Path,
) -> None:
    fts = (
        '[[system]]\nname = "fts"\nengine = "sqlite-fts5"\noption = { tokenizer = "porter" '
        "}\nsweep = { b = [0, 0.75] }\n"
    )
    file = make_bench(found_here, fts + COUNTED)

    results = rw.bench(file)

    assert not results.failed, [each.error for each in results.failed]
    assert [each.plan.cell.system for each in results.cells] == [
        *("fts b=0", "fts b=0.75"),
        *(f"own depth={depth}" for depth in (1, 2, 5)),
    ]
    log = (found_here / "engine.log").read_text().splitlines()
    assert [line for line in log if line.startswith("index")] == ["index wide"]
    # Three settings, two rounds, 20 queries.
    assert len([line for line in log if line.startswith("search")]) == 120
    means = {row["run"]: row["mean"] for row in results.summary if row["measure"] == "RR"}
    asked = {f"q{row}": f"x{row} {engines_here.WORDS[row % 10]} one" for row in range(20)}
    for depth in (1, 2, 5):
        lists = {query: engines_here.search(text, depth) for query, text in asked.items()}
        expected = (
            sum(1 / (1 + each.index(word)) if word in each else 0 for each, word in _answers(lists))
            / 20
        )
        assert means[f"own depth={depth}"] == pytest.approx(expected)
    engine = json.loads(
        (found_here / "bench-results" / "faq" / "own depth=5" / "engine.json").read_text()
    )
    assert [each["run"] for each in engine["settings"]] == ["counted depth=5"]
    # A further value asks that alone.
    file.write_text(file.read_text().replace("[1, 2, 5]", "[1, 2, 5, 7]"))
    again = rw.bench(file)
    assert [each.status for each in again.cells] == [*["kept"] * 5, "done"]
    log = (found_here / "engine.log").read_text().splitlines()
    assert len([line for line in log if line.startswith("search")]) == 160


def _answers(lists: dict[str, list[str]]) -> list[tuple[list[str], str]]:
    return [(items, engines_here.WORDS[int(query[1:]) % 10]) for query, items in lists.items()]


def test_an_engine_that_fails_leaves_the_cells_of_others(found_here: Path) -> None:
    broken = '[[system]]\nname = "down"\nengine = "engines_here:dies"\n'
    file = make_bench(found_here, broken + COUNTED.replace("[1, 2, 5]", "[2]"))
    (found_here / "down").touch()
    text = (found_here / "asked.tsv").read_text().replace("q19\tx19", "q19\tx99")
    (found_here / "asked.tsv").write_text(text)

    results = rw.bench(file)

    assert [(each.plan.cell.system, each.status) for each in results.cells] == [
        ("down", "failed"),
        ("own", "done"),
    ]
    assert "1 query failed: 'q19'" in results.failed[0].error


def test_the_notes_of_cells_are_in_every_output_once(
    found_here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Failures that are allowed are a note of the cell, which the table has too; what names a
    system is not a differing rule.
    """
    broken = '[[system]]\nname = "down"\nengine = "engines_here:dies"\nallow-failures = 2\n'
    file = make_bench(found_here, broken + COUNTED.replace("[1, 2, 5]", "[1, 2]"))
    (found_here / "down").touch()
    asked = (found_here / "asked.tsv").read_text().replace("q19\tx19", "q19\tx99")
    (found_here / "asked.tsv").write_text(asked)

    words = ["bench", str(file), "-o", str(found_here / "out"), "--verbose"]
    monkeypatch.setattr("sys.argv", ["rankwell", *words])
    main()
    printed = capsys.readouterr()
    again = rw.bench(file, found_here / "out")

    note = (
        "faq/down: object: 1 query failed; those without any answer count as empty "
        "(--allow-failures)"
    )
    shared = [each for each in again.findings if each.startswith("faq: no p95")]
    assert again.findings.count(note) == 1
    assert len(shared) == 1
    for text in (
        printed.err,
        *((found_here / "out" / f"table.{suffix}").read_text() for suffix in ("txt", "md", "html")),
    ):
        assert text.count(note) == text.count(shared[0]) == 1
        assert "engine is" not in text
        assert "measurement_itself" not in text
    cells = json.loads((found_here / "out" / "bench.json").read_text())["cells"]
    assert note.removeprefix("faq/down: ") in [
        finding["message"] for finding in cells["faq/down"]["findings"]
    ]
    assert printed.out.count("none=") == printed.out.count("do not have this figure") == 1


@pytest.mark.slow
def test_a_killed_bench_goes_on_where_it_ended(found_here: Path) -> None:
    file = make_bench(found_here, COUNTED)
    (found_here / "kill").write_text("50")
    line = [sys.executable, "-m", "rankwell", "bench", str(file)]

    killed = subprocess.run(line, cwd=found_here, capture_output=True, text=True, timeout=120)
    first = (found_here / "engine.log").read_text().splitlines()
    (found_here / "kill").unlink()
    (found_here / "engine.log").unlink()
    done = rw.bench(file)

    assert killed.returncode == -9
    # Two parts of 20 queries were finished at the 50th query.
    assert sum(each.startswith("search") for each in first) == 50
    again = (found_here / "engine.log").read_text().splitlines()
    assert sum(each.startswith("search") for each in again) == 120 - 40
    assert {each.status for each in done.cells} == {"done"}
    assert not list(found_here.rglob("asked.jsonl"))


def test_rounds_are_interleaved_over_all_settings_of_all_engines() -> None:
    order: list[str] = []

    def engine(name: str):
        def search(query: str, k: int) -> list[str]:
            order.append(name)
            return engines_here.search(query, k)

        return search

    options = EngineOptions(queries={f"q{row}": "one" for row in range(5)}, rounds=3, warm_up=0)
    inputs = read_inputs(options)
    works = [plan_work(engine(name), inputs, options, None) for name in "abc"]

    for work in works:
        work.open()
    ask_rounds(works)

    assert [work.error for work in works] == [None, None, None]
    rounds = [order[start : start + 15] for start in (0, 15, 30)]
    assert [sorted(set(each)) for each in rounds] == [["a", "b", "c"]] * 3
    assert all(each.count(name) == 5 for each in rounds for name in "abc")
    assert len({"".join(dict.fromkeys(each)) for each in rounds}) > 1


def test_a_table_of_an_option_is_read_and_what_cannot_be_is_a_sentence(found_here: Path) -> None:
    file = make_bench(
        found_here,
        '[[system]]\nname = "fts"\nengine = "sqlite-fts5"\nsweep = { k1 = [1.2, 1.2] }\n',
    )
    with pytest.raises(BadInput, match=r"bench\.toml:15: .*sweep: k1 lists a value twice"):
        rw.bench(file)
    make_bench(
        found_here,
        '[[system]]\nname = "fts"\nengine = "sqlite-fts5"\noption = { tokenizer = ["a"] }\n',
    )
    with pytest.raises(
        BadInput, match=r"bench\.toml:15: .*option is \{'tokenizer': \['a'\]\}; expected strings"
    ):
        rw.bench(file)


@pytest.mark.slow
def test_a_password_is_in_no_file_of_a_bench_nor_on_standard_error_nor_in_the_list_of_processes(
    found_here: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    secret = "correct horse 7%"
    monkeypatch.setenv("SEARCH_KEY", secret)
    seen: list[str] = []

    def answer(number: int, _: object) -> Reply:
        if number == 3:
            seen.append(
                subprocess.run(
                    ["ps", "axww", "-o", "args"], capture_output=True, text=True, check=True
                ).stdout
            )
        return Reply(
            {"hits": [{"id": "one"}]} if number != 8 else {"error": "no"},
            200 if number != 8 else 500,
        )

    with ScriptedServer(answer) as server:
        (found_here / "endpoint.toml").write_text(
            f'url = "{server.url}"\nheaders = {{ Authorization = "ApiKey ${{SEARCH_KEY}}" }}\n'
            'body = { text = "{query}", size = "{k}" }\nresults = { list = "hits", id = "id" }\n'
        )
        address = server.url.replace("http://", "http://me:${SEARCH_KEY}@")
        own = (
            f'[[system]]\nname = "server"\nengine = "endpoint.toml"\nurl = "{address}"\nretries = '
            "1\n"
        )
        file = make_bench(found_here, own)
        results = rw.bench(file)
        headers = [each.headers.get("Authorization", "") for each in server.received]

    assert not results.failed, results.failed[0].error
    recipe = json.loads(
        (found_here / "bench-results" / "faq" / "server" / "cell.json").read_text()
    )["made_of"]
    assert "endpoint.toml" in recipe["inputs"]
    assert all(headers)
    assert "spawn_main" in seen[0]
    printed = "".join(capfd.readouterr()) + results.render("json") + "".join(results.findings)
    written = [
        path.read_bytes() for path in (found_here / "bench-results").rglob("*") if path.is_file()
    ]
    for text in (secret, "correct%20horse", "correct horse"):
        assert text not in seen[0] + printed
        assert not [each for each in written if text.encode() in each]


def test_a_password_that_is_written_out_is_refused_before_anything_is_written(
    found_here: Path,
) -> None:
    file = make_bench(
        found_here,
        '[[system]]\nname = "pg"\nengine = "pgvector"\nurl = '
        '"postgresql://app:hunter2@localhost/shop"\n',
    )

    with pytest.raises(BadInput, match="the URL contains a password or a token") as caught:
        rw.bench(file)

    assert "hunter2" not in str(caught.value)
    assert not list((found_here / "bench-results").rglob("*.json"))


def test_a_page_of_several_sweeps_names_the_folder_of_each_verdict(
    found_here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(found_here)
    for name in ("narrow", "wide"):
        result = rw.evaluate_engine(
            "engines_here:COUNTED",
            {"q1": "one two"},
            documents={"one": "one", "two": "two"},
            qrels={"q1": {"one": 1, "two": 1}},
            measures="R",
            rounds=1,
            option={"shape": name},
            sweep={"depth": [1, 2]},
            intervals="none",
        )
        write(result, found_here / name)
    folders = [
        ("", read_results(found_here / "narrow")),
        ("second", read_results(found_here / "wide")),
    ]

    verdicts = page_source(folders).verdicts

    assert [each.partition(":")[0] for each in verdicts] == ["narrow", "second"]
