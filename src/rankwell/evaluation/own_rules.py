"""Judgments and views of rankings under a convention's rules for negative grades and for each
query's own item.
"""

from typing import Any

from rankwell.conventions import Convention
from rankwell.core.tables import Judgments
from rankwell.errors import count_of


def hide_own_items(judgments: Judgments) -> tuple[Judgments, list[str]]:
    """Removes each query's own item, that of its id, from its ranking; a note counts the queries to
    which it is relevant.
    """
    hidden = judgments.hide_queries()
    lost = int((hidden.unranked & hidden.real & (hidden.grades > 0)).sum())
    if not lost:
        return hidden, []
    finding = (
        f"{count_of(lost, 'query has', 'queries have')} an item of the same id judged relevant"
    )
    return hidden, [f"{finding}: it is out of the ranking, and counts as not found"]


def with_negative_grades(view: Any, convention: Convention) -> Any:
    """The view in which negative grades mean what they do under the convention. view: of any kind
    but sessions.
    """
    return view if convention.negative_grades == "judged" else view.with_unjudged_pool
