"""Conventions of search for instances in pictures, and their own options."""

from typing import Literal, NamedTuple

from rankwell.data.tables import MatrixTies

Excluded = Literal["self", "camera", "group"]
"""References excluded for a query: itself, those of its instance by its camera, those of its group.
All by id.
"""
Level = Literal["easy", "medium", "hard"]
"""Relevant references of a ground truth: the easy, easy and hard, or the hard ones; all others that
it lists are junk.
"""


class InstanceConvention(NamedTuple):
    """Options of a convention for pictures of instances.

    ties: the tie rule for matrices and embeddings; it replaces the convention's general one.
    exclude: the kinds of references that are removed from every ranking.
    level: the relevant references if the ground truth marks them: `easy`, `medium` (easy and hard)
        or `hard` ones. The others that it lists are junk.
    absent: whether a query whose instance no reference shows is left out (`filter`), or follows
        `no_relevant` (`keep`).
    contentless: whether references that show nothing are left out (`filter`) or stay (`keep`).
    junk_label: label of references that are removed; None for no such label.
    cut: length of the list for precision and recall of a whole list; None to leave these out.
    labels: whether results include how often the best reference has the query's label.
    precision_recall: the rule for the area under the curve over queries (--confidence).
    """

    ties: MatrixTies = "expected"
    exclude: tuple[Excluded, ...] = ()
    level: Level = "medium"
    absent: Literal["filter", "keep"] = "keep"
    contentless: Literal["filter", "keep"] = "filter"
    junk_label: str | None = None
    cut: int | None = None
    labels: bool = False
    precision_recall: Literal["step", "trapezoid"] = "step"
