"""Kinds of findings that several tasks have."""

from collections.abc import Sequence

from rankwell.data.findings import examples, finding
from rankwell.errors import count_of, flag, shown

# Readers of files


@finding("info")
def reading_choice(reading: str, file: str = "") -> str:
    """How a file was read where it left a choice that hardly any user wants to make.

    Examples are the file of judgments that a folder stands for, the part of a file that holds
    predictions, and the field of a topic that is its text.
    """
    return reading


@finding("warning")
def another_format_possible(file: str, format: str, others: Sequence[str]) -> str:
    """The content of a file fits several formats, which may give different numbers.

    Name the format with `--run-format` or `--qrels-format`, or the columns with `--columns`.
    """
    return f"read as {format}; it could also be {' or '.join(others)}: name the format"


@finding("warning")
def doubtful_columns(doubt: str, file: str = "") -> str:
    """A column was chosen by its name where another one could be meant, too.

    Name the column with `--columns` or `--qrels-columns`.
    """
    return doubt


@finding("info")
def distance_as_score(column: str, file: str = "") -> str:
    """The numbers of a run are distances, of which the smallest is the best.

    They are negated when they are read as scores, so that the nearest item ranks first.
    """
    return (
        f"{column!r} is a distance: the smallest ranks first, and the scores are the negated "
        "distances"
    )


@finding("warning")
def no_column_of_grades(columns: Sequence[str], file: str = "") -> str:
    """A table of judgments has no column of grades, so that every row counts as relevant.

    If one of the columns that are not read is the grade, name it with `--qrels-columns grade=…`.
    """
    names = ", ".join(map(repr, columns))
    return f"no column holds grades, so each row counts as 1; not read: {names}"


@finding("warning")
def ranks_in_a_matrix(file: str, first: int) -> str:
    """Every row or column of a score matrix holds consecutive integers, as a list of ranks does.

    The highest number counts as the best. If these are ranks, give the scores.
    """
    return (
        f"every row or column holds each integer from {first} on once, like a list of ranks; the "
        "highest number counts as the best: if these are ranks, give the scores"
    )


@finding("info")
def chunks_of_one_document(queries: Sequence[str], file: str = "") -> str:
    """Lists of chunks have several of one document, and the judgments are of documents.

    The best chunk counts for its document, so that a cut-off at 5 counts the first five documents,
    which may lie among more chunks. `--columns item=chunk_id` ranks the chunks themselves.
    """
    return (
        "several chunks of a document count as one, at the place of the first, in "
        f"{count_of(len(queries), 'list')}"
    )


@finding("info")
def texts_missing(lacking: int, total: int, owners: str, example: str, file: str = "") -> str:
    """A file of texts lacks some of the ids, which pages then show without their text."""
    have = "has" if lacking == 1 else "have"
    return f"{lacking} of the {total} {owners} {have} no text, such as {example!r}"


@finding("warning")
def odd_entries(problem: str, file: str = "") -> str:
    """A reader left out or repaired entries of a file, or found them odd; it names the first."""
    return problem


@finding("warning")
def rows_matched_by_position(run: str = "") -> str:
    """Only one of two tables of vectors has ids, so that their rows are matched by position.

    Where the rows are in another order, all figures are wrong: give ids for both.
    """
    return "only some of the embeddings have ids, so that rows are matched by position"


# Probable mistakes in judgments and runs


@finding("warning")
def copy_of_another_run(run: str, other: str) -> str:
    """Two runs are files with the same content, so that they cannot differ.

    That is right for a run that has not changed since its baseline. Otherwise one system's run may
    have been written to both files, or copied.
    """
    return (
        f"this file and that of {other} are identical: a difference is impossible. If that is not "
        "meant, check that each system wrote its own file."
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
        f"but only {exact} as they are; write the ids alike in both files."
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
    return f"{number} ranks that contradict the scores ({examples(queries)}); the scores decide"


@finding("warning")
def judged_items_missing(file: str, n: int, example: str) -> str:
    """The collection lacks items that are judged, so that no system can find them."""
    number = count_of(n, "judged item is", "judged items are")
    return f"{number} not in the collection, such as {example!r}"


# Values, and what they are computed from


@finding("info")
def no_ceiling(direction: str, labels: Sequence[str], reason: str) -> str:
    """The highest mean that any system can reach is unknown for some measures."""
    return f"{direction}: no ceiling for {', '.join(labels)}: {reason}"


@finding("info")
def ties_in_input_order(label: str, order: str) -> str:
    """A measure has no closed form for its mean over all orders of tied items.

    Its values depend on the order in which tied items stand in the input.
    """
    return f"{label} has no closed form for ties in random order; {order}"


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
def only_relevant_items_judged() -> str:
    """The judgments list relevant items only, as lists of gold documents and of purchases do, so
    that nearly all retrieved items are unjudged.

    They count as not relevant, and nothing bounds how many of them are relevant all the same.
    """
    return "judgments: they list relevant items only; all others count as not relevant"


@finding("info")
def no_abstention_figures(names: str, label: str, reason: str) -> str:
    """Figures of abstention, which `--confidence` adds, are not defined for some measures."""
    return f"no {names} for {label}: {reason}"


@finding("warning")
def grades_alike(label: str, low: float, high: float, leads: str, weighing: str) -> str:
    """A measure with binary gains treats all relevant grades alike; other measures do not.

    nDCG of sentence-transformers has binary gains, nDCG of trec_eval takes the grades as gains.
    Where the two have different winners, say which one you report.
    """
    weighed = f"by {weighing}, which weighs them"
    return f"{label} treats the grades {low:g} to {high:g} alike: {leads} {weighed}"


@finding("warning")
def own_items_judged(n: int, queries: Sequence[str]) -> str:
    """An item with the id of its query is judged relevant to it, and is left out of the ranking.

    It counts as relevant and not found. If it is a mistake, remove it from the judgments.
    """
    has = count_of(n, "query has", "queries have")
    return (
        f"{has} a relevant item with the id of the query ({examples(queries)}): it is removed from "
        "the ranking, and counts as not found"
    )


@finding("info")
def second_judgments_missing(lacking: int, total: int) -> str:
    """Some judged items have no second judgment, which then counts 0."""
    return f"{lacking} of {total} judged items have no second judgment; it counts as 0"


@finding("info")
def values_of_sessions(sessions: int, n_queries: int) -> str:
    """Values are those of sessions, not of queries: a session is counted and resampled as one."""
    return (
        f"values are those of {count_of(sessions, 'session')} "
        f"({count_of(n_queries, 'query', 'queries')}); each is counted and resampled as one"
    )


@finding("warning")
def sessions_unjudged(sessions: int) -> str:
    """Sessions without a judged query are left out."""
    have = count_of(sessions, "session has", "sessions have")
    return f"{have} no judged query and {'is' if sessions == 1 else 'are'} left out"


@finding("warning")
def session_queries_unjudged(n: int, queries: Sequence[str]) -> str:
    """Queries of sessions without judgments gain nothing and keep their places."""
    number = count_of(n, "query in a session has", "queries in sessions have")
    return f"{number} no judgments ({examples(queries)}): no gain, and the position is kept"


@finding("warning")
def queries_missing(run: str, queries: Sequence[str], noun: tuple[str, str]) -> str:
    """A run has nothing for some of the queries that count."""
    number = count_of(len(queries), f"{noun[0]} is", f"{noun[1]} are")
    return f"{number} missing ({examples(queries)}): nothing was retrieved"


@finding("info")
def queries_unknown(run: str, queries: Sequence[str], noun: tuple[str, str], truth: str) -> str:
    """A run has queries without a right answer, which are ignored."""
    number = count_of(len(queries), f"{noun[0]} has", f"{noun[1]} have")
    verb = "is" if len(queries) == 1 else "are"
    return f"{number} no {truth} ({examples(queries)}), and {verb} ignored"


@finding("warning", "--no-relevant skip")
def queries_without_relevant(queries: Sequence[str], labels: Sequence[str] = ()) -> str:
    """The judgments of some queries name nothing relevant. They count as for an empty ranking.

    No system can have more than 0 there, so that all means are lower; judge more items, or leave
    these queries out.
    """
    number = count_of(len(queries), "query has", "queries have")
    counts = "counts" if len(queries) == 1 else "count"
    by_some = f" by {', '.join(labels)}" if labels else ""
    return f"judgments: {number} nothing relevant ({examples(queries)}), and {counts} as 0{by_some}"


@finding("warning", "--ties expected")
def values_depend_on_ties(run: str, labels: Sequence[str], queries: Sequence[str]) -> str:
    """Items have equal scores, and another order of them would change values.

    The tie rule decides; `--ties expected` gives the mean over all orders of tied items.
    """
    number = count_of(len(queries), "query", "queries")
    verb = "depends" if len(labels) == 1 else "depend"
    return f"{', '.join(labels)} of {number} {verb} on the order of ties ({examples(queries)})"


@finding("info", "--min-grade")
def grades_as_binary(labels: Sequence[str], low: float, high: float, rel: float) -> str:
    """The judgments have several relevant grades, and a measure treats them all alike.

    Set the lowest grade that counts with `--min-grade`, or take a measure with gains, such as nDCG.
    """
    verb = "treats" if len(labels) == 1 else "treat"
    return (
        f"{', '.join(labels)} {verb} the grades {low:g} to {high:g} alike: {rel:g} or more is "
        "relevant"
    )


@finding("warning")
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
        f"its lists have at most {longest} items, those of other runs up to {others}: "
        f"{', '.join(labels)} favour{'s' * (len(labels) == 1)} longer lists"
    )


@finding("warning")
def not_above_chance(run: str, labels: Sequence[str]) -> str:
    """The interval of a mean includes what lists in random order reach, or is worse than it.

    The run may be no better than a list in random order. Are scores sorted the right way round?
    """
    return f"it is not significantly better than chance by {', '.join(labels)}"


@finding("info")
def so_on_every_query(flag: str) -> str:
    """A flag of the page of results holds for every query, so no filter offers it."""
    return flag


@finding("warning")
def recall_of_retrieved(run: str, labels: Sequence[str], what: str) -> str:
    """What is relevant and was not retrieved by any run is unknown, so that recall is a share of
    what was found.

    Such a recall compares these runs alone. Judge more items (`rankwell judge pool`), or name the
    texts of the collection where answers decide what is relevant.
    """
    return f"{', '.join(labels)} {'is' if len(labels) == 1 else 'are'} relative to {what}"


# Means, intervals and their samples


@finding("warning")
def few_queries(least: int, sizes: str, unit: str, columns: str = "") -> str:
    """Too few queries count for an interval.

    Below 10 queries no method keeps what an interval of 95 % promises; judge more queries.
    """
    return f"no interval below {least} {unit} (here {sizes}){columns and f': {columns}'}"


@finding("info")
def small_sample(n: int, unit: str, held: str, columns: str = "") -> str:
    """With fewer than some 50 queries the intervals hold the true mean a little less often than
    they promise.
    """
    return f"with {n} {unit} 95 % intervals {held}{columns and f': {columns}'}"


@finding("warning")
def equal_values(reason: str, columns: str) -> str:
    """Every query has the same value, so that the sample says little about other queries."""
    return f"{reason}: {columns}"


@finding("warning")
def long_tail(columns: str) -> str:
    """A few queries have most of the spread, as times and ranks often have.

    The interval of the mean is then too narrow more often than it promises; a median may say more.
    """
    return (
        "a few queries have most of the spread; with a tail this long, 95 % intervals held the "
        f"true mean in 80 to 95 % of simulations: {columns}"
    )


@finding("warning")
def close_values(n: int, share: float, columns: str) -> str:
    """All values are close together, so the interval cannot cover rare, very different ones."""
    return (
        f"all values are close together; {n} queries cannot rule out that up to {share:.0f} % of "
        f"queries have very different ones, which the interval does not cover: {columns}"
    )


@finding("info")
def no_deviation(columns: str) -> str:
    """A single query has no standard deviation."""
    return f"no sd with a single counted query: {columns}"


@finding("info", "--intervals bootstrap")
def no_t_interval(columns: str) -> str:
    """Student's t gives intervals of plain arithmetic means alone, not of medians or sums."""
    return f"t intervals exist only for arithmetic means, not for: {columns}"


# Comparisons, gates and fused runs


@finding("info")
def not_compared(reason: str) -> str:
    """Some runs, measures or figures have no values of queries in common, or none that are better
    or worse, and are left out of the comparison.
    """
    return reason


@finding("warning")
def queries_of_one_run(labels: Sequence[str], n: int, first: str, second: str, noun: str) -> str:
    """Some queries count for only one of two runs. A comparison leaves them out."""
    counts = "counts" if n == 1 else "count"
    return (
        f"{', '.join(labels)}: {n} {noun} {counts} for only one of {first} and {second}, and "
        f"{'is' if n == 1 else 'are'} left out"
    )


@finding("info")
def equal_differences(labels: Sequence[str], names: str, reason: str) -> str:
    """The difference of two runs is the same on every query, so that its interval has no width."""
    return f"{', '.join(labels)} of {names}: {reason}"


@finding("warning")
def small_groups(groups: str, least: int, plural: str) -> str:
    """Groups of few queries have wide intervals, and tests of little power."""
    return (
        f"groups of fewer than {least} {plural} have wide intervals, and tests of little power: "
        f"{groups}"
    )


@finding("warning")
def difference_unjudged(names: str, bounds: Sequence[str]) -> str:
    """Unjudged items among the first decide how large a difference is, or who is better.

    The bounds are the differences if the unjudged items of one run alone were relevant.
    """
    return f"{names}: {', '.join(bounds)}, depending on unjudged items"


@finding("info")
def bounds_not_listed(n: int, advice: str) -> str:
    """The bounds of further pairs under unjudged items are not listed."""
    return f"the bounds of {count_of(n, 'more pair is', 'more pairs are')} not listed; {advice}"


@finding("info")
def compared_by_mean(label: str, reason: str) -> str:
    """Systems are compared by plain means of queries, though a measure sums queries up in another
    way.
    """
    return f"{label}{reason}"


@finding("warning")
def direction_assumed(label: str, direction: str) -> str:
    """A measure does not say which values are better."""
    return f"{label} does not say which values are better; {direction} ones are assumed to be"


@finding("info")
def measured_twice(label: str, twin: str) -> str:
    """Two measures have the same value on every query, and count as one in the tests."""
    return f"{label}: the same values as {twin} on every query; the two count as one"


@finding("info")
def measures_of_some_runs(n: int, owners: str) -> str:
    """Some runs lack measures that others have; runs are compared by the measures of both."""
    missing = f"{n} {'is' if n == 1 else 'are'} missing from some runs: {owners}"
    return f"runs are compared by the measures that both have; {missing}"


@finding("warning")
def different_inputs(first: str, second: str, what: str) -> str:
    """Two results come from different judgments or queries, which may explain a difference."""
    return f"{first} and {second} have different {what}: their values may not be comparable"


@finding("warning")
def different_rules(rules: str) -> str:
    """Two results were computed under different rules, which may explain a difference."""
    return rules


@finding("info")
def attributes_differ(examples: str, names: Sequence[str]) -> str:
    """Attributes of queries differ between folders, whose names they bear then."""
    return (
        f"attributes of queries that differ between folders bear the name of their folder, such as "
        f"{examples}: {', '.join(names)}"
    )


@finding("info", "rankwell compare")
def tested_against_first(first: str, pairs: int) -> str:
    """Of many runs a page tests each against the first alone."""
    return f"each run was tested against {first} alone, not all {pairs} pairs"


@finding("warning")
def fused_from_some(total: int, lacking: str) -> str:
    """Some runs lack some queries. These are fused from the other runs."""
    return (
        f"some runs lack some of the {total} queries ({lacking}); these are fused from the other "
        "runs"
    )


@finding("warning", "--absent")
def negative_scores(problem: str) -> str:
    """Scores below 0 are added or multiplied, so that an item gains where a run lacks it."""
    return problem


@finding("warning")
def fusion_not_better(fused: str, best: str, label: str, means: Sequence[str]) -> str:
    """The fused run does not beat the best of the runs that it is made of."""
    return f"{fused} does not beat its best input, {best}: {label} {means[0]} against {means[1]}"


@finding("info")
def queries_fused_unjudged(n: int) -> str:
    """Queries without judgments are fused by the choice made on all judged queries."""
    unjudged = count_of(n, "query without judgments is", "queries without judgments are")
    return f"{unjudged} fused by the choice made on all judged queries"


@finding("warning")
def queries_of_some_systems(difference: str) -> str:
    """Systems were evaluated on different queries; each pair is tested over those of both."""
    return f"{difference}; each pair is tested over the queries that both have"
