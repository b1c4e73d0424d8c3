"""`rankwell trec-eval`: prints what NIST's trec_eval prints, byte for byte, for version 10.0 or 9.0.8.

It starts without the command-line library and computes with the measures of `rankwell.measures`; what is here is trec_eval's own
behaviour: its options, its lines, which topics count, how it sums.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import partial
from math import copysign, isnan
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO

from rankwell.compat.trec_options import HELP, Options, parse

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankwell.compat.trec_files import ZScores
    from rankwell.compat.trec_measures import Line
    from rankwell.kernels.judged_rows import JudgedRows
    from rankwell.kernels.native_bytes import Scan
    from rankwell.kernels.reading import Reading
    from rankwell.store import Source
    from rankwell.tables import Bools, Floats
    from rankwell.tables.hits import Hits
    from rankwell.tables.judgments import Judgments
    from rankwell.tables.order import TieRule

MISSING_ZSCORE = -1000000.0
# A run of this size takes longer to read than a thread to start.
_LARGE = 1 << 22
_AT_ONCE = 1024
_VIEW_OF_FORMAT = {"qrels": "judged", "qrels_jg": "groups", "prefs": "preferences", "qrels_prefs": "preferences"}


class Ahead(NamedTuple):
    """What is read before all else: the judgments, and the run, by other threads."""

    judged: JudgedRows
    scan: Scan


class Joined(NamedTuple):
    """Truth and run, joined. positives: items of any query with a grade above 0, whatever -l says."""

    queries: tuple[str, ...]
    present: Bools
    view: Any
    positives: int = 0
    tag: str = ""


def main(arguments: list[str], stdout: TextIO) -> int:
    """Runs trec_eval's command line and returns the exit code: 0, or 4 where version 10 stops at a topic without results.

    Raises RankwellError for what trec_eval would refuse, with its own words.
    """
    options = parse(arguments)
    if options.version:
        from rankwell import __version__

        sys.stderr.write(f"trec_eval version {'9.0.8' if options.old else '10.0'} (rankwell {__version__})\n")
        return 0
    if options.help:
        _write(stdout, HELP + _definitions(options))
        return 0
    return _evaluate(options, stdout)


def _definitions(options: Options) -> str:
    """The names of the marked measures here and there, with the first line of what rankwell says about each."""
    from rankwell.compat.trec_measures import plan

    if not options.marked:
        return ""
    rows = ["\n"]
    for line in {line.trec.name: line for line in reversed(plan(options))}.values():
        said = "" if line.measure is None else (line.measure.entry.function.__doc__ or "").strip().partition("\n")[0]
        rows.append(f"{line.trec.name:<22} {said or 'see `rankwell explain`' if line.measure else 'printed, not measured'}\n")
    return "".join([rows[0], *reversed(rows[1:])])


def _evaluate(options: Options, stdout: TextIO) -> int:
    from rankwell.errors import BadUsage, NothingToEvaluate

    ahead = _read_ahead(options)
    from rankwell.compat.trec_measures import plan

    lines = plan(options)
    wanted = _VIEW_OF_FORMAT[options.truth_format]
    for line in lines:
        if line.trec.view not in (wanted, "any"):
            raise BadUsage(f"{line.trec.name} cannot be computed with -R {options.truth_format}.")
    joined = _join(options, ahead, with_tag=options.summary and any(line.name == "runid" for line in lines))
    counted, stopped_at = _counted(options, joined)
    values = _values(lines, options, joined)
    if options.zscores is not None:
        values = _standardised(values, lines, joined.queries, options.zscores)
    if options.queries:
        for text in _single_lines(lines, options, joined, values, counted):
            _write(stdout, text)
    if stopped_at is not None:
        sys.stderr.write(
            f"trec_eval: result qid '{stopped_at}' not found in qrels\n"
            f"(the qrels have this query and the run has no results for it; -c counts such queries as nothing found)\n"
        )
        return 4
    if not counted:
        raise NothingToEvaluate(
            "trec_eval: No queries with both results and relevance info; do both files use the same query ids?"
        )
    if options.summary:
        _write(stdout, _summary_lines(lines, options, joined, values, counted))
    return 0


def _counted(options: Options, joined: Joined) -> tuple[list[int], str | None]:
    """The queries that are evaluated, in order; and the one at which version 10 stops for want of results."""
    asked = [place for place, query in enumerate(joined.queries) if options.single_query is None or query == options.single_query]
    if options.old:
        return [place for place in asked if joined.present[place]], None
    if options.complete:
        return asked, None
    for order, place in enumerate(asked):
        if not joined.present[place]:
            return asked[:order], joined.queries[place]
    return asked, None


def _read_ahead(options: Options) -> Ahead | None:
    """Begins to read a large run while this thread imports NumPy, which takes as long; None where that is not worth it.

    What is wrong with the files is said when it is their turn.
    """
    from rankwell.errors import RankwellError
    from rankwell.kernels import judged_rows
    from rankwell.kernels.native_bytes import Scan
    from rankwell.kernels.reading import TREC_RUN
    from rankwell.store import Source

    try:
        truth, run = Source(options.qrels), Source(options.run)
        if options.truth_format != "qrels" or run.path is None or run.path.stat().st_size < _LARGE:
            return None
        rows = judged_rows.read(truth, comments=not options.old)
    except (RankwellError, OSError):
        return None
    if rows is None:
        return None
    scan = Scan(run, rows, TREC_RUN, _reading(options))
    scan.begin()
    return Ahead(rows, scan)


def _reading(options: Options, ties: TieRule = "id-desc") -> Reading:
    from rankwell.kernels.reading import Reading

    return Reading(ties=ties, single_precision=options.old, comments=not options.old, trailing=True)


def _join(options: Options, ahead: Ahead | None, *, with_tag: bool) -> Joined:
    from rankwell.compat.trec_files import last_tag
    from rankwell.store import Source

    truth, run = Source(options.qrels), Source(options.run)
    join = {"judged": partial(_join_judged, ahead=ahead), "groups": _join_groups, "preferences": _join_preferences}
    joined = join[_VIEW_OF_FORMAT[options.truth_format]](options, truth, run)
    return joined._replace(tag=last_tag(run, comments=not options.old)) if with_tag else joined


def _join_judged(options: Options, truth: Source, run: Source, ahead: Ahead | None) -> Joined:
    import numpy as np

    from rankwell.kernels import judged_rows
    from rankwell.views.judged import JudgedRankings

    rows = judged_rows.read(truth, comments=not options.old) if ahead is None else ahead.judged
    judgments = _whole_grades(_other_judgments(options, truth) if rows is None else rows.table())
    hits = _hits(options, run, judgments, ahead=ahead)
    view = JudgedRankings.join(judgments, hits)
    view = view if options.depth is None else view.cut(options.depth)
    view = view.condensed if options.judged_only else view
    return Joined(view.queries, hits.present, view, positives=int(np.count_nonzero(judgments.grades > 0)))


def _other_judgments(options: Options, truth: Source) -> Judgments:
    """What the compiled reader left. Importing all that the formats share takes longer than reading a small file."""
    from rankwell.files.trec_qrels import read

    return read(truth, comments=not options.old)


def _join_groups(options: Options, truth: Source, run: Source) -> Joined:
    from rankwell.files.trec_qrels import read
    from rankwell.views.groups import GroupRankings

    judgments = _whole_grades(read(truth, aspects=True, comments=not options.old))
    hits = _hits(options, run, judgments.flat)
    view = GroupRankings.join(judgments, hits)
    view = view if options.depth is None else view.cut(options.depth)
    return Joined(view.queries, hits.present, view.condensed if options.judged_only else view)


def _join_preferences(options: Options, truth: Source, run: Source) -> Joined:
    from rankwell.files.trec_qrels import read, read_preferences
    from rankwell.tables.preferences import Preferences
    from rankwell.views.preferences import PreferenceRankings

    if options.truth_format == "prefs":
        preferences = read_preferences(truth, comments=not options.old)
    else:
        preferences = Preferences.from_judgments(read(truth, aspects=True, comments=not options.old))
    # With preferences trec_eval breaks ties the other way round; and -J, which takes out what nobody compared, changes nothing.
    hits = _hits(options, run, preferences.judgments, ties="id-asc")
    view = PreferenceRankings.join(preferences, hits)
    return Joined(view.queries, hits.present, view if options.depth is None else view.cut(options.depth))


def _whole_grades(judgments: Judgments) -> Judgments:
    """Grades as trec_eval reads them: cut to whole numbers."""
    import numpy as np

    return replace(judgments, grades=np.trunc(judgments.grades))


def _hits(options: Options, run: Source, judgments: Judgments, *, ties: TieRule = "id-desc", ahead: Ahead | None = None) -> Hits:
    """The hits of the run. Version 10 invents under -c one item that nobody judged for a query without results, and so do we."""
    import numpy as np

    from rankwell.kernels.reading import TREC_RUN, scan

    hits = None if ahead is None else ahead.scan.hits(judgments)
    hits = scan(run, judgments, TREC_RUN, _reading(options, ties)) if hits is None else hits
    if options.old or not options.complete:
        return hits
    return replace(hits, retrieved=np.where(hits.present, hits.retrieved, 1))


def _values(lines: list[Line], options: Options, joined: Joined) -> Floats:
    """(lines, queries) the values before summing, without what the item that version 10 invents under -c gave a missing query."""
    from rankwell.compat.trec_measures import values_of

    values = values_of(lines, joined.view, options.rel)
    for row, line in zip(values, lines, strict=True):
        if line.trec.name == "unj" or line.name in ("num_ret", "utility", "rbp_resid"):
            row[~joined.present] = 0
    return values


def _standardised(values: Floats, lines: list[Line], queries: tuple[str, ...], path: str) -> Floats:
    """(lines, queries) the values in standard deviations from the mean that a file gives for each query and measure."""
    import numpy as np

    from rankwell.compat.trec_files import read_zscores
    from rankwell.store import Source

    table: ZScores = read_zscores(Source(path))
    result = np.full_like(values, MISSING_ZSCORE)
    for row, line in enumerate(lines):
        for column, query in enumerate(queries):
            found = table.get((query, line.name))
            if found is not None and found[1] != 0:
                result[row, column] = (values[row, column] - found[0]) / found[1]
            elif found is not None and values[row, column] == found[0]:
                result[row, column] = 0.0
    return result


def _single_lines(lines: list[Line], options: Options, joined: Joined, values: Floats, counted: list[int]) -> Iterator[str]:
    """The lines of single queries, those of some queries at a time: all of them would be most of what is in memory."""
    strings = {row: _relevance_strings(line, joined) for row, line in enumerate(lines) if line.trec.name == "relstring"}
    shown = [(row, line) for row, line in enumerate(lines) if row in strings or line.trec.single]
    heads = [f"{line.name:<22}" if row in strings else _head(line, options) for row, line in shown]
    for start in range(0, len(counted) if shown else 0, _AT_ONCE):
        some = counted[start : start + _AT_ONCE]
        columns = [
            [f"'{strings[row][place]}'" for place in some] if row in strings else _figures(values[row, some], line, options)
            for row, line in shown
        ]
        yield "".join(
            f"{head}\t{joined.queries[place]}\t{cell}\n"
            for place, cells in zip(some, zip(*columns, strict=True), strict=True)
            for head, cell in zip(heads, cells, strict=True)
        )


def _summary_lines(lines: list[Line], options: Options, joined: Joined, values: Floats, counted: list[int]) -> str:
    queries = len(joined.queries) if options.complete else len(counted)
    parts = list[str]()
    for row, line in enumerate(lines):
        if line.name == "runid":
            parts.append(f"{line.name:<22}\tall\t{joined.tag}\n")
        elif line.trec.name != "relstring":
            value = _summary(line, values[row, counted], options, joined, queries)
            parts.append(f"{_head(line, options)}\tall\t{_figure(value, line, options)}\n")
    return "".join(parts)


def _summary(line: Line, values: Floats, options: Options, joined: Joined, queries: int) -> float:
    """The figure over queries. `queries` divides: under -c all that the truth has, else those evaluated."""
    import numpy as np

    from rankwell.compat.trec_measures import LEAST_FOR_GEOMETRIC

    if line.name == "num_q":
        return queries
    if line.name == "num_rel" and options.complete:
        # With -c trec_eval goes back to the qrels for this total, and does not look at -l there.
        return joined.positives
    # One after the other, as trec_eval adds them.
    total = float(np.cumsum(values)[-1])
    if line.trec.summary == "geometric":
        total += (queries - len(values)) * np.log(LEAST_FOR_GEOMETRIC)
        return float(np.exp(total / queries))
    return total if line.trec.summary == "sum" else total / queries


def _head(line: Line, options: Options) -> str:
    return f"{'Z' if options.zscores is not None else ''}{line.name:<22}"


def _figure(value: float, line: Line, options: Options) -> str:
    if line.trec.whole and options.zscores is None:
        return f"{int(value)}"
    # Unlike Python, C prints the sign of what is not a number.
    return "  -nan" if isnan(value) and copysign(1.0, value) < 0 else f"{value:6.4f}"


def _figures(values: Floats, line: Line, options: Options) -> list[str]:
    import numpy as np

    if np.isnan(values).any() or (line.trec.whole and options.zscores is None):
        return [_figure(value, line, options) for value in values.tolist()]
    return [f"{value:6.4f}" for value in values.tolist()]


def _relevance_strings(line: Line, joined: Joined) -> list[str]:
    """Per query a letter for each of the first items: its grade, `>` above 9, `.` pooled but not judged, `-` not in the pool."""
    length = max(0, int(line.numbers[0]))
    view = joined.view
    letters = [["-"] * min(length, each) for each in view.retrieved.tolist()]
    near = view.ranks <= length
    for query, rank, grade in zip(
        view.query_of_row[near].tolist(), view.ranks[near].tolist(), view.grades[near].tolist(), strict=True
    ):
        letters[query][rank - 1] = "." if grade < 0 else ">" if grade > 9 else str(int(grade))
    if line.name == "relstring":
        letters = [each if there else [] for each, there in zip(letters, joined.present.tolist(), strict=True)]
    return ["".join(each) for each in letters]


def _write(stdout: TextIO, text: str) -> None:
    """Ids may hold bytes that are no UTF-8; they leave as they came."""
    buffer = getattr(stdout, "buffer", None)
    if buffer is None:
        stdout.write(text)
        return
    stdout.flush()
    buffer.write(text.encode("utf-8", "surrogateescape"))
    buffer.flush()
