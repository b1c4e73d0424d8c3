"""Which measures say how far a candidate's neighbours are the reference's: the usual set, or what somebody asks for."""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple, get_args

from rankwell.core.registry import Measure, parse_measure
from rankwell.core.views.ranking_pairs import Gains
from rankwell.errors import BadUsage, UnknownName

_GAINS = re.compile(r"gains=(['\"]?)([\w-]+)\1,?")
# What needs two items, or half of the points beyond k, is undefined for all queries below.
_NEED_TWO = ("TauAP", "Spearman", "SpearmanUnion")
_NEED_HALF = ("Trustworthiness", "Continuity")

_RADOVANOVIC = "Radovanović, Nanopoulos and Ivanović 2010, Hubs in space"
FIGURES = {
    "CKA": ("linear centred kernel alignment of the vectors of the same items", "Kornblith and others 2019"),
    "CKA(kind='debiased')": ("the same from unbiased estimates; 0 in the mean by chance", "Nguyen, Raghu and Kornblith 2021"),
    "Hubness": ("skewness of how often an item is among the first k of a query", _RADOVANOVIC),
    "Hubness(kind='largest')": ("how often the most frequent item is among the first k", _RADOVANOVIC),
    "Hubness(kind='never')": ("share of the items that are among the first k of no query", _RADOVANOVIC),
}
"""Figures of whole collections, without a value per query: their definitions and sources."""


class Wanted(NamedTuple):
    """A measure of two lists, or of a candidate's list judged by the reference's.

    exact, label: its exact name, and the word that was used for it. gold_depth, gains: as in `RankingPairs.judged`.
    """

    measure: Measure
    exact: str
    label: str
    k: int | None
    gold_depth: int
    gains: Gains


def usual(ks: Sequence[int], n_candidates: int, eps: float) -> list[str]:
    """The usual measures at every cut-off that they have a value for. eps: the tolerance of similarity."""
    names: list[str] = []
    for k in ks:
        bare = ["Overlap", "Jaccard", "AO", "nDCG", "nDCG(gains='reciprocal-rank')", "nDCG(gains='similarity')", "AP", "RR"]
        bare += _NEED_TWO if k > 1 else ()
        bare += [f"EpsRecall(eps={eps!r})"]
        bare += _NEED_HALF if 2 * k < n_candidates + 1 else ()
        names += [f"{name}@{k}" for name in bare]
    deepest = max(ks)
    return [*names, *(f"RBO(kind={kind!r})@{deepest}" for kind in ("min", "res", "ext")), "MedR_first", "MnR_first"]


def bare_words(words: Sequence[str]) -> list[str]:
    """The words without their cut-offs, each once."""
    return list(dict.fromkeys(word.partition("@")[0] for word in words))


def wanted(
    texts: Sequence[str], ks: Sequence[int], words: Mapping[str, str], gold_depth: int | None, view: type | None = None
) -> tuple[Wanted, ...]:
    """The measures that texts name, at every cut-off of `ks` where a text names none; no measure twice.

    words: a convention's, as `parse_measure` takes them. gold_depth: None for as many as the cut-off. view: what all must read.
    Raises UnknownName and BadUsage as `parse_measure` does, and for a cut-off beyond the largest of `ks`.
    """
    found: dict[str, Wanted] = {}
    for text in texts:
        for spelled in _at_each(text.strip(), ks, words):
            each = _wanted(spelled, words, gold_depth, max(ks))
            if view is not None and each.measure.entry.view is not view:
                raise BadUsage(f"{each.exact} reads {each.measure.entry.view.__name__}, not {view.__name__}; leave it out.")
            found.setdefault(each.exact, each)
    return tuple(found.values())


def _at_each(text: str, ks: Sequence[int], words: Mapping[str, str]) -> list[str]:
    if "@" in text:
        return [text]
    try:
        parse_measure(_without_gains(f"{text}@{ks[0]}")[0], words)
    except UnknownName:
        raise
    except BadUsage:
        return [text]
    return [f"{text}@{k}" for k in ks]


def _wanted(text: str, words: Mapping[str, str], gold_depth: int | None, deepest: int) -> Wanted:
    bare, gains = _without_gains(text)
    # A convention's word is for items that are relevant or not.
    measure = parse_measure(bare, words if gains == "binary" else {})
    k = measure.cutoff
    if k is not None and k > deepest:
        raise BadUsage(f"{text} looks at {k} places, the lists have {deepest}; add {k} to -k.")
    name = str(measure)
    if gains != "binary":
        head, at, cut = name.partition("@")
        head = head.replace("(", f"(gains={gains!r},", 1) if "(" in head else f"{head}(gains={gains!r})"
        name = head + at + cut
    is_own = measure.name == text.split("(")[0].split("@")[0]
    return Wanted(measure, name, name if is_own else text, k, gold_depth or k or deepest, gains)


def _without_gains(text: str) -> tuple[str, Gains]:
    """The text without its gains, which are no parameter of a measure but of what it reads, and the gains."""
    match = _GAINS.search(text)
    if match is None:
        return text, "binary"
    for gains in get_args(Gains):
        if gains == match[2]:
            return (text[: match.start()] + text[match.end() :]).replace("()", "").replace(",)", ")"), gains
    raise UnknownName(f"no gains are called {match[2]!r} (in {text!r}); known are {', '.join(get_args(Gains))}.")
