"""The options of a comparison of models, and the measures that they request."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal, NamedTuple, get_args

from rankwell.conventions import CONVENTIONS, Convention
from rankwell.core.options import ConventionName, InputData, MeasureNames, Option, cutoffs
from rankwell.core.registry import Measure, measure_names, parse_measure
from rankwell.core.views.ranking_pairs import Gains
from rankwell.errors import BadUsage, UnknownName
from rankwell.stats import Intervals
from rankwell.tasks.agreement.conventions import AgreementConvention

_GAINS = re.compile(r"gains=(['\"]?)([\w-]+)\1,?")
# Below two items, or half of the points beyond k, these are undefined for all queries.
_NEED_TWO = ("TauAP", "Spearman", "SpearmanUnion")
_NEED_HALF = ("Trustworthiness", "Continuity")


@dataclass(frozen=True, kw_only=True)
class AgreementOptions:
    """The choices that decide the values of `agree`. Raises BadUsage for values that do not exist.

    Parameters
    ----------
    k
        Cut-offs, with commas between them.
    samples
        Number of queries, drawn from the items without replacement, or all.
    seed
        Seed of the sample (NumPy's RandomState) and of the bootstrap.
    gold_depth
        How many first items of the reference are relevant, for measures with a relevant set; by default the largest cut-off, each
        cut-off under scholar-stream.
    metric
        Similarity of two vectors: cosine, dot, or l2.
    measures
        A measure at every cut-off (nDCG), at one (nDCG@5), or with gains (nDCG(gains='similarity')); repeat it for more.
    ids
        File or column of the items' ids, for embeddings that have none of their own.
    exclude
        File or column of labels, one per item: an item with the query's label is not a neighbour.
    labels
        Judgments whose queries and items are ids of the embeddings; the reference is judged by them beside the candidates.
    ceiling
        Also the agreement of the reference with itself in float16.
    eps
        The tolerance of similarity of EpsRecall and of the reference's margin.
    convention
        Whose words and rules: rankwell or scholar-stream.
    intervals
        95 % intervals by the bootstrap over queries, by Student's t, or none.
    """

    k: Annotated[Sequence[int] | int | str, Option(kind=str)] = "1,3,5,10"
    samples: Annotated[int | str, Option(("--samples", "--n-samples"), kind=str)] = 500
    seed: int = 42
    gold_depth: int | None = None
    metric: Literal["cosine", "dot", "l2"] = "cosine"
    measures: MeasureNames = None
    ids: InputData = None
    exclude: InputData = None
    labels: InputData = None
    ceiling: bool = False
    eps: float = 0.005
    convention: ConventionName = "rankwell"
    intervals: Intervals = "bootstrap"

    def __post_init__(self) -> None:
        if not self.eps >= 0:
            raise BadUsage(f"eps={self.eps!r}: expected 0 or more.")
        if self.gold_depth is not None and self.gold_depth < 1:
            raise BadUsage(f"a gold depth of {self.gold_depth}; one item or more is relevant.")

    @property
    def ks(self) -> tuple[int, ...]:
        """The cut-offs, ascending. Raises BadUsage for anything but positive integers."""
        return tuple(sorted(set(cutoffs(self.k))))

    def n_samples(self, n_items: int) -> int:
        """Number of queries, at most all items. Raises BadUsage for anything but an integer, or all."""
        if self.samples == "all":
            return n_items
        if isinstance(self.samples, str) and not self.samples.isdecimal():
            raise BadUsage(f"--samples {self.samples!r}: expected a positive integer, or all.")
        return int(self.samples)


def convention_of(options: AgreementOptions) -> Convention:
    """The convention under which models are compared. Raises BadUsage for one whose words are about judgments."""
    name, entry = options.convention, CONVENTIONS[options.convention]
    if name != "rankwell" and "agreement" not in entry.tasks:
        known = [each for each in CONVENTIONS if "agreement" in CONVENTIONS[each].tasks]
        raise BadUsage(f"the convention {name} judges runs; for agreement there are rankwell and {', '.join(known)}.")
    return entry


def cuts_gold(convention: Convention) -> bool:
    """Whether as many first items of the reference are relevant as the cut-off says, at each cut-off."""
    rules: AgreementConvention = convention.tasks.get("agreement", AgreementConvention())
    return rules.gold_depth == "cut"


class MeasurePlan(NamedTuple):
    """A measure of two lists, or of a candidate's list judged by the reference's.

    exact, label: its exact name, and the word that was used for it. gold_depth, gains: as in `RankingPairs.judged`.
    """

    measure: Measure
    exact: str
    label: str
    k: int | None
    gold_depth: int
    gains: Gains


def requested_measures(options: AgreementOptions, rules: Convention, n_items: int, n_neighbours: int) -> tuple[MeasurePlan, ...]:
    """The measures of the options, else the convention's or the usual ones.

    Raises BadUsage for a depth that exceeds the number of neighbours.
    """
    ks = options.ks
    for what, value in (("k", max(ks)), ("the gold depth", options.gold_depth or 0)):
        if value > n_neighbours:
            leave = f"{n_items} vectors leave {n_neighbours} neighbours"
            raise BadUsage(f"{what} is {value}, but {leave}; take less, or more vectors.")
    # A convention whose truth is a reference's list has words of its own for it; others have words for judgments only.
    cut = cuts_gold(rules)
    texts = measure_names(options.measures) or (
        bare_words(rules.defaults) if cut else _usual_measures(ks, n_neighbours, options.eps)
    )
    return plan_measures(texts, ks, rules.words, options.gold_depth or (None if cut else max(ks)))


def _usual_measures(ks: Sequence[int], n_candidates: int, eps: float) -> list[str]:
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


def plan_measures(
    texts: Sequence[str], ks: Sequence[int], words: Mapping[str, str], gold_depth: int | None, view: type | None = None
) -> tuple[MeasurePlan, ...]:
    """The measures that texts name, at every cut-off of `ks` where a text names none; no measure twice.

    words: a convention's, as `parse_measure` takes them. gold_depth: None for as many as the cut-off. view: what all must read.
    Raises UnknownName and BadUsage as `parse_measure` does, and for a cut-off beyond the largest of `ks`.
    """
    found: dict[str, MeasurePlan] = {}
    for text in texts:
        for spelled in _at_each(text.strip(), ks, words):
            each = _plan(spelled, words, gold_depth, max(ks))
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


def _plan(text: str, words: Mapping[str, str], gold_depth: int | None, deepest: int) -> MeasurePlan:
    bare, gains = _without_gains(text)
    # A convention's word is for items that are relevant or not.
    measure = parse_measure(bare, words if gains == "binary" else {})
    k = measure.cutoff
    if k is not None and k > deepest:
        raise BadUsage(f"{text} looks at {k} places, the lists have {deepest}; add {k} to -k.")
    name = str(measure) if gains == "binary" else with_parameter(str(measure), f"gains={gains!r}")
    is_own = measure.name == text.split("(")[0].split("@")[0]
    return MeasurePlan(measure, name, name if is_own else text, k, gold_depth or k or deepest, gains)


def with_parameter(name: str, parameter: str) -> str:
    """A measure's exact name with one more parameter before its own: `nDCG(gains='similarity')@5`."""
    head, at, cut = name.partition("@")
    return (head.replace("(", f"({parameter},", 1) if "(" in head else f"{head}({parameter})") + at + cut


def _without_gains(text: str) -> tuple[str, Gains]:
    """The text without its gains, a parameter of the judged view and not of the measure, and the gains."""
    match = _GAINS.search(text)
    if match is None:
        return text, "binary"
    for gains in get_args(Gains):
        if gains == match[2]:
            return (text[: match.start()] + text[match.end() :]).replace("()", "").replace(",)", ")"), gains
    raise UnknownName(f"unknown gains {match[2]!r} (in {text!r}); known are {', '.join(get_args(Gains))}.")
