"""Questions, what was retrieved for them and what was answered: how right both are, and which of them fails."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, get_args

import numpy as np

from rankwell.conventions import CONVENTIONS, Asked, Convention
from rankwell.errors import BadUsage
from rankwell.evaluation import Results
from rankwell.evaluation.answers import thresholds
from rankwell.evaluation.answers.choices import Wanted, Words, choose, cut_offs, one_of
from rankwell.evaluation.answers.failures import Outcome, failure_rows, outcomes
from rankwell.evaluation.answers.reading import Readings, compares_positions
from rankwell.evaluation.answers.retrieval import Relevance, Retrieval, retrieval_of
from rankwell.evaluation.answers.sources import Given, Sources, read_sources
from rankwell.evaluation.answers.tables import Explained
from rankwell.evaluation.answers.thresholds import Searched
from rankwell.measures.answers import sweep
from rankwell.measures.answers_thresholds import Groups
from rankwell.registry import Measure, split_names
from rankwell.stats import Intervals
from rankwell.stats.summaries import summarise
from rankwell.tables import Bools, Floats
from rankwell.tables.columns import Duplicates
from rankwell.tables.order import TieRule, tie_rule
from rankwell.tables.values import Unit, Values
from rankwell.views.answer_pairs import Extra, Impossible, Missing

Progress = Callable[[str, int, int], None]
_POLICIES = {"zero": "they count 0", "empty": "they count as answered by nothing", "skip": "they are left out"}


@dataclass(frozen=True, eq=False, kw_only=True)
class AnswerResults(Results):
    """The values of retriever and reader, and what became of every question.

    outcomes: a question each, in the order of their ids. searched: what a threshold on the no-answer numbers reaches.
    explained: the questions with all that was made of them. swept: the measures that can be cut at other places.
    """

    outcomes: tuple[Outcome, ...]
    explained: Explained
    searched: Searched | None
    swept: tuple[Asked, ...]
    convention: Convention

    @cached_property
    def failures(self) -> list[dict[str, Any]]:
        """How many questions the retriever, the reader, or its silence failed, and why: `failed, why, questions, share`."""
        return failure_rows(self.outcomes)

    def hardest(self, most: int | None = None) -> list[dict[str, Any]]:
        """The questions that somebody failed, the hardest first, with the right answer, the given one, and what they share."""
        return self.explained.hardest(most)

    @cached_property
    def no_answer_curves(self) -> list[dict[str, Any]]:
        """Precision and recall of answering at every threshold: `label, threshold, recall, precision`."""
        return [] if self.searched is None else thresholds.curve_rows(self.searched)

    @cached_property
    def top_k(self) -> list[dict[str, Any]]:
        """Summary rows at every cut-off, with `k`; each is exact, as it is the same lists cut shorter."""
        values, ks = list[Values](), list[int]()
        for asked in self.swept:
            depth = asked.measure.cutoff or 1
            word = asked.label.partition("@")[0]
            cuts = cut_offs(depth)
            for k, found in zip(cuts, self._cut(asked.measure, cuts), strict=True):
                run, queries, numbers = found
                values.append(
                    _values(run, queries, Asked(asked.measure.with_parameters(k=k), f"{word}@{k}"), numbers, self.convention)
                )
                ks.append(k)
        rows = summarise(values, intervals=self.intervals, seed=self.seed, population_sd=self.population_sd)
        return [row.as_row() | {"k": k} for row, k in zip(rows, ks, strict=True)]

    def _cut(self, measure: Measure, ks: Sequence[int]) -> list[tuple[str, tuple[str, ...], Floats]]:
        retrieval, readings = self.explained.retrieval, self.explained.readings
        if readings is not None and isinstance(readings.pairs, measure.entry.view):
            return [(readings.run, readings.pairs.queries, row) for row in sweep(measure, readings.pairs, ks)]
        if retrieval is None:
            return []
        return [(retrieval.run, retrieval.questions.ids, retrieval.values(measure.with_parameters(k=k))) for k in ks]


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
    k: int = 5,
    retriever_k: int = 10,
    normalizer: str | None = None,
    language: str | None = None,
    relevance: Relevance | None = None,
    context_share: float = 0.65,
    ties: TieRule | None = None,
    missing: Missing | None = None,
    extra: Extra = "ignore",
    na_threshold: float | None = None,
    na_ties: Groups = "whole",
    right: str | None = None,
    duplicates: Duplicates = "error",
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
    convention: whose words and rules. measures: its report where None. k: for words without a cut-off; retriever_k: how many
    documents count as retrieved. normalizer, language: for measures that compare texts.
    relevance: `document` (the question's own), `dpr`, `kilt`, `lower` and `raw` (any document that holds an answer, by a rule of
    `texts.CONTAINMENTS`), or `context` (one that shares `context_share` of its text with the question's own).
    ties: where a run has equal scores. missing: a question without a prediction counts `zero`, as `empty`, is left out (`skip`),
    or is an `error`; extra: a prediction without a question is ignored or an `error`.
    na_threshold: above which number no answer is given. na_ties: `official` as SQuAD's script chooses thresholds.
    right: the measure by which a question is answered rightly, from 0.5 on; the first of the report where None.
    …_format: names of formats, where content does not tell. details: keep documents, answers and questions for a page.
    Raises NothingToEvaluate where the tables share no question, BadUsage for options that do not go together, and the readers'
    errors for bad input. Source of the division of blame: Haystack 0.x Finder.eval, and isolated evaluation of Haystack 1.x.
    """
    _check(predictions, retrieved, isolated, na_probs, k, retriever_k, intervals, seed)
    words = Words(CONVENTIONS[convention], k, retriever_k, normalizer, language, na_threshold)
    chosen = split_names(measures) if isinstance(measures, str) else measures
    wanted = choose(words, chosen, right, has_run=retrieved is not None, has_answers=predictions is not None)
    rules = _Rules(
        words=words,
        wanted=wanted,
        relevance=one_of("relevance", relevance or words.reading.relevance, Relevance),
        frozen=relevance is None,
        context_share=context_share,
        ties=words.convention.ties if ties is None else tie_rule(ties),
        missing=one_of("missing", missing or words.reading.missing, Missing),
        extra=one_of("extra", extra, Extra),
        na_ties=one_of("na_ties", na_ties, Groups),
    )
    if rules.ties == "expected":
        raise BadUsage("ties='expected': a retriever's list is a definite order; name a rule that breaks ties.")
    formats = {
        "gold": gold_format,
        "predictions": predictions_format,
        "retrieved": retrieved_format,
        "isolated": isolated_format,
    }
    given = Given(gold, predictions, retrieved, isolated, na_probs, corpus, formats, duplicates)
    return _Evaluation(rules, read_sources(given), progress).results(intervals, seed, details=details)


def _check(
    predictions: Any, retrieved: Any, isolated: Any, na_probs: Any, k: int, retriever_k: int, intervals: str, seed: int
) -> None:
    if predictions is None and retrieved is None:
        raise BadUsage("there is nothing to judge; give PREDICTIONS, --retrieved, or both.")
    for option, place in (("isolated", isolated), ("na_probs", na_probs)):
        if place is not None and predictions is None:
            raise BadUsage(f"--{option.replace('_', '-')} says more of a reader's answers; give its PREDICTIONS, too.")
    if k < 1 or retriever_k < 1:
        raise BadUsage(f"k={k}, retriever_k={retriever_k}; cut-offs are whole numbers from 1.")
    if intervals not in get_args(Intervals) or seed < 0:
        raise BadUsage(
            f"intervals={intervals!r}, seed={seed!r}: intervals are bootstrap, t or none; a seed is a whole number from 0."
        )


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
    na_ties: Groups


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
        figures = () if searched is None else thresholds.figure_rows(searched, percent=self._percent)
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
            facts=tuple({"part": part} for part in parts),
            figures=tuple(row | {"part": "reader"} for row in figures),
            sources=self.sources.files,
            details=explained.details() if details else None,
            queries=explained.queries() if details else None,
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
    def _percent(self) -> bool:
        return self.rules.words.convention.unit == "percent"

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
        self.notes += found.notes(positions=any(compares_positions(each.measure) for each in self.rules.wanted.reader))
        return found

    def _values(self, retrieval: Retrieval | None, *read: Readings | None) -> tuple[list[Values], list[str]]:
        values, parts, wanted = list[Values](), list[str](), self.rules.wanted
        for asked in wanted.retriever if retrieval is not None else ():
            numbers = retrieval.values(asked.measure) if retrieval is not None else np.zeros(0)
            values.append(_values(self.sources.names["retrieved"], self.sources.gold.table.ids, asked, numbers, self._convention))
            parts.append("retriever")
        for part, readings in zip(("reader", "isolated"), read, strict=True):
            for place, asked in enumerate(wanted.reader if readings is not None else ()):
                if self.progress is not None:
                    self.progress(part, place, len(wanted.reader))
                if readings is not None:
                    numbers = asked.measure(readings.pairs)
                    values.append(_values(readings.run, readings.pairs.queries, asked, numbers, self._convention))
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
        found = thresholds.search(readings, reader, ties=self.rules.na_ties, order=self.sources.na_order)
        self.notes += found.notes if found is not None else ()
        return found

    def _swept(self, readings: Readings | None) -> tuple[Asked, ...]:
        """The measures that are cut at every place: of the retriever all that can be, of the reader those over all questions."""
        words, wanted = self.rules.words, self.rules.wanted
        retriever = [each for each in wanted.retriever if each.measure.cutoff is not None and each.measure.cutoff > 1]
        if readings is None or int(np.diff(readings.pairs.offsets).max(initial=0)) < 2:
            return tuple(retriever)
        over_all = [each for each in wanted.reader if each.measure.parameters["population"] == "all"]
        reader = [each for each in over_all if each.measure.cutoff == words.k and words.k > 1]
        first = [each for each in over_all if each.measure.cutoff == 1] if words.k > 1 else []
        reader = reader or [Asked(each.measure.with_parameters(k=words.k), each.label) for each in first]
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
            **({"right": str(wanted.judge.right)} if readings else {}),
            **({"na_ties": self.rules.na_ties} if figures else {}),
            "gold": {**about, "merged": 0, **self.sources.gold.counts},
            "counts": counts,
            "formats": dict(self.sources.formats),
            "measures": {**asked, **thresholds.definitions(figures)},
        }


def _values(run: str, queries: Sequence[str], asked: Asked, numbers: Floats, convention: Convention) -> Values:
    percent = convention.unit == "percent" and asked.measure.entry.unit == "share"
    unit: Unit = "percent" if percent else asked.measure.entry.unit
    shown = numbers * 100.0 if percent else numbers
    return Values(run, str(asked.measure), asked.label, unit, asked.measure.entry.summary, tuple(queries), shown)
