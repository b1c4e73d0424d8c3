"""The options of text-video retrieval, and the directions and measures that they request."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from rankwell.conventions import Convention, LabelledMeasure, choose_measures
from rankwell.core.options import ConventionName, CutoffNumbers, InputData, MeasureNames
from rankwell.core.registry import Measure, at_each_cutoff, parse_measure
from rankwell.core.tables import TIE_RULES, Ints, MatrixTies, order_ids
from rankwell.core.tables.names import Positions
from rankwell.errors import BadUsage, UnknownName
from rankwell.stats import Intervals
from rankwell.tasks.captions.conventions import CaptionConvention, DirectionRules

Which = Literal["both", "t2v", "v2t"]
Protocol = Literal["among-captions", "among-videos", "both"]


@dataclass(frozen=True, kw_only=True)
class CaptionOptions:
    """The choices that decide the values of `captions`; queries and gallery stand in place of scores.

    Parameters
    ----------
    queries
        Embeddings of the captions, in place of scores.
    gallery
        Embeddings of the videos.
    metric
        Similarity of embeddings: cosine (where none is named), dot, or l2 (negative distance).
    direction
        From text to video (rows are queries), from video to text (columns are), or both.
    protocol
        From video to text: among-captions ranks a video's best caption among all captions, among-videos collapses each video's
        captions to the highest score and ranks videos; both; by default the convention's.
    k
        Cut-offs of R@K, as 1,5,10,50; by default the convention's.
    measures
        A measure such as nDCG@10 or AP, a convention's word for one, or rsum, gmean or r_mean; repeat it for more.
    convention
        Whose words and rules: hgr, mmt, frozen, clip4clip, clip4clip-multi, vse, lavis; rankwell and others for their measures.
    ties
        Items with equal scores: by position (input, input-desc) or id (id-asc, id-desc), the mean over all orders (expected), in
        favour of positives (optimistic) or against them (pessimistic), at the mean of their places (averaged, MMT), a query for
        each place (multiplied, CLIP4Clip), refused (error); by default the convention's.
    no_relevant
        A query without positives: ranks after all items (empty), is left out (skip), or is an error; by default the convention's.
    mask
        File of 1 for each caption that is there and 0 for each that is missing: .npy or JSON.
    transform
        Change the scores first, as 'dual-softmax(temperature=0.02)' or 'querybank(beta=20)', which needs --bank.
    bank
        Scores of other queries with the same gallery, for querybank.
    query_ids
        File of the captions' ids, one a line.
    item_ids
        File of the videos' ids.
    texts
        What the captions say, in a file of a line each or of ids and texts: captions of equal words hold the ceiling down, and
        pages of the results show them. Without it, captions whose scores are equal to the last bit count as the same.
    intervals
        95 % intervals by the bootstrap over queries, by Student's t, or none.
    seed
        Seed of the bootstrap.
    """

    queries: InputData = None
    gallery: InputData = None
    metric: Literal["cosine", "dot", "l2"] | None = None
    direction: Which = "both"
    protocol: Protocol | None = None
    k: CutoffNumbers = None
    measures: MeasureNames = None
    convention: ConventionName = "hgr"
    ties: str | None = None
    no_relevant: Literal["empty", "skip", "error"] | None = None
    mask: InputData = None
    transform: str | None = None
    bank: InputData = None
    query_ids: InputData = None
    item_ids: InputData = None
    texts: InputData = None
    intervals: Intervals = "bootstrap"
    seed: int = 0


CUTOFFS = (1, 5, 10)
_OWN: tuple[MatrixTies, ...] = ("input-desc", "averaged", "multiplied")
_FLAGGED: dict[MatrixTies, str] = {
    "averaged": (
        "a tied positive has the mean of its places as its rank: R@1 needs exactly 1, R@K for larger K a rank below K + 1; "
        "that is not an expected value"
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
        raise BadUsage(f"the protocol {protocol} is of video to text, and only t2v is requested; leave one of them out.")
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
    """Notes on the rules in force, except those that the user replaced.

    own: the names of these (`ties`, `no_relevant`, `protocol`). A convention of other tasks gives words and unit.
    """
    notes = list(convention.notes)
    for rule, texts in convention.rule_notes.items():
        notes += texts if rule not in own and (rule != "protocol" or any(each.collapsed for each in chosen)) else ()
    if "captions" not in convention.tasks:
        kept = "" if "ties" in own else f", and ties are {chosen[0].ties}"
        notes = [f"the convention {convention.name} does not support score matrices: its words, measures and unit are used{kept}"]
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
        for spelled in at_each_cutoff(text, ks or CUTOFFS, rules.words):
            (chosen,) = choose_measures([spelled], rules)
            other = _other_meaning(chosen.measure, direction) is not None
            found.setdefault(str(chosen.measure), LabelledMeasure(chosen.measure, spelled.strip() if other else chosen.label))
    return tuple(found.values())


def other_meanings(measures: Sequence[LabelledMeasure], convention: Convention, direction: Direction) -> list[str]:
    """Notes on measures whose exact name has another meaning as a word of the convention."""
    name = convention.name
    meant = [(each.label, str(each.measure), _other_meaning(each.measure, direction)) for each in measures]
    return [
        f"{label} is the measure {exact} itself; as a word of {name}, {exact} means {other}"
        for label, exact, other in meant
        if other
    ]


def _other_meaning(measure: Measure, direction: Direction) -> str | None:
    """The meaning of a measure's exact name as a word of the convention, where that is something else."""
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
