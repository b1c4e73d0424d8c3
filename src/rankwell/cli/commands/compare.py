"""Test whether one system is better than another."""

import warnings
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Annotated

import rankwell
from rankwell import reporting
from rankwell.comparison.data import ComparisonOptions, attribute_named
from rankwell.comparison.folders import Gathered, from_folders
from rankwell.comparison.pages import present_differences
from rankwell.comparison.planning import PlanObject, check_plan, forecast
from rankwell.data.json_types import (
    AnyObject,
    DifferenceObject,
    JsonTables,
    TextObject,
    ValueObject,
)
from rankwell.data.options import Doc, ShownDocumentTexts, ShownQueryTexts, refuse_options
from rankwell.data.registry import measure_names
from rankwell.errors import BadInput, BadUsage, RankwellWarning
from rankwell.io.result_folder import is_result_folder, other_place, query_attributes, read_results
from rankwell.reporting.drafts import drafting, refuse_foreign, refuse_unclaimed
from rankwell.reporting.options import FolderOption, FormatOption, Output, PerQueryOption, Progress
from rankwell.reporting.page import NAME
from rankwell.results import compare_values
from rankwell.store import exists, remote_url, split_name
from rankwell.tasks.runs.options import JudgedRunOptions

_ADVICE = "evaluate with --queries, and with -o"
_OF_TESTS = Doc("", "Statistics")


@dataclass(frozen=True, kw_only=True)
class ComparedQueries(JudgedRunOptions):
    """Attributes of the queries that are compared, and the choices for judgments and runs."""

    group: Annotated[
        str | None,
        Doc("Attribute of the queries; each of its values is compared separately.", "Input"),
    ] = None
    cluster: Annotated[
        str | None,
        Doc(
            "Attribute of the queries; those with the same value (one document, user or session) "
            "are resampled and flipped together.",
            "Input",
        ),
    ] = None
    queries: ShownQueryTexts = None
    documents: ShownDocumentTexts = None


def compare(
    *places: str,
    options: ComparisonOptions,
    inputs: ComparedQueries,
    plan: Annotated[bool, _OF_TESTS] = False,
    difference: Annotated[float | None, _OF_TESTS] = None,
    per_query: PerQueryOption = False,
    format: Annotated[
        FormatOption,
        JsonTables(
            rows=DifferenceObject | PlanObject,
            per_query=ValueObject,
            verdicts=TextObject,
            groups=DifferenceObject,
            systems=AnyObject,
            orders=AnyObject,
            borda=AnyObject,
            mean_ranks=AnyObject,
        ),
    ] = "table",
    style: reporting.TableStyle,
    output: FolderOption = None,
    progress: Progress = None,
) -> Output:
    """Test whether one system is better than another.

    Prints the verdict, both means of every measure, and paired differences with intervals; for
    several systems, which is better than which. --verbose adds tests, effects and orders.

    With two systems, the second is compared with the first; with more, all pairs, or all with
    --baseline.

      rankwell compare qrels.txt bm25.run dense.run
      rankwell compare results-bm25 results-dense -m nDCG@10 -o comparison

    Parameters
    ----------
    places
        Folders of results (name=FOLDER renames what is in them), or a file of judgments and two or
        more files of rankings.
    plan
        Forecast how many queries would show which of two systems is better, without revealing the
        difference or its sign: planning is not a look at the outcome. Each number is followed by
        its 5th and 95th percentiles over resampled queries.
    difference
        With --plan: size of the difference to find, in the unit of the measure; by default 0.05, or
        5 for percentages.
    output
        Folder for what `rankwell evaluate -o` writes, with the differences, groups.csv,
        systems.csv, orders.csv, verdicts.txt, charts, and report.html, a page of it all.
    """
    if plan:
        check_plan(options, difference)
        refuse_options(style, (), "has no effect with --plan")
        if inputs.group or inputs.cluster or per_query or output is not None:
            raise BadUsage(
                "--plan does not take --group, --cluster, --per-query or --output; leave them out."
            )
        gathered = _gather(places, options, inputs, details=False, progress=progress)
        return forecast(gathered, options, difference, format)
    if difference is not None:
        raise BadUsage("--difference is for --plan; add that, or leave it out.")
    if output is not None:
        refuse_unclaimed(output)
        refuse_foreign(output, [NAME])
    elif inputs.documents is not None:
        raise BadUsage(
            "--documents is for the page that -o writes; name a folder with -o, or leave it out."
        )
    gathered = _gather(places, options, inputs, details=output is not None, progress=progress)
    result = compare_values(
        gathered.values,
        options=options if gathered.has_all_measures else replace(options, measures=None),
        row_attributes=gathered.row_attributes,
        group=attribute_named(inputs.group, gathered.attributes, _ADVICE),
        cluster=attribute_named(inputs.cluster, gathered.attributes, _ADVICE),
        origin=gathered.origin,
    )
    del gathered  # The result has values of its own.
    with (
        warnings.catch_warnings(),
        nullcontext() if output is None else drafting(output, result.sources.values()),
    ):
        # The page of earlier results is written again below.
        warnings.filterwarnings("ignore", ".* showed the earlier results", RankwellWarning)
        presented = present_differences(
            result, format=format, per_query=per_query, output=output, style=style
        )
        if output is not None:
            # Its page has a third of a comparison's modules.
            from rankwell.comparison.pages import write_report

            # The page reads what it needs from the folder.
            del result
            write_report([output], output / NAME, documents=inputs.documents, seed=options.seed)
    return presented


def _gather(
    places: Sequence[str],
    options: ComparisonOptions,
    inputs: ComparedQueries,
    *,
    details: bool,
    progress: Progress,
) -> Gathered:
    """The content of the places: folders of results, or judgments and runs, which are evaluated for
    the comparison. Raises BadUsage for a mixture.
    """
    named_sources = [split_name(source) for source in places]
    folders = [is_result_folder(source) for _, source in named_sources]
    if places and all(folders):
        allowed = ("group", "cluster", "documents")
        judged = [each for each in fields(inputs) if each.name not in allowed]
        if changed := [each.name for each in judged if getattr(inputs, each.name) != each.default]:
            names = " and ".join(f"--{name.replace('_', '-')}" for name in changed)
            verb = "is" if len(changed) == 1 else "are"
            raise BadUsage(
                f"{names} {verb} for judgments and runs; folders of results keep those of their "
                "evaluation."
            )
        return from_folders(
            [(name, read_results(source)) for name, source in named_sources], details=details
        )
    # Judgments may be a folder, of a data set or of a study.
    results = named_sources if any(folders) or len(named_sources) < 3 else named_sources[1:]
    for _, source in named_sources if any(folders) or len(places) < 3 else ():
        if remote_url(source) is not None:
            raise BadInput(other_place(source))
    for _, source in named_sources if any(folders) else ():
        if not exists(source):
            raise BadInput(
                f"{source}: no such file or folder; name a folder that a command wrote with -o."
            )
    for _, source in results:
        if Path(source).is_dir() and not is_result_folder(source):
            raise BadUsage(f"{other_place(source).removesuffix('.')}, or give judgments and runs.")
    if any(folders):
        raise BadUsage(
            "folders of results and files cannot be combined; give folders that commands "
            "wrote with -o, or judgments and runs."
        )
    if len(places) < 3:
        for _, source in named_sources:
            if not exists(source):
                raise BadInput(
                    f"{source}: no such file or folder; name folders that a command wrote with -o, "
                    "or a file of judgments and two runs."
                )
        raise BadUsage(
            "give two folders of results or more, or judgments and two runs or more: rankwell "
            "compare QRELS RUN RUN"
        )
    runs = dict(named_sources[1:]) if all(name for name, _ in named_sources[1:]) else [*places[1:]]
    result = rankwell.evaluate(
        places[0],
        runs,
        measure_names(options.measures),
        **{each.name: getattr(inputs, each.name) for each in fields(JudgedRunOptions)},
        details=True if details else "unjudged",
        queries=inputs.queries,
        intervals="none",
        progress=progress,
    )
    attributes = query_attributes(result.queries or {})
    return Gathered(
        result.values,
        [{} for _ in result.values],
        result.origin(),
        attributes,
        has_all_measures=False,
    )
