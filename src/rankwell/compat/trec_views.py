"""trec_eval's measures by `rankwell.measures`, over the view that each format of judgments has, all
queries at once.
"""

from __future__ import annotations

import importlib
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from rankwell.compat.trec_inputs import Ahead, reading_of
from rankwell.compat.trec_measures import LEAST_FOR_GEOMETRIC, Evaluated, Line
from rankwell.data.judged_rankings import JudgedRankings
from rankwell.data.registry import Measure
from rankwell.io.reader import scan
from rankwell.io.reader.lines import TREC_RUN
from rankwell.store import Source

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankwell.compat.trec_inputs import Options
    from rankwell.data.rankings import Hits
    from rankwell.data.tables import Bools, Floats, Judgments, TieRule


def evaluate(lines: Sequence[Line], options: Options, ahead: Ahead | None) -> Evaluated:
    """The values of all lines. ahead: the files that have been read already. Raises what the
    readers raise.
    """
    truth, run, positives = Source(options.qrels), Source(options.run), 0
    view: Any
    if options.truth_format == "qrels":
        judgments = _whole_grades(
            _other_judgments(options, truth) if ahead is None else ahead.judged.table()
        )
        hits = _hits(options, run, judgments, ahead=ahead)
        positives = int(np.count_nonzero(judgments.grades > 0))
        view = JudgedRankings.join(judgments, hits)
    elif options.truth_format == "qrels_jg":
        from rankwell.data.judged_rankings import GroupRankings

        judgments = _whole_grades(_other_judgments(options, truth, "groups"))
        hits = _hits(options, run, judgments.flat)
        view = GroupRankings.join(judgments, hits)
    else:
        from rankwell.data.preferences import PreferenceRankings, Preferences

        if options.truth_format == "prefs":
            from rankwell.io.formats import Request
            from rankwell.io.trec import read_preferences

            preferences = read_preferences(truth, Request(comments=not options.old))
        else:
            preferences = Preferences.from_judgments(_other_judgments(options, truth, "groups"))
        # With preferences trec_eval reverses the order of tied items.
        hits = _hits(options, run, preferences.judgments, ties="id-asc")
        view = PreferenceRankings.join(preferences, hits)
    view = view if options.depth is None else view.cut(options.depth)
    view = view if options.truth_format not in ("qrels", "qrels_jg") else view.with_unjudged_pool
    # Among preferences -J removes items that were not compared, which has no effect.
    view = (
        view.condensed
        if options.judged_only and options.truth_format in ("qrels", "qrels_jg")
        else view
    )
    values, present = values_of(lines, view, options.rel), hits.present.tolist()
    strings = {
        row: _relevance_strings(line, view, present)
        for row, line in enumerate(lines)
        if line.trec.name == "relstring"
    }
    return Evaluated(view.queries, present, list(map(memoryview, values)), positives, strings)


def _other_judgments(
    options: Options, truth: Source, aspects: Literal["none", "groups"] = "none"
) -> Judgments:
    """Judgments that the compiled reader does not read. Importing all formats takes longer than
    reading a small file.
    """
    from rankwell.io.formats import Request
    from rankwell.io.trec import read_judgments

    return read_judgments(truth, Request(comments=not options.old, aspects=aspects))


def _whole_grades(judgments: Judgments) -> Judgments:
    """Grades as trec_eval reads them: truncated to integers."""
    return replace(judgments, grades=np.trunc(judgments.grades))


def _hits(
    options: Options,
    run: Source,
    judgments: Judgments,
    *,
    ties: TieRule = "id-desc",
    ahead: Ahead | None = None,
) -> Hits:
    """The hits of the run. Under -c a query without results gets an unjudged item, as in version
    10.
    """
    hits = None if ahead is None else ahead.scan.hits(judgments)
    if hits is None:
        hits = scan(run, judgments, TREC_RUN, reading_of(options, ties))
    if options.old or not options.complete:
        return hits
    return replace(hits, retrieved=np.where(hits.present, hits.retrieved, 1))


def measure_of(line: Line) -> Measure | None:
    """The measure behind a line; None where there is none (runid, num_q, relstring)."""
    folder, _, name = line.trec.home.partition(".")
    if not folder:
        return None
    importlib.import_module(f"rankwell.measures.{folder}")
    return Measure(name, line.arguments)


def values_of(lines: Sequence[Line], view: Any, rel: int) -> Floats:
    """The values before summing, (lines, queries): 1 for num_q, 0 for runid and relstring,
    logarithms for gm_map and gm_bpref.
    """
    values = np.zeros((len(lines), len(view.queries)))
    for row, line in zip(values, lines, strict=True):
        measure = measure_of(line)
        if line.name == "num_q":
            row[:] = 1
        elif measure is not None:
            row[:] = measure(view)
            if line.trec.summary == "geometric":
                np.log(np.maximum(row, LEAST_FOR_GEOMETRIC), out=row)
            elif line.trec.name in ("iprec_at_recall", "11pt_avg"):
                # On x86 what 0 / 0 gives has a minus sign, which trec_eval prints.
                row[_undefined(line, measure, view)] = -np.nan
            elif line.trec.name == "Rndcg":
                # Of all gain-based measures this one alone uses -l to decide whether a query has
                # relevant items.
                row[view.n_relevant(rel) == 0] = 0
    return values


def _undefined(line: Line, measure: Measure, view: Any) -> Bools:
    """Whether trec_eval divides 0 by 0 for each query: -J left nothing of the ranking, and a recall
    level needs no item at all.
    """
    empty: Bools = view.retrieved == 0
    if not empty.any():
        return empty
    parameters = measure.parameters
    recalls = parameters["recalls"] if line.trec.name == "11pt_avg" else (parameters["recall"],)
    n_needed = min(recalls) * view.n_relevant(parameters["rel"])
    return empty & (n_needed + 0.9 < 1 if parameters["rounding"] == "floor" else n_needed < 0.5)


def _relevance_strings(line: Line, view: Any, present: Sequence[bool]) -> list[str]:
    """Per query a letter for each of the first items: its grade, `>` above 9, `.` pooled but not
    judged, `-` not in the pool.
    """
    length = max(0, int(line.numbers[0]))
    letters = [["-"] * min(length, n_retrieved) for n_retrieved in view.retrieved.tolist()]
    in_string = view.ranks <= length
    for query, rank, grade in zip(
        view.query_of_row[in_string].tolist(),
        view.ranks[in_string].tolist(),
        view.grades[in_string].tolist(),
        strict=True,
    ):
        letters[query][rank - 1] = "." if grade < 0 else ">" if grade > 9 else str(int(grade))
    if line.name == "relstring":
        # Under -c version 10 shows the item that it invented only where a length is given.
        letters = [
            letters_of_query if is_present else []
            for letters_of_query, is_present in zip(letters, present, strict=True)
        ]
    return ["".join(letters_of_query) for letters_of_query in letters]
