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

    ties: the rule for matrices and embeddings; it precedes the convention's own.
    exclude: references that are removed from every ranking.
    level: the references that are relevant where a ground truth has marks; see `Level`.
    absent: whether a query of an instance that no reference shows is left out beforehand
        (`filter`), or judged by `no_relevant` (`keep`).
    junk_label: references with this label are removed; None for no such label.
    cut: length of the list for precision and recall of a whole list; None for no such measures.
    labels: whether the best reference names the query's instance, and how often it is right.
    precision_recall: the rule for the area under the curve over queries (--confidence).
    """

    ties: MatrixTies = "expected"
    exclude: tuple[Excluded, ...] = ()
    level: Level = "medium"
    absent: Literal["filter", "keep"] = "keep"
    junk_label: str | None = None
    cut: int | None = None
    labels: bool = False
    precision_recall: Literal["step", "trapezoid"] = "step"
