"""The directions in which a matrix of captions and videos is read, with the rules that hold in each."""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from rankwell.conventions import Convention, LabelledMeasure, choose_measures
from rankwell.core.registry import Measure, parse_measure
from rankwell.core.tables import TIE_RULES, Ints, MatrixTies, order_ids
from rankwell.core.tables.names import Positions
from rankwell.errors import BadUsage, UnknownName
from rankwell.tasks.captions.conventions import CaptionConvention, DirectionRules

CUTOFFS = (1, 5, 10)
_OWN: tuple[MatrixTies, ...] = ("input-desc", "averaged", "multiplied")
_FLAGGED: dict[MatrixTies, str] = {
    "averaged": (
        "a tied positive has the mean of its places as its rank: R@1 wants exactly 1, R@K for larger K a rank below K + 1; "
        "that is no expected value"
    ),
    "multiplied": "a query with a tied positive counts once for each place of the tie: n is the number of places, not of queries",
}


class Direction(NamedTuple):
    """A direction. name: `t2v`, `v2t` (the best caption among all captions) or `v2t-videos` (captions collapsed, among videos).

    ties: the tie rule. words: the meanings of the source's words here. video_to_text: whether the videos are the queries.
    """

    name: str
    ties: MatrixTies
    words: dict[str, str]
    video_to_text: bool = False
    collapsed: bool = False


def chosen_directions(convention: Convention, which: str, protocol: str | None, ties: str | None) -> list[Direction]:
    """The requested directions. Raises UnknownName for a tie rule that does not exist, BadUsage for an unused protocol."""
    if protocol is not None and which == "t2v":
        raise BadUsage(f"the protocol {protocol} is of video to text, and only t2v is asked for; leave one of them out.")
    rules: CaptionConvention = convention.tasks.get("captions", CaptionConvention())
    t2v, v2t, _ = rules
    words = {side: {**convention.words, **convention.words_of_parts.get(side, {})} for side in ("t2v", "v2t")}
    chosen = protocol or v2t.protocol
    found = [Direction("t2v", _ties(ties, t2v), words["t2v"])] if which != "v2t" else []
    for collapsed, name, label in ((False, "among-captions", "v2t"), (True, "among-videos", "v2t-videos")):
        if which != "t2v" and chosen in (name, "both"):
            found.append(Direction(label, _ties(ties, v2t), words["v2t"], video_to_text=True, collapsed=collapsed))
    return found


def notes_of(convention: Convention, chosen: Sequence[Direction], own: Collection[str]) -> list[str]:
    """What is to be said of the rules in force: nothing of those that the user has a rule of their own for.

    own: the names of these (`ties`, `no_relevant`, `protocol`). A convention that knows no score matrices gives words and unit.
    """
    notes = list(convention.notes)
    for rule, told in convention.rule_notes.items():
        notes += told if rule not in own and (rule != "protocol" or any(each.collapsed for each in chosen)) else ()
    if "captions" not in convention.tasks:
        kept = "" if "ties" in own else f", and ties are {chosen[0].ties}"
        notes = [f"the convention {convention.name} knows no score matrices: its words, measures and unit are used{kept}"]
    for rule, flag in _FLAGGED.items():
        where = [each.name for each in chosen if each.ties == rule]
        notes += [f"ties={rule} ({', '.join(where)}): {flag}"] if where else []
    return notes


def _ties(given: str | None, rules: DirectionRules) -> MatrixTies:
    known: tuple[MatrixTies, ...] = (*TIE_RULES, *_OWN)
    if given is None:
        return rules.ties
    for rule in known:
        if rule == given:
            return rule
    raise UnknownName(f"unknown tie rule {given!r}; the rules are {', '.join(known)}.")


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


def labelled_measures(
    texts: Sequence[str] | None, ks: Sequence[int] | None, convention: Convention, direction: Direction
) -> tuple[LabelledMeasure, ...]:
    """The measures of a direction: those named, or the convention's; at every cut-off of `ks` where they need one and name none.

    A name with parameters in brackets (`R(rel=1)@5`) is that of a measure, whatever the convention means by the word.
    Raises UnknownName and BadUsage as `parse_measure` does.
    """
    # Everything that a matrix ranks has been judged.
    named = list(texts or [text for text in convention.defaults if not text.startswith("Judged")])
    if texts is None and ks is not None:
        named = list(dict.fromkeys(text.partition("@")[0] for text in named))
    found: dict[str, LabelledMeasure] = {}
    for text in named:
        rules = convention._replace(words={} if _is_exact(text) else direction.words)
        for spelled in _at_each(text, ks or CUTOFFS, rules.words):
            (asked,) = choose_measures([spelled], rules)
            other = _other_meaning(asked.measure, direction) is not None
            found.setdefault(str(asked.measure), LabelledMeasure(asked.measure, spelled.strip() if other else asked.label))
    return tuple(found.values())


def other_meanings(asked: Sequence[LabelledMeasure], convention: Convention, direction: Direction) -> list[str]:
    """Which of the measures have an exact name that the convention has another meaning for, in words."""
    name = convention.name
    meant = [(each.label, str(each.measure), _other_meaning(each.measure, direction)) for each in asked]
    return [
        f"{label} is the measure {exact} itself; as a word of {name}, {exact} means {other}"
        for label, exact, other in meant
        if other
    ]


def _other_meaning(measure: Measure, direction: Direction) -> str | None:
    """What a measure's exact name means as a word of the convention, where that is something else."""
    try:
        meant = parse_measure(str(measure), direction.words)
    except (UnknownName, BadUsage):
        return None
    return None if meant == measure else str(meant)


def _is_exact(text: str) -> bool:
    if "(" not in text:
        return False
    try:
        parse_measure(text if "@" in text else f"{text}@1")
    except UnknownName:
        return False
    except BadUsage:
        return True
    return True


def _at_each(text: str, ks: Sequence[int], words: Mapping[str, str]) -> list[str]:
    if "@" in text:
        return [text]
    try:
        parse_measure(text, words)
    except UnknownName:
        raise
    except BadUsage:
        return [f"{text}@{k}" for k in ks]
    return [text]
