"""`rankwell trec-eval`: prints what NIST's trec_eval prints, byte for byte, for version 10.0 or
9.0.8.

It starts without the command-line library, and NumPy is imported while the run is read. What is
here is trec_eval's own behaviour: its options, its lines, which topics count, how it sums.
"""

import sys
from array import array
from collections.abc import Iterator
from functools import reduce
from math import copysign, exp, isnan, log
from operator import add
from pathlib import Path
from typing import TextIO

from rankwell.compat.trec_command import (
    LEAST_FOR_GEOMETRIC,
    TRUTH_FORMATS,
    Evaluated,
    Line,
    Options,
    leading_number,
    parse,
    plan,
    read_ahead,
)
from rankwell.errors import BadLine, BadUsage, NothingToEvaluate
from rankwell.store import Source, decode_id

HELP = Path(__file__).with_suffix(".txt")
MISSING_ZSCORE = -1000000.0
_AT_ONCE = 1024
_BLOCK = 1 << 16


def main(arguments: list[str], stdout: TextIO) -> int:
    """Runs trec_eval's command line; the exit code is 0, or 4 where version 10 stops at a topic
    without results.
    """
    options = parse(arguments)
    if options.version:
        from rankwell import __version__

        sys.stderr.write(
            f"trec_eval version {'9.0.8' if options.is_v9 else '10.0'} (rankwell {__version__})\n"
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

    rows = dict[str, str]()
    for line in plan(options):
        if line.measure.name not in rows:
            measure, message = measure_of(line), "printed, not measured"
            if measure is not None:
                message = measure.entry.definition["definition"]
            rows[line.measure.name] = f"{line.measure.name:<22} {message}\n"
    return "\n" + "".join(rows.values())


def _evaluate(options: Options, stdout: TextIO) -> int:
    lines = plan(options)
    for line in lines:
        if line.measure.view not in (TRUTH_FORMATS[options.truth_format], "any"):
            raise BadUsage(
                f"{line.measure.name} cannot be computed with -R {options.truth_format}."
            )
    # Other threads read while this one imports NumPy, which takes as long.
    ahead = read_ahead(options)
    from rankwell.compat import trec_views

    evaluated = _adjusted(trec_views.evaluate(lines, options, ahead))
    counted, stopped_at = _counted(evaluated)
    if options.has_query_lines:
        for text in _single_lines(evaluated, counted):
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
    if options.has_summary_lines:
        _write(stdout, _summary_lines(evaluated, counted))
    return 0


def _adjusted(evaluated: Evaluated) -> Evaluated:
    """Without what the item that version 10 invents under -c gave a query that the run lacks; as
    z-scores where requested.
    """
    options, values = evaluated.options, list(evaluated.values)
    if options.complete and not all(evaluated.present):
        for row, line in enumerate(evaluated.lines):
            if line.measure.name == "unj" or line.name in ("num_ret", "utility", "rbp_resid"):
                paired = zip(values[row], evaluated.present, strict=True)
                values[row] = array(
                    "d", [value if is_present else 0.0 for value, is_present in paired]
                )
    if options.zscores is not None:
        table = read_zscores(Source(options.zscores))
        for row, line in enumerate(evaluated.lines):
            zscores = [table.get((query, line.name)) for query in evaluated.queries]
            values[row] = array("d", map(_standard, values[row], zscores))
    return evaluated._replace(values=values)


def _counted(evaluated: Evaluated) -> tuple[list[int], str | None]:
    """The queries that are evaluated, in order; and the one at which version 10 stops for want of
    results.
    """
    options, queries, present = evaluated.options, evaluated.queries, evaluated.present
    rows = [row for row, query in enumerate(queries) if options.single_query in (None, query)]
    if options.is_v9:
        return [row for row in rows if present[row]], None
    for order, row in enumerate(() if options.complete else rows):
        if not present[row]:
            return rows[:order], queries[row]
    return rows, None


def _standard(value: float, zscore: tuple[float, float] | None) -> float:
    if zscore is None:
        return MISSING_ZSCORE
    mean, deviation = zscore
    if deviation != 0:
        return (value - mean) / deviation
    return 0.0 if value == mean else MISSING_ZSCORE


def _single_lines(evaluated: Evaluated, counted: list[int]) -> Iterator[str]:
    """The lines of single queries, those of some queries at a time: all of them would be most of
    what is in memory.
    """
    strings, options = evaluated.strings, evaluated.options
    shown_lines = [
        (row, line)
        for row, line in enumerate(evaluated.lines)
        if row in strings or line.measure.is_single
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


def _summary_lines(evaluated: Evaluated, counted: list[int]) -> str:
    options, parts = evaluated.options, list[str]()
    queries = len(evaluated.queries) if options.complete else len(counted)
    for row, line in enumerate(evaluated.lines):
        if line.name == "runid":
            tag = last_tag(Source(options.run), comments=not options.is_v9)
            parts.append(f"{line.name:<22}\tall\t{tag}\n")
        elif line.measure.name != "relstring":
            values = [evaluated.values[row][query_row] for query_row in counted]
            # With -c trec_eval goes back to the qrels for this total, and does not look at -l
            # there.
            from_truth = line.name == "num_rel" and options.complete
            value = evaluated.positives if from_truth else _summary(line, values, queries)
            parts += [f"{_head(line, options)}\tall\t", *_cells([value], line, options), "\n"]
    return "".join(parts)


def _summary(line: Line, values: list[float], queries: int) -> float:
    """The figure over queries. `queries` divides: under -c all that the truth has, else those
    evaluated.
    """
    if line.name == "num_q":
        return queries
    # One after the other, as trec_eval adds them; `sum` rounds otherwise from Python 3.12 on.
    total = reduce(add, values, 0.0)
    if line.measure.summary == "geometric":
        return exp((total + (queries - len(values)) * log(LEAST_FOR_GEOMETRIC)) / queries)
    return total if line.measure.summary == "sum" else total / queries


def _head(line: Line, options: Options) -> str:
    return f"{'Z' if options.zscores is not None else ''}{line.name:<22}"


def _cells(values: list[float], line: Line, options: Options) -> list[str]:
    if line.measure.is_integer and options.zscores is None:
        return [f"{int(value)}" for value in values]
    if any(map(isnan, values)):
        # Unlike Python, C prints the sign of what is not a number.
        return [
            "  -nan" if isnan(value) and copysign(1.0, value) < 0 else f"{value:6.4f}"
            for value in values
        ]
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


def last_tag(source: Source, *, comments: bool) -> str:
    """The run tag (the sixth field) of the last line that is not blank and, where those are
    allowed, not a comment.
    """
    size = _BLOCK
    while True:
        tail, is_whole = _tail(source, size)
        lines = tail.splitlines() if is_whole else tail.splitlines()[1:]
        for line in reversed(lines):
            fields = line.split(None, 6)
            if len(fields) > 5 and not (comments and fields[0].startswith(b"#")):
                return decode_id(fields[5])
        if is_whole:
            return ""
        size *= 16


def _tail(source: Source, size: int) -> tuple[bytes, bool]:
    """The last bytes of the content, and whether they are all of it."""
    if source.path is not None:
        length = source.path.stat().st_size
        with source.path.open("rb") as stream:
            stream.seek(max(0, length - size))
            return stream.read(), length <= size
    tail, n_read = b"", 0
    with source.open() as stream:
        while block := stream.read(size):
            tail = (tail + block)[-size:]
            n_read += len(block)
    return tail, n_read <= size


def read_zscores(source: Source) -> dict[tuple[str, str], tuple[float, float]]:
    """The mean and standard deviation of each (query, measure), from lines of four fields. Raises
    BadLine.

    trec_eval wrote `nan` for the statistics of set_F, and reads it: the figures that come of it are
    nan as well.
    """
    table: dict[tuple[str, str], tuple[float, float]] = {}
    for line_number, line in enumerate(source.read().splitlines(), start=1):
        fields = line.split()
        if len(fields) != 4:
            text = line.decode("utf-8", "replace")
            raise BadLine(
                f"{source.name}:{line_number}: {text!r} has {len(fields)} fields; a line is `query "
                "measure mean deviation`."
            )
        query, measure, mean, deviation = map(decode_id, fields)
        table[query, measure] = (leading_number(mean), leading_number(deviation))
    return table
