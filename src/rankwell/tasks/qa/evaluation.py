"""Questions, the documents retrieved for them and the answers given: the values of both, and which
of them fails.
"""

from collections import Counter, UserDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, compress
from pathlib import Path
from typing import Any

import numpy as np

from rankwell.conventions import Convention, LabelledMeasure, Measures
from rankwell.data.findings.kinds import queries_missing, queries_unknown
from rankwell.data.options import NamedProgress, Table, takes_options
from rankwell.data.tables import Bools, sort_ids
from rankwell.errors import BadUsage, NothingToEvaluate, flag
from rankwell.evaluation.judged import JudgedRun
from rankwell.evaluation.results import (
    QUERIES_COUNTED,
    QUERIES_MISSING,
    QUERIES_UNKNOWN,
    ResultsBuilder,
)
from rankwell.io.formats import read_texts
from rankwell.reporting import Row
from rankwell.results import Results
from rankwell.stats import summarise
from rankwell.store import STDIN, Source
from rankwell.task import Presented
from rankwell.tasks.qa import thresholds
from rankwell.tasks.qa.answer_pairs import AnswerPairs, Predictions, Questions, unmatched
from rankwell.tasks.qa.answers import qa_answer, show
from rankwell.tasks.qa.findings import nothing_to_retrieve, questions_unanswered
from rankwell.tasks.qa.formats import (
    FoundTable,
    read_na_probs,
    read_predictions,
    read_questions,
    read_retrieved,
)
from rankwell.tasks.qa.measures.answers_texts import libraries
from rankwell.tasks.qa.options import QaOptions
from rankwell.tasks.qa.outcomes import AnswerOutcomes, Outcome, ReaderRun, answerable_counts
from rankwell.tasks.qa.plan import AnswerPlan, compares_positions
from rankwell.tasks.qa.retrieval import RetrieverRun, unknown_documents
from rankwell.tasks.qa.thresholds import ThresholdSearch

_POLICIES = {"zero": "counted as 0", "empty": "counted as answered by nothing", "skip": "left out"}
_PARTS = {"retrieved": "retriever", "predictions": "reader", "isolated": "isolated"}


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class AnswerResults(Results):
    """Results of retrieved documents and of answers.

    outcomes: the outcome of each question.
    hardest: function that returns rows on the questions with the worst outcomes, as many as its
        argument says, all by default.
    searched: the search for the no-answer threshold; None without no-answer numbers.
    convention: the convention in force.
    retriever: the name of the retriever's run; None without one.
    """

    outcomes: tuple[Outcome, ...]
    hardest: Callable[..., list[Row]]
    searched: ThresholdSearch | None
    convention: Convention
    retriever: str | None

    @property
    def failures(self) -> Sequence[Row]:
        """How many questions failed, and where."""
        return self.tables["failures"]

    @property
    def top_k(self) -> Sequence[Row]:
        """The measures over the number of documents or answers inspected."""
        return self.tables["top_k"]

    @property
    def no_answer_curves(self) -> Sequence[Row]:
        """The points of the curves over no-answer thresholds."""
        return self.tables["no_answer_curves"]


@takes_options(QaOptions)
def evaluate_qa(
    gold: Table | Questions,
    predictions: Table | Predictions | None = None,
    *,
    options: QaOptions,
    details: bool = False,
    progress: NamedProgress | None = None,
) -> AnswerResults:
    """Evaluates question answering: the retrieved documents, the answers, and which of the two
    fails.

    Give predictions, retrieved documents, or both.
    Returns an outcome for each question in `outcomes`, the rows of the hardest questions from
    `hardest(n)`, and the search for the no-answer threshold in `searched`.
    Raises BadInput and DuplicateItem for files that cannot be read, BadUsage for options that do
    not go together, UnknownName for a measure, convention or format that does not exist,
    NothingToEvaluate where the tables share no question.
    Source: Haystack 0.x, Finder.eval, and the isolated evaluation of Haystack 1.x.

    Parameters
    ----------
    gold
        Questions with right answers: anything that `read_questions` takes.
    predictions
        Answers of one system: anything that `read_predictions` takes.
    details
        Keep documents, answers and questions for the report.
    retrieved
        A retriever's documents for each question: a run in any form that `read_ranking` takes, such
        as a mapping question -> document -> score or question -> list of documents; or DPR's or
        Pyserini's retrieval results, Haystack's CSV, KILT, RAGAS.
    isolated
        Answers of the same reader from the right passages, in any form of `predictions`, to set
        beside those from the retrieved ones.
    na_probs
        Probability that each question has no answer: a mapping id -> number, or its JSON file; the
        best thresholds are searched for.
    documents
        Texts of the documents, for relevance by answers or context: a file, a mapping id -> text, a
        list of rows such as `[{"id": "d1", "text": "words"}]`, or a data frame.

    >>> import rankwell as rw
    >>> gold = rw.Questions.from_texts({"q1": ["Paris"], "q2": ["Rome", "Roma"]})
    >>> result = rw.evaluate_qa(gold, {"q1": "Paris", "q2": "Oslo"}, convention="nq-open")
    >>> [(row["label"], row["mean"]) for row in result.summary]
    [('exact_match', 0.5)]
    """
    return _AnswerEvaluation(gold, predictions, options, progress).results(details=details)


def presented(*inputs: Any, options: QaOptions, **keywords: Any) -> Presented:
    """The results of the command, and how they are printed."""
    return Presented(evaluate_qa(*inputs, options=options, **keywords), show)


def _is_file(place: Any) -> bool:
    return isinstance(place, (str, Path)) and str(place) not in STDIN


def _read_tables(places: Mapping[str, Any], options: QaOptions) -> dict[str, FoundTable[Any]]:
    """The tables but that of retrieved documents, by their parts."""
    gold = read_questions(places["gold"], format=options.qrels_format)
    tables: dict[str, FoundTable[Any]] = {"gold": gold}
    for role in ("predictions", "isolated"):
        if places[role] is not None:
            tables[role] = read_predictions(
                places[role], format=options.predictions_format, questions=gold.table
            )
    if options.na_probs is not None:
        odds = tables["na_probs"] = read_na_probs(options.na_probs)
        _refuse_other_questions(gold.table, odds.table, "no-answer probabilities")
        answers = tables["predictions"]
        tables["predictions"] = answers._replace(table=answers.table.with_no_answer(odds.table))
    return tables


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
    """An evaluation in progress.

    tables: gold, predictions, isolated, na_probs and retrieved, where they are given.
    corpus: document id -> text; None without one.
    plan, options: the rules, and the user's choices.
    names: part of the evaluation -> name of its run in rows.
    files: part of the evaluation -> its source, where it is a file.
    questions: the questions with their right answers.
    impossible: (questions,) whether the only right answer is to give none, by the convention.
    builder: collects the values.
    retriever, reader, isolated: the judged runs; None for a run that is not given.

    Raises NothingToEvaluate where a table has no question in common with the others.
    """

    def __init__(
        self, gold: Any, predictions: Any, options: QaOptions, progress: NamedProgress | None
    ) -> None:
        plan = AnswerPlan(options, has_answers=predictions is not None)
        plan.check()
        names = ("retrieved", "isolated", "na_probs", "documents")
        places = {"gold": gold, "predictions": predictions}
        places |= {name: getattr(options, name) for name in names}
        self.tables = _read_tables(places, options)
        self.corpus = None if options.documents is None else read_texts(options.documents).texts
        self.plan, self.options, self._progress = plan, options, progress
        self.names = _names({role: places[role] for role in _PARTS if places[role] is not None})
        self.files = {name: Source(place) for name, place in places.items() if _is_file(place)}
        self.questions: Questions = self.tables["gold"].table
        self.impossible = np.diff(self.questions.offsets) == 0
        if plan.rules.impossible == "flagged":
            self.impossible &= self.questions.impossible
        self.builder = ResultsBuilder(plan.convention)
        self.retriever = self._retriever()
        self.reader, self.isolated = self._reader("predictions"), self._reader("isolated")

    def results(self, *, details: bool) -> AnswerResults:
        """The values, the outcome of each question, and everything that decided them."""
        plan, builder, retriever = self.plan, self.builder, self.retriever
        self._add(retriever, plan.measures.retriever)
        self._add(self.reader, plan.measures.reader)
        self._add(self.isolated, plan.measures.reader)
        search = self._search()
        aggregates = () if search is None else thresholds.threshold_rows(search, plan.convention)
        on_files = (table.findings for table in self.tables.values())
        outcomes = AnswerOutcomes(
            self.questions,
            self.impossible,
            retriever,
            self.reader,
            self.isolated,
            self.reader and plan.measures.judge,
        )
        tables = {"details": outcomes.details, "queries": outcomes.queries, "items": outcomes.items}
        return builder.results(
            AnswerResults,
            rules=self._rules(aggregates),
            measures=(*plan.measures.retriever, *plan.measures.reader),
            findings=chain(*on_files, plan.measures.findings, builder.findings),
            intervals=self.options.intervals,
            seed=self.options.seed,
            task="qa",
            answer=qa_answer,
            aggregates=tuple(aggregates),
            sources=self.files,
            **{name: table() for name, table in tables.items() if details},
            tables=_LazyTables(
                failures=lambda: outcomes.failures,
                top_k=self._top_k,
                no_answer_curves=lambda: [] if search is None else thresholds.curve_rows(search),
            ),
            outcomes=tuple(outcomes.by_question),
            hardest=lambda most=None: list(map(outcomes.row, outcomes.hardest[:most])),
            searched=search,
            convention=plan.convention,
            retriever=retriever and retriever.name,
        )

    def _retriever(self) -> RetrieverRun | None:
        plan, options, questions = self.plan, self.options, self.questions
        if options.retrieved is None:
            return None
        lists = self.tables["retrieved"] = read_retrieved(
            options.retrieved,
            format=options.run_format,
            questions=questions,
            duplicates=plan.duplicates,
            columns=options.columns,
        )
        _refuse_other_questions(questions, lists.table.index, "retrieved documents")
        nothing_to_find = self.impossible if plan.rules.nothing_to_find == "right" else None
        run = RetrieverRun.of(
            self.names["retrieved"], lists, questions, plan, self.corpus, nothing_to_find
        )
        without_relevant = run.view.n_relevant(1) == 0
        if nothing_to_find is not None:
            without_relevant &= ~nothing_to_find
        self.builder.findings += run.findings
        missing = list(compress(run.view.queries, (~run.hits.has_ranking).tolist()))
        if missing:
            self.builder.findings.append(
                queries_missing(run.name, missing, ("question", "questions"))
            )
        self._count(run, self.impossible, missing, sort_ids(run.hits.unknown), ("list", "lists"))
        if without_relevant.any():
            queries = list(compress(run.view.queries, without_relevant.tolist()))
            self.builder.findings.append(nothing_to_retrieve(run.name, queries))
        return run

    def _reader(self, role: str) -> ReaderRun | None:
        plan, questions, tables = self.plan, self.questions, self.tables
        if role not in tables:
            return None
        retrieved = self.retriever and self.retriever.found
        if role == "isolated":
            retrieved = dict.fromkeys(questions.ids, True)
        predictions, name = tables[role].table, self.names[role]
        view = AnswerPairs.pair(
            questions, predictions, retrieved=retrieved, **plan.pairing
        ).without_refusals(plan.rules.refusals + plan.rules.more_refusals)
        run = ReaderRun(
            name=name,
            attributes={"part": _PARTS[role]},
            view=view,
            other_views=lambda _: view,
            predictions=predictions,
        )
        missing, extra = unmatched(questions, predictions)
        if missing:
            effect = _POLICIES.get(plan.pairing["missing"], "")
            self.builder.findings.append(questions_unanswered(name, missing, effect))
        self._count(run, view.impossible, missing, extra, ("prediction", "predictions"))
        if any(compares_positions(labelled.measure) for labelled in plan.measures.reader):
            documents = [document for document in predictions.documents if document is not None]
            items = tables["retrieved"].table.items if "retrieved" in tables else ()
            self.builder.findings += unknown_documents(
                name, documents, questions, "answers'", items
            )
            self.builder.findings += run.position_findings(questions)
        return run

    def _count(
        self,
        run: JudgedRun,
        impossible: Bools,
        missing: Sequence[str],
        unknown: Sequence[str],
        noun: tuple[str, str],
    ) -> None:
        """Keeps the counts of a run, and the finding on what it has of no question."""
        self.builder.counts[run.name] = {
            QUERIES_COUNTED: len(run.view.queries),
            **answerable_counts(impossible),
            QUERIES_MISSING: len(missing),
            QUERIES_UNKNOWN: len(unknown),
        }
        if unknown:
            self.builder.findings.append(queries_unknown(run.name, unknown, noun, "question"))

    def _add(self, run: JudgedRun | None, measures: Measures) -> None:
        if run is None:
            return
        for done, labelled in enumerate(measures):
            if self._progress is not None and isinstance(run, ReaderRun):
                self._progress(run.attributes["part"], done, len(measures))
            self.builder.add(run, [labelled], np.ones(len(run.view.queries), dtype=np.bool_))

    def _search(self) -> ThresholdSearch | None:
        """The best thresholds, if a file, or the reader for both kinds of questions, gives
        no-answer numbers. Raises BadUsage.
        """
        reader, search = self.reader, None
        odds = self.tables.get("na_probs")
        order = () if odds is None else tuple(odds.table)
        is_mixed = len(set(self.impossible.tolist())) == 2
        if reader is not None and (order or is_mixed):
            search = thresholds.search_thresholds(
                reader, self.plan.measures.reader, ties=self.plan.rules.na_ties, order=order
            )
        threshold = self.plan.rules.na_threshold
        if threshold is not None and (reader is None or reader.predictions.no_answer is None):
            raise BadUsage(
                f"{self.plan.convention.name}: na_threshold = {threshold} has no effect without "
                f"no-answer numbers; give {flag('--na-probs')}, or predictions with no_answer."
            )
        self.builder.findings += () if search is None else search.findings
        return search

    def _top_k(self) -> list[Row]:
        """Summary rows at every cut-off, with `k`; each is exact, as it is the same lists cut
        shorter.
        """
        convention = self.plan.convention
        builder, ks = ResultsBuilder(convention), list[int]()
        for measure, label in self._with_cutoffs():
            run = self.reader if measure.entry.view is AnswerPairs else self.retriever
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

    def _with_cutoffs(self) -> Iterator[LabelledMeasure]:
        """The measures to cut at every place: of the retriever all that can be, of the reader those
        over all questions.
        """
        k, measures, reader = self.plan.ks[-1], self.plan.measures, self.reader
        # A measure at the largest of several cut-offs has those at the others.
        most = max((1, *self.plan.depths[:-1]))
        yield from (
            labelled for labelled in measures.retriever if (labelled.measure.cutoff or 1) > most
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

    def _rules(self, aggregates: Sequence[Row]) -> dict[str, Any]:
        """Every choice that decided a number."""
        plan, measures, builder = self.plan, self.plan.measures, self.builder
        rules: dict[str, Any] = {"convention": plan.convention.name, "k": plan.ks[-1]}
        if self.retriever is not None:
            context = plan.context_rules if plan.relevance == "context" else {}
            rules |= {
                "depth": plan.depths[-1],
                "relevance": plan.relevance,
                **{f"context_{name}": value for name, value in context.items()},
                "ties": builder.ties(self.retriever.ties),
                "duplicates": plan.duplicates,
            }
        if self.reader is not None:
            rules |= {
                **plan.pairing,
                "primary": str(measures.judge.right),
                "primary_label": measures.judge.label,
                **libraries(labelled.measure for labelled in measures.reader),
            }
        definitions = {
            str(labelled.measure): builder.definition(labelled.measure)
            for labelled in (*measures.retriever, *measures.reader)
        }
        if aggregates:
            rules["na_ties"] = plan.rules.na_ties
            definitions |= thresholds.threshold_definitions(aggregates)
        return {
            **rules,
            "gold": {
                "questions": len(self.questions.ids),
                **answerable_counts(self.impossible),
                "merged": 0,
                **self.tables["gold"].counts,
            },
            "counts": builder.counts,
            "formats": {role: table.format for role, table in self.tables.items()},
            "measures": definitions,
        }


class _LazyTables(UserDict[str, Any]):
    """Tables that are made when first read: summaries at every cut-off take time."""

    def __getitem__(self, name: str) -> Sequence[Row]:
        if callable(self.data[name]):
            self.data[name] = self.data[name]()
        return self.data[name]
