"""Decide between two systems without judgments: pool, judge two batches, and see a model's verdict
corrected by people.
"""

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rankwell.data.rankings import Ranking
from rankwell.data.tables import Floats
from rankwell.engines.sqlite_fts5 import SqliteFts
from rankwell.errors import BadUsage, typed
from rankwell.evaluation.judged import LinearMeasure
from rankwell.io.formats import write_run
from rankwell.reporting import prose
from rankwell.reporting.drafts import holding, keeping
from rankwell.reporting.options import FolderPath, Output, Progress
from rankwell.stats.samples import WholeQueries
from rankwell.store import write_text
from rankwell.tasks.study.batches import lease_batch
from rankwell.tasks.study.estimate_report import print_estimates
from rankwell.tasks.study.estimation import StudyEstimate, measure_label
from rankwell.tasks.study.folder import Study, is_study, read_study
from rankwell.tasks.study.journal import JournalLine, append_lines, now, read_journals
from rankwell.tasks.study.model_asking import ItemToGrade, ask
from rankwell.tasks.study.model_replies import model_grades
from rankwell.tasks.study.model_report import LEVEL, ModelReport
from rankwell.tasks.study.options import EstimateOptions, PoolOptions
from rankwell.tasks.study.pool_writing import print_pool
from rankwell.tasks.study.verdicts import StudyVerdict
from rankwell.vectors.media import python_docs
from rankwell.vectors.media.python_needs import read_judgments, read_needs

PEOPLE, MODEL = "people", "tf-idf"
_BATCHES, _DEPTH, _LONGEST = 2, 10, 10_000
_SYSTEMS = ("first_sentences", "whole_docs")
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
    model: str = MODEL
    prompt: str = ""
    parameters: Mapping[str, Any] = field(default_factory=lambda: {"bounds": _BOUNDS})

    @cached_property
    def rarity(self) -> dict[str, float]:
        """The inverse document frequency of each word."""
        counted, n = (
            Counter(word for text in self.texts for word in set(_words(text))),
            len(self.texts),
        )
        return {word: math.log((1 + n) / (1 + count)) + 1 for word, count in counted.items()}

    def answer(self, question: ItemToGrade) -> float:
        """The grade of a document, 0 to 3."""
        query, document = self._vector(question.query_text), self._vector(question.document)
        norm = math.hypot(*query.values()) * math.hypot(*document.values())
        cosine = (
            sum(weight * document.get(word, 0.0) for word, weight in query.items()) / norm
            if norm
            else 0.0
        )
        return float(sum(cosine >= bound for bound in _BOUNDS))

    def _vector(self, text: str) -> dict[str, float]:
        return {
            word: count * self.rarity[word]
            for word, count in Counter(_words(text)).items()
            if word in self.rarity
        }


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


_BEGIN = """{queries} questions about the Python standard library, two systems: BM25 over first_sentences (the name of a module
and its first sentence only) and over whole_docs (its whole text). Which is better, when nothing is judged?
"""  # noqa: E501
_PEOPLE = "People judge {judged} of these, chosen because they tell most about the difference:\n"
_ALONE = """A model judges all of them in no time: TF-IDF, whose grades are the words that a question and a first sentence share.
By its grades alone:

{alone}

It favours the system that works as it does. As predictions that the judgments of people correct, its grades do no harm:
"""  # noqa: E501
_END = """Judge some yourself in the browser, and ask again:

  rankwell study judge {place} --judge me
  rankwell study estimate {place} --model {model}
"""


def study(
    *, output: FolderPath = Path("rankwell-demo-study"), seed: int = 0, progress: Progress = None
) -> Output:
    """Decide between two systems without judgments: pool, judge two batches, and see a model's
    verdict corrected by people.

    Parameters
    ----------
    output
        Folder for the questions, the documents, the runs and the study.
    seed
        Seed of the order of judging.
    """
    folder = output / "study"
    if is_study(folder):
        raise BadUsage(
            f"{folder} is a study already; go on with it, or name another folder with -o."
        )
    with holding(output):
        files = prepare(output)
        options = PoolOptions(
            query_texts=str(files.queries), documents=str(files.documents), seed=seed
        )
        pooled = print_pool(
            list(map(str, files.runs)), options=options, output=folder, progress=progress
        )
        judged = _judge(
            read_study(folder),
            {
                (judgment.need, judgment.module): float(judgment.grade)
                for judgment in read_judgments()
            },
        )
        people = print_estimates(str(folder), options=EstimateOptions())
        pooled_study = read_study(folder)
        ask(
            pooled_study, TfidfJudge(files.texts), at_most=None, longest=_LONGEST, progress=progress
        )
        report = ModelReport(
            pooled_study, read_journals(pooled_study).lines, model_grades(pooled_study, MODEL)
        )
        corrected = print_estimates(str(folder), options=EstimateOptions(model=MODEL))
    parts = [
        prose(_BEGIN.format(queries=len(read_needs()))),
        pooled.text,
        prose(_PEOPLE.format(judged=judged)),
        people.text,
        prose(_ALONE.format(alone=_alone(report))),
        corrected.text,
        prose(_END.format(place=typed(folder), model=MODEL)),
    ]
    return Output(text="\n".join(parts))


class _Files(NamedTuple):
    queries: Path
    documents: Path
    runs: tuple[Path, ...]
    texts: tuple[str, ...]


@keeping()
def prepare(folder: Path) -> _Files:
    """Writes the questions, the documents as judges read them, and the first 10 results of both
    systems.
    """
    entries = python_docs.modules()
    folder.mkdir(parents=True, exist_ok=True)
    texts = [(entry.id, entry.title) for entry in entries]
    files = _Files(
        folder / "queries.tsv",
        folder / "documents.tsv",
        tuple(folder / f"{name}.run" for name in _SYSTEMS),
        tuple(text for _, text in texts),
    )
    write_text(files.queries, "".join(f"{need.id}\t{need.text}\n" for need in read_needs()))
    write_text(files.documents, "".join(f"{name}\t{text}\n" for name, text in texts))
    full_texts = [(entry.id, f"{entry.title}\n\n{entry.text}") for entry in entries]
    for path, documents in zip(files.runs, (texts, full_texts), strict=True):
        with SqliteFts(documents) as system:
            write_run(
                Ranking.from_dict(
                    {need.id: dict(system.search(need.text, _DEPTH)) for need in read_needs()}
                ),
                path,
            )
    return files


def _judge(pooled_study: Study, grades: Mapping[tuple[str, str], float]) -> int:
    """Judges batches as the people did who judged the modules for the questions; an item that they
    left out does not help.
    """
    judged = 0
    for _ in range(_BATCHES):
        batch = lease_batch(pooled_study, PEOPLE)
        if batch is None:
            break
        digest = pooled_study.guideline_digest
        append_lines(
            pooled_study,
            [
                JournalLine(now(), PEOPLE, *pair, grades.get(pair, 0.0), guideline=digest)
                for pair in batch.pairs
            ],
        )
        judged += len(batch.pairs)
    return judged


def _alone(report: ModelReport) -> str:
    """The verdict of the model's grades, as if people had given them."""
    estimates, (pair,) = report.estimates, report.estimates.pairs
    linear = LinearMeasure.of(estimates.measure)
    assert linear is not None  # noqa: S101 - the study samples items
    weight = estimates.items_of(pair).weight
    gains = weight * linear.gains(np.nan_to_num(report.model.grade))
    totals: Floats = np.bincount(
        estimates.study.pool.query, weights=gains, minlength=len(estimates.study.queries)
    ).astype(np.float64)
    values = WholeQueries(totals, 2**53)
    alone = StudyEstimate(
        *pair,
        values,
        values,
        values,
        judged=int(report.model.replied.sum()),
        unknown=0,
        queries=len(values.values),
    )
    return StudyVerdict.of(alone, LEVEL).sentence(measure_label(estimates.study, estimates.measure))
