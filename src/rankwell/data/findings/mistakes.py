"""Findings of probable mistakes in judgments and runs."""

from collections.abc import Sequence

from rankwell.data.findings import finding
from rankwell.errors import count_of, flag, shown


@finding("warning")
def copy_of_another_run(run: str, other: str) -> str:
    """Two runs are files with the same content."""
    return (
        f"the file has the same content as that of {other}. Name another one, or compare other "
        "runs."
    )


@finding("error")
def queries_and_items_swapped(run: str, problem: str) -> str:
    """The queries of a run are items of the judgments, or its items queries."""
    return f"{problem}; exchange the two columns in one of the files."


def _notation_of_queries(n: int, missing: int, notation: str, example: str, effect: str) -> str:
    return (
        f"{n} of the {missing} judged queries that it lacks would match if {notation} "
        f"were ignored ({example}){effect}; write the ids alike in both files."
    )


@finding("error")
def query_ids_in_two_notations(
    run: str, queries: Sequence[str], missing: int, notation: str, example: str, effect: str
) -> str:
    """The judgments and a run write the ids of queries in different ways.

    Such queries count as missing. Write the ids alike in both files.
    """
    return _notation_of_queries(len(queries), missing, notation, example, effect)


@finding("warning")
def some_query_ids_in_two_notations(
    run: str, queries: Sequence[str], missing: int, notation: str, example: str, effect: str
) -> str:
    """A few missing queries would match if case, leading zeros, hyphens or suffixes were ignored.

    They may be different queries. If they are the same, write the ids alike in both files.
    """
    return _notation_of_queries(len(queries), missing, notation, example, effect)


@finding("warning")
def most_judged_queries_missing(
    run: str, queries: Sequence[str], total: int, effect: str, hint: str
) -> str:
    """A run has fewer than half of the judged queries: it may be of another split, or incomplete.

    By default a missing query counts as one with an empty ranking.
    """
    return (
        f"it has {total - len(queries)} of the {total} judged queries; the others {effect}. Is the "
        f"run from another split, or incomplete?{hint}"
    )


def _notation_of_items(n: str, several: bool, notation: str, example: str, effect: str) -> str:
    advice = (
        "write ids of documents in the run"
        if notation == "suffixes of chunks"
        else "write the ids alike in both files"
    )
    return (
        f"{n} more judged item{'s' * several} would be found if {notation} were ignored "
        f"({example}){effect}; {advice}."
    )


@finding("error")
def item_ids_in_two_notations(
    run: str, n: str, several: bool, notation: str, example: str, effect: str
) -> str:
    """The judgments and a run write the ids of items in different ways, so that judged items count
    as unjudged.

    Write the ids alike in both files. Ids of chunks, such as `doc#c3`, are not those of documents.
    """
    return _notation_of_items(n, several, notation, example, effect)


@finding("warning")
def some_item_ids_in_two_notations(
    run: str, n: str, several: bool, notation: str, example: str, effect: str
) -> str:
    """A few judged items would be found if case, leading zeros, hyphens or suffixes were ignored.

    They may be different items. If they are the same, write the ids alike in both files.
    """
    return _notation_of_items(n, several, notation, example, effect)


@finding("error")
def item_ids_in_another_notation(
    run: str, n: int, listed: int, notation: str, example: str, exact: int
) -> str:
    """Most items of a run are judged items in another notation, as with a folder in front."""
    return (
        f"{n} of its first {listed} items are judged items if {notation} are ignored ({example}), "
        f"and {exact} as they are; write the ids alike in both files."
    )


@finding("warning")
def no_judged_item(run: str, listed: str, judged: str) -> str:
    """None of the items that a run lists is judged for its query, so that every value is 0."""
    return (
        f"none of its items is judged for its query (listed: {shown(listed)}, …; judged: "
        f"{shown(judged)}, …). Are both from the same collection, with their columns in order?"
    )


@finding("warning")
def judgments_and_run_swapped(grade: float, run_name: str, scores: str) -> str:
    """The grades look like scores, and the scores like grades: the files may be exchanged."""
    return (
        f"judgments: their grades are numbers such as {grade:g}, and the scores of {run_name} are "
        f"{scores}: are the two swapped? The judgments are named first."
    )


@finding("error")
def ranks_and_scores_swapped(run: str, highest: float, lowest: float) -> str:
    """The column of scores counts up, and that of ranks falls: the two are exchanged."""
    return (
        f"the scores are 1, 2, 3, … and the ranks fall from {highest:g} to {lowest:g}: the two "
        "columns are swapped. Exchange them in the file."
    )


@finding("warning")
def ranks_in_place_of_scores(run: str) -> str:
    """The scores are ranks, so that the last item of every list ranks first."""
    return (
        "the scores are 1, 2, 3, … down each list: they are ranks, and the last item ranks first. "
        "Write scores that fall, such as 1/rank."
    )


@finding("warning")
def rising_scores(run: str, lists: str, rows: int) -> str:
    """The scores rise down the lists, as distances do, so that the last item ranks first."""
    return (
        f"the scores rise down {lists} in the first {rows} rows, so that the last item ranks "
        "first. Are they distances? Negate them: the highest score ranks first."
    )


@finding("warning")
def relevant_items_last(run: str, share: float, n_queries: int) -> str:
    """Relevant items are near the ends of the lists, where a run in random order has them less than
    once in a million.
    """
    return (
        "its relevant items are near the ends of its lists, on average behind "
        f"{share:.0f} % of a list ({n_queries} queries). Are the scores distances? Negate them: "
        "the highest score ranks first."
    )


@finding("warning")
def rounded_scores(run: str, n: int) -> str:
    """Scores are so large that float64 rounds them, which makes ties."""
    return (
        f"scores above 2**53 are rounded to float64, in which {n:,} judged "
        f"{'item ties' if n == 1 else 'items tie'} with others; write ranks, or smaller scores."
    )


@finding("warning", "--ties input")
def equal_scores(run: str) -> str:
    """All items of a query have one score, so that their ids decide the order.

    Write the system's scores, or take the order of the file.
    """
    return (
        "all items of a query have one score, so that the ids decide their order. Write the "
        "system's scores, or take the order of the file"
    )


@finding("error")
def nothing_relevant(rel: float, highest: float) -> str:
    """No grade of the judgments counts as relevant, so that every value is 0."""
    advice = f"add {flag('--min-grade')} {highest:g}, or write" if highest > 0 else "write"
    return (
        f"judgments: no grade is {rel:g} or more (the highest is {highest:g}), so that nothing is "
        f"relevant; {advice} a grade of {rel:g} or more for what is relevant."
    )


@finding("warning")
def item_that_stands_for_none(item: str, n: int) -> str:
    """The judgments name what an index writes where it found too few neighbours."""
    return (
        f"judgments: the item {item} is relevant to {count_of(n, 'query', 'queries')}; faiss and "
        "other indexes write it where they found too few: leave it out of judgments and runs."
    )


@finding("warning")
def ranks_contradict_scores(run: str, queries: Sequence[str]) -> str:
    """The ranks in a run are not in the order of its scores, which alone decide."""
    number = count_of(len(queries), "query has", "queries have")
    return f"{number} ranks that contradict the scores, which decide, as {queries[0]!r}"


@finding("warning")
def judged_items_missing(file: str, n: int, example: str) -> str:
    """The collection lacks items that are judged, so that no system can find them."""
    number = count_of(n, "judged item is", "judged items are")
    return f"{number} not in the collection, as {example!r}"
