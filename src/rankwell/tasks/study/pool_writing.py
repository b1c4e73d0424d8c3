"""The folder of a study is written: pooled runs, texts, guideline; and a round for added runs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from rankwell import __version__
from rankwell.data.tables import Bools, Floats, Ints
from rankwell.errors import BadInput, BadUsage, count_of, typed
from rankwell.evaluation.judged import name_runs
from rankwell.io.formats import Texts, read_texts
from rankwell.reporting import prose
from rankwell.reporting.drafts import holding
from rankwell.reporting.folder import write_parquet
from rankwell.reporting.options import Aside, Output, Progress
from rankwell.store import Source, refuse_blocked, sources_of, write_text, writing_to
from rankwell.store.locks import locked
from rankwell.tasks.study.answers import StudyAnswers
from rankwell.tasks.study.folder import (
    DOCUMENTS,
    GUIDELINE,
    QUERIES,
    PooledRun,
    Study,
    StudyFile,
    StudyPlan,
    StudyPool,
    is_study,
    place_of,
    read_study,
    write_study,
)
from rankwell.tasks.study.journal import read_journals
from rankwell.tasks.study.looks import read_looks
from rankwell.tasks.study.options import PoolOptions, known_grades
from rankwell.tasks.study.pooling import (
    EarlierRounds,
    PooledRanks,
    default_batch,
    design_of,
    order_pool,
    pool_depth,
    pooled_ranks,
    same_everywhere,
    study_measure,
)

_LEFT = {QUERIES, DOCUMENTS, GUIDELINE, "rounds", ".rankwell.lock"}
"""Names in a folder whose study.json was not written, as the last file, because the process was
killed.
"""


def print_pool(
    names: Sequence[str],
    *,
    options: PoolOptions,
    output: Path | None = None,
    progress: Progress = None,
) -> Output:
    """Writes the folder of a study, or adds runs to one."""
    if options.add:
        if output is not None or len(names) != 1:
            raise BadUsage(
                "--add takes the folder of a study and writes into it: rankwell study pool "
                "STUDY --add RUN"
            )
        return _add(Path(names[0]), options.add, options, progress)
    if output is None:
        raise BadUsage("name a folder for the study with -o.")
    if len(names) < 2:
        raise BadUsage(
            "give two runs or more: rankwell study pool RUN RUN --query-texts FILE "
            "--documents FILE -o STUDY"
        )
    if options.query_texts is None or options.documents is None:
        raise BadUsage("judges read texts: name --query-texts and --documents.")
    refuse_blocked(output, folder=True)
    with writing_to(output), holding(output):
        _refuse_other(output)
        texts = SourceTexts(read_texts(options.query_texts), read_texts(options.documents))
        study, ranks = _designed(output, names, options, texts, progress)
        written = _write(study, ranks, texts, options)
    lost = len(texts.queries.texts) - len(ranks.queries)
    verb = "is" if lost == 1 else "are"
    note = (
        f"{count_of(lost, 'query', 'queries')} of {options.query_texts} {verb} in no run, and not "
        "part of the study"
    )
    return written._replace(notes=((note,) * bool(lost) + written.notes))


@dataclass(frozen=True, eq=False)
class SourceTexts:
    """Texts of the queries and of the documents."""

    queries: Texts
    documents: Texts


def _refuse_other(output: Path) -> None:
    """Raises BadUsage for a folder that holds a study, or anything that no killed `study pool`
    leaves.
    """
    if is_study(output):
        raise BadUsage(f"{output} is a study already; add runs with --add, or name another folder.")
    names = sorted(path.name for path in output.iterdir() if path.name not in _LEFT)
    if names:
        raise BadUsage(f"{output} has other files ({names[0]}); name a new folder for the study.")


def _designed(
    output: Path, runs: Sequence[str], options: PoolOptions, texts: SourceTexts, progress: Progress
) -> tuple[Study, PooledRanks]:
    """The study and the ranks of its pool. Raises BadUsage where nothing differs between the
    runs.
    """
    grades = known_grades(options.grades)
    measure = study_measure(options.measure, tuple(grades))
    design = design_of(measure, options.drawn)
    depth = pool_depth(measure, options.depth, design)
    named_runs = name_runs(list(runs))
    ranks = pooled_ranks(
        list(named_runs.values()),
        list(texts.queries.texts),
        depth,
        columns=options.columns,
        progress=progress,
    )
    if same_everywhere(ranks.ranks):
        raise BadUsage(
            f"{' and '.join(named_runs)} never differ in the first {depth}; nothing to judge."
        )
    if options.drawn is not None and options.drawn > len(ranks.queries):
        n_queries = count_of(len(ranks.queries), "query", "queries")
        raise BadUsage(
            f"--by queries {options.drawn}: the runs have {n_queries}; draw at most so many."
        )
    names = ("query_texts", "documents", "guideline")
    inputs = {name: getattr(options, name) for name in names if getattr(options, name)}
    sources = {
        name: StudyFile(place_of(source.file, output), Source(source.file).digest())
        for name, source in sources_of(inputs).items()
        if source.file
    }
    study = Study(
        place=output,
        version=__version__,
        seed=options.seed,
        design=design,
        purpose=options.purpose,
        measure=str(measure),
        depth=depth,
        batch=options.batch or default_batch(len(ranks.queries)),
        drawn=options.drawn,
        grades=grades,
        plan=StudyPlan(level=options.level, looks=options.looks, pairs=options.pairs_planned),
        thumbnails=None if options.thumbnails is None else place_of(options.thumbnails, output),
        sources=sources,
        runs=_pooled_runs(named_runs, output, 1),
        rounds=1,
    )
    return study, ranks


def _pooled_runs(runs: Mapping[str, str], output: Path, number: int) -> tuple[PooledRun, ...]:
    for run in runs.values():
        if not Path(run).is_file():
            raise BadInput(f"{run} is not a file; a study keeps the digests of its runs.")
    return tuple(
        PooledRun(name, place_of(run, output), Source(run).digest(), number)
        for name, run in runs.items()
    )


def _write(
    study: Study,
    ranks: PooledRanks,
    texts: SourceTexts | None,
    options: PoolOptions,
    earlier: EarlierRounds | None = None,
) -> Output:
    """Writes the files of a study, study.json last. texts: None where queries have theirs
    already.
    """
    guideline = _guideline(study, options)
    pool = order_pool(ranks, study, earlier)
    _write_pool(study, pool, ranks.queries)
    documents = (
        texts.documents if texts else read_texts(study.place / study.sources["documents"].file)
    )
    bare = _write_texts(study.place / DOCUMENTS, "item", ranks.names, documents)
    if texts is not None:
        _write_texts(study.place / QUERIES, "query", list(ranks.queries), texts.queries)
        write_text(study.place / GUIDELINE, guideline)
    write_study(study)
    counts = (
        f"{count_of(len(ranks.queries), 'query', 'queries')}, {count_of(len(ranks.item), 'item')} "
        f"in the first {study.depth} of {len(study.runs)} runs"
    )
    without_text = count_of(
        bare,
        "item has no document; it is judged by its id",
        "items have no document; they are judged by their ids",
    )
    judging = typed("rankwell", "study", "judge", study.place, "--judge", "NAME")
    n_items = int((pool.sizes[:, -1] > 0).sum())
    return Output(
        prose(f"{study.measure} over {counts}; {_to_judge(study, n_items)}.\n"),
        (
            *ranks.notes,
            *((without_text,) * bool(bare)),
            Aside(f"wrote {study.place}/; judge with: {judging}"),
        ),
    )


def _to_judge(study: Study, n_items: int) -> str:
    if study.design == "items":
        return (
            f"{count_of(n_items, 'of them decides', 'of them decide')}, in batches of {study.batch}"
        )
    if study.design == "queries":
        return f"{study.drawn} queries are drawn, with {count_of(n_items, 'item')} to judge"
    return "each run is read down to its first relevant item"


def _write_pool(study: Study, pool: StudyPool, queries: tuple[str, ...]) -> None:
    names = np.array(queries, dtype=object)
    columns: dict[str, Any] = {
        "query": names[pool.query],
        "item": pool.item,
        "u": pool.u,
        "prior": pool.prior,
    }
    types = {"query": "VARCHAR", "item": "VARCHAR", "u": "DOUBLE", "prior": "DOUBLE"}
    for number, (sizes, batches) in enumerate(zip(pool.sizes.T, pool.batches.T, strict=True), 1):
        columns |= {f"size_{number}": sizes, f"batch_{number}": _nullable(batches, batches < 0)}
        types |= {f"size_{number}": "DOUBLE", f"batch_{number}": "INTEGER"}
    for number, ranks in enumerate(pool.ranks.T, 1):
        columns[f"rank_{number}"] = _nullable(ranks, ranks == 0)
        types[f"rank_{number}"] = "INTEGER"
    write_parquet(study.pool_file, columns, types)


def _nullable(numbers: Ints, missing: Bools) -> Floats:
    """The numbers, NaN where they are missing."""
    return np.where(missing, np.nan, numbers.astype(np.float64))


def _write_texts(path: Path, key: str, ids: list[str], texts: Texts) -> int:
    """Writes the texts of some ids with their further columns, and returns the number of ids
    without a text.
    """
    written = [texts.texts.get(name) for name in ids]
    attributes = [texts.attributes.get(name, {}) for name in ids]
    columns: dict[str, Any] = {key: ids, "text": written}
    for name in dict.fromkeys(name for row in attributes for name in row):
        columns.setdefault(name, [row.get(name) for row in attributes])
    write_parquet(path, columns, dict.fromkeys(columns, "VARCHAR"))
    return written.count(None)


def _guideline(study: Study, options: PoolOptions) -> str:
    """The text of the guideline: that of the user's file, else one made of the grades."""
    if options.guideline is not None:
        return Source(options.guideline).read().decode("utf-8", errors="replace")
    grades = "".join(f"* {grade:g}: {name}\n" for grade, name in study.grades.items())
    return (
        "# How to judge\n\nRead the query, then the item. How well does the item serve a person "
        f"with this query?\n\n{grades}"
    )


def _add(folder: Path, added: list[str], options: PoolOptions, progress: Progress) -> Output:
    """Appends a round with further runs."""
    study = read_study(folder)
    default = PoolOptions()
    changed = [
        name
        for name, value in vars(options).items()
        if name not in ("add", "pairs_planned", "columns") and value != getattr(default, name)
    ]
    if changed:
        raise BadUsage(
            f"--{changed[0].replace('_', '-')} was chosen when the study was pooled; leave it "
            "out with --add."
        )
    if options.pairs_planned is not None and read_looks(study).looks:
        raise BadUsage(
            "--pairs-planned comes before the first estimate; the pairs of this study are fixed."
        )
    with writing_to(folder), locked(folder, wait=10):
        study.refuse_changed_files()
        new = name_runs(added)
        twice = next((name for name in new if name in study.run_names), None)
        if twice is not None:
            raise BadUsage(
                f"the study has a run {twice!r} already; rename the file of the new one."
            )
        ranks = pooled_ranks(
            list(new.values()),
            study.queries,
            study.depth,
            columns=options.columns,
            earlier=study.pool,
            progress=progress,
        )
        judged = StudyAnswers.of(study, read_journals(study).lines).answered
        grown = replace(
            study,
            runs=(*study.runs, *_pooled_runs(new, folder, study.rounds + 1)),
            rounds=study.rounds + 1,
            plan=replace(study.plan, pairs=options.pairs_planned or study.plan.pairs),
        )
        return _write(grown, ranks, None, options, EarlierRounds.of(study, judged, ranks.earlier))
