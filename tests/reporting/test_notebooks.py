"""What results show of themselves: HTML and charts for notebooks, specifications for Altair, data
frames.
"""

import importlib.util
import inspect
import json
import statistics
import subprocess
import sys
from html.parser import HTMLParser

import duckdb
import numpy as np
import pytest
import vl_convert

import rankwell
from rankwell.comparison.data import Attribute
from rankwell.data.findings.kinds import reading_choice
from rankwell.data.tables import Values
from rankwell.errors import BadUsage, MissingExtra, UnknownName
from rankwell.reporting.charts import CHARTS, SCHEMA
from rankwell.reporting.notebook.display import Chart, Displayable
from rankwell.reporting.options import present
from rankwell.results import Results

AWKWARD = "<script>alert(1)</script><img src=x onerror=alert(2)>&\"'\x1b[31m\u202eabc"
QUERIES = tuple(f"q{place:02}" for place in range(40))
VEGA_LITE = SCHEMA.rpartition("/v")[2].removesuffix(".json")
MIME = f"application/vnd.vegalite.v{VEGA_LITE}+json"


def column(seed, n=40):
    return np.random.default_rng(seed).random(n)


def values_of(*runs, n=40, measures=("AP", "nDCG@10"), unit="share"):
    return tuple(
        Values(run, name, name, unit, "mean", QUERIES[:n], column(7 * place + at, n))
        for place, run in enumerate(runs)
        for at, name in enumerate(measures)
    )


def results_of(*runs, n=40, findings=(), **more):
    return Results(
        values=values_of(*runs, n=n),
        rules={"convention": "rankwell"},
        data_findings=tuple(map(reading_choice, findings)),
        **more,
    )


@pytest.fixture(scope="module")
def evaluation():
    truth = {query: {"a": 1, "b": 0, "c": 2} for query in QUERIES}
    orders = np.random.default_rng(3).random((2, len(QUERIES), 3)).tolist()
    runs = {
        name: {
            query: dict(zip("abc", scores, strict=True))
            for query, scores in zip(QUERIES, rows, strict=True)
        }
        for name, rows in zip(("one", "other"), orders, strict=True)
    }
    return rankwell.evaluate(truth, runs, ["AP", "nDCG@10"])


@pytest.fixture(scope="module")
def comparison():
    return rankwell.compare_values(values_of("old", "new"), baseline="old")


class Page(HTMLParser):
    """The tags with their attributes, the cells of all tables row by row, and all text."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.tags, self.attributes, self.rows, self.text, self.open = [], [], [], "", []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.open.append(tag)
        self.attributes += attrs
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data
        if self.open and self.open[-1] in ("td", "th"):
            self.rows[-1][-1] += data


def test_every_public_result_shows_itself():
    classes = [
        thing for name in rankwell.__all__ if inspect.isclass(thing := getattr(rankwell, name))
    ]
    results = [thing for thing in classes if hasattr(thing, "summary")]

    assert {rankwell.Results, rankwell.BenchResults} <= set(results)
    assert all(issubclass(thing, Displayable) for thing in results)


def test_the_table_holds_means_intervals_and_the_rules():
    result = results_of("one", "other", findings=("something is odd",))
    page = Page(result._repr_html_())

    header, *rows = page.rows
    assert header == ["run", "measure", "mean", "95 % interval", "sd", "n"]
    assert len(rows) == 4
    for row, values, summary in zip(rows, result.values, result.summary, strict=True):
        numbers = values.values.tolist()
        interval = f"[{summary['ci_low']:.4f}, {summary['ci_high']:.4f}]"
        expected = [
            values.measure,
            f"{statistics.fmean(numbers):.4f}",
            interval,
            f"{statistics.stdev(numbers):.4f}",
            "40",
        ]
        assert row[1:] == expected
    assert [row[0] for row in rows] == ["one", "", "other", ""]
    assert "rules: convention=rankwell" in page.text
    assert "1 finding" in page.text
    assert "something is odd" in page.text


def test_a_comparison_shows_its_verdict_and_its_differences(comparison):
    page = Page(comparison._repr_html_())

    assert comparison.verdicts[0] in page.text
    assert [row[2] for row in page.rows[1:]] == ["AP", "nDCG@10"]
    assert [row[3] for row in page.rows[1:]] == ["primary", "secondary"]
    assert page.rows[0][6:8] == ["difference", "interval"]
    for row, difference in zip(page.rows[1:], comparison.differences, strict=True):
        assert row[6] == f"{difference['mean']:+.4f}"


def test_names_cannot_become_markup():
    result = results_of(AWKWARD, "other", findings=(AWKWARD,))
    both = rankwell.compare_values(values_of("other", AWKWARD), baseline="other")

    for shown in (result, both):
        page = Page(shown._repr_html_())
        assert set(page.tags) <= {
            "div",
            "table",
            "thead",
            "tbody",
            "tr",
            "th",
            "td",
            "p",
            "strong",
            "details",
            "summary",
            "ul",
            "li",
        }
        assert {name for name, _ in page.attributes} <= {"style", "scope", "colspan"}
        assert "<script>alert(1)</script>" in page.text
        assert "\x1b" not in page.text
        assert "\u202e" not in page.text


def test_the_page_takes_its_colours_from_the_notebook(comparison):
    styles = [value for name, value in Page(comparison._repr_html_()).attributes if name == "style"]

    assert styles
    assert not any(
        word in style for style in styles for word in ("color", "background", "#", "rgb", "url")
    )


def test_a_missing_interval_is_a_dash_with_a_note():
    page = Page(results_of("one", n=6)._repr_html_())

    assert page.rows[0] == ["measure", "mean", "sd", "n"]
    assert "no interval below 10 counted queries (here 6)" in page.text


def test_of_very_many_rows_the_first_are_shown_and_the_rest_counted():
    result = results_of(*(f"run{place:03}" for place in range(130)), intervals="none")
    page = Page(result._repr_html_())

    assert len(page.rows) == 1 + 200 + 1
    assert page.rows[-1] == ["and 60 rows more: .to_pandas()"]


def test_the_bundle_holds_text_tables_and_the_main_chart(evaluation, comparison):
    for result, title in ((evaluation, "Means"), (comparison, "Mean differences")):
        bundle = result._repr_mimebundle_()

        assert list(bundle) == ["text/plain", "text/html", MIME]
        assert bundle["text/plain"] == repr(result)
        assert bundle["text/html"] == result._repr_html_()
        assert bundle[MIME]["title"]["text"].startswith(title)
        assert json.loads(json.dumps(bundle, allow_nan=False)) == bundle


def test_a_front_end_may_ask_for_less(evaluation):
    assert list(evaluation._repr_mimebundle_(include={"text/html"})) == ["text/html"]
    assert list(evaluation._repr_mimebundle_(exclude={"text/html", MIME})) == ["text/plain"]
    assert list(evaluation.chart()._repr_mimebundle_(exclude={"image/svg+xml"})) == [
        "text/plain",
        MIME,
    ]


def test_the_type_of_charts_is_that_of_a_version_that_can_be_drawn(evaluation):
    assert evaluation.chart().mime == MIME
    assert VEGA_LITE in {
        str(version).removeprefix("v").partition(".")[0]
        for version in vl_convert.get_vegalite_versions()
    }
    assert (
        Chart({"$schema": "https://vega.github.io/schema/vega-lite/v5.20.1.json"}).mime
        == "application/vnd.vegalite.v5+json"
    )


OF_OTHERS = {"frontier", "risk_coverage"}
"""Charts of settings of engines and of confidences; tests/reporting/test_frontier.py and
test_risk_coverage.py draw them.
"""


def test_charts_are_specifications_that_can_be_drawn(comparison):
    third = rankwell.compare_values(values_of("a", "b", "c"))
    drawn = {name: third.chart(name) for name in CHARTS if name not in OF_OTHERS}

    assert set(drawn) == {"critical_difference", "deltas", "differences", "intervals", "per_query"}
    for spec in drawn.values():
        assert isinstance(spec, dict)
        assert json.loads(json.dumps(spec, allow_nan=False)) == spec
        assert spec._repr_mimebundle_(include={"image/svg+xml"})["image/svg+xml"].startswith("<svg")
    assert comparison.chart() == comparison.chart("differences")


def test_an_unknown_chart_is_an_error_that_lists_the_known_ones(evaluation):
    with pytest.raises(
        UnknownName,
        match="known are critical_difference, deltas, differences, frontier, intervals, per_query",
    ):
        evaluation.chart("pie")
    with pytest.raises(UnknownName, match="did you mean 'deltas'"):
        evaluation.chart("delta")
    with pytest.raises(
        BadUsage,
        match="nothing to draw as 'deltas' here; what can be drawn is intervals, per_query",
    ):
        evaluation.chart("deltas")


def test_a_result_without_a_counted_query_has_no_chart_and_says_so():
    nothing = Values("one", "AP", "AP", "share", "mean", ("q1",), np.array([np.nan]))
    result = Results(values=(nothing,), rules={}, data_findings=())

    assert list(result._repr_mimebundle_()) == ["text/plain", "text/html"]
    with pytest.raises(BadUsage, match="nothing to draw"):
        result.chart()


def test_altair_loads_every_chart():
    if importlib.util.find_spec("altair") is None:
        pytest.skip("Altair is not installed; its schema is not needed to draw")
    import altair

    third = rankwell.compare_values(values_of("a", "b", "c"))
    assert altair.SCHEMA_VERSION.startswith(f"v{VEGA_LITE}.")
    for name in {*CHARTS} - OF_OTHERS:
        loaded = altair.Chart.from_dict(third.chart(name))
        assert isinstance(loaded, altair.TopLevelMixin)


def test_ipython_takes_the_bundle_as_it_is(evaluation):
    if importlib.util.find_spec("IPython") is None:
        pytest.skip("IPython is not installed; the bundle is tested without it")
    from IPython.core.formatters import DisplayFormatter

    data, _ = DisplayFormatter().format(evaluation)
    assert data == evaluation._repr_mimebundle_()
    data, _ = DisplayFormatter().format(evaluation.chart())
    assert data[MIME] == evaluation.chart()


@pytest.mark.parametrize("package", ["pandas", "polars"])
def test_a_data_frame_holds_the_summary_and_its_types(evaluation, comparison, package):
    pytest.importorskip(package)
    for result in (evaluation, comparison):
        frame = getattr(result, f"to_{package}")()
        rows = result.summary
        names = list(dict.fromkeys(name for row in rows for name in row))

        assert list(frame.columns) == names
        for name in names:
            cells = frame[name].to_list() if package == "polars" else frame[name].tolist()
            for cell, row in zip(cells, rows, strict=True):
                expected = row.get(name)
                assert cell == expected or (expected is None and (cell is None or cell != cell))
        kinds = {
            name: str(frame.dtypes[names.index(name)] if package == "polars" else frame[name].dtype)
            for name in names
        }
        assert {kinds[name].lower() for name in ("mean", "sd", "ci_low", "ci_high")} == {"float64"}
        assert kinds["n"].lower() == "int64"


@pytest.mark.parametrize("package", ["pandas", "polars"])
def test_values_of_queries_are_those_that_the_folder_has(tmp_path, package):
    pytest.importorskip(package)
    given = values_of("one", "other")
    gap = Values(
        "one",
        "MnR",
        "MnR",
        "rank",
        "mean",
        QUERIES,
        np.where(np.arange(40) == 3, np.nan, column(9)),
    )
    result = Results(
        values=(*given, gap),
        rules={},
        data_findings=(),
        row_attributes=({"direction": "t2v"},) * 5,
        query_columns=("direction",),
    )
    present(result, output=tmp_path / "out", charts=False)
    stored = duckdb.sql(f"SELECT * FROM '{tmp_path}/out/per_query.parquet'")

    frame = getattr(result, f"to_{package}")("per_query")

    rows = (
        frame.rows()
        if package == "polars"
        else [tuple(row) for row in frame.itertuples(index=False)]
    )
    rows = [tuple(None if cell != cell else cell for cell in row) for row in rows]
    assert list(frame.columns) == stored.columns
    assert sorted(rows, key=str) == sorted(stored.fetchall(), key=str)
    assert len(rows) == 200
    assert sum(None in row for row in rows) == 1


def test_undefined_is_null_in_polars_whatever_the_column_holds(comparison):
    polars = pytest.importorskip("polars")
    frame = comparison.to_polars()

    assert frame.schema["decisive"] == polars.Boolean
    assert frame.schema["wins"] == polars.Int64
    assert frame.filter(polars.col("against").is_null())["wins"].null_count() == 4
    few = results_of("one", n=6).to_polars()
    assert few.schema["ci_low"] == polars.Float64
    assert few["ci_low"].null_count() == 2


def test_other_tables_have_their_names(comparison):
    pytest.importorskip("polars")
    assert comparison.to_polars("verdicts")["text"].to_list() == list(comparison.verdicts)
    with pytest.raises(UnknownName, match="did you mean 'summary'"):
        comparison.to_polars("sumary")
    with pytest.raises(UnknownName, match="known are per_query, summary, verdicts"):
        comparison.to_polars("tables")


def test_results_come_back_as_dictionaries_and_columns():
    result = rankwell.evaluate(
        {"p": {"a": 1}, "q": {"a": 0}},
        {"one": {"p": {"a": 2.0}}},
        ["RR", "P@1"],
        no_relevant="skip",
    )

    assert result.to_dict() == {"one": {"p": {"RR": 1.0, "P@1": 1.0}}}
    assert {name: result.to_columns()[name] for name in ("run", "label", "mean", "sd", "n")} == {
        "run": ["one", "one"],
        "label": ["RR", "P@1"],
        "mean": [1.0, 1.0],
        "sd": [None, None],
        "n": [1, 1],
    }
    assert result.to_columns("per_query")["value"] == [1.0, 1.0]
    assert (
        result.to_columns("per_query")["query"] == result.to_polars("per_query")["query"].to_list()
    )
    with pytest.raises(UnknownName, match="there is no table 'sumary'"):
        result.to_columns("sumary")
    both = rankwell.evaluate_crossmodal(np.eye(3), measures="R@1")
    with pytest.raises(
        BadUsage, match=r"several values of R@1 for a query; take \.to_columns\('per_query'\)"
    ):
        both.to_dict()


@pytest.mark.parametrize("package", ["pandas", "polars"])
def test_every_table_of_a_comparison_becomes_a_data_frame(package):
    pytest.importorskip(package)
    kinds = {query: "even" if place % 2 else "odd" for place, query in enumerate(QUERIES)}
    group = Attribute("kind", kinds)
    result = rankwell.compare_values(values_of("a", "b", "c"), group=group)

    assert set(result.tables) == {"verdicts", "groups", "systems", "orders", "borda", "mean_ranks"}
    for name, rows in result.tables.items():
        frame = getattr(result, f"to_{package}")(name)
        assert frame.shape == (len(rows), len({column for row in rows for column in row}))


def test_ids_that_are_not_utf8_become_data_frames_with_escapes():
    polars = pytest.importorskip("polars")
    odd = Values("run\udcff", "AP", "AP", "share", "mean", ("q\udcfe",), np.array([0.5]))
    result = Results(values=(odd,), rules={}, data_findings=())

    assert result.to_polars("per_query").row(0)[:2] == ("run\\udcff", "q\\udcfe")
    assert result.to_polars().schema["mean"] == polars.Float64
    assert result.to_polars()["run"].to_list() == ["run\\udcff"]


@pytest.mark.parametrize("package", ["pandas", "polars"])
def test_without_the_package_the_error_says_how_to_install_it(evaluation, monkeypatch, package):
    monkeypatch.setitem(sys.modules, package, None)

    with pytest.raises(MissingExtra, match=f"pip install {package}"):
        getattr(evaluation, f"to_{package}")()


def test_evaluating_loads_nothing_that_only_notebooks_need():
    code = (
        "import sys, rankwell\n"
        "assert 'numpy' not in sys.modules and 'rankwell.reporting' not in sys.modules\n"
        "rankwell.evaluate({'q': {'a': 1}}, {'run': {'q': {'a': 1.0}}}, ['AP']).summary\n"
        "names = ('rankwell.reporting.charts', 'vl_convert', 'pandas', 'polars', 'IPython')\n"
        "print([name for name in names if name in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "[]\n"


def test_the_summary_and_the_values_of_queries_print_as_tables(evaluation):
    summary, per_query = evaluation.summary, evaluation.per_query()

    assert repr(summary).split()[:3] == ["run", "measure", "mean"]
    assert summary == [dict(row) for row in summary]
    assert repr(per_query).splitlines()[0].split()[:2] == ["run", "query"]
    assert len(repr(per_query).splitlines()) == 2 + 2 * len(QUERIES)
    for rows in (summary, per_query):
        assert rows._repr_html_().startswith("<table")
        assert rows.to_latex().splitlines()[1].startswith(r"\begin{tabular}")
        assert rows.to_columns()["run"][0] == "one"
    assert list(summary.to_pandas()["mean"]) == [row["mean"] for row in summary]
    assert per_query.to_polars()["value"].to_list() == [row["value"] for row in per_query]


def test_long_tables_print_their_beginning():
    many = results_of(*(f"run{number}" for number in range(8))).per_query()
    assert repr(many).splitlines()[-1] == "and 122 lines more: .to_pandas()"


def test_a_report_is_a_temporary_page_that_a_notebook_shows(evaluation, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    page = evaluation.report()

    assert page.is_file()
    assert page.name == "report.html"
    assert not list(tmp_path.iterdir())
    shown = page._repr_html_()
    assert shown.startswith('<iframe srcdoc="&lt;!doctype html&gt;')
    assert shown.count('"') == 2 * 3
