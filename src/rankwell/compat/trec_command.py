"""trec_eval's command line, as GNU getopt reads it (`-qc`, `-mP.5`, `--meas=P.5`), and its measures
in its order: the name that rankwell has for each, its parameters, and how its lines look.
"""

from __future__ import annotations

import getopt
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from math import isfinite
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from rankwell.errors import BadUsage, UnknownName
from rankwell.io.reader import Scan, read_judged_rows
from rankwell.io.reader.lines import TREC_RUN, ReadOptions
from rankwell.store import Source

if TYPE_CHECKING:
    from rankwell.data.tables import TieRule
    from rankwell.io.reader import JudgedRows

TRUTH_FORMATS = {
    "qrels": "judged",
    "qrels_jg": "groups",
    "prefs": "preferences",
    "qrels_prefs": "preferences",
}
"""Formats of judgments, and the view that each has."""
USAGE = (
    "usage: rankwell trec-eval [-h] [-q] [-m measure]... qrels run; `rankwell trec-eval "
    "--help` lists all options."
)


class Options(NamedTuple):
    """The options of a command line, with trec_eval's letter for each.

    qrels, run: paths of the judgments and of the run; empty where only help or the version is
        requested.
    help: -h, prints the help and nothing else.
    version: -v, prints the version and nothing else.
    has_query_lines: -q, prints the values of single queries too.
    has_summary_lines: prints the values over all queries; false under -n.
    complete: -c, counts every judged query; a query that the run lacks has an empty ranking.
    judged_only: -J, takes unjudged items out of the rankings.
    is_v9: follows trec_eval 9.0.8 in place of version 10.
    rel: -l, the lowest grade that counts as relevant.
    depth: -M, the number of first items of each query that are kept; None for all.
    collection: -N, the number of items in the collection, for `utility`.
    marked: -m, measures and groups of them by name, in the order given; empty for `official`.
    parameters: (name, text after its first dot) pairs; the first pair of a name counts.
    truth_format: -R, the format of the judgments, one of `TRUTH_FORMATS`.
    zscores: -Z, path of a file of means and deviations by which values become z-scores; None for
        values as they are.
    single_query: -D 0.QUERY, the only query to evaluate; None for all.
    """

    qrels: str = ""
    run: str = ""
    help: bool = False
    version: bool = False
    has_query_lines: bool = False
    has_summary_lines: bool = True
    complete: bool = False
    judged_only: bool = False
    is_v9: bool = False
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
    "q": {"has_query_lines": True},
    "c": {"complete": True},
    "n": {"has_summary_lines": False},
    "J": {"judged_only": True},
    "v9": {"is_v9": True},
    "v10": {"is_v9": False},
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
        options = options._replace(**(_FLAGS.get(letter) or _value_of(letter, text, options)))
        if options.version:
            return options
    if options.help:
        return options
    if len(files) != 2:
        raise BadUsage(
            f"expected two files, qrels and run; found {', '.join(files) or 'none'}. {USAGE}"
        )
    return options._replace(qrels=files[0], run=files[1])


def _value_of(letter: str, text: str, options: Options) -> dict[str, Any]:
    """The fields of the options that the value of a letter sets; `o` has no effect. Raises
    BadUsage.
    """
    number, (name, dot, parameters) = leading_integer(text), text.partition(".")
    if letter == "m":
        if dot and not parameters:
            raise BadUsage(
                f"nothing follows the dot of {text!r}; write the measure as {name} or {name}.5"
            )
        new = ((name, parameters),) if dot and name not in dict(options.parameters) else ()
        return {"marked": (*options.marked, name), "parameters": (*options.parameters, *new)}
    wrong_values = {
        "l": (
            number < 0,
            "negative grades mean pooled but not judged, so the lowest relevant grade is 0 or more",
        ),
        "M": (
            number < 1,
            "expected a positive integer; at least one item of each query must be kept",
        ),
        "D": (number > 0, "debug output is trec_eval's alone; -D 0.QUERY evaluates one query"),
        "R": (text not in TRUTH_FORMATS, "the formats are qrels, qrels_jg, prefs and qrels_prefs"),
        "T": (text != "trec_results", "the only format is trec_results"),
    }
    is_wrong, problem = wrong_values.get(letter, (False, ""))
    if is_wrong:
        raise BadUsage(f"-{letter} {text}: {problem}.")
    values = {
        "l": {"rel": number},
        "M": {"depth": number},
        "N": {"collection": number},
        "D": {"single_query": parameters} if dot else {},
        "R": {"truth_format": text},
        "Z": {"zscores": text},
    }
    return values.get(letter, {})


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
    value = leading_number(text)
    if not isfinite(value):
        raise BadUsage(f"{text!r} is not a finite number.")
    return value


def leading_number(text: str) -> float:
    """The number that a text begins with, be it not finite; 0 without one."""
    match = re.match(r"\s*([+-]?((\d+\.?\d*|\.\d+)(e[+-]?\d+)?|nan|inf))", text, re.IGNORECASE)
    return float(match[1]) if match else 0.0


class Ahead(NamedTuple):
    """Files that other threads read while the rest of the program is loaded.

    judged: the rows of the judgments, which have been read.
    scan: the reading of the run, which has begun.
    """

    judged: JudgedRows
    scan: Scan


def read_ahead(options: Options) -> Ahead | None:
    """The judgments, and the run as other threads read it; None where there are no compiled
    readers, or others have to read.
    """
    if options.truth_format != "qrels":
        return None
    rows = read_judged_rows(Source(options.qrels), comments=not options.is_v9)
    if rows is None:
        return None
    reading = Scan(Source(options.run), rows, TREC_RUN, reading_of(options))
    reading.begin()
    return Ahead(rows, reading)


def reading_of(options: Options, ties: TieRule = "id-desc") -> ReadOptions:
    """The rules by which trec_eval reads a run."""
    return ReadOptions(
        ties=ties, single_precision=options.is_v9, comments=not options.is_v9, trailing=True
    )


Summary = Literal["mean", "sum", "geometric", "none"]
Kind = Literal["plain", "ranks", "shares", "numbers", "pairs"]

LEAST_FOR_GEOMETRIC = 0.00001
RANKS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
RECALLS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
MULTIPLES = (0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.4, 1.6, 1.8, 2.0)


class TrecMeasure(NamedTuple):
    """A measure of trec_eval.

    name: the name in trec_eval, without parameters.
    home: the file of rankwell.measures and the name in it, `precision.P`; empty for what is no
        measure of rankwell (runid, num_q, relstring).
    kind: the text after the dot: none, ranks or shares (a line for each), numbers or `level=gain`
        pairs (one line).
    defaults: the ranks, shares or numbers where none are given.
    parameter: the parameter of rankwell's measure that a rank or share sets.
    arguments: further parameters of rankwell's measure.
    summary: how the values of queries become one: their `mean`, `sum` or `geometric` mean; `none`
        where they are no numbers.
    since: the first version of trec_eval that has it; 9 stands for all before 10.
    """

    name: str
    home: str = ""
    kind: Kind = "plain"
    defaults: tuple[float, ...] = ()
    parameter: str = "k"
    arguments: tuple[tuple[str, Any], ...] = ()
    summary: Summary = "mean"
    since: int = 9

    @property
    def view(self) -> str:
        """The judgments that it needs: `groups`, `preferences`, `any` or, for most, `judged`."""
        folder = self.home.partition(".")[0]
        if folder in ("groups", "preferences"):
            return folder
        return "any" if self.name in ("runid", "num_q") else "judged"

    @property
    def by_level(self) -> bool:
        """Whether -l decides which items are relevant."""
        return (
            self.kind != "pairs"
            and self.view != "preferences"
            and self.name not in ("num_ret", "ndcg_cut", "unj")
        )

    @property
    def is_integer(self) -> bool:
        """Whether it is printed without decimals."""
        return self.summary == "sum"

    @property
    def is_single(self) -> bool:
        """Whether the values of single queries are printed."""
        return bool(self.home) and self.summary != "geometric"


class Line(NamedTuple):
    """One line of output.

    name: the printed name, parameters included (`P_5`).
    measure: the measure that it shows.
    arguments: the parameters of rankwell's measure.
    numbers: the numbers after the dot of a measure that takes numbers.
    """

    name: str
    measure: TrecMeasure
    arguments: tuple[tuple[str, Any], ...]
    numbers: tuple[float, ...] = ()


class Evaluated(NamedTuple):
    """The values of all lines under some options, before they are summed up over queries.

    lines: the lines of the output, in trec_eval's order.
    options: the options of the command line.
    queries: all queries of the judgments, in their order.
    present: (queries,) whether the run has each query.
    values: a row for each line, with a value for each query: 1 for num_q, 0 for runid and
        relstring, logarithms for gm_map and gm_bpref.
    positives: number of items of any query with a grade above 0, whatever -l says.
    strings: the row of a relstring -> what it shows for each query.
    """

    lines: Sequence[Line]
    options: Options
    queries: tuple[str, ...]
    present: list[bool]
    values: Sequence[Sequence[float]]
    positives: int = 0
    strings: Mapping[int, list[str]] = {}


_counted = partial(TrecMeasure, summary="sum")

# The last one, `avgjg_Rnonrel_imp`, is not a measure of trec_eval.
_PREFERRED = [
    f"prefs_{kind}{end}"
    for end in ("", "_ret", "_imp")
    for kind in ("simp", "pair", "avgjg", "avgjg_Rnonrel")
][:-1]


MEASURES: tuple[TrecMeasure, ...] = (
    TrecMeasure("runid", summary="none"),
    _counted("num_q"),
    _counted("num_ret", "counts.NumRet"),
    _counted("num_rel", "counts.NumRel"),
    _counted("num_rel_ret", "counts.NumRelRet"),
    TrecMeasure("map", "average_precision.AP"),
    TrecMeasure("gm_map", "average_precision.GMAP", summary="geometric"),
    TrecMeasure("Rprec", "precision.Rprec"),
    TrecMeasure("bpref", "incomplete.Bpref"),
    TrecMeasure("recip_rank", "reciprocal_rank.RR"),
    TrecMeasure("iprec_at_recall", "average_precision.IPrec", "shares", RECALLS, "recall"),
    TrecMeasure("P", "precision.P", "ranks", RANKS),
    TrecMeasure("relstring", kind="numbers", defaults=(10,), summary="none"),
    TrecMeasure("recall", "precision.R", "ranks", RANKS),
    TrecMeasure("infAP", "incomplete.infAP"),
    TrecMeasure("gm_bpref", "incomplete.GMBpref", summary="geometric"),
    TrecMeasure("Rprec_mult", "precision.RprecMult", "shares", MULTIPLES, "x"),
    TrecMeasure("utility", "precision.Utility", "numbers", (1.0, -1.0, 0.0, 0.0)),
    TrecMeasure("11pt_avg", "average_precision.IPrecAvg", "numbers", RECALLS),
    TrecMeasure("binG", "gain.BinG"),
    TrecMeasure("G", "gain.G", "pairs"),
    TrecMeasure("dcg", "gain.DCG", "pairs", since=10),
    TrecMeasure("ideal_dcg", "gain.IDCG", "pairs", since=10),
    TrecMeasure("ndcg", "gain.nDCG", "pairs"),
    TrecMeasure("ndcg_rel", "gain.nDCGrel", "pairs"),
    TrecMeasure("Rndcg", "gain.RnDCG", "pairs"),
    TrecMeasure("ndcg_cut", "gain.nDCG", "ranks", RANKS),
    TrecMeasure("map_cut", "average_precision.AP", "ranks", RANKS),
    TrecMeasure("relative_P", "precision.R", "ranks", RANKS, arguments=(("denom", "min"),)),
    TrecMeasure("success", "precision.Success", "ranks", (1, 5, 10)),
    TrecMeasure("set_P", "precision.SetP"),
    TrecMeasure("set_relative_P", "precision.SetP", arguments=(("relative", True),)),
    TrecMeasure("set_recall", "precision.SetR"),
    TrecMeasure("set_map", "average_precision.SetAP"),
    TrecMeasure("set_F", "precision.SetF", "numbers", (1.0,)),
    _counted("num_nonrel_judged_ret", "counts.NumNonrelJudgedRet"),
    _counted("prefs_num_prefs_poss", "preferences.PrefsNumPoss"),
    _counted("prefs_num_prefs_ful", "preferences.PrefsNumFul"),
    _counted("prefs_num_prefs_ful_ret", "preferences.PrefsNumFulRet"),
    *(TrecMeasure(name, f"preferences.{name.title().replace('_', '')}") for name in _PREFERRED),
    TrecMeasure("map_avgjg", "groups.AP_avgjg"),
    TrecMeasure("P_avgjg", "groups.P_avgjg", "ranks", RANKS),
    TrecMeasure("Rprec_mult_avgjg", "groups.RprecMult_avgjg", "shares", MULTIPLES, "x"),
    TrecMeasure("yaap", "average_precision.Yaap"),
    TrecMeasure(
        "rbp", "user_models.RBP", "pairs", arguments=(("p", 0.9), ("scale", "topic")), since=10
    ),
    TrecMeasure(
        "rbp_resid",
        "user_models.RBPResid",
        "pairs",
        arguments=(("p", 0.9), ("quirk", True)),
        since=10,
    ),
    TrecMeasure("unj", "incomplete.Unj", "ranks", (5, 10, 20), since=10),
)

_NAMES = tuple(trec.name for trec in MEASURES)
_SETS = ("set_P", "set_recall", "set_relative_P", "set_map", "set_F")
_PREFERENCES = tuple(trec.name for trec in MEASURES if trec.view == "preferences")
GROUPS: dict[str, tuple[str, ...]] = {
    "official": _NAMES[: _NAMES.index("P") + 1],
    "set": ("runid", "num_q", "num_ret", "num_rel", "num_rel_ret", "utility", *_SETS),
    "all_trec": tuple(
        trec.name
        for trec in MEASURES
        if trec.view in ("judged", "any") and trec.name not in ("dcg", "ideal_dcg", "yaap")
    ),
    "all_prefs": ("runid", "num_q", *_PREFERENCES),
    "prefs": ("runid", "num_q", *_PREFERENCES[:6]),
    "qrels_jg": ("runid", "num_q", *(trec.name for trec in MEASURES if trec.view == "groups")),
}


def plan(options: Options) -> list[Line]:
    """The lines of the options, in trec_eval's order. Raises UnknownName, BadUsage."""
    marked = set[str]()
    offered = {trec.name: trec for trec in MEASURES if trec.since == 9 or not options.is_v9}
    for name in options.marked or ("official",):
        if name not in GROUPS and name not in offered:
            from rankwell.data.catalogue import suggest

            raise UnknownName(
                f"trec_eval: illegal measure {name!r}; {suggest(name, [*GROUPS, *offered])}"
            )
        marked.update(GROUPS.get(name, (name,)))
    return [
        line for trec in offered.values() if trec.name in marked for line in lines_of(trec, options)
    ]


def lines_of(trec: TrecMeasure, options: Options) -> Iterator[Line]:
    """The lines of one measure under its parameters: one per rank or share, else one. Raises
    BadUsage.
    """
    text = dict(options.parameters).get(trec.name)
    if trec.kind in ("ranks", "shares"):
        for cut in trec.defaults if text is None else _cuts(trec, text):
            end = f"{cut:d}" if trec.kind == "ranks" else f"{cut:3.2f}"
            arguments = _arguments(trec, options, {trec.parameter: cut})
            yield Line(f"{trec.name}_{end}", trec, arguments)
        return
    name, numbers, parameters = trec.name, trec.defaults, dict[str, Any]()
    if trec.kind != "plain" and text is not None:
        name += f"_{text}"
        if trec.kind == "pairs":
            parameters = _pairs(trec, text)
        else:
            numbers = tuple(map(number, text.split(",")))
    if trec.name == "utility":
        if len(numbers) != 4:
            raise BadUsage(f"utility takes 4 coefficients, {len(numbers)} were given.")
        parameters = dict(zip("abcd", numbers, strict=True)) | {"n_items": options.collection}
    elif trec.name == "11pt_avg":
        parameters = {"recalls": numbers}
    elif trec.name == "set_F":
        parameters = {"beta": numbers[0]}
    yield Line(name, trec, _arguments(trec, options, parameters), numbers)


def _cuts(trec: TrecMeasure, text: str) -> list[float]:
    """The ranks or shares of a list such as `5,7,3`, in ascending order."""
    read = leading_integer if trec.kind == "ranks" else number
    cuts = sorted(map(read, text.split(",")))
    if trec.kind == "ranks" and cuts[0] < 1:
        raise BadUsage(f"{trec.name}.{text}: {cuts[0]} is not a rank; expected positive integers.")
    if len(set(cuts)) < len(cuts):
        raise BadUsage(
            f"{trec.name}.{text}: a cut-off appears twice (duplicate cutoffs); name each once."
        )
    return cuts


def _pairs(trec: TrecMeasure, text: str) -> dict[str, Any]:
    """`1=3,2=9` as a gain per grade; rbp and rbp_resid take `p=0.8` as well."""
    parameters, gains = dict[str, Any](), dict[float, float]()
    for part in text.split(","):
        name, equals, value = part.partition("=")
        if not name or not equals:
            raise BadUsage(
                f"{trec.name}.{text}: parameters of this measure are pairs such as 1=3,2=9."
            )
        if name == "p" and trec.name.startswith("rbp"):
            parameters["p"] = number(value)
        elif name.lstrip("+-").isdigit():
            gains.setdefault(float(name), number(value))
    if gains and trec.name != "rbp_resid":
        parameters["gains"] = tuple(sorted(gains.items()))
    return parameters


def _arguments(
    trec: TrecMeasure, options: Options, parameters: dict[str, Any]
) -> tuple[tuple[str, Any], ...]:
    arguments = dict(trec.arguments) | parameters
    if trec.by_level and options.rel != 1:
        arguments["rel"] = options.rel
    if options.is_v9 and trec.name in ("iprec_at_recall", "11pt_avg"):
        arguments["rounding"] = "floor"
    return tuple(arguments.items())
