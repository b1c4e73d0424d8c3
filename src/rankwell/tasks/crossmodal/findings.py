"""Findings of search over score matrices."""

from collections.abc import Sequence

from rankwell.data.findings import finding
from rankwell.errors import count_of


@finding("info")
def word_of_convention(label: str, exact: str, convention: str, meaning: str) -> str:
    """The name of a measure means something else in this convention."""
    return (
        f"{label} is the measure {exact} itself; as a word of {convention}, {exact} means {meaning}"
    )


@finding("info")
def convention_of_other_tasks(convention: str, ties: str) -> str:
    """This convention belongs to other tasks. Here it decides words, measures and units only."""
    return (
        f"the convention {convention} does not support score matrices: only its words, measures "
        f"and unit are used{ties}"
    )


@finding("warning")
def captions_of_several_videos(direction: str, n: int) -> str:
    """A caption belongs to several videos. Where captions are merged, it raises the score of all of
    them.
    """
    return (
        f"{direction}: {n} captions belong to several videos; captions are collapsed per video, so "
        "such a caption raises all of its videos"
    )


@finding("warning")
def no_positives(direction: str, rank: int, convention: str) -> str:
    """None of the queries has a positive. Does the file of positives use other ids?"""
    return (
        f"{direction}: none of the queries has a positive, so each has the rank {rank}, as in "
        f"{convention}; check the positives"
    )


@finding("warning", "--no-relevant skip")
def hits_beyond_gallery(
    direction: str, queries: Sequence[str], labels: Sequence[str], n_items: int
) -> str:
    """A query without positives ranks one place after the last item, which counts as a hit if K is
    larger than the gallery.
    """
    number = count_of(
        len(queries), "query without positives counts", "queries without positives count"
    )
    return (
        f"{direction}: {number} as a hit in {', '.join(labels)}, because the gallery has only "
        f"{n_items} items"
    )


@finding("info", "-k 1,5,10")
def aggregates_left_out(names: Sequence[str]) -> str:
    """Sums and means of recalls need R@1, R@5 and R@10."""
    return f"{', '.join(names)}: computed from R@1, R@5 and R@10; request all three"


@finding("warning")
def identical_inputs(run: str, problem: str) -> str:
    """Some captions or videos are identical, so no model can rank both of them first.

    The ceiling shows the best score that is possible.
    """
    return problem


@finding("info", "--intervals bootstrap")
def intervals_beyond_range(labels: Sequence[str]) -> str:
    """Student's t gives an interval that extends beyond the possible values of a measure."""
    return (
        f"t intervals of {', '.join(labels)} extend beyond the possible values, as there are few "
        "values or skewed ones"
    )


@finding("info")
def places_counted(directions: str) -> str:
    """Under `--ties multiplied`, n counts places instead of queries: a query counts once for each
    place of its tie.
    """
    return (
        f"ties=multiplied ({directions}): a query with a tied positive counts once for each place"
    )
