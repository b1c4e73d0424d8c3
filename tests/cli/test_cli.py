"""The command line: exit codes, one clear line for every mistake, nothing half-written."""

import gzip
import io
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import typed_pages
from rankwell import __version__, cli

QRELS = "q1 0 a 1\nq1 0 b 0\nq2 0 c 2\n"
RUN = "q1 Q0 a 1 2.5 t\nq1 Q0 x 2 1.5 t\nq2 Q0 y 1 9 t\nq2 Q0 c 2 8 t\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "qrels.txt").write_text(QRELS)
    (tmp_path / "a.run").write_text(RUN)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr("sys.argv", ["rankwell", *arguments])
    return cli.main()


def test_the_version_is_printed_without_loading_anything_heavy():
    code = (
        "import sys; from rankwell.cli import main; sys.argv = ['rankwell', '--version']; main(); "
        "print(sorted(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.startswith(f"rankwell {__version__}\n")
    assert not {"numpy", "argparse", "rich", "duckdb"} & set(done.stdout.split("'"))


def test_the_trec_eval_drop_in_loads_no_library_that_prints_or_reads_tables(folder: Path):
    code = (
        "import sys; from rankwell.cli import main; sys.argv = ['rankwell', 'trec-eval', "
        "'qrels.txt', 'a.run']; main();"
        "print(sorted(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert "map" in done.stdout
    assert not {"rich", "duckdb", "narwhals"} & set(done.stdout.split("'"))


@pytest.mark.parametrize(
    "words",
    [
        ["--version"],
        ["--help"],
        ["trec-eval", "qrels.txt", "a.run"],
        ["evaluate", "qrels.txt", "a.run", "--intervals", "none"],
        ["evaluate", "qrels.txt", "a.run"],
    ],
    ids=" ".join,
)
def test_scipy_is_loaded_for_p_values_and_t_intervals_only(folder: Path, words: list[str]):
    code = (
        "import sys; from rankwell.cli import main; code = main(); print('scipy' in sys.modules, "
        "code, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *words], capture_output=True, text=True, check=True
    )

    assert done.stderr.splitlines()[-1] == "False 0"


def test_evaluate_prints_numbers_on_stdout_and_notes_on_stderr(folder: Path, monkeypatch, capsys):
    assert run(monkeypatch, "evaluate", "qrels.txt", "a.run", "-m", "RR", "-m", "nDCG@10") == 0
    out, err = capsys.readouterr()

    assert out == "a · 2 queries · mean\n\n          mean\nRR       0.750\nnDCG@10  0.815\n"
    assert err.splitlines() == [
        "! no interval below 10 counted queries (here 2): a RR, a nDCG@10",
        "RR treats the grades 1 to 2 alike: 1 or more is relevant; try --min-grade",
    ]


def test_the_format_is_named_where_it_was_in_doubt_and_quiet_leaves_out_notes_on_the_work(
    folder: Path, monkeypatch, capsys
):
    (folder / "odd.csv").write_text(
        "qid,docno,score,note\tqid\tdocno\tscore\nq1,d1,1,x\tq1\td1\t2\n"
    )

    run(monkeypatch, "evaluate", "qrels.txt", "odd.csv", "-m", "RR", "-o", "plain")
    loud = capsys.readouterr().err
    run(monkeypatch, "evaluate", "qrels.txt", "odd.csv", "-m", "RR", "-o", "quiet", "--quiet")
    quiet = capsys.readouterr().err

    assert "odd.csv: read as csv; it could also be tsv: name the format" in loud
    assert "wrote plain/\nNext: rankwell report plain --open\n" in loud
    assert quiet.splitlines()
    for line in quiet.splitlines():
        assert line.startswith("! ") or "more finding" in line
        assert "wrote" not in line
        assert "Next" not in line


def test_the_next_command_separates_measures_by_commas(folder: Path, monkeypatch, capsys):
    (folder / "b.run").write_text((folder / "a.run").read_text())

    run(monkeypatch, "evaluate", "qrels.txt", "a.run", "b.run", "-m", "RR", "nDCG(rel=1)@10")

    next_line = capsys.readouterr().err.splitlines()[-1]
    assert next_line == "Next: rankwell compare qrels.txt a.run b.run -m 'RR,nDCG(rel=1)@10'"


def test_the_next_command_quotes_a_folder_with_blanks(folder: Path, monkeypatch, capsys):
    run(monkeypatch, "evaluate", "qrels.txt", "a.run", "-m", "RR", "-o", "my 'results")

    assert """rankwell report 'my '"'"'results'""" in capsys.readouterr().err


class Screen(io.StringIO):
    """A terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("width", [40, 80])
def test_messages_are_folded_on_a_terminal_between_words_only(
    folder: Path, monkeypatch, width: int
):
    (folder / "my own runs of today").mkdir()
    place = folder / "my own runs of today" / "best run.run"
    place.write_text("q1 Q0 d2 1 1.0 t\nq1 Q0 d3 2 1.0 t\nq1 Q0 d1 3 1.0 t\nq2 Q0 d1 1 1.0 t\n")
    screen, pipe = Screen(), io.StringIO()
    monkeypatch.setenv("COLUMNS", str(width))

    for stream in (screen, pipe):
        monkeypatch.setattr("sys.stderr", stream)
        run(monkeypatch, "evaluate", "qrels.txt", str(place))
        run(
            monkeypatch,
            "evaluate",
            "qrels.txt",
            str(place),
            "--run-format",
            "no such format of any kind",
        )

    text = screen.getvalue()
    assert "\n  " not in pipe.getvalue()
    assert text.replace("\n  ", " ") == pipe.getvalue()
    assert "best run" in text
    assert "'no such format of any kind'" in text
    assert all(len(line) <= width or " " not in line.strip() for line in text.splitlines())
    assert len(text.splitlines()) > len(pipe.getvalue().splitlines())


def test_json_has_exactly_the_promised_shape(folder: Path, monkeypatch, capsys):
    assert run(monkeypatch, "evaluate", "qrels.txt", "a.run", "-m", "RR", "--format", "json") == 0
    found = json.loads(capsys.readouterr().out)

    assert list(found) == ["schema_version", "rows", "rules", "findings"]
    assert found["schema_version"] == 2
    assert list(found["rows"][0]) == [
        "run",
        "measure",
        "label",
        "mean",
        "sd",
        "ci_low",
        "ci_high",
        "n",
        "unit",
    ]
    assert found["rows"][0] | {"sd": None} == {
        "run": "a",
        "measure": "RR",
        "label": "RR",
        "mean": 0.75,
        "sd": None,
        "ci_low": None,
        "ci_high": None,
        "n": 2,
        "unit": "share",
    }
    assert (
        run(
            monkeypatch,
            "evaluate",
            "qrels.txt",
            "a.run",
            "-m",
            "RR",
            "--format",
            "json",
            "--per-query",
        )
        == 0
    )
    found = json.loads(capsys.readouterr().out)
    assert list(found["per_query"][0]) == ["run", "query", "measure", "label", "value", "unit"]
    assert [row["value"] for row in found["per_query"]] == [1.0, 0.5]


def test_the_output_folder_holds_every_file_of_the_design(folder: Path, monkeypatch, capsys):
    assert run(monkeypatch, "evaluate", "qrels.txt", "a.run", "-o", "out") == 0
    names = {path.name for path in (folder / "out").iterdir()}

    assert {
        "summary.csv",
        "summary.json",
        "per_query.parquet",
        "manifest.json",
        "details.parquet",
        "queries.parquet",
    } <= names
    assert {path.suffix for path in (folder / "out").iterdir()} >= {".png", ".svg"}
    manifest = json.loads((folder / "out" / "manifest.json").read_text())
    assert manifest["inputs"]["a"]["digest"].startswith("sha256:")


BAD = {
    "five columns": (
        "bad.run",
        b"q1 Q0 a 1 2.5\n",
        ["bad.run:1", "score 2.5", "--columns query=1,item=3,score=5"],
    ),
    "text for a number": (
        "bad.run",
        b"q1 Q0 a 1 2.5 t\nq1 Q0 b 2 high t\n",
        ["bad.run:2", "'high'"],
    ),
    "not a number": ("bad.run", b"q1 Q0 a 1 2.5 t\nq1 Q0 b 2 nan t\n", ["bad.run:2", "nan"]),
    "an item twice": (
        "bad.run",
        b"q1 Q0 a 1 2.5 t\nq1 Q0 b 2 2 t\nq1 Q0 a 3 1 t\n",
        ["bad.run", "'q1'", "'a'", "1", "3"],
    ),
    "judgments as a run": ("bad.run", QRELS.encode(), ["bad.run:1", "judgments", "expected a run"]),
    "an empty file": ("bad.run", b"", ["bad.run", "empty"]),
    "a truncated gzip": ("bad.run", gzip.compress(RUN.encode() * 50)[:-12], ["bad.run", "gzip"]),
    "a missing file": ("bad.run", None, ["bad.run", "no such file"]),
}


@pytest.mark.parametrize("case", list(BAD))
def test_bad_input_is_one_line_exit_code_2_and_nothing_written(
    case: str, folder: Path, monkeypatch, capsys
):
    name, content, wanted = BAD[case]
    if content is not None:
        (folder / name).write_bytes(content)

    assert run(monkeypatch, "evaluate", "qrels.txt", name, "-o", "out") == 2
    out, err = capsys.readouterr()

    assert out == ""
    assert len(err.strip().splitlines()) == 1, err
    for part in wanted:
        assert part in err, err
    assert not (folder / "out").exists()


def test_no_common_query_is_exit_code_4(folder: Path, monkeypatch, capsys):
    (folder / "b.run").write_text("7 Q0 a 1 1 t\n")

    assert run(monkeypatch, "evaluate", "qrels.txt", "b.run") == 4
    assert "'q1'" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [
        ("evaluate", "qrels.txt"),
        ("evaluate", "qrels.txt", "a.run", "--frobnicate"),
        ("evaluate", "qrels.txt", "a.run", "-m", "nDGC@10"),
        ("evaluate", "qrels.txt", "a.run", "--convention", "treceval"),
        ("evaluate", "qrels.txt", "a.run", "--ties", "random"),
        ("explain", "Recal@5"),
        ("frobnicate",),
    ],
)
def test_bad_usage_is_exit_code_2_with_a_short_message(
    arguments: tuple[str, ...], folder: Path, monkeypatch, capsys
):
    assert run(monkeypatch, *arguments) == 2
    out, err = capsys.readouterr()

    assert out == ""
    assert 1 <= len(err.strip().splitlines()) <= 2, err
    assert "Traceback" not in err


def test_explain_lists_the_meanings_of_a_word_with_formula_source_and_example(monkeypatch, capsys):
    assert run(monkeypatch, "explain", "map@10") == 0
    out = capsys.readouterr().out

    assert "AP@10" in out
    assert "AP(denom='min')@10" in out
    assert "source:" in out
    assert ">>>" in out


def test_an_explanation_fills_the_lines_of_a_terminal(tmp_path: Path):
    with typed_pages.terminal(tmp_path):
        text = typed_pages.typed("rankwell explain 'recall at k'")

    prose = [line for line in text.splitlines() if line[2:5] not in (">>>", "...")]
    assert max(map(len, prose)) <= 80
    joined = " ".join(line.strip() for line in prose)
    assert "in the first `k` places; 0 if there are none." in joined
    assert [line for line in prose if line.strip() in ("are none.", "at every cut-off.")] == []
    assert any(line.startswith("  judged_only: ") for line in prose)


def test_the_same_command_gives_the_same_bytes(folder: Path, monkeypatch, capsys):
    outputs = set()
    for target in ("one", "two"):
        assert (
            run(monkeypatch, "evaluate", "qrels.txt", "a.run", "--format", "json", "-o", target)
            == 0
        )
        outputs.add(capsys.readouterr().out)
    assert len(outputs) == 1
    for path in sorted((folder / "one").iterdir()):
        assert path.read_bytes() == (folder / "two" / path.name).read_bytes(), path.name


def test_a_hyphen_is_standard_input_for_judgments_or_run(folder: Path):
    for arguments, content in ((["qrels.txt", "-"], RUN), (["-", "a.run"], QRELS)):
        words = [
            sys.executable,
            "-m",
            "rankwell",
            "evaluate",
            *arguments,
            "-m",
            "RR",
            "--format",
            "csv",
        ]
        done = subprocess.run(words, input=content, capture_output=True, text=True, check=False)

        assert done.returncode == 0, done.stderr
        assert ",RR,RR,0.75," in done.stdout


def test_two_pipes_are_two_runs(folder: Path):
    shell = shutil.which("bash") or pytest.skip("there is no bash here, which makes the pipes")
    command = (
        f"'{sys.executable}' -m rankwell evaluate qrels.txt <(cat a.run) <(sort -r a.run) -m RR "
        "--format csv"
    )
    done = subprocess.run([shell, "-c", command], capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
    assert done.stdout.count(",RR,RR,0.75,") == 2


def test_a_target_that_is_not_a_file_is_written_into_and_a_link_stays_a_link(folder: Path):
    done = subprocess.run(
        [sys.executable, "-m", "rankwell", "convert", "a.run", "/dev/stdout", "--to", "csv"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("query")

    (folder / "real.csv").write_text("old")
    (folder / "link.csv").symlink_to(folder / "real.csv")
    subprocess.run(
        [sys.executable, "-m", "rankwell", "convert", "a.run", "link.csv", "--overwrite"],
        check=True,
        capture_output=True,
    )
    assert (folder / "link.csv").is_symlink()
    assert (folder / "real.csv").read_text().startswith("query")


def test_an_output_folder_that_is_a_file_is_refused_before_any_work(
    folder: Path, monkeypatch, capsys
):
    assert run(monkeypatch, "evaluate", "qrels.txt", "a.run", "-o", "qrels.txt") == 2
    assert "qrels.txt is a file" in capsys.readouterr().err
    assert (folder / "qrels.txt").read_text() == QRELS


def test_a_negative_seed_is_bad_usage(folder: Path, monkeypatch, capsys):
    assert run(monkeypatch, "evaluate", "qrels.txt", "a.run", "--seed", "-1") == 2
    assert "--seed: -1; expected a non-negative integer" in capsys.readouterr().err


@pytest.mark.parametrize("number", ["１", "1_0", "9" * 30])
def test_integers_have_ascii_digits_and_64_bits(folder: Path, number: str, monkeypatch, capsys):
    assert run(monkeypatch, "evaluate", "qrels.txt", "a.run", "--seed", number) == 2
    assert "integer" in capsys.readouterr().err


def test_a_very_long_message_keeps_its_two_ends(folder: Path, monkeypatch, capsys):
    assert run(monkeypatch, "evaluate", "qrels.txt", "a.run", "-m", "(" * 100_000) == 2
    assert len(capsys.readouterr().err) < 4100


def test_a_named_format_goes_before_the_content(folder: Path, monkeypatch, capsys):
    assert run(monkeypatch, "evaluate", "qrels.txt", "a.run", "--run-format", "json") == 2
    assert (
        run(
            monkeypatch,
            "evaluate",
            "qrels.txt",
            "a.run",
            "--run-format",
            "trec",
            "--qrels-format",
            "trec",
        )
        == 0
    )


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252", "utf-8:strict"])
def test_what_goes_into_a_pipe_is_utf_8_whatever_the_locale(folder: Path, encoding: str):
    (folder / "odd.txt").write_bytes(QRELS.encode().replace(b"q1", b"q\xe9"))
    (folder / "odd.run").write_bytes(RUN.encode().replace(b"q1", b"q\xe9"))

    def _printed(*words: str) -> bytes:
        here = {**os.environ, "PYTHONIOENCODING": encoding}
        return subprocess.run(
            [sys.executable, "-m", "rankwell", *words], capture_output=True, check=True, env=here
        ).stdout

    assert b"\nodd,q\xe9,RR," in _printed(
        "evaluate", "odd.txt", "odd.run", "-m", "RR", "--per-query", "--format", "csv"
    )
    assert b"recip_rank            \tq\xe9\t" in _printed(
        "trec-eval", "-q", "-m", "recip_rank", "odd.txt", "odd.run"
    )
    assert "─" in _printed("evaluate", "odd.txt", "odd.run", "-m", "RR", "--verbose").decode()
    assert "text–video" in _printed("--help").decode()


@pytest.mark.parametrize("command", ["evaluate", "trec-eval"])
def test_streams_that_are_closed_lead_nowhere(command: str, folder: Path):
    rankwell = [sys.executable, "-m", "rankwell", command, "qrels.txt", "a.run"]
    given = ["-o", "out"] if command == "evaluate" else []

    done = subprocess.run(
        ["sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh", *rankwell, *given], check=False
    )

    assert done.returncode == 0
    assert (folder / "out" / "manifest.json").exists() == bool(given)
    assert (folder / "qrels.txt").read_text() == QRELS


@pytest.mark.parametrize("command", ["evaluate", "trec-eval", "check"])
@pytest.mark.parametrize(("run", "code"), [("a.run", 0), ("nowhere", 2)])
def test_the_exit_code_is_the_same_where_no_message_can_be_written(
    command: str, run: str, code: int, folder: Path
):
    rankwell = [sys.executable, "-m", "rankwell", command, "qrels.txt", run]

    with Path("/dev/full").open("w") as full:
        assert (
            subprocess.run(rankwell, stdout=subprocess.DEVNULL, stderr=full, check=False).returncode
            == code
        )
    closed = 'exec 3>&1; { "$@" 2>&1 >&3 3>&-; echo $? >code; } | true'
    subprocess.run(["sh", "-c", closed, "sh", *rankwell], stdout=subprocess.DEVNULL, check=False)
    assert (folder / "code").read_text() == f"{code}\n"


def test_an_interrupt_while_duckdb_works_is_an_interrupt(folder: Path, monkeypatch, capsys):
    def _interrupted(*_):
        raise RuntimeError("Query interrupted")

    monkeypatch.setattr(cli, "_run", _interrupted)

    assert run(monkeypatch, "evaluate", "qrels.txt", "a.run") == 130
    assert capsys.readouterr().err.startswith("rankwell: interrupted; nothing is half-written.")


def test_an_interrupt_before_the_command_begins_is_an_interrupt(monkeypatch):
    def _interrupted():
        raise KeyboardInterrupt

    codes: list[int] = []
    monkeypatch.setattr(sys, "argv", ["rankwell"])
    # `script` changes both for its whole process, which here is that of all tests.
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setenv(cli.startup.SAFE_PATH, "")
    monkeypatch.setattr(cli.startup, "collect_garbage_rarely", _interrupted)
    monkeypatch.setattr(cli.startup, "leave", lambda _, code: codes.append(code))

    cli.script()

    assert codes == [130]


def test_the_version_is_printed_whatever_follows(monkeypatch, capsys):
    assert run(monkeypatch, "--version", "evaluate") == 0
    assert capsys.readouterr().out.startswith(f"rankwell {__version__}\n")


def test_bad_usage_names_the_page_of_help_that_is_meant(folder: Path, monkeypatch, capsys):
    for words, page in (
        (["judge", "lnt"], "judge --help"),
        (["evalute"], "--help"),
        (["evaluate"], "evaluate --help"),
    ):
        assert run(monkeypatch, *words) == 2
        assert capsys.readouterr().err.endswith(f"Try `rankwell {page}`.\n")


def test_a_message_shows_control_characters_as_escapes(folder: Path, monkeypatch, capsys):
    assert run(monkeypatch, "evaluate", "qrels", "no\x1b[31m\u202eé") == 2

    said = capsys.readouterr().err
    assert "no\\x1b[31m\\u202e" in said
    assert "é" in said
    assert "\x1b" not in said
