"""`rankwell trec-eval`: prints what NIST's trec_eval prints, byte for byte, for version 10.0 or
9.0.8.

It starts without the command-line library, and NumPy is imported while the run is read. What is
here is trec_eval's own behaviour: its options, its lines, which topics count, how it sums.
"""

from __future__ import annotations

import sys
from array import array
from functools import reduce
from math import copysign, exp, isnan, log
from operator import add
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from rankwell.compat.trec_inputs import Options, last_tag, parse, read_ahead, read_zscores
from rankwell.compat.trec_measures import LEAST_FOR_GEOMETRIC, plan
from rankwell.store import Source

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankwell.compat.trec_measures import Evaluated, Line

HELP = Path(__file__).with_suffix(".txt")
MISSING_ZSCORE = -1000000.0
_AT_ONCE = 1024
_VIEW_OF_FORMAT = {
    "qrels": "judged",
    "qrels_jg": "groups",
    "prefs": "preferences",
    "qrels_prefs": "preferences",
}


def main(arguments: list[str], stdout: TextIO) -> int:
    """Runs trec_eval's command line; the exit code is 0, or 4 where version 10 stops at a topic
    without results.
    """
    options = parse(arguments)
    if options.version:
        from rankwell import __version__

        sys.stderr.write(
            f"trec_eval version {'9.0.8' if options.old else '10.0'} (rankwell {__version__})\n"
        )
        return 0
    if options.help:
        _write(stdout, HELP.read_text(encoding="utf-8") + _definitions(options))
        return 0
    return _evaluate(options, stdout)


def _definitions(options: Options) -> str:
    """The names of the marked measures here and there, with the first line of what rankwell says
    about each.
    """
    if not options.marked:
        return ""
    from rankwell.compat.trec_views import measure_of

    rows = ["\n"]
    for line in {line.trec.name: line for line in reversed(plan(options))}.values():
        measure = measure_of(line)
        message = (
            "printed, not measured" if measure is None else measure.entry.definition["definition"]
        )
        rows.append(f"{line.trec.name:<22} {message}\n")
    return "".join([rows[0], *reversed(rows[1:])])


def _evaluate(options: Options, stdout: TextIO) -> int:
    from rankwell.errors import BadUsage, NothingToEvaluate

    lines = plan(options)
    for line in lines:
        if line.trec.view not in (_VIEW_OF_FORMAT[options.truth_format], "any"):
            raise BadUsage(f"{line.trec.name} cannot be computed with -R {options.truth_format}.")
    evaluated = _adjusted(lines, _values(lines, options), options)
    counted, stopped_at = _counted(options, evaluated)
    if options.queries:
        for text in _single_lines(lines, options, evaluated, counted):
            _write(stdout, text)
    if stopped_at is not None:
        sys.stderr.write(
            f"trec_eval: result qid '{stopped_at}' not found in qrels\n"
            "(the qrels have this query and the run has no results for it; -c counts such "
            "queries as nothing found)\n"
        )
        return 4
    if not counted:
        raise NothingToEvaluate(
            "trec_eval: No queries with both results and relevance info; do both files use the "
            "same query ids?"
        )
    if options.summary:
        _write(stdout, _summary_lines(lines, options, evaluated, counted))
    return 0


def _values(lines: list[Line], options: Options) -> Evaluated:
    # Other threads read while this one imports NumPy, which takes as long.
    ahead = read_ahead(options)
    from rankwell.compat import trec_views

    return trec_views.evaluate(lines, options, ahead)


def _adjusted(lines: list[Line], evaluated: Evaluated, options: Options) -> Evaluated:
    """Without what the item that version 10 invents under -c gave a query that the run lacks; as
    z-scores where requested.
    """
    values = list(evaluated.values)
    if options.complete and not all(evaluated.present):
        for row, line in enumerate(lines):
            if line.trec.name == "unj" or line.name in ("num_ret", "utility", "rbp_resid"):
                paired = zip(values[row], evaluated.present, strict=True)
                values[row] = array(
                    "d", [value if is_present else 0.0 for value, is_present in paired]
                )
    if options.zscores is not None:
        table = read_zscores(Source(options.zscores))
        for row, line in enumerate(lines):
            zscores = [table.get((query, line.name)) for query in evaluated.queries]
            values[row] = array("d", map(_standard, values[row], zscores))
    return evaluated._replace(values=values)


def _counted(options: Options, evaluated: Evaluated) -> tuple[list[int], str | None]:
    """The queries that are evaluated, in order; and the one at which version 10 stops for want of
    results.
    """
    rows = [
        row for row, query in enumerate(evaluated.queries) if options.single_query in (None, query)
    ]
    if options.old:
        return [row for row in rows if evaluated.present[row]], None
    if options.complete:
        return rows, None
    for order, query_row in enumerate(rows):
        if not evaluated.present[query_row]:
            return rows[:order], evaluated.queries[query_row]
    return rows, None


def _standard(value: float, zscore: tuple[float, float] | None) -> float:
    if zscore is None:
        return MISSING_ZSCORE
    mean, deviation = zscore
    if deviation != 0:
        return (value - mean) / deviation
    return 0.0 if value == mean else MISSING_ZSCORE


def _single_lines(
    lines: list[Line], options: Options, evaluated: Evaluated, counted: list[int]
) -> Iterator[str]:
    """The lines of single queries, those of some queries at a time: all of them would be most of
    what is in memory.
    """
    strings = evaluated.strings
    shown_lines = [
        (row, line) for row, line in enumerate(lines) if row in strings or line.trec.single
    ]
    heads = [
        f"{line.name:<22}" if row in strings else _head(line, options) for row, line in shown_lines
    ]
    for start in range(0, len(counted) if shown_lines else 0, _AT_ONCE):
        block = counted[start : start + _AT_ONCE]
        columns = [
            [f"'{strings[row][query_row]}'" for query_row in block]
            if row in strings
            else _cells([evaluated.values[row][query_row] for query_row in block], line, options)
            for row, line in shown_lines
        ]
        yield "".join(
            f"{head}\t{evaluated.queries[query_row]}\t{cell}\n"
            for query_row, cells in zip(block, zip(*columns, strict=True), strict=True)
            for head, cell in zip(heads, cells, strict=True)
        )


def _summary_lines(
    lines: list[Line], options: Options, evaluated: Evaluated, counted: list[int]
) -> str:
    queries = len(evaluated.queries) if options.complete else len(counted)
    parts = list[str]()
    for row, line in enumerate(lines):
        if line.name == "runid":
            parts.append(
                f"{line.name:<22}\tall\t{last_tag(Source(options.run), comments=not options.old)}\n"
            )
        elif line.trec.name != "relstring":
            values = [evaluated.values[row][query_row] for query_row in counted]
            # With -c trec_eval goes back to the qrels for this total, and does not look at -l
            # there.
            from_truth = line.name == "num_rel" and options.complete
            value = evaluated.positives if from_truth else _summary(line, values, queries)
            parts.append(f"{_head(line, options)}\tall\t{_figure(value, line, options)}\n")
    return "".join(parts)


def _summary(line: Line, values: list[float], queries: int) -> float:
    """The figure over queries. `queries` divides: under -c all that the truth has, else those
    evaluated.
    """
    if line.name == "num_q":
        return queries
    # One after the other, as trec_eval adds them; `sum` rounds otherwise from Python 3.12 on.
    total = reduce(add, values, 0.0)
    if line.trec.summary == "geometric":
        return exp((total + (queries - len(values)) * log(LEAST_FOR_GEOMETRIC)) / queries)
    return total if line.trec.summary == "sum" else total / queries


def _head(line: Line, options: Options) -> str:
    return f"{'Z' if options.zscores is not None else ''}{line.name:<22}"


def _figure(value: float, line: Line, options: Options) -> str:
    if line.trec.is_integer and options.zscores is None:
        return f"{int(value)}"
    # Unlike Python, C prints the sign of what is not a number.
    return "  -nan" if isnan(value) and copysign(1.0, value) < 0 else f"{value:6.4f}"


def _cells(values: list[float], line: Line, options: Options) -> list[str]:
    if any(map(isnan, values)) or (line.trec.is_integer and options.zscores is None):
        return [_figure(value, line, options) for value in values]
    return [f"{value:6.4f}" for value in values]


def _write(stdout: TextIO, text: str) -> None:
    """Ids may hold bytes that are not UTF-8; they are written as they were read."""
    buffer = getattr(stdout, "buffer", None)
    if buffer is None:
        stdout.write(text)
        return
    stdout.flush()
    buffer.write(text.encode("utf-8", "surrogateescape"))
    buffer.flush()
