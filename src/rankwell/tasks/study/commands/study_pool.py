"""Pool the first items of runs for judging: a folder with the items to judge, in the order that
estimates need.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from rankwell import __version__
from rankwell.core.options import Input, Option
from rankwell.core.tables import Bools, Ints
from rankwell.errors import BadInput, BadUsage, count_of, typed
from rankwell.evaluation.judged import name_runs
from rankwell.io.files import read_texts
from rankwell.io.formats import Texts
from rankwell.locks import locked
from rankwell.report import prose
from rankwell.report.drafts import holding
from rankwell.report.folder import write_parquet
from rankwell.report.options import Aside, FolderOption, InputPlace, Output, Progress
from rankwell.store import Source, refuse_blocked, sources_of, write_text, writing_to
from rankwell.tasks.study import folder as places
from rankwell.tasks.study.answers import StudyAnswers
from rankwell.tasks.study.batches import finished_batches
from rankwell.tasks.study.folder import (
    PooledRun,
    Study,
    StudyFile,
    StudyPlan,
    StudyPool,
    is_study,
    place_of,
    read_study,
)
from rankwell.tasks.study.journal import read_journals
from rankwell.tasks.study.looks import read_looks
from rankwell.tasks.study.options import PoolOptions, known_grades
from rankwell.tasks.study.pooling import (
    PooledRanks,
    default_batch,
    design_of,
    order_pool,
    pool_depth,
    pooled_ranks,
    same_everywhere,
    study_measure,
)

_LEFT = {places.QUERIES, places.DOCUMENTS, places.GUIDELINE, "rounds", ".rankwell.lock"}
"""Names in a folder whose study.json was not written, as the last file, because the process was
killed.
"""


def pool(
    *places: InputPlace,
    options: PoolOptions,
    add: Annotated[list[str] | None, Option(), Input()] = None,
    output: FolderOption = None,
    progress: Progress = None,
) -> Output:
    """Pool the first items of runs for judging: a folder with the items to judge, in the order that
    estimates need.

    Then judge with `rankwell study judge`, and ask for the verdict with `rankwell study estimate`.

    Parameters
    ----------
    places
        Files of two runs or more; with --add the folder of the study.
    add
        A run to add to a study that exists; repeat it for more. Its items are judged in a round of
        their own.
    output
        Folder for the study.
    """
    if add:
        if output is not None or len(places) != 1:
            raise BadUsage(
                "--add takes the folder of a study and writes into it: rankwell study pool "
                "STUDY --add RUN"
            )
        return _add(Path(places[0]), add, options, progress)
    if output is None:
        raise BadUsage("name a folder for the study with -o.")
    if len(places) < 2:
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
        study, found = _designed(output, places, options, texts, progress)
        done = _write(study, found, texts, options, np.zeros(len(found.item), dtype=np.bool_), None)
    lost = len(texts.queries.texts) - len(found.queries)
    verb = "is" if lost == 1 else "are"
    what = (
        f"{count_of(lost, 'query', 'queries')} of {options.query_texts} {verb} in no run, and not "
        "part of the study"
    )
    notes = (what,) * bool(lost)
    return done._replace(notes=(*notes, *done.notes))


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
    other = next((each.name for each in sorted(output.iterdir()) if each.name not in _LEFT), None)
    if other is not None:
        raise BadUsage(f"{output} has other files ({other}); name a new folder for the study.")


def _designed(
    output: Path,
    runs: tuple[str, ...],
    options: PoolOptions,
    texts: SourceTexts,
    progress: Progress,
) -> tuple[Study, PooledRanks]:
    """The study and the ranks of its pool. Raises BadUsage where nothing differs between the
    runs.
    """
    grades = known_grades(options.grades)
    measure = study_measure(options.measure, tuple(grades))
    design = design_of(measure, options.drawn)
    depth = pool_depth(measure, options.depth, design)
    named = name_runs(list(runs))
    found = pooled_ranks(
        list(named.values()),
        list(texts.queries.texts),
        depth,
        columns=options.columns,
        progress=progress,
    )
    if same_everywhere(found.ranks):
        raise BadUsage(
            f"{' and '.join(named)} never differ in the first {depth}; nothing to judge."
        )
    if options.drawn is not None and options.drawn > len(found.queries):
        known = count_of(len(found.queries), "query", "queries")
        raise BadUsage(
            f"--by queries {options.drawn}: the runs have {known}; draw at most so many."
        )
    files = {
        "query_texts": options.query_texts,
        "documents": options.documents,
        "guideline": options.guideline,
    }
    known = {
        name: each.file
        for name, each in sources_of({name: file for name, file in files.items() if file}).items()
    }
    study = Study(
        place=output,
        version=__version__,
        seed=options.seed,
        design=design,
        purpose=options.purpose,
        measure=str(measure),
        depth=depth,
        batch=options.batch or default_batch(len(found.queries)),
        drawn=options.drawn,
        grades=grades,
        plan=StudyPlan(level=options.level, looks=options.looks, pairs=options.pairs_planned),
        thumbnails=None if options.thumbnails is None else place_of(options.thumbnails, output),
        sources={
            name: StudyFile(place_of(file, output), Source(file).digest())
            for name, file in known.items()
            if file
        },
        runs=_pooled_runs(named, output, 1),
        rounds=1,
    )
    return study, found


def _pooled_runs(named: Mapping[str, Any], output: Path, number: int) -> tuple[PooledRun, ...]:
    for run in named.values():
        if not Path(run).is_file():
            raise BadInput(f"{run} is not a file; a study keeps the digests of its runs.")
    return tuple(
        PooledRun(name, place_of(run, output), Source(run).digest(), number)
        for name, run in named.items()
    )


def _write(
    study: Study,
    found: PooledRanks,
    texts: SourceTexts | None,
    options: PoolOptions,
    answered: Any,
    earlier: Any,
) -> Output:
    """Writes the files of a study, study.json last. texts: None where queries have theirs
    already.
    """
    guideline = _guideline(study, options)
    pool = order_pool(found, study, answered, earlier)
    _write_pool(study, pool, found.queries)
    documents = (
        texts.documents if texts else read_texts(study.place / study.sources["documents"].file)
    )
    bare = _write_texts(study.place / places.DOCUMENTS, "item", found.names, documents)
    if texts is not None:
        _write_texts(study.place / places.QUERIES, "query", list(found.queries), texts.queries)
        write_text(study.place / places.GUIDELINE, guideline)
    places.write_study(study)
    n_items = int((pool.sizes[:, -1] > 0).sum())
    n_queries = count_of(len(found.queries), "query", "queries")
    counts = (
        f"{n_queries}, {count_of(len(found.item), 'item')} in the first {study.depth} of "
        f"{len(study.runs)} runs"
    )
    kept = count_of(
        bare,
        "item has no document; it is judged by its id",
        "items have no document; they are judged by their ids",
    )
    notes = (*found.notes, *((kept,) * bool(bare)))
    text = prose(f"{study.measure} over {counts}; {_to_judge(study, n_items)}.\n")
    judging = typed("rankwell", "study", "judge", study.place, "--judge", "NAME")
    return Output(text=text, notes=(*notes, Aside(f"wrote {study.place}/; judge with: {judging}")))


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
    for number in range(pool.sizes.shape[1]):
        columns[f"size_{number + 1}"], types[f"size_{number + 1}"] = pool.sizes[:, number], "DOUBLE"
        batch = pool.batches[:, number].astype(np.float64)
        columns[f"batch_{number + 1}"], types[f"batch_{number + 1}"] = (
            np.where(batch < 0, np.nan, batch),
            "INTEGER",
        )
    for number in range(pool.ranks.shape[1]):
        rank = pool.ranks[:, number].astype(np.float64)
        columns[f"rank_{number + 1}"], types[f"rank_{number + 1}"] = (
            np.where(rank == 0, np.nan, rank),
            "INTEGER",
        )
    write_parquet(study.place / places.pool_name(study.rounds), columns, types)


def _write_texts(path: Path, key: str, ids: list[str], texts: Texts) -> int:
    """Writes the texts of some ids with their further columns, and returns the number of ids
    without a text.
    """
    found = [texts.texts.get(each) for each in ids]
    own = [texts.attributes.get(each, {}) for each in ids]
    names = [
        name
        for name in dict.fromkeys(name for each in own for name in each)
        if name not in (key, "text")
    ]
    columns: dict[str, Any] = {key: ids, "text": found} | {
        name: [each.get(name) for each in own] for name in names
    }
    write_parquet(path, columns, dict.fromkeys(columns, "VARCHAR"))
    return found.count(None)


def _guideline(study: Study, options: PoolOptions) -> str:
    """The text of the guideline: that of the user's file, else one made of the grades."""
    if options.guideline is not None:
        return Source(options.guideline).read().decode("utf-8", errors="replace")
    grades = "".join(f"* {grade:g}: {name}\n" for grade, name in study.grades.items())
    return (
        "# How to judge\n\nRead the query, then the item. How well does the item serve a person "
        f"with this query?\n\n{grades}"
    )


def _ended_batches(study: Study, answered: Bools) -> Ints:
    """(items, rounds) the batches of rounds that end now, -1 for those that are not finished.

    Later rounds judge some of their items, too; a batch that they happened to finish would make
    every chance of an item too high.
    """
    batches = study.pool.batches.copy()
    for number, own in enumerate(batches.T, 1):
        own[own >= finished_batches(study, answered, number)] = -1
    return batches


def _add(place: Path, added: list[str], options: PoolOptions, progress: Progress) -> Output:
    """Appends a round with further runs."""
    study = read_study(place)
    default = PoolOptions()
    later = ("pairs_planned", "columns")
    given = [
        name
        for name, value in vars(options).items()
        if name not in later and value != getattr(default, name)
    ]
    if given:
        raise BadUsage(
            f"--{given[0].replace('_', '-')} was chosen when the study was pooled; leave it "
            "out with --add."
        )
    if options.pairs_planned is not None and read_looks(study).looks:
        raise BadUsage(
            "--pairs-planned comes before the first estimate; the pairs of this study are fixed."
        )
    with writing_to(place), locked(place, wait=10):
        study.refuse_changed_files()
        new = name_runs(added)
        twice = next((name for name in new if name in study.run_names), None)
        if twice is not None:
            raise BadUsage(
                f"the study has a run {twice!r} already; rename the file of the new one."
            )
        reading: dict[str, Any] = {
            "columns": options.columns,
            "earlier": study.pool,
            "progress": progress,
        }
        found = pooled_ranks(list(new.values()), study.queries, study.depth, **reading)
        rows = found.earlier
        known = rows >= 0
        judged = StudyAnswers.of(study, read_journals(study).lines).answered
        answered = np.zeros(len(rows), dtype=np.bool_)
        answered[known] = judged[rows[known]]
        sizes, batches = (
            np.zeros((len(rows), study.rounds)),
            np.full((len(rows), study.rounds), -1, dtype=np.int64),
        )
        sizes[known], batches[known] = (
            study.pool.sizes[rows[known]],
            _ended_batches(study, judged)[rows[known]],
        )
        grown = replace(
            study,
            runs=(*study.runs, *_pooled_runs(new, place, study.rounds + 1)),
            rounds=study.rounds + 1,
            plan=replace(study.plan, pairs=options.pairs_planned or study.plan.pairs),
        )
        return _write(grown, found, None, options, answered, (sizes, batches))
