"""A whole workflow in Python: evaluate, compare, gate, save, report; and own measures, on the
command line, too.
"""

import dataclasses
import inspect
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rankwell as rw
from regression.running import in_process

QRELS = {f"q{number}": {"a": 1, "b": 2} for number in range(12)}
RUNS = {
    "old": {query: {"c": 2.0, "a": 1.0} for query in QRELS},
    "new": {query: {"b": 2.0, "a": 1.0} for query in QRELS},
}


@pytest.fixture
def result() -> Any:
    return rw.evaluate(QRELS, RUNS, ["RR", "nDCG@10"], details=True)


def first(view: rw.JudgedRankings, rel: float = 1) -> Any:
    """Whether the first item is relevant."""
    return view.first_rank(view.relevant(rel)) == 1


def test_the_steps_follow_each_other(result: Any, tmp_path: Path):
    page = (
        result.compare(baseline="old")
        .gate("nDCG@10 >= 0.2")
        .save(tmp_path / "out")
        .report(tmp_path / "page.html")
    )

    assert page == tmp_path / "page.html"
    assert "new" in page.read_text(encoding="utf-8")
    assert {"summary.csv", "per_query.parquet", "verdicts.txt"} <= {
        path.name for path in (tmp_path / "out").iterdir()
    }


def test_a_file_that_is_there_is_refused_in_the_words_of_python(result: Any, tmp_path: Path):
    (tmp_path / "page.html").write_text("mine")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "summary.csv").write_text("mine")

    for write in (
        lambda: result.report(tmp_path / "page.html"),
        lambda: result.save(tmp_path / "out"),
    ):
        with pytest.raises(rw.BadUsage) as found:
            write()
        assert "overwrite=True" in str(found.value)
        assert "--" not in str(found.value)
    assert (tmp_path / "out" / "summary.csv").read_text() == "mine"


def test_a_requirement_that_does_not_hold_is_raised(result: Any):
    with pytest.raises(rw.GateFailed, match="old RR"):
        result.gate("RR >= 0.9")
    with pytest.raises(rw.RankwellError, match="a comparison already"):
        result.compare().compare()


def test_a_measure_is_read_by_its_name(result: Any):
    assert result["RR"] == {"old": 0.5, "new": 1.0}
    assert rw.evaluate(QRELS, {"new": RUNS["new"]}, "RR")["RR"] == 1.0
    with pytest.raises(rw.UnknownName, match="did you mean 'RR'"):
        result["rr"]


def test_a_measure_may_be_an_object_in_a_list_or_alone(result: Any):
    measure = rw.parse_measure("RR")

    assert (
        rw.evaluate(QRELS, RUNS, measure)["RR"]
        == rw.evaluate(QRELS, RUNS, [measure])["RR"]
        == result["RR"]
    )


def test_printing_shows_the_table_of_the_command_line(result: Any):
    assert str(result).startswith("new has the highest RR")
    assert str(result.compare()).startswith("new is better")
    assert "\x1b" not in str(result)


def test_a_function_is_a_measure():
    found = rw.evaluate(QRELS, RUNS, ["RR", first])

    assert found["first"] == {"old": 0.0, "new": 1.0}
    assert rw.evaluate(QRELS, RUNS, "first(rel=2)")["first(rel=2)"]["new"] == 1.0


@pytest.mark.parametrize(
    ("measures", "message"),
    [
        ([3], "3 is not a measure; expected a name such as nDCG@10, or a function"),
        (3, "3 is not a measure; expected a name such as nDCG@10, or a function"),
        ([lambda _: 1], "'<lambda>' is not a name"),
        ("no_such_module:thing", "no module 'no_such_module' is installed"),
    ],
)
def test_what_is_not_a_measure_is_one_short_error(measures: Any, message: str):
    with pytest.raises(rw.BadUsage, match=message):
        rw.evaluate(QRELS, RUNS, measures)


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        (1.0, "returned a number"),
        ("high", "returned a string"),
        (None, "returned nothing"),
        (["high"] * 12, "returned 12 strings"),
        ([1.0], "returned 1 number; expected a number for each of 12 queries"),
        (
            np.full(12, np.inf),
            "the value of the query 'q0' is inf; expected a finite number, or NaN",
        ),
    ],
)
def test_a_function_that_returns_something_else_is_named(returned: Any, message: str):
    def wrong(_: rw.JudgedRankings) -> Any:
        return returned

    with pytest.raises(rw.BadUsage, match=f"wrong: .*{message}"):
        rw.evaluate(QRELS, RUNS, [wrong])


def test_queries_whose_value_a_function_leaves_undefined_do_not_count_and_are_noted():
    def partly(view: rw.JudgedRankings) -> Any:
        return [float("nan"), *range(1, len(view.queries))]

    result = rw.evaluate(QRELS, {"new": RUNS["new"]}, [partly])

    assert result["partly"] == sum(range(1, 12)) / 11
    assert "new: partly is undefined for 1 of 12 queries, which do not count" in result.findings


def test_a_name_of_rankwell_is_not_given_to_a_function():
    def wrong(_: rw.JudgedRankings) -> float:
        return 1.0

    with pytest.raises(rw.BadUsage, match="'AP' is a measure of rankwell"):
        rw.measure(wrong, name="AP")


def test_the_command_line_takes_a_function_of_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "my_measures.py").write_text(
        "def top(view):\n    return view.first_rank(view.relevant(1)) == 1\n"
    )
    (tmp_path / "qrels.txt").write_text("q 0 a 1\n")
    (tmp_path / "a.run").write_text("q Q0 a 1 2.0 r\n")
    monkeypatch.chdir(tmp_path)

    code, out, _ = in_process(
        ["evaluate", "qrels.txt", "a.run", "-m", "./my_measures.py:top", "-f", "csv"]
    )

    assert (code, out.splitlines()[1].split(",")[:4]) == (0, ["a", "top", "top", "1.0"])


def test_editors_and_notebooks_see_the_parameters_of_the_steps():
    fields = [each.name for each in dataclasses.fields(rw.ComparisonOptions)]
    own_fields = inspect.get_annotations(rw.ComparisonOptions)

    assert [*inspect.signature(rw.Results.compare).parameters] == [
        "self",
        *own_fields,
        *(name for name in fields if name not in own_fields),
        "group",
        "cluster",
        "options",
    ]
    assert {"required", "baseline", "tolerance", "level"} <= {
        *inspect.signature(rw.Results.gate).parameters
    }
    for step in (rw.Results.compare, rw.Results.gate, rw.Results.save, rw.Results.report):
        assert step.__doc__
        assert not any(
            each.kind is each.VAR_KEYWORD for each in inspect.signature(step).parameters.values()
        )


def test_an_unknown_option_is_refused(result: Any):
    with pytest.raises(TypeError, match="base"):
        result.compare(base="old")
    with pytest.raises(rw.UnknownName, match="there is no 'permutation'"):
        result.compare(test="permutation")


def test_a_requirement_that_is_not_a_string_is_refused(result: Any):
    with pytest.raises(rw.BadUsage, match=r"a requirement is a list; expected strings"):
        result.gate(["RR >= 0.1"])


def test_a_gate_reads_its_file_of_requirements(result: Any, tmp_path: Path):
    (tmp_path / "gate.toml").write_text('require = ["new:RR >= 1"]\nbaseline = "old"\n')

    assert result.gate(str(tmp_path / "gate.toml")) is result
    with pytest.raises(rw.GateFailed, match="new RR"):
        result.gate("new:RR <= 0.5", str(tmp_path / "gate.toml"))


TEXTS = {query: {"text": query, "kind": "odd" if int(query[1:]) % 2 else "even"} for query in QRELS}


def with_kinds(folder: Path) -> Path:
    """A file of query texts with a further column."""
    lines = [f"{query},{row['text']},{row['kind']}\n" for query, row in TEXTS.items()]
    path = folder / "queries.csv"
    path.write_text("".join(["id,text,kind\n", *lines]))
    return path


def test_groups_are_those_of_the_command_line(tmp_path: Path):
    result = rw.evaluate(QRELS, RUNS, ["RR", "nDCG@10"], queries=with_kinds(tmp_path))
    result.save(tmp_path / "out", charts=False)

    found = result.compare(group="kind").save(tmp_path / "here", charts=False)

    assert {row["group"] for row in found.groups} == {"kind = even", "kind = odd"}
    assert (
        in_process(
            ["compare", str(tmp_path / "out"), "--group", "kind", "-o", str(tmp_path / "there")]
        )[0]
        == 0
    )
    assert (tmp_path / "here" / "groups.csv").read_bytes() == (
        tmp_path / "there" / "groups.csv"
    ).read_bytes()


def test_clusters_are_drawn_together(tmp_path: Path):
    qrels = {f"q{number}": {"a": 1} for number in range(24)}
    runs = {
        name: {
            query: {"a": 1.0, "b": 0.0 if place % step else 2.0}
            for place, query in enumerate(qrels)
        }
        for name, step in (("old", 2), ("new", 5))
    }
    texts = tmp_path / "queries.csv"
    texts.write_text(
        "id,text,user\n"
        + "".join(f"{query},t,u{place // 6}\n" for place, query in enumerate(qrels))
    )
    result = rw.evaluate(qrels, runs, "RR", queries=texts)

    plain, clustered = (
        result.compare().differences[0],
        result.compare(cluster="user").differences[0],
    )

    assert clustered["mean"] == plain["mean"]
    assert (clustered["ci_low"], clustered["p"]) != (plain["ci_low"], plain["p"])


def test_an_attribute_that_queries_do_not_have_is_one_error(result: Any, tmp_path: Path):
    with pytest.raises(
        rw.RankwellError,
        match="the queries have no attributes to take 'kind' from; evaluate with texts",
    ):
        result.compare(group="kind")
    known = rw.evaluate(QRELS, RUNS, "RR", queries=with_kinds(tmp_path))
    for option in ("group", "cluster"):
        with pytest.raises(rw.UnknownName, match="did you mean 'kind'"):
            known.compare(**{option: "kinds"})


@pytest.mark.parametrize("tolerance", [0.01, "0.01", "1%", 0])
def test_a_tolerance_is_a_number_or_a_text(result: Any, tolerance: Any):
    assert result.gate(baseline="old", tolerance=tolerance) is result


def test_a_tolerance_as_a_number_is_that_of_its_text(result: Any):
    for tolerance in (0.3, "0.3"):
        with pytest.raises(rw.GateFailed, match=r"by more than 0\.3"):
            result.gate(baseline="new", tolerance=tolerance)
    assert result.gate(baseline="new", measures="RR", tolerance=0.7) is result
    for wrong in (True, -0.1, float("nan"), [0.1]):
        with pytest.raises(rw.RankwellError, match="expected a number"):
            result.gate(baseline="new", tolerance=wrong)


@pytest.mark.parametrize("name", ["x" * 300, "a\0b", "file/below"])
def test_a_place_that_cannot_be_written_is_one_error(result: Any, tmp_path: Path, name: str):
    (tmp_path / "file").write_text("mine")
    (tmp_path / "one.run").write_text("q Q0 a 1 1 x\n")

    for write in (
        lambda place: result.save(place),
        lambda place: result.report(f"{place}.html"),
        lambda place: rw.convert(tmp_path / "one.run", f"{place}.csv"),
    ):
        with pytest.raises(rw.RankwellError) as caught:
            write(str(tmp_path / name))
        assert caught.value.exit_code == 2
        assert ascii(name)[1:4] in str(caught.value)
    assert {path.name for path in tmp_path.iterdir()} == {"file", "one.run"}
    assert (tmp_path / "file").read_text() == "mine"


def test_a_page_without_lists_names_the_remedy_in_the_users_words(tmp_path: Path):
    result = rw.evaluate(QRELS, RUNS, ["RR"]).save(tmp_path / "out")

    page = result.report(tmp_path / "page.html").read_text(encoding="utf-8")
    code, _, err = in_process(["report", str(tmp_path / "out"), "-o", str(tmp_path / "typed.html")])

    assert code == 0, err
    assert "No lists: the results have none; evaluate with details=True." in page
    assert "No lists: the results have none; evaluate with -o." in (
        tmp_path / "typed.html"
    ).read_text(encoding="utf-8")
