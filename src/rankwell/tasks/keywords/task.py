"""Search over annotated clips, and the keywords that texts mean."""

from collections.abc import Sequence
from typing import Annotated

from rankwell import __version__
from rankwell.data.findings.kinds import odd_entries
from rankwell.data.json_types import AnyObject, ScoreObject
from rankwell.data.options import Doc
from rankwell.errors import BadUsage
from rankwell.evaluation.judged import refuse_one_stream
from rankwell.reporting import Format
from rankwell.reporting.options import FileOption, Output
from rankwell.store import STDIN
from rankwell.task import Task, TaskInput, printed_rows
from rankwell.tasks.keywords.calibration import print_calibration
from rankwell.tasks.keywords.formats import read_annotations, read_text_queries
from rankwell.tasks.keywords.json_types import CalibrationObject, MeaningObject
from rankwell.tasks.keywords.lint import LintFinding, print_findings
from rankwell.tasks.keywords.mapping import findings_on_texts, mapper_of
from rankwell.tasks.keywords.options import (
    ANNOTATIONS,
    CalibrationOptions,
    KeywordCommandOptions,
    LintOptions,
    MapOptions,
    names,
)
from rankwell.tasks.keywords.presentation import print_evaluation


def print_keywords(
    texts: Sequence[str], *, options: MapOptions, format: Format = "table"
) -> Output:
    """The keywords of texts, a row each."""
    if not texts:
        raise BadUsage("name at least one text: rankwell keywords map TEXT... --annotations FILE")
    refuse_one_stream([options.annotations, options.schema, *texts])
    words = [
        query
        for text in texts
        for query in ([row.text for row in read_text_queries(text)] if text in STDIN else [text])
    ]
    queries = list(dict.fromkeys(query.text for query in read_text_queries(words)))
    groups = names(options.keyword_groups, "--keyword-groups")
    table = read_annotations(options.annotations, schema=options.schema, groups=groups)
    vocabulary = table.vocabulary_of(groups)
    findings = [*table.findings]
    if table.undeclared:
        undeclared = ", ".join(f"{label} ({group})" for group, label in table.undeclared)
        findings.append(
            odd_entries(f"used and not declared, so that no text maps to it: {undeclared}")
        )
    if vocabulary.shadowing:
        aliases = ", ".join(vocabulary.shadowing)
        findings.append(odd_entries(f"aliases that read like a label, which wins: {aliases}"))
    mapper, of_model = mapper_of(options, vocabulary, options.device)
    mapper.prepare(queries)
    mapped = [mapper.map_text(text) for text in queries]
    rows = [
        {
            "text": text.text,
            "span": match.span,
            "role": role,
            "group": match.keyword.group,
            "keyword": match.keyword.label,
            "score": match.score,
            "runner_up": match.runner_up,
            "margin": match.margin,
            "stage": match.stage,
            "why": match.why,
        }
        for text in mapped
        for role, matches in (("required", text.mapped), ("excluded", text.excluded))
        for match in matches
    ]
    if format != "json":
        for row in rows:
            del row["why"]
    findings += findings_on_texts(mapped, options)
    rules = {
        **mapper.describe(),
        "vocabulary": "used" if options.schema is None else "declared",
        **of_model,
        "version": __version__,
    }
    if format == "json":
        return Output(printed_rows(rows, format, rules=rules, findings=findings))
    text = printed_rows(rows, format, rules=rules) if rows else ""
    return Output(text, ("no keyword is mapped",) * (not rows), findings=tuple(findings))


keywords = Task(
    name="keywords",
    about="""Evaluate search over clips annotated with keywords.

To reproduce ALFA: -c alfa.

Queries are clips or texts. A clip is relevant if it has the query's keywords.

Each mean comes with its ceiling (a perfect ranker), its chance level, and the share of queries \
that count.""",
    command_lines="""
rankwell keywords --annotations clips.csv --item-vectors clips.npy
""",
    options=KeywordCommandOptions,
    files="the tables, per_query.parquet, details.parquet, queries.parquet, items.parquet "
    "(pictures), manifest.json, charts and contact sheets",
    prints=print_evaluation,
    json_tables={"rows": ScoreObject, "by_group": ScoreObject, "by_keyword": AnyObject},
)
map = Task(  # noqa: A001
    name="keywords map",
    about="""Show which keywords a text means.

Maps by name, by rule, then by similarity, and shows negated, ambiguous and unmapped words.

A match by name or by rule scores 1. A match by similarity scores 0.65 times the cosine of span \
and label plus 0.35 times the mean similarity of their single words to the best counterparts; \
under algorithm1, the cosine.""",
    command_lines="""
rankwell keywords map --annotations clips.csv 'a bus at night'
""",
    options=MapOptions,
    inputs=(
        TaskInput(
            "texts",
            "Text queries; quote each one. `-` reads them from standard input: a text per line, or "
            "a table with text.",
            many=True,
        ),
    ),
    prints=print_keywords,
    json_tables={"rows": MeaningObject},
)
check = Task(
    name="keywords check",
    about="""Find mistakes in an annotation table.

Reports undeclared and duplicate labels, unread columns, and clips without a keyword.""",
    command_lines="""
rankwell keywords check clips.csv
""",
    options=LintOptions,
    inputs=(TaskInput("annotations", ANNOTATIONS, missing="name a table of clips"),),
    prints=print_findings,
    json_tables={"rows": LintFinding},
)
calibrate = Task(
    name="keywords calibrate",
    about="""Find the best threshold for mapping texts to keywords.

Prints precision and recall at each threshold, from labelled queries.

Precision, recall and F1 count keywords over all queries. The best threshold is chosen without the \
held-out queries.""",
    command_lines="""
rankwell keywords calibrate texts.csv --annotations clips.csv --encoder MODEL
""",
    options=CalibrationOptions,
    inputs=(
        TaskInput(
            "queries",
            "Table of texts with the keywords that they mean, columns text and keywords; an empty "
            "cell means no keyword.",
            missing="name a table of labelled queries",
        ),
    ),
    output=Annotated[
        FileOption,
        Doc("Folder for thresholds.csv, thresholds.json and the chart thresholds.png and .svg."),
    ],
    prints=print_calibration,
    json_tables={"rows": CalibrationObject},
)
