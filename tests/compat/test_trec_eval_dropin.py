"""`rankwell trec-eval` against what trec_eval printed: its own quick test, and golden outputs of
seeded awkward files.
"""

import gzip
import io
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from rankwell._native import native
from rankwell.compat import trec_eval
from rankwell.compat.trec_command import MEASURES, parse, plan
from rankwell.data.registry import MEASURES as OURS
from rankwell.data.registry import parse_measure
from rankwell.errors import (
    BadInput,
    BadLine,
    BadUsage,
    NothingToEvaluate,
    RankwellError,
    UnknownName,
)
from rankwell.io.reader import Scan

GOLDEN = Path(__file__).parents[1] / "golden"
MANY_PARAMETERS = (
    "-q -miprec_at_recall..10,.20,.25,.75,.50 -m P.5,7,3 -m recall.20,2000 -m "
    "Rprec_mult.5.0,0.2,0.35 -mutility.2,-1,0,0 "
    "-m 11pt_avg..25,.5,.75 -mndcg.1=3,2=9,4=4.5 -mndcg_cut.10,20,23.4 -msuccess.2,5,20 "
    "qrels.test results.test"
)
BOTH = [
    ("qrels.test results.test", "out.test"),
    ("-m all_trec qrels.test results.test", "out.test.a"),
    ("-m all_trec -q qrels.test results.test", "out.test.aq"),
    ("-m all_trec -q -c qrels.test results.trunc", "out.test.aqc"),
    ("-m all_trec -q -c -M100 qrels.test results.trunc", "out.test.aqcM"),
    ("-m all_trec -mrelstring.20 -q -l2 qrels.rel_level results.test", "out.test.aql"),
    ("-m all_prefs -q -R prefs prefs.test prefs.results.test", "out.test.prefs"),
    ("-m all_prefs -q -R qrels_prefs qrels.test results.test", "out.test.qrels_prefs"),
    ("-m qrels_jg -q -R qrels_jg qrels.123 results.test", "out.test.qrels_jg"),
    (MANY_PARAMETERS, "out.test.meas_params"),
]
ONLY_10 = [
    ("qrels.test.with-comments results.test", "out.test"),
    ("qrels.comment.test results.comment.test", "out.comment.test"),
    ("-m all_prefs -q -R prefs prefs.comment.test prefs.results.test", "out.test.prefs"),
    ("-m qrels_jg -q -R qrels_jg qrels.comments.123 results.test", "out.test.qrels_jg"),
    ("-q -m all_trec -Z zscores_file qrels.test results.test", "out.test.aqZ"),
]
# Version 9 came with another zscores_file, whose statistics of set_F are nan.
ONLY_9 = [
    (
        "-q -m all_trec -Z ../trec_eval_v9_expected/zscores_file qrels.test results.test",
        "out.test.aqZ",
    )
]


def golden_cases():
    cases = []
    for version, flag in (("10.0", "--v10"), ("9.0.8", "--v9")):
        kept = json.loads((GOLDEN / f"trec_eval-{version}" / "outputs.json").read_text())
        for command, output in kept["outputs"].items():
            cases.append(
                pytest.param(flag, kept["files"], command, output, id=f"{version} {command}")
            )
    return cases


def printed(arguments, folder, monkeypatch):
    monkeypatch.chdir(folder)
    stdout = io.StringIO()
    code = trec_eval.main(arguments, stdout)
    return code, stdout.getvalue()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "qrels").write_text("q1 0 a 1\nq1 0 b 0\nq2 0 c 2\n")
    (tmp_path / "run").write_text(
        "q1 Q0 a 1 2.5 one\nq1 Q0 x 2 1.5 one\nq2 Q0 y 1 9 two\nq2 Q0 c 2 8 two\n"
    )
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(("command", "expected"), BOTH + ONLY_10)
def test_version_10_passes_its_own_quick_test_byte_for_byte(command, expected, shared, monkeypatch):
    data = shared / "trec" / "trec_eval_v10"

    assert printed(command.split(), data, monkeypatch) == (0, (data / expected).read_text())


@pytest.mark.parametrize(("command", "expected"), BOTH + ONLY_9)
def test_version_9_passes_its_own_quick_test_byte_for_byte(command, expected, shared, monkeypatch):
    data = shared / "trec" / "trec_eval_v10"
    output = shared / "trec" / "trec_eval_v9_expected" / expected

    assert printed(["--v9", *command.split()], data, monkeypatch) == (0, output.read_text())


@pytest.mark.parametrize(("flag", "files", "command", "output"), golden_cases())
def test_awkward_files_print_what_trec_eval_printed(
    flag, files, command, output, tmp_path, monkeypatch
):
    for name, text in files.items():
        (tmp_path / name).write_text(text)

    found = printed([flag, *command.split()], tmp_path, monkeypatch)

    assert found == (output["exit"], output["stdout"])


def test_the_command_prints_the_same_in_a_process_of_its_own(shared):
    data = shared / "trec" / "trec_eval_v10"
    command = [
        sys.executable,
        "-m",
        "rankwell",
        "trec-eval",
        "-q",
        "-m",
        "all_trec",
        "qrels.test",
        "results.test",
    ]

    done = subprocess.run(command, cwd=data, capture_output=True, check=False)

    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout == (data / "out.test.aq").read_bytes()


@pytest.mark.parametrize("program", ["gzip", "stdin"])
def test_a_compressed_run_and_standard_input_print_the_same(program, folder):
    expected = subprocess.run(_command("qrels", "run"), capture_output=True, check=True).stdout
    if program == "gzip":
        if shutil.which("gzip") is None:
            pytest.skip("gzip is not here")
        subprocess.run(["gzip", "run", "qrels"], check=True)
        found = subprocess.run(
            _command("qrels.gz", "run.gz"), capture_output=True, check=True
        ).stdout
    else:
        with (folder / "run").open("rb") as run:
            found = subprocess.run(
                _command("qrels", "-"), stdin=run, capture_output=True, check=True
            ).stdout

    assert found == expected
    assert b"runid                 \tall\ttwo\n" in found


def _command(*arguments):
    return [sys.executable, "-m", "rankwell", "trec-eval", *arguments]


def test_ids_that_are_not_utf_8_are_written_as_they_were_read(folder):
    (folder / "qrels").write_bytes(b"q\xff 0 a 1\n")
    (folder / "run").write_bytes(b"q\xff Q0 a 1 1 t\xfe\n")

    done = subprocess.run(
        _command("-q", "-m", "runid", "-m", "map", "qrels", "run"), capture_output=True, check=True
    )

    assert [line.split() for line in done.stdout.splitlines()] == [
        [b"map", b"q\xff", b"1.0000"],
        [b"runid", b"all", b"t\xfe"],
        [b"map", b"all", b"1.0000"],
    ]


def test_a_topic_without_results_ends_version_10_with_code_4_after_those_before_it(
    folder, monkeypatch, capsys
):
    (folder / "qrels").write_text("q1 0 a 1\nq15 0 b 1\nq2 0 c 2\n")

    found = printed(["-q", "-m", "map", "qrels", "run"], folder, monkeypatch)

    assert found == (4, "map                   \tq1\t1.0000\n")
    assert "trec_eval: result qid 'q15' not found in qrels" in capsys.readouterr().err


def test_a_topic_without_results_is_left_out_by_version_9(folder, monkeypatch):
    (folder / "qrels").write_text("q1 0 a 1\nq15 0 b 1\nq2 0 c 2\n")

    code, text = printed(["--v9", "-q", "-m", "map", "qrels", "run"], folder, monkeypatch)

    assert code == 0
    assert [line.split("\t")[1:] for line in text.splitlines()] == [
        ["q1", "1.0000"],
        ["q2", "0.5000"],
        ["all", "0.7500"],
    ]


@pytest.mark.parametrize(
    "arguments",
    [
        "-qc -mP.5 -l2 Q R",
        "-q -c -m P.5 -l 2 Q R",
        "Q -qcmP.5 R -l2",
        "--query --complete_rel_info_wanted --measure=P.5 --level_for_rel 2 Q R",
        "-c -l2 -mP.5 -q -- Q R",
    ],
)
def test_options_are_read_as_getopt_reads_them(arguments):
    options = parse(arguments.split())

    assert (options.has_query_lines, options.complete, options.rel, options.marked) == (
        True,
        True,
        2,
        ("P",),
    )
    assert (options.parameters, options.qrels, options.run) == ((("P", "5"),), "Q", "R")


def test_the_first_parameters_of_a_measure_count():
    options = parse(["-mP.7", "-mP.5,6", "-mP", "Q", "R"])
    assert [line.name for line in plan(options)] == ["P_7"]


@pytest.mark.parametrize(
    "arguments",
    [
        *(
            "",
            "Q",
            "Q R S",
            "-x Q R",
            "--nonsense Q R",
            "--n=1 Q R",
            "-q -m",
            "--measure",
            "-mP. Q R",
            "-R csv Q R",
            "-T csv Q R",
        ),
        *("-D3 Q R", "-l -1 Q R", "-M0 Q R"),
    ],
)
def test_arguments_that_make_no_sense_are_bad_usage(arguments):
    with pytest.raises(BadUsage):
        parse(arguments.split())


@pytest.mark.parametrize(
    ("measure", "reason"),
    [
        ("P.5,5", "duplicate"),
        ("P.0", "rank"),
        ("P.x", "rank"),
        ("iprec_at_recall..1,.10", "duplicate"),
        ("utility.1,2", "4 coefficients"),
        ("ndcg.1", "pairs"),
        ("ndcg.1=2,3", "pairs"),
    ],
)
def test_parameters_that_trec_eval_refuses_are_refused(measure, reason):
    with pytest.raises(BadUsage, match=reason):
        plan(parse(["-m", measure, "Q", "R"]))


def test_a_measure_that_does_not_exist_is_refused_with_the_nearest_names():
    with pytest.raises(UnknownName, match=r"ndgc_cut.*ndcg_cut"):
        plan(parse(["-m", "ndgc_cut", "Q", "R"]))


@pytest.mark.parametrize("measure", ["unj", "rbp", "rbp_resid", "dcg", "ideal_dcg"])
def test_version_9_has_none_of_the_measures_that_version_10_added(measure):
    with pytest.raises(UnknownName, match=measure):
        plan(parse(["--v9", "-m", measure, "Q", "R"]))


@pytest.mark.parametrize(
    "arguments",
    [["-m", "map", "-R", "prefs"], ["-m", "prefs_simp"], ["-m", "map_avgjg"], ["-R", "qrels_jg"]],
)
def test_a_measure_of_another_format_is_refused(arguments, folder, monkeypatch):
    with pytest.raises(BadUsage, match="cannot be computed with -R"):
        printed([*arguments, "qrels", "run"], folder, monkeypatch)


def test_files_without_a_common_query_leave_nothing_to_evaluate(folder, monkeypatch):
    (folder / "qrels").write_text("7 0 a 1\n")
    with pytest.raises(NothingToEvaluate, match="No queries"):
        printed(["--v9", "qrels", "run"], folder, monkeypatch)


def test_statistics_that_are_not_finite_are_read_as_trec_eval_reads_them(folder, monkeypatch):
    (folder / "z").write_text(
        "q1 P_5 nan 0.1\nq1 Rprec -nan 0.1\nq1 map inf 0.1\nq1 recip_rank 0.5 inf\nq2 map abc "
        "2\n~ map 0 1\n~~ map 0 1\n"
    )

    names = ("map", "Rprec", "recip_rank", "P_5")
    words = [
        "--v9",
        "-q",
        *(f"-m{name.replace('_5', '.5')}" for name in names),
        "-Zz",
        "qrels",
        "run",
    ]
    found = printed(words, folder, monkeypatch)

    # As version 9.0.8 printed on 2026-11-28.
    rows = {
        "q1": ("  -inf", "  -nan", "0.0000", "   nan"),
        "q2": ("0.2500", *["-1000000.0000"] * 3),
        "all": ("  -inf", "  -nan", "-500000.0000", "   nan"),
    }
    lines = [
        f"Z{name:<22}\t{query}\t{cell}\n"
        for query, cells in rows.items()
        for name, cell in zip(names, cells, strict=True)
    ]
    assert found == (0, "".join(lines))


def test_a_missing_file_and_a_malformed_one_are_bad_input(folder, monkeypatch):
    with pytest.raises(BadInput, match="nowhere"):
        printed(["qrels", "nowhere"], folder, monkeypatch)
    with pytest.raises(BadLine, match="run:1"):
        printed(["run", "run"], folder, monkeypatch)
    (folder / "z").write_text("q1 map 0.5\n")
    with pytest.raises(BadLine, match=r"z:1: 'q1 map 0.5' has 3 fields"):
        printed(["-Z", "z", "qrels", "run"], folder, monkeypatch)


@pytest.mark.parametrize("commented", ["qrels", "run"])
def test_a_comment_is_a_mistake_in_version_9(commented, folder, monkeypatch):
    expected = printed(["--v10", "qrels", "run"], folder, monkeypatch)
    (folder / commented).write_text("# of a tool\n" + (folder / commented).read_text())

    assert printed(["--v10", "qrels", "run"], folder, monkeypatch) == expected
    with pytest.raises(
        BadLine,
        match=f"{commented}:1: '# of a tool' is a comment, which trec_eval 10 alone skips"
        if commented == "run"
        else f"{commented}:1",
    ):
        printed(["--v9", "qrels", "run"], folder, monkeypatch)


def test_an_empty_run_is_bad_input(folder, monkeypatch):
    (folder / "run").write_text("\n")

    with pytest.raises(BadInput, match="run"):
        printed(["-c", "qrels", "run"], folder, monkeypatch)


@pytest.mark.parametrize("name", ["qrels", "run"])
def test_compressed_data_that_ends_early_is_named(name, folder, monkeypatch):
    (folder / name).write_bytes(gzip.compress((folder / name).read_bytes())[:-9])

    with pytest.raises(BadInput, match=name):
        printed(["qrels", "run"], folder, monkeypatch)


@pytest.mark.parametrize(
    "measure",
    ["iprec_at_recall.inf", "Rprec_mult.nan", "ndcg.1=inf", "11pt_avg.0,nan", "set_F.inf"],
)
def test_parameters_that_are_not_finite_are_refused(measure):
    with pytest.raises(BadUsage, match="not a finite number"):
        plan(parse(["-m", measure, "qrels", "run"]))


def test_integers_beyond_64_bits_are_the_nearest_inside_as_in_trec_eval(folder, monkeypatch):
    largest = 2**63 - 1

    for digits in (str(largest), "9" * 30, "9" * 5000):
        code, text = printed(
            ["-m", f"success.{digits}", "-M", digits, "qrels", "run"], folder, monkeypatch
        )
        assert (code, text.split()[0]) == (0, f"success_{largest}")
    assert printed(["-m", f"Rprec_mult.{'9' * 30}", "qrels", "run"], folder, monkeypatch)[0] == 0


def test_the_tag_is_that_of_the_last_line_wherever_comments_and_blanks_stand(folder, monkeypatch):
    text = "".join(f"q1 Q0 d{number} 1 {number} early\n" for number in range(9000))
    text += f"q2 Q0 c 1 1 last and more\n \n#{'-' * 70000}\n"
    (folder / "run").write_text(text)

    assert printed(["-m", "runid", "qrels", "run"], folder, monkeypatch) == (
        0,
        "runid                 \tall\tlast\n",
    )


def test_help_lists_the_options_and_explains_the_requested_measures(folder, monkeypatch):
    code, text = printed(["-h", "-m", "ndcg_cut.5", "-m", "runid"], folder, monkeypatch)

    assert code == 0
    assert "--complete_rel_info_wanted" in text
    assert "ndcg_cut" in text.splitlines()[-1]


def test_the_version_goes_to_standard_error(folder, monkeypatch, capsys):
    assert printed(["--version"], folder, monkeypatch) == (0, "")
    assert capsys.readouterr().err.startswith("trec_eval version 10.0 ")


@pytest.mark.parametrize(
    "trec", [each for each in MEASURES if each.home], ids=lambda trec: trec.name
)
def test_every_measure_has_trec_evals_name_as_a_word_for_it(trec):
    name = trec.home.partition(".")[2]
    cut = "" if trec.kind not in ("ranks", "shares") else f".{trec.defaults[0]:g}"
    word = trec.name.removesuffix("_cut") if trec.name == "map_cut" else trec.name

    assert parse_measure(word + cut).name == name
    assert OURS[name].module == trec.home.partition(".")[0]


def test_neither_tables_and_printing_nor_what_formats_share_is_loaded(folder):
    loaded = _loaded("qrels", "run")

    assert not {"rich", "duckdb", "narwhals"} & loaded
    assert ("rankwell.io.formats" in loaded) == (native.library is None)


def _loaded(*arguments):
    code = "import sys; from rankwell.compat import trec_eval; "
    code += f"trec_eval.main({list(arguments)!r}, sys.stderr); print(*sys.modules)"
    return set(
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout.split()
    )


AHEAD = {
    "as it is": (lambda lines: lines, ""),
    "with other options": (lambda lines: lines, "-q -c -M 2 --v9"),
    "judged items only": (lambda lines: lines, "-q -J -l 2"),
    "scattered": (
        lambda lines: [lines[place * 7 % len(lines)] for place in range(len(lines))],
        "-q",
    ),
    "a comment": (lambda lines: ["# of a tool\n", *lines], "-q"),
    "no comment in version 9": (lambda lines: ["# of a tool\n", *lines], "-q --v9"),
    "an item twice": (lambda lines: [*lines, lines[-1]], "-q"),
    "a number that is none": (lambda lines: [*lines, lines[-1].replace(".5 ", ".x ")], "-q"),
    "an unknown measure": (lambda lines: lines, "-m nothing"),
    "groups": (lambda lines: lines, "-R qrels_jg -m qrels_jg"),
}


@pytest.mark.parametrize("case", AHEAD)
def test_a_run_that_is_read_ahead_gives_the_same(case, tmp_path, monkeypatch):
    change, options = AHEAD[case]
    lines = [f"{query} Q0 d{item} 0 {9 - item}.5 tag\n" for query in range(5) for item in range(8)]
    judged = [
        f"{query} 0 d{item} {item % 3}\n" for query in (0, 1, 2, 3, 4) for item in range(1, 8, 2)
    ]
    (tmp_path / "qrels").write_text("".join(judged))
    (tmp_path / "run").write_text("".join(change(lines)))
    begun, outcomes = list[Scan](), list[object]()
    begin = Scan.begin
    monkeypatch.setattr(Scan, "begin", lambda scan: (begun.append(scan), begin(scan)))
    for is_ahead in (True, False):
        if not is_ahead:
            monkeypatch.setattr(trec_eval, "read_ahead", lambda _: None)
        try:
            outcomes.append(printed([*options.split(), "qrels", "run"], tmp_path, monkeypatch))
        except RankwellError as error:
            outcomes.append((type(error), str(error)))

    assert outcomes[0] == outcomes[1]
    assert len(begun) == (
        native.library is not None and case not in ("groups", "an unknown measure")
    )


@pytest.mark.parametrize("missing", ["qrels", "run"])
def test_a_missing_file_is_named_however_the_run_is_read(missing, tmp_path, monkeypatch):
    for name in {"qrels", "run"} - {missing}:
        (tmp_path / name).write_text("1 Q0 d 1 1.5 t\n" if name == "run" else "1 0 d 1\n")

    with pytest.raises(BadInput, match=f"{missing}: no such file"):
        printed(["qrels", "run"], tmp_path, monkeypatch)
