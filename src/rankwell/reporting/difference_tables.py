"""A comparison for people: sentences, the differences, the groups, the order of systems."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rankwell.data.catalogue import result_kind
from rankwell.data.frames import Heading
from rankwell.data.options import shown_digits
from rankwell.data.tables import MISSING, format_value, p_value
from rankwell.errors import count_of
from rankwell.reporting import (
    PLAIN,
    Answer,
    Format,
    PrintedFigure,
    Row,
    Rules,
    TableStyle,
    Terminal,
    folded,
    plain_grid,
    render_rows,
    rules_line,
    visible,
)
from rankwell.reporting.charts import difference_label
from rankwell.reporting.outputs.answers import score_digits, short_interval
from rankwell.reporting.outputs.markup import SENTENCES
from rankwell.reporting.outputs.text_table import fitted
from rankwell.reporting.system_table import for_paper, score_table, wide_rows
from rankwell.store import write_text

_MOST_LOST = 2
"""How many lost queries an answer names."""
_TESTS = {
    "randomisation": "Paired randomisation test",
    "t": "Paired t-test",
    "wilcoxon": "Wilcoxon's signed-rank test",
    "sign": "Sign test",
    "bootstrap": "Studentised bootstrap test",
}


def difference_answer(result: Any) -> Answer:
    """The verdicts in short, and the differences of a pair by every measure, or the scores of
    several systems with the systems that each is better than.
    """
    rules, noun = result.describe(), result_kind(result.task).noun
    attributes = [name for name in result.query_columns if name != "against"]
    first = next(
        (row for row in result.differences if row["better"] != "neither"), result.differences[0]
    )
    sentence = "\n".join(result.headlines)
    several = sum(row["p"] is not None for row in result.differences) > 1
    correction = (
        rules["correction"]
        if any(row["p_adjusted"] != row["p"] for row in result.differences)
        else "none"
    )
    pairs = {(row["run"], row["against"]) for row in result.differences}
    test = f"{_TESTS[rules['test']]}, two-sided, {count_of(first['n'], *noun)}"
    test += "." if correction == "none" else f", p corrected ({correction}, {len(pairs)} pairs)."
    if len(pairs) > 1:
        table = score_table(
            [row for row in result.summary if row.get("against") is None],
            {row["of"]: row["better"] for row in result.differences},
            rules,
            differences=result.differences,
            attributes=attributes,
        )
        if table is not None:
            table = for_paper(table, TableStyle(digits=shown_digits()), intervals=False)
            meaning = table.footnotes.get("superscripts")
            marks = [f"Superscripts: {meaning}."] if meaning else []
            return Answer(sentence, table=wide_rows(table), legend=[" ".join([*marks, test])])
    rows = [*result.differences, *(row for row in result.groups if row["of"] == first["of"])]
    # A run may be called as the column.
    is_tested = not any("p" in pair for pair in pairs) and any(row["p"] is not None for row in rows)
    shown = [
        _pair(row, attributes, rules, is_named=len(pairs) > 1, is_tested=is_tested) for row in rows
    ]
    if is_tested and "\n\n" in fitted(plain_grid(shown), PLAIN.page):
        # The interval shows as much as p, and the table stays one.
        shown = [{name: cell for name, cell in row.items() if name != "p"} for row in shown]
    deciding = f"{difference_label(first)} decides. " if several else ""
    legend = [deciding + test, _losses(result, first)]
    return Answer(sentence, table=shown, legend=[line for line in legend if line])


def _pair(
    row: Row, attributes: Sequence[str], rules: Rules, *, is_named: bool, is_tested: bool
) -> Row:
    """A difference: both means, the difference with its interval, its p-value, and how many queries
    won.
    """

    def _text(name: str, *, signed: bool = False) -> str:
        digits = score_digits(rules, row["unit"])
        return format_value(row[name], row["unit"], signed=signed, digits=digits)

    names = [difference_label(row), *(str(row[name]) for name in attributes if row.get(name))]
    if row.get("group"):
        # Groups are judged by the measure of the row above them alone.
        names = [f"{row['group']} (n = {row['n']})"]
    difference = _text("mean", signed=True)
    if row["ci_low"] is not None:
        difference += short_interval(f" [{_text('ci_low')}, {_text('ci_high')}]")
    counts = [row[name] for name in ("wins", "ties", "losses")]
    return {
        " ": " · ".join(names),
        **({"run": row["run"], "against": row["against"]} if is_named else {}),
        Heading("against's mean" if is_named else row["against"]): PrintedFigure(
            _text("mean_against")
        ),
        Heading("run's mean" if is_named else row["run"]): PrintedFigure(_text("mean_run")),
        f"difference ({100 * rules['level']:g}% CI)": PrintedFigure(difference),
        **({"p": PrintedFigure(p_value(row["p_adjusted"]))} if is_tested else {}),
        "win/tie/loss": PrintedFigure(MISSING if counts[0] is None else "/".join(map(str, counts))),
    }


def _losses(result: Any, first: Row) -> str:
    """The queries on which the run loses most; "" where the two have equal means."""
    if first["better"] == "neither" or not first["mean"]:
        return ""
    values = result.values[result.n_summarised + result.differences.index(first)]
    direction = -1.0 if first["better"] == "lower" else 1.0
    gains = (direction * values.values).tolist()
    lost = sorted(
        (gain, query) for query, gain in zip(values.queries, gains, strict=True) if gain < 0
    )
    queries = result.queries or {}
    texts = dict(zip(queries.get("query", ()), queries.get("text", ()), strict=False))
    digits = score_digits(result.describe(), first["unit"])
    changes = [
        format_value(direction * gain, first["unit"], signed=True, digits=digits)
        for gain, _ in lost[:_MOST_LOST]
    ]
    ids = [query for _, query in lost[:_MOST_LOST]]
    with_texts = [f"{query} ({texts[query]})" if texts.get(query) else query for query in ids]
    line = ""
    for names in (with_texts, ids) if ids else ():
        cases = (f"{visible(name)} {change}" for name, change in zip(names, changes, strict=True))
        line = f"Biggest losses of {visible(first['run'])}: {' · '.join(cases)}"
        if len(line) <= (PLAIN.page.width or 0):
            break
    return line


def difference_text(
    tables: Mapping[str, Sequence[Row]],
    differences: Sequence[Row],
    per_query: Sequence[Row] | None,
    rules: Rules,
    format: Format,
    terminal: Terminal = PLAIN,
    scores: str = "",
) -> str:
    """The text of a comparison in a format for people, ending in a line break.

    scores: the table of scores with the rules, which follows the verdicts. differences: rows of the
    summary. Of the groups those by the first measure are shown, of
    `per_query` those of differences.
    """
    printed = [] if per_query is None else [query_differences(per_query)]
    groups, systems = tables.get("groups", ()), tables.get("systems", ())
    printed.append(shown_differences(differences))
    if groups:
        printed.append(shown_differences([row for row in groups if row["of"] == groups[0]["of"]]))
    if systems:
        printed.append(_systems(systems, tables.get("borda", ()), differences))
    if orders := tables.get("orders"):
        printed.append([{word: row[name] for name, word in _ORDERS.items()} for row in orders])
    sentence = SENTENCES.get(format, visible)
    wide = terminal if format == "table" else PLAIN
    stated_rules = "" if scores else rules_line(rules)
    below = [_legend(differences, systems, rules), stated_rules and f"rules: {stated_rules}"]
    parts = [
        "\n".join(folded(sentence(row["text"]), wide) for row in tables.get("verdicts", ())),
        scores,
        *(render_rows(rows, format, terminal=terminal) for rows in printed),
        *(folded(sentence(text), wide) for text in below if text),
    ]
    return "\n\n".join(part.rstrip("\n") for part in parts if part) + "\n"


def query_differences(
    per_query: Sequence[Row], digits: Callable[[str], int | None] = lambda _: None
) -> list[Row]:
    """The differences among the values of queries, as people read them. digits: unit -> decimals;
    None for those of the unit.
    """

    def _text(row: Row) -> PrintedFigure:
        unit = row["unit"]
        return PrintedFigure(format_value(row["value"], unit, signed=True, digits=digits(unit)))

    return [
        {
            "run": row["run"],
            "against": row["against"],
            "query": row["query"],
            "measure": row["label"],
            "difference": _text(row),
        }
        for row in per_query
        if row.get("against") is not None
    ]


_ROLES = {
    "primary": "the first measure, which alone decides the verdict",
    "secondary": "tested by itself",
    "repeated": "the same values as an earlier measure on every query, so that the two count "
    "as one",
    "descriptive": "neither higher nor lower values are better, so that it is not tested",
}
"""The parts of measures in a comparison, as readers see them."""


def _legend(differences: Sequence[Row], systems: Sequence[Row], rules: Rules) -> str:
    """The meaning of the columns and marks that need one."""

    def has(name: str) -> bool:
        return any(row[name] is not None for row in differences)

    roles = {row.get("role") for row in differences}
    words = [f"{role}: {meaning}" for role, meaning in _ROLES.items() if role in roles]
    words = words if len(roles) > 1 else []
    if has("p"):
        words.append("p: two-sided")
    if has("effect_size"):
        words.append(
            "effect: the mean difference in standard deviations of the differences (Cohen's d_z)"
        )
    if has("detectable"):
        words.append(
            "detectable: the smallest true difference that n queries show as significant with a "
            f"probability of {rules['power']:g}"
        )
    pairs = {(row["run"], row["against"]) for row in differences}
    if len(pairs) > 1 and rules.get("correction") not in (None, "none"):
        words.append(
            "intervals and detectable are of one pair alone, without the correction: an interval "
            "may exclude 0 where the adjusted p shows no significant difference"
        )
    if any(row["better_than"] for row in systems):
        words.append("superscripts: the systems that this one is significantly better than")
    return "; ".join(words)


_ORDERS = {
    "first": "order by",
    "second": "and by",
    "tau": "Kendall's τ",
    "tau_ap": "τ-AP",
    "rbo": "RBO",
    "systems": "systems",
}


def shown_differences(rows: Sequence[Row]) -> list[Row]:
    """The columns of differences that people read, figures as text."""
    # Columns that distinguish a measure's rows lie between the columns of every summary and those
    # of differences.
    names = list(rows[0]) if rows else ["unit", "against"]
    attributes = names[names.index("unit") + 1 : names.index("against")]
    corrected = any(row["p_adjusted"] != row["p"] for row in rows)
    several = len({row.get("role") for row in rows}) > 1
    return [_difference(row, attributes, corrected=corrected, several=several) for row in rows]


def _difference(row: Row, attributes: Sequence[str], *, corrected: bool, several: bool) -> Row:
    label, unit = difference_label(row), row["unit"]
    measure = label if label.removesuffix(" (mean)") == row["of"] else f"{label} = {row['of']}"
    low, high = (format_value(row[end], unit, signed=True) for end in ("ci_low", "ci_high"))
    counts = [row[name] for name in ("wins", "ties", "losses")]
    texts = {
        "mean": format_value(row["mean_run"], unit),
        "other's mean": format_value(row["mean_against"], unit),
        "difference": format_value(row["mean"], unit, signed=True),
        "interval": MISSING if row["ci_low"] is None else f"[{low}, {high}]",
        "adjusted p" if corrected else "p": p_value(row["p_adjusted"]),
        "effect": format_value(row["effect_size"], "effect", signed=True),
        "won/tied/lost": MISSING if counts[0] is None else "/".join(map(str, counts)),
        "detectable": format_value(row["detectable"], unit),
    }
    return {
        "run": row["run"],
        "against": row["against"],
        "measure": measure,
        **({"role": row["role"]} if several else {}),
        **{name: row.get(name) for name in attributes},
        **({"group": row["group"]} if "group" in row else {}),
        **{name: PrintedFigure(text) for name, text in texts.items()},
        "n": row["n"],
    }


_SYSTEM = {"run", "measure", "label", "mean", "rank", "mean_rank", "better_than", "unit"}


def _systems(rows: Sequence[Row], borda: Sequence[Row], differences: Sequence[Row]) -> list[Row]:
    """A row per system, best first: its mean by each measure, and its Borda points over the
    measures.
    """
    better = {row["of"]: row["better"] for row in differences}
    ranked = sorted(rows, key=lambda row: (row["measure"] != rows[0]["measure"], row["rank"]))
    attributes = [name for name in rows[0] if name not in _SYSTEM]
    table = score_table(ranked, better, {}, differences=differences, attributes=attributes)
    systems = [] if table is None else wide_rows(table)
    points = {row["run"]: PrintedFigure(f"{row['points']:g}") for row in borda}
    return [
        {**row, **({"Borda points": points.get(row["system"])} if points else {})}
        for row in systems
    ]


def write_comparison(tables: Mapping[str, Sequence[Row]], folder: Path) -> list[Path]:
    """Writes the tables of a comparison, each whole or not at all, and the verdicts as text;
    returns their paths.
    """
    texts = {
        folder / f"{name}.csv": render_rows(rows, "csv")
        for name, rows in tables.items()
        if name not in ("verdicts", "mean_ranks")
    }
    verdicts = [f"{visible(row['text'])}\n" for row in tables["verdicts"]]
    texts[folder / "verdicts.txt"] = "".join(verdicts)
    for path, content in texts.items():
        write_text(path, content)
    return list(texts)
