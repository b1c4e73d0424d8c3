"""The measures of an evaluation of answers and the rules that decide its values, from a convention
and the user's choices.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

from rankwell.conventions import (
    CONVENTIONS,
    Convention,
    LabelledMeasure,
    Measures,
    choose_measures,
    find_convention,
)
from rankwell.data.columns import Repeats
from rankwell.data.findings import Finding
from rankwell.data.judged_rankings import GroupRankings, JudgedRankings
from rankwell.data.options import cutoffs
from rankwell.data.registry import Measure, at_cutoffs, measure_names, parse_measure
from rankwell.data.tables import TieRule, grouped
from rankwell.errors import BadInput, BadUsage, flag
from rankwell.tasks.qa.answer_pairs import AnswerPairs
from rankwell.tasks.qa.conventions import AnswerConvention
from rankwell.tasks.qa.findings import measures_left_out, rules_of_language
from rankwell.tasks.qa.options import QaOptions, Relevance

# The measures of a retriever under conventions that judge readers only.
_PLAIN = ("Success", "AP", "RR")
_PARTS = {AnswerPairs: "reader", JudgedRankings: "retriever", GroupRankings: "retriever"}


class Judge(NamedTuple):
    """The measures that decide outcomes.

    right: the measure by which the first answer is right, from 0.5 on.
    partial: the measure of partly right answers; `right` itself where no such F1 is computed.
    later: `right` over more of the first answers.
    label: the word for `right`.
    """

    right: Measure
    partial: Measure
    later: Measure
    label: str


class AnswerMeasures(NamedTuple):
    """The measures of an evaluation.

    retriever: measures of retrieved documents; empty where there are none.
    reader: measures of answers; empty where there are none.
    judge: the measures that decide outcomes.
    findings: findings on measures that are left out, and on options without effect.
    """

    retriever: tuple[LabelledMeasure, ...]
    reader: tuple[LabelledMeasure, ...]
    judge: Judge
    findings: tuple[Finding, ...]


@dataclass(frozen=True)
class AnswerPlan:
    """The measures and rules of an evaluation: the user's choices, else those of the convention.

    options: the user's choices.
    has_answers: whether answers are judged.
    """

    options: QaOptions
    has_answers: bool

    @cached_property
    def convention(self) -> Convention:
        """The convention. Raises UnknownName for an unknown one."""
        return find_convention(self.options.convention, "qa")

    @cached_property
    def rules(self) -> AnswerConvention:
        """The rules of the convention for answers. Raises BadUsage for one that has none."""
        if "qa" not in self.convention.tasks:
            entries = map(CONVENTIONS.__getitem__, CONVENTIONS)
            names = [entry.name for entry in entries if "qa" in entry.tasks]
            raise BadUsage(
                f"the convention {self.convention.name} does not judge answers to questions; "
                f"there are {', '.join(names)}."
            )
        return self.convention.rules_of("qa", AnswerConvention())

    @property
    def has_run(self) -> bool:
        """Whether retrieved documents are judged."""
        return self.options.retrieved is not None

    @cached_property
    def ks(self) -> tuple[int, ...]:
        """The numbers of first answers that top-k measures look at, ascending. Raises BadUsage."""
        return (5,) if self.options.k is None else cutoffs(self.options.k)

    @property
    def depths(self) -> tuple[int, ...]:
        """The numbers of first documents that measures look at, the last of which count as
        retrieved: the user's, else those of answers where no source has a rule.
        """
        options = self.options
        is_plain = options.k is not None and self.convention.origin == "rankwell"
        return self.ks if is_plain and options.depth is None else (options.depth or 10,)

    @property
    def pairing(self) -> dict[str, Any]:
        """The rules by which answers are paired with questions; see `AnswerPairs.pair`."""
        return {
            "impossible": self.rules.impossible,
            "missing": self.rules.missing,
            "extra": self.rules.extra,
        }

    @property
    def duplicates(self) -> Repeats:
        """The rule for a document that is listed twice."""
        return self.options.duplicates or self.rules.duplicates

    def check(self) -> None:
        """Raises BadUsage, before anything is read, where nothing can be judged, and for options
        that cannot be combined.
        """
        options, has_run = self.options, self.has_run
        if not (self.has_answers or has_run):
            raise BadUsage(
                f"there is nothing to judge; give PREDICTIONS, {flag('--retrieved')}, or both."
            )
        for condition, is_met, names in (
            (flag("--retrieved"), has_run, _OF_RETRIEVER),
            ("PREDICTIONS", self.has_answers, _OF_READER),
        ):
            for name in () if is_met else names:
                value = getattr(options, name)
                if value is not None:
                    option = flag(name, value if isinstance(value, (str, int, float)) else "")
                    raise BadUsage(_unused(option, condition))
        options.check_intervals()
        if options.depth is not None and options.depth < 1:
            raise BadUsage(f"{flag('--depth', options.depth)}; expected a positive integer.")
        _ = self.measures

    @property
    def relevance(self) -> Relevance:
        """What a relevant document is."""
        return self.options.relevance or self.rules.relevance

    @property
    def context_rules(self) -> dict[str, Any]:
        """The rules of relevance by context; see `by_context`. Raises BadInput for a number that is
        out of range.
        """
        rules = self.rules
        for name in ("context_share", "context_threshold"):
            if not 0 < getattr(rules, name) <= 1:
                raise BadInput(
                    f"{self.convention.name}: {name} = {getattr(rules, name)}; expected a number "
                    "above 0 and at most 1."
                )
        if rules.context_similarity is None:
            return {"share": rules.context_share}
        return {"similarity": rules.context_similarity, "threshold": rules.context_threshold}

    @property
    def ties(self) -> TieRule:
        """The rule for documents with equal scores."""
        return self.options.ties or self.convention.ties

    @cached_property
    def measures(self) -> AnswerMeasures:
        """The requested measures that can be computed. Raises BadUsage for a named one that cannot,
        and where none is left.
        """
        options, has_answers, has_run = self.options, self.has_answers, self.has_run
        names = measure_names(options.measures)
        if names is None:
            plain = at_cutoffs(_PLAIN, self.depths)
            retriever = self.retriever_measures() or choose_measures(plain, self.convention)
            texts = None
        else:
            by_part = self._by_part(names)
            retriever = self.retriever_measures(by_part["retriever"])
            texts = by_part["reader"]
        deciding = self.reader_measures(texts or None)
        reader = () if texts == [] else deciding
        lacking = [
            labelled
            for labelled in reader
            if has_answers and not has_run and labelled.measure.parameters["retrieval"] != "ignored"
        ]
        labels, findings = ", ".join(labelled.label for labelled in lacking), list[Finding]()
        if lacking and (names is not None or len(lacking) == len(reader)):
            raise BadUsage(
                f"{labels}: judged with regard to what was retrieved; give the retriever's "
                f"run ({flag('--retrieved')})."
            )
        if lacking:
            findings.append(
                measures_left_out(
                    "left out, as they ask what was retrieved; to have them, give the retriever's "
                    f"run ({flag('--retrieved')}): {labels}"
                )
            )
        deeper = replace(self, options=replace(options, k=[k + 1 for k in self.ks]))
        is_used = (has_run and self.depths != deeper.depths) or (
            has_answers and deciding != deeper.reader_measures(texts or None)
        )
        if options.k is not None and not is_used:
            option = flag("-k", options.k, name="k")
            reason = f"{option} is unused: no measure here looks at as many answers"
            findings.append(measures_left_out(reason))
        languages = self.rules.languages
        if (
            has_answers
            and len(languages) > 1
            and not (self.rules.normalizer or self.rules.language)
        ):
            findings.append(rules_of_language(next(iter(languages))))
        for option in ("normalizer", "na_threshold") if has_answers and reader else ():
            value = getattr(self.rules, option)
            if value not in (None, "") and all(
                labelled.measure.parameters.get(option) != value for labelled in reader
            ):
                raise BadUsage(
                    f"{self.convention.name}: {option} = {value!r} is unused: its measures compare "
                    "positions; begin with a convention that compares texts, or leave it out."
                )
        counted = tuple(labelled for labelled in reader if has_answers and labelled not in lacking)
        judge = self._judge(deciding)
        return AnswerMeasures(retriever if has_run else (), counted, judge, tuple(findings))

    def reader_measures(self, texts: Sequence[str] | None) -> tuple[LabelledMeasure, ...]:
        """The measures of answers that words name, else the convention's, with the user's k,
        normalizer and threshold.
        """
        rules, name = self.rules, self.convention.name
        language, normalizer = rules.language, rules.normalizer or None
        if language and normalizer is None:
            if language not in rules.languages:
                hint = "; French has the convention french" if language == "fr" else ""
                hint = "" if name == "french" else hint
                languages = ", ".join(rules.languages)
                choice = f"it has {languages}" if languages else "it has one rule for all"
                raise BadUsage(
                    f"the convention {name} has no rules for the language {language!r}: "
                    f"{choice}{hint}."
                )
            normalizer = rules.languages[language]
        words = [rules.other_words.get(text.strip(), text) for text in texts or ()]
        report = [
            f"{word}{k}" if word.endswith("@") else word
            for word in rules.labels
            for k in self.ks
            if k > 1 or not word.endswith("@")
        ]
        measures: list[LabelledMeasure] = []
        for measure, label in choose_measures(words or report, self.convention):
            for k in (1,) if rules.without_cutoff == "one" else self.ks:
                parameters = {
                    "k": k if measure.cutoff is None else None,
                    "normalizer": None if compares_positions(measure) else normalizer,
                    "na_threshold": rules.na_threshold,
                }
                accepted = {
                    name: value
                    for name, value in parameters.items()
                    if value is not None and measure.accepts(name)
                }
                measures.append(LabelledMeasure(measure.with_parameters(**accepted), label))
        return self._with_cutoffs(measures)

    def _with_cutoffs(self, measures: Measures) -> tuple[LabelledMeasure, ...]:
        """The measures, each once; of a list of k, words for several cut-offs name their own."""
        cutoffs = grouped((label.partition("@")[0], measure.cutoff) for measure, label in measures)
        labelled = [
            LabelledMeasure(measure, f"{label}@{measure.cutoff}")
            if len(self.ks) > 1 and "@" not in label and len({*cutoffs[label]}) > 1
            else LabelledMeasure(measure, label)
            for measure, label in measures
        ]
        return tuple(dict.fromkeys(labelled))

    def retriever_measures(self, words: Sequence[str] | None = None) -> tuple[LabelledMeasure, ...]:
        """The measures of the first documents that words name, else those of the convention."""
        measures = [
            LabelledMeasure(
                self.measure(word.removesuffix("@"), depth),
                f"{word}{depth}" if word.endswith("@") else word.strip(),
            )
            for word in (self.rules.retriever if words is None else words)
            for depth in self.depths
        ]
        return self._with_cutoffs(measures)

    def measure(self, text: str, depth: int) -> Measure:
        """The measure that a word names; a cut-off is added where it needs one."""
        text = self.rules.other_words.get(text.strip(), text)
        try:
            return parse_measure(f"{text}@{depth}", self.convention.words)
        except BadUsage:
            return parse_measure(text, self.convention.words)

    def _by_part(self, measures: Sequence[str]) -> dict[str, list[str]]:
        """The words by the part that their measures judge. Raises BadUsage for one that judges
        nothing that is given.
        """
        by_part: dict[str, list[str]] = {"retriever": [], "reader": []}
        for text in measures:
            self._refuse_other_cutoff(text)
        for text in measures:
            entry = self.measure(text, self.depths[-1]).entry
            if entry.view not in _PARTS:
                raise BadUsage(
                    f"{text!r} judges neither retrieved documents nor answers: it needs "
                    f"{entry.needs}."
                )
            by_part[_PARTS[entry.view]].append(text)
        if by_part["retriever"] and not self.has_run:
            raise BadUsage(
                f"{by_part['retriever'][0]!r} judges retrieved documents; give the "
                f"retriever's run ({flag('--retrieved')})."
            )
        if by_part["reader"] and not self.has_answers:
            raise BadUsage(
                f"{by_part['reader'][0]!r} judges answers; give the reader's PREDICTIONS."
            )
        return by_part

    def _refuse_other_cutoff(self, text: str) -> None:
        """Raises BadUsage for a word that has a cut-off of its own and is given another: its name
        would be wrong.
        """
        word, at, cutoff = text.strip().rpartition("@")
        meaning = self.convention.words.get(word) if at else None
        try:
            own_cutoff = None if meaning is None else parse_measure(meaning).cutoff
        except BadUsage:  # It needs one and has none of its own.
            return
        if own_cutoff is not None and cutoff != str(own_cutoff):
            raise BadUsage(
                f"{text!r}: {word} of the convention {self.convention.name} is cut at "
                f"{own_cutoff}; leave out @{cutoff}, or name another measure."
            )

    def _judge(self, measures: Measures) -> Judge:
        """The measures that decide outcomes: the first, and F1 of the same kind for partial
        answers.
        """
        first = measures[0]
        decides = over_all_questions(first.measure)
        label = first.label if decides == first.measure else f"{first.label} over all questions"
        partial = next(
            (
                over_all_questions(measure).with_parameters(k=decides.cutoff)
                for measure, _ in measures
                if measure.name == "AnswerF1"
                and measure.parameters["over"] == "best"
                and compares_positions(measure) == compares_positions(decides)
            ),
            decides,
        )
        later = decides.with_parameters(k=max(self.ks[-1], decides.cutoff or 1))
        return Judge(decides, partial, later, label)


def over_all_questions(measure: Measure) -> Measure:
    """The same measure over all questions, retrieved or not."""
    neutral = {"population": "all", "retrieval": "ignored"}
    return measure.with_parameters(
        **{name: value for name, value in neutral.items() if measure.accepts(name)}
    )


def compares_positions(measure: Measure) -> bool:
    """Whether a measure of answers compares positions instead of texts."""
    return measure.parameters.get("match", measure.parameters.get("unit")) in (
        "offset",
        "overlap",
        "intersect",
    )


def _unused(option: str, condition: str) -> str:
    return f"{option} has no effect without {condition}; give it, or leave this out."


_OF_RETRIEVER = ("depth", "relevance", "documents", "ties", "duplicates", "run_format", "columns")
_OF_READER = ("isolated", "na_probs", "predictions_format")
