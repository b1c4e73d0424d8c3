"""trec_eval's measures in its order: under which name rankwell has each, with which parameters, and
how its lines look.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from rankwell.compat.trec_inputs import Options, leading_integer, number
from rankwell.errors import BadUsage, UnknownName

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

Summary = Literal["mean", "sum", "geometric", "none"]
Kind = Literal["plain", "ranks", "shares", "numbers", "pairs"]
View = Literal["judged", "groups", "preferences", "any"]

LEAST_FOR_GEOMETRIC = 0.00001
RANKS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
RECALLS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
MULTIPLES = (0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.4, 1.6, 1.8, 2.0)


class TrecMeasure(NamedTuple):
    """A measure of trec_eval.

    home: the file of rankwell.measures and the name there, `precision.P`; empty where no measure is
    behind it (runid, relstring). kind: the text behind the dot: none, ranks or shares (a line for
    each), numbers or `level=gain` pairs (one line). parameter: the name of a rank or share there.
    by_level: whether -l decides which items are relevant. arguments: further parameters there.
    is_integer: printed without decimals. single: printed for single queries.
    """

    name: str
    home: str = ""
    kind: Kind = "plain"
    defaults: tuple[float, ...] = ()
    parameter: str = "k"
    arguments: tuple[tuple[str, Any], ...] = ()
    by_level: bool = True
    summary: Summary = "mean"
    is_integer: bool = False
    single: bool = True
    view: View = "judged"
    since: int = 9


class Line(NamedTuple):
    """One line of output: the name as printed, the measure that it shows, and with which
    parameters.

    arguments: the parameters of rankwell's measure. numbers: those behind the dot of a measure that
    takes numbers.
    """

    name: str
    trec: TrecMeasure
    arguments: tuple[tuple[str, Any], ...]
    numbers: tuple[float, ...] = ()


class Evaluated(NamedTuple):
    """The values of all lines, before they are put together over queries.

    present: (queries,) whether the run has each. values: a row for each line, in it a value for
    each query: 1 for num_q, 0 for runid and relstring, logarithms for gm_map and gm_bpref. strings:
    the row of a relstring -> what it shows for each query. positives: items of any query with a
    grade above 0, whatever -l says.
    """

    queries: tuple[str, ...]
    present: list[bool]
    values: Sequence[Sequence[float]]
    positives: int = 0
    strings: Mapping[int, list[str]] = {}


def _counted(
    name: str, home: str, *, single: bool = True, by_level: bool = True, view: View = "judged"
) -> TrecMeasure:
    return TrecMeasure(
        name, home, summary="sum", is_integer=True, single=single, by_level=by_level, view=view
    )


# The last one, `avgjg_Rnonrel_imp`, is not a measure of trec_eval.
_PREFERRED = [
    f"prefs_{kind}{end}"
    for end in ("", "_ret", "_imp")
    for kind in ("simp", "pair", "avgjg", "avgjg_Rnonrel")
][:-1]


MEASURES: tuple[TrecMeasure, ...] = (
    TrecMeasure("runid", summary="none", single=False, view="any"),
    TrecMeasure("num_q", summary="sum", is_integer=True, single=False, view="any"),
    _counted("num_ret", "counts.NumRet", by_level=False),
    _counted("num_rel", "counts.NumRel"),
    _counted("num_rel_ret", "counts.NumRelRet"),
    TrecMeasure("map", "average_precision.AP"),
    TrecMeasure("gm_map", "average_precision.GMAP", summary="geometric", single=False),
    TrecMeasure("Rprec", "precision.Rprec"),
    TrecMeasure("bpref", "incomplete.Bpref"),
    TrecMeasure("recip_rank", "reciprocal_rank.RR"),
    TrecMeasure("iprec_at_recall", "average_precision.IPrec", "shares", RECALLS, "recall"),
    TrecMeasure("P", "precision.P", "ranks", RANKS),
    TrecMeasure("relstring", kind="numbers", defaults=(10,), summary="none"),
    TrecMeasure("recall", "precision.R", "ranks", RANKS),
    TrecMeasure("infAP", "incomplete.infAP"),
    TrecMeasure("gm_bpref", "incomplete.GMBpref", summary="geometric", single=False),
    TrecMeasure("Rprec_mult", "precision.RprecMult", "shares", MULTIPLES, "x"),
    TrecMeasure("utility", "precision.Utility", "numbers", (1.0, -1.0, 0.0, 0.0)),
    TrecMeasure("11pt_avg", "average_precision.IPrecAvg", "numbers", RECALLS),
    TrecMeasure("binG", "gain.BinG"),
    TrecMeasure("G", "gain.G", "pairs", by_level=False),
    TrecMeasure("dcg", "gain.DCG", "pairs", by_level=False, since=10),
    TrecMeasure("ideal_dcg", "gain.IDCG", "pairs", by_level=False, since=10),
    TrecMeasure("ndcg", "gain.nDCG", "pairs", by_level=False),
    TrecMeasure("ndcg_rel", "gain.nDCGrel", "pairs", by_level=False),
    TrecMeasure("Rndcg", "gain.RnDCG", "pairs", by_level=False),
    TrecMeasure("ndcg_cut", "gain.nDCG", "ranks", RANKS, by_level=False),
    TrecMeasure("map_cut", "average_precision.AP", "ranks", RANKS),
    TrecMeasure("relative_P", "precision.R", "ranks", RANKS, arguments=(("denom", "min"),)),
    TrecMeasure("success", "precision.Success", "ranks", (1, 5, 10)),
    TrecMeasure("set_P", "precision.SetP"),
    TrecMeasure("set_relative_P", "precision.SetP", arguments=(("relative", True),)),
    TrecMeasure("set_recall", "precision.SetR"),
    TrecMeasure("set_map", "average_precision.SetAP"),
    TrecMeasure("set_F", "precision.SetF", "numbers", (1.0,)),
    _counted("num_nonrel_judged_ret", "counts.NumNonrelJudgedRet"),
    _counted(
        "prefs_num_prefs_poss", "preferences.PrefsNumPoss", by_level=False, view="preferences"
    ),
    _counted("prefs_num_prefs_ful", "preferences.PrefsNumFul", by_level=False, view="preferences"),
    _counted(
        "prefs_num_prefs_ful_ret", "preferences.PrefsNumFulRet", by_level=False, view="preferences"
    ),
    *(
        TrecMeasure(
            name, f"preferences.{name.title().replace('_', '')}", by_level=False, view="preferences"
        )
        for name in _PREFERRED
    ),
    TrecMeasure("map_avgjg", "groups.AP_avgjg", view="groups"),
    TrecMeasure("P_avgjg", "groups.P_avgjg", "ranks", RANKS, view="groups"),
    TrecMeasure(
        "Rprec_mult_avgjg", "groups.RprecMult_avgjg", "shares", MULTIPLES, "x", view="groups"
    ),
    TrecMeasure("yaap", "average_precision.Yaap"),
    TrecMeasure(
        "rbp",
        "user_models.RBP",
        "pairs",
        arguments=(("p", 0.9), ("scale", "topic")),
        by_level=False,
        since=10,
    ),
    TrecMeasure(
        "rbp_resid",
        "user_models.RBPResid",
        "pairs",
        arguments=(("p", 0.9), ("quirk", True)),
        by_level=False,
        since=10,
    ),
    TrecMeasure("unj", "incomplete.Unj", "ranks", (5, 10, 20), by_level=False, since=10),
)

_OFFICIAL = tuple(trec.name for trec in MEASURES[: [trec.name for trec in MEASURES].index("P") + 1])
_SETS = ("set_P", "set_recall", "set_relative_P", "set_map", "set_F")
_PREFERENCES = tuple(trec.name for trec in MEASURES if trec.view == "preferences")
GROUPS: dict[str, tuple[str, ...]] = {
    "official": _OFFICIAL,
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
    offered = {trec.name: trec for trec in MEASURES if trec.since == 9 or not options.old}
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
        cuts = trec.defaults if text is None else _cuts(trec, text)
        for cut in cuts:
            name = f"{trec.name}_{cut:d}" if trec.kind == "ranks" else f"{trec.name}_{cut:3.2f}"
            yield Line(name, trec, _arguments(trec, options, ((trec.parameter, cut),)))
        return
    name, numbers = trec.name, trec.defaults
    if trec.kind != "plain" and text is not None:
        name = f"{trec.name}_{text}"
        if trec.kind == "pairs":
            yield Line(name, trec, _arguments(trec, options, _pairs(trec, text)))
            return
        numbers = tuple(map(number, text.split(",")))
    yield Line(name, trec, _arguments(trec, options, _named(trec, numbers, options)), numbers)


def _cuts(trec: TrecMeasure, text: str) -> list[float]:
    """The ranks or shares of a list such as `5,7,3`, in ascending order."""
    cuts = sorted(
        (leading_integer if trec.kind == "ranks" else number)(part) for part in text.split(",")
    )
    if trec.kind == "ranks" and cuts[0] < 1:
        raise BadUsage(f"{trec.name}.{text}: {cuts[0]} is not a rank; expected positive integers.")
    if len(set(cuts)) < len(cuts):
        raise BadUsage(
            f"{trec.name}.{text}: a cut-off appears twice (duplicate cutoffs); name each once."
        )
    return list(cuts)


def _named(
    trec: TrecMeasure, numbers: tuple[float, ...], options: Options
) -> tuple[tuple[str, Any], ...]:
    """The numbers behind a measure's dot as the parameters that rankwell's measure has for them."""
    if trec.name == "utility":
        if len(numbers) != 4:
            raise BadUsage(f"utility takes 4 coefficients, {len(numbers)} were given.")
        return (*zip("abcd", numbers, strict=True), ("n_items", options.collection))
    if trec.name == "11pt_avg":
        return (("recalls", numbers),)
    return (("beta", numbers[0]),) if trec.name == "set_F" else ()


def _pairs(trec: TrecMeasure, text: str) -> tuple[tuple[str, Any], ...]:
    """`1=3,2=9` as a gain per grade; rbp and rbp_resid take `p=0.8` as well."""
    name_values = [part.partition("=") for part in text.split(",")]
    if not all(name and equals for name, equals, _ in name_values):
        raise BadUsage(f"{trec.name}.{text}: parameters of this measure are pairs such as 1=3,2=9.")
    persistence = (
        [("p", number(value)) for name, _, value in name_values if name == "p"]
        if trec.name.startswith("rbp")
        else []
    )
    gains: dict[float, float] = {}
    for name, _, value in name_values:
        if name.lstrip("+-").isdigit():
            gains.setdefault(float(name), number(value))
    has_gains = bool(gains) and trec.name != "rbp_resid"
    return (*persistence[-1:], *([("gains", tuple(sorted(gains.items())))] if has_gains else []))


def _arguments(
    trec: TrecMeasure, options: Options, parameters: tuple[tuple[str, Any], ...]
) -> tuple[tuple[str, Any], ...]:
    arguments = dict((*trec.arguments, *parameters))
    if trec.by_level and options.rel != 1:
        arguments["rel"] = options.rel
    if options.old and trec.name in ("iprec_at_recall", "11pt_avg"):
        arguments["rounding"] = "floor"
    return tuple(arguments.items())
