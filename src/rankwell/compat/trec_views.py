"""trec_eval's measures by `rankwell.measures`, over the view that each format of judgments has, all
queries at once.
"""

import importlib
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from rankwell.compat.trec_command import (
    LEAST_FOR_GEOMETRIC,
    Ahead,
    Evaluated,
    Line,
    Options,
    reading_of,
)
from rankwell.data.judged_rankings import JudgedRankings
from rankwell.data.rankings import Hits
from rankwell.data.registry import Measure
from rankwell.data.tables import Bools, Floats, Judgments, TieRule
from rankwell.io.reader import scan
from rankwell.io.reader.lines import TREC_RUN
from rankwell.store import Source


def evaluate(lines: Sequence[Line], options: Options, ahead: Ahead | None) -> Evaluated:
    """The values of all lines. ahead: the files that have been read already. Raises what the
    readers raise.
    """
    positives = 0
    if options.truth_format in ("qrels", "qrels_jg"):
        judgments = ahead.judged.table() if ahead else _other_judgments(options)
        # As trec_eval reads them: truncated to integers.
        judgments = replace(judgments, grades=np.trunc(judgments.grades))
        hits = _hits(options, judgments.flat, ahead)
        if options.truth_format == "qrels":
            positives = int(np.count_nonzero(judgments.grades > 0))
            view: Any = JudgedRankings.join(judgments, hits)
        else:
            from rankwell.data.judged_rankings import GroupRankings

            view = GroupRankings.join(judgments, hits)
        view = view if options.depth is None else view.cut(options.depth)
        view = view.with_unjudged_pool
        view = view.condensed if options.judged_only else view
    else:
        from rankwell.data.preferences import PreferenceRankings, Preferences

        if options.truth_format == "prefs":
            from rankwell.io.formats import Request
            from rankwell.io.trec import read_preferences

            request = Request(comments=not options.is_v9)
            preferences = read_preferences(Source(options.qrels), request)
        else:
            preferences = Preferences.from_judgments(_other_judgments(options))
        # With preferences trec_eval reverses the order of tied items; -J removes items that were
        # not compared, which has no effect.
        hits = _hits(options, preferences.judgments, ties="id-asc")
        view = PreferenceRankings.join(preferences, hits)
        view = view if options.depth is None else view.cut(options.depth)
    values, present = values_of(lines, view, options.rel), hits.has_ranking.tolist()
    strings = {
        row: _relevance_strings(line, view, present)
        for row, line in enumerate(lines)
        if line.measure.name == "relstring"
    }
    table = list(map(memoryview, values))
    return Evaluated(lines, options, view.queries, present, table, positives, strings)


def _other_judgments(options: Options) -> Judgments:
    """Judgments that the compiled reader does not read. Importing all formats takes longer than
    reading a small file.
    """
    from rankwell.io.formats import Request
    from rankwell.io.trec import read_judgments

    aspects = "none" if options.truth_format == "qrels" else "groups"
    request = Request(comments=not options.is_v9, aspects=aspects)
    return read_judgments(Source(options.qrels), request)


def _hits(
    options: Options, judgments: Judgments, ahead: Ahead | None = None, ties: TieRule = "id-desc"
) -> Hits:
    """The hits of the run. Under -c a query without results gets an unjudged item, as in version
    10.
    """
    hits = None if ahead is None else ahead.scan.hits(judgments)
    if hits is None:
        hits = scan(Source(options.run), judgments, TREC_RUN, reading_of(options, ties))
    if options.is_v9 or not options.complete:
        return hits
    return replace(hits, n_retrieved=np.where(hits.has_ranking, hits.n_retrieved, 1))


def measure_of(line: Line) -> Measure | None:
    """The measure behind a line; None where there is none (runid, num_q, relstring)."""
    folder, _, name = line.measure.home.partition(".")
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
            if line.measure.summary == "geometric":
                np.log(np.maximum(row, LEAST_FOR_GEOMETRIC), out=row)
            elif line.measure.name in ("iprec_at_recall", "11pt_avg"):
                # On x86 what 0 / 0 gives has a minus sign, which trec_eval prints.
                row[_undefined(line, measure, view)] = -np.nan
            elif line.measure.name == "Rndcg":
                # Of all gain-based measures this one alone uses -l to decide whether a query has
                # relevant items.
                row[view.n_relevant(rel) == 0] = 0
    return values


def _undefined(line: Line, measure: Measure, view: Any) -> Bools:
    """Whether trec_eval divides 0 by 0 for each query: -J left nothing of the ranking, and a recall
    level needs no item at all.
    """
    empty = view.n_retrieved == 0
    if not empty.any():
        return empty
    parameters = measure.parameters
    recalls = parameters["recalls"] if line.measure.name == "11pt_avg" else (parameters["recall"],)
    n_needed = min(recalls) * view.n_relevant(parameters["rel"])
    return empty & (n_needed + 0.9 < 1 if parameters["rounding"] == "floor" else n_needed < 0.5)


def _relevance_strings(line: Line, view: Any, present: Sequence[bool]) -> list[str]:
    """Per query a letter for each of the first items: its grade, `>` above 9, `.` pooled but not
    judged, `-` not in the pool.
    """
    length = max(0, int(line.numbers[0]))
    letters = [["-"] * min(length, n_retrieved) for n_retrieved in view.n_retrieved.tolist()]
    in_string = view.ranks <= length
    columns = (view.query_of_row, view.ranks, view.grades)
    for query, rank, grade in zip(*(column[in_string].tolist() for column in columns), strict=True):
        letters[query][rank - 1] = "." if grade < 0 else ">" if grade > 9 else str(int(grade))
    # Under -c version 10 shows the item that it invented only where a length is given.
    return [
        "".join(letters_of_query) * (is_present or line.name != "relstring")
        for letters_of_query, is_present in zip(letters, present, strict=True)
    ]
