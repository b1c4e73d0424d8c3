"""trec_eval's command line, as GNU getopt reads it (`-qc`, `-mP.5`, `--meas=P.5`), and its files,
read without NumPy.
"""

from __future__ import annotations

import getopt
import re
from math import isfinite
from typing import TYPE_CHECKING, Any, NamedTuple

from rankwell.errors import BadLine, BadUsage
from rankwell.io.reader import Scan, read_judged_rows
from rankwell.io.reader.lines import TREC_RUN, ReadOptions
from rankwell.store import Source, decode_id

if TYPE_CHECKING:
    from rankwell.data.rankings import JudgedRows
    from rankwell.data.tables import TieRule

_BLOCK = 1 << 16

ZScores = dict[tuple[str, str], tuple[float, float]]

USAGE = (
    "usage: rankwell trec-eval [-h] [-q] [-m measure]... qrels run; `rankwell trec-eval "
    "--help` lists all options."
)


class Options(NamedTuple):
    """The options of a command line. Both files are empty strings where only help or the version is
    requested.

    marked: measures and groups of them by name, in the order given. parameters: a name's text after
    its first dot; the first that is given for it counts.
    single_query: the only query to evaluate, or None for all.
    """

    qrels: str = ""
    run: str = ""
    help: bool = False
    version: bool = False
    queries: bool = False
    summary: bool = True
    complete: bool = False
    judged_only: bool = False
    old: bool = False
    rel: int = 1
    depth: int | None = None
    collection: int = 0
    marked: tuple[str, ...] = ()
    parameters: tuple[tuple[str, str], ...] = ()
    truth_format: str = "qrels"
    zscores: str | None = None
    single_query: str | None = None


_SHORT = "hvqcnJom:l:M:N:D:R:T:Z:"
_LONG = {
    "help": "h",
    "version": "v",
    "query_eval_wanted": "q",
    "measure=": "m",
    "complete_rel_info_wanted": "c",
    "level_for_rel=": "l",
    "nosummary": "n",
    "Debug_level=": "D",
    "Judged_docs_only": "J",
    "Number_docs_in_coll=": "N",
    "Max_retrieved_per_topic=": "M",
    "Rel_info_format=": "R",
    "Results_format=": "T",
    "Output_old_results_format=": "o",
    "Zscore=": "Z",
    "v9": "v9",
    "v10": "v10",
}
_FLAGS: dict[str, dict[str, bool]] = {
    "h": {"help": True},
    "v": {"version": True},
    "q": {"queries": True},
    "c": {"complete": True},
    "n": {"summary": False},
    "J": {"judged_only": True},
    "v9": {"old": True},
    "v10": {"old": False},
}


def parse(arguments: list[str]) -> Options:
    """The options of the arguments. Raises BadUsage."""
    try:
        flags, files = getopt.gnu_getopt(arguments, _SHORT, list(_LONG))
    except getopt.GetoptError as error:
        raise BadUsage(f"{error}. {USAGE}") from None
    options = Options()
    for name, text in flags:
        letter = name[1:] if name[1] != "-" else _LONG.get(name[2:]) or _LONG[f"{name[2:]}="]
        options = (
            options._replace(**_FLAGS[letter])
            if letter in _FLAGS
            else _with_value(options, letter, text)
        )
        if options.version:
            return options
    if options.help:
        return options
    if len(files) != 2:
        raise BadUsage(
            f"expected two files, qrels and run; found {', '.join(files) or 'none'}. {USAGE}"
        )
    return options._replace(qrels=files[0], run=files[1])


def _with_value(options: Options, letter: str, text: str) -> Options:
    """The options with the value of a letter; that of `o` has no effect. Raises BadUsage."""
    number, (name, dot, parameters) = leading_integer(text), text.partition(".")
    problem = ""
    if letter == "m":
        if dot and not parameters:
            raise BadUsage(
                f"nothing follows the dot of {text!r}; write the measure as {name} or {name}.5"
            )
        parameters_of_measures = dict(options.parameters)
        if dot:
            parameters_of_measures.setdefault(name, parameters)
        return options._replace(
            marked=(*options.marked, name), parameters=tuple(parameters_of_measures.items())
        )
    if letter == "l" and number < 0:
        problem = (
            "negative grades mean pooled but not judged, so the lowest relevant grade is 0 or more"
        )
    elif letter == "M" and number < 1:
        problem = "expected a positive integer; at least one item of each query must be kept"
    elif letter == "D" and number > 0:
        problem = "debug output is trec_eval's alone; -D 0.QUERY evaluates one query"
    elif letter == "R" and text not in ("qrels", "qrels_jg", "prefs", "qrels_prefs"):
        problem = "the formats are qrels, qrels_jg, prefs and qrels_prefs"
    elif letter == "T" and text != "trec_results":
        problem = "the only format is trec_results"
    if problem:
        raise BadUsage(f"-{letter} {text}: {problem}.")
    values: dict[str, dict[str, Any]] = {
        "l": {"rel": number},
        "M": {"depth": number},
        "N": {"collection": number},
        "D": {"single_query": parameters} if dot else {},
        "R": {"truth_format": text},
        "Z": {"zscores": text},
    }
    return options._replace(**values.get(letter, {}))


def leading_integer(text: str) -> int:
    """The integer that a text begins with, 0 without one: C's `atol`, which trec_eval applies to
    its arguments.

    One outside 64 bits becomes the nearest inside, as in GNU's library.
    """
    match = re.match(r"\s*([+-]?)0*([0-9]*)", text)
    sign, digits = match.groups() if match else ("", "")
    return max(-(1 << 63), min((1 << 63) - 1, int(f"{sign}{digits[:20] or 0}")))


def number(text: str) -> float:
    """The number that a text begins with, 0 without one: C's `atof`. Raises BadUsage for one that
    is not finite.
    """
    value = _leading_number(text)
    if not isfinite(value):
        raise BadUsage(f"{text!r} is not a finite number.")
    return value


def _leading_number(text: str) -> float:
    match = re.match(r"\s*([+-]?((\d+\.?\d*|\.\d+)(e[+-]?\d+)?|nan|inf))", text, re.IGNORECASE)
    return float(match[1]) if match else 0.0


class Ahead(NamedTuple):
    """The judgments, and the reading of the run, which other threads have begun."""

    judged: JudgedRows
    scan: Scan


def read_ahead(options: Options) -> Ahead | None:
    """The judgments, and the run as other threads read it; None where there are no compiled
    readers, or others have to read.
    """
    if options.truth_format != "qrels":
        return None
    truth, run = Source(options.qrels), Source(options.run)
    rows = read_judged_rows(truth, comments=not options.old)
    if rows is None:
        return None
    reading = Scan(run, rows, TREC_RUN, reading_of(options))
    reading.begin()
    return Ahead(rows, reading)


def reading_of(options: Options, ties: TieRule = "id-desc") -> ReadOptions:
    """The rules by which trec_eval reads a run."""
    return ReadOptions(
        ties=ties, single_precision=options.old, comments=not options.old, trailing=True
    )


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


def read_zscores(source: Source) -> ZScores:
    """The mean and standard deviation of each (query, measure), from lines of four fields. Raises
    BadLine.

    trec_eval wrote `nan` for the statistics of set_F, and reads it: the figures that come of it are
    nan as well.
    """
    table: ZScores = {}
    for line_number, line in enumerate(source.read().splitlines(), start=1):
        fields = line.split()
        if len(fields) != 4:
            text = line.decode("utf-8", "replace")
            raise BadLine(
                f"{source.name}:{line_number}: {text!r} has {len(fields)} fields; a line is `query "
                "measure mean deviation`."
            )
        query, measure, mean, deviation = map(decode_id, fields)
        table[query, measure] = (_leading_number(mean), _leading_number(deviation))
    return table
