"""Questions, the documents retrieved for them and the answers given: the values of both, and which
of them fails.
"""

from collections import Counter, UserDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from rankwell.conventions import CONVENTIONS, Convention, LabelledMeasure
from rankwell.data.columns import Repeats
from rankwell.data.options import takes_options
from rankwell.data.tables import Bools
from rankwell.errors import BadUsage, NothingToEvaluate, count_of, flag
from rankwell.evaluation.judged import JudgedRun
from rankwell.evaluation.results import (
    QUERIES_COUNTED,
    QUERIES_MISSING,
    QUERIES_UNKNOWN,
    ResultsBuilder,
)
from rankwell.io.formats import read_texts
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
        places = {"gold": gold, "predictions": predictions}
        names = ("retrieved", "isolated", "na_probs", "corpus")
        places |= {name: getattr(options, name) for name in names}
        table = read_questions(gold, format=options.gold_format)
        questions, self.tables = table.table, dict[str, FoundTable[Any]](gold=table)
        for role in ("predictions", "isolated"):
            if places[role] is not None:
                format_name = getattr(options, f"{role}_format")
                self.tables[role] = read_predictions(
                    places[role], format=format_name, questions=questions
                )
        if options.na_probs is not None:
            odds = self.tables["na_probs"] = read_na_probs(options.na_probs)
            _refuse_other_questions(questions, odds.table, "no-answer probabilities")
            answers = self.tables["predictions"]
            self.tables["predictions"] = answers._replace(
                table=answers.table.with_no_answer(odds.table)
            )
        self._options, self.notes = options, list[str]()
        self.corpus = None if options.corpus is None else read_texts(options.corpus).texts
        self.names = _names({role: places[role] for role in _PARTS if places[role] is not None})
        self.files = {name: Source(place) for name, place in places.items() if _is_file(place)}

    @property
    def usual_convention(self) -> str:
        """The convention where none is named: squad2 or squad1 where texts answer a file of SQuAD,
        else piaf. It is noted.
        """
        gold, answers = self.tables["gold"], self.tables.get("predictions")
        if gold.format != "squad" or answers is None or (answers.table.starts >= 0).any():
            name, reason = "piaf", "the default"
        elif gold.table.impossible.any():
            name, reason = "squad2", "the default of SQuAD 2.0 questions with texts as answers"
        else:
            name, reason = "squad1", "the default of SQuAD 1.1 questions with texts as answers"
        self.notes += CONVENTIONS[name].unnamed(self._options, reason)
        return name

    def add_retrieved(self, duplicates: Repeats) -> None:
        """Reads the retrieved documents, where there are any."""
        options, questions = self._options, self.tables["gold"].table
        if options.retrieved is not None:
            lists = self.tables["retrieved"] = read_retrieved(
                options.retrieved,
                format=options.retrieved_format,
                questions=questions,
                duplicates=duplicates,
                columns=options.columns,
            )
            _refuse_other_questions(questions, lists.table.index, "retrieved documents")


def _is_file(place: Any) -> bool:
    return isinstance(place, (str, Path)) and str(place) not in STDIN


def _refuse_other_questions(questions: Questions, ids: Mapping[str, Any], kind: str) -> None:
    """Raises NothingToEvaluate where no question is among the ids."""
    if ids and not any(name in ids for name in questions.ids):
        raise NothingToEvaluate(
            f"none of the {len(questions.ids)} questions has {kind} (questions have ids like "
            f"{questions.ids[0]!r}, these like {next(iter(ids))!r}); is this of another data set?"
        )


def _names(places: Mapping[str, Any]) -> dict[str, str]:
    """The name of each table: its file's stem; where stems are equal the whole name, the folder
    too, or its part.
    """
    names = {
        role: Source(place).stem if _is_file(place) else _PARTS[role]
        for role, place in places.items()
    }
    files = {role: Path(place) for role, place in places.items() if _is_file(place)}
    for longer in (
        lambda _, path: path.name,
        lambda _, path: f"{path.parent.name}/{path.name}",
        # One file may hold answers and documents, as KILT's do.
        lambda role, path: f"{Source(path).stem} ({_PARTS[role]})",
    ):
        uses = Counter(names.values())
        names |= {role: longer(role, path) for role, path in files.items() if uses[names[role]] > 1}
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
        read = chain.from_iterable(table.notes for table in self.inputs.tables.values())
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
        inputs, lists = self.inputs, self.inputs.tables.get("retrieved")
        if lists is None:
            return None
        nothing_to_find = self._impossible if self.plan.rules.nothing_to_find == "right" else None
        name = inputs.names["retrieved"]
        run = RetrieverRun.of(
            name, lists, self.questions, self.plan.relevance, inputs.corpus, nothing_to_find
        )
        without_relevant = run.view.n_relevant(1) == 0
        if nothing_to_find is not None:
            without_relevant &= ~nothing_to_find
        missing, unknown = int(np.count_nonzero(~run.hits.present)), len(run.hits.unknown)
        self.builder.notes += run.notes
        self._count(
            run,
            self._impossible,
            (missing, "nothing was retrieved for {}", *_MISSES),
            (unknown, "{} of no question here and ignored", "list is", "lists are"),
            (int(without_relevant.sum()), "no document is relevant to {}", *_MISSES),
        )
        return run

    def _reader(self, role: str, retriever: RetrieverRun | None) -> ReaderRun | None:
        plan, questions, tables = self.plan, self.questions, self.inputs.tables
        if role not in tables:
            return None
        retrieved = None
        if role == "isolated":
            retrieved = dict.fromkeys(questions.ids, True)
        elif retriever is not None:
            retrieved = dict(zip(questions.ids, map(bool, retriever.is_found), strict=True))
        predictions, name = tables[role].table, self.inputs.names[role]
        view = AnswerPairs.pair(questions, predictions, retrieved=retrieved, **plan.pairing)
        run = ReaderRun(
            name=name, attributes={"part": _PARTS[role]}, view=view, predictions=predictions
        )
        missing, extra = map(len, unmatched(questions, predictions))
        policy = f"{{}} no prediction, {_POLICIES.get(plan.pairing['missing'], '')}"
        self._count(
            run,
            view.impossible,
            (missing, policy, "question has", "questions have"),
            (extra, "{} of no question here and ignored", "prediction is", "predictions are"),
        )
        if any(compares_positions(labelled.measure) for labelled in plan.measures.reader):
            documents = [document for document in predictions.documents if document is not None]
            items = tables["retrieved"].table.items if "retrieved" in tables else ()
            self.builder.notes += unknown_documents(name, documents, questions, "answers'", items)
            self.builder.notes += run.position_notes(questions)
        return run

    def _count(
        self, run: JudgedRun, impossible: Bools, *numbers: tuple[int, str, str, str]
    ) -> None:
        """Keeps the counts of a run, and notes on numbers, with their nouns, that are not 0; the
        first are missing and unknown queries.
        """
        self.builder.counts[run.name] = {
            QUERIES_COUNTED: len(run.view.queries),
            **answerable_counts(impossible),
            QUERIES_MISSING: numbers[0][0],
            QUERIES_UNKNOWN: numbers[1][0],
        }
        self.builder.notes += [
            f"{run.name}: {note.format(count_of(n, *nouns))}" for n, note, *nouns in numbers if n
        ]

    def _add(self, run: JudgedRun | None, measures: Sequence[LabelledMeasure]) -> None:
        if run is None:
            return
        for done, labelled in enumerate(measures):
            if self._progress is not None and isinstance(run, ReaderRun):
                self._progress(run.attributes["part"], done, len(measures))
            self.builder.add(run, [labelled], np.ones(len(run.view.queries), dtype=np.bool_))

    def _search(self, reader: ReaderRun | None) -> thresholds.ThresholdSearch | None:
        """The best thresholds, if a file, or the reader for both kinds of questions, gives
        no-answer numbers. Raises BadUsage.
        """
        options, search, odds = self.options, None, self.inputs.tables.get("na_probs")
        order = () if odds is None else tuple(odds.table)
        is_mixed = bool(self._impossible.any() and not self._impossible.all())
        if reader is not None and (order or is_mixed):
            search = thresholds.search_thresholds(
                reader, self.plan.measures.reader, ties=options.na_ties or "whole", order=order
            )
        for name in ("na_threshold", "na_ties"):
            value = getattr(options, name)
            if value is not None and (reader is None or reader.predictions.no_answer is None):
                raise BadUsage(
                    f"{flag(name, value)} has no effect without no-answer numbers; give "
                    f"{flag('--na-probs')}, or predictions with no_answer."
                )
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
        convention = self.builder.convention
        builder, ks = ResultsBuilder(convention), list[int]()
        for measure, label in self._with_cutoffs(reader):
            is_reader = reader is not None and isinstance(reader.view, measure.entry.view)
            run = reader if is_reader else retriever
            if run is None:
                continue
            last = measure.cutoff or 1
            # Every cut-off up to ten, and round ones beyond.
            rounds = (*range(1, 11), 15, 20, 30, 50, 75, 100, 200, 500, 1000)
            for k in (*(k for k in rounds if k < last), last):
                at_k = LabelledMeasure(
                    measure.with_parameters(k=k), f"{label.partition('@')[0]}@{k}"
                )
                builder.add(run, [at_k], np.ones(len(run.view.queries), dtype=np.bool_))
                ks.append(k)
        rows = summarise(
            builder.values,
            intervals=self.options.intervals,
            seed=self.options.seed,
            population_sd=convention.population_sd,
        )
        return [row | {"k": k} for row, k in zip(rows, ks, strict=True)]

    def _with_cutoffs(self, reader: ReaderRun | None) -> Iterator[LabelledMeasure]:
        """The measures to cut at every place: of the retriever all that can be, of the reader those
        over all questions.
        """
        k, measures = self.plan.k, self.plan.measures
        yield from (
            labelled for labelled in measures.retriever if (labelled.measure.cutoff or 1) > 1
        )
        if reader is None or k == 1 or int(np.diff(reader.pairs.offsets).max(initial=0)) < 2:
            return
        over_all = [
            labelled
            for labelled in measures.reader
            if labelled.measure.parameters["population"] == "all"
        ]
        yield from [labelled for labelled in over_all if labelled.measure.cutoff == k] or [
            LabelledMeasure(measure.with_parameters(k=k), label)
            for measure, label in over_all
            if measure.cutoff == 1
        ]

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
                **plan.relevance.of_contexts,
                "ties": builder.ties(retriever.ties),
                "duplicates": plan.duplicates,
            }
        if reader is not None:
            rules |= {
                **plan.pairing,
                "right": str(measures.judge.right),
                "right_label": measures.judge.label,
                **libraries(labelled.measure for labelled in measures.reader),
            }
        if aggregates:
            rules["na_ties"] = self.options.na_ties or "whole"
        tables = self.inputs.tables
        return {
            **rules,
            "gold": {
                "questions": len(self.questions.ids),
                **answerable_counts(self._impossible),
                "merged": 0,
                **tables["gold"].counts,
            },
            "counts": builder.counts,
            "formats": {role: table.format for role, table in tables.items()},
            "convention_notes": list(plan.convention.notes),
            "measures": {
                str(labelled.measure): builder.definition(labelled.measure)
                for labelled in (*measures.retriever, *measures.reader)
            }
            | thresholds.threshold_definitions(aggregates),
        }


class _LazyTables(UserDict[str, Any]):
    """Tables that are made when first read: summaries at every cut-off take time."""

    def __getitem__(self, name: str) -> Sequence[Mapping[str, Any]]:
        if callable(self.data[name]):
            self.data[name] = self.data[name]()
        return self.data[name]
