"""A real retrieval experiment with nothing to download: two searches of the standard library's documentation.

The questions and their graded judgments are written by hand and ship with the package; the documents are read from the
interpreter that runs. One system searches all that a module says, the other only its name and its first sentence.
"""

from collections.abc import Callable, Sequence
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

from rankwell.files import python_docs
from rankwell.store import write_text
from rankwell.systems import System
from rankwell.systems.sqlite_fts import SqliteFts

DEPTH = 100


class DemoFiles(NamedTuple):
    """Where the experiment lies: TREC judgments, the questions and documents as tables, and one run per system."""

    qrels: Path
    queries: Path
    documents: Path
    runs: tuple[Path, Path]


class Need(NamedTuple):
    """A question with its id."""

    id: str
    text: str


class Judgment(NamedTuple):
    """How well a module answers a need: 3 is the module for it, 2 does it well or in part, 1 is related, 0 does not help."""

    need: str
    module: str
    grade: int


def needs() -> list[Need]:
    """The hand-written questions, in the order of their ids."""
    return [Need(*line.split("\t")) for line in _data("needs.tsv").splitlines()]


def judgments() -> list[Judgment]:
    """All judgments that ship with the package, those of modules that this interpreter does not have included."""
    rows = (line.split() for line in _data("qrels.txt").splitlines())
    return [Judgment(need, module, int(grade)) for need, _, module, grade in rows]


def prepare(folder: Path, *, progress: Callable[[int, int], None] | None = None) -> DemoFiles:
    """Runs both systems over all questions, 100 results each, and writes the experiment into `folder`.

    Judgments of modules that this version of Python does not have are left out, as no system could find them.
    progress: called with the number of searches done and their total, after each.
    The same interpreter writes the same bytes every time.
    """
    entries = python_docs.modules()
    present = {entry.id for entry in entries}
    qrels = [f"{need} 0 {module} {grade}" for need, module, grade in judgments() if module in present]
    folder.mkdir(parents=True, exist_ok=True)
    paths = DemoFiles(
        qrels=folder / "qrels.txt",
        queries=folder / "queries.tsv",
        documents=folder / "documents.tsv",
        runs=(folder / "whole_docs.run", folder / "first_sentences.run"),
    )
    write_text(paths.qrels, _lines(qrels))
    write_text(paths.queries, _lines(["\t".join(need) for need in needs()]))
    write_text(paths.documents, _lines([f"{entry.id}\t{entry.title}" for entry in entries]))
    texts = ([(entry.id, f"{entry.title}\n\n{entry.text}") for entry in entries], [(entry.id, entry.title) for entry in entries])
    for step, (path, documents) in enumerate(zip(paths.runs, texts, strict=True)):
        with SqliteFts(documents) as system:
            write_text(path, _run(system, path.stem, needs(), _shifted(progress, step, len(texts))))
    return paths


def _run(system: System, tag: str, questions: Sequence[Need], progress: Callable[[int, int], None]) -> str:
    """The system's answers as a TREC run: query, Q0, item, rank, score, tag."""
    lines: list[str] = []
    for done, need in enumerate(questions, start=1):
        results = system.search(need.text, DEPTH)
        lines += [f"{need.id} Q0 {item} {rank} {score!r} {tag}" for rank, (item, score) in enumerate(results, start=1)]
        progress(done, len(questions))
    return _lines(lines)


def _shifted(progress: Callable[[int, int], None] | None, step: int, steps: int) -> Callable[[int, int], None]:
    """The progress of one step as the progress of all of them."""

    def report(done: int, total: int) -> None:
        if progress is not None:
            progress(step * total + done, steps * total)

    return report


def _data(name: str) -> str:
    return (files("rankwell") / "data" / "demo" / name).read_text(encoding="utf-8")


def _lines(lines: Sequence[str]) -> str:
    return "".join(f"{line}\n" for line in lines)
