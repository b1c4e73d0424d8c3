"""Tune a live search engine."""

from pathlib import Path
from typing import Any

from rankwell.comparison.pages import write_report
from rankwell.data.tables import format_value
from rankwell.errors import typed
from rankwell.reporting import PrintedFigure, prose, render_rows
from rankwell.reporting.drafts import holding, keeping
from rankwell.reporting.options import FolderPath, Output, Progress
from rankwell.reporting.page import NAME, page_lines
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
    *, output: FolderPath = Path("rankwell-demo-engine"), seed: int = 0, progress: Progress = None
) -> Output:
    """Tune a live search engine.

    BM25's k1 and b with nothing to download, and the gain that is left on other questions.

      rankwell demo engine

    Parameters
    ----------
    output
        Folder for the documents, the questions, the judgments and the results.
    seed
        Seed of the order of requests, of the folds and of the bootstrap.
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
    begin = (
        f"{len(read_needs())} questions about the Python standard library, asked of SQLite's "
        "full-text search at "
        f"{len(result.tables['settings'])} settings of BM25: k1 (how\nsoon a repeated word "
        "counts no more) and b (how much long "
        "documents are held back). Its own are k1 = 1.2, b = 0.75.\n"
    )
    middle = (
        "The gain of the best setting over SQLite's own. The apparent one is measured on the "
        "questions that chose the setting, "
        "and flatters;\nout of fold, each tenth of the questions is measured at the setting "
        "that the others chose:\n"
    )
    flags = " ".join(f"--sweep {sweep}" for sweep in SWEEP)
    inputs = typed(_ENGINE, "--documents", documents, "--queries", queries, "--qrels", qrels)
    end = (
        f"The same from the files:\n\n  rankwell engine run {inputs} \\\n"
        f"    -m '{' '.join(MEASURES)}' --depth {_DEPTH} {flags} --rounds {_ROUNDS}\n"
    )
    gains = render_rows([_gain_cells(gain) for gain in result.gain])
    parts = [
        prose(begin),
        render(result, "table"),
        prose(middle),
        f"{gains.rstrip()}\n",
        prose(end),
        page_lines(results),
    ]
    return Output(text="\n".join(parts), notes=tuple(result.notes))


def _gain_cells(gain: Any) -> dict[str, Any]:
    """The row of a gain as it is printed."""
    figures = {
        name: format_value(gain[name], "share", signed=True)
        for name in ("apparent", "out_of_fold", "ci_low", "ci_high")
    }
    return {
        "measure": gain["measure"],
        "best": gain["best"],
        "apparent": PrintedFigure(figures["apparent"]),
        "out of fold": PrintedFigure(figures["out_of_fold"]),
        "95 %": f"[{figures['ci_low']}, {figures['ci_high']}]",
    }


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
