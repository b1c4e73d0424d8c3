"""Kinds of findings that several tasks have."""

from collections.abc import Sequence

from rankwell.data.findings import examples, finding
from rankwell.errors import count_of, flag, shown

# Readers of files


@finding("info")
def reading_choice(reading: str, file: str = "") -> str:
    """How a file was read, where its content leaves a choice.

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
    """A column was chosen by its name, but you may have meant another one.

    Name the column with `--columns` or `--qrels-columns`.
    """
    return doubt


@finding("info")
def distance_as_score(column: str, file: str = "") -> str:
    """The numbers of a run are distances, so the smallest ranks first.

    They are negated when they are read as scores.
    """
    return (
        f"{column!r} is a distance: the smallest ranks first, and the scores are the negated "
        "distances"
    )


@finding("warning")
def no_column_of_grades(columns: Sequence[str], file: str = "") -> str:
    """A table of judgments has no column of grades, so every row counts as relevant.

    If one of the other columns is the grade, name it with `--qrels-columns grade=…`.
    """
    names = ", ".join(map(repr, columns))
    return f"no column holds grades, so each row counts as 1; not read: {names}"


@finding("warning")
def ranks_in_a_matrix(file: str, first: int) -> str:
    """Every row or column of a score matrix holds consecutive integers, so it may hold ranks.

    The highest number counts as the best. If these are ranks, give the scores instead.
    """
    return (
        f"every row or column holds each integer from {first} on once, like a list of ranks; the "
        "highest number counts as the best: if these are ranks, give the scores"
    )


@finding("info")
def chunks_of_one_document(queries: Sequence[str], file: str = "") -> str:
    """Your lists hold several chunks of the same document, and the judgments are of documents.

    The best chunk counts for its document, so a cut-off at 5 counts the first five documents.
    `--columns item=chunk_id` ranks the chunks themselves.
    """
    return (
        "several chunks of a document count as one, at the rank of the first, in "
        f"{count_of(len(queries), 'list')}"
    )


@finding("info")
def texts_missing(lacking: int, total: int, owners: str, example: str, file: str = "") -> str:
    """A file of texts lacks some ids. Reports show these without their text."""
    have = "has" if lacking == 1 else "have"
    return f"{lacking} of the {total} {owners} {have} no text, such as {example!r}"


@finding("warning")
def odd_entries(problem: str, file: str = "") -> str:
    """Some entries of a file were left out, repaired or doubted. The message names the first."""
    return problem


@finding("warning")
def rows_matched_by_position(run: str = "") -> str:
    """Only one of two tables of vectors has ids, so rows are matched by position.

    If the rows are in another order, all figures are wrong. Give ids for both.
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
    """The queries of a run are items of the judgments, or the other way round.

    Exchange the two columns in one of the files.
    """
    return f"{problem}; exchange the two columns in one of the files."


@finding("error")
def query_ids_in_two_notations(
    run: str, queries: Sequence[str], missing: int, notation: str, example: str, effect: str
) -> str:
    """The judgments and a run write query ids differently, so queries count as missing.

    Write the ids in the same way in both files.
    """
    return (
        f"{len(queries)} of the {missing} judged queries that it lacks would match if {notation} "
        f"were ignored ({example}){effect}; write the ids alike in both files."
    )


@finding("warning")
def some_query_ids_in_two_notations(
    run: str, queries: Sequence[str], missing: int, notation: str, example: str, effect: str
) -> str:
    """A few missing queries would match if case, leading zeros, hyphens or suffixes were ignored.

    They may be different queries. If not, write the ids in the same way in both files.
    """
    return query_ids_in_two_notations.function(run, queries, missing, notation, example, effect)


@finding("warning")
def most_judged_queries_missing(
    run: str, queries: Sequence[str], total: int, effect: str, hint: str
) -> str:
    """A run has fewer than half of the judged queries. Is it from another split, or incomplete?

    By default a missing query counts as an empty ranking.
    """
    return (
        f"it has {total - len(queries)} of the {total} judged queries; the others {effect}. Is the "
        f"run from another split, or incomplete?{hint}"
    )


@finding("error")
def item_ids_in_two_notations(
    run: str, n: str, several: bool, notation: str, example: str, effect: str
) -> str:
    """The judgments and a run write item ids differently, so judged items count as unjudged.

    Write the ids in the same way in both files. Ids of chunks, such as `doc#c3`, are not ids of
    documents.
    """
    advice = (
        "write ids of documents in the run"
        if notation == "suffixes of chunks"
        else "write the ids alike in both files"
    )
    return (
        f"{n} more judged item{'s' * several} would be found if {notation} were ignored "
        f"({example}){effect}; {advice}."
    )


@finding("warning")
def some_item_ids_in_two_notations(
    run: str, n: str, several: bool, notation: str, example: str, effect: str
) -> str:
    """A few more judged items would match if case, leading zeros, hyphens or suffixes were ignored.

    They may be different items. If not, write the ids in the same way in both files.
    """
    return item_ids_in_two_notations.function(run, n, several, notation, example, effect)


@finding("error")
def item_ids_in_another_notation(
    run: str, n: int, listed: int, notation: str, example: str, exact: int
) -> str:
    """Most items of a run are judged items written differently, for example with a folder in front.

    Write the ids in the same way in both files.
    """
    return (
        f"{n} of its first {listed} items are judged items if {notation} are ignored ({example}), "
        f"but only {exact} as they are; write the ids alike in both files."
    )


@finding("warning")
def no_judged_item(run: str, listed: str, judged: str) -> str:
    """A run lists no item that is judged for its query, so every value is 0.

    Check that both files belong to the same collection.
    """
    return (
        f"none of its items is judged for its query (listed: {shown(listed)}, …; judged: "
        f"{shown(judged)}, …). Are both from the same collection, with their columns in order?"
    )


@finding("warning")
def judgments_and_run_swapped(grade: float, run_name: str, scores: str) -> str:
    """The grades look like scores and the scores like grades. Did you swap the files?"""
    return (
        f"judgments: their grades are numbers such as {grade:g}, and the scores of {run_name} are "
        f"{scores}: are the two swapped? The judgments are named first."
    )


@finding("error")
def ranks_and_scores_swapped(run: str, highest: float, lowest: float) -> str:
    """The scores count up and the ranks fall: the two columns are swapped.

    Exchange them in the file.
    """
    return (
        f"the scores are 1, 2, 3, … and the ranks fall from {highest:g} to {lowest:g}: the two "
        "columns are swapped. Exchange them in the file."
    )


@finding("warning")
def ranks_in_place_of_scores(run: str) -> str:
    """The scores of a run are ranks, so the last item of every list ranks first.

    Write scores that fall, such as 1/rank.
    """
    return (
        "the scores are 1, 2, 3, … down each list: they are ranks, and the last item ranks first. "
        "Write scores that fall, such as 1/rank."
    )


@finding("warning")
def rising_scores(run: str, lists: str, rows: int) -> str:
    """The scores rise down the lists, as distances do, so the last item ranks first.

    If they are distances, negate them.
    """
    return (
        f"the scores rise down {lists} in the first {rows} rows, so that the last item ranks "
        "first. Are they distances? Negate them: the highest score ranks first."
    )


@finding("warning")
def relevant_items_last(run: str, share: float, n_queries: int) -> str:
    """Relevant items are so near the ends of the lists that a random order would put them there
    less than once in a million times.

    Are the scores distances? Negate them: the highest score ranks first.
    """
    return (
        "its relevant items are near the ends of its lists, on average behind "
        f"{share:.0f} % of a list ({n_queries} queries). Are the scores distances? Negate them: "
        "the highest score ranks first."
    )


@finding("warning")
def rounded_scores(run: str, n: int) -> str:
    """Some scores are so large that they are rounded, which makes ties.

    Write ranks, or smaller scores.
    """
    return (
        f"scores above 2**53 are rounded to float64, in which {n:,} judged "
        f"{'item ties' if n == 1 else 'items tie'} with others; write ranks, or smaller scores."
    )


@finding("warning", "--ties input")
def equal_scores(run: str) -> str:
    """All items of a query have the same score, so their ids decide the order.

    Write the scores of your system, or take the order of the file.
    """
    return (
        "all items of a query have one score, so that the ids decide their order. Write the "
        "system's scores, or take the order of the file"
    )


@finding("error")
def nothing_relevant(rel: float, highest: float) -> str:
    """None of your grades counts as relevant, so every value would be 0.

    Lower `--min-grade`, or check the column of grades.
    """
    advice = f"add {flag('--min-grade')} {highest:g}, or write" if highest > 0 else "write"
    return (
        f"judgments: no grade is {rel:g} or more (the highest is {highest:g}), so that nothing is "
        f"relevant; {advice} a grade of {rel:g} or more for what is relevant."
    )


@finding("warning")
def item_that_stands_for_none(item: str, n: int) -> str:
    """The judgments contain the id that an index writes when it finds too few neighbours."""
    return (
        f"judgments: the item {item} is relevant to {count_of(n, 'query', 'queries')}; faiss and "
        "other indexes write it where they found too few: leave it out of judgments and runs."
    )


@finding("warning")
def ranks_contradict_scores(run: str, queries: Sequence[str]) -> str:
    """The ranks in a run contradict its scores. The scores decide.

    If the ranks are right, write scores that fall with them.
    """
    number = count_of(len(queries), "query has", "queries have")
    return f"{number} ranks that contradict the scores ({examples(queries)}); the scores decide"


@finding("warning")
def judged_items_missing(file: str, n: int, example: str) -> str:
    """The collection lacks some judged items, so no system can find them.

    Check that the judgments belong to this collection.
    """
    number = count_of(n, "judged item is", "judged items are")
    return f"{number} not in the collection, such as {example!r}"


# Values, and what they are computed from


@finding("info")
def no_ceiling(direction: str, labels: Sequence[str], reason: str) -> str:
    """The highest possible mean is unknown for some measures."""
    return f"{direction}: no ceiling for {', '.join(labels)}: {reason}"


@finding("info")
def ties_in_input_order(label: str, order: str) -> str:
    """A measure has no closed form for its mean over all orders of tied items.

    Its values depend on the order of tied items in the input.
    """
    return f"{label} has no closed form for ties in random order; {order}"


@finding("warning")
def undefined_values(run: str, label: str, n: int, total: int, queries: Sequence[str] = ()) -> str:
    """A measure is undefined for some queries. Its mean leaves them out."""
    return (
        f"{label} is undefined for {n} of {count_of(total, 'query', 'queries')}, which do not count"
    )


@finding("warning", "--unjudged skip")
def unjudged_in_top(run: str, bounds: str, queries: Sequence[str]) -> str:
    """Some of the first items of a run are unjudged. They count as not relevant, so a mean may be
    too low.

    The bounds show the mean if none of these items were relevant, and if all were. Judge the items
    (`rankwell judge pool` lists them), or leave unjudged items out.
    """
    return bounds


@finding("info")
def only_relevant_items_judged() -> str:
    """The judgments list relevant items only, as lists of gold documents and of purchases do, so
    that nearly all retrieved items are unjudged.

    Unjudged items count as not relevant, although any number of them may be relevant.
    """
    return "judgments: they list relevant items only; all others count as not relevant"


@finding("info")
def no_abstention_figures(names: str, label: str, reason: str) -> str:
    """The figures of abstention that `--confidence` adds are undefined for some measures."""
    return f"no {names} for {label}: {reason}"


@finding("warning")
def grades_alike(label: str, low: float, high: float, leads: str, weighing: str) -> str:
    """One measure treats all relevant grades alike, another does not, and they may disagree.

    nDCG of sentence-transformers has binary gains, and nDCG of trec_eval takes grades as gains.
    If they have different winners, say which one you report.
    """
    return (
        f"{label} treats the grades {low:g} to {high:g} alike: {leads} by {weighing}, which weighs "
        "them"
    )


@finding("warning")
def own_items_judged(n: int, queries: Sequence[str]) -> str:
    """An item with the id of its query is judged relevant, but is left out of the ranking.

    It counts as relevant and not found. If it is a mistake, remove it from the judgments.
    """
    has = count_of(n, "query has", "queries have")
    return (
        f"{has} a relevant item with the id of the query ({examples(queries)}): it is removed from "
        "the ranking, and counts as not found"
    )


@finding("info")
def second_judgments_missing(lacking: int, total: int) -> str:
    """Some judged items have no second judgment. It counts as 0."""
    return f"{lacking} of {total} judged items have no second judgment; it counts as 0"


@finding("info")
def values_of_sessions(sessions: int, n_queries: int) -> str:
    """Values are those of sessions, not of queries. A session is counted and resampled as one."""
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
    """Some queries of sessions have no judgments. They gain nothing and keep their places."""
    number = count_of(n, "query in a session has", "queries in sessions have")
    return f"{number} no judgments ({examples(queries)}): no gain, and the position is kept"


@finding("warning")
def queries_missing(
    run: str,
    queries: Sequence[str],
    noun: tuple[str, str],
    *,
    effect: str = "nothing was retrieved",
) -> str:
    """A run has no results for some of the queries.

    Run these queries too. `rankwell evaluate --average-over both` averages over those that are
    there.
    """
    number = count_of(len(queries), f"{noun[0]} is", f"{noun[1]} are")
    return f"{number} missing ({examples(queries)}): {effect}"


@finding("info")
def queries_unknown(run: str, queries: Sequence[str], noun: tuple[str, str], truth: str) -> str:
    """A run has queries without a right answer. They are ignored."""
    number = count_of(len(queries), f"{noun[0]} has", f"{noun[1]} have")
    verb = "is" if len(queries) == 1 else "are"
    return f"{number} no {truth} ({examples(queries)}), and {verb} ignored"


@finding("warning", "--no-relevant skip")
def queries_without_relevant(queries: Sequence[str], labels: Sequence[str] = ()) -> str:
    """Some queries have no relevant item. They count as an empty ranking.

    No system can score more than 0 there, so all means are lower. Judge more items, or leave these
    queries out.
    """
    number = count_of(len(queries), "query has", "queries have")
    counts = "counts" if len(queries) == 1 else "count"
    by_some = f" by {', '.join(labels)}" if labels else ""
    return f"judgments: {number} nothing relevant ({examples(queries)}), and {counts} as 0{by_some}"


@finding("warning", "--ties expected")
def values_depend_on_ties(run: str, labels: Sequence[str], queries: Sequence[str]) -> str:
    """Some items have equal scores, and another order of them would change values.

    The tie rule decides. To be independent of the order, take the mean over all orders of tied
    items.
    """
    number = count_of(len(queries), "query", "queries")
    verb = "depends" if len(labels) == 1 else "depend"
    return f"{', '.join(labels)} of {number} {verb} on the order of ties ({examples(queries)})"


@finding("info", "--min-grade")
def grades_as_binary(labels: Sequence[str], low: float, high: float, rel: float) -> str:
    """The judgments have several relevant grades, and a measure treats them all alike.

    Set the lowest grade that counts, or take a measure with gains, such as nDCG.
    """
    verb = "treats" if len(labels) == 1 else "treat"
    return (
        f"{', '.join(labels)} {verb} the grades {low:g} to {high:g} alike: {rel:g} or more is "
        "relevant"
    )


@finding("warning")
def min_grade_not_used(labels: Sequence[str], example: str) -> str:
    """A measure weighs every grade, so `--min-grade` does not change it.

    nDCG takes grades as gains. With `rel`, as in nDCG(rel=2)@10, lower grades gain 0.
    """
    verb = "does" if len(labels) == 1 else "do"
    way = f"; {example} gives lower grades no gain" if example else ""
    return f"{', '.join(labels)} {verb} not use {flag('--min-grade')}{way}"


@finding("warning")
def lists_shorter_than_cutoff(run: str, longest: int, others: int, labels: Sequence[str]) -> str:
    """The lists of a run are much shorter than a cut-off and than the lists of other runs, so it
    cannot find as much.

    Compare at a cut-off that all runs reach, or retrieve more items.
    """
    return (
        f"its lists have at most {longest} items, those of other runs up to {others}: "
        f"{', '.join(labels)} favour{'s' * (len(labels) == 1)} longer lists"
    )


@finding("warning")
def not_above_chance(run: str, labels: Sequence[str]) -> str:
    """The interval of a mean includes the chance level, or is worse than chance.

    The run may be no better than a list in random order. Are the scores sorted the right way round?
    """
    return f"it is not significantly better than chance by {', '.join(labels)}"


@finding("info")
def so_on_every_query(flag: str) -> str:
    """A flag of the report applies to every query, so there is no filter for it."""
    return flag


@finding("warning")
def recall_of_retrieved(run: str, labels: Sequence[str], what: str) -> str:
    """Relevant items that no run retrieved are unknown, so recall is a share of what was found.

    You can compare only these runs by it. Judge more items (`rankwell judge pool`), or name the
    texts of the collection if answers decide what is relevant.
    """
    return f"{', '.join(labels)} {'is' if len(labels) == 1 else 'are'} relative to {what}"


# Means, intervals and their samples


@finding("warning")
def few_queries(least: int, sizes: str, unit: str, columns: str = "") -> str:
    """You have too few queries for an interval.

    With fewer than 10 queries, no method reaches the nominal level of 95%. Judge more queries.
    """
    return f"no interval below {least} {unit} (here {sizes}){columns and f': {columns}'}"


@finding("info")
def small_sample(n: int, unit: str, held: str, columns: str = "") -> str:
    """With fewer than about 50 queries, intervals contain the true mean slightly less often than
    their level says.
    """
    return f"with {n} {unit} 95 % intervals {held}{columns and f': {columns}'}"


@finding("warning")
def equal_values(reason: str, columns: str) -> str:
    """Every query has the same value, so your queries say little about other queries."""
    return f"{reason}: {columns}"


@finding("warning")
def long_tail(columns: str) -> str:
    """A few queries cause most of the spread, as is common with times and ranks.

    The interval of the mean is then often too narrow. Consider a median.
    """
    return (
        "a few queries have most of the spread; with a tail this long, 95 % intervals held the "
        f"true mean in 80 to 95 % of simulations: {columns}"
    )


@finding("warning")
def close_values(n: int, share: float, columns: str) -> str:
    """All values are close together, so the interval cannot account for rare, very different
    values.
    """
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
    """Student's t gives intervals of arithmetic means only, not of medians or sums."""
    return f"t intervals exist only for arithmetic means, not for: {columns}"


# Comparisons, gates and fused runs


@finding("info")
def not_compared(reason: str) -> str:
    """Some runs, measures or figures are left out of the comparison: they share no query with
    values, or neither direction is better.

    If the runs should share queries, check that both write the ids in the same way.
    """
    return reason


@finding("warning")
def queries_of_one_run(labels: Sequence[str], n: int, first: str, second: str, noun: str) -> str:
    """Some queries count for only one of two runs. The comparison leaves them out.

    Run the missing queries to compare on all of them.
    """
    counts = "counts" if n == 1 else "count"
    return (
        f"{', '.join(labels)}: {n} {noun} {counts} for only one of {first} and {second}, and "
        f"{'is' if n == 1 else 'are'} left out"
    )


@finding("info")
def equal_differences(labels: Sequence[str], names: str, reason: str) -> str:
    """Two runs differ by the same amount on every query, so the interval has no width."""
    return f"{', '.join(labels)} of {names}: {reason}"


@finding("warning")
def small_groups(groups: str, least: int, plural: str) -> str:
    """Some groups have few queries: intervals are wide, and tests rarely find a difference.

    Form larger groups, or add queries.
    """
    return (
        f"groups of fewer than {least} {plural} have wide intervals, and tests of little power: "
        f"{groups}"
    )


@finding("warning")
def difference_unjudged(names: str, bounds: Sequence[str]) -> str:
    """Unjudged items near the top decide how large a difference is, or which run is better.

    The bounds show the difference if the unjudged items of only one run were relevant.
    """
    return f"{names}: {', '.join(bounds)}, depending on unjudged items"


@finding("info")
def bounds_not_listed(n: int, advice: str) -> str:
    """The bounds of further pairs under unjudged items are not listed."""
    return f"the bounds of {count_of(n, 'more pair is', 'more pairs are')} not listed; {advice}"


@finding("info")
def compared_by_mean(label: str, reason: str) -> str:
    """Systems are compared by plain means over queries, although the measure is summarised in
    another way.
    """
    return f"{label}{reason}"


@finding("warning")
def direction_assumed(label: str, direction: str) -> str:
    """Your measure does not say whether high or low values are better, so high is assumed."""
    return f"{label} does not say which values are better; {direction} ones are assumed to be"


@finding("info")
def measured_twice(label: str, twin: str) -> str:
    """Two measures have the same value on every query. The tests count them once."""
    return f"{label}: the same values as {twin} on every query; the two count as one"


@finding("info")
def measures_of_some_runs(n: int, owners: str) -> str:
    """Some runs lack measures that others have. Runs are compared by those that they share."""
    return (
        f"runs are compared by the measures that both have; {n} {'is' if n == 1 else 'are'} "
        f"missing from some runs: {owners}"
    )


@finding("warning")
def different_inputs(first: str, second: str, what: str) -> str:
    """Two results come from different judgments or queries, which may explain their difference.

    Evaluate both on the same files before you compare them.
    """
    return f"{first} and {second} have different {what}: their values may not be comparable"


@finding("warning")
def different_rules(rules: str) -> str:
    """Two results were computed with different settings, which may explain their difference.

    Evaluate both with the same options before you compare them.
    """
    return rules


@finding("info")
def attributes_differ(examples: str, names: Sequence[str]) -> str:
    """Query attributes differ between folders, so their names include the folder's name."""
    return (
        f"attributes of queries that differ between folders bear the name of their folder, such as "
        f"{examples}: {', '.join(names)}"
    )


@finding("info", "rankwell compare")
def tested_against_first(first: str, pairs: int) -> str:
    """With many runs, a report tests each against the first only."""
    return f"each run was tested against {first} alone, not all {pairs} pairs"


@finding("warning")
def fused_from_some(total: int, lacking: str) -> str:
    """Some runs lack some of the queries. These are fused from the other runs."""
    return (
        f"some runs lack some of the {total} queries ({lacking}); these are fused from the other "
        "runs"
    )


@finding("warning", "--absent")
def negative_scores(problem: str) -> str:
    """Some scores are negative and are added or multiplied, so an item can gain from being absent
    from a run.

    Set a score for absent items.
    """
    return problem


@finding("warning")
def fusion_not_better(fused: str, best: str, label: str, means: Sequence[str]) -> str:
    """The fused run does not beat the best of the runs that it combines.

    Look for better weights with `rankwell fuse --tune`, or keep the best run.
    """
    return f"{fused} does not beat its best input, {best}: {label} {means[0]} against {means[1]}"


@finding("info")
def queries_fused_unjudged(n: int) -> str:
    """Queries without judgments are fused with the settings chosen on all judged queries."""
    unjudged = count_of(n, "query without judgments is", "queries without judgments are")
    return f"{unjudged} fused by the choice made on all judged queries"


@finding("warning")
def queries_of_some_systems(difference: str) -> str:
    """Systems were evaluated on different queries. Each pair is tested on the queries of both."""
    return f"{difference}; each pair is tested over the queries that both have"
