"""trec_eval's command line, as GNU getopt reads it (`-qc`, `-mP.5`, `--meas=P.5`), and its files, read without NumPy."""

from __future__ import annotations

import re
from math import isfinite
from typing import TYPE_CHECKING, Any, NamedTuple

from rankwell.errors import BadLine, BadUsage
from rankwell.io.reader import Scan, read_judged_rows
from rankwell.io.reader.lines import TREC_RUN, ReadOptions
from rankwell.store import Source, decode_id

if TYPE_CHECKING:
    from rankwell.core.tables import TieRule
    from rankwell.io.reader.rows import JudgedRows

# A run of this size takes longer to read than a thread to start.
LARGE = 1 << 22
_BLOCK = 1 << 16

ZScores = dict[tuple[str, str], tuple[float, float]]

USAGE = "usage: rankwell trec-eval [-h] [-q] [-m measure]... qrels run; `rankwell trec-eval --help` lists all options."

HELP = """\
rankwell trec-eval [-h] [-v] [-q] [-n] [-c] [-J] [-o] [-m measure[.parameters]]... [-l grade] [-M items] [-N items]
                   [-D 0.query] [-R format] [-T format] [-Z file] [--v9 | --v10] qrels run

Prints what trec_eval prints, byte for byte. A run `-` is read from standard input; both files may be gzip or zstd.
Where trec_eval reads text as a number (scores `nan`, `1,5`, `high`), there is an error that names file and line.
A grade `1e3` is a thousand, not 1; blank lines are skipped.

  -q, --query_eval_wanted            every query's values before the summary
  -n, --nosummary                    no summary
  -m, --measure NAME[.PARAMETERS]    a measure or a group of them: official (default), all_trec, set, prefs, all_prefs, qrels_jg
  -c, --complete_rel_info_wanted     average over all queries of the qrels; those without results count as nothing found
  -l, --level_for_rel GRADE          the lowest grade that is relevant (default 1)
  -M, --Max_retrieved_per_topic N    the first N items of each query only
  -J, --Judged_docs_only             unjudged items are taken out of the results, after -M
  -N, --Number_docs_in_coll N        items in the collection, for utility (default 0)
  -R, --Rel_info_format FORMAT       qrels (default), qrels_jg, prefs or qrels_prefs
  -T, --Results_format FORMAT        trec_results
  -Z, --Zscore FILE                  deviations from the mean in standard deviations; lines `query measure mean deviation`
  -D, --Debug_level 0.QUERY          this query only (debug output, levels from 1, is not offered)
  -o                                 accepted and without effect, as in trec_eval
  -v, --version                      the version that is imitated, on standard error
  --v9                               the rules of version 9.0.8: scores in single precision, recall levels rounded by + 0.9,
                                     queries without results left out, no rbp, unj or dcg, no comment lines
  --v10                              the rules of version 10.0 (default); a query without results ends it with code 4, unless -c
  -h, --help                         this page, with the definitions of the measures that -m names

Exit codes: 0 done, 2 bad usage or bad input, 4 nothing to evaluate or, under version 10's rules, a query without results.
"""


class Options(NamedTuple):
    """The options of a command line. Both files are empty strings where only help or the version is requested.

    marked: measures and groups of them by name, in the order given. parameters: a name's text after its first dot; the first
    that is given for it counts.
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


_LONG = {
    "help": "h",
    "version": "v",
    "query_eval_wanted": "q",
    "measure": "m",
    "complete_rel_info_wanted": "c",
    "level_for_rel": "l",
    "nosummary": "n",
    "Debug_level": "D",
    "Judged_docs_only": "J",
    "Number_docs_in_coll": "N",
    "Max_retrieved_per_topic": "M",
    "Rel_info_format": "R",
    "Results_format": "T",
    "Output_old_results_format": "o",
    "Zscore": "Z",
}
_FLAGS = {
    "h": {"help": True},
    "v": {"version": True},
    "q": {"queries": True},
    "c": {"complete": True},
    "n": {"summary": False},
    "J": {"judged_only": True},
    "o": {},
}
_VALUES = "mlMNDRTZ"


def parse(arguments: list[str]) -> Options:
    """The options of the arguments. Raises BadUsage."""
    options, files, left = Options(), list[str](), list(arguments)
    while left:
        word = left.pop(0)
        if word == "--":
            files += left
            break
        if word in ("--v9", "--v10"):
            options = options._replace(old=word == "--v9")
        elif word.startswith("--"):
            options = _long(options, word, left)
        elif word.startswith("-") and word != "-":
            options = _short(options, word, left)
        else:
            files.append(word)
        if options.version:
            return options
    if options.help:
        return options
    if len(files) != 2:
        raise BadUsage(f"{len(files)} files were given ({', '.join(files) or 'none'}), not qrels and run. {USAGE}")
    return options._replace(qrels=files[0], run=files[1])


def _short(options: Options, word: str, left: list[str]) -> Options:
    """One or more letters behind a dash; the last may take the rest of the word, or the next one, as its value."""
    for place, letter in enumerate(word[1:], start=2):
        if letter in _FLAGS:
            options = options._replace(**_FLAGS[letter])
        elif letter in _VALUES:
            if place == len(word) and not left:
                raise BadUsage(f"-{letter} needs a value. {USAGE}")
            return _with_value(options, letter, word[place:] or left.pop(0))
        else:
            raise BadUsage(f"trec_eval has no option -{letter} (in {word!r}). {USAGE}")
    return options


def _long(options: Options, word: str, left: list[str]) -> Options:
    """A name behind two dashes, as short as it is unique, its value behind `=` or in the next word."""
    given, equals, value = word[2:].partition("=")
    found = [given] if given in _LONG else [name for name in _LONG if name.startswith(given)]
    if len(found) != 1:
        raise BadUsage(f"{word!r} {'may mean ' + ' or '.join(found) if found else 'is not an option of trec_eval'}. {USAGE}")
    name, letter = found[0], _LONG[found[0]]
    if letter in _FLAGS and letter != "o":
        if equals:
            raise BadUsage(f"--{name} takes no value. {USAGE}")
        return options._replace(**_FLAGS[letter])
    if not equals and not left:
        raise BadUsage(f"--{name} needs a value. {USAGE}")
    return _with_value(options, letter, value if equals else left.pop(0))


def _with_value(options: Options, letter: str, text: str) -> Options:
    """The options with the value of a letter; that of `o` has no effect. Raises BadUsage."""
    number, (name, dot, rest) = leading_integer(text), text.partition(".")
    problem = ""
    if letter == "m":
        if dot and not rest:
            raise BadUsage(f"nothing follows the dot of {text!r}; write the measure as {name} or {name}.5")
        known = dict(options.parameters)
        if dot:
            known.setdefault(name, rest)
        return options._replace(marked=(*options.marked, name), parameters=tuple(known.items()))
    if letter == "l" and number < 0:
        problem = "negative grades mean pooled but not judged, so the lowest relevant grade is 0 or more"
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
        "D": {"single_query": rest} if dot else {},
        "R": {"truth_format": text},
        "Z": {"zscores": text},
    }
    return options._replace(**values.get(letter, {}))


def leading_integer(text: str) -> int:
    """The integer that a text begins with, 0 without one: C's `atol`, which trec_eval applies to its arguments."""
    match = re.match(r"\s*([+-]?\d+)", text)
    return int(match[1]) if match else 0


def number(text: str) -> float:
    """The number that a text begins with, 0 without one: C's `atof`. Raises BadUsage for one that is not finite."""
    match = re.match(r"\s*([+-]?((\d+\.?\d*|\.\d+)(e[+-]?\d+)?|nan|inf))", text, re.IGNORECASE)
    found = float(match[1]) if match else 0.0
    if not isfinite(found):
        raise BadUsage(f"{text!r} is not a finite number.")
    return found


class Ahead(NamedTuple):
    """Files that the compiled readers read first. scan: None where the plain reader has to read the run."""

    judged: JudgedRows
    scan: Scan | None
    large: bool


def read_ahead(options: Options) -> Ahead | None:
    """The judgments, and the run as it is going to be read; None where there are no compiled readers, or others have to read."""
    if options.truth_format != "qrels":
        return None
    truth, run = Source(options.qrels), Source(options.run)
    rows = read_judged_rows(truth, comments=not options.old)
    if rows is None:
        return None
    large = run.path is not None and run.path.stat().st_size >= LARGE
    return Ahead(rows, Scan(run, rows, TREC_RUN, reading_of(options)), large)


def reading_of(options: Options, ties: TieRule = "id-desc") -> ReadOptions:
    """The rules by which trec_eval reads a run."""
    return ReadOptions(ties=ties, single_precision=options.old, comments=not options.old, trailing=True)


def last_tag(source: Source, *, comments: bool) -> str:
    """The run tag (the sixth field) of the last line that is not blank and, where those are allowed, not a comment."""
    size = _BLOCK
    while True:
        tail, whole = _tail(source, size)
        lines = tail.splitlines() if whole else tail.splitlines()[1:]
        for line in reversed(lines):
            fields = line.split(None, 6)
            if len(fields) > 5 and not (comments and fields[0].startswith(b"#")):
                return decode_id(fields[5])
        if whole:
            return ""
        size *= 16


def _tail(source: Source, size: int) -> tuple[bytes, bool]:
    """The last bytes of the content, and whether they are all of it."""
    if source.path is not None:
        length = source.path.stat().st_size
        with source.path.open("rb") as stream:
            stream.seek(max(0, length - size))
            return stream.read(), length <= size
    kept, seen = b"", 0
    with source.open() as stream:
        while block := stream.read(size):
            kept, seen = (kept + block)[-size:], seen + len(block)
    return kept, seen <= size


def read_zscores(source: Source) -> ZScores:
    """(query, measure) -> mean and standard deviation, from lines of four fields. Raises BadLine."""
    table: ZScores = {}
    for place, line in enumerate(source.read().splitlines(), start=1):
        fields = line.split()
        if len(fields) != 4:
            text = line.decode("utf-8", "replace")
            raise BadLine(f"{source.name}:{place}: {text!r} has {len(fields)} fields; a line is `query measure mean deviation`.")
        query, measure, mean, deviation = map(decode_id, fields)
        try:
            table[query, measure] = (number(mean), number(deviation))
        except BadUsage as error:
            raise BadLine(f"{source.name}:{place}: {error}") from error
    return table
