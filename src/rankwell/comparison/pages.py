"""Pages of results: what is on the page of one folder or several, and the pages of many folders
that lack theirs; the printed tables of a comparison.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from rankwell import reporting
from rankwell.comparison.data import ComparisonData, ComparisonOptions
from rankwell.comparison.folders import Gathered, NamedFolders, from_folders
from rankwell.comparison.pairwise import compare_values
from rankwell.data.findings import Finding
from rankwell.data.findings.kinds import not_compared, tested_against_first
from rankwell.data.options import may_overwrite, showing, shows_details
from rankwell.errors import BadUsage, NothingToEvaluate, flag
from rankwell.io.formats import read_texts, refuse_foreign_texts
from rankwell.io.result_folder import (
    ResultFolder,
    digest_of,
    is_result_folder,
    read_further,
    read_manifest,
    read_results,
    read_summary,
)
from rankwell.reporting import Row, render_rows, runs_of
from rankwell.reporting.charts import difference_label
from rankwell.reporting.difference_tables import (
    difference_text,
    query_differences,
    write_comparison,
)
from rankwell.reporting.drafts import drafting, holding
from rankwell.reporting.options import Output, Progress, paper_text, present
from rankwell.reporting.outputs.answers import score_digits
from rankwell.reporting.page import NAME, PageFolder, PageSource
from rankwell.reporting.page.document import write_page
from rankwell.store import split_name
from rankwell.vectors.media.images import ItemPictures

_MOST_NAMED = 3
_MOST_PAIRED = 5
_LISTS = f"{Path(NAME).stem}_data/"


def write_report(
    places: Sequence[str | Path],
    target: Path,
    *,
    documents: str | Mapping[str, str] | None = None,
    queries: str | Mapping[str, str] | None = None,
    thumbnails: str | None = None,
    title: str | None = None,
    seed: int = 0,
) -> tuple[list[Path], list[str]]:
    """Writes the page of the folders, and returns the paths of its files and messages on them.

    Raises BadInput where the query texts are of other queries, as where two files were exchanged.
    """
    with holding(target.parent) if is_result_folder(target.parent) else nullcontext():
        page_files = (target.name, f"{target.stem}_data/")
        page_folder = target.parent.resolve()
        folders = list[tuple[str, ResultFolder]]()
        for place in places:
            name, path = split_name(str(place))
            replaced = page_files if Path(path).resolve() == page_folder else ()
            folders.append((name, read_results(path, replaced=replaced)))
        texts = read_texts(documents).texts if isinstance(documents, str) else documents or {}
        pictures = None if thumbnails is None else ItemPictures(thumbnails)
        digits = max(
            (folder.digits for _, folder in folders if folder.digits is not None), default=None
        )
        with showing(details=shows_details(), digits=digits):
            source = page_source(folders, texts=texts, pictures=pictures, title=title, seed=seed)
            if queries is not None:
                source = replace(source, query_texts=_texts_of_queries(queries, source))
            written = write_page(target, source)
        messages = [] if pictures is None else pictures.missing
        if len(written) > 1:
            messages = [
                f"its lists are in {len(written) - 1} files in {written[1].parent}/; keep "
                "them with the page",
                *messages,
            ]
        return written, messages


def _texts_of_queries(
    query_texts: str | Mapping[str, str], source: PageSource
) -> dict[str, list[Any]]:
    """The texts of the page's queries and their attributes, in columns."""
    text_table = read_texts(query_texts)
    queries = {query for values in source.values for query in values.queries}
    refuse_foreign_texts(text_table, queries, query_texts, "queries")
    rows = [(query, text) for query, text in text_table.texts.items() if query in queries]
    attributes = dict.fromkeys(name for query, _ in rows for name in text_table.attributes[query])
    columns = {
        name: [text_table.attributes[query].get(name) for query, _ in rows] for name in attributes
    }
    return {**columns, "query": [query for query, _ in rows], "text": [text for _, text in rows]}


def write_missing_pages(folders: Iterable[Path], progress: Progress) -> None:
    """Writes the page of each folder of results that has none with all lists beside it, as
    `rankwell report FOLDER` does. Raises as `refuse_pages`.
    """
    lacking = [folder for folder in dict.fromkeys(folders) if not has_page(folder)]
    refuse_pages(lacking)
    for n_done, folder in enumerate(lacking):
        if progress is not None:
            progress("pages", n_done, len(lacking))
        write_report([folder], folder / NAME)
    if progress is not None and lacking:
        progress("pages", len(lacking), len(lacking))


def has_page(folder: Path) -> bool:
    """Whether a folder of results has the page of these results, with all lists beside it."""
    files, _ = _manifest_files(folder)
    names = [name for name in files if name == NAME or name.startswith(_LISTS)]
    return NAME in names and all(
        (folder / name).is_file() and digest_of(folder / name) == files[name] for name in names
    )


def refuse_pages(folders: Iterable[Path]) -> None:
    """Raises BadUsage, except with `--overwrite`, for a file in the place of a page that is not as
    rankwell wrote it there.
    """
    for folder in folders if not may_overwrite() else ():
        page = folder / NAME
        if page.exists() and digest_of(page) not in [
            state.get(NAME) for state in _manifest_files(folder)
        ]:
            raise BadUsage(
                f"{page} was not written by rankwell, or was changed since; move it to another "
                f"place, or {flag('--overwrite', True)}."
            )


def _manifest_files(folder: Path) -> tuple[Mapping[str, str], Mapping[str, str]]:
    """The files that a folder's manifest lists with their digests, and those that were written
    before a process was killed.
    """
    manifest = read_manifest(folder) if is_result_folder(folder) else None
    return ({}, {}) if manifest is None else (manifest.files, manifest.pending_files)


def page_source(
    folders: NamedFolders,
    *,
    texts: Mapping[str, str] | None = None,
    pictures: ItemPictures | None = None,
    title: str | None = None,
    seed: int = 0,
) -> PageSource:
    """The source of the page: a folder as it was written, with its comparison where it has one,
    else a new comparison.
    """
    gathered = from_folders(folders, details=False)
    runs = gathered.runs
    stored_by_folder = [read_further(folder) for _, folder in folders]
    title_names = runs[:_MOST_NAMED]
    if len(runs) > _MOST_NAMED:
        title_names.append(f"{len(runs) - _MOST_NAMED} more")
    source = PageSource(
        title=title or " and ".join(filter(None, (", ".join(title_names[:-1]), title_names[-1]))),
        protocol=gathered.origin.task,
        values=gathered.values,
        row_attributes=gathered.row_attributes,
        rows=[
            row | {key: names.get(row[key], row[key]) for key in ("run", "against") if row.get(key)}
            for folder, names, _ in gathered.folders
            for row in read_summary(folder)
        ],
        folders=[
            PageFolder(folder.place, names, attributes)
            for folder, names, attributes in gathered.folders
        ],
        settings=_renamed(gathered, stored_by_folder, "parameters"),
        unanswered=_renamed(gathered, stored_by_folder, "unanswered"),
        inputs={
            name: digest
            for _, folder in reversed(folders)
            for name, digest in folder.inputs.items()
        },
        better=gathered.origin.better,
        texts=texts or {},
        pictures=pictures,
        seed=seed,
    )
    # Settings of one engine are compared where they were measured.
    is_swept = any(len(stored.get("parameters", ())) > 1 for stored in stored_by_folder)
    stored = stored_by_folder[0] if len(folders) == 1 else {}
    systems = stored.get("systems", ())
    if len(folders) == 1:
        source = replace(
            source,
            verdicts=[row["text"] for row in stored.get("verdicts", ())],
            groups=stored.get("groups", ()),
            rules=folders[0][1].rules,
            findings=list(map(Finding.of, stored.get("findings", ()))),
            failures=stored.get("failures", ()),
        )
    else:
        source = replace(source, findings=gathered.origin.findings, rules=_joined_rules(gathered))
        if is_swept:
            verdicts = [
                f"{name or Path(folder.place).name}: {row['text']}"
                for (name, folder), folder_tables in zip(folders, stored_by_folder, strict=True)
                for row in folder_tables["verdicts"]
            ]
            source = replace(
                source, verdicts=verdicts, rules={**source.rules, **_frontiers(gathered)}
            )
    # The runs of one pipeline are not rivals: a reader is not better than itself on gold passages.
    if not source.verdicts and len(runs) > 1 and not is_swept and not source.failures:
        source, systems = _compared(source, gathered)
    pair = _pair(source.rows, systems, source.verdicts)
    if source.failures:
        pair = _reader_and_other(source)
    verdict = next(iter(stored.get("verdicts", ())), {})
    if pair is None and verdict.get("a") in runs and verdict.get("b") in runs:
        pair = verdict["a"], verdict["b"]
    return replace(source, pair=pair, findings=list(dict.fromkeys(source.findings)))


def _reader_and_other(source: PageSource) -> tuple[str, str] | None:
    """The run whose failures are counted, and what its lists stand beside: the same on gold
    passages, else the retriever.
    """
    by_measure: dict[str, list[str]] = {}
    for column in source.values:
        by_measure.setdefault(column.measure, []).append(column.run)
    # A reader shares measures with itself alone.
    readers = next((runs for runs in by_measure.values() if len(runs) > 1), source.runs[::-1])
    return (readers[0], readers[1]) if len(readers) > 1 else None


def _compared(source: PageSource, gathered: Gathered) -> tuple[PageSource, Sequence[Row]]:
    """The same with a new comparison of the runs that share a measure, as far as they can be
    compared, of many runs each with the first alone; and the order of the systems.
    """
    source = replace(source, rows=source.own_rows)
    measured = [
        (values.measure, tuple(attributes.items()))
        for values, attributes in zip(gathered.values, gathered.row_attributes, strict=True)
    ]
    if len(set(measured)) == len(measured):
        return source, ()
    first = gathered.runs[0]
    n = len(gathered.runs)
    baseline = None
    findings = [*source.findings]
    if n > _MOST_PAIRED:
        baseline = first
        findings.append(tested_against_first(first, math.comb(n, 2)))
    try:
        comparison = compare_values(
            gathered.values,
            ComparisonOptions(baseline=baseline, seed=source.seed),
            row_attributes=gathered.row_attributes,
            origin=gathered.origin,
        )
    except NothingToEvaluate as error:
        reason = f"not compared: {error}"
        return replace(source, findings=[*source.findings, not_compared(reason)]), ()
    return replace(
        source,
        rows=[*source.rows, *comparison.differences],
        verdicts=[*_against_one(comparison, n), *comparison.verdicts],
        groups=comparison.groups,
        rules={**source.rules, **comparison.describe()},
        findings=[*findings, *comparison.data_findings],
    ), comparison.systems


def _joined_rules(gathered: Gathered) -> dict[str, Any]:
    """The rules that all folders have, with the risk-coverage curves of every one."""
    stored = [folder.rules.get("risk_coverage") for folder, _, _ in gathered.folders]
    tables = [{"risk_coverage": curve if isinstance(curve, list) else []} for curve in stored]
    curves = _renamed(gathered, tables, "risk_coverage")
    return {**gathered.origin.rules, **({"risk_coverage": curves} if curves else {})}


def _against_one(comparison: ComparisonData, runs: int) -> list[str]:
    """One sentence on many runs compared with one: the numbers better and worse by the first
    measure; empty for few runs.
    """
    first = comparison.differences[0]
    rows = [row for row in comparison.differences if row["of"] == first["of"]]
    if comparison.baseline is None or runs <= _MOST_PAIRED or len(rows) >= runs:
        return []
    sign = -1 if first["better"] == "lower" else 1
    decisive = [sign * row["mean"] > 0 for row in rows if row["decisive"]]
    better, worse = sum(decisive), len(decisive) - sum(decisive)
    return [
        f"{better} of {len(rows)} runs {'is' if better == 1 else 'are'} better than "
        f"{first['against']} by {difference_label(first)}, {worse} worse, "
        f"{len(rows) - len(decisive)} without a significant difference."
    ]


def _renamed(gathered: Gathered, stored_by_folder: Sequence[Row], table: str) -> list[Row]:
    """The rows of a table of every folder, with the names of its runs on the page."""
    return [
        {**row, "run": names.get(row["run"], row["run"])}
        for stored, (_, names, _) in zip(stored_by_folder, gathered.folders, strict=True)
        for row in stored.get(table, ())
    ]


def _frontiers(gathered: Gathered) -> dict[str, Any]:
    """The rule of one frontier of all folders, where they have the same cost and quality; empty
    where they differ.
    """
    rules = [folder.rules.get("frontier") for folder, _, _ in gathered.folders]
    frontiers = [rule if isinstance(rule, Mapping) else {} for rule in rules]
    axes = {(str(frontier.get("cost")), str(frontier.get("quality"))) for frontier in frontiers}
    if len(axes) > 1 or not all(isinstance(rule, Mapping) for rule in rules):
        return {}
    marked: dict[str, list[str]] = {"best": [], "cheapest": []}
    for frontier, (_, names, _) in zip(frontiers, gathered.folders, strict=True):
        for name, runs in marked.items():
            runs += [names.get(run, run) for run in frontier.get(name) or ()]
    return {"frontier": {**frontiers[0], **marked}}


def _pair(
    rows: Sequence[Row], systems: Sequence[Row], verdicts: Sequence[str]
) -> tuple[str, str] | None:
    """The runs that the headline is about, the second less the first: runner-up and leader where
    one verdict is on all.
    """
    differences = [row for row in rows if row.get("against") is not None and row.get("of")]
    if not differences:
        return None
    first = differences[0]
    key = difference_label(first), first["of"]
    pairs = sum((difference_label(row), row["of"]) == key for row in differences)
    ranked = sorted(
        (row for row in systems if row["measure"] == first["of"]), key=lambda row: row["rank"]
    )
    names = runs_of(ranked)
    if len(verdicts) < pairs == math.comb(len(names), 2):
        return names[1], names[0]
    return first["against"], first["run"]


def present_differences(
    result: ComparisonData,
    *,
    format: reporting.Format,
    per_query: bool,
    output: Path | None,
    style: reporting.TableStyle | None = None,
) -> Output:
    """The output of a comparison, which is written into a folder as well."""
    with nullcontext() if output is None else drafting(output, result.sources.values()) as draft:
        written = present(
            result,
            format=format,
            per_query=per_query and format not in reporting.FOR_PEOPLE,
            output=output,
            tables=result.tables,
            others=[] if draft is None else write_comparison(result.tables, draft),
        )
    terminal = reporting.terminal_of()
    if format not in reporting.FOR_PEOPLE:
        return written
    rows = list(result.per_query()) if per_query else None
    if format == "table" and not terminal.details:
        single = query_differences(rows or (), partial(score_digits, result.describe()))
        listed = [render_rows(single, terminal=terminal)] if single else []
        return written._replace(text="\n".join([*listed, written.text]))
    text = scores = paper_text(result, format, style)
    if format != "latex" or not scores:
        tables = {**result.tables, "systems": []} if scores else result.tables
        text = difference_text(
            tables, result.differences, rows, result.describe(), format, terminal, scores
        )
    return written._replace(text=text)
