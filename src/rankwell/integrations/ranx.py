"""ranx: its `Run` and `Qrels` from rankwell's tables; rankwell reads both wherever it reads a run
or judgments.
"""

from typing import Any

from rankwell.errors import BadInput
from rankwell.integrations import imported
from rankwell.io.formats import read_judgments, read_ranking


def to_run(run: Any, *, name: str | None = None) -> Any:
    """A `ranx.Run` of a run in any form that rankwell reads. ranx sorts items by score; tied items
    are in no definite order.

    name: what ranx's tables call it.
    Raises MissingExtra without ranx, and the reader's errors.
    """
    table = read_ranking(run).to_dict()
    if not any(table.values()):
        raise BadInput("the run lists no item, and ranx holds no such run; give one with items.")
    return imported("ranx", "ranx").Run(table, name=name)


def to_qrels(judgments: Any, *, name: str | None = None) -> Any:
    """A `ranx.Qrels` of judgments in any form that rankwell reads.

    name: of the table. Raises MissingExtra without ranx, BadInput for a grade that is not an
    integer and for judgments without items, which ranx cannot hold, and the reader's errors.
    """
    table = read_judgments(judgments).to_dict()
    if not any(table.values()):
        raise BadInput(
            "the judgments list no item, and ranx holds no such table; give some with items."
        )
    for query, graded in table.items():
        for item, grade in graded.items():
            if not grade.is_integer():
                raise BadInput(
                    f"query {query!r}, item {item!r}: the grade is {grade:g}; ranx holds "
                    "integers only."
                )
    integer_grades = {
        query: {item: int(grade) for item, grade in graded.items()}
        for query, graded in table.items()
    }
    return imported("ranx", "ranx").Qrels(integer_grades, name=name)
