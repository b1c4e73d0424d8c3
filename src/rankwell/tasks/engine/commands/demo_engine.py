"""Tune a live search engine."""

from pathlib import Path

from rankwell.comparison.pages import write_report
from rankwell.evaluation.options import Seed
from rankwell.reporting.drafts import holding, keeping
from rankwell.reporting.options import FolderPath, Output, Progress, StatusNote, introduced
from rankwell.reporting.page import NAME
from rankwell.store import write_text
from rankwell.tasks.engine.evaluation import retrieve_into
from rankwell.tasks.engine.options import EngineOptions
from rankwell.tasks.engine.task import render, write
from rankwell.vectors.media import python_docs
from rankwell.vectors.media.python_docs import read_judgments, read_needs

SWEEP = ("k1=1.2,2.4,4.8", "b=0,0.25,0.5,0.75")
MEASURES = ("nDCG@10", "RR", "R@100")
_ENGINE, _DEPTH, _ROUNDS = "sqlite-fts5", 100, 2
_TITLE = "A search engine, tuned: BM25's k1 and b"


def engine(
    *, output: FolderPath = Path("rankwell-demo-engine"), seed: Seed = 0, progress: Progress = None
) -> Output:
    """Tune a live search engine.

    Tunes BM25's k1 and b with nothing to download, and shows the gain that remains on other
    questions.

      rankwell demo engine

    Parameters
    ----------
    output
        Folder for the documents, the questions, the judgments and the results.
    """
    with holding(output):
        documents, queries, qrels = map(str, prepare(output))
        options = EngineOptions(
            documents=documents,
            queries=queries,
            qrels=qrels,
            measures=list(MEASURES),
            depth=_DEPTH,
            sweep=list(SWEEP),
            rounds=_ROUNDS,
            seed=seed,
        )
        results = output / "results"
        result = retrieve_into(_ENGINE, options, None, progress)
        write(result, results)
        write_report([results], results / NAME, documents=documents, title=_TITLE, seed=seed)
    printed = Output(text=render(result, "table"), findings=result.findings)
    return introduced(
        f"{len(read_needs())} questions about Python's standard library, asked of SQLite with "
        f"{len(result.settings)} settings of BM25: k1 (repeated words) and b (long documents).",
        printed,
        results,
        StatusNote(f"wrote {output}/: the documents, the questions, the judgments, the results"),
    )


@keeping()
def prepare(folder: Path) -> tuple[Path, Path, Path]:
    """Writes the documents, the questions and the judgments, without those of modules that this
    Python lacks.
    """
    entries = python_docs.modules()
    present = {entry.id for entry in entries}
    folder.mkdir(parents=True, exist_ok=True)
    paths = folder / "documents.tsv", folder / "queries.tsv", folder / "qrels.txt"
    texts = [f"{entry.id}\t{' '.join(f'{entry.title} {entry.text}'.split())}" for entry in entries]
    judged = [
        f"{need} 0 {module} {grade}"
        for need, module, grade in read_judgments()
        if module in present
    ]
    for path, lines in zip(
        paths, (texts, ["\t".join(need) for need in read_needs()], judged), strict=True
    ):
        write_text(path, "".join(f"{line}\n" for line in lines))
    return paths
