"""Commands on files as functions: check, convert, explain."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, get_args

from rankwell.commands import convert as command
from rankwell.commands.check import Findings, InputForms, check_places
from rankwell.commands.convert import Conversion, convert_file
from rankwell.commands.explain import Explanation, explained
from rankwell.data.columns import Duplicates
from rankwell.data.options import ColumnChoice, files_to_write, overwriting, own_arithmetic
from rankwell.data.registry import Measure, suggest
from rankwell.errors import BadUsage, UnknownName, kind_of
from rankwell.evaluation.judged import name_runs
from rankwell.workflow.writing import writing


@own_arithmetic
def check(
    judgments: Any,
    runs: Any = (),
    *,
    corpus: str | Path | None = None,
    judgments_format: str | None = None,
    qrels_columns: ColumnChoice | None = None,
    run_format: str | None = None,
    columns: ColumnChoice | None = None,
) -> Findings:
    """The findings on judgments and runs, as of `rankwell check`: what is missing, tied,
    contradictory, or a probable mistake.

    judgments, runs: as for `evaluate`; without runs the judgments alone. corpus: file of the
    collection's items, to find judged items that it lacks. qrels_columns, columns: which hold
    query, item, and grade, score or rank, by name or number (`query=1,item=2,grade=3`). The
    findings have `errors` and `warnings`, and `notes` in whole sentences.
    Raises the reader's errors for what cannot be read.

    >>> import rankwell as rw
    >>> found = rw.check({"q1": {"a": 1}, "q2": {"b": 1}}, {"mine": {"q1": {"a": 2.0, "q1": 1.0}}})
    >>> found.errors
    []
    >>> [(warning.check, warning.count) for warning in found.warnings]
    [('judged queries missing from the run', 1), ('queries that retrieve themselves', 1)]
    """
    forms = InputForms(judgments_format, qrels_columns, run_format, columns)
    return check_places(judgments, name_runs(runs), corpus=corpus, forms=forms)


@own_arithmetic
def convert(
    source: str | Path,
    target: str | Path,
    *,
    source_format: str | None = None,
    target_format: str | None = None,
    holds: Literal["run", "judgments"] | None = None,
    query_texts: str | Path | None = None,
    graded_by: Literal["people", "model"] = "people",
    duplicates: Duplicates = "error",
    columns: ColumnChoice | None = None,
    qrels_columns: ColumnChoice | None = None,
    overwrite: bool = False,
) -> Conversion:
    """Converts a file of a run or of judgments to another format, which the target's suffix names,
    as `rankwell convert` does.

    source: a file, the folder of a data set or of a study, or `irds:ID`. holds: where the content
    does not determine it. query_texts: for targets that name a query by its text (Quepid,
    OpenSearch); those in the source's folder by default. graded_by: whose grades of a study.
    duplicates: of an item that a query lists twice; an error, or the `first` or `best` one is kept.
    columns, qrels_columns: of a run or of judgments, by name or number (`query=1,item=2,score=3`).
    overwrite: replace a file that is there. `write_run` and `write_judgments` write what is in
    memory.
    Raises BadUsage for a target that is there or is the source, and the reader's errors for what
    cannot be read.

    >>> import tempfile
    >>> import rankwell as rw
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     source = Path(folder, "a.run")
    ...     _ = source.write_text("q1 Q0 d1 1 2.5 me\\nq1 Q0 d2 2 1.5 me\\n")
    ...     done = rw.convert(source, Path(folder, "a.csv"))
    ...     print(done.holds, done.source_format, done.target_format, done.rows)
    run trec csv 2
    """
    for option, value, known in (
        ("holds", holds or "run", ("run", "judgments")),
        ("duplicates", duplicates, get_args(Duplicates)),
        ("graded_by", graded_by, ("people", "model")),
    ):
        if value not in known:
            raise UnknownName(f"{option}: there is no {value!r}; {suggest(str(value), known)}")
    if not isinstance(source, (str, Path)):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise BadUsage(
            f"convert reads a file, found {kind_of(source)}; write it with write_run or "
            "write_judgments."
        )
    target = Path(target)
    with writing(target, overwrite=overwrite):
        files = files_to_write(command.convert, (source, target), {}, overwrite)
        with overwriting(overwrite, keeping=bool(files)):
            return convert_file(
                source,
                target,
                source_format=source_format,
                target_format=target_format,
                holds=holds,
                query_texts=query_texts,
                graded_by=graded_by,
                duplicates=duplicates,
                columns=columns,
                qrels_columns=qrels_columns,
            )


@own_arithmetic
def explain(name: str | Measure | Callable[..., Any]) -> Explanation:
    """Every meaning of a measure's name, with formula, source and a worked example, as `rankwell
    explain` prints them.

    name: a measure, another tool's word for one, a word that means several things, or a function of
    your own. `meanings` has the measures, each with the places where the name means it. Raises
    UnknownName where it means nothing.

    >>> import rankwell as rw
    >>> [str(measure) for measure in rw.explain("ndcg_cut_10").meanings]
    ['nDCG@10']
    >>> print(str(rw.explain("RR")).splitlines()[0])
    RR means one thing:
    """
    return explained(name)
