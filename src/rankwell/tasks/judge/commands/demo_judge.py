"""Decide between two systems without judgments."""

import json
import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from rankwell import reporting
from rankwell.data.rankings import Ranking
from rankwell.data.tables import format_value, sum_by
from rankwell.engines.sqlite_fts5 import SqliteFts
from rankwell.errors import BadUsage, typed
from rankwell.evaluation.options import Seed
from rankwell.io.formats import write_run
from rankwell.reporting import Answer, Document, PrintedFigure, Row
from rankwell.reporting.drafts import holding, keeping
from rankwell.reporting.options import FolderPath, Output, Progress, StatusNote
from rankwell.reporting.outputs.answers import answer_text, lines_for
from rankwell.stats.samples import WholeQueries
from rankwell.store import write_lines
from rankwell.tasks.judge.agreement import LEVEL
from rankwell.tasks.judge.batches import lease_batch
from rankwell.tasks.judge.estimation import (
    StudyEstimate,
    StudyEstimates,
    StudyVerdict,
    print_estimates,
)
from rankwell.tasks.judge.folder import (
    JournalLine,
    Study,
    append_lines,
    is_study,
    model_grades,
    now,
    read_journals,
    read_study,
)
from rankwell.tasks.judge.model_asking import ItemToGrade, ModelJudge, ask
from rankwell.tasks.judge.options import EstimateOptions, ModelOptions, PoolOptions
from rankwell.tasks.judge.pooling import print_pool
from rankwell.vectors.media import python_docs
from rankwell.vectors.media.python_docs import read_judgments, read_needs

PEOPLE, MODEL = "people", "tf-idf"
_BATCHES, _DEPTH, _LONGEST = 2, 10, 10_000
_FILES = ("queries.tsv", "documents.tsv", "first_sentences.run", "whole_docs.run")
"""The questions, the documents, and the runs of two systems."""
_WORD = re.compile(r"\w\w+")
_BOUNDS = (0.1, 0.2, 0.4)
"""Cosines from which the model gives the grades 1, 2 and 3."""


@dataclass(frozen=True, eq=False)
class TfidfJudge:
    """Grades by the words that a query and a document share: the cosine of term frequency times
    inverse document frequency.

    texts: all documents, of which the frequencies are. Source: Salton and Buckley 1988.
    """

    texts: Sequence[str]

    @cached_property
    def rarity(self) -> dict[str, float]:
        """The inverse document frequency of each word."""
        counts = Counter(word for text in self.texts for word in set(_words(text)))
        n = len(self.texts)
        return {word: math.log((1 + n) / (1 + count)) + 1 for word, count in counts.items()}

    def answer(self, question: ItemToGrade) -> float:
        """The grade of a document, 0 to 3."""
        query, document = self._vector(question.query_text), self._vector(question.document)
        norm = math.hypot(*query.values()) * math.hypot(*document.values())
        product = sum(weight * document.get(word, 0.0) for word, weight in query.items())
        return float(sum(product / norm >= bound for bound in _BOUNDS)) if norm else 0.0

    def _vector(self, text: str) -> dict[str, float]:
        return {
            word: count * self.rarity[word]
            for word, count in Counter(_words(text)).items()
            if word in self.rarity
        }


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


_BEGIN = """{queries} questions about Python's standard library. Which of two searches is better,
first_sentences or whole_docs, when nothing is judged?"""
_END = (
    "People judged {judged} of {items} items: those that say most about the difference.",
    "The model gives grades by the words that a question and a document share, and "
    "so favours the search that does the same. People's judgments correct it.",
)


def judge(
    *, output: FolderPath = Path("rankwell-demo-judge"), seed: Seed = 0, progress: Progress = None
) -> Output:
    """Decide between two systems without judgments.

    Pool, judge two batches, and see a model's verdict corrected by people.

      rankwell demo judge

    Parameters
    ----------
    output
        Folder for the questions, the documents, the runs and the study.
    """
    folder = output / "study"
    if is_study(folder):
        raise BadUsage(
            f"{folder} is a study already; go on with it, or name another folder with -o."
        )
    with holding(output):
        titles = prepare(output)
        queries, documents, *runs = (str(output / name) for name in _FILES)
        options = PoolOptions(queries=queries, documents=documents, seed=seed)
        print_pool(runs, options=options, output=folder, progress=progress)
        pooled_study = read_study(folder)
        judged = _judge(pooled_study)
        place = str(folder)
        people = print_estimates(place, options=EstimateOptions(), format="json")
        judge = ModelJudge(MODEL, "", {"bounds": _BOUNDS}, TfidfJudge(titles).answer)
        ask(pooled_study, judge, ModelOptions(max_characters=_LONGEST), progress)
        estimates = StudyEstimates.of(
            pooled_study, read_journals(pooled_study).lines, model_grades(pooled_study, MODEL)
        )
        options = EstimateOptions(model=MODEL)
        corrected = print_estimates(place, options=options, format="json")
    rows = [_first_row(people), _alone(estimates).row(estimates.label), _first_row(corrected)]
    judges = ("people", "a model alone", "both together")
    terminal = reporting.terminal_of()
    answer = Answer(
        f"{rows[0]['better']} is better: people's judgments of {judged} items suffice to say so.",
        f"difference of {estimates.label}, and its interval",
        table=[_estimate(*pair) for pair in zip(judges, rows, strict=True)],
        legend=[line.format(judged=judged, items=len(pooled_study.pool.item)) for line in _END],
    )
    text = answer_text(Document((), terminal=terminal, answer=answer))
    begin = lines_for(_BEGIN.format(queries=len(read_needs())), terminal)
    return Output(
        f"{begin}\n\n{text}",
        (StatusNote(f"wrote {output}/: the questions, the documents, the runs and the study"),),
        next_step=typed("rankwell", "judge", "label", folder, "--judge", "me"),
    )


def _first_row(printed: Output) -> Row:
    return json.loads(printed.text)["rows"][0]


def _estimate(judge: str, row: Row) -> Row:
    """The row of one difference and its verdict."""
    mean, low, high = (
        format_value(row[name], "share", signed=True, digits=3)
        for name in ("mean", "like_low", "like_high")
    )
    return {
        "grades by": judge,
        f"{row['run']} - {row['against']}": PrintedFigure(f"{mean} [{low}, {high}]"),
        "interval": f"{100 * row['level']:.4g}%",
        "better": row["better"],
    }


@keeping()
def prepare(folder: Path) -> list[str]:
    """Writes the questions, the documents as judges read them, and the first 10 results of both
    systems; returns the texts of the documents.
    """
    entries, needs = python_docs.modules(), read_needs()
    titles = [(entry.id, entry.title) for entry in entries]
    texts = [(entry.id, f"{entry.title}\n\n{entry.text}") for entry in entries]
    queries, documents, *runs = (folder / name for name in _FILES)
    write_lines(queries, [f"{need.id}\t{need.text}" for need in needs])
    write_lines(documents, map("\t".join, titles))
    for path, indexed_texts in zip(runs, (titles, texts), strict=True):
        with SqliteFts(indexed_texts) as system:
            ranked = {need.id: dict(system.search(need.text, _DEPTH)) for need in needs}
        write_run(Ranking.from_dict(ranked), path)
    return [title for _, title in titles]


def _judge(pooled_study: Study) -> int:
    """Judges batches as the people did who judged the modules for the questions; an item that they
    left out does not help.
    """
    judged, digest = 0, pooled_study.guideline_digest
    grades = {
        (judgment.need, judgment.module): float(judgment.grade) for judgment in read_judgments()
    }
    for _ in range(_BATCHES):
        batch = lease_batch(pooled_study, PEOPLE)
        pairs = () if batch is None else batch.pairs
        append_lines(
            pooled_study,
            [
                JournalLine(now(), PEOPLE, *pair, grades.get(pair, 0.0), guideline=digest)
                for pair in pairs
            ],
        )
        judged += len(pairs)
    return judged


def _alone(estimates: StudyEstimates) -> StudyVerdict:
    """The verdict of the model's grades, as if people had given them."""
    (pair,), pool, model = estimates.pairs, estimates.study.pool, estimates.model
    assert model is not None  # noqa: S101 - the model has just answered
    gains = estimates.items_of(pair).weight * estimates.gains(model.grade, 0.0)
    totals = sum_by(pool.query, gains, len(estimates.study.queries))
    values = WholeQueries(totals, 2**53)
    alone = StudyEstimate(
        *pair,
        values,
        values,
        values,
        judged=int(model.replied.sum()),
        unknown=0,
        queries=len(totals),
    )
    return StudyVerdict.of(alone, LEVEL)
