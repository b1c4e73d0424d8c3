"""Try it: a real experiment, with nothing to download."""

from pathlib import Path
from typing import NamedTuple

from rankwell.comparison.pages import present_differences, write_report
from rankwell.data.options import CountProgress
from rankwell.engines.sqlite_fts5 import SqliteFts
from rankwell.evaluation.options import Seed
from rankwell.evaluation.results import progress_of
from rankwell.reporting.drafts import holding, keeping
from rankwell.reporting.folder import write_result
from rankwell.reporting.options import FolderPath, Output, Progress, StatusNote, introduced
from rankwell.reporting.page import NAME
from rankwell.store import write_lines
from rankwell.tasks.runs.evaluation import evaluate
from rankwell.vectors.media import python_docs
from rankwell.vectors.media.python_docs import read_judgments, read_needs

DEPTH = 100
_TITLE = "Two searches of Python's standard library"
MEASURES = ("nDCG@10", "AP", "RR", "P@5", "R@100", "Judged@5")


def demo(
    *, output: FolderPath = Path("rankwell-demo"), seed: Seed = 0, progress: Progress = None
) -> Output:
    """Try it: a real experiment, with nothing to download.

    Compares two searches of the standard library's documentation.

      rankwell demo
      rankwell demo qa

    Parameters
    ----------
    output
        Folder for the judgments, the runs and the results.
    """
    with holding(output):
        data_set = prepare(output, progress=progress_of(progress, "searching"))
        runs = list(data_set.runs)
        result = evaluate(
            data_set.qrels,
            runs,
            MEASURES,
            seed=seed,
            details=True,
            queries=data_set.queries,
            progress=progress,
        )
        results = output / "results"
        write_result(result, results)
        write_report(
            [results], results / NAME, documents=str(data_set.documents), title=_TITLE, seed=seed
        )
        compared = present_differences(
            result.compare(seed=seed), format="table", per_query=False, output=None
        )
    return introduced(
        f"{len(read_needs())} questions about Python's standard library. BM25 searches the first "
        "sentence of each module (first_sentences) or its whole text (whole_docs).",
        compared,
        results,
        StatusNote(f"wrote {output}/: the judgments, the runs and the results"),
    )


class RunDemoFiles(NamedTuple):
    """The files of the experiment.

    qrels: judgments in TREC's format.
    queries, documents: tables of the texts of questions and of documents.
    runs: one for each of the two systems.
    """

    qrels: Path
    queries: Path
    documents: Path
    runs: tuple[Path, Path]


@keeping()
def prepare(folder: Path, *, progress: CountProgress | None = None) -> RunDemoFiles:
    """Runs both systems over all questions and writes the experiment, without judgments of modules
    that this Python lacks.
    """
    entries = python_docs.modules()
    present = {entry.id for entry in entries}
    qrels = [
        f"{need} 0 {module} {grade}"
        for need, module, grade in read_judgments()
        if module in present
    ]
    runs = folder / "first_sentences.run", folder / "whole_docs.run"
    paths = RunDemoFiles(
        folder / "qrels.txt", folder / "queries.tsv", folder / "documents.tsv", runs
    )
    needs = read_needs()
    write_lines(paths.qrels, qrels)
    write_lines(paths.queries, map("\t".join, needs))
    write_lines(paths.documents, [f"{entry.id}\t{entry.title}" for entry in entries])
    texts = (
        [(entry.id, entry.title) for entry in entries],
        [(entry.id, f"{entry.title}\n\n{entry.text}") for entry in entries],
    )
    for step, (path, documents) in enumerate(zip(runs, texts, strict=True)):
        lines: list[str] = []
        with SqliteFts(documents) as system:
            for done, need in enumerate(needs, 1 + step * len(needs)):
                # query, Q0, item, rank, score, tag
                lines += [
                    f"{need.id} Q0 {item} {rank} {score!r} {path.stem}"
                    for rank, (item, score) in enumerate(system.search(need.text, DEPTH), 1)
                ]
                if progress is not None:
                    progress(done, 2 * len(needs))
        write_lines(path, lines)
    return paths
