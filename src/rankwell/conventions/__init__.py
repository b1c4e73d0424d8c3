"""Conventions, one file per source and data only: what its words mean, which rules it follows, in which unit it reports.

Here stands what a convention may say, and how a user's own choices go before it.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from rankwell.core.registry import Catalogue, Measure, parse_measure
from rankwell.core.tables.order import TieRule, tie_rule
from rankwell.core.tables.values import Unit
from rankwell.errors import BadUsage, UnknownName

QueryRule = Literal["truth", "run", "both"]
NoRelevantRule = Literal["empty", "skip", "error"]
UnjudgedRule = Literal["nonrelevant", "skip"]
MatrixTies = TieRule | Literal["input-desc", "averaged", "multiplied"]
"""Ties in a score matrix: `input` and `input-desc` put the lower and the higher position in the gallery first; `averaged` places
all tied items at the middle of their places (MMT); `multiplied` counts a query once for each place of its tie (CLIP4Clip)."""
Figure = Literal["rsum", "gmean", "r_mean"]
"""Figures of several R@K: the sum over both directions, the geometric mean of a direction's, the mean of a direction's."""
VideoToText = Literal["among-captions", "among-videos"]
"""What a video's captions are ranked among: the best of them among all captions, or, a video's captions collapsed to the highest
score, the video among all videos."""


class DirectionRules(NamedTuple):
    """How a source ranks in one direction of a score matrix; its words go before the convention's."""

    ties: MatrixTies
    words: Mapping[str, str] = {}
    protocol: VideoToText = "among-captions"


class Reading(NamedTuple):
    """How a source judges answers to questions.

    labels: its words for measures of answers, in the order of its report; those without a cut-off look at the first k answers.
    retriever: its words for measures of what was retrieved before, with `@` where it says the cut-off with them. relevance: what
    a relevant document is: one that a right answer stands in (`document`), or any that holds a right answer's text by a rule of
    `texts.CONTAINMENTS`.
    impossible: a question is so if it is `unanswered`, or only if it is `flagged` besides. missing: how a question without a
    prediction counts. other_words: another word for a label -> the label. languages: language -> its normaliser.
    duplicates: `keep` counts a document at each place of a list. nothing_to_find: what every measure of a retriever is for an
    impossible question: 1 (`right`), or as for any other, by the document that it was asked about (`judged`).
    """

    labels: tuple[str, ...]
    retriever: tuple[str, ...] = ()
    relevance: Literal["document", "dpr", "kilt", "lower", "raw"] = "document"
    impossible: Literal["unanswered", "flagged"] = "unanswered"
    missing: Literal["zero", "empty"] = "zero"
    other_words: Mapping[str, str] = {}
    languages: Mapping[str, str] = {}
    duplicates: Literal["error", "keep"] = "error"
    nothing_to_find: Literal["judged", "right"] = "judged"


Excluded = Literal["self", "camera", "group"]
"""References that a query must not meet: itself, those of its instance by its camera, those of its group. All by id."""
Level = Literal["easy", "medium", "hard"]
"""Which references of a ground truth are right: the easy, easy and hard, or the hard ones; all others that it lists are junk."""


class InstanceReading(NamedTuple):
    """How a source judges pictures of instances; its tie rule for matrices and embeddings goes before the convention's.

    exclude: what is taken out of every ranking. level: see `Level`. absent: whether a query of an instance that no reference
    shows is left out beforehand (`filter`), or judged by `no_relevant` (`keep`). junk_label: references with this label are taken
    out. cut: the length of the list that precision and recall of a whole list look at. labels: whether the best reference names
    the query's instance, and how often it is right.
    """

    ties: MatrixTies = "expected"
    exclude: tuple[Excluded, ...] = ()
    level: Level = "medium"
    absent: Literal["filter", "keep"] = "keep"
    junk_label: str | None = None
    cut: int | None = None
    labels: bool = False


class Convention(NamedTuple):
    """How one source evaluates.

    words: a word of the source -> the measure that it means; cut-offs are carried over (`Recall@5` is `P@5` if `Recall` is `P`).
    defaults: what is reported when no measure is named, in the source's words. unit: `percent` multiplies shares by 100.
    averaged: measures that the source averages though they are counts, which are added up elsewhere.
    no_relevant: what becomes of a query without anything relevant. gold_depth: where a reference's list is the truth, how many of
    its first items are relevant at a cut-off: as many as the `cut`, or as the greatest of all cut-offs (`max`).
    t2v, v2t: the two directions of a score matrix, for sources that have one. figures: what they make of several measures.
    reading: how it judges answers to questions, instances: how it judges pictures of instances, for sources that do.
    notes: what differs and cannot be reproduced, or is a trap. rule_notes: the same of its rule for score matrices of this name
    (`ties`, `no_relevant`, `protocol`), which is not said where a user's own rule is in force; or of a measure of this name
    (`AP`), said of searches for instances where it is asked for.
    """

    name: str
    title: str
    source: str
    ties: TieRule = "id-desc"
    single_precision: bool = False
    queries: QueryRule = "truth"
    no_relevant: NoRelevantRule = "empty"
    exclude_self: bool = False
    words: Mapping[str, str] = {}
    defaults: tuple[str, ...] = ()
    unit: Unit = "share"
    population_sd: bool = False
    averaged: tuple[str, ...] = ()
    gold_depth: Literal["cut", "max"] = "max"
    t2v: DirectionRules | None = None
    v2t: DirectionRules | None = None
    figures: tuple[Figure, ...] = ()
    reading: Reading | None = None
    instances: InstanceReading | None = None
    notes: tuple[str, ...] = ()
    rule_notes: Mapping[str, tuple[str, ...]] = {}

    def shows(self, unit: Unit) -> tuple[float, Unit]:
        """By what it multiplies values of a unit, and the unit in which it reports them."""
        return (100.0, "percent") if self.unit == "percent" and unit == "share" else (1.0, unit)


CONVENTIONS: Catalogue[Convention] = Catalogue("conventions", "convention")


def reference_convention(name: str) -> Convention:
    """The convention under which one model is compared with another. Raises BadUsage for one whose words are about judgments."""
    entry = CONVENTIONS[name]
    if name != "rankwell" and entry.gold_depth != "cut":
        known = [each for each in CONVENTIONS if CONVENTIONS[each].gold_depth == "cut"]
        raise BadUsage(f"the convention {name} judges runs; for agreement there are rankwell and {', '.join(known)}.")
    return entry


def convention(entry: Convention) -> Convention:
    """Files a convention under its name and returns it."""
    CONVENTIONS.add(entry.name, entry)
    return entry


class LabelledMeasure(NamedTuple):
    """A measure and the word that the user or the convention has for it."""

    measure: Measure
    label: str


class Rules(NamedTuple):
    """Every choice that decides a value, resolved: what the user said, else what the convention says."""

    convention: Convention
    ties: TieRule
    queries: QueryRule
    no_relevant: NoRelevantRule
    unjudged: UnjudgedRule
    exclude_self: bool

    @classmethod
    def resolve(cls, convention: str, **own: Any) -> "Rules":
        """The rules of a convention with the user's own choices in their place, None for none. Raises UnknownName."""
        entry = CONVENTIONS[convention]
        chosen = {name: value for name, value in own.items() if value is not None}
        if "ties" in chosen:
            tie_rule(chosen["ties"])
        usual = {name: getattr(entry, name) for name in cls._fields if name not in ("convention", *chosen)}
        return cls(convention=entry, **usual, **chosen)


def choose_measures(
    texts: Sequence[str] | None, convention: Convention, min_grade: float | None = None
) -> tuple[LabelledMeasure, ...]:
    """The measures that words name under a convention, its defaults where none are given; no measure twice.

    min_grade: the lowest grade that counts as relevant, for every measure that has such a grade and was not given one.
    """
    asked: dict[str, LabelledMeasure] = {}
    for text in texts or convention.defaults:
        measure = parse_measure(text, convention.words)
        is_exact = measure == _plain(text)
        rel = measure.entry.parameters.get("rel")
        if min_grade is not None and rel is not None and rel.default is not None and "rel" not in dict(measure.given):
            measure = measure.with_parameters(rel=min_grade)
        asked.setdefault(str(measure), LabelledMeasure(measure, str(measure) if is_exact else text.strip()))
    return tuple(asked.values())


def reading_of(name: str) -> Reading:
    """How a convention judges answers to questions. Raises BadUsage for one that does not, UnknownName for none."""
    found = CONVENTIONS[name].reading
    if found is None:
        known = [each for each in CONVENTIONS if CONVENTIONS[each].reading is not None]
        raise BadUsage(f"the convention {name} does not judge answers to questions; there are {', '.join(known)}.")
    return found


def retriever_measures(convention: Convention, k: int) -> tuple[LabelledMeasure, ...]:
    """What a convention reports of the first k documents retrieved, under its own labels."""
    found: list[LabelledMeasure] = []
    for word in convention.reading.retriever if convention.reading else ():
        label = f"{word}{k}" if word.endswith("@") else word
        try:
            measure = parse_measure(f"{word.removesuffix('@')}@{k}", convention.words)
        except BadUsage:
            measure = parse_measure(label, convention.words)
        found.append(LabelledMeasure(measure, label))
    return tuple(found)


def answer_measures(
    texts: Sequence[str] | None,
    convention: Convention,
    *,
    k: int,
    normalizer: str | None = None,
    language: str | None = None,
    na_threshold: float | None = None,
) -> tuple[LabelledMeasure, ...]:
    """The measures of answers that words name under a convention, those of its report where none are given.

    k: for words without a cut-off of their own. normalizer, or the language's where the convention has several: for measures
    that compare texts. na_threshold: for every measure that may abstain. Raises BadUsage where the convention has no languages.
    """
    reading = reading_of(convention.name)
    named = None if texts is None else [reading.other_words.get(text.strip(), text) for text in texts]
    if language is not None and normalizer is None:
        normalizer = _language(convention.name, reading, language)
    found: list[LabelledMeasure] = []
    for asked in choose_measures(named or reading.labels, convention):
        measure = asked.measure
        if measure.accepts("k") and measure.cutoff is None:
            measure = measure.with_parameters(k=k)
        if normalizer is not None and measure.accepts("normalizer") and not _compares_positions(measure):
            measure = measure.with_parameters(normalizer=normalizer)
        if na_threshold is not None and measure.accepts("na_threshold"):
            measure = measure.with_parameters(na_threshold=na_threshold)
        found.append(LabelledMeasure(measure, asked.label))
    return tuple(found)


def _compares_positions(measure: Measure) -> bool:
    kind = measure.parameters.get("match", measure.parameters.get("unit"))
    return kind in ("offset", "overlap", "intersect")


def _language(name: str, reading: Reading, language: str) -> str:
    if language not in reading.languages:
        hint = "; French has the convention french" if language == "fr" and name != "french" else ""
        known = f"it has {', '.join(reading.languages)}" if reading.languages else "it has one rule for all"
        raise BadUsage(f"the convention {name} has no rules for the language {language!r}: {known}{hint}.")
    return reading.languages[language]


def _plain(text: str) -> Measure | None:
    """The measure whose exact name a text is, if any."""
    try:
        measure = parse_measure(text)
    except (UnknownName, BadUsage):
        return None
    return measure if measure.name == text.strip().split("(")[0].split("@")[0] else None
