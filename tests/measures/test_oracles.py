"""The oracles against published numbers: trec_eval's own checks, ir_measures, and figures worked by
hand.
"""

import inspect
import json
import math
import struct
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from oracles import (
    average_precision,
    counts,
    gain,
    groups,
    incomplete,
    intents,
    precision,
    preferences,
    reciprocal_rank,
    user_models,
)

HERE = Path(__file__).parent.parent
TREC = HERE.parents[1] / "shared" / "data" / "trec"
INPUTS = TREC / "trec_eval_v10"
HALF_A_DIGIT = 0.00005 + 1e-12  # trec_eval prints four decimals.

Row = list[str]
Judged = dict[str, dict]
Score = Callable[[list[str], dict], float]

# ---- trec_eval: names and parameters as it prints them
# ------------------------------------------------------------

SUMMED = {"num_q", "num_ret", "num_rel", "num_rel_ret", "num_nonrel_judged_ret"}
SUMMED |= {"prefs_num_prefs_poss", "prefs_num_prefs_ful", "prefs_num_prefs_ful_ret"}
NOT_MEASURES = {"runid", "relstring", "relstring_20"}

BINARY = {
    "num_rel": counts.NumRel,
    "num_rel_ret": counts.NumRelRet,
    "num_nonrel_judged_ret": counts.NumNonrelJudgedRet,
    "map": average_precision.AP,
    "gm_map": average_precision.GMAP,
    "set_map": average_precision.SetAP,
    "yaap": average_precision.Yaap,
    "Rprec": precision.Rprec,
    "set_P": precision.SetP,
    "set_relative_P": partial(precision.SetP, relative=True),
    "set_recall": precision.SetR,
    "set_F": precision.SetF,
    "recip_rank": reciprocal_rank.RR,
    "bpref": incomplete.Bpref,
    "gm_bpref": incomplete.GMBpref,
    "infAP": incomplete.infAP,
    "binG": gain.BinG,
    "map_avgjg": groups.AP_avgjg,
    "utility": precision.Utility,
}
PLAIN = {
    "num_q": counts.NumQ,
    "num_ret": counts.NumRet,
    "ndcg": gain.nDCG,
    "G": gain.G,
    "Rndcg": gain.RnDCG,
    "ndcg_rel": gain.nDCGrel,
    "rbp": partial(user_models.RBP, p=0.9, scale="topic"),
    "rbp_resid": partial(user_models.RBPResid, p=0.9, quirk=True),
    "prefs_simp": preferences.PrefsSimp,
    "prefs_pair": preferences.PrefsPair,
    "prefs_avgjg": preferences.PrefsAvgjg,
    "prefs_avgjg_Rnonrel": preferences.PrefsAvgjgRnonrel,
    "prefs_simp_ret": preferences.PrefsSimpRet,
    "prefs_pair_ret": preferences.PrefsPairRet,
    "prefs_avgjg_ret": preferences.PrefsAvgjgRet,
    "prefs_avgjg_Rnonrel_ret": preferences.PrefsAvgjgRnonrelRet,
    "prefs_simp_imp": preferences.PrefsSimpImp,
    "prefs_pair_imp": preferences.PrefsPairImp,
    "prefs_avgjg_imp": preferences.PrefsAvgjgImp,
    "prefs_num_prefs_poss": preferences.PrefsNumPoss,
    "prefs_num_prefs_ful": preferences.PrefsNumFul,
    "prefs_num_prefs_ful_ret": preferences.PrefsNumFulRet,
}
AT_K = {
    "P": precision.P,
    "recall": precision.R,
    "relative_P": partial(precision.R, denom="min"),
    "success": precision.Success,
    "map_cut": average_precision.AP,
    "P_avgjg": groups.P_avgjg,
}
AT_K_PLAIN = {"ndcg_cut": gain.nDCG, "unj": incomplete.Unj}


def trec_measure(name: str, *, rel: int, rounding: str) -> Score:
    """The oracle, parameters bound, behind a measure name that trec_eval printed."""
    if name in BINARY:
        return partial(BINARY[name], rel=rel)
    if name in PLAIN:
        return PLAIN[name]
    base, _, value = name.rpartition("_")
    if base in AT_K:
        return partial(AT_K[base], k=int(value), rel=rel)
    if base in AT_K_PLAIN:
        return partial(AT_K_PLAIN[base], k=int(value))
    if base == "iprec_at_recall":
        return partial(average_precision.IPrec, recall=float(value), rel=rel, rounding=rounding)
    if base == "Rprec_mult":
        return partial(precision.RprecMult, x=float(value), rel=rel)
    if base == "Rprec_mult_avgjg":
        return partial(groups.RprecMult_avgjg, x=float(value), rel=rel)
    if name == "11pt_avg":
        return partial(average_precision.IPrecAvg, rel=rel, rounding=rounding)
    if base == "11pt_avg":
        recalls = tuple(float(part) for part in value.split(","))
        return partial(average_precision.IPrecAvg, rel=rel, rounding=rounding, recalls=recalls)
    if base == "utility":
        return partial(
            precision.Utility,
            rel=rel,
            **dict(zip("abcd", map(float, value.split(",")), strict=True)),
        )
    if base == "ndcg":
        pairs = (part.split("=") for part in value.split(","))
        return partial(gain.nDCG, gains={float(grade): float(worth) for grade, worth in pairs})
    raise KeyError(name)


# ---- trec_eval: files
# ---------------------------------------------------------------------------------------------


def rows_of(path: Path) -> Iterator[Row]:
    """The fields of each line, without comment lines."""
    for line in path.read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            yield line.split()


def as_float32(score: float) -> float:
    """The score as trec_eval 9 stores it."""
    return struct.unpack("f", struct.pack("f", score))[0]


def read_run(path: Path, *, version: int, ids_descending: bool = True) -> dict[str, list[str]]:
    """Each query's ranking: score descending, ties by item id, descending except among
    preferences.
    """
    scored: dict[str, list[tuple[float, str]]] = {}
    for query, _, item, _, score, *_ in rows_of(path):
        value = as_float32(float(score)) if version == 9 else float(score)
        scored.setdefault(query, []).append((value, item))
    rankings = {}
    for query, pairs in scored.items():
        pairs.sort(key=lambda pair: pair[1], reverse=ids_descending)
        pairs.sort(key=lambda pair: pair[0], reverse=True)
        rankings[query] = [item for _, item in pairs]
    return rankings


def read_qrels(path: Path) -> Judged:
    """Query to item to grade."""
    judged: Judged = {}
    for query, _, item, grade in rows_of(path):
        judged.setdefault(query, {})[item] = int(grade)
    return judged


def read_groups(path: Path) -> Judged:
    """Query to judgment group to item to grade."""
    judged: Judged = {}
    for query, group, item, grade in rows_of(path):
        judged.setdefault(query, {}).setdefault(group, {})[item] = int(grade)
    return judged


def read_prefs(path: Path) -> dict[str, list]:
    """Query to preference rows."""
    judged: dict[str, list] = {}
    for query, group, subgroup, item, level in rows_of(path):
        judged.setdefault(query, []).append((group, subgroup, item, float(level)))
    return judged


def read_qrels_prefs(path: Path) -> dict[str, list]:
    """Query to preference rows, one subgroup per group."""
    judged: dict[str, list] = {}
    for query, group, item, level in rows_of(path):
        judged.setdefault(query, []).append((group, "0", item, float(level)))
    return judged


def summary(name: str, values: list[float]) -> float:
    """trec_eval's line for all queries: a sum for counts, a geometric mean for gm_, else the
    mean.
    """
    if name in SUMMED:
        return sum(values)
    if name.startswith("gm_"):
        return math.exp(sum(math.log(max(value, 0.00001)) for value in values) / len(values))
    return sum(values) / len(values)


class Case(NamedTuple):
    """One command of trec_eval's own quick test, and how many values it prints in versions 9 and 10
    (0: not run).
    """

    expected: str
    qrels: str
    run: str
    n_values: tuple[int, int]
    read: Callable[[Path], dict] = read_qrels
    rel: int = 1
    depth: int | None = None
    complete: bool = False
    zscores: bool = False

    def __str__(self) -> str:
        return f"{self.expected}-{self.qrels}"


PREFS, QRELS_PREFS, GROUPS = {"read": read_prefs}, {"read": read_qrels_prefs}, {"read": read_groups}
CASES = [
    Case("out.test", "qrels.test", "results.test", (29, 29)),
    Case("out.test", "qrels.test.with-comments", "results.test", (0, 29)),
    Case("out.comment.test", "qrels.comment.test", "results.comment.test", (0, 29)),
    Case("out.test.a", "qrels.test", "results.test", (93, 98)),
    Case("out.test.aq", "qrels.test", "results.test", (363, 383)),
    Case("out.test.aqZ", "qrels.test", "results.test", (0, 383), zscores=True),
    Case("out.test.aqc", "qrels.test", "results.trunc", (273, 383), complete=True),
    Case("out.test.aqcM", "qrels.test", "results.trunc", (273, 383), complete=True, depth=100),
    Case("out.test.aql", "qrels.rel_level", "results.test", (363, 383), rel=2),
    Case("out.test.meas_params", "qrels.test", "results.test", (88, 88)),
    Case("out.test.qrels_jg", "qrels.123", "results.test", (81, 81), **GROUPS),
    Case("out.test.qrels_jg", "qrels.comments.123", "results.test", (0, 81), **GROUPS),
    Case("out.test.prefs", "prefs.test", "prefs.results.test", (351, 351), **PREFS),
    Case("out.test.prefs", "prefs.comment.test", "prefs.results.test", (0, 351), **PREFS),
    # Four seconds each, and version 9 prints the same file byte for byte.
    Case("out.test.qrels_prefs", "qrels.test", "results.test", (0, 57), **QRELS_PREFS),
]
RUNS = [
    (case, version)
    for case in CASES
    for version, n in zip((9, 10), case.n_values, strict=True)
    if n
]


def expected_file(case: Case, version: int) -> Path:
    """Where the numbers of this version lie."""
    folder = "trec_eval_v10" if version == 10 else "trec_eval_v9_expected"
    return TREC / folder / case.expected


def printed_lines(case: Case, version: int) -> Iterator[tuple[str, str, float]]:
    """Measure, query and value of each line that is a measure."""
    for line in expected_file(case, version).read_text().splitlines():
        name, query, text = line.split("\t")
        name = name.strip().removeprefix("Z" if case.zscores else "")
        if name not in NOT_MEASURES:
            yield name, query, float(text)


def standardised(values: dict[str, dict[str, float]]) -> None:
    """Every value minus a mean and over a deviation both read from zscores_file (trec_eval -Z)."""
    scale = {
        (query, name): (float(mean), float(sd))
        for query, name, mean, sd in rows_of(INPUTS / "zscores_file")
    }
    for name, of_query in values.items():
        for query, value in of_query.items():
            mean, deviation = scale.get((query, name), (math.nan, 1.0))
            of_query[query] = (value - mean) / deviation if deviation else 0.0


# Every day the newer version where both print the case.
DAILY_RUNS = [
    pytest.param(case, version, marks=[pytest.mark.slow] * (version == 9 and (case, 10) in RUNS))
    for case, version in RUNS
]


def in_trec_eval(name: str, truth: Any) -> Any:
    """The truth of a query without the negative grades that are no judgments to trec_eval."""
    if name == "infAP" or not isinstance(truth, dict):
        return truth
    return {
        item: in_trec_eval(name, grade)
        for item, grade in truth.items()
        if isinstance(grade, dict) or grade >= 0
    }


@pytest.mark.parametrize(("case", "version"), DAILY_RUNS, ids=str)
@pytest.mark.skipif(
    not TREC.exists(), reason="trec_eval's golden files are not in ../shared/data/trec"
)
def test_the_oracles_print_what_trec_eval_prints(case: Case, version: int) -> None:
    judged = case.read(INPUTS / case.qrels)
    in_prefs = case.read in (read_prefs, read_qrels_prefs)
    run = read_run(INPUTS / case.run, version=version, ids_descending=not in_prefs)
    rankings = {
        query: run.get(query, [])[: case.depth] for query in judged if query in run or case.complete
    }
    rounding = "nearest" if version == 10 else "floor"
    printed = list(printed_lines(case, version))

    values: dict[str, dict[str, float]] = {}
    for name in dict.fromkeys(name for name, _, _ in printed):
        score = trec_measure(name, rel=case.rel, rounding=rounding)
        values[name] = {
            query: score(rankings[query], in_trec_eval(name, judged[query])) for query in rankings
        }
    if case.zscores:
        standardised(values)

    wrong = []
    for name, query, wanted in printed:
        found = (
            summary(name, list(values[name].values())) if query == "all" else values[name][query]
        )
        if abs(found - wanted) > HALF_A_DIGIT:
            wrong.append((name, query, found, wanted))
    assert not wrong, wrong
    assert len(printed) == case.n_values[version == 10]


@pytest.mark.skipif(
    not TREC.exists(), reason="trec_eval's golden files are not in ../shared/data/trec"
)
def test_trec_eval_9_and_10_agree_on_preferences() -> None:
    for case in CASES:
        if case.read in (read_prefs, read_qrels_prefs):
            assert expected_file(case, 9).read_bytes() == expected_file(case, 10).read_bytes()


@pytest.mark.parametrize(
    ("query", "wanted"), [("301", -3.3350), ("302", -0.3246), ("303", -1.6975)]
)
@pytest.mark.skipif(
    not TREC.exists(), reason="trec_eval's golden files are not in ../shared/data/trec"
)
def test_yaap_is_what_trec_eval_prints_though_its_own_test_leaves_it_out(
    query: str, wanted: float
) -> None:
    # `trec_eval -q -m yaap qrels.test results.test`, versions 9.0.8 and 10, 2026-11-20.
    judged, run = read_qrels(INPUTS / "qrels.test"), read_run(INPUTS / "results.test", version=10)

    assert average_precision.Yaap(run[query], judged[query]) == pytest.approx(
        wanted, abs=HALF_A_DIGIT
    )


# ---- ir_measures
# --------------------------------------------------------------------------------------------------

ORACLES = {
    name: getattr(module, name)
    for module in (
        counts,
        precision,
        average_precision,
        reciprocal_rank,
        gain,
        user_models,
        incomplete,
        intents,
    )
    for name in vars(module)
    if name != "ir_measures"
}
# Where the two mean different things; each is explained in the oracle's docstring or here.
UNLIKE: dict[tuple[str, str], Callable[[str], bool]] = {
    # It gives every measure 0 for a query without ranking; these do not depend on the ranking.
    ("pytrec_eval", "NumQ"): lambda query: query == "3",
    ("pytrec_eval", "NumRel"): lambda query: query == "3",
    # trec_eval divides 0 by 0 where nothing judged is retrieved; the definition has nothing to take
    # the best of.
    ("pytrec_eval", "IPrec"): lambda query: query == "7",
}


def oracle_call(entry: dict) -> Score:
    """The oracle behind a measure of the golden file, parameters bound under our names."""
    params = dict(entry["params"])
    if "cutoff" in params:
        params["k"] = params.pop("cutoff")
    if "gains" in params:
        params["gains"] = dict(params["gains"])
    if entry["measure"] == "IPrec":
        params["rounding"] = "floor"
    if (entry["provider"], entry["measure"]) == ("cwl_eval", "AP"):
        params["denom"] = "found"
    return partial(ORACLES[entry["measure"]], **params)


def ranked(scores: dict[str, float]) -> list[str]:
    """The items by falling score; no two are equal in these files."""
    return sorted(scores, key=lambda item: -scores[item])


def golden(name: str) -> dict:
    """A committed golden file."""
    return json.loads((HERE / "golden" / "ir_measures-0.4.3" / name).read_text())


GRADED, INTENTS = golden("graded.json"), golden("intents.json")


def same(found: float, wanted: float | None, tolerance: float) -> bool:
    """Whether the values agree; where ir_measures has none we have NaN."""
    if wanted is None:
        return math.isnan(found)
    return abs(found - wanted) <= tolerance


@pytest.mark.parametrize(
    "entry", GRADED["measures"], ids=lambda entry: f"{entry['provider']}-{entry['measure']}"
)
def test_the_oracles_agree_with_ir_measures(entry: dict) -> None:
    score = oracle_call(entry)
    unlike = UNLIKE.get((entry["provider"], entry["measure"]), lambda query: False)
    tolerance = 0.000005 + 1e-9 if entry["provider"] == "gdeval" else 1e-9

    wrong = []
    for query, wanted in zip(GRADED["queries"], entry["values"], strict=True):
        truth = GRADED["qrels"][query]
        truth = (
            in_trec_eval(entry["measure"], truth) if entry["provider"] == "pytrec_eval" else truth
        )
        found = score(ranked(GRADED["run"].get(query, {})), truth)
        if not unlike(query) and not same(found, wanted, tolerance):
            wrong.append((query, found, wanted))
    assert not wrong, (entry["params"], wrong)


@pytest.mark.parametrize("entry", INTENTS["measures"], ids=lambda entry: entry["measure"])
def test_the_intent_oracles_agree_with_pyndeval(entry: dict) -> None:
    score = oracle_call(entry)

    wrong = []
    for query, wanted in zip(INTENTS["queries"], entry["values"], strict=True):
        found = score(ranked(INTENTS["run"].get(query, {})), INTENTS["intents"][query])
        if wanted is None:  # ndeval divides 0 by 0 in nNRBP if no intent has a relevant item.
            wanted = 0.0
        if not same(found, wanted, 1e-9):
            wrong.append((query, found, wanted))
    assert not wrong, (entry["params"], wrong)


# ---- trec_eval on lists as short as the edges of its definitions
# -----------------------------------------------------

# `trec_eval -q -m Rndcg -m ndcg_rel -m G -m binG -m infAP -m bpref -m rbp -m rbp_resid qrels run`,
# version 10, 2026-11-20.
SHORT_GRADES = {"a": 1, "b": 2, "c": 3, "d": 2, "z": 0, "m": -1}
SHORT = {
    "abcx": (0.5697, 0.5600, 0.4241, 0.7500, 0.7500, 0.7500, 0.1743, 0.7290),
    "axbcy": (0.4306, 0.4675, 0.3467, 0.5655, 0.6042, 0.7500, 0.1602, 0.7461),
    "axzbmc": (0.3413, 0.4224, 0.2966, 0.4827, 0.5278, 0.2500, 0.1410, 0.6871),
    "cdaxyzmb": (0.9222, 0.9631, 0.8006, 0.8467, 0.8984, 0.7500, 0.2189, 0.6221),
}


@pytest.mark.parametrize(("ranking", "wanted"), SHORT.items(), ids=str)
def test_short_lists_get_what_trec_eval_prints(ranking: str, wanted: tuple[float, ...]) -> None:
    names = ("Rndcg", "ndcg_rel", "G", "binG", "infAP", "bpref", "rbp", "rbp_resid")

    found = [
        trec_measure(name, rel=1, rounding="nearest")(
            list(ranking), in_trec_eval(name, SHORT_GRADES)
        )
        for name in names
    ]

    assert found == pytest.approx(wanted, abs=HALF_A_DIGIT)


def test_gains_of_its_own_rank_the_ideal_too() -> None:
    # `-m Rndcg.1=4,2=1 -m ndcg_rel.1=4,2=1 -m G.1=4,2=1` on the last of these lists.
    found = [
        oracle(list("cdaxyzmb"), SHORT_GRADES, gains={1: 4, 2: 1})
        for oracle in (gain.RnDCG, gain.nDCGrel, gain.G)
    ]

    assert found == pytest.approx([0.7657, 0.7796, 0.7456], abs=HALF_A_DIGIT)


def test_gains_closer_than_1_are_in_exact_order_which_trec_eval_gets_wrong() -> None:
    # `-m ndcg.1=3,2=1,0=0.5` prints 0.8608: its comparison truncates 1 - 0.5 to 0, so the ideal
    # list is out of order.
    ideal = 3 + 3 / math.log2(3) + 1 / 2 + 1 / math.log2(5) + 0.5 / math.log2(6)

    value = gain.nDCG(list("abcx"), SHORT_GRADES, gains={1: 3, 2: 1, 0: 0.5})

    assert value == pytest.approx((3 + 1 / math.log2(3) + 3 / 2) / ideal)


# `trec_eval -q -R prefs -m all_prefs prefs run`, versions 9.0.8 and 10, 2026-11-20: one group with
# subgroups, one without.
SHORT_PREFS = [
    *[
        ("g", "1", item, level)
        for item, level in (("good", 2.0), ("x", 0.0), ("y", 0.0), ("z", 0.0))
    ],
    *[("g", "2", item, level) for item, level in (("best", 3.0), ("good", 2.0), ("w", 0.0))],
    *[("h", "1", item, level) for item, level in (("x", 1.0), ("y", 0.0), ("w", 0.0), ("v", 0.0))],
]
PREFS_NAMES = [name for name in PLAIN if name.startswith("prefs")]
SHORT_PREFS_VALUES = {
    "x good y z": (
        0.5,
        0.5,
        0.6667,
        0.225,
        0.75,
        0.75,
        0.8333,
        0.75,
        0.5455,
        0.5455,
        0.6875,
        12,
        6,
        3,
    ),
    "x w good y z best": (
        0.4167,
        0.4167,
        0.6111,
        0.125,
        0.3636,
        0.3636,
        0.6111,
        0.1667,
        0.4167,
        0.4167,
        0.6111,
        12,
        5,
        4,
    ),
    "w v y x": (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 12, 0, 0),
    "good x z": (0.5833, 0.5833, 0.7222, 0.325, 1, 1, 0.5, 1, 0.7, 0.7, 0.7857, 12, 7, 2),
}


@pytest.mark.parametrize(("ranking", "wanted"), SHORT_PREFS_VALUES.items(), ids=str)
def test_preferences_of_short_lists_get_what_trec_eval_prints(
    ranking: str, wanted: tuple[float, ...]
) -> None:
    found = [PLAIN[name](ranking.split(), SHORT_PREFS) for name in PREFS_NAMES]

    assert found == pytest.approx(wanted, abs=HALF_A_DIGIT)


# ---- by hand
# --------------------------------------------------------------------------------------------------

FIXTURE_RANKING, FIXTURE_GRADES = ["a", "b", "c", "x"], {"a": 1, "b": 2, "c": 3, "d": 2}
FIXTURE = [
    (gain.nDCG, {"k": 3}, 0.71493),
    (gain.nDCG, {"k": 3, "dcg": "exp-log2"}, 0.61512),
    (user_models.ERR, {"k": 3}, 0.26147),
    (user_models.RBP, {"p": 0.5, "rel": 1}, 0.875),
    (gain.SDCG, {"k": 3, "max_rel": 3}, 0.58845),
    (user_models.INST, {"max_rel": 3}, 0.41754),
    (user_models.INSQ, {"max_rel": 3}, 0.34151),
    (user_models.NERR8, {"k": 3, "max_rel": 3}, 0.52941),
    (user_models.NERR9, {"k": 3, "max_rel": 3}, 0.44737),
    (user_models.NERR10, {"max_rel": 3}, 0.51311),
    (user_models.NERR11, {"max_rel": 3}, 0.43379),
    (user_models.BPM, {"k": 3, "max_rel": 3}, 0.5),
    (user_models.Compat, {"p": 0.8}, 0.41012),
    (incomplete.infAP, {}, 0.74999792),
    (incomplete.Bpref, {}, 0.75),
    (average_precision.AP, {"k": 2}, 0.5),
    (average_precision.IPrec, {"recall": 0.5}, 1.0),
]


@pytest.mark.parametrize(
    ("oracle", "params", "wanted"), FIXTURE, ids=lambda part: getattr(part, "__name__", None)
)
def test_the_fixture_of_the_research_note_holds(oracle: Score, params: dict, wanted: float) -> None:
    assert oracle(FIXTURE_RANKING, FIXTURE_GRADES, **params) == pytest.approx(wanted, abs=0.000005)


WORKED = [
    (precision.P, {"k": 10, "denom": "retrieved"}, 3 / 4),
    (precision.R, {"k": 2, "denom": "min"}, 1.0),
    (precision.F, {"k": 2}, 2 / 3),
    (precision.F, {"k": 8, "beta": 2.0}, 5 * 3 / 8 * 3 / 4 / (4 * 3 / 8 + 3 / 4)),
    (average_precision.AP, {"k": 2, "denom": "min"}, 1.0),
    (average_precision.AP, {"denom": "found"}, 1.0),
    (average_precision.APatR, {"rel": 2}, (1 / 2 + 2 / 3) / 3),
    (average_precision.Yaap, {}, math.log(4 / 2)),
    (precision.Utility, {"c": -2.0, "d": 0.1, "n_items": 100}, 3 - 1 - 2 + 9.5),
    (counts.NumRet, {"k": 3, "rel": 2}, 2.0),
    (gain.nDCG, {"rel": 3}, 1 / 2),
    (gain.nDCG, {"dcg": "binary-log2", "rel": 3}, 1 / 2),
    (
        gain.nDCG,
        {"dcg": "binary-log2"},
        1 - 1 / math.log2(5) / (1 + 1 / math.log2(3) + 1 / 2 + 1 / math.log2(5)),
    ),
    (gain.DCG, {"k": 1, "dcg": "exp-log2"}, 1.0),
    (gain.IDCG, {"k": 2}, 3 + 2 / math.log2(3)),
    (user_models.RBP, {"p": 0.5, "k": 2}, 0.5 * (1 + 2 * 0.5)),
    (user_models.RBP, {"p": 0.5, "k": 2, "scale": "topic"}, 0.5 * (1 / 3 + 2 / 3 * 0.5)),
    (user_models.RBP, {"p": 0.5, "k": 2, "scale": "max", "max_rel": 2}, 0.5 * (1 / 2 + 0.5)),
    (user_models.RBP, {"p": 0.5, "scale": "max", "max_rel": 2}, 0.5 * (1 / 2 + 1 / 2 + 1 / 4)),
    (user_models.RBPResid, {}, 0.8**4 + 0.2 * 0.8**3),
    (user_models.RBPResid, {"p": 0.5}, 0.5**4 + 0.5 * 0.5**3),
    (user_models.RBPResid, {"p": 0.5, "k": 3}, 0.5**3),
    (user_models.RBPResid, {"p": 0.5, "k": 3, "quirk": True}, 0.0),
    (user_models.INSQ, {"max_rel": 3, "k": 1}, 1 / 3),
    (user_models.Compat, {"k": 1}, 0.0),
    (incomplete.Unj, {"k": 8}, 1 / 8),
    (incomplete.Judged, {}, 3 / 4),
    (incomplete.Accuracy, {"rel": 2}, 2 / 4),
]


@pytest.mark.parametrize(
    ("oracle", "params", "wanted"), WORKED, ids=lambda part: getattr(part, "__name__", None)
)
def test_what_no_tool_computes_is_worked_by_hand(
    oracle: Score, params: dict, wanted: float
) -> None:
    assert oracle(FIXTURE_RANKING, FIXTURE_GRADES, **params) == pytest.approx(wanted, abs=1e-12)


def test_the_first_item_serving_two_of_three_intents_scores_2_as_in_ndeval_and_two_thirds_without_its_quirk() -> (  # noqa: E501
    None
):
    grades = {"sea": {"a": 1}, "land": {"a": 1}, "air": {"b": 1}}

    for oracle in (intents.alpha_DCG, intents.ERR_IA):
        assert oracle(["a", "b"], grades, k=1) == 2.0
        assert oracle(["a", "b"], grades, k=1, quirk=False) == pytest.approx(2 / 3)


def test_judged_only_keeps_what_is_judged_for_any_intent_before_the_cut() -> None:
    grades = {"sea": {"a": 1, "b": -1}, "land": {"c": 0, "d": 1}}

    for oracle in (
        intents.alpha_DCG,
        intents.alpha_nDCG,
        intents.ERR_IA,
        intents.nERR_IA,
        intents.P_IA,
    ):
        assert oracle(["x", "c", "b", "d", "a"], grades, k=2, judged_only=True) == oracle(
            ["c", "b"], grades, k=2
        )
    assert intents.AP_IA(["x", "c", "b", "d", "a"], grades, judged_only=True) == intents.AP_IA(
        ["c", "b", "d", "a"], grades
    )
    assert intents.AP_IA(["x", "a"], grades) == 1 / 4


def test_a_group_rich_in_non_relevant_items_keeps_as_many_as_it_has_relevant_ones() -> None:
    rows = [
        ("g", "s", "good", 1.0),
        ("g", "s", "x", 0.0),
        ("g", "s", "y", 0.0),
        ("g", "s", "z", 0.0),
    ]
    ranking = ["x", "good", "y", "z"]

    # Only x is kept, and it is above.
    assert preferences.PrefsAvgjgRnonrel(ranking, rows, quirk=False) == 0.0
    assert preferences.PrefsAvgjgRnonrel(ranking, rows, quirk=True) == 0.0
    assert preferences.PrefsAvgjgRnonrel(["good", *ranking[2:], "x"], rows, quirk=False) == 1.0
    # trec_eval also compares y with y, z and x: one preference out of four is fulfilled.
    assert preferences.PrefsAvgjgRnonrel(["good", *ranking[2:], "x"], rows, quirk=True) == 1 / 4


def test_preferences_chain_through_subgroups_and_contradictions_are_refused() -> None:
    rows = [("g", "1", "a", 2.0), ("g", "1", "b", 1.0), ("g", "2", "b", 2.0), ("g", "2", "c", 1.0)]

    assert preferences.PrefsNumPoss([], rows) == 3.0
    assert preferences.PrefsSimp(["a", "c", "b"], rows) == pytest.approx(2 / 3)
    with pytest.raises(ValueError, match="contradicting"):
        preferences.PrefsSimp([], [*rows, ("g", "3", "c", 2.0), ("g", "3", "a", 1.0)])


# ---- nothing to look at
# -------------------------------------------------------------------------------------------

NEEDED = {"k": 5, "recall": 0.5, "max_rel": 4, "n_items": 9}
FAMILIES = (
    counts,
    precision,
    average_precision,
    reciprocal_rank,
    gain,
    user_models,
    incomplete,
    intents,
    groups,
    preferences,
)


def is_measure(name: str) -> bool:
    """Measures are spelled with a capital somewhere, helpers are not."""
    return name != name.lower()


def needed(oracle: Score) -> dict:
    """A value for each parameter without default."""
    parameters = inspect.signature(oracle).parameters.values()
    return {
        one.name: NEEDED[one.name]
        for one in parameters
        if one.kind is one.KEYWORD_ONLY and one.default is one.empty
    }


MEASURES = [
    oracle
    for family in FAMILIES
    for name, oracle in vars(family).items()
    if inspect.isfunction(oracle) and oracle.__module__ == family.__name__ and is_measure(name)
]


# Here no level means: every item, or the grade itself as gain.
NO_LEVEL = {counts.NumRet, user_models.RBP, gain.DCG, gain.IDCG, gain.nDCG}


@pytest.mark.parametrize("oracle", MEASURES, ids=lambda oracle: oracle.__name__)
def test_relevant_means_grade_1_unless_said_otherwise(oracle: Score) -> None:
    parameters = inspect.signature(oracle).parameters

    if "rel" in parameters:
        assert parameters["rel"].default == (None if oracle in NO_LEVEL else 1)


@pytest.mark.parametrize("oracle", MEASURES, ids=lambda oracle: oracle.__name__)
def test_an_empty_ranking_of_an_unjudged_query_is_worth_nothing(oracle: Score) -> None:
    value = oracle([], [] if oracle.__module__ == preferences.__name__ else {}, **needed(oracle))

    if oracle is incomplete.Accuracy:
        assert math.isnan(value)
    else:
        assert value == {"NumQ": 1.0, "RBPResid": 1.0}.get(oracle.__name__, 0.0)


@pytest.mark.parametrize(
    "oracle", [gain.nDCG, gain.RnDCG, gain.nDCGrel, gain.G, gain.BinG, user_models.Compat]
)
def test_a_query_where_nothing_gains_is_worth_nothing_however_long_the_list(oracle: Score) -> None:
    assert oracle(["a", "x", "b"], {"a": 0, "b": -1}) == 0.0
