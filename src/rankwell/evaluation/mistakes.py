"""The commonest mistakes in judgments and runs: the signs of each, and the sentence that reports
it.

`evaluate` looks only where `is_suspicious` finds a sign, `check` always. Text is compared in the
first 1,000 rows of a run.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import compress, islice, pairwise
from operator import itemgetter
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from rankwell.data.columns import NOTHING
from rankwell.data.rankings import Hits
from rankwell.data.tables import Bools, Floats, Judgments, exact_mean, sum_by
from rankwell.errors import flag, shown
from rankwell.evaluation.judged import RunInput, rounded_ties
from rankwell.evaluation.notations import (
    CHUNKS,
    Gauge,
    IdPair,
    ItemPairs,
    first_rows,
    main_notation,
    match_items,
    match_probable,
    match_queries,
    read_again,
    sample_rows,
    whole_run,
    written_as_judged,
)
from rankwell.store import Source, decode_id

_ROWS = 1_000
_LATE, _Z = 1 / 3, 5.26


class Mistake(NamedTuple):
    """A probable mistake. kind: in a few words. n: queries or items that show it. level: `error`
    where it is certain.
    """

    kind: str
    n: int
    sentence: str
    level: Literal["error", "warning"] = "warning"


class _FirstRow(NamedTuple):
    """A row of a run. rank: None where there is none; 0 for what is not a number."""

    query: str
    item: str
    rank: float | None
    score: float


def judgment_mistakes(judgments: Judgments, rel: float = 1) -> Iterator[Mistake]:
    """Judgments without anything relevant, and with what an index writes in place of a neighbour as
    a relevant item.
    """
    highest = float(judgments.grades.max(initial=0))
    n = list(compress(judgments.items, (judgments.grades >= rel).tolist())).count(NOTHING)
    if len(judgments.grades) and highest < rel:
        advice = f"add {flag('--min-grade')} {highest:g}, or write" if highest > 0 else "write"
        sentence = (
            f"judgments: no grade is {rel:g} or more (the highest is {highest:g}), so that nothing "
            f"is relevant; {advice} a grade of {rel:g} or more for what is relevant."
        )
        yield Mistake("nothing relevant", len(judgments.queries), sentence, "error")
    elif n:
        sentence = (
            f"judgments: the item {NOTHING} is relevant to {n:,} {'query' if n == 1 else 'queries'}"
            "; faiss and other indexes write it where they found too few: leave it out of "
            "judgments and runs."
        )
        yield Mistake("an item that stands for none", n, sentence)


def run_mistakes(
    run: RunInput,
    judgments: Judgments,
    *,
    rel: float = 1,
    ties: str = "id-desc",
    queries: str = "truth",
    gauge: Gauge | None = None,
) -> Iterator[Mistake]:
    """The mistakes that a run shows, each once, those first that explain others.

    judgments: one row per query and item. gauge: the figure that ids in two notations change.
    """
    rows = _first_rows(run)
    yield from _swapped_inputs(run, judgments)
    yield from _query_ids(run, judgments, queries, gauge)
    yield from _item_ids(run, judgments, rows, rel, gauge)
    of_scores = (
        _rising(run.name, rows)
        or _at_the_end(run, judgments, rel)
        or _rounded(run)
        or _all_tied(run, ties)
    )
    if of_scores is not None:
        yield of_scores


def copies(runs: Mapping[str, Any]) -> Iterator[Mistake]:
    """Runs whose files have the same content."""
    files = [
        (name, Path(path))
        for name, path in runs.items()
        if isinstance(path, (str, Path)) and Path(path).is_file()
    ]
    first_names = dict[tuple[int, str], str]()
    sizes = [path.stat().st_size for _, path in files]
    for (name, path), size in zip(files, sizes, strict=True):
        if sizes.count(size) == 1:
            continue
        same = first_names.setdefault((size, Source(path).digest()), name)
        if same != name:
            sentence = (
                f"{name}: the file has the same content as that of {same}. Name another one, or "
                "compare other runs."
            )
            yield Mistake("copy of another run", 1, sentence)


# ---- ids
# --------------------------------------------------------------------------------------------------


def _exchanged(run: RunInput, judgments: Judgments) -> str:
    """The column of the run that is the other one of the judgments: many of its queries are items
    there, or its items queries.

    Ids that are both queries and items of the judgments do not count, and a run may have more of
    either than is judged.
    """
    queries, items = set(judgments.queries), set(judgments.items)
    if _many_are(run.hits.unknown, items - queries):
        return "the queries of the run are items of the judgments"
    if _many_are(_items_of(run), queries - items):
        return "the items of the run are queries of the judgments"
    return ""


def _many_are(ids: Iterable[str], known_ids: set[str]) -> bool:
    return 8 * len((distinct_ids := set(ids)) & known_ids) > len(distinct_ids)


def no_common_query(run: RunInput, judgments: Judgments) -> str:
    """The probable reason why judgments and a run share no query, as further sentence of that
    error; empty where unknown.
    """
    if swapped := _exchanged(run, judgments):
        return f" {swapped[0].upper()}{swapped[1:]}; exchange the two columns in one of the files."
    if pairs := match_queries(judgments.queries, run.hits.unknown):
        would = f"{len(pairs)} would match if {main_notation(pairs)} were ignored ({pairs[0]})"
        return f" {would}; write the ids alike in both files."
    return ""


def _query_ids(
    run: RunInput, judgments: Judgments, queries: str, gauge: Gauge | None
) -> Iterator[Mistake]:
    """Query ids in two notations; and most judged queries missing, unless that explains it."""
    present = run.hits.present
    missing, n = list(compress(judgments.queries, (~present).tolist())), len(present)
    if len(missing) == n and (swapped := _exchanged(run, judgments)):
        sentence = f"{run.name}: {swapped}; exchange the two columns in one of the files."
        yield Mistake("queries and items swapped", n, sentence, "error")
        return
    pairs = match_queries(missing, run.hits.unknown)
    if pairs:
        sentence = (
            f"{run.name}: {len(pairs)} of the {len(missing)} judged queries that it lacks would "
            f"match if {main_notation(pairs)} were ignored ({pairs[0]})"
            f"{_if_alike(run, gauge, pairs, {})}; write the ids alike in both files."
        )
        yield Mistake("query ids in two notations", len(pairs), sentence, "error")
    if 2 * (len(missing) - len(pairs)) > n > 1:
        effect, hint = "are left out", ""
        if queries == "truth":
            advice = f"{flag('--queries', 'both')} averages over the queries of both"
            effect, hint = "count as 0", f" If it is right, {advice}."
        sentence = (
            f"{run.name}: it has {n - len(missing)} of the {n} judged queries; the others "
            f"{effect}. Is the run from another split, or incomplete?{hint}"
        )
        yield Mistake("most judged queries missing", len(missing), sentence)


def _if_alike(
    run: RunInput, gauge: Gauge | None, queries: Sequence[IdPair], items: ItemPairs
) -> str:
    """The figure as it is and with the ids written alike; empty where the whole run is not read
    again.
    """
    if gauge is None or (ranking := whole_run(run)) is None:
        return ""
    figure = gauge.mean_of(ranking)
    aligned = gauge.mean_of(written_as_judged(ranking, queries, items))
    if aligned == figure:
        return f", and {gauge.label} would stay {figure}"
    return f", and {gauge.label} would be {aligned} in place of {figure}"


def _item_ids(
    run: RunInput, judgments: Judgments, rows: Sequence[_FirstRow], rel: float, gauge: Gauge | None
) -> Iterator[Mistake]:
    """Item ids in two notations; and none of a run's items judged."""
    if spelled := _spelled_items(run, judgments, gauge):
        yield spelled
        return
    relevant = judgments.grades >= rel
    n_found, n_present = int(relevant[run.hits.row].sum()), int(run.hits.retrieved.sum())
    if not n_present or 10 * n_found >= min(int(relevant.sum()), n_present):
        return
    run_items = list(dict.fromkeys([row.item for row in rows] or _items_of(run)))
    judged, listed = dict.fromkeys(judgments.items), set(run_items)
    exact = len(judged.keys() & listed)
    pairs = match_probable(
        [item for item in judged if item not in listed],
        [item for item in run_items if item not in judged],
        max(2 * exact + 1, min(3, len(run_items), len(judged))),
    )
    if pairs:
        sentence = (
            f"{run.name}: {len(pairs)} of its first {len(run_items)} items are judged items if "
            f"{main_notation(pairs)} are ignored ({pairs[0]}), and {exact} as they are; write the "
            "ids alike in both files."
        )
        yield Mistake("item ids in two notations", len(pairs), sentence, "error")
    elif judged and run_items and not len(run.hits.row):
        sentence = (
            f"{run.name}: none of its items is judged for its query (listed: "
            f"{shown(run_items[0])}, …; judged: {shown(judgments.items[0])}, …). Are both from the "
            "same collection, with their columns in order?"
        )
        yield Mistake("no judged item", n_present, sentence)


def _spelled_items(run: RunInput, judgments: Judgments, gauge: Gauge | None) -> Mistake | None:
    """Judged items that the run lists in another notation, however few."""
    items, least = match_items(sample_rows(run), judgments, run.hits), "at least "
    if items and (ranking := whole_run(run)) is not None:
        rows, least = zip(ranking.row_queries, ranking.items, strict=True), ""
        items = match_items(rows, judgments, run.hits)
    if not items:  # perhaps as the whole lists have a second spelling
        return None
    pairs = [IdPair(judged_id, listed_id) for (_, listed_id), judged_id in items.items()]
    n = len({(query, judged) for (query, _), judged in items.items()})
    advice, notation = "write the ids alike in both files", main_notation(pairs)
    if notation == CHUNKS:
        advice = "write ids of documents in the run"
    sentence = (
        f"{run.name}: {least}{n} more judged item{'s' * (n > 1)} would be found if {notation} "
        f"were ignored ({pairs[0]}){_if_alike(run, gauge, (), items)}; {advice}."
    )
    return Mistake("item ids in two notations", n, sentence, "error")


def _items_of(run: RunInput) -> Sequence[str]:
    """The first items of a run in any format; none of a file that is too large to be read for
    them.
    """
    return () if (ranking := read_again(run)) is None else ranking.items[:_ROWS]


# ---- columns and directions
# ------------------------------------------------------------------------------------------------


def _swapped_inputs(run: RunInput, judgments: Judgments) -> Iterator[Mistake]:
    """Grades with decimals, and fewer scores, which are small integers."""
    grades, scores = judgments.grades[:_ROWS], run.hits.score
    fractions = grades[grades % 1 != 0]
    if (
        2 * len(fractions) > len(grades)
        and len(scores)
        and run.hits.retrieved.sum() <= len(judgments.items)
        and not (scores % 1 != 0).any()
        and np.abs(scores).max() <= 4
    ):
        numbers = ", ".join(f"{score:g}" for score in np.unique(scores).tolist())
        sentence = (
            f"judgments: their grades are numbers such as {fractions[0]:g}, and the scores of "
            f"{run.name} are {numbers}: are the two swapped? The judgments are named first."
        )
        yield Mistake("judgments and run swapped", len(scores), sentence)


def _first_rows(run: RunInput) -> list[_FirstRow]:
    """The first rows of a TREC run or of a table; none of another format."""
    if not isinstance(run.origin, (str, Path)):
        return []
    if run.format != "trec":
        return [_FirstRow(*row) for row in first_rows(run, _ROWS) or ()]
    with Source(run.origin).open() as stream:
        lines = [line.split() for line in islice(stream, _ROWS) if line.strip()]
    return [
        _FirstRow(decode_id(line[0]), decode_id(line[2]), _number(line[3]), float(line[4]))
        for line in lines
    ]


def _number(text: bytes) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0


def _counts_up(numbers: Sequence[float]) -> bool:
    return numbers[0] in (0, 1) and all(second - first == 1 for first, second in pairwise(numbers))


def _rising(name: str, rows: Sequence[_FirstRow]) -> Mistake | None:
    """Scores that rise with the ranks in every query: swapped columns, ranks in place of scores, or
    distances.
    """
    by_query: dict[str, list[tuple[float, float]]] = {}
    for row in rows:
        if row.rank is not None:
            by_query.setdefault(row.query, []).append((row.rank, row.score))
    lists = [query_rows for query_rows in by_query.values() if len(query_rows) > 1]
    if not lists:
        return None
    n, ranks_of_longest = len(lists), {rank for rank, _ in max(lists, key=len)}
    counted = len(max(lists, key=len)) > 2 and all(
        _counts_up(sorted(score for _, score in query_rows)) for query_rows in lists
    )
    falling = all(
        first[0] >= second[0]
        for query_rows in lists
        for first, second in pairwise(sorted(query_rows, key=itemgetter(1)))
    )
    ranked = any(_counts_up(sorted(rank for rank, _ in query_rows)) for query_rows in lists)
    if counted and falling and not ranked and len(ranks_of_longest) > 1:
        sentence = (
            f"{name}: the scores are 1, 2, 3, … and the ranks fall from {max(ranks_of_longest):g} "
            f"to {min(ranks_of_longest):g}: the two columns are swapped. Exchange them in the file."
        )
        return Mistake("ranks and scores swapped", n, sentence, "error")
    # By rank where there are ranks; else by line.
    ordered = [
        [score for _, score in sorted(query_rows, key=itemgetter(0))] for query_rows in lists
    ]
    steps = [second - first for list_scores in ordered for first, second in pairwise(list_scores)]
    if min(steps) < 0 or sum(step > 0 for step in steps) < 3:
        return None
    if counted and all(map(_counts_up, ordered)):
        sentence = (
            f"{name}: the scores are 1, 2, 3, … down each list: they are ranks, and the last item "
            "ranks first. Write scores that fall, such as 1/rank."
        )
        return Mistake("ranks in place of scores", n, sentence)
    lists_of = f"the list of query {shown(rows[0].query)}" if n == 1 else f"all {n} lists"
    sentence = (
        f"{name}: the scores rise down {lists_of} in the first {len(rows)} rows, so that the last "
        "item ranks first. Are they distances? Negate them: the highest score ranks first."
    )
    return Mistake("scores that rise with the ranks", n, sentence)


def _lateness(hits: Hits, relevant: Bools) -> Floats:
    """Mean place of a query's relevant items in its list: -1 at its beginning, 1 at its end.

    relevant: (rows of the judgments,). Tied items are in the middle of their places; lists of one
    item are left out.
    """
    rows = np.flatnonzero(relevant[hits.row] & (hits.retrieved[hits.query] > 1))
    owner = hits.query[rows]
    relative_ranks = (2 * hits.above[rows] + hits.tied[rows]) / hits.retrieved[owner] - 1
    n = np.bincount(owner, minlength=1)
    return sum_by(owner, relative_ranks, 1)[n > 0] / n[n > 0]


def _at_the_end(run: RunInput, judgments: Judgments, rel: float) -> Mistake | None:
    """Relevant items near the ends of the lists, where a run in random order has them less than
    once in a million.

    Each query gives one number, the mean place of its relevant items: -1 first, 1 last, 0 expected
    in random order. The mean of n queries then exceeds t with a probability of at most exp(-3 n t²
    / 2), however the items of a query depend on each other:
    a place varies no more than a uniform variable on [-1, 1], whose E exp(s x) = sinh(s) / s is at
    most exp(s² / 6), and averages keep that bound. The mean has to exceed 1/3 as well, the last
    third of a list.
    """
    late = _lateness(run.hits, judgments.grades >= rel)
    mean = exact_mean(late) if len(late) else 0.0
    if mean < _LATE or mean * np.sqrt(3 * len(late)) < _Z:
        return None
    sentence = (
        f"{run.name}: its relevant items are near the ends of its lists, on average behind "
        f"{50 * (mean + 1):.0f} % of a list ({len(late)} queries). Are the scores distances? "
        "Negate them: the highest score ranks first."
    )
    return Mistake("relevant items at the ends of the lists", len(late), sentence)


def _rounded(run: RunInput) -> Mistake | None:
    """Scores that differ only beyond the digits of float64."""
    n = int(rounded_ties(run.hits).sum())
    sentence = (
        f"{run.name}: scores above 2**53 are rounded to float64, in which {n:,} judged "
        f"{'item ties' if n == 1 else 'items tie'} with others; write ranks, or smaller scores."
    )
    return Mistake("rounded scores", n, sentence) if n else None


def _all_tied(run: RunInput, ties: str) -> Mistake | None:
    """One score for all items of a query, where ids break ties."""
    lengths = run.hits.retrieved[run.hits.query]
    n = len(np.unique(run.hits.query))
    if (
        not ties.startswith("id-")
        or not (lengths > 1).any()
        or not (run.hits.tied == lengths).all()
        or 2 * n < int(run.hits.present.sum())
    ):
        return None
    sentence = (
        f"{run.name}: all items of a query have one score, so that the ids decide their order. "
        f"Write the system's scores, or add {flag('--ties', 'input')} for the order of the file."
    )
    return Mistake("equal scores", n, sentence)
