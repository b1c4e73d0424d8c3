"""Answer questions about the standard library."""

from importlib.resources import files
from pathlib import Path

from rankwell.comparison.pages import write_report
from rankwell.engines.sqlite_fts5 import SqliteFts
from rankwell.evaluation.options import Seed
from rankwell.evaluation.results import progress_of
from rankwell.io.formats import write_run
from rankwell.reporting.drafts import holding, keeping
from rankwell.reporting.options import FolderPath, Output, Progress, StatusNote, introduced
from rankwell.reporting.page import NAME
from rankwell.store import write_bytes
from rankwell.tasks.qa.answering import (
    OverlapReader,
    gold_passages,
    question_texts,
    read_answers,
    retrieve,
)
from rankwell.tasks.qa.answers import show
from rankwell.tasks.qa.evaluation import evaluate_qa
from rankwell.tasks.qa.formats import read_questions
from rankwell.tasks.qa.formats.records import write_predictions
from rankwell.tasks.qa.options import QaOptions

K_RETRIEVER, K_READER = 3, 5
_TITLE = "Who fails: the retriever or the reader?"


def qa(
    *, output: FolderPath = Path("rankwell-demo-qa"), seed: Seed = 0, progress: Progress = None
) -> Output:
    """Answer questions about the standard library.

    Shows where the retriever or the reader failed, with nothing to download.

      rankwell demo qa

    Parameters
    ----------
    output
        Folder for the questions, what was retrieved, the answers and the results.
    """
    with holding(output):
        gold, retrieved, predictions, isolated = map(str, prepare(output, progress=progress))
        options = QaOptions(
            retrieved=retrieved, isolated=isolated, k=K_READER, depth=K_RETRIEVER, seed=seed
        )
        result = evaluate_qa(gold, predictions, options=options, details=True)
        results = output / "results"
        show(result, output=results)
        write_report([results], results / NAME, title=_TITLE, seed=seed)
    return introduced(
        f"{len(read_questions(gold).table.ids)} questions about Python's standard library. BM25 "
        f"finds {K_RETRIEVER} paragraphs for each, and a reader without a model picks at most "
        f"{K_READER} answers from them. Which of the two fails?",
        show(result),
        results,
        StatusNote(f"wrote {output}/: the questions, what was retrieved, the answers, the results"),
    )


@keeping()
def prepare(folder: Path, *, progress: Progress = None) -> list[Path]:
    """Writes questions, documents, answers and those from the right paragraphs; the same bytes
    every time and everywhere.
    """
    paths = [
        folder / name for name in ("questions.json", "bm25.run", "answers.jsonl", "isolated.jsonl")
    ]
    write_bytes(paths[0], (files("rankwell.tasks.qa") / "data" / "questions.json").read_bytes())
    questions = read_questions(str(paths[0])).table
    contexts, texts = questions.contexts, question_texts(questions)
    reader = OverlapReader(contexts.values())
    with SqliteFts(contexts.items()) as system:
        retrieved = retrieve(system, texts, K_RETRIEVER)
    write_run(retrieved, paths[1])
    report = progress_of(progress, "answering")
    write_predictions(
        read_answers(reader, texts, retrieved, contexts, k=K_READER, progress=report), paths[2]
    )
    write_predictions(
        read_answers(reader, texts, gold_passages(questions), contexts, k=K_READER), paths[3]
    )
    return paths
