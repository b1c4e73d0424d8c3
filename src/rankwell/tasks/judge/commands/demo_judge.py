"""Decide between two systems without judgments."""

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from rankwell.data.rankings import Ranking
from rankwell.engines.sqlite_fts5 import SqliteFts
from rankwell.errors import BadUsage, typed
from rankwell.evaluation.options import Seed
from rankwell.io.formats import write_run
from rankwell.reporting import prose
from rankwell.reporting.drafts import holding, keeping
from rankwell.reporting.options import FolderPath, Output, Progress
from rankwell.stats.samples import WholeQueries
from rankwell.store import write_text
from rankwell.tasks.judge.batches import lease_batch
from rankwell.tasks.judge.estimate_report import StudyVerdict, print_estimates
from rankwell.tasks.judge.estimation import StudyEstimate, StudyEstimates
from rankwell.tasks.judge.folder import Study, is_study, read_study
from rankwell.tasks.judge.journal import JournalLine, append_lines, now, read_journals
from rankwell.tasks.judge.model_asking import ItemToGrade, ModelJudge, ask
from rankwell.tasks.judge.model_replies import model_grades
from rankwell.tasks.judge.model_report import LEVEL
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

  rankwell judge label {place} --judge me
  rankwell judge estimate {place} --model {model}
"""


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
        pooled = print_pool(runs, options=options, output=folder, progress=progress)
        pooled_study = read_study(folder)
        judged = _judge(pooled_study)
        people = print_estimates(str(folder), options=EstimateOptions())
        judge = ModelJudge(MODEL, "", {"bounds": _BOUNDS}, TfidfJudge(titles).answer)
        ask(pooled_study, judge, ModelOptions(max_characters=_LONGEST), progress)
        estimates = StudyEstimates.of(
            pooled_study, read_journals(pooled_study).lines, model_grades(pooled_study, MODEL)
        )
        corrected = print_estimates(str(folder), options=EstimateOptions(model=MODEL))
    parts = [
        prose(_BEGIN.format(queries=len(read_needs()))),
        pooled.text,
        prose(_PEOPLE.format(judged=judged)),
        people.text,
        prose(_ALONE.format(alone=_alone(estimates))),
        corrected.text,
        prose(_END.format(place=typed(folder), model=MODEL)),
    ]
    return Output(text="\n".join(parts))


@keeping()
def prepare(folder: Path) -> list[str]:
    """Writes the questions, the documents as judges read them, and the first 10 results of both
    systems; returns the texts of the documents.
    """
    entries, needs = python_docs.modules(), read_needs()
    folder.mkdir(parents=True, exist_ok=True)
    titles = [(entry.id, entry.title) for entry in entries]
    texts = [(entry.id, f"{entry.title}\n\n{entry.text}") for entry in entries]
    queries, documents, *runs = (folder / name for name in _FILES)
    write_text(queries, "".join(f"{need.id}\t{need.text}\n" for need in needs))
    write_text(documents, "".join(f"{name}\t{title}\n" for name, title in titles))
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


def _alone(estimates: StudyEstimates) -> str:
    """The verdict of the model's grades, as if people had given them."""
    (pair,), pool, model = estimates.pairs, estimates.study.pool, estimates.model
    assert model is not None  # noqa: S101 - the model has just answered
    gains = estimates.items_of(pair).weight * estimates.gains(model.grade, 0.0)
    totals = np.bincount(pool.query, weights=gains, minlength=len(estimates.study.queries))
    values = WholeQueries(totals.astype(np.float64), 2**53)
    alone = StudyEstimate(
        *pair,
        values,
        values,
        values,
        judged=int(model.replied.sum()),
        unknown=0,
        queries=len(totals),
    )
    return StudyVerdict.of(alone, LEVEL).sentence(estimates.label)
