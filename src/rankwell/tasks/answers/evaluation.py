"""Questions, the documents retrieved for them and the answers given: the values of both, and which
of them fails.
"""

from collections import UserDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from rankwell.conventions import CONVENTIONS, Convention, LabelledMeasure
from rankwell.core.options import takes_options
from rankwell.core.tables import Bools
from rankwell.core.tables.columns import Repeats
from rankwell.errors import BadUsage, NothingToEvaluate, count_of, flag
from rankwell.evaluation.judged import JudgedRun
from rankwell.evaluation.results import (
    QUERIES_COUNTED,
    QUERIES_MISSING,
    QUERIES_UNKNOWN,
    ResultsBuilder,
)
from rankwell.io.files import read_texts
from rankwell.results import Results
from rankwell.stats import summarise
from rankwell.store import STDIN, Source
from rankwell.tasks.answers import thresholds
from rankwell.tasks.answers.answer_pairs import AnswerPairs, Questions, unmatched
from rankwell.tasks.answers.formats import (
    FoundTable,
    read_na_probs,
    read_predictions,
    read_questions,
    read_retrieved,
)
from rankwell.tasks.answers.measures.answers_texts import libraries
from rankwell.tasks.answers.options import AnswerOptions
from rankwell.tasks.answers.outcomes import (
    Outcome,
    ReaderRun,
    answerable_counts,
    failure_rows,
    hardest,
    outcomes,
)
from rankwell.tasks.answers.plan import AnswerPlan, compares_positions
from rankwell.tasks.answers.retrieval import RetrieverRun, unknown_documents
from rankwell.tasks.answers.tables import AnswerTables
from rankwell.tasks.answers.thresholds import ThresholdSearch

Progress = Callable[[str, int, int], None]
_POLICIES = {"zero": "counted as 0", "empty": "counted as answered by nothing", "skip": "left out"}
_MISSES = ("question, which is a miss", "questions, which are misses")
_PARTS = {"retrieved": "retriever", "predictions": "reader", "isolated": "isolated"}


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class AnswerResults(Results):
    """Results of retrieved documents and of answers.

    outcomes: how each question went. hardest: the questions that went worst, the first of them
    where a number is given. searched: the thresholds of giving no answer, None where there are no
    scores for it. convention: whose rules hold. retriever: the name of its run, None without one.
    """

    outcomes: tuple[Outcome, ...]
    hardest: Callable[..., list[dict[str, Any]]]
    searched: ThresholdSearch | None
    convention: Convention
    retriever: str | None

    @property
    def failures(self) -> Sequence[Mapping[str, Any]]:
        """How many questions failed, and where."""
        return self.tables["failures"]

    @property
    def top_k(self) -> Sequence[Mapping[str, Any]]:
        """The measures over the number of documents or answers that are looked at."""
        return self.tables["top_k"]

    @property
    def no_answer_curves(self) -> Sequence[Mapping[str, Any]]:
        """The points of the curves over thresholds of giving no answer."""
        return self.tables["no_answer_curves"]


@takes_options(AnswerOptions)
def evaluate_answers(
    gold: Any,
    predictions: Any = None,
    *,
    options: AnswerOptions,
    details: bool = False,
    progress: Progress | None = None,
) -> AnswerResults:
    """The values of retrieved documents and of answers, and which of the two fails, question by
    question.

    gold: questions with right answers, as `read_questions` takes them. predictions: as
    `read_predictions`; options.retrieved: as `read_retrieved`; either or both. options: the fields
    of `AnswerOptions`, as keywords or as one. details: keep documents, answers and questions for a
    page.
    Of the result, `outcomes` has an Outcome per question, `failures` counts them, `hardest(n)`
    shows the hardest questions, `top_k` has summary rows at every cut-off, `no_answer_curves`
    precision and recall at every threshold (`searched`).
    Raises NothingToEvaluate where the tables share no question, BadUsage for options that cannot be
    combined, and the readers' errors for bad input. Source of the division of blame: Haystack 0.x
    Finder.eval, and isolated evaluation of Haystack 1.x.
    """
    plan = AnswerPlan(options, has_answers=predictions is not None)
    plan.check(predictions)
    inputs = AnswerInputs(gold, predictions, options)
    if options.convention is None:
        plan = replace(plan, options=replace(options, convention=inputs.usual_convention))
        plan.check(predictions)
    inputs.add_retrieved(plan.duplicates)
    return _AnswerEvaluation(plan, inputs, progress).results(details=details)


class AnswerInputs:
    """The tables by their parts: gold, predictions, isolated, na_probs, retrieved. names: of runs
    in rows.

    Raises NothingToEvaluate where a table has no question in common with the others.
    """

    def __init__(self, gold: Any, predictions: Any, options: AnswerOptions) -> None:
        others = {
            name: getattr(options, name) for name in ("retrieved", "isolated", "na_probs", "corpus")
        }
        places = {"gold": gold, "predictions": predictions, **others}
        tables: dict[str, FoundTable[Any]] = {
            "gold": read_questions(gold, format=options.gold_format)
        }
        questions: Questions = tables["gold"].table
        for role in ("predictions", "isolated"):
            if places[role] is not None:
                format_name = getattr(options, f"{role}_format")
                tables[role] = read_predictions(
                    places[role], format=format_name, questions=questions
                )
        if options.na_probs is not None:
            found = tables["na_probs"] = read_na_probs(options.na_probs)
            _refuse_other_questions(questions, found.table, "no-answer probabilities")
            tables["predictions"] = tables["predictions"]._replace(
                table=tables["predictions"].table.with_no_answer(found.table)
            )
        self._options, self.notes = options, list[str]()
        self.tables, self.corpus = (
            tables,
            None if options.corpus is None else read_texts(options.corpus).texts,
        )
        self.names = _names({role: places[role] for role in _PARTS if places[role] is not None})
        self.files = {name: Source(place) for name, place in places.items() if _is_file(place)}

    @property
    def usual_convention(self) -> str:
        """The convention where none is named: squad2 or squad1 where texts answer a file of SQuAD,
        else piaf. It is noted.
        """
        gold, given = self.tables["gold"], self.tables.get("predictions")
        if gold.format != "squad" or given is None or (given.table.starts >= 0).any():
            name, reason = "piaf", "the default"
        elif gold.table.impossible.any():
            name, reason = "squad2", "the default of SQuAD 2.0 questions with texts as answers"
        else:
            name, reason = "squad1", "the default of SQuAD 1.1 questions with texts as answers"
        self.notes += CONVENTIONS[name].unnamed(self._options, reason)
        return name

    def add_retrieved(self, duplicates: Repeats) -> None:
        """Reads the retrieved documents, where there are any."""
        run, questions = self._options.retrieved, self.tables["gold"].table
        if run is not None:
            name, columns = self._options.retrieved_format, self._options.columns
            found = read_retrieved(
                run, format=name, questions=questions, duplicates=duplicates, columns=columns
            )
            self.tables["retrieved"] = found
            _refuse_other_questions(questions, found.table.index, "retrieved documents")


def _is_file(place: Any) -> bool:
    return isinstance(place, (str, Path)) and str(place) not in STDIN


def _refuse_other_questions(questions: Questions, others: Mapping[str, Any], what: str) -> None:
    """Raises NothingToEvaluate where no question is among the others."""
    if others and not any(name in others for name in questions.ids):
        example = f"questions have ids like {questions.ids[0]!r}, these like {next(iter(others))!r}"
        begin = f"none of the {len(questions.ids)} questions has {what} ({example})"
        raise NothingToEvaluate(f"{begin}; is this of another data set?")


def _names(places: Mapping[str, Any]) -> dict[str, str]:
    """The name of each table: its file's stem; where stems are equal the whole name, the folder
    too, or its part.
    """
    names = {
        role: Source(place).stem if _is_file(place) else _PARTS[role]
        for role, place in places.items()
    }
    for longer in (lambda path: path.name, lambda path: f"{path.parent.name}/{path.name}"):
        listed = [*names.values()]
        for role, place in places.items():
            if listed.count(names[role]) > 1 and _is_file(place):
                names[role] = longer(Path(place))
    listed = [*names.values()]
    for role, name in names.items():
        # One file may hold answers and documents, as KILT's do.
        if listed.count(name) > 1:
            names[role] = f"{Source(places[role]).stem} ({_PARTS[role]})"
    return names


class _AnswerEvaluation:
    """One evaluation under way."""

    def __init__(self, plan: AnswerPlan, inputs: AnswerInputs, progress: Progress | None) -> None:
        self.plan, self.inputs, self.options, self._progress = plan, inputs, plan.options, progress
        self.questions: Questions = inputs.tables["gold"].table
        self.builder = ResultsBuilder(plan.convention)

    def results(self, *, details: bool) -> AnswerResults:
        """Everything, in the order retriever, reader, reader on the right passages."""
        plan, builder = self.plan, self.builder
        retriever = self._retriever()
        reader, isolated = self._reader("predictions", retriever), self._reader("isolated", None)
        self._add(retriever, plan.measures.retriever)
        self._add(reader, plan.measures.reader)
        self._add(isolated, plan.measures.reader)
        search = self._search(reader)
        aggregates = [] if search is None else thresholds.threshold_rows(search, builder.convention)
        judge = None if reader is None else plan.measures.judge
        read = chain.from_iterable(each.notes for each in self.inputs.tables.values())
        impossible = list(map(bool, self._impossible))
        found = outcomes(
            self.questions.ids,
            impossible,
            retriever=retriever,
            reader=reader,
            isolated=isolated,
            judge=judge,
        )
        explained = AnswerTables(self.questions, found, retriever, reader, isolated, judge)
        return builder.results(
            AnswerResults,
            rules=self._rules(retriever, reader, aggregates),
            measures=(*plan.measures.retriever, *plan.measures.reader),
            notes=(*self.inputs.notes, *read, *plan.measures.notes, *builder.notes),
            intervals=self.options.intervals,
            seed=self.options.seed,
            task="answers",
            aggregates=tuple(aggregates),
            sources=self.inputs.files,
            **(
                {name: getattr(explained, name)() for name in ("details", "queries", "items")}
                if details
                else {}
            ),
            tables=_LazyTables(
                failures=partial(failure_rows, found),
                top_k=partial(self._top_k, retriever, reader),
                no_answer_curves=lambda: [] if search is None else thresholds.curve_rows(search),
            ),
            outcomes=tuple(found),
            hardest=lambda most=None: [explained.row(outcome) for outcome in hardest(found)[:most]],
            searched=search,
            convention=builder.convention,
            retriever=None if retriever is None else retriever.name,
        )

    @cached_property
    def _impossible(self) -> Bools:
        """(questions,) whether nothing is right but to give no answer, by the convention's rule."""
        unanswered = np.diff(self.questions.offsets) == 0
        return (
            unanswered & self.questions.impossible
            if self.plan.rules.impossible == "flagged"
            else unanswered
        )

    def _retriever(self) -> RetrieverRun | None:
        inputs, found = self.inputs, self.inputs.tables.get("retrieved")
        if found is None:
            return None
        nothing_to_find = self._impossible if self.plan.rules.nothing_to_find == "right" else None
        name = inputs.names["retrieved"]
        run = RetrieverRun.of(
            name, found, self.questions, self.plan.relevance, inputs.corpus, nothing_to_find
        )
        bare = (run.view.n_relevant(1) == 0) & (
            True if nothing_to_find is None else ~nothing_to_find
        )
        counts = {
            QUERIES_MISSING: int(np.count_nonzero(~run.hits.present)),
            QUERIES_UNKNOWN: len(run.hits.unknown),
        }
        notes = {
            "nothing was retrieved for {}": (counts[QUERIES_MISSING], *_MISSES),
            "{} of no question here and ignored": (counts[QUERIES_UNKNOWN], "list is", "lists are"),
            "no document is relevant to {}": (int(np.count_nonzero(bare)), *_MISSES),
        }
        self._count(run, self._impossible, counts, notes)
        return run

    def _reader(self, role: str, retriever: RetrieverRun | None) -> ReaderRun | None:
        plan, questions = self.plan, self.questions
        if role not in self.inputs.tables:
            return None
        known = None
        if role == "isolated":
            known = dict.fromkeys(questions.ids, True)
        elif retriever is not None:
            known = dict(zip(questions.ids, map(bool, retriever.found), strict=True))
        predictions, name = self.inputs.tables[role].table, self.inputs.names[role]
        view = AnswerPairs.pair(questions, predictions, retrieved=known, **plan.pairing)
        run = ReaderRun(
            name=name, attributes={"part": _PARTS[role]}, view=view, predictions=predictions
        )
        missing, extra = map(len, unmatched(questions, predictions))
        notes = {
            f"{{}} no prediction, {_POLICIES.get(plan.pairing['missing'], '')}": (
                missing,
                "question has",
                "questions have",
            ),
            "{} of no question here and ignored": (extra, "prediction is", "predictions are"),
        }
        self._count(run, view.impossible, {QUERIES_MISSING: missing, QUERIES_UNKNOWN: extra}, notes)
        if any(compares_positions(each.measure) for each in plan.measures.reader):
            documents = [each for each in predictions.documents if each is not None]
            retrieved = (
                self.inputs.tables["retrieved"].table.items
                if "retrieved" in self.inputs.tables
                else ()
            )
            self.builder.notes += unknown_documents(
                name, documents, questions, "answers'", retrieved
            )
            self.builder.notes += run.position_notes(questions)
        return run

    def _count(
        self,
        run: JudgedRun,
        impossible: Bools,
        counts: Mapping[str, int],
        notes: Mapping[str, tuple[int, str, str]],
    ) -> None:
        """Keeps the counts of a run, and the notes whose number, with its noun, is not 0."""
        self.builder.counts[run.name] = {
            QUERIES_COUNTED: len(run.view.queries),
            **answerable_counts(impossible),
            **counts,
        }
        own = run.notes if isinstance(run, RetrieverRun) else ()
        self.builder.notes += [
            *own,
            *(f"{run.name}: {note.format(count_of(*n))}" for note, n in notes.items() if n[0]),
        ]

    def _add(self, run: JudgedRun | None, measures: Sequence[LabelledMeasure]) -> None:
        if run is None:
            return
        for place, each in enumerate(measures):
            if self._progress is not None and isinstance(run, ReaderRun):
                self._progress(run.attributes["part"], place, len(measures))
            self.builder.add(run, [each], np.ones(len(run.view.queries), dtype=np.bool_))

    def _search(self, reader: ReaderRun | None) -> thresholds.ThresholdSearch | None:
        """The best thresholds, if a file, or the reader for both kinds of questions, gives
        no-answer numbers. Raises BadUsage.
        """
        options, search = self.options, None
        mixed = bool(self._impossible.any() and not self._impossible.all())
        order = (
            tuple(self.inputs.tables["na_probs"].table) if "na_probs" in self.inputs.tables else ()
        )
        if reader is not None and (order or mixed):
            search = thresholds.search_thresholds(
                reader, self.plan.measures.reader, ties=options.na_ties or "whole", order=order
            )
        numbers = None if reader is None else reader.predictions.no_answer
        for option, value in (
            ("--na-threshold", options.na_threshold),
            ("--na-ties", options.na_ties),
        ):
            if value is not None and numbers is None:
                what = f"{flag(option, value)} has no effect without no-answer numbers"
                raise BadUsage(f"{what}; give {flag('--na-probs')}, or predictions with no_answer.")
        if options.na_ties is not None and search is None:
            raise BadUsage(
                f"{flag('--na-ties', options.na_ties)}: no threshold is searched for these "
                "measures; leave it out."
            )
        self.builder.notes += () if search is None else search.notes
        return search

    def _top_k(
        self, retriever: RetrieverRun | None, reader: ReaderRun | None
    ) -> list[dict[str, Any]]:
        """Summary rows at every cut-off, with `k`; each is exact, as it is the same lists cut
        shorter.
        """
        builder, ks = ResultsBuilder(self.builder.convention), list[int]()
        for labelled in self._with_cutoffs(reader):
            measure, word = labelled.measure, labelled.label.partition("@")[0]
            run = (
                reader
                if reader is not None and isinstance(reader.view, measure.entry.view)
                else retriever
            )
            if run is None:
                continue
            last = measure.cutoff or 1
            # Every cut-off up to ten, and round ones beyond.
            for k in sorted(
                {
                    each
                    for each in (*range(1, 11), 15, 20, 30, 50, 75, 100, 200, 500, 1000)
                    if each < last
                }
                | {last}
            ):
                at_k = LabelledMeasure(measure.with_parameters(k=k), f"{word}@{k}")
                builder.add(run, [at_k], np.ones(len(run.view.queries), dtype=np.bool_))
                ks.append(k)
        intervals, seed, population_sd = (
            self.options.intervals,
            self.options.seed,
            builder.convention.population_sd,
        )
        rows = summarise(
            builder.values, intervals=intervals, seed=seed, population_sd=population_sd
        )
        return [row | {"k": k} for row, k in zip(rows, ks, strict=True)]

    def _with_cutoffs(self, reader: ReaderRun | None) -> Iterator[LabelledMeasure]:
        """The measures to cut at every place: of the retriever all that can be, of the reader those
        over all questions.
        """
        k, measures = self.plan.k, self.plan.measures
        yield from (
            each
            for each in measures.retriever
            if each.measure.cutoff is not None and each.measure.cutoff > 1
        )
        if reader is None or k == 1 or int(np.diff(reader.pairs.offsets).max(initial=0)) < 2:
            return
        over_all = [
            each for each in measures.reader if each.measure.parameters["population"] == "all"
        ]
        at_k = [
            LabelledMeasure(each.measure.with_parameters(k=k), each.label)
            for each in over_all
            if each.measure.cutoff == 1
        ]
        yield from [each for each in over_all if each.measure.cutoff == k] or at_k

    def _rules(
        self,
        retriever: RetrieverRun | None,
        reader: ReaderRun | None,
        aggregates: Sequence[Mapping[str, Any]],
    ) -> dict[str, Any]:
        """Every choice that decided a number."""
        plan, measures, builder = self.plan, self.plan.measures, self.builder
        rules: dict[str, Any] = {"convention": plan.convention.name, "k": plan.k}
        if retriever is not None:
            rules |= {
                "retriever_k": plan.retriever_k,
                "relevance": plan.relevance.relevance,
            } | plan.relevance.of_contexts
            rules |= {"ties": builder.ties(retriever.ties), "duplicates": plan.duplicates}
        if reader is not None:
            rules |= plan.pairing | {
                "right": str(measures.judge.right),
                "right_label": measures.judge.label,
            }
            rules |= libraries(each.measure for each in measures.reader)
        if aggregates:
            rules["na_ties"] = self.options.na_ties or "whole"
        about = {"questions": len(self.questions.ids), **answerable_counts(self._impossible)}
        definitions = {
            str(each.measure): builder.definition(each.measure)
            for each in (*measures.retriever, *measures.reader)
        }
        return {
            **rules,
            "gold": {**about, "merged": 0, **self.inputs.tables["gold"].counts},
            "counts": builder.counts,
            "formats": {role: each.format for role, each in self.inputs.tables.items()},
            "convention_notes": list(plan.convention.notes),
            "measures": definitions | thresholds.threshold_definitions(aggregates),
        }


class _LazyTables(UserDict[str, Any]):
    """Tables that are made when first read: summaries at every cut-off take time."""

    def __getitem__(self, name: str) -> Sequence[Mapping[str, Any]]:
        if callable(self.data[name]):
            self.data[name] = self.data[name]()
        return self.data[name]
