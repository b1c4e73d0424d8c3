"""Findings on values, and on what they are computed from."""

from collections.abc import Sequence

from rankwell.data.findings import finding
from rankwell.errors import count_of, flag


@finding("info")
def no_ceiling(direction: str, labels: Sequence[str], reason: str) -> str:
    """The highest mean that any system can reach is unknown for some measures."""
    return f"{direction}: no ceiling of {', '.join(labels)}: {reason}"


@finding("info")
def ties_in_input_order(label: str, order: str) -> str:
    """A measure has no closed form for its mean over all orders of tied items.

    Its values depend on the order in which tied items stand in the input.
    """
    return f"{label} has no closed form under random order of ties; {order}"


@finding("warning")
def undefined_values(run: str, label: str, n: int, total: int, queries: Sequence[str] = ()) -> str:
    """A measure has no value for some queries, which its mean leaves out."""
    share = f"{n} of {count_of(total, 'query', 'queries')}"
    return f"{label} is undefined for {share}, which do not count"


@finding("warning", "--unjudged skip")
def unjudged_in_top(run: str, bounds: str, queries: Sequence[str]) -> str:
    """Nobody judged some of the first items of a run. They count as not relevant, so that a mean
    may be too low.

    The bounds are the means if all of these items were not relevant, and if all were. Judge the
    items (`rankwell judge pool` lists them), or leave them out of rankings.
    """
    return bounds


@finding("info")
def no_abstention_figures(figures: str, label: str, reason: str) -> str:
    """Figures of abstention, which `--confidence` adds, are not defined for some measures."""
    return f"no {figures} of {label}: {reason}"


@finding("warning")
def grades_alike(label: str, low: float, high: float, leads: str, weighing: str) -> str:
    """A measure with binary gains takes all relevant grades alike, and others do not.

    nDCG of sentence-transformers has binary gains, nDCG of trec_eval takes the grades as gains.
    Where the two have different winners, say which one you report.
    """
    weighed = f"by {weighing} of other conventions, which weighs them"
    return f"{label} takes the grades {low:g} to {high:g} alike: {leads} {weighed}"


@finding("warning")
def own_items_judged(n: int, queries: Sequence[str]) -> str:
    """An item with the id of its query is judged relevant to it, and is left out of the ranking.

    It counts as relevant and not found. If it is a mistake, remove it from the judgments.
    """
    has = count_of(n, "query has", "queries have")
    return (
        f"{has} an item of the same id judged relevant: it is out of the ranking, and counts as "
        "not found"
    )


@finding("info")
def second_judgments_missing(lacking: int, total: int) -> str:
    """Some judged items have no second judgment, which then counts 0."""
    return f"{lacking} of {total} judged items have no second judgment, which counts 0"


@finding("info")
def values_of_sessions(sessions: int, n_queries: int) -> str:
    """Values are those of sessions, not of queries: a session is counted and resampled as one."""
    return (
        f"values are of {count_of(sessions, 'session')} of "
        f"{count_of(n_queries, 'query', 'queries')}, which are counted and resampled as one"
    )


@finding("warning")
def sessions_unjudged(sessions: int) -> str:
    """Sessions without a judged query are left out."""
    have = count_of(sessions, "session has", "sessions have")
    return f"{have} no judged query and {'is' if sessions == 1 else 'are'} left out"


@finding("warning")
def session_queries_unjudged(n: int, queries: Sequence[str]) -> str:
    """Queries of sessions without judgments gain nothing and keep their places."""
    have = "has" if n == 1 else "have"
    return (
        f"{count_of(n, 'query', 'queries')} of sessions {have} no judgments: they gain nothing and "
        "keep their places"
    )


@finding("warning")
def queries_missing(run: str, queries: Sequence[str], noun: tuple[str, str]) -> str:
    """A run has nothing for some of the queries that count."""
    number = count_of(len(queries), f"{noun[0]} has", f"{noun[1]} have")
    pronoun = "it" if len(queries) == 1 else "them"
    return f"{number} no line, as {queries[0]!r}; nothing was retrieved for {pronoun}"


@finding("info")
def queries_unknown(run: str, queries: Sequence[str], noun: tuple[str, str], truth: str) -> str:
    """A run has queries without a right answer, which are ignored."""
    number = count_of(len(queries), f"{noun[0]} has", f"{noun[1]} have")
    verb = "is" if len(queries) == 1 else "are"
    return f"{number} no {truth}, as {queries[0]!r}, and {verb} ignored"


@finding("warning")
def printed_figure(outcome: str) -> str:
    """Whether a figure that someone printed, as `--check` names it, is possible with as many
    queries.
    """
    return outcome


@finding("warning", "--no-relevant skip")
def queries_without_relevant(queries: Sequence[str]) -> str:
    """The judgments of some queries name nothing relevant. They count as for an empty ranking.

    No system can have more than 0 there, so that all means are lower; judge more items, or leave
    these queries out.
    """
    number = count_of(len(queries), "query has", "queries have")
    counts = "counts" if len(queries) == 1 else "count"
    return f"judgments: {number} nothing relevant, as {queries[0]!r}, and {counts} as 0"


@finding("warning", "--ties expected")
def values_depend_on_ties(run: str, queries: Sequence[str]) -> str:
    """Items have equal scores, and another order of them would change values.

    The tie rule decides; `--ties expected` gives the mean over all orders of tied items.
    """
    depend = (
        "value of 1 query depends"
        if len(queries) == 1
        else (f"values of {len(queries)} queries depend")
    )
    return f"the {depend} on the order of ties, as that of {queries[0]!r}"


@finding("info", "--min-grade")
def grades_as_binary(labels: Sequence[str], low: float, high: float, rel: float) -> str:
    """The judgments have several relevant grades, and a measure takes them all for relevant.

    Set the lowest grade that counts with `--min-grade`, or take a measure with gains, such as nDCG.
    """
    verb = "takes" if len(labels) == 1 else "take"
    return f"{', '.join(labels)} {verb} the grades {low:g} to {high:g} alike, from {rel:g} on"


@finding("info")
def min_grade_not_used(labels: Sequence[str], example: str) -> str:
    """A measure weighs every grade, so that `--min-grade` does not change it.

    nDCG takes grades as gains. With the parameter `rel`, as in nDCG(rel=2)@10, lower grades gain 0.
    """
    verb = "does" if len(labels) == 1 else "do"
    way = f"; {example} gives lower grades no gain" if example else ""
    return f"{', '.join(labels)} {verb} not use {flag('--min-grade')}{way}"


@finding("warning")
def lists_shorter_than_cutoff(run: str, longest: int, others: int, labels: Sequence[str]) -> str:
    """The lists of a run are much shorter than a cut-off and than those of other runs, so that it
    cannot find as much.

    Compare at a cut-off that all runs reach, or retrieve more items.
    """
    return (
        f"its lists have at most {longest} items and those of other runs up to {others}, which "
        f"{', '.join(labels)} favour{'s' * (len(labels) == 1)}"
    )


@finding("warning")
def not_above_chance(run: str, labels: Sequence[str]) -> str:
    """The interval of a mean includes what lists in random order reach, or is worse than it.

    The run may be no better than a list in random order. Are scores sorted the right way round?
    """
    return f"it is not significantly better than chance by {', '.join(labels)}"


@finding("info")
def so_on_every_query(flag: str) -> str:
    """A flag of the page of results holds for every query, so that no filter offers it."""
    return flag


@finding("warning")
def recall_of_retrieved(run: str, labels: Sequence[str], what: str) -> str:
    """What is relevant and was not retrieved by any run is unknown, so that recall is a share of
    what was found.

    Such a recall compares these runs alone. Judge more items (`rankwell judge pool`), or name the
    texts of the collection where answers decide what is relevant.
    """
    return f"{', '.join(labels)} {'is' if len(labels) == 1 else 'are'} relative to {what}"
