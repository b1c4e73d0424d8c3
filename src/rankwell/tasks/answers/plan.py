"""The measures of an evaluation of answers and the rules that decide its values, from a convention and the user's choices."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from rankwell.conventions import CONVENTIONS, Convention, LabelledMeasure, choose_measures
from rankwell.core.registry import Measure, measure_names, parse_measure
from rankwell.core.tables.columns import Repeats
from rankwell.errors import BadUsage
from rankwell.tasks.answers.answer_pairs import AnswerPairs, Extra, Missing
from rankwell.tasks.answers.conventions import AnswerConvention
from rankwell.tasks.answers.options import AnswerOptions
from rankwell.tasks.answers.outcomes import Judge, over_all_questions
from rankwell.tasks.answers.retrieval import RelevanceRules

# The measures of a retriever under conventions that judge readers only.
_PLAIN = ("Success", "AP", "RR")


class AnswerMeasures(NamedTuple):
    """The measures of the retriever and of the reader, and those that decide whether a question is answered rightly.

    notes: measures that cannot be computed without a retriever's run, and are left out.
    """

    retriever: tuple[LabelledMeasure, ...]
    reader: tuple[LabelledMeasure, ...]
    judge: Judge
    notes: tuple[str, ...]


class AnswerWords(NamedTuple):
    """The choices by which words become measures of answers."""

    convention: Convention
    k: int
    retriever_k: int
    normalizer: str | None = None
    language: str | None = None
    na_threshold: float | None = None

    @property
    def rules(self) -> AnswerConvention:
        """The rules of the convention for answers."""
        return answer_rules(self.convention.name)

    def reader_measures(self, texts: Sequence[str] | None) -> tuple[LabelledMeasure, ...]:
        """The measures of answers that words name, those of the convention's report where none are given.

        k is for words without a cut-off of their own; normalizer, or the language's where the convention has several, for
        measures that compare texts; na_threshold for every measure that may abstain. Raises BadUsage for an unknown language.
        """
        named = None if texts is None else [self.rules.other_words.get(text.strip(), text) for text in texts]
        normalizer = self.normalizer
        if self.language is not None and normalizer is None:
            normalizer = self._normalizer_of(self.language)
        found: list[LabelledMeasure] = []
        for labelled in choose_measures(named or self.rules.labels, self.convention):
            measure = labelled.measure
            if measure.accepts("k") and measure.cutoff is None:
                measure = measure.with_parameters(k=self.k)
            if normalizer is not None and measure.accepts("normalizer") and not compares_positions(measure):
                measure = measure.with_parameters(normalizer=normalizer)
            if self.na_threshold is not None and measure.accepts("na_threshold"):
                measure = measure.with_parameters(na_threshold=self.na_threshold)
            found.append(LabelledMeasure(measure, labelled.label))
        return tuple(found)

    def retriever_measures(self) -> tuple[LabelledMeasure, ...]:
        """The convention's report of the first retriever_k documents, under its own labels."""
        found: list[LabelledMeasure] = []
        for word in self.rules.retriever:
            label = f"{word}{self.retriever_k}" if word.endswith("@") else word
            try:
                measure = parse_measure(f"{word.removesuffix('@')}@{self.retriever_k}", self.convention.words)
            except BadUsage:
                measure = parse_measure(label, self.convention.words)
            found.append(LabelledMeasure(measure, label))
        return tuple(found)

    def measure(self, text: str) -> Measure:
        """The measure that a word names; a cut-off is added where it needs one."""
        text = self.rules.other_words.get(text.strip(), text)
        try:
            return parse_measure(f"{text}@{self.retriever_k}", self.convention.words)
        except BadUsage:
            return parse_measure(text, self.convention.words)

    def _normalizer_of(self, language: str) -> str:
        name, languages = self.convention.name, self.rules.languages
        if language not in languages:
            hint = "; French has the convention french" if language == "fr" and name != "french" else ""
            known = f"it has {', '.join(languages)}" if languages else "it has one rule for all"
            raise BadUsage(f"the convention {name} has no rules for the language {language!r}: {known}{hint}.")
        return languages[language]


def answer_rules(name: str) -> AnswerConvention:
    """The rules of a convention for answers. Raises BadUsage for one that has none, UnknownName for an unknown convention."""
    convention = CONVENTIONS[name]
    if "answers" not in convention.tasks:
        known = [each for each in CONVENTIONS if "answers" in CONVENTIONS[each].tasks]
        raise BadUsage(f"the convention {name} does not judge answers to questions; there are {', '.join(known)}.")
    return convention.rules_of("answers", AnswerConvention(()))


def compares_positions(measure: Measure) -> bool:
    """Whether a measure of answers compares positions instead of texts."""
    return measure.parameters.get("match", measure.parameters.get("unit")) in ("offset", "overlap", "intersect")


def plan_measures(
    words: AnswerWords,
    measures: Sequence[str] | None,
    right: str | None,
    *,
    has_run: bool,
    has_answers: bool,
    k_given: bool = False,
) -> AnswerMeasures:
    """The requested measures that can be computed. Raises BadUsage for a named one that cannot, and where none is left.

    right: the word of the measure that decides. k_given: whether the user named `words.k`, for a note where it is unused.
    """
    by_part = None if measures is None else _by_part(words, measures, has_run=has_run, has_answers=has_answers)
    if by_part is None:
        retriever, texts = _default_retriever(words), None
    else:
        retriever = tuple(LabelledMeasure(words.measure(text), text.strip()) for text in by_part["retriever"])
        texts = by_part["reader"]
    reader = () if texts == [] else words.reader_measures(texts)
    needing = (
        [each for each in reader if each.measure.parameters["retrieval"] != "ignored"] if has_answers and not has_run else []
    )
    labels = ", ".join(each.label for each in needing)
    if needing and (measures is not None or len(needing) == len(reader)):
        raise BadUsage(f"{labels}: judged with regard to what was retrieved; give the retriever's run (--retrieved).")
    notes: list[str] = []
    if needing:
        notes.append(f"left out, as they ask what was retrieved; to have them, give the retriever's run (--retrieved): {labels}")
    if k_given and not (
        has_answers and words.reader_measures(texts or None) != words._replace(k=words.k + 1).reader_measures(texts or None)
    ):
        notes.append(f"-k {words.k} is unused: no measure here looks at as many answers")
    if len(words.rules.languages) > 1 and has_answers and words.normalizer is None and words.language is None:
        notes.append(f"the rules are those of {next(iter(words.rules.languages))}, as --language names no other")
    if has_answers:
        _reject_unused_parameters(words, reader)
    judge = _judge(words, reader, right)
    kept = tuple(each for each in reader if each not in needing)
    return AnswerMeasures(retriever if has_run else (), kept if has_answers else (), judge, tuple(notes))


def _by_part(words: AnswerWords, measures: Sequence[str], *, has_run: bool, has_answers: bool) -> dict[str, list[str]]:
    """The words by the part that their measures judge. Raises BadUsage for one that judges neither, or nothing that is given."""
    by_part: dict[str, list[str]] = {"retriever": [], "reader": []}
    for text in measures:
        _refuse_other_cutoff(text, words)
    for text in measures:
        part = _part(words.measure(text))
        if part is None:
            raise BadUsage(f"{text!r} judges neither retrieved documents nor answers; `rankwell measures` lists what does.")
        by_part[part].append(text)
    if by_part["retriever"] and not has_run:
        raise BadUsage(f"{by_part['retriever'][0]!r} judges retrieved documents; give the retriever's run (--retrieved).")
    if by_part["reader"] and not has_answers:
        raise BadUsage(f"{by_part['reader'][0]!r} judges answers; give the reader's PREDICTIONS.")
    return by_part


def _part(measure: Measure) -> str | None:
    if measure.entry.view is AnswerPairs:
        return "reader"
    return "retriever" if measure.entry.view.__name__ in ("JudgedRankings", "GroupRankings") else None


def _default_retriever(words: AnswerWords) -> tuple[LabelledMeasure, ...]:
    plain = [f"{name}@{words.retriever_k}" for name in _PLAIN]
    return words.retriever_measures() or choose_measures(plain, words.convention)


def _refuse_other_cutoff(text: str, words: AnswerWords) -> None:
    """Raises BadUsage for a word that has a cut-off of its own and is given another: its name would be wrong."""
    word, at, other = text.strip().rpartition("@")
    meaning = words.convention.words.get(word) if at else None
    try:
        own = None if meaning is None else parse_measure(meaning).cutoff
    except BadUsage:  # It needs one and has none of its own.
        return
    if own is not None and other != str(own):
        what = f"{text!r}: {word} of the convention {words.convention.name} is cut at {own}"
        raise BadUsage(f"{what}; leave out @{other}, or name another measure.")


def _reject_unused_parameters(words: AnswerWords, reader: Sequence[LabelledMeasure]) -> None:
    """Raises BadUsage for an option that no measure uses."""
    for option, value in (("normalizer", words.normalizer), ("na_threshold", words.na_threshold)):
        if value is not None and reader and not any(each.measure.parameters.get(option) == value for each in reader):
            what = f"--{option.replace('_', '-')} {value} is unused: the measures of the convention {words.convention.name}"
            raise BadUsage(f"{what} compare positions; name a convention that compares texts, or leave it out.")


def _judge(words: AnswerWords, reader: Sequence[LabelledMeasure], right: str | None) -> Judge:
    """The measures that decide outcomes: the one that is named, else the first, and F1 of the same kind for partial answers."""
    if right is not None and _part(words.measure(right)) != "reader":
        raise BadUsage(f"--right {right!r} judges no answers; name one of {', '.join(words.rules.labels)}.")
    known = reader or words.reader_measures(None)
    first = words.reader_measures([right])[0] if right is not None else known[0]
    decides = over_all_questions(first.measure)
    label = first.label if decides == first.measure else f"{first.label} over all questions"
    shares = [each.measure for each in known if each.measure.name == "AnswerF1" and each.measure.parameters["over"] == "best"]
    same = [over_all_questions(each) for each in shares if compares_positions(each) == compares_positions(decides)]
    partial = same[0].with_parameters(k=decides.cutoff) if same else decides
    return Judge(decides, partial, decides.with_parameters(k=max(words.k, decides.cutoff or words.k)), label)


def cutoff(option: str, value: int | None, otherwise: int) -> int:
    """The cut-off. Raises BadUsage for anything but a positive integer."""
    if value is not None and value < 1:
        raise BadUsage(f"{option}={value}; expected a positive integer.")
    return otherwise if value is None else value


class AnswerPlan(NamedTuple):
    """The measures and every rule of an evaluation; see the options of these names."""

    words: AnswerWords
    measures: AnswerMeasures
    relevance: RelevanceRules
    missing: Missing
    extra: Extra
    duplicates: Repeats

    @classmethod
    def of(cls, options: AnswerOptions, *, has_answers: bool) -> "AnswerPlan":
        """The user's choices before those of the convention. Raises BadUsage and UnknownName for choices that cannot be."""
        depths = cutoff("k", options.k, 5), cutoff("retriever_k", options.retriever_k, 10)
        convention = CONVENTIONS[options.convention]
        words = AnswerWords(convention, *depths, options.normalizer, options.language, options.na_threshold)
        measures = plan_measures(
            words,
            measure_names(options.measures),
            options.right,
            has_run=options.retrieved is not None,
            has_answers=has_answers,
            k_given=options.k is not None,
        )
        relevance = RelevanceRules(
            relevance=options.relevance or words.rules.relevance,
            as_published=options.relevance is None,
            context_share=_context_share(options),
            ties=options.ties or convention.ties,
            k=words.retriever_k,
            needs_evidence="EvidenceRprec" in {each.measure.name for each in measures.retriever},
        )
        missing = options.missing or words.rules.missing
        return cls(words, measures, relevance, missing, options.extra or "ignore", options.duplicates or words.rules.duplicates)


def _context_share(options: AnswerOptions) -> float:
    """The share of their text that two documents must have in common. Raises BadUsage where it is unused or out of range."""
    share = options.context_share
    if share is not None and options.relevance != "context":
        raise BadUsage(f"--context-share {share} has no effect without --relevance context; give it, or leave this out.")
    if share is not None and not 0 < share <= 1:
        raise BadUsage(f"--context-share {share}; expected a number above 0 and at most 1.")
    return 0.65 if share is None else share


def check_options(options: AnswerOptions, predictions: Any) -> None:
    """Raises BadUsage where nothing can be judged, and for an option about an input that is not given."""
    if predictions is None and options.retrieved is None:
        raise BadUsage("there is nothing to judge; give PREDICTIONS, --retrieved, or both.")
    needing = {
        "--retrieved": (options.retrieved, _OF_RETRIEVER),
        "PREDICTIONS": (predictions, _OF_READER),
        "--isolated": (options.isolated, ("isolated_format",)),
    }
    for needed, (place, names) in needing.items():
        given = next((name for name in names if getattr(options, name) is not None), None)
        if place is None and given is not None:
            value = getattr(options, given)
            shown = f" {value}" if isinstance(value, (str, int, float)) else ""
            raise BadUsage(f"--{given.replace('_', '-')}{shown} has no effect without {needed}; give it, or leave this out.")


_OF_RETRIEVER = ("retriever_k", "relevance", "context_share", "corpus", "ties", "duplicates", "retrieved_format")
_OF_READER = (
    *("isolated", "na_probs", "normalizer", "language", "missing", "extra", "na_threshold", "na_ties", "right"),
    "predictions_format",
)
