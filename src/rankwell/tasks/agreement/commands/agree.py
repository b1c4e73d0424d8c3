"""Compare models' nearest neighbours with a reference model's: how much of them survives, with chance and interval.

REFERENCE and CANDIDATES are files of embeddings in any format that `rankwell.io.read_embeddings` reads, or NAME=PATH.
"""

import json
import sys
from collections.abc import Sequence
from math import isnan
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np

from rankwell import report
from rankwell.core.options import Option
from rankwell.core.registry import split_names
from rankwell.errors import BadUsage
from rankwell.report.present import (
    ConventionOption,
    FormatOption,
    InputOption,
    InputPlace,
    MeasureOption,
    Output,
    OutputOption,
    PerQueryOption,
    Progress,
    cutoffs,
)
from rankwell.stats import Intervals
from rankwell.tasks.agreement.conventions import cuts_gold
from rankwell.tasks.agreement.evaluation import agree as agree_models
from rankwell.tasks.agreement.measures.agreement_space import margin
from rankwell.tasks.agreement.results import Agreement


def agree(
    *candidates: InputPlace,
    reference: InputPlace,
    k: str = "1,3,5,10",
    k_values: Annotated[list[str] | None, Option(many=True)] = None,
    samples: Annotated[str, Option(("--samples", "--n-samples"))] = "500",
    seed: int = 42,
    gold_depth: int | None = None,
    metric: Literal["cosine", "dot", "l2"] = "cosine",
    measure: MeasureOption = None,
    ids: InputOption = None,
    exclude: InputOption = None,
    labels: InputOption = None,
    ceiling: bool = False,
    eps: float = 0.005,
    convention: ConventionOption = "rankwell",
    intervals: Intervals = "bootstrap",
    per_query: PerQueryOption = False,
    format: FormatOption = "table",  # noqa: A002
    output: OutputOption = None,
    progress: Progress = None,
) -> Output:
    """Compare models' nearest neighbours with a reference model's: how much of them survives, with chance and interval.

    The items asked about are a sample; their neighbours are sought, exactly, among all items. Nothing is its own neighbour.

    Parameters
    ----------
    candidates
        Embeddings of the same items by other models: files, or NAME=PATH; the first is what the others are compared with.
    reference
        Embeddings by the model whose neighbours are the truth.
    k
        Cut-offs, with commas between them.
    k_values
        Cut-offs, with blanks between them.
    samples
        How many items to ask about, drawn without replacement, or all.
    seed
        Seed of the sample (NumPy's RandomState) and of the bootstrap.
    gold_depth
        How many first items of the reference are relevant, for measures with a relevant set; by default the largest cut-off, each
        cut-off under scholar-stream.
    metric
        What is near: cosine, dot, or l2.
    measure
        A measure at every cut-off (nDCG), at one (nDCG@5), or with gains (nDCG(gains='similarity')); repeat it for more.
    ids
        File or column of the items' ids, for embeddings that have none of their own.
    exclude
        File or column of labels, one per item: an item with the query's label is no neighbour.
    labels
        Judgments whose queries and items are ids of the embeddings; the reference is judged by them beside the candidates.
    ceiling
        Also the agreement of the reference with itself in float16.
    eps
        The tolerance of similarity of EpsRecall and of the reference's margin.
    convention
        Whose words and rules: rankwell or scholar-stream.
    intervals
        95 % intervals by the bootstrap over queries, by Student's t, or none.
    per_query
        Also one row per query.
    format
        How to print.
    output
        Folder for summary.csv, summary.json, per_query.parquet, details.parquet, queries.parquet, manifest.json and charts.
    """
    # Names of files that follow on the cut-offs are candidates.
    cuts = [word for word in k_values or [] if word.replace(",", "").isdigit()]
    models = [*candidates, *(word for word in k_values or [] if word not in cuts)]
    if not models:
        raise BadUsage("name at least one candidate: rankwell agree --reference REF CANDIDATE...")
    result = agree_models(
        reference,
        models,
        [name for text in measure or [] for name in split_names(text)] or None,
        ids=ids,
        k=cutoffs(",".join(cuts) if k_values else k),
        samples=_samples(samples),
        seed=seed,
        gold_depth=gold_depth,
        metric=metric,
        exclude=exclude,
        convention=convention,
        ceiling=ceiling,
        labels=labels,
        eps=eps,
        intervals=intervals,
        progress=progress,
    )
    notes = [_panel(result)]
    notes += [*result.notes, *result.interval_notes] if format != "json" else result.panel.warnings
    text = render(result, format, per_query=per_query)
    if output is not None:
        write(result, output)
        notes.append(f"wrote {output}/")
    return Output(text=text, notes=tuple(notes))


def _samples(text: str) -> int | Literal["all"]:
    if text == "all":
        return "all"
    if not text.isdecimal():
        raise BadUsage(f"--samples {text!r}; a whole number from 1, or all.")
    return int(text)


def _panel(result: Agreement) -> str:
    rows = result.panel.rows
    kept = [name for name in rows[0] if any(row[name] is not None for row in rows)]
    return report.render_rows([{name: row[name] for name in kept} for row in rows]).rstrip("\n")


def render(result: Agreement, format: report.Format, *, per_query: bool = False) -> str:  # noqa: A002
    """The result as text in one of the report's formats, the relative changes last."""
    rows = list(result.per_query()) if per_query else None
    notes = [*result.notes, *result.interval_notes]
    terminal = report.terminal_of(sys.stdout)
    if format != "table":
        everything = [*result.summary, *result.changes]
        return report.render(everything, rows, result.describe(), notes, format, terminal=terminal)
    if cuts_gold(result.convention) and not per_query:
        return _source_tables(result)
    text = report.render(result.summary, rows, result.describe(), notes, terminal=terminal)
    changes = result.changes
    return text + ("\n" + report.render(changes, None, {}, (), terminal=terminal) if changes else "")


def _source_tables(result: Agreement) -> str:
    """What the convention's source prints, and below it what the figures are and how the candidates differ."""
    from rankwell.tasks.agreement.k_tables import change_table, k_table

    title = f"EVALUATION RESULTS (vs {report.visible(result.reference)} as Ground Truth)"
    spread = f"± is the population standard deviation over {len(result.sample.rows)} queries"
    below = [spread, report.rules_line(result.describe())]
    changes = change_table(result.changes)
    return k_table(result.summary, title) + "\n" + below[0] + "\nrules: " + below[1] + "\n" + (f"\n{changes}" if changes else "")


def write(result: Agreement, folder: Path) -> None:
    """Writes all that a comparison or a page needs later, and the files of the source; each whole or not at all."""
    from rankwell.report.folder import content_of, write_folder
    from rankwell.store import write_bytes, write_text

    rows = [*result.summary, *result.changes]
    files = [f"{run.replace('/', '_')}_results.csv" for run in result.candidates]
    twice = next((name for name in files if [each.lower() for each in files].count(name.lower()) > 1), None)
    if twice is not None:
        raise BadUsage(f"two candidates would be written to {twice}; give them names that differ in more than / and _ or case.")
    content = content_of(result, summary=rows, details=detail_columns(result), queries=query_columns(result))
    write_folder(folder, content, charts=False)
    own = [row for row in result.summary if "truth='labels'" not in row["measure"]]
    cut = cuts_gold(result.convention)
    if cut:
        from rankwell.tasks.agreement.k_tables import k_columns

        for run, name in zip(result.candidates, files, strict=True):
            write_text(folder / name, k_columns(own, run))
    curves = [row for row in own if row["k"] is not None and row["run"] != result.reference]
    labels = [row["label"].partition("@")[0] for row in curves]
    curves = [row for row, label in zip(curves, labels, strict=True) if cut or labels.count(label) > len(result.pairs)]
    if curves:
        from rankwell.report.k_curves import k_curves

        picture = report.draw(
            k_curves(curves, bands="sd" if cut else "interval", title=f"Agreement with {report.visible(result.reference)}")
        )
        write_bytes(folder / "metrics_vs_k.png", picture.png)
        write_text(folder / "metrics_vs_k.svg", picture.svg)


def detail_columns(result: Agreement) -> dict[str, list[Any]]:
    """The columns of details.parquet: the candidates' lists, then what they lack of the reference's first items.

    `detail` has the item's rank and similarity under the reference, and its `margin`: that similarity less the one of the last
    item which counts as relevant, 0 for that item itself and below 0 for what the reference does not count. A candidate that
    trades items of small margins, of either sign, is hardly wrong. Each is null where the reference's list does not tell it.
    Source: EverMind-AI 2026, EverOS issue 332.
    """
    names = ("run", "query", "item", "rank", "score", "grade", "state", "detail")
    columns: dict[str, list[Any]] = {name: [] for name in names}
    items, deepest = result.sample.items, _deepest(result)
    for run, pairs in result.pairs.items():
        first, second = pairs.reference, pairs.candidate
        lacking = first.within(deepest) & ~((first.other_ranks > 0) & (first.other_ranks <= second.lengths[first.query_of_row]))
        last = first.score_at(np.full(len(pairs.queries), deepest, dtype=np.int64))
        for side, chosen, listed in ((second, second.within(None), True), (first, lacking, False)):
            mine, theirs = (side.ranks, side.other_ranks) if listed else (side.other_ranks, side.ranks)
            scores, known = (side.scores, side.other_scores) if listed else (side.other_scores, side.scores)
            margins = known - last[side.query_of_row]
            taken = (side.query_of_row, side.items, mine, theirs, scores, known, margins)
            for query, item, rank, place, *figures in zip(*(column[chosen].tolist() for column in taken), strict=True):
                score, similarity, gap = (None if isnan(each) else each for each in figures)
                near = 0 < place <= deepest
                state = "relevant" if near else "nonrelevant"
                detail = json.dumps({"reference_rank": place or None, "reference_score": similarity, "margin": gap})
                cells = (run, pairs.queries[query], items[item], rank or None, score, float(near), state, detail)
                for name, cell in zip(names, cells, strict=True):
                    columns[name].append(cell)
    return columns


def _deepest(result: Agreement) -> int:
    return max(cutoffs(str(result.rules["k"])))


def query_columns(result: Agreement) -> dict[str, Sequence[Any]]:
    """The columns of queries.parquet: the sampled items, where they stand, their labels, and how sure the reference's lists are.

    `margin` is the reference's similarity of the last item that counts as relevant less that of the next one; `near_cut` how many
    other items lie within the tolerance of that last one. Left out where the reference's lists end there.
    """
    sample = result.sample
    rows: list[int] = sample.rows.tolist()
    columns: dict[str, Sequence[Any]] = {"query": sample.names, "text": [None] * len(rows), "position": rows}
    if sample.labels is not None:
        columns["label"] = [sample.labels[row] for row in rows]
    pairs, k = next(iter(result.pairs.values())), _deepest(result)
    last, after = (pairs.reference.score_at(np.full(len(rows), rank, dtype=np.int64)) for rank in (k, k + 1))
    if not np.isnan(last - after).all():
        columns["margin"] = [None if isnan(gap) else gap for gap in (last - after).tolist()]
    if "eps" in result.rules:
        near: list[float] = margin(pairs, k=k, eps=float(result.rules["eps"])).tolist()
        columns["near_cut"] = [None if isnan(n) else int(n) for n in near]
    return columns
