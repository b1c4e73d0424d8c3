"""The directions in which a matrix of captions and videos is read, with the rules that hold in each."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, NamedTuple, get_args

import numpy as np

from rankwell.conventions import Asked, Convention, Direction, MatrixTies, VideoToText, choose_measures
from rankwell.errors import BadUsage, UnknownName
from rankwell.registry import parse_measure, suggest
from rankwell.tables import Ints, order_ids
from rankwell.tables.embeddings import Positions
from rankwell.tables.order import TIE_RULES

Which = Literal["both", "t2v", "v2t"]
Protocol = Literal["among-captions", "among-videos", "both"]
CUTOFFS = (1, 5, 10)
_OWN: tuple[MatrixTies, ...] = ("input-desc", "averaged", "multiplied")


class Way(NamedTuple):
    """A direction. name: `t2v`, `v2t` (the best caption among all captions) or `v2t-videos` (captions collapsed, among videos).

    ties: how items of equal score are placed. words: what the source's words mean here. down: whether the videos are the queries.
    """

    name: str
    ties: MatrixTies
    words: dict[str, str]
    down: bool = False
    collapsed: bool = False


def ways(convention: Convention, which: str, protocol: str | None, ties: str | None) -> list[Way]:
    """The directions that are asked for. Raises UnknownName for a direction, a protocol or a tie rule that does not exist."""
    if which not in get_args(Which):
        raise UnknownName(f"no direction is called {which!r}; the directions are {', '.join(get_args(Which))}.")
    known = (*get_args(VideoToText), "both")
    if protocol is not None and protocol not in known:
        raise UnknownName(f"no protocol from video to text is called {protocol!r}; {suggest(protocol, known)}")
    # Where no source says how ties are placed, a figure is its mean over all orders of tied items.
    t2v, v2t = (side or Direction(ties="expected") for side in (convention.t2v, convention.v2t))
    chosen = protocol or v2t.protocol
    found = [Way("t2v", _ties(ties, t2v), {**convention.words, **t2v.words})] if which != "v2t" else []
    for collapsed, name, label in ((False, "among-captions", "v2t"), (True, "among-videos", "v2t-videos")):
        if which != "t2v" and chosen in (name, "both"):
            found.append(Way(label, _ties(ties, v2t), {**convention.words, **v2t.words}, down=True, collapsed=collapsed))
    return found


def _ties(given: str | None, rules: Direction) -> MatrixTies:
    known: tuple[MatrixTies, ...] = (*TIE_RULES, *_OWN)
    if given is None:
        return rules.ties
    for rule in known:
        if rule == given:
            return rule
    raise UnknownName(f"no tie rule is called {given!r}; the rules are {', '.join(known)}.")


def tie_order(ties: MatrixTies, names: Sequence[str]) -> Ints | None:
    """(items,) the place of each item among items of equal score where the rule names one; None for the order of the table."""
    if ties == "input-desc":
        return np.arange(len(names))[::-1].copy()
    if ties not in ("id-asc", "id-desc"):
        return None
    place = np.empty(len(names), dtype=np.int64)
    place[order_ids(list(names))] = np.arange(len(names))
    return place if ties == "id-asc" else len(names) - 1 - place


def sorted_queries(names: Sequence[str]) -> Ints | None:
    """The order in which queries with ids are reported, that of the ids' bytes; None for queries known by position."""
    return None if isinstance(names, Positions) else order_ids(list(names))


def asked_for(texts: Sequence[str] | None, ks: Sequence[int] | None, convention: Convention, way: Way) -> tuple[Asked, ...]:
    """The measures of a direction: those named, or the convention's; at every cut-off of `ks` where they need one and name none.

    Raises UnknownName and BadUsage as `parse_measure` does.
    """
    named = list(texts or convention.defaults)
    if texts is None and ks is not None:
        named = list(dict.fromkeys(text.partition("@")[0] for text in named))
    spelled = [each for text in named for each in _at_each(text, ks or CUTOFFS, way)]
    return choose_measures(spelled, replace(convention, words=way.words))


def _at_each(text: str, ks: Sequence[int], way: Way) -> list[str]:
    if "@" in text:
        return [text]
    try:
        parse_measure(text, way.words)
    except UnknownName:
        raise
    except BadUsage:
        return [f"{text}@{k}" for k in ks]
    return [text]
