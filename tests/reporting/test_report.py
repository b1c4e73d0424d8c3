"""Outputs: what each format prints, and that what it prints can be read back."""

import csv
import io
import json
import re
from dataclasses import replace
from typing import get_args
from xml.etree import ElementTree

import numpy as np
import pytest

import rankwell
from rankwell import reporting
from rankwell.data.findings.kinds import reading_choice
from rankwell.data.tables import Values
from rankwell.errors import UnknownName
from rankwell.reporting import OUTPUTS, Document, Terminal, render, render_rows, rules_line
from rankwell.reporting.charts import CHARTS, ChartData, draw_all
from rankwell.reporting.difference_tables import difference_text
from rankwell.stats import SummaryRow, summarise

THIRD = 1 / 3
ONE_RUN = [
    SummaryRow.of("bm25", "nDCG@10", "nDCG@10", 0.41269999, 0.247, 0.389, 0.436, 412, "share"),
    SummaryRow.of("bm25", "AP", "AP", THIRD, 0.2, 0.3, 0.35, 412, "share"),
]
TWO_RUNS = [
    *ONE_RUN,
    SummaryRow.of("dense", "nDCG@10", "nDCG@10", 0.5, 0.1, 0.45, 0.55, 412, "share"),
]
WORDS = [
    SummaryRow.of("r", "P@5", "Recall@5", 54.8, 34.9, 45.2, 64.4, 50, "percent"),
    SummaryRow.of("r", "MedR", "MedR", 12.5, 3.0, 10.0, 15.0, 50, "rank"),
    SummaryRow.of("r", "NumRel", "NumRel", 745.0, 8.9, 622.0, 865.5, 50, "count"),
    SummaryRow.of("r", "AP", "AP", None, None, None, None, 0, "share"),
]
RULES = {
    "counts": {
        "bm25": {
            "queries_counted": 412,
            "queries_missing": 0,
            "queries_without_relevant": 1,
            "queries_tied": {"nDCG@10": 3, "AP": 7},
        },
        "dense": {
            "queries_counted": 412,
            "queries_missing": 2,
            "queries_without_relevant": 1,
            "queries_tied": {"nDCG@10": 0, "AP": 0},
        },
    },
    "ties": "id-desc",
    "exclude_self": False,
    "seed": 0,
    "measures": {
        "MedR": {"summary": "median"},
        "NumRel": {"summary": "sum"},
        "AP": {"definition": "…"},
    },
}
PER_QUERY = [
    {
        "run": "bm25",
        "query": query,
        "measure": measure,
        "label": measure,
        "value": value,
        "unit": "share",
    }
    for query, measure, value in [
        ("q1", "nDCG@10", 0.5),
        ("q1", "AP", THIRD),
        ("q2", "nDCG@10", None),
        ("q2", "AP", 0.25),
    ]
]


def awkward(run="r", **extra):
    return {**SummaryRow.of(run, "AP", "AP", 0.5, 0.1, None, None, 3, "share"), **extra}


def printed(rows=ONE_RUN, per_query=None, rules=None, form="table", **terminal):
    """The text with all details, as `--verbose` prints it."""
    shown = Terminal(**{"details": True, **terminal})
    return render(rows, per_query, rules or {}, [], form, terminal=shown)


AWKWARD = "\x1b[31mred\x07\u202e|`b`<b>&$_{%}\u2028\nnext"


@pytest.mark.parametrize("form", ["table", "md", "latex", "html"])
def test_a_name_in_a_header_or_a_cell_neither_steers_a_terminal_nor_ends_a_line(form):
    text = render_rows([{"system": "a", AWKWARD: 1.5}, {"system": AWKWARD, AWKWARD: 2.5}], form)

    plain = render_rows([{"system": "a", "b": 1.5}, {"system": "c", "b": 2.5}], form)
    assert text.count("\n") == plain.count("\n")
    assert text.replace("\n", "").isprintable()
    if form == "md":
        assert all(len(re.findall(r"(?<!\\)\|", line)) == 3 for line in text.splitlines())


UNSEEN = re.compile("[\\0-\\x09\\x0b-\\x1f\\x7f-\\x9f]")
FOREIGN = "\x1b[31m\x07\x85\x9b<script>|&lt;$x$_y_\\\\`c`"


@pytest.mark.parametrize("form", get_args(reporting.Format))
def test_no_format_has_control_characters_of_names_columns_or_rules(form):
    rows = [
        {**row, "run": FOREIGN, "label": FOREIGN, FOREIGN: FOREIGN}
        for row in (awkward(), awkward())
    ]
    single = [{**row, "run": FOREIGN, "query": FOREIGN} for row in PER_QUERY]

    text = "".join(
        printed(rows, per_query, {FOREIGN: FOREIGN}, form=form, details=details)
        for per_query in (None, single)
        for details in (True, False)
    )

    assert not UNSEEN.search(text.replace("\t", "") if form == "tsv" else text)
    if form == "json":
        assert strict(printed(rows, form=form))["rows"][0]["run"] == FOREIGN


def test_ends_of_lines_in_a_cell_are_quoted():
    rows = [{"name": "a\rb", "text": "c\nd\te"}, {"name": "f", "text": "g\r\n"}]

    assert list(csv.DictReader(io.StringIO(render_rows(rows, "csv"), newline=""))) == rows


def test_between_tabs_marks_stay_as_they_are_and_tabs_and_ends_of_lines_are_escapes():
    rows = [{"name": '"a', "text": "c\nd\te"}, {"name": 'f"', "text": '"g" ""\r\n'}]

    lines = render_rows(rows, "tsv").split("\n")

    assert [line.split("\t") for line in lines] == [
        ["name", "text"],
        ['"a', r"c\nd\te"],
        ['f"', r'"g" ""\r\n'],
        [""],
    ]


def test_sentences_in_markdown_mean_what_they_say():
    verdict = f"{FOREIGN} is better than [x](y), 95 % interval [0.1, 0.2], not [0.1](y)"

    text = difference_text(
        {"verdicts": [{"text": verdict}]}, [], None, {"convention": FOREIGN}, "md"
    )

    safe = r"\\x1b\[31m\\x07\\x85\\x9b\<script\>\|\&lt;\$x\$\_y\_\\\\\`c\`"
    assert (
        text.splitlines()[0]
        == rf"{safe} is better than \[x\](y), 95 % interval [0.1, 0.2], not \[0.1\](y)"
    )
    assert f"rules: convention={safe}" in text


def test_a_star_at_the_beginning_of_a_row_of_latex_does_not_belong_to_the_line_before():
    text = render_rows([{"system": "*a", "x": 1.5}, {"system": "b", "x": 2.5}], "latex")

    assert r"{}*a & 1.5000 \\" in text


# Those of other results: tests/reporting/test_frontier.py and test_risk_coverage.py.
@pytest.mark.parametrize("name", sorted({*CHARTS} - {"frontier", "risk_coverage"}))
def test_no_text_of_a_chart_has_control_characters(name):
    rng = np.random.default_rng(0)
    made = [
        Values(
            f"{FOREIGN}{run}",
            f"{FOREIGN}AP",
            f"{FOREIGN}label",
            "share",
            "mean",
            (*"abcdefghijkl",),
            rng.random(12),
        )
        for run in range(3)
    ]
    result = rankwell.compare_values(made, baseline=f"{FOREIGN}0")

    spec = result.chart(name)

    texts = [each for leaf in leaves(spec) for each in leaf.values() if isinstance(each, str)]
    assert all(each.isprintable() for each in texts)
    assert any("x1b" in each for each in texts)
    ElementTree.fromstring(draw_all([dict(spec)])[0].svg)
    assert all(line.isprintable() for line in repr(result).split("\n"))


def test_the_formats_are_those_of_the_design_one_file_each():
    assert (
        set(OUTPUTS)
        == set(get_args(reporting.Format))
        == {"table", "csv", "tsv", "json", "jsonl", "md", "latex", "html"}
    )


def test_an_unknown_format_is_named():
    with pytest.raises(UnknownName, match="'yaml'"):
        printed(form="yaml")


def test_the_table_of_one_run_has_a_line_per_measure_and_names_every_figure():
    assert printed() == (
        "measure    mean     95 % interval      sd    n\n"
        "──────────────────────────────────────────────\n"
        "nDCG@10  0.4127  [0.3890, 0.4360]  0.2470  412\n"
        "AP       0.3333  [0.3000, 0.3500]  0.2000  412\n"
    )


@pytest.mark.parametrize("kind", ["md", "latex", "html"])
def test_a_title_stands_above_the_tables(kind: str):
    rows = [{"system": "a", "figure": 1.5}]
    whole = OUTPUTS[kind](Document(rows, None, {}, (), summary=False, title="Paintings"))
    bare = OUTPUTS[kind](Document(rows, None, {}, (), summary=False))

    assert "Paintings" in whole
    assert "Paintings" not in bare
    assert whole.index("Paintings") < whole.index("figure")


def test_the_table_of_several_runs_names_each_run_once():
    lines = printed(TWO_RUNS).splitlines()

    assert lines[0].split()[:2] == ["run", "measure"]
    assert [line[:6].strip() for line in lines[2:]] == ["bm25", "", "dense"]


def test_the_exact_name_the_unit_and_the_kind_of_summary_stand_beside_the_word():
    lines = printed(WORDS, rules=RULES).splitlines()

    assert lines[0].split() == [
        "measure",
        "exact",
        "name",
        "unit",
        "mean",
        "95",
        "%",
        "interval",
        "sd",
        "n",
    ]
    assert lines[2].split() == [
        "Recall@5",
        "P@5",
        "percent",
        "54.80",
        "[45.20,",
        "64.40]",
        "34.90",
        "50",
    ]
    assert lines[3].split() == [
        "MedR",
        "(median)",
        "MedR",
        "rank",
        "12.50",
        "[10.00,",
        "15.00]",
        "3.00",
        "50",
    ]
    assert lines[4].split() == [
        "NumRel",
        "(sum)",
        "NumRel",
        "count",
        "745",
        "[622.00,",
        "865.50]",
        "8.90",
        "50",
    ]
    assert lines[5].split() == ["AP", "AP", "share", "–", "–", "–", "0"]


def test_without_any_interval_there_is_no_column_for_it():
    assert "interval" not in printed([awkward()])
    assert "90 % interval" in printed(rules={"level": 0.9})


def test_columns_of_a_protocol_follow_the_fixed_ones():
    rows = [awkward(group="animals", k=5)]

    assert (
        printed(rows, form="csv").splitlines()[0]
        == "run,measure,label,mean,sd,ci_low,ci_high,n,unit,group,k"
    )
    assert printed(rows).splitlines()[0].split() == ["measure", "group", "k", "mean", "sd", "n"]


LEVELS = [
    awkward(direction="t2v", k=5, ceiling=1.0, chance=0.04285714, coverage=0.655172, p=0.00001234)
]


def test_a_protocols_figures_stand_named_after_n_and_its_keys_before_the_mean():
    header, _, line = printed(LEVELS).splitlines()

    assert header.split() == [
        "measure",
        "direction",
        "k",
        "mean",
        "sd",
        "n",
        "ceiling",
        "chance",
        "coverage",
        "p",
    ]
    assert line.split() == [
        "AP",
        "t2v",
        "5",
        "0.5000",
        "0.1000",
        "3",
        "1.0000",
        "0.0429",
        "0.6552",
        "<",
        "0.0001",
    ]


def test_levels_are_in_the_unit_of_the_mean_and_shares_are_not():
    row = {
        **LEVELS[0],
        "unit": "percent",
        "mean": 50.0,
        "sd": 10.0,
        "ceiling": 100.0,
        "chance": None,
    }

    assert printed([row]).splitlines()[2].split()[-5:] == ["100.00", "–", "0.6552", "<", "0.0001"]


def test_on_a_narrow_terminal_every_figure_has_its_name():
    lines = printed(LEVELS, width=32).splitlines()

    assert lines[0] == "AP · t2v · 5"
    told = (
        "mean 0.5000",
        "sd 0.1000",
        "n 3",
        "ceiling 1.0000",
        "chance 0.0429",
        "coverage 0.6552",
        "p < 0.0001",
    )
    assert "".join(lines[1:]) == "".join(f"  {each}" for each in told)


def test_figures_stand_under_each_other_also_beside_wide_letters():
    from rich.cells import cell_len

    lines = printed([awkward("漢字"), awkward("a")]).splitlines()

    assert len({cell_len(line) for line in lines}) == 1


def test_values_of_single_queries_come_before_the_summary_a_column_per_measure():
    above, below = printed(per_query=PER_QUERY).split("\n\n")

    assert [line.split() for line in above.splitlines()] == [
        ["query", "nDCG@10", "AP"],
        ["─" * 22],
        ["q1", "0.5000", "0.3333"],
        ["q2", "–", "0.2500"],
    ]
    assert below == printed()


def test_values_of_single_queries_with_a_protocols_columns_are_a_line_each():
    lines = printed(per_query=[{**PER_QUERY[0], "direction": "t2v"}]).splitlines()

    assert lines[0].split() == ["query", "measure", "direction", "value"]
    assert lines[2].split() == ["q1", "nDCG@10", "t2v", "0.5000"]


@pytest.mark.parametrize("width", [32, 40, 60])
def test_a_narrow_terminal_gets_every_figure_and_no_line_too_long(width):
    text = printed(WORDS, rules={}, width=width)

    assert max(map(len, text.splitlines())) <= width
    # In a table decimal points are one below the other; narrower terminals get lines of figures
    # with their names.
    interval = "[45.20,  64.40]" if width == 60 else "[45.20, 64.40]"
    for figure in ("54.80", interval, "34.90", "745", "Recall@5", "P@5"):
        assert figure in text


TWO_WAYS = [
    SummaryRow.of(f"{run}_with_a_long_name", measure, label, 54.8, 34.9, 45.2, 64.4, 607, unit)
    | {"direction": way, "ceiling": 100.0, "chance": 0.16}
    for run in ("netvlad", "densevlad")
    for way in ("t2v", "v2t")
    for measure, label, unit in [
        ("Success@1", "R@1", "percent"),
        ("Success@10", "R@10", "percent"),
        ("MnR", "MnR", "rank"),
    ]
]


@pytest.mark.parametrize("width", [80, 66])
def test_a_terminal_of_usual_width_gets_every_column_in_panels(width):
    text = printed(TWO_WAYS, width=width)

    assert max(map(len, text.splitlines())) <= width
    for heading in ("exact name", "unit", "mean", "95 % interval", "sd", "n", "ceiling", "chance"):
        assert re.search(rf"(?m)^.*\b{heading}(  |$|: )", text), heading
    assert text.count("54.80") == len(TWO_WAYS)


def test_each_panel_of_texts_has_the_columns_that_tell_rows_apart():
    rows = [
        {
            "engine": engine,
            "parameter": name,
            "default": "some words",
            "about": f"{name} of {engine}",
        }
        for engine in ("first", "second")
        for name in ("address", "seconds for an answer")
    ]

    text = render_rows(
        [row | {"about": f"{row['about']} {'x' * 40}"} for row in rows], terminal=Terminal(80)
    )

    assert text.count("\n\n") == 1, text
    for panel in text.split("\n\n"):
        assert panel.split()[:2] == ["engine", "parameter"], panel


def test_scores_of_which_only_the_first_has_room_for_intervals_say_so_and_leave_no_gaps():
    rows = [
        SummaryRow.of(run, label, label, value, 0.1, low, high, 100, unit)
        for run in ("small", "noisy", "third")
        for label, value, low, high, unit in [
            ("P@1", 0.5, 0.4, 0.6, "share"),
            *((f"rank of {number}", 1234.0, 1000.0, 2000.0, "rank") for number in range(4)),
        ]
    ]

    text = printed(rows, rules={}, width=60, details=False)

    table, note = text.rstrip("\n").rsplit("\n\n", 1)
    assert "\n\n" not in table.lstrip("\n"), text
    assert table.count("[.400, .600]") == 3, text
    assert note == "The other intervals need a wider terminal."


def test_a_table_that_fits_keeps_every_column():
    assert printed(TWO_WAYS, width=200) == printed(TWO_WAYS)
    assert "exact name" in printed(TWO_WAYS)


def test_colour_changes_nothing_but_colour():
    coloured = printed(TWO_RUNS, PER_QUERY, RULES, colour=True)

    assert coloured != printed(TWO_RUNS, PER_QUERY, RULES)
    assert re.sub(r"\x1b\[\d+m", "", coloured) == printed(TWO_RUNS, PER_QUERY, RULES)


class Screen(io.StringIO):
    def isatty(self):
        return True


def test_colour_is_for_terminals_that_want_it(monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.setenv("TERM", "xterm")

    assert reporting.terminal_of(io.StringIO()) == Terminal(None, colour=False)
    assert reporting.terminal_of(Screen()) == Terminal(80, colour=True)
    monkeypatch.setenv("NO_COLOR", "1")
    assert reporting.terminal_of(Screen()) == Terminal(80, colour=False)
    monkeypatch.setenv("COLUMNS", "100")
    assert reporting.terminal_of(io.StringIO()) == Terminal(None, colour=False)
    assert reporting.terminal_of(Screen()) == Terminal(100, colour=False)
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("TERM", "dumb")
    assert not reporting.terminal_of(Screen()).colour


def test_the_rules_line_says_counts_once_where_runs_agree_and_by_run_where_they_do_not():
    assert rules_line(RULES) == (
        "412 queries counted, 1 with no relevant item; queries missing from the run: 0 in "
        "bm25, 2 in dense; "
        "queries with values that depend on the order of ties: at most 7 in bm25, 0 in dense; "
        "ties=id-desc exclude-self=no seed=0"
    )
    assert printed(rules=RULES).splitlines()[-1] == "rules: " + rules_line(RULES)
    assert rules_line({}) == ""
    assert "rules" not in printed()


def test_a_terminal_is_never_sent_what_an_id_tries_to_say_to_it():
    text = printed([awkward("a\x1b[31m\nb"), awkward("c\udcff\u202e")])

    assert "\x1b" not in text
    assert r"a\x1b[31m\nb" in text
    assert r"c\udcff\u202e" in text


@pytest.mark.parametrize(("form", "delimiter"), [("csv", ","), ("tsv", "\t")])
def test_delimited_floats_read_back_to_the_last_bit(form, delimiter):
    first, second = csv.DictReader(io.StringIO(printed(form=form)), delimiter=delimiter)

    assert list(first) == [
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
    assert float(second["mean"]) == THIRD
    assert first["n"] == "412"


def test_an_undefined_figure_is_an_empty_cell():
    assert printed([WORDS[3]], form="csv").splitlines()[1] == "r,AP,AP,,,,,0,share"


def test_with_values_of_single_queries_a_delimited_file_holds_only_these():
    assert printed(per_query=PER_QUERY, form="tsv").splitlines() == [
        "run\tquery\tmeasure\tlabel\tvalue\tunit",
        "bm25\tq1\tnDCG@10\tnDCG@10\t0.5\tshare",
        f"bm25\tq1\tAP\tAP\t{THIRD!r}\tshare",
        "bm25\tq2\tnDCG@10\tnDCG@10\t\tshare",
        "bm25\tq2\tAP\tAP\t0.25\tshare",
    ]


@pytest.mark.parametrize("text", ["=cmd()", "+1", "-x", "@sum", "\tx"])
def test_a_text_that_a_spreadsheet_would_run_is_disarmed_and_a_number_is_not(text):
    (row,) = csv.DictReader(
        io.StringIO(printed([{**awkward(text=text), "mean": -0.5}], form="csv"))
    )

    assert row["text"] == "'" + text
    assert row["mean"] == "-0.5"
    (raw,) = csv.DictReader(io.StringIO(printed([awkward(text=text)], form="tsv")), delimiter="\t")
    assert raw["text"] == text.replace("\t", r"\t")


def test_ids_read_back_as_they_are_also_those_that_begin_like_a_formula():
    rows = [
        {**each, "run": "-run", "query": "--I-TdCe2_g_clip009.mp4", "item": "=id"}
        for each in PER_QUERY
    ]

    for row in csv.DictReader(io.StringIO(printed(per_query=rows, form="csv"))):
        assert (row["run"], row["query"], row["item"]) == ("-run", "--I-TdCe2_g_clip009.mp4", "=id")


@pytest.mark.parametrize(("form", "delimiter"), [("csv", ","), ("tsv", "\t")])
def test_lists_and_mappings_in_a_delimited_cell_are_json(form, delimiter):
    told = {"retrieved": ["-a", "é"], "results": [{"rank": 1, "similarity": None, "right": True}]}
    rows = [{**each, **told} for each in PER_QUERY]

    first, *_ = csv.DictReader(io.StringIO(printed(per_query=rows, form=form)), delimiter=delimiter)

    assert {name: json.loads(first[name]) for name in told} == told


def strict(text):
    def refuse(word):
        raise AssertionError(f"{word} is not JSON")

    return json.loads(text, parse_constant=refuse)


def test_the_json_document_is_exactly_the_schema():
    text = render(TWO_RUNS, None, RULES, [reading_choice("a note")], "json")

    assert strict(text) == {
        "schema_version": 2,
        "rows": list(TWO_RUNS),
        "rules": RULES,
        "findings": [{"name": "reading-choice", "level": "info", "message": "a note"}],
    }
    assert list(strict(text)) == ["schema_version", "rows", "rules", "findings"]
    assert list(strict(text)["rows"][0]) == list(reporting.SUMMARY_COLUMNS)


def test_json_keeps_the_summary_in_rows_beside_per_query():
    document = strict(printed(per_query=PER_QUERY, form="json"))

    assert document["rows"] == list(ONE_RUN)
    assert document["per_query"] == PER_QUERY


def test_json_never_says_nan_and_takes_numpys_numbers():
    row = awkward(
        a=float("nan"),
        b=np.float64(0.5),
        c=np.int64(3),
        d=float("inf"),
        e=np.array([1.0, np.nan]),
        f={2, 1},
    )

    (read,) = strict(printed([row], form="json"))["rows"]

    assert [read[name] for name in "abcdef"] == [None, 0.5, 3, None, [1.0, None], [1, 2]]


def test_json_keeps_odd_bytes_of_an_id_and_stays_utf_8():
    text = printed([awkward("q\udcff"), awkward("é")], form="json")

    assert [row["run"] for row in strict(text.encode().decode())["rows"]] == ["q\udcff", "é"]
    assert "é" in text


def test_json_lines_are_a_row_each():
    assert [strict(line) for line in printed(form="jsonl").splitlines()] == list(ONE_RUN)
    assert [
        strict(line) for line in printed(per_query=PER_QUERY, form="jsonl").splitlines()
    ] == PER_QUERY


def test_markdown_is_a_pipe_table_with_the_rules_below():
    assert printed(rules={"ties": "id-desc"}, form="md") == (
        "| measure |   mean |    95 % interval |     sd |   n |\n"
        "| ------- | -----: | ---------------: | -----: | --: |\n"
        "| nDCG@10 | 0.4127 | [0.3890, 0.4360] | 0.2470 | 412 |\n"
        "| AP      | 0.3333 | [0.3000, 0.3500] | 0.2000 | 412 |\n"
        "\n"
        "rules: ties=id-desc\n"
    )


def test_markdown_markup_in_a_name_is_escaped_and_a_plain_name_is_left_readable():
    text = printed([awkward("a|b*c_d_<i>\\"), awkward("alpha_nDCG")], form="md")

    assert r"a\|b\*c_d\_\<i\>\\ " in text
    assert "alpha_nDCG " in text


def test_latex_has_booktabs_rules_and_a_rule_between_runs():
    assert printed(TWO_RUNS, rules={"ties": "id-desc"}, form="latex") == (
        "% needs \\usepackage{booktabs}\n% rules: ties=id-desc\n"
        "\\begin{tabular}{@{}llrrrr@{}}\n"
        "\\toprule\n"
        "run & measure & mean & 95 \\% interval & sd & n \\\\\n"
        "\\midrule\n"
        "bm25 & nDCG@10 & 0.4127 & {[}0.3890, 0.4360{]} & 0.2470 & 412 \\\\\n"
        " & AP & 0.3333 & {[}0.3000, 0.3500{]} & 0.2000 & 412 \\\\\n"
        "\\midrule\n"
        "dense & nDCG@10 & 0.5000 & {[}0.4500, 0.5500{]} & 0.1000 & 412 \\\\\n"
        "\\bottomrule\n"
        "\\end{tabular}\n"
    )


def test_latex_says_its_special_letters():
    text = printed([awkward("a_b&c%d#e$f{g}h~i^j\\k[l]"), awkward("other")], form="latex")

    assert (
        r"a\_b\&c\%d\#e\$f\{g\}h\textasciitilde{}i\textasciicircum{}j\textbackslash{}k{[}l{]} & AP"
        in text
    )


def test_latex_has_greek_letters_in_formulas():
    text = render_rows([{"Kendall's τ": "0.5", "run": "κ−1"}], "latex")

    assert r"Kendall's $\tau$ & run \\" in text
    assert r"$\kappa$$-$1" in text


def test_a_line_break_in_an_id_cannot_leave_the_comment_of_latex():
    text = printed(rules={"convention": "a\n\\input{x}"}, form="latex")

    assert text.splitlines()[1].startswith("% rules: ")
    assert "\\input" not in "\n".join(text.splitlines()[2:])


def test_a_column_without_a_single_figure_is_aligned_as_figures_are():
    rows = [{"system": "a", "time": None, "note": "x"}, {"system": "b", "time": "–", "note": "y"}]

    assert render_rows(rows).splitlines()[2:] == ["a          –  x", "b          –  y"]


def test_rows_of_any_kind_are_printed_in_every_format():
    rows = [
        {"file": "a.run", "what": "ties", "count": 3},
        {"file": "b.run", "what": None, "count": 0.5},
    ]

    assert (
        render_rows(rows)
        == "file   what   count\n───────────────────\na.run  ties  3\nb.run  –     0.5000\n"
    )
    assert render_rows(rows, "csv") == "file,what,count\na.run,ties,3\nb.run,,0.5\n"
    assert strict(render_rows(rows, "json"))["rows"] == rows
    assert [strict(line) for line in render_rows(rows, "jsonl").splitlines()] == rows
    assert render_rows(rows, "md").count("|") == 16
    assert render_rows(rows, "latex").count("&") == 6


@pytest.mark.parametrize("form", get_args(reporting.Format))
def test_no_rows_are_printed_without_an_error(form):
    assert isinstance(render_rows([], form), str)
    assert isinstance(printed([], form=form), str)
    assert isinstance(printed([], [], form=form), str)


def values(runs, measures, *, n=40):
    rng = np.random.default_rng(5)
    queries = tuple(f"q{place}" for place in range(n))
    units = {
        "MedR": ("rank", "median", 1, 900),
        "NumRet": ("count", "sum", 0, 40),
        "E": ("score", "mean", -3, 3),
    }
    made = []
    for run in runs:
        for measure in measures:
            unit, summary, low, high = units.get(measure, ("share", "mean", 0, 1))
            made.append(
                Values(
                    run,
                    measure,
                    measure,
                    unit,
                    summary,
                    queries,
                    low + (high - low) * rng.random(n),
                )
            )
    return made


def chart_data(made):
    return ChartData(list(summarise(made, resamples=50)), made, {})


def leaves(spec):
    """Every mapping inside a spec."""
    if isinstance(spec, dict):
        yield spec
        for each in spec.values():
            yield from leaves(each)
    elif isinstance(spec, list):
        for each in spec:
            yield from leaves(each)


def test_there_are_charts_of_intervals_and_of_values_per_query():
    assert {"intervals", "per_query"} <= set(CHARTS)


@pytest.mark.parametrize("name", ["intervals", "per_query"])
@pytest.mark.parametrize("runs", [["a"], ["a", "b" * 80, "b" * 79 + "c", "漢字\udcff"]])
def test_a_chart_is_drawn_as_png_and_svg_and_the_same_each_time(name, runs):
    data = chart_data(values(runs, ["nDCG@10", "MedR", "NumRet", "E"]))

    picture = draw_all([CHARTS[name](data)])[0]

    assert picture.png.startswith(b"\x89PNG")
    assert picture.svg.startswith("<svg")
    assert picture == draw_all([CHARTS[name](data)])[0]
    assert "NaN" not in picture.svg
    assert "undefined" not in picture.svg


def test_the_interval_chart_has_a_panel_per_measure_and_the_rows_means_in_it():
    data = chart_data(values(["a", "b"], ["nDCG@10", "AP", "MedR"]))

    spec = CHARTS["intervals"](data)

    assert [panel["title"] for panel in spec["concat"]] == ["nDCG@10", "AP", "MedR, rank"]
    drawn = [mark for panel in spec["concat"] for mark in panel["data"]["values"]]
    assert sorted((mark["low"], mark["mean"], mark["high"]) for mark in drawn) == sorted(
        (row["ci_low"], row["mean"], row["ci_high"]) for row in data.rows
    )


def test_measures_of_different_units_never_share_a_scale():
    spec = CHARTS["intervals"](chart_data(values(["a"], ["nDCG@10", "MedR", "AP"])))

    assert [[mark["name"] for mark in panel["data"]["values"]] for panel in spec["concat"]] == [
        ["nDCG@10", "AP"],
        ["MedR, rank"],
    ]


def two_directions(runs):
    """Values of two directions, a sum over both, and the columns that distinguish them."""
    made = [each for each in values(runs, ["P@5", "MedR"]) for _ in range(2)]
    attributes = [
        {"direction": direction} for _ in range(len(made) // 2) for direction in ("t2v", "v2t")
    ]
    made = [
        replace(each, values=each.values * (0.5 if own["direction"] == "v2t" else 1))
        for each, own in zip(made, attributes, strict=True)
    ]
    rows = [row | own for row, own in zip(summarise(made, resamples=50), attributes, strict=True)]
    rows += [
        {
            **rows[0],
            "run": run,
            "measure": "rsum",
            "label": "rsum",
            "mean": 4.0,
            "direction": "t2v+v2t",
        }
        for run in runs
    ]
    return ChartData(rows, made, {}, attributes)


def titles(spec):
    return [panel.get("title") for panel in spec["concat"] if panel["data"]["values"]]


def test_directions_stand_side_by_side_on_one_scale_and_a_sum_over_both_by_itself():
    data = two_directions(["a", "b"])

    spec = CHARTS["intervals"](data)

    assert spec["columns"] == 2
    assert titles(spec) == [
        "t2v: P@5",
        "v2t: P@5",
        "t2v: MedR, rank",
        "v2t: MedR, rank",
        "t2v+v2t: rsum",
    ]
    drawn = [
        (mark["name"], mark["mean"]) for panel in spec["concat"] for mark in panel["data"]["values"]
    ]
    assert sorted(drawn) == sorted((row["run"], row["mean"]) for row in data.rows)
    domains = [
        next(leaf["domain"] for leaf in leaves(panel["layer"]) if "domain" in leaf)
        for panel in spec["concat"]
    ]
    assert domains[0] == domains[1]
    assert domains[2] == domains[3]
    assert len({domains[0], domains[2], domains[4]}) == 3


def test_a_single_runs_directions_are_columns_whose_rows_are_measures():
    spec = CHARTS["intervals"](two_directions(["a"]))

    assert titles(spec) == ["t2v", "v2t", "t2v, rank", "v2t, rank", "t2v+v2t: rsum"]
    for panel in spec["concat"]:
        names = [mark["name"] for mark in panel["data"]["values"]]
        assert len(set(names)) == len(names)


def test_a_measure_of_one_direction_alone_leaves_its_place_in_the_other_empty():
    data = two_directions(["a"])
    rows = [row for row in data.rows if (row["measure"], row["direction"]) != ("MedR", "t2v")]

    spec = CHARTS["intervals"](data._replace(rows=rows))

    assert [bool(panel["data"]["values"]) for panel in spec["concat"]] == [
        True,
        True,
        False,
        True,
        True,
    ]
    assert draw_all([spec])[0].png


def test_medians_and_sums_are_not_called_means():
    rules = {"measures": {"MedR": {"summary": "median"}, "P@5": {"summary": "mean"}}}
    plain = chart_data(values(["a"], ["P@5"]))

    assert (
        CHARTS["intervals"](plain._replace(rules=rules))["title"]["text"]
        == "Means with 95 % intervals"
    )
    assert (
        CHARTS["intervals"](two_directions(["a"])._replace(rules=rules))["title"]["text"]
        == "Figures with 95 % intervals"
    )


@pytest.mark.parametrize("runs", [["a"], ["a", "b"]])
def test_histograms_have_a_row_for_every_run_and_direction(runs):
    spec = CHARTS["per_query"](two_directions(runs))

    wanted = [f"{way}, {run}" if len(runs) > 1 else way for way in ("t2v", "v2t") for run in runs]
    for panel in spec["concat"]:
        assert panel["facet"]["row"]["sort"] == wanted
        centres = [bar["run"] for bar in panel["data"]["values"] if "centre" in bar]
        assert sorted(centres) == sorted(wanted)
        for name in wanted:
            assert sum(
                bar.get("share", 0) for bar in panel["data"]["values"] if bar["run"] == name
            ) == pytest.approx(1)
    assert draw_all([spec])[0].png


def test_the_bars_of_every_histogram_hold_all_counted_queries():
    made = values(["a", "b"], ["nDCG@10", "MedR", "E"])
    made.append(
        Values(
            "a",
            "P@5",
            "P@5",
            "share",
            "mean",
            ("q1", "q2", "q3", "q4"),
            np.array([0.6, 0.2 + 0.4, np.nan, 1.0]),
        )
    )

    spec = CHARTS["per_query"](chart_data(made))

    for panel in spec["concat"]:
        totals = {}
        for bar in panel["data"]["values"]:
            totals[bar["run"]] = totals.get(bar["run"], 0) + bar.get("share", 0)
        assert all(
            total == pytest.approx(1) or (run, panel["title"]) == ("b", "P@5")
            for run, total in totals.items()
        )
    bars = {
        round(bar["from"], 6): bar["share"]
        for bar in spec["concat"][-1]["data"]["values"]
        if bar.get("share")
    }
    assert bars == {0.6: pytest.approx(2 / 3), 0.95: pytest.approx(1 / 3)}


def test_names_that_differ_only_in_the_middle_stay_different():
    names = ["x" * 40 + "1" + "y" * 40, "x" * 40 + "2" + "y" * 40]

    spec = CHARTS["intervals"](chart_data(values(names, ["AP"])))

    assert len({mark["name"] for mark in spec["concat"][0]["data"]["values"]}) == 2


def test_nothing_to_draw_gives_no_chart():
    empty = [Values("a", "AP", "AP", "share", "mean", ("q",), np.array([np.nan]))]

    assert CHARTS["intervals"](chart_data(empty)) is None
    assert CHARTS["per_query"](chart_data(empty)) is None


@pytest.mark.parametrize("name", ["intervals", "per_query"])
@pytest.mark.parametrize("number", [0.0, 1.0, 3.0])
def test_a_constant_is_drawn_on_a_scale_that_is_not_empty(name, number):
    made = [
        Values("a", unit, unit, unit, "mean", ("q1", "q2"), np.array([number, number]))
        for unit in ("share", "percent", "rank", "count", "score")
    ]

    spec = CHARTS[name](chart_data(made))

    domains = [
        each["domain"] for each in leaves(spec) if isinstance(each.get("domain"), (list, tuple))
    ]
    assert all(domain[0] < domain[-1] for domain in domains if not isinstance(domain[0], str))
    assert draw_all([spec])[0].png


def test_the_table_of_systems_has_the_words_of_the_other_tables():
    """Of two measures with one word the exact name follows it."""
    row = {
        "run": "a",
        "mean": 0.5,
        "rank": 1.0,
        "mean_rank": 1.0,
        "better_than": "",
        "unit": "share",
    }
    names = [("P@1", "Recall@1"), ("R@1", "R"), ("R@5", "R")]
    systems = [{**row, "measure": measure, "label": label} for measure, label in names]

    text = difference_text({"systems": systems}, [], None, {}, "table")

    assert re.split("  +", text.split("\n")[2]) == ["system", "Recall@1", "R = R@1", "R = R@5"]


@pytest.mark.parametrize(("form", "line"), [("csv", '""'), ("tsv", "")])
def test_a_table_of_one_column_may_have_empty_cells(form, line):
    assert render_rows([{"id": None}, {"id": "a"}], form).splitlines() == ["id", line, "a"]
