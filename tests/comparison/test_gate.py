"""`rankwell gate`: what passes, what fails and why, what is an error, and the XML that continuous
integration reads.
"""

import json
import xml.etree.ElementTree as ET
from collections.abc import Sequence

import numpy as np
import pytest

from commanding import with_fields
from rankwell import cli
from rankwell.cli.commands.compare import compare as compare_command
from rankwell.cli.commands.gate import gate as gate_command
from rankwell.comparison.requirements import SummaryFigures, check_requirement, parse_requirement
from rankwell.data.tables import Values
from rankwell.errors import BadInput, BadUsage, UnknownName
from rankwell.reporting.folder import FolderContent, write_folder
from rankwell.reporting.junit import Case, junit_text
from rankwell.stats import summarise

compare = with_fields(compare_command)
gate = with_fields(gate_command)

RULES = {
    "measures": {
        "AP": {"better": "higher", "summary": "mean"},
        "MnR": {"better": "lower", "summary": "mean"},
    }
}


def numbers(seed, n, lift=0.0):
    return np.random.default_rng(seed).random(n).round(4) * 0.8 + lift


def folder_of(path, lifts, *, n=60, unit="share", intervals="bootstrap", rank_step=0.0):
    """A folder as `-o` writes it: AP (higher is better) and MnR (lower is better) of every run,
    whose AP lies `lift` higher.
    """
    queries = tuple(f"q{place:03}" for place in range(n))
    factor = 100 if unit == "percent" else 1
    values = [
        each
        for place, (run, lift) in enumerate(lifts.items())
        for each in (
            Values(
                run,
                "AP",
                "AP",
                unit,
                "mean",
                queries,
                factor * (numbers(1, n) + lift + numbers(place + 2, n) / 50),
            ),
            Values(
                run,
                "MnR",
                "MnR",
                "rank",
                "mean",
                queries,
                20 - 10 * lift + numbers(place + 9, n) + rank_step * place,
            ),
        )
    ]
    rules = RULES | {"intervals": intervals}
    summary = summarise(values, intervals=intervals)
    content = FolderContent(
        summary=summary, values=values, rules=rules, findings=[], manifest={"rules": rules}
    )
    write_folder(path, content, charts=False)
    return path


def run_command(monkeypatch, capsys, *arguments):
    monkeypatch.setattr("sys.argv", ["rankwell", "gate", *map(str, arguments)])
    code = cli.main()
    told = capsys.readouterr()
    return code, told.out, told.err


def rows_of(folder):
    return {
        (row["run"], row["measure"]): row
        for row in json.loads((folder / "summary.json").read_text())["rows"]
    }


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    return folder_of(tmp_path_factory.mktemp("two") / "out", {"old": 0.0, "new": 0.1})


def one(requirement, row, values=(), facts=(), rules=None):
    return check_requirement(
        parse_requirement(requirement), SummaryFigures([row], values, facts, rules or {})
    )[0]


ROW = {
    "run": "bm25",
    "measure": "nDCG@10",
    "label": "nDCG@10",
    "mean": 0.38,
    "sd": 0.2,
    "ci_low": 0.31,
    "ci_high": 0.44,
    "n": 50,
}
SHARE, PERCENT = (
    ROW | {"unit": "share"},
    ROW | {"unit": "percent", "mean": 38.0, "sd": 20.0, "ci_low": 31.0, "ci_high": 44.0},
)


@pytest.mark.parametrize(
    ("requirement", "passed"),
    [
        ("nDCG@10 >= 0.38", True),
        ("nDCG@10>=0.38", True),
        ("nDCG@10.mean > 0.38", False),
        ("nDCG@10 <= 0.38", True),
        ("nDCG@10 < 0.38", False),
        ("nDCG@10 == 0.38", True),
        ("nDCG@10 == 0.381", False),
        ("nDCG@10.ci_low >= 0.31", True),
        ("nDCG@10.ci_low >= 0.32", False),
        ("nDCG@10.ci_high<.45", True),
        ("nDCG@10.sd < 2e-1", False),
        ("nDCG@10.n == 50", True),
        ("bm25:nDCG@10 >= 0.38", True),
        ("ndcg_cut.10 >= 0.38", True),
        ("ndcg_cut.10.ci_low >= 0.38", False),
        ("nDCG@10 >= 38%", True),
        ("nDCG@10 >= 38.1%", False),
        ("nDCG@10 within 1% of 0.3838", True),
        ("nDCG@10 within 1% of 0.3839", False),
        ("nDCG@10 within 1% of 0.376", False),
        ("nDCG@10 within 0.02 of 0.4", True),
        ("nDCG@10 within 0.019 of 0.36", False),
        ("nDCG@10 within 2 of 40%", True),
    ],
)
def test_a_requirement_holds_or_not(requirement, passed):
    assert one(requirement, SHARE).passed is passed


def test_a_rounding_error_does_not_count():
    assert one("nDCG@10 >= 0.3", SHARE | {"mean": 0.1 + 0.1 + 0.1 - 1e-15}).passed
    assert one("nDCG@10 == 0.3", SHARE | {"mean": 0.1 + 0.2}).passed
    assert not one("nDCG@10 > 0.3", SHARE | {"mean": 0.1 + 0.2}).passed


def test_a_percent_sign_means_the_same_in_shares_and_in_percentages():
    for requirement in (
        "nDCG@10 >= 38%",
        "nDCG@10 > 38%",
        "nDCG@10.ci_low >= 31.5%",
        "nDCG@10 within 1 of 37.5%",
    ):
        assert one(requirement, SHARE).passed is one(requirement, PERCENT).passed


@pytest.mark.parametrize(
    ("requirement", "row", "advice"),
    [
        (
            "nDCG@10 >= 0.38",
            PERCENT,
            r"is in percent \(38.00\); write 0.38% if that is meant, or 38%",
        ),
        ("nDCG@10 <= 38", SHARE, r"is a share from 0 to 1 \(0.3800\); write 38% or 0.38"),
        ("nDCG@10.n >= 38%", SHARE, "write 38 without %"),
        ("nDCG@10 >= 38%", SHARE | {"unit": "rank"}, "write 38 without %"),
    ],
)
def test_a_number_in_the_wrong_unit_is_refused_and_the_right_one_named(requirement, row, advice):
    with pytest.raises(BadUsage, match=advice):
        one(requirement, row)


def test_zero_and_differences_are_numbers_in_every_unit():
    assert one("nDCG@10 > 0", PERCENT).passed
    assert one("nDCG@10 >= -0.5", PERCENT | {"against": "old", "mean": -0.4}).passed


@pytest.mark.parametrize(
    "text",
    [
        "",
        "nDCG@10",
        "nDCG@10 = 0.3",
        ">= 0.3",
        "nDCG@10 >= x",
        "nDCG@10 >= nan",
        "nDCG@10 >= 0.3 %%",
        "nDCG@10 => 0.3",
        "nDCG@10 != 0.3",
        "n <>0.3",
    ],
)
def test_any_other_text_is_an_error_with_an_example(text):
    with pytest.raises(BadUsage, match=r"cannot be understood.*as in 'nDCG@10.ci_low >= 0.38'"):
        parse_requirement(text)


def test_a_measure_may_hold_signs_of_the_grammar():
    row = SHARE | {"measure": "AP(denom='found')@10", "label": "MAP>=1", "run": "a:b"}

    assert one("a:b:AP(denom='found')@10.ci_low > 0.3", row).passed
    assert one("MAP>=1 >= 0.38", row).passed


def test_median_and_extremes_are_those_of_the_counted_queries():
    values = [
        Values(
            "bm25",
            "nDCG@10",
            "nDCG@10",
            "share",
            "mean",
            tuple("abcd"),
            np.array([0.1, 0.7, np.nan, 0.2]),
        )
    ]

    for figure, expected in (("median", 0.2), ("min", 0.1), ("max", 0.7)):
        assert one(f"nDCG@10.{figure} == {expected}", SHARE, values, [{}]).found == expected


@pytest.mark.parametrize(
    ("requirement", "error", "told"),
    [
        ("nDCG@11 >= 0.3", UnknownName, "did you mean 'nDCG@10'"),
        ("bm52:nDCG@10 >= 0.3", UnknownName, "unknown run 'bm52'; did you mean 'bm25'"),
        ("bm25:nDCG@11 >= 0.3", UnknownName, "did you mean 'nDCG@10'"),
        ("nDCG@10.ci_lo >= 0.3", UnknownName, "unknown figure 'ci_lo'; did you mean 'ci_low'"),
        ("nDCG@10[direction=t2v] >= 0.3", UnknownName, "no row of nDCG@10 has direction=t2v"),
        ("nDCG@10[t2v] >= 0.3", BadUsage, "chooses no rows"),
        ("nDCG@10 within -1 of 0.3", BadUsage, "is negative"),
        ("nDCG@10.median >= 0.3", BadInput, "no values of queries for a median"),
    ],
)
def test_a_requirement_that_is_about_nothing_is_an_error(requirement, error, told):
    with pytest.raises(error, match=told):
        one(requirement, SHARE)


@pytest.mark.parametrize(
    ("row", "rules", "figure", "why"),
    [
        ({"n": 6, "ci_low": None}, {}, "ci_low", r"no interval below 10 counted queries \(n = 6\)"),
        ({"ci_low": None}, {"intervals": "none"}, "ci_low", "intervals='none'"),
        ({"n": 1, "sd": None}, {}, "sd", "single counted query"),
        ({"n": 0, "mean": None}, {}, "mean", r"no query counts \(n = 0\)"),
        ({"mean": None}, {}, "mean", "undefined in summary.json"),
    ],
)
def test_an_undefined_figure_is_an_error_that_says_why(row, rules, figure, why):
    with pytest.raises(BadInput, match=why):
        one(f"nDCG@10.{figure} >= 0.1", SHARE | row, rules=rules)


def test_rows_of_one_measure_are_all_held_or_chosen_by_their_columns():
    rows = [
        SHARE | {"direction": "t2v", "ceiling": 1.0},
        SHARE | {"direction": "v2t", "mean": 0.2, "ceiling": 1.0},
    ]
    figures = SummaryFigures(rows, (), (), {})

    both = check_requirement(parse_requirement("nDCG@10 >= 0.3"), figures)
    first = check_requirement(parse_requirement("bm25:nDCG@10[direction=t2v].mean >= 0.3"), figures)

    assert [(each.part, each.passed) for each in both] == [("t2v", True), ("v2t", False)]
    assert [(each.part, each.passed) for each in first] == [("t2v", True)]


def test_the_command_prints_a_line_for_each_and_leaves_with_0_or_1(two, monkeypatch, capsys):
    found = rows_of(two)
    low = found["new", "AP"]["ci_low"]

    code, out, _ = run_command(
        monkeypatch, capsys, two, "--require", f"new:AP.ci_low>={low - 0.01}", "-r", "MnR < 30"
    )
    assert code == 0
    assert out.splitlines()[0] == "gate: 3 of 3 passed"
    assert out.splitlines()[1].startswith(
        f"passed  new AP: ci_low of the mean is {low:.4f} (n = 60), required >= "
    )

    code, out, _ = run_command(
        monkeypatch, capsys, two, "--require", f"new:AP.ci_low>={low + 0.01:.10f}"
    )
    assert code == 1
    assert out.splitlines()[0] == "gate: 1 of 1 failed"
    assert out.splitlines()[1].startswith("FAILED  new AP: ci_low of the mean is ")
    assert out.splitlines()[1].endswith(": 0.0100 too low")


def test_a_figure_that_misses_by_less_than_is_shown_is_shown_in_full(two, monkeypatch, capsys):
    mean = rows_of(two)["new", "AP"]["mean"]

    code, out, _ = run_command(monkeypatch, capsys, two, "-r", f"new:AP >= {mean + 1e-7:.10f}")

    assert code == 1
    assert f"mean is {mean:.10g} (" in out


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((), "nothing is required"),
        (("-r", "APX >= 0.1"), "did you mean 'AP'"),
        (("-r", "mew:AP >= 0.1"), "did you mean 'new'"),
        (("-r", "AP = 0.1"), "cannot be understood"),
        (("-r", "AP >= 10"), "is a share"),
        (("--baseline", "odl"), "did you mean 'old'"),
        (("--baseline", "old", "-m", "APX"), "did you mean 'AP'"),
        (("--baseline", "old", "--tolerance", "much"), "a number from 0"),
        (("--baseline", "old", "--tolerance", "-1"), "a number from 0"),
        (("--baseline", "old", "--tolerance", "0.1"), "in share and in rank; choose by --measure"),
        (
            ("--baseline", "old", "--tolerance", "5", "-m", "AP"),
            "can lose; write 0.05, or 5% of the baseline's mean",
        ),
        (("-r", "AP >= 0.1", "--tolerance", "0.1"), "name the baseline"),
        (("-r", "AP >= 0.1", "-m", "AP"), "name the baseline"),
    ],
)
def test_what_cannot_be_held_is_bad_usage_and_prints_no_result(
    two, monkeypatch, capsys, arguments, told
):
    code, out, err = run_command(monkeypatch, capsys, two, *arguments)

    assert (code, out) == (2, "")
    assert told in err


def test_anything_but_a_folder_of_results_is_an_error(tmp_path, two):
    with pytest.raises(BadInput, match="is not a folder"):
        gate(tmp_path / "nowhere", require=["AP >= 0"])
    with pytest.raises(BadUsage, match="the folder itself"):
        gate(two, baseline=str(two))


def test_a_baseline_in_the_folder_is_required_of_nothing_unless_it_is_named(two):
    means = {run: rows_of(two)[run, "AP"]["mean"] for run in ("old", "new")}
    between = sum(means.values()) / 2

    assert means["old"] < between < means["new"]
    assert gate(two, require=[f"AP >= {between}"]).exit_code == 1
    assert gate(two, require=[f"AP >= {between}"], baseline="old").exit_code == 0
    assert gate(two, require=[f"old:AP >= {between}"], baseline="old").exit_code == 1


def test_a_regression_has_the_numbers_of_compare(two, tmp_path):
    third = folder_of(tmp_path / "third", {"third": 0.02})
    compared = json.loads(compare(str(two), str(third), baseline="old", format="json").text)["rows"]
    expected = {
        row["of"]: (row["mean"], row["ci_low"], row["ci_high"], row["n"])
        for row in compared
        if row["run"] == "new" and row["against"]
    }

    rows = json.loads(gate(two, baseline="old", format="json").text)["rows"]

    assert {
        row["measure"]: (row["found"], row["ci_low"], row["ci_high"], row["n"]) for row in rows
    } == expected
    assert set(expected) == {"AP", "MnR"}


def test_worse_runs_fail_by_higher_and_by_lower_values_alike(two):
    done = gate(two, baseline="new", format="json")
    rows = {row["measure"]: row for row in json.loads(done.text)["rows"]}

    assert done.exit_code == 1
    assert rows["AP"]["ci_high"] < 0 < rows["MnR"]["ci_low"]
    assert [row["result"] for row in rows.values()] == ["failed", "failed"]
    assert "old MnR is significantly worse than new" in rows["MnR"]["explanation"]
    assert rows["MnR"]["explanation"].endswith("lower is better")
    assert gate(two, baseline="old").exit_code == 0


def test_a_difference_that_may_be_chance_passes_unless_a_tolerance_forbids_it(tmp_path):
    folder = folder_of(tmp_path / "out", {"old": 0.0, "new": 0.0})
    rows = {
        row["measure"]: row
        for row in json.loads(gate(folder, baseline="old", format="json").text)["rows"]
    }
    assert rows["AP"]["ci_low"] < 0 < rows["AP"]["ci_high"]
    assert rows["MnR"]["ci_low"] < 0 < rows["MnR"]["ci_high"]

    assert gate(folder, baseline="old").exit_code == 0
    for measure, worst in (("AP", -rows["AP"]["ci_low"]), ("MnR", rows["MnR"]["ci_high"])):
        for tolerance, code in ((0.99 * worst, 1), (1.01 * worst, 0), (0, 1)):
            assert (
                gate(folder, baseline="old", tolerance=str(tolerance), measures=[measure]).exit_code
                == code
            )
        mean = rows_of(folder)["old", measure]["mean"]
        for tolerance, code in ((99 * worst / mean, 1), (101 * worst / mean, 0)):
            assert (
                gate(
                    folder, baseline="old", tolerance=f"{tolerance}%", measures=[measure]
                ).exit_code
                == code
            )


def test_what_is_surely_worse_but_little_passes_within_the_tolerance(tmp_path):
    folder = folder_of(tmp_path / "out", {"old": 0.01, "new": 0.0})

    assert gate(folder, baseline="old", measures=["AP"]).exit_code == 1
    assert gate(folder, baseline="old", measures=["AP"], tolerance="0.02").exit_code == 0


def test_runs_of_another_folder_are_held_against_those_of_the_same_name(tmp_path):
    before = folder_of(tmp_path / "before", {"a": 0.1, "b": 0.0})
    now = folder_of(tmp_path / "now", {"a": 0.0, "b": 0.1, "c": 0.1})

    done = gate(now, baseline=str(before), measures=["AP"], format="json")

    told = {
        row["run"]: (row["result"], row["explanation"]) for row in json.loads(done.text)["rows"]
    }
    assert done.exit_code == 1
    assert {run: result for run, (result, _) in told.items()} == {"a": "failed", "b": "passed"}
    assert f"worse than {before}/a" in told["a"][1]
    # JSON holds the findings itself.
    notes = [
        f"c has no run of its name in {before}, and is not compared",
        *(
            (
                f"AP of {run} and {before}/{run}: every query differs by as much; the interval "
                "holds for these queries only"
            )
            for run in "ab"
        ),
    ]
    assert [each["message"] for each in json.loads(done.text)["findings"]] == notes
    assert done.findings == ()
    assert gate(now, baseline=str(before), measures=["AP"]).findings == tuple(notes)


def test_the_only_run_of_another_folder_is_held_against_all(tmp_path):
    before = folder_of(tmp_path / "before", {"main": 0.05})
    now = folder_of(tmp_path / "now", {"branch": 0.0, "other": 0.1})

    rows = json.loads(gate(now, baseline=str(before), measures=["AP"], format="json").text)["rows"]

    assert {row["run"]: row["result"] for row in rows} == {"branch": "failed", "other": "passed"}


def test_a_run_that_vanished_is_an_error_and_no_pass(tmp_path):
    before = folder_of(tmp_path / "before", {"a": 0.0, "b": 0.0})
    now = folder_of(tmp_path / "now", {"a": 0.0})

    with pytest.raises(BadInput, match="has no run 'b'"):
        gate(now, baseline=str(before))


def test_queries_that_vanished_are_an_error_and_new_ones_are_none(tmp_path):
    whole, part = (folder_of(tmp_path / str(n), {"a": 0.0}, n=n) for n in (60, 50))

    with pytest.raises(
        BadInput,
        match=r"10 of 60 queries that count there do not count for .*, such as 'q050', .* same "
        r"queries",
    ):
        gate(part, baseline=str(whole), measures=["AP"])
    assert (
        json.loads(gate(whole, baseline=str(part), measures=["AP"], format="json").text)["rows"][0][
            "n"
        ]
        == 50
    )


def test_too_few_queries_for_an_interval_are_an_error_that_says_so(tmp_path, monkeypatch, capsys):
    folder = folder_of(tmp_path / "out", {"old": 0.0, "new": 0.1}, n=9)

    code, out, err = run_command(monkeypatch, capsys, folder, "--baseline", "old")
    assert (code, out) == (2, "")
    assert (
        "9 queries count for both, too few for an interval of the difference (10 are needed)" in err
    )

    code, out, err = run_command(monkeypatch, capsys, folder, "-r", "AP.ci_low >= 0")
    assert (code, out) == (2, "")
    assert "no interval below 10 counted queries (n = 9)" in err
    assert gate(folder, require=["AP >= 0"]).exit_code == 0


def test_percentages_are_held_and_printed_in_percent(tmp_path):
    folder = folder_of(tmp_path / "out", {"old": 0.0, "new": 0.1}, unit="percent")
    mean = rows_of(folder)["new", "AP"]["mean"]

    text = gate(
        folder,
        require=[f"new:AP >= {mean - 1}", f"new:AP <= {mean + 1}%"],
        baseline="old",
        measures=["AP"],
    ).text

    assert text.count(f"mean is {mean:.2f} (percent, n = 60)") == 2
    assert "(percent, n = 60)" in text.splitlines()[2]


def test_requirements_may_stand_in_a_file_and_options_go_before_it(two, tmp_path):
    toml = tmp_path / "gate.toml"
    toml.write_text(
        'require = ["AP >= 0.9"]\nbaseline = "new"\nmeasures = ["AP"]\ntolerance = "1%"\n'
    )

    done = gate(two, require=[str(toml), "MnR > 0"], format="json")
    rows = json.loads(done.text)["rows"]
    assert done.exit_code == 1
    assert [row["requirement"] for row in rows] == [
        "AP >= 0.9",
        "MnR > 0",
        "AP not worse than new by more than 1%",
    ]
    assert {row["run"] for row in rows} == {"old"}

    assert (
        json.loads(gate(two, require=str(toml), baseline="old", format="json").text)["rows"][-1][
            "run"
        ]
        == "new"
    )


def test_a_folder_in_a_file_lies_beside_the_file(tmp_path, monkeypatch):
    now, _ = folder_of(tmp_path / "now", {"a": 0.1}), folder_of(tmp_path / "before", {"a": 0.0})
    (tmp_path / "gate.toml").write_text('baseline = "before"\n')
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")

    assert gate(now, require=str(tmp_path / "gate.toml")).exit_code == 0


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("requires = []", "requires: unknown key; did you mean 'require'"),
        ('require = "AP > 1"', "expected a list of strings"),
        ("require = [1]", "expected a list of strings"),
        ("baseline = 3", "expected a string"),
        ("tolerance = true", "expected a number, or a string"),
        ("require = [", "is not valid TOML"),
    ],
)
def test_a_file_that_says_something_else_is_refused_by_name(two, tmp_path, text, told):
    (tmp_path / "gate.toml").write_text(text)

    with pytest.raises(BadInput, match=rf"gate\.toml.*{told}"):
        gate(two, require=str(tmp_path / "gate.toml"))


def test_other_formats_hold_a_row_for_each_line(two):
    text = gate(two, require=["AP >= 0.1"], baseline="old", format="csv").text
    header, *lines = text.splitlines()

    assert header == "result,requirement,run,measure,part,found,ci_low,ci_high,unit,n,explanation"
    assert len(lines) == 3
    assert gate(two, require=["AP >= 0.1"], format="md").text.startswith("| result | requirement ")


# The schema of Jenkins' JUnit plugin, as far as it allows what is written here: attributes
# (required first) and children.
ALLOWED = {
    "testsuites": ((), ("tests", "failures", "errors", "name", "time", "disabled"), ("testsuite",)),
    "testsuite": (
        ("name", "tests"),
        (
            "failures",
            "errors",
            "time",
            "disabled",
            "skipped",
            "timestamp",
            "hostname",
            "id",
            "package",
        ),
        ("properties", "testcase", "system-out", "system-err"),
    ),
    "testcase": (
        ("name",),
        ("assertions", "time", "classname", "status"),
        ("skipped", "error", "failure", "system-out"),
    ),
    "failure": ((), ("message", "type"), ()),
    "error": ((), ("message", "type"), ()),
}


def check_schema(element: ET.Element, parents: Sequence[str] = ()) -> None:
    required, optional, children = ALLOWED[element.tag]
    assert set(required) <= set(element.attrib) <= {*required, *optional}
    for child in element:
        assert child.tag in children
        check_schema(child, (*parents, element.tag))


def test_the_xml_names_what_failed_and_follows_the_schema(two, tmp_path):
    done = gate(
        two,
        require=["AP >= 0.1", "new:AP >= 0.99"],
        baseline="old",
        output=tmp_path / "ci" / "gate.xml",
    )
    root = ET.parse(tmp_path / "ci" / "gate.xml").getroot()

    check_schema(root)
    suite = root[0]
    assert done.exit_code == 1
    assert suite.attrib == {"name": "rankwell gate", "tests": "4", "failures": "1", "errors": "0"}
    cases = {(case.get("classname"), case.get("name")): case for case in suite}
    assert [key for key, case in cases.items() if len(case)] == [("gate.new", "new:AP >= 0.99")]
    failure = cases["gate.new", "new:AP >= 0.99"][0]
    assert failure.get("message") == failure.text
    assert f"FAILED  {failure.text}" in done.text


def test_the_xml_of_the_same_results_has_the_same_bytes_and_no_time(two, tmp_path):
    for name in ("one.xml", "other.xml"):
        gate(two, baseline="old", output=tmp_path / name)

    assert (tmp_path / "one.xml").read_bytes() == (tmp_path / "other.xml").read_bytes()
    assert b"time" not in (tmp_path / "one.xml").read_bytes()


def test_an_error_replaces_the_xml_of_an_earlier_call(two, tmp_path):
    path = tmp_path / "gate.xml"
    gate(two, require=["AP >= 0.1"], output=path)
    with pytest.raises(UnknownName):
        gate(two, require=["APX >= 0.1"], output=path)

    root = ET.parse(path).getroot()
    check_schema(root)
    assert root.get("errors") == "1"
    assert "did you mean 'AP'" in root[0][0][0].get("message", "")


def test_names_that_are_markup_or_no_text_at_all_stay_names():
    awkward = "<b>&\"'\x00\x1b\udcff\u202e\ufffe]]>"
    text = junit_text(
        awkward,
        [
            Case(awkward, awkward, failure=awkward),
            Case("fine", "run"),
            Case("odd", "run", error=awkward),
        ],
    )
    root = ET.fromstring(text.encode("utf-8"))

    check_schema(root)
    shown = "<b>&\"'\\x00\\x1b\\udcff\\u202e\\ufffe]]>"
    assert (
        root[0].get("name")
        == root[0][0].get("name")
        == root[0][0][0].text
        == root[0][2][0].get("message")
        == shown
    )
    assert (root.get("tests"), root.get("failures"), root.get("errors")) == ("3", "1", "1")


def test_a_file_cannot_be_written_where_a_folder_is(two, tmp_path):
    with pytest.raises(BadUsage, match="is a folder"):
        gate(two, require=["AP >= 0.1"], output=tmp_path)


def test_a_difference_is_required_by_the_name_of_its_baseline_and_has_its_interval(two, tmp_path):
    compared = tmp_path / "compared"
    compare(str(two), baseline="old", output=compared)
    rows = rows_of(compared)
    row = rows["new", "Difference(AP)"]

    text = f"Difference(AP) against old >= {row['mean'] - 0.01}"
    done = gate(compared, require=[text], format="json")
    (line,) = json.loads(done.text)["rows"]
    assert (done.exit_code, line["run"], line["found"]) == (0, "new", row["mean"])
    assert (line["ci_low"], line["ci_high"]) == (row["ci_low"], row["ci_high"])
    assert line["explanation"].startswith("new Difference(AP) is ")
    assert gate(compared, require=["Difference(AP) against old >= 0.99"]).exit_code == 1
    with pytest.raises(UnknownName, match=r"no row of .* has against=odl"):
        gate(compared, require=["Difference(AP) against odl >= 0"])


def test_one_of_several_baselines_is_named(tmp_path):
    three = folder_of(tmp_path / "three", {"first": 0.0, "second": 0.01, "new": 0.05})
    compared = tmp_path / "compared"
    compare(str(three), output=compared)

    done = gate(
        compared,
        require=[f"new:Difference(AP) against {run} >= 0" for run in ("first", "second")],
        format="json",
    )

    rows = json.loads(done.text)["rows"]
    assert [row["measure"] for row in rows] == [
        "Difference(AP) against first",
        "Difference(AP) against second",
    ]


def test_a_floor_that_a_table_printed_rounded_says_so(two):
    mean = rows_of(two)["new", "AP"]["mean"]
    printed = next(round(mean, n) for n in range(3, 12) if round(mean, n) > mean)

    assert (
        f"too low; {printed:.10g} is the rounded figure"
        in gate(two, require=[f"new:AP >= {printed}"]).text
    )


def test_what_fails_is_printed_where_the_log_shows_it(two, monkeypatch, capsys):
    code, out, err = run_command(monkeypatch, capsys, two, "-r", "new:AP >= 0.99", "-f", "md")
    assert code == 1
    assert "| failed | new:AP" in out
    assert err.startswith("FAILED  new AP: mean is ")
    # On a terminal, and in the log of a job, the text says it.
    code, out, err = run_command(monkeypatch, capsys, two, "-r", "new:AP >= 0.99")
    assert (code, err) == (1, "")
    code, out, err = run_command(monkeypatch, capsys, two, "-r", "new:AP >= 0.001", "-f", "md")
    assert (code, err) == (0, "")
