"""Questions, what was retrieved for them and what was answered: how right both are, and which of them fails."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np

from rankwell.conventions import CONVENTIONS, Convention, LabelledMeasure
from rankwell.core.registry import split_names
from rankwell.core.tables import Bools, TieRule, tie_rule
from rankwell.core.tables.names import Repeats
from rankwell.core.tables.values import Values
from rankwell.errors import BadUsage
from rankwell.stats import Intervals, check_intervals
from rankwell.tasks.answers import thresholds
from rankwell.tasks.answers.answer_pairs import Extra, Impossible, Missing
from rankwell.tasks.answers.choices import Wanted, Words, choose, cut_off, one_of, refuse_idle, shared_part
from rankwell.tasks.answers.failures import outcomes
from rankwell.tasks.answers.measures.answers_thresholds import Groups
from rankwell.tasks.answers.reading import Readings, compares_positions
from rankwell.tasks.answers.results import AnswerResults, values_of
from rankwell.tasks.answers.retrieval import Relevance, Retrieval, retrieval_of, strangers
from rankwell.tasks.answers.sources import Given, Sources, read_sources
from rankwell.tasks.answers.tables import Explained
from rankwell.tasks.answers.thresholds import Searched

Progress = Callable[[str, int, int], None]
_REPEATS = Literal["error", "first", "best", "keep"]
_POLICIES = {"zero": "they count 0", "empty": "they count as answered by nothing", "skip": "they are left out"}


def evaluate_answers(
    gold: Any,
    predictions: Any = None,
    *,
    retrieved: Any = None,
    isolated: Any = None,
    na_probs: Any = None,
    corpus: Any = None,
    convention: str = "piaf",
    measures: Sequence[str] | str | None = None,
    k: int | None = None,
    retriever_k: int | None = None,
    normalizer: str | None = None,
    language: str | None = None,
    relevance: Relevance | None = None,
    context_share: float | None = None,
    ties: TieRule | None = None,
    missing: Missing | None = None,
    extra: Extra | None = None,
    na_threshold: float | None = None,
    na_ties: Groups | None = None,
    right: str | None = None,
    duplicates: Repeats | None = None,
    gold_format: str | None = None,
    predictions_format: str | None = None,
    retrieved_format: str | None = None,
    isolated_format: str | None = None,
    intervals: Intervals = "bootstrap",
    seed: int = 0,
    details: bool = False,
    progress: Progress | None = None,
) -> AnswerResults:
    """How well questions are answered: what was retrieved, what was answered, and which of the two fails, question by question.

    gold: questions with right answers, as `read_questions` takes them. predictions: as `read_predictions`; retrieved: as
    `read_retrieved`; either or both. isolated: what the same reader answered from the right passages. na_probs: how likely each
    question has no answer. corpus: texts of the documents, where relevance asks for them.
    convention: whose words and rules. measures: its report where None. k: for words without a cut-off, 5; retriever_k: how many
    documents count as retrieved, 10. normalizer, language: for measures that compare texts.
    relevance: `document` (the question's own), `dpr`, `kilt`, `lower` and `raw` (any document that holds an answer, by a rule of
    `texts.CONTAINMENTS`), or `context` (one that shares `context_share` of its text, 0.65, with the question's own).
    ties: where a run has equal scores. duplicates: a document twice in a list is an `error`, or the `first`, the `best` or all of
    its places (`keep`) count; as the convention has it where None.
    missing: a question without a prediction counts `zero`, as `empty`, is left out (`skip`) or an `error`; extra: a prediction
    without a question is left out (`ignore`) or an `error`.
    na_threshold: above which number no answer is given. na_ties: best thresholds keep equal numbers together (`whole`), or are
    found as SQuAD's script finds them (`official`).
    right: the measure by which a question is answered rightly, from 0.5 on; the first of the report where None.
    …_format: names of formats, where content does not tell. details: keep documents, answers and questions for a page.
    Raises NothingToEvaluate where the tables share no question, BadUsage for options that do not go together, and the readers'
    errors for bad input. Source of the division of blame: Haystack 0.x Finder.eval, and isolated evaluation of Haystack 1.x.
    """
    _check(predictions, retrieved, isolated, na_probs)
    check_intervals(intervals, seed)
    of_run: dict[str, Any] = {"retriever_k": retriever_k, "relevance": relevance, "context_share": context_share}
    of_run |= {"corpus": corpus, "ties": ties, "duplicates": duplicates, "retrieved_format": retrieved_format}
    of_reader: dict[str, Any] = {"normalizer": normalizer, "language": language, "missing": missing, "extra": extra}
    of_reader |= {"na_threshold": na_threshold, "na_ties": na_ties, "right": right, "predictions_format": predictions_format}
    refuse_idle(
        {
            "retrieved": (retrieved, of_run),
            "PREDICTIONS": (predictions, of_reader),
            "isolated": (isolated, {"isolated_format": isolated_format}),
        }
    )
    depth, retriever_depth = cut_off("k", k, 5), cut_off("retriever_k", retriever_k, 10)
    words = Words(CONVENTIONS[convention], depth, retriever_depth, normalizer, language, na_threshold)
    chosen = split_names(measures) if isinstance(measures, str) else measures
    has_answers = predictions is not None
    wanted = choose(words, chosen, right, has_run=retrieved is not None, has_answers=has_answers, k_given=k is not None)
    rules = _Rules(
        words=words,
        wanted=wanted,
        relevance=one_of("relevance", relevance or words.reading.relevance, Relevance),
        frozen=relevance is None,
        context_share=shared_part(context_share, relevance),
        ties=words.convention.ties if ties is None else tie_rule(ties),
        missing=one_of("missing", missing or words.reading.missing, Missing),
        extra=one_of("extra", extra or "ignore", Extra),
        na_ties=None if na_ties is None else one_of("na_ties", na_ties, Groups),
    )
    if rules.ties == "expected":
        raise BadUsage("ties='expected': a retriever's list is a definite order; name a rule that breaks ties.")
    formats = {
        "gold": gold_format,
        "predictions": predictions_format,
        "retrieved": retrieved_format,
        "isolated": isolated_format,
    }
    repeats: Repeats = one_of("duplicates", duplicates or words.reading.duplicates, _REPEATS)
    given = Given(gold, predictions, retrieved, isolated, na_probs, corpus, formats, repeats)
    return _Evaluation(rules, read_sources(given), progress).results(intervals, seed, details=details)


def _check(predictions: Any, retrieved: Any, isolated: Any, na_probs: Any) -> None:
    if predictions is None and retrieved is None:
        raise BadUsage("there is nothing to judge; give PREDICTIONS, --retrieved, or both.")
    for option, place in (("isolated", isolated), ("na_probs", na_probs)):
        if place is not None and predictions is None:
            raise BadUsage(f"--{option.replace('_', '-')} says more of a reader's answers; give its PREDICTIONS, too.")


@dataclass(frozen=True)
class _Rules:
    """Every choice that decides a value."""

    words: Words
    wanted: Wanted
    relevance: Relevance
    frozen: bool
    context_share: float
    ties: TieRule
    missing: Missing
    extra: Extra
    na_ties: Groups | None


@dataclass
class _Evaluation:
    """One evaluation under way."""

    rules: _Rules
    sources: Sources
    progress: Progress | None
    notes: list[str] = field(default_factory=list[str])

    def results(self, intervals: Intervals, seed: int, *, details: bool) -> AnswerResults:
        """Everything, in the order retriever, reader, reader on the right passages."""
        wanted, questions = self.rules.wanted, self.sources.gold.table
        retrieval = self._retrieval()
        readings = self._readings("predictions", retrieval)
        isolated = self._readings("isolated", None)
        values, parts = self._values(retrieval, readings, isolated)
        searched = self._searched(readings)
        self._refuse_idle_thresholds(readings, searched)
        figures = () if searched is None else thresholds.figure_rows(searched, self.rules.words.convention)
        impossible = self._impossible
        found = outcomes(
            questions.ids,
            [bool(each) for each in impossible],
            retrieval=retrieval,
            readings=readings,
            isolated=isolated,
            judge=None if readings is None else wanted.judge,
        )
        judge = None if readings is None else wanted.judge
        explained = Explained(questions, found, retrieval, readings, isolated, judge)
        return AnswerResults(
            values=tuple(values),
            rules=self._describe(retrieval, readings, isolated, figures),
            notes=(*self.sources.notes, *wanted.notes, *self.notes),
            row_attributes=tuple({"part": part} for part in parts),
            aggregates=tuple(row | {"part": "reader"} for row in figures),
            sources=self.sources.files,
            details=explained.details() if details else None,
            queries=explained.queries() if details else None,
            items=explained.items() if details else None,
            intervals=intervals,
            seed=seed,
            population_sd=self.rules.words.convention.population_sd,
            outcomes=tuple(found),
            explained=explained,
            searched=searched,
            swept=self._swept(readings),
            convention=self.rules.words.convention,
        )

    @property
    def _rprec(self) -> bool:
        return "EvidenceRprec" in {each.measure.name for each in self.rules.wanted.retriever}

    @cached_property
    def _impossible(self) -> Bools:
        """(questions,) whether nothing is right but to give no answer, by the convention's rule."""
        questions, rule = self.sources.gold.table, self._impossible_rule
        unanswered = np.diff(questions.offsets) == 0
        return unanswered & questions.impossible if rule == "flagged" else unanswered

    @property
    def _impossible_rule(self) -> Impossible:
        return self.rules.words.reading.impossible

    def _retrieval(self) -> Retrieval | None:
        if self.sources.retrieved is None:
            return None
        found = retrieval_of(
            self.sources.retrieved,
            self.sources.gold.table,
            run=self.sources.names["retrieved"],
            relevance=self.rules.relevance,
            frozen=self.rules.frozen,
            corpus=self.sources.corpus,
            context_share=self.rules.context_share,
            ties=self.rules.ties,
            k=self.rules.words.retriever_k,
            rprec=self._rprec,
            free=self._impossible if self.rules.words.reading.nothing_to_find == "right" else None,
        )
        self.notes += found.notes
        if found.missing:
            self.notes.append(f"{found.run}: nothing was retrieved for {found.missing} questions, which are misses")
        if found.hits.unknown:
            self.notes.append(f"{found.run}: {len(found.hits.unknown)} lists are of no question here and are ignored")
        if found.without_relevant:
            self.notes.append(f"{found.run}: no document is relevant to {found.without_relevant} questions, which are misses")
        return found

    def _readings(self, role: str, retrieval: Retrieval | None) -> Readings | None:
        table = self.sources.predictions if role == "predictions" else self.sources.isolated
        if table is None:
            return None
        questions = self.sources.gold.table
        known = None
        if role == "isolated":
            known = dict.fromkeys(questions.ids, True)
        elif retrieval is not None:
            known = dict(zip(questions.ids, map(bool, retrieval.found), strict=True))
        found = Readings.of(
            self.sources.names[role],
            questions,
            table,
            impossible=self._impossible_rule,
            missing=self.rules.missing,
            extra=self.rules.extra,
            retrieved=known,
        )
        if found.counts["missing"]:
            told = _POLICIES.get(self.rules.missing, "")
            self.notes.append(f"{found.run}: {found.counts['missing']} questions have no prediction; {told}")
        if found.counts["extra"]:
            self.notes.append(f"{found.run}: {found.counts['extra']} predictions are of no question here and are ignored")
        if any(compares_positions(each.measure) for each in self.rules.wanted.reader):
            documents = [each for each in found.predictions.documents if each is not None]
            known = () if self.sources.retrieved is None else self.sources.retrieved.table.items
            self.notes += strangers(found.run, documents, questions, "answers'", known)
            self.notes += found.position_notes(questions)
        return found

    def _values(self, retrieval: Retrieval | None, *read: Readings | None) -> tuple[list[Values], list[str]]:
        values, parts, wanted = list[Values](), list[str](), self.rules.wanted
        for asked in wanted.retriever if retrieval is not None else ():
            numbers = retrieval.values(asked.measure) if retrieval is not None else np.zeros(0)
            values.append(
                values_of(self.sources.names["retrieved"], self.sources.gold.table.ids, asked, numbers, self._convention)
            )
            parts.append("retriever")
        for part, readings in zip(("reader", "isolated"), read, strict=True):
            for place, asked in enumerate(wanted.reader if readings is not None else ()):
                if self.progress is not None:
                    self.progress(part, place, len(wanted.reader))
                if readings is not None:
                    numbers = asked.measure(readings.pairs)
                    values.append(values_of(readings.run, readings.pairs.queries, asked, numbers, self._convention))
                    parts.append(part)
        return values, parts

    @property
    def _convention(self) -> Convention:
        return self.rules.words.convention

    def _searched(self, readings: Readings | None) -> Searched | None:
        """Where somebody gave numbers, or the reader did and there is something to tell apart by them."""
        mixed = bool(self._impossible.any() and not self._impossible.all())
        if readings is None or not (self.sources.na_order or mixed):
            return None
        reader = self.rules.wanted.reader
        found = thresholds.search(readings, reader, ties=self.rules.na_ties or "whole", order=self.sources.na_order)
        self.notes += found.notes if found is not None else ()
        return found

    def _refuse_idle_thresholds(self, readings: Readings | None, searched: Searched | None) -> None:
        """Raises BadUsage where an option is about numbers that nobody gave, or a search that nobody needs."""
        numbers = None if readings is None else readings.predictions.no_answer
        for option, value in (("--na-threshold", self.rules.words.na_threshold), ("--na-ties", self.rules.na_ties)):
            if value is not None and numbers is None:
                what = f"{option} {value}: nothing says how likely a question has no answer"
                raise BadUsage(f"{what}; give --na-probs, or predictions with no_answer.")
        if self.rules.na_ties is not None and searched is None:
            raise BadUsage(f"--na-ties {self.rules.na_ties}: no threshold is searched for these measures; leave it out.")

    def _swept(self, readings: Readings | None) -> tuple[LabelledMeasure, ...]:
        """The measures that are cut at every place: of the retriever all that can be, of the reader those over all questions."""
        words, wanted = self.rules.words, self.rules.wanted
        retriever = [each for each in wanted.retriever if each.measure.cutoff is not None and each.measure.cutoff > 1]
        if readings is None or int(np.diff(readings.pairs.offsets).max(initial=0)) < 2:
            return tuple(retriever)
        over_all = [each for each in wanted.reader if each.measure.parameters["population"] == "all"]
        reader = [each for each in over_all if each.measure.cutoff == words.k and words.k > 1]
        first = [each for each in over_all if each.measure.cutoff == 1] if words.k > 1 else []
        reader = reader or [LabelledMeasure(each.measure.with_parameters(k=words.k), each.label) for each in first]
        return (*retriever, *reader)

    def _describe(
        self,
        retrieval: Retrieval | None,
        readings: Readings | None,
        isolated: Readings | None,
        figures: Sequence[Mapping[str, Any]],
    ) -> dict[str, Any]:
        words, wanted, questions = self.rules.words, self.rules.wanted, self.sources.gold.table
        silent = int(np.count_nonzero(self._impossible))
        about = {"questions": len(questions.ids), "answerable": len(questions.ids) - silent, "impossible": silent}
        asked = {str(each.measure): each.measure.entry.definition for each in (*wanted.retriever, *wanted.reader)}
        counts = {each.run: dict(each.counts) for each in (readings, isolated) if each is not None}
        if retrieval is not None:
            counts = {retrieval.run: {**about, "missing": retrieval.missing, "extra": len(retrieval.hits.unknown)}, **counts}
        return {
            "convention": words.convention.name,
            "k": words.k,
            **(
                {"retriever_k": words.retriever_k, "relevance": self.rules.relevance, "ties": retrieval.ties} if retrieval else {}
            ),
            **(
                {"impossible": self._impossible_rule, "missing": self.rules.missing, "extra": self.rules.extra}
                if readings
                else {}
            ),
            **({"right": str(wanted.judge.right), "right_label": wanted.judge.label} if readings else {}),
            **({"na_ties": self.rules.na_ties or "whole"} if figures else {}),
            "gold": {**about, "merged": 0, **self.sources.gold.counts},
            "counts": counts,
            "formats": dict(self.sources.formats),
            "convention_notes": list(words.convention.notes),
            "measures": {**asked, **thresholds.definitions(figures)},
        }
