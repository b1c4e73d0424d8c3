"""Input and disks that a study refuses: exit code 2 with one sentence, and nothing half-written."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Generator
from contextlib import suppress
from pathlib import Path

import pytest

from full_disk import mounted, unavailable
from rankwell.cli import main
from rankwell.tasks.judge.batches import lease_batch
from rankwell.tasks.judge.folder import JournalLine, append_lines, read_journals, read_study
from tasks.judge.judging import Client, serving
from tasks.judge.studies import judge_batches, pool, pool_study, write_world

POOL = "judge pool a.run b.run --queries queries.tsv --documents documents.tsv -o study"


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_world(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(line: str, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(sys, "argv", ["rankwell", *line.split()])
    return main()


def _twins(world: Path) -> None:
    (world / "b.run").write_bytes((world / "a.run").read_bytes())


def _query_without_text(world: Path) -> None:
    lines = (world / "queries.tsv").read_text().splitlines(keepends=True)
    (world / "queries.tsv").write_text("".join(lines[1:]))


def _grade_outside_the_scale(world: Path) -> None:
    study = read_study(pool_study(world))
    query, item = lease_batch(study, "ann").pairs[0]
    append_lines(
        study,
        [JournalLine("t", "ann", query, item, 2.0), JournalLine("t", "ann", query, item, 7.0)],
    )


def _edited(world: Path) -> None:
    file = pool_study(world) / "study.json"
    file.write_text(file.read_text().replace('"level": 0.95', '"level": 0.5'))


def _nothing(world: Path) -> None:
    pass


@pytest.mark.parametrize(
    ("arrange", "line", "words"),
    [
        (_nothing, POOL.replace(" b.run", ""), "give two runs or more"),
        (_twins, POOL, "a and b never differ in the first 10; nothing to judge"),
        (
            _query_without_text,
            POOL,
            "a.run: query 'q000' has no text; add it to the file of --queries",
        ),
        (
            _edited,
            "judge estimate study",
            "study.json was edited since it was written; restore it from a copy",
        ),
        (
            _nothing,
            f"{POOL} --guideline /dev/zero",
            "/dev/zero is a device or a socket; name a regular file",
        ),
        (
            _grade_outside_the_scale,
            "judge estimate study",
            "ann.jsonl:2: grade 7.0; the scale of the study is 0, 1, 2, 3",
        ),
    ],
)
def test_bad_input_is_one_sentence_and_leaves_nothing(
    world: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arrange: Callable[[Path], None],
    line: str,
    words: str,
):
    arrange(world)
    before = {*world.rglob("*")}

    code = run(line, monkeypatch)

    said = capsys.readouterr().err
    assert (code, said.count("\n"), words in said) == (2, 1, True), said
    assert {*world.rglob("*")} == before


@pytest.mark.parametrize(
    ("lost", "words"),
    [(1, "1 item has no document; it is"), (2, "2 items have no document; they are")],
)
def test_an_item_without_a_document_is_counted_and_asked_by_its_id(
    world: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    lost: int,
    words: str,
):
    (world / "a.run").write_text("q000 Q0 d1 1 3 a\nq000 Q0 d2 2 2 a\n")
    (world / "b.run").write_text("q000 Q0 d2 1 3 b\nq000 Q0 d1 2 2 b\n")
    (world / "documents.tsv").write_text(
        "".join(f"{item}\ttext\n" for item in ("d1", "d2")[lost:]) or "d3\ttext\n"
    )

    code = run(POOL, monkeypatch)

    assert (code, words in capsys.readouterr().err) == (0, True)
    with serving(world / "study") as server:
        client = Client(server)
        client.enter()
        assert [client.get(f"/items/1/{ask}")["item"].get("id") for ask in range(2)].count(
            None
        ) == 2 - lost


def test_odd_ids_of_queries_and_items_are_judged_on_the_page_and_estimated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    odd = ["a b", " blank ", "x/../y", "n\x00ul", "l" * 10_000]
    orders = {"a": odd, "b": [*odd[1:], odd[0]]}
    for name, order in orders.items():
        run_of = {query: {item: 9.0 - at for at, item in enumerate(order)} for query in odd}
        (tmp_path / f"{name}.json").write_text(json.dumps(run_of))
    for name in ("queries", "documents"):
        (tmp_path / f"{name}.jsonl").write_text(
            "".join(json.dumps({"id": each, "text": "t"}) + "\n" for each in odd)
        )
    texts = {
        "queries": str(tmp_path / "queries.jsonl"),
        "documents": str(tmp_path / "documents.jsonl"),
    }
    pool(str(tmp_path / "a.json"), str(tmp_path / "b.json"), output=tmp_path / "study", **texts)

    with serving(tmp_path / "study") as server:
        client = Client(server)
        client.enter()
        for ask in range(len(client.get("/state")["asks"])):
            assert client.act(ask, grade=2)[0] == 200

    lines = read_journals(read_study(tmp_path / "study")).lines
    assert {line.pair for line in lines} == {(query, item) for query in odd for item in odd}
    monkeypatch.chdir(tmp_path)
    assert run("judge estimate study", monkeypatch) == 0


@pytest.fixture
def small(world: Path) -> Generator[Path]:
    """A file system of 256 KiB with a study in it, of which the first batch is judged."""
    place = world / "small"
    place.mkdir()
    if why := unavailable(place):
        pytest.skip(why)
    truth = write_world(world, queries=12)
    with mounted(place, 256):
        judge_batches(pool_study(world, name="small/study", batch_size=20), truth, 1)
        (world / "small" / "study-judge-1.csv").unlink(missing_ok=True)
        yield place


@pytest.mark.parametrize("state", ["read-only", "full"])
@pytest.mark.parametrize(
    ("line", "code"),
    [
        (POOL.replace("-o study", "-o small/other"), 2),
        ("judge label small/study --judge ben", 2),
        ("judge estimate small/study", 2),
        ("judge plan small/study", 0),
    ],
)
def test_a_disk_that_takes_nothing_is_one_sentence_and_reading_goes_on(
    world: Path,
    small: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    state: str,
    line: str,
    code: int,
):
    if state == "full":
        with suppress(OSError), (small / "ballast").open("wb", buffering=0) as file:
            while file.write(b"x" * 4096):
                pass
    else:
        subprocess.run(["mount", "-o", "remount,ro", str(small)], check=True)
    before = {path: path.read_bytes() for path in small.rglob("*") if path.is_file()}

    found = run(line, monkeypatch)

    said = capfd.readouterr().err
    assert (found, said.count("\n") == 1 or code == 0, "Traceback" in said) == (
        code,
        True,
        False,
    ), said
    after = {
        path: path.read_bytes()
        for path in small.rglob("*")
        if path.is_file() and path.name != ".rankwell.lock"
    }
    assert {path for path in after if after[path]} == {path for path in before if before[path]}


def _line(folder: Path, place: int = 0, **other: object) -> str:
    """A line of a downloaded file, of one of the items of the first batch."""
    study = read_study(folder)
    query, item = lease_batch(study, "ann").pairs[place]
    line = {
        "time": "2026-01-01T00:00:00.000Z",
        "judge": "ann",
        "query": query,
        "item": item,
        "grade": 2,
        "note": "",
    }
    return json.dumps(line | {"study": {"name": folder.name, "identity": study.identity}} | other)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (
            '{"time": "2026',
            'file.jsonl:1: \'{"time": "2026\': Unterminated string starting at column 10',
        ),
        ("[1, 2]", "file.jsonl:1: [1, 2]; expected an object with query, item and grade"),
        ("%s\n{broken\n%s\n", "file.jsonl:2: '{broken': Expecting property name"),
        ("%s\n\n{}\n", "file.jsonl:3: time is None; expected a string"),
        ("\n", "file.jsonl has no judgments; download them again from the page"),
    ],
)
def test_a_broken_download_is_named_by_file_and_line_and_adds_nothing(
    world: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    content: str,
    words: str,
):
    study = pool_study(world)
    (world / "file.jsonl").write_text(content.replace("%s", _line(study)))

    assert run("judge label study --import file.jsonl", monkeypatch) == 2
    assert words in capsys.readouterr().err
    assert not (study / "judgments").exists()


@pytest.mark.parametrize(
    ("other", "words"),
    [
        ({"judge": "a/b"}, "file.jsonl:1: 'a/b' is not the name of a judge"),
        ({"item": "x"}, "file.jsonl:1: item 'x'"),
        ({"study": None}, "file.jsonl:1: study is None; expected its name and identity"),
        (
            {"study": {"name": "lunch"}},
            "file.jsonl:1: study is {'name': 'lunch'}; expected its name and identity",
        ),
    ],
)
def test_a_download_of_another_study_is_named_by_its_line(
    world: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    other: dict[str, str],
    words: str,
):
    study = pool_study(world)
    (world / "file.jsonl").write_text(_line(study, **other) + "\n")

    assert run("judge label study --import file.jsonl", monkeypatch) == 2
    assert words in capsys.readouterr().err


def test_a_download_is_read_to_its_last_line_even_without_a_line_end_and_a_torn_one_is_dropped(
    world: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    study = pool_study(world)
    lines = [_line(study, place) for place in range(3)]

    (world / "file.jsonl").write_text("\n".join(lines[:2]))
    assert run("judge label study --import file.jsonl", monkeypatch) == 0
    assert "2 lines of ann read from file.jsonl" in capsys.readouterr().err
    (world / "file.jsonl").write_text("\n".join(lines)[:-9])
    assert run("judge label study --import file.jsonl", monkeypatch) == 0
    assert "file.jsonl:3: the last line is incomplete, and was dropped" in capsys.readouterr().err
    assert len((study / "judgments" / "ann.jsonl").read_text().splitlines()) == 2


def test_a_download_of_another_study_that_pools_the_same_items_is_refused_by_name(
    world: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    study, other = pool_study(world), pool_study(world, name="lunch", grades="0=no,1=some,2=yes")
    (world / "file.jsonl").write_text(_line(other) + "\n")

    assert run("judge label study --import file.jsonl", monkeypatch) == 2
    assert "file.jsonl:1: judged for the study 'lunch' (identity '" in capsys.readouterr().err
    assert not (study / "judgments").exists()


def test_a_download_is_of_its_study_after_a_run_was_added_and_in_a_copy_of_the_folder(
    world: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    study = pool_study(world)
    (world / "file.jsonl").write_text(_line(study) + "\n")
    pool(str(study), add=[str(world / "c.run")])
    shutil.copytree(study, world / "copy")

    assert run("judge label study --import file.jsonl", monkeypatch) == 0
    assert run("judge label copy --import file.jsonl", monkeypatch) == 0


def test_a_download_that_is_older_than_the_journal_does_not_replace_its_judgments(
    world: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    study = pool_study(world)
    query, item = lease_batch(read_study(study), "ann").pairs[0]
    append_lines(
        read_study(study), [JournalLine("2026-01-02T00:00:00.000Z", "ann", query, item, 3.0)]
    )
    lines = [_line(study), _line(study, 1), _line(study, time="2026-01-03T00:00:00.000Z", grade=1)]
    (world / "file.jsonl").write_text("\n".join(lines))

    assert run("judge label study --import file.jsonl", monkeypatch) == 0
    assert (
        "2 lines of ann read from file.jsonl\n1 line is older than a judgment of its item in "
        "the journal" in capsys.readouterr().err
    )
    lines = read_journals(read_study(study)).lines
    assert [(line.item == item, line.grade) for line in lines] == [
        (True, 3.0),
        (False, 2.0),
        (True, 1.0),
    ]
