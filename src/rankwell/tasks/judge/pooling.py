"""Runs to a study: the first items of each query, their order of judging and batches, written as a
folder; and a round for added runs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rankwell import __version__
from rankwell.data.findings import Finding
from rankwell.data.registry import Measure, parse_measure
from rankwell.data.tables import Bools, Floats, Ints, Judgments, position_in_segment, sort_ids
from rankwell.errors import BadInput, BadUsage, NothingToEvaluate, count_of, shown, typed
from rankwell.evaluation.bounds import is_reciprocal
from rankwell.evaluation.judged import LinearMeasure, name_runs
from rankwell.io import formats
from rankwell.io.formats import Texts
from rankwell.reporting import prose
from rankwell.reporting.drafts import holding
from rankwell.reporting.folder import write_parquet
from rankwell.reporting.options import Output, Progress, StatusNote
from rankwell.stats.samples import permanent_numbers, prior_relevance, priorities, sampling_sizes
from rankwell.store import Source, encode_id, refuse_blocked, sources_of, write_text, writing_to
from rankwell.store.locks import locked
from rankwell.tasks.judge.batches import finished_batches
from rankwell.tasks.judge.findings import items_without_document
from rankwell.tasks.judge.folder import (
    DOCUMENTS,
    GUIDELINE,
    QUERIES,
    PooledRun,
    Study,
    StudyAnswers,
    StudyFile,
    StudyPlan,
    StudyPool,
    is_study,
    place_of,
    read_journals,
    read_looks,
    read_study,
    write_study,
)
from rankwell.tasks.judge.options import Design, PoolOptions, known_grades

_LEFT = {QUERIES, DOCUMENTS, GUIDELINE, "rounds", ".rankwell.lock"}
"""Names in a folder whose study.json was not written, as the last file, because the process was
killed.
"""
_DEEP = {"AP": 100, "R": 100}
"""Measures whose recall base needs a deep pool, with the least depth."""
_LEAST_BATCH, _MOST_BATCH = 100, 500


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
                "--add takes the folder of a study and writes into it: rankwell judge pool "
                "STUDY --add RUN"
            )
        return _add(Path(names[0]), options, progress)
    if output is None:
        raise BadUsage("name a folder for the study with -o.")
    if len(names) < 2:
        raise BadUsage(
            "give two runs or more: rankwell judge pool RUN RUN --queries FILE "
            "--documents FILE -o STUDY"
        )
    if options.queries is None or options.documents is None:
        raise BadUsage("judges read texts: name --queries and --documents.")
    refuse_blocked(output, folder=True)
    with writing_to(output), holding(output):
        _refuse_other(output)
        queries, documents = map(formats.read_texts, (options.queries, options.documents))
        study, ranks = _designed(output, names, options, list(queries.texts), progress)
        guideline = _guideline(options, study)
        _write_texts(output / QUERIES, "query", ranks.queries, queries)
        write_text(output / GUIDELINE, guideline)
        written = _write(study, ranks, documents)
    lost, file = len(queries.texts) - len(ranks.queries), options.queries
    in_no_run = count_of(lost, f"query of {file} is in no run", f"queries of {file} are in no run")
    note = f"{in_no_run}, and not part of the study"
    return written._replace(messages=((note,) * bool(lost) + written.messages))


def _refuse_other(output: Path) -> None:
    """Raises BadUsage for a folder that holds a study, or anything that no killed `judge pool`
    leaves.
    """
    if is_study(output):
        raise BadUsage(f"{output} is a study already; add runs with --add, or name another folder.")
    names = sorted(path.name for path in output.iterdir() if path.name not in _LEFT)
    if names:
        raise BadUsage(f"{output} has other files ({names[0]}); name a new folder for the study.")


def _designed(
    output: Path,
    runs: Sequence[str],
    options: PoolOptions,
    queries: Sequence[str],
    progress: Progress,
) -> tuple[Study, "PooledRanks"]:
    """The study and the ranks of its pool. Raises BadUsage where nothing differs between the
    runs.
    """
    grades = known_grades(options.grades)
    measure = study_measure(options.measure, grades)
    design: Design = "queries"
    if options.drawn is None and is_reciprocal(measure):
        design = "reading"
    elif options.drawn is None and LinearMeasure.of(measure) is not None:
        design = "items"
    elif options.drawn is None:
        raise BadUsage(
            f"{measure} cannot be estimated from sampled items; draw whole queries (--by queries "
            "N), or choose P, SDCG or RBP with a cut-off, RR with a cut-off."
        )
    depth, cutoff = options.depth or measure.cutoff, measure.cutoff
    if depth is None:
        raise BadUsage(
            f"{measure} looks at whole rankings; say with --depth how many ranks are pooled."
        )
    if cutoff is not None and depth < cutoff:
        raise BadUsage(
            f"--depth {depth}: {measure} looks at {cutoff} ranks; pool at least so many."
        )
    if design == "queries":
        refuse_shallow(measure, depth)
    named_runs = name_runs(list(runs))
    ranks = _pooled_ranks(named_runs, queries, depth, _NO_ROUNDS, options, progress)
    if (ranks.ranks == ranks.ranks[:, :1]).all():
        raise BadUsage(
            f"{' and '.join(named_runs)} never differ in the first {depth}; nothing to judge."
        )
    n_queries = len(ranks.queries)
    if options.drawn is not None and options.drawn > n_queries:
        have = count_of(n_queries, "query", "queries")
        raise BadUsage(f"--by queries {options.drawn}: the runs have {have}; draw at most so many.")
    names = ("queries", "documents", "guideline")
    inputs = {name: getattr(options, name) for name in names if getattr(options, name)}
    study = Study(
        folder=output,
        version=__version__,
        seed=options.seed,
        design=design,
        purpose=options.estimate,
        measure=str(measure),
        depth=depth,
        batch=options.batch_size or min(_MOST_BATCH, max(_LEAST_BATCH, 3 * n_queries)),
        drawn=options.drawn,
        grades=grades,
        plan=StudyPlan(level=options.level, looks=options.looks, pairs=options.pairs_planned),
        thumbnails=None if options.thumbnails is None else place_of(options.thumbnails, output),
        sources={
            name: StudyFile(place_of(source.file, output), Source(source.file).digest())
            for name, source in sources_of(inputs).items()
            if source.file
        },
        runs=_pooled_runs(named_runs, output, 1),
        rounds=1,
    )
    return study, ranks


def study_measure(text: str, grades: Mapping[float, str]) -> Measure:
    """The measure of a study, with the highest grade of its scale where the measure needs one.
    Raises BadUsage.
    """
    top = max(grades)
    name, at, cut = text.partition("@")
    measure = parse_measure(f"SDCG(max_rel={top:g}){at}{cut}" if name.lower() == "sdcg" else text)
    parameters = measure.parameters
    if measure.name == "RBP" and parameters["rel"] is None and parameters["scale"] == "grade":
        measure = measure.with_parameters(scale="max", max_rel=top)
    rel = measure.parameters.get("rel")
    if rel is not None and not 0 < rel <= top:
        raise BadUsage(
            f"{measure}: no grade of the scale is {rel:g} or more; grades are "
            f"{', '.join(f'{g:g}' for g in grades)}."
        )
    return measure


def refuse_shallow(measure: Measure, depth: int) -> None:
    """Raises BadUsage for a measure whose recall base needs a deeper pool."""
    least = _DEEP.get(measure.name, 0)
    if depth < least:
        raise BadUsage(
            f"{measure} needs all relevant items; pool a study with at least {least} ranks: "
            f"--depth {least}."
        )


def _pooled_runs(runs: Mapping[str, str], output: Path, number: int) -> tuple[PooledRun, ...]:
    for run in runs.values():
        if not Path(run).is_file():
            raise BadInput(f"{run} is not a file; a study keeps the digests of its runs.")
    return tuple(
        PooledRun(name, place_of(run, output), Source(run).digest(), number)
        for name, run in runs.items()
    )


class _EarlierRounds(NamedTuple):
    """The earlier rounds of a study.

    pool: the pool after the last of these rounds.
    answered: (items,) whether there is an answer.
    """

    pool: StudyPool
    answered: Bools


_NOTHING: Any = np.zeros((0, 0), dtype=np.int64)
_NO_ITEMS = _NOTHING.ravel()
_NO_ROUNDS = _EarlierRounds(
    StudyPool(_NO_ITEMS, _NO_ITEMS, _NO_ITEMS, _NO_ITEMS, _NOTHING, _NOTHING, _NOTHING), _NO_ITEMS
)
"""Before the first round: no items, no rounds, no runs."""


@dataclass(frozen=True, eq=False)
class PooledRanks:
    """The first ranks of all runs.

    queries, items: ids of queries and of items, in the order of their bytes.
    query, item: (items,) indices of the query and of the item, ascending.
    ranks: (items, runs) ranks; 0 where a run lacks the item.
    earlier: the earlier rounds.
    earlier_row: (items,) row of each item in the earlier pool; -1 for a new item.
    findings: findings of the readers of the runs.
    """

    queries: tuple[str, ...]
    items: list[str]
    query: Ints
    item: Ints
    ranks: Ints
    earlier: _EarlierRounds
    earlier_row: Ints
    findings: tuple[Finding, ...]


def _pooled_ranks(
    runs: Mapping[str, str],
    known_queries: Sequence[str],
    depth: int,
    earlier: _EarlierRounds,
    options: PoolOptions,
    progress: Progress,
) -> PooledRanks:
    """The union of the first `depth` items of the runs, behind the ranks of an earlier pool over
    the same queries.

    known_queries: their ids, sorted where there is an earlier pool. Queries that no run has are
    left out.
    Raises BadInput for a query of a run that is not known, and for ids that are not UTF-8;
    NothingToEvaluate for empty runs.
    """
    queries = sort_ids(known_queries)
    judgments = Judgments(
        tuple(queries), np.zeros(len(queries) + 1, dtype=np.int64), [], np.zeros(0)
    )
    # The query, the item and the ranks of the rows of each source.
    parts = [(earlier.pool.query, earlier.pool.item.tolist(), earlier.pool.ranks)]
    findings = dict[Finding, None]()
    for run in runs.values():
        report = None if progress is None else partial(progress, run)
        read = formats.find_hits(
            run, judgments, keep=depth, columns=options.columns, progress=report
        )
        findings |= dict.fromkeys(read.findings)
        if read.hits.unknown:
            problem = "has no text; add it to the file of --queries"
            if options.add:
                problem = "is not of this study; take it out of the run, or pool a study of its own"
            raise BadInput(f"{run}: query {shown(min(read.hits.unknown))} {problem}.")
        if (top := read.hits.top) is None:
            raise NothingToEvaluate(f"{run} has no items.")
        rank = position_in_segment(top.offsets) + 1
        owner = np.array([judgments.index[query] for query in top.queries], dtype=np.int64)
        parts.append((owner[top.query_of_row], top.items, rank[:, None]))
    names = sort_ids(dict.fromkeys(chain.from_iterable(items for _, items, _ in parts)))
    if not names:
        raise NothingToEvaluate("the runs have no items; there is nothing to pool.")
    number = dict(zip(names, range(len(names)), strict=True))
    keys = [
        query * len(names) + np.fromiter(map(number.__getitem__, items), np.int64, len(items))
        for query, items, _ in parts
    ]
    pool, rows = np.unique(np.concatenate(keys), return_inverse=True)
    earlier_row = np.full(len(pool), -1, dtype=np.int64)
    earlier_row[rows[: len(keys[0])]] = np.arange(len(keys[0]))
    columns = list[Ints]()
    rows_of_parts = np.split(rows, np.cumsum([len(key) for key in keys])[:-1])
    for part_rows, (_, _, part_ranks) in zip(rows_of_parts, parts, strict=True):
        columns.append(np.zeros((len(pool), part_ranks.shape[1]), dtype=np.int64))
        columns[-1][part_rows] = part_ranks
    owner, item = np.divmod(pool, len(names))
    is_first = np.diff(owner, prepend=-1) > 0
    pooled_queries = tuple(queries[query] for query in owner[is_first].tolist())
    for name in (*pooled_queries, *names):
        try:
            name.encode("utf-8")
        except UnicodeEncodeError as error:
            raise BadInput(
                f"the id {shown(name)} is not UTF-8, and a study cannot hold it; rename it in "
                "every file."
            ) from error
    return PooledRanks(
        pooled_queries,
        names,
        np.cumsum(is_first) - 1,
        item,
        np.hstack(columns),
        earlier,
        earlier_row,
        tuple(findings),
    )


def rank_weights(measure: Measure, ranks: Ints) -> Floats:
    """The weight of each item in the measure of each run, (items, runs); 1 for a measure that is
    not linear.
    """
    linear = LinearMeasure.of(measure)
    if linear is None:
        return (ranks > 0).astype(np.float64)
    beyond = max(int(ranks.max(initial=0)) - len(linear.weights), 0)
    return np.pad(linear.weights, (1, beyond))[ranks]


def _ordered_pool(ranked: PooledRanks, study: Study) -> StudyPool:
    """The pool in the order of asking, with the sizes and batches of the new round behind those of
    earlier ones.

    Batches that are not finished end with their round. Later rounds judge some of their items,
    too; a batch that they happened to finish would make every chance of an item too high.
    """
    names, shape = list(map(encode_id, ranked.queries)), (len(ranked.item), study.rounds)
    answered, sizes = np.zeros(shape[0], dtype=np.bool_), np.zeros(shape)
    batches = np.full(shape, -1, dtype=np.int64)
    earlier, is_old = ranked.earlier, ranked.earlier_row >= 0
    rows = ranked.earlier_row[is_old]
    answered[is_old], sizes[is_old, :-1] = earlier.answered[rows], earlier.pool.sizes[rows]
    batches[is_old, :-1] = earlier.pool.batches[rows]
    for column, old_column in zip(batches.T, earlier.pool.batches.T, strict=False):
        column[column >= finished_batches(old_column, earlier.answered)] = -1
    u = permanent_numbers(
        study.seed, names, list(map(encode_id, ranked.items)), rows=[ranked.query, ranked.item]
    )
    best = np.where(ranked.ranks > 0, ranked.ranks, np.iinfo(np.int64).max).min(axis=1)
    prior = prior_relevance(best, (ranked.ranks.min(axis=1) > 0))
    if study.design == "items":
        weights = rank_weights(study.parsed_measure, ranked.ranks)
        sizes[:, -1] = sampling_sizes(weights, prior, for_means=study.purpose == "means")
        keys = (priorities(u, sizes[:, -1]),)
    else:
        # Whole queries are drawn by a permanent number of their own; within one the order of items
        # is that of their numbers.
        draw_order = np.argsort(np.argsort(permanent_numbers(study.seed, names), kind="stable"))
        place = draw_order[ranked.query]
        sizes[:, -1] = place < (len(names) if study.drawn is None else study.drawn)
        keys = (u, place.astype(np.float64), -sizes[:, -1])
    # Rows are in the order of their ids already, which breaks ties.
    order = np.lexsort(keys)
    drawn_rows = order[sizes[order, -1] > 0]
    batches[drawn_rows, -1] = _batches(ranked.query[drawn_rows], answered[drawn_rows], study)
    return StudyPool(
        query=ranked.query[order],
        item=np.array(ranked.items, dtype=object)[ranked.item][order],
        u=u[order],
        prior=prior[order],
        sizes=sizes[order],
        batches=batches[order],
        ranks=ranked.ranks[order],
    )


def _batches(query: Ints, answered: Bools, study: Study) -> Ints:
    """The number of each item's batch, of so many items to ask, (drawn items,); whole queries stay
    together; -1 where runs are read down.
    """
    if study.design == "reading":
        return np.full(len(query), -1)
    before = np.cumsum(~answered) - ~answered
    if study.design == "queries":
        first = np.flatnonzero(np.diff(query, prepend=-1))
        before = np.repeat(before[first], np.diff(first, append=len(query)))
    return np.unique(before // study.batch, return_inverse=True)[1]


def _write(study: Study, ranks: PooledRanks, documents: Texts) -> Output:
    """Writes the pool, the documents, and study.json last."""
    pool = _ordered_pool(ranks, study)
    _write_pool(study, pool, ranks.queries)
    bare = _write_texts(study.folder / DOCUMENTS, "item", ranks.items, documents)
    write_study(study)
    counts = (
        f"{count_of(len(ranks.queries), 'query', 'queries')}, {count_of(len(ranks.item), 'item')} "
        f"in the first {study.depth} of {len(study.runs)} runs"
    )
    n_items = int((pool.sizes[:, -1] > 0).sum())
    judging = "each run is read down to its first relevant item"
    if study.design == "items":
        decide = count_of(n_items, "of them decides", "of them decide")
        judging = f"{decide}, in batches of {study.batch}"
    elif study.design == "queries":
        judging = f"{study.drawn} queries are drawn, with {count_of(n_items, 'item')} to judge"
    return Output(
        prose(f"{study.measure} over {counts}; {judging}.\n"),
        (StatusNote(f"wrote {study.folder}/"),),
        findings=(*ranks.findings, *((items_without_document(bare),) if bare else ())),
        next_step=typed("rankwell", "judge", "label", study.folder, "--judge", "NAME"),
    )


def _write_pool(study: Study, pool: StudyPool, queries: tuple[str, ...]) -> None:
    columns: dict[str, tuple[str, Any]] = {
        "query": ("VARCHAR", np.array(queries, dtype=object)[pool.query]),
        "item": ("VARCHAR", pool.item),
        "u": ("DOUBLE", pool.u),
        "prior": ("DOUBLE", pool.prior),
    }
    for number, (sizes, batches) in enumerate(zip(pool.sizes.T, pool.batches.T, strict=True), 1):
        columns[f"size_{number}"] = ("DOUBLE", sizes)
        columns[f"batch_{number}"] = ("INTEGER", np.where(batches < 0, np.nan, batches))
    for number, ranks in enumerate(pool.ranks.T, 1):
        columns[f"rank_{number}"] = ("INTEGER", np.where(ranks == 0, np.nan, ranks))
    write_parquet(
        study.pool_file,
        {name: column for name, (_, column) in columns.items()},
        {name: kind for name, (kind, _) in columns.items()},
    )


def _write_texts(path: Path, key: str, ids: Sequence[str], texts: Texts) -> int:
    """Writes the texts of some ids with their further columns, and returns the number of ids
    without a text.
    """
    written = [texts.texts.get(name) for name in ids]
    attributes = [texts.attributes.get(name, {}) for name in ids]
    columns: dict[str, Any] = {key: list(ids), "text": written}
    for name in dict.fromkeys(chain.from_iterable(attributes)):
        columns.setdefault(name, [row.get(name) for row in attributes])
    write_parquet(path, columns, dict.fromkeys(columns, "VARCHAR"))
    return written.count(None)


def _guideline(options: PoolOptions, study: Study) -> str:
    """The text of the guideline: that of the user's file, else one made of the grades."""
    if options.guideline is not None:
        return Source(options.guideline).read().decode("utf-8", errors="replace")
    grades = "".join(f"* {grade:g}: {name}\n" for grade, name in study.grades.items())
    return (
        "# How to judge\n\nRead the query, then the item. How well does the item serve a person "
        f"with this query?\n\n{grades}"
    )


def _add(folder: Path, options: PoolOptions, progress: Progress) -> Output:
    """Appends a round with further runs."""
    study = read_study(folder)
    default = vars(PoolOptions())
    for name, value in vars(options).items():
        if name not in ("add", "pairs_planned", "columns") and value != default[name]:
            raise BadUsage(
                f"--{name.replace('_', '-')} was chosen when the study was pooled; leave it out "
                "with --add."
            )
    if options.pairs_planned is not None and read_looks(study).looks:
        raise BadUsage(
            "--pairs-planned comes before the first estimate; the pairs of this study are fixed."
        )
    with writing_to(folder), locked(folder, wait=10):
        study.refuse_changed_files()
        new_runs = name_runs(list(options.add or ()))
        for name in new_runs:
            if name in study.run_names:
                raise BadUsage(
                    f"the study has a run {name!r} already; rename the file of the new one."
                )
        answers = StudyAnswers.of(study, read_journals(study).lines)
        earlier = _EarlierRounds(study.pool, answers.answered)
        ranks = _pooled_ranks(new_runs, study.queries, study.depth, earlier, options, progress)
        grown = replace(
            study,
            runs=(*study.runs, *_pooled_runs(new_runs, folder, study.rounds + 1)),
            rounds=study.rounds + 1,
            plan=replace(study.plan, pairs=options.pairs_planned or study.plan.pairs),
        )
        documents = formats.read_texts(study.folder / study.sources["documents"].file)
        return _write(grown, ranks, documents)
