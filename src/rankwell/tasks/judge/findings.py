"""Findings of pools and of judges."""

from rankwell.data.findings import finding
from rankwell.errors import count_of


@finding("warning")
def line_cut_off(file: str) -> str:
    """The last line of a journal is incomplete, as after a computer was switched off.

    Its item is judged again.
    """
    return "the last line is incomplete, and was dropped"


@finding("info")
def pooled_file_gone(name: str, file: str) -> str:
    """A file that was pooled no longer exists; the study has what it needs of it."""
    return f"{name} no longer exists; the study uses what was pooled"


@finding("warning")
def known_items_unpooled(file: str, n: int) -> str:
    """Items whose grades are known are not in the pool, and are not shown to judges."""
    return count_of(
        n,
        "of its items is not in the pool, and is not shown",
        "of its items are not in the pool, and are not shown",
    )


@finding("warning")
def items_without_document(n: int) -> str:
    """Pooled items have no text, so that judges see their ids alone."""
    return count_of(
        n,
        "item has no document; it is judged by its id",
        "items have no document; they are judged by their ids",
    )


@finding("info")
def nothing_graded_twice(reason: str) -> str:
    """No item has two grades that could agree or differ."""
    return reason


@finding("warning")
def grades_of_study(file: str, judged: str, meaning: str) -> str:
    """Judgments of a study are not those of a whole collection: its design decides which measures
    they allow.

    `rankwell judge estimate` takes the design into account.
    """
    return f"{judged}; {meaning}"


@finding("warning", "rankwell judge estimate --model")
def grades_of_model(file: str, n: int, model: str) -> str:
    """Grades of a language model are no judgments; those of people correct them."""
    return f"{n} pooled items are graded by the model {model}; these are not judgments"


@finding("warning")
def replies_unused(problem: str) -> str:
    """Replies of a model do not count: they name no single grade, or answer another prompt."""
    return problem


@finding("warning")
def documents_order_grades(n: int, file: str) -> str:
    """Documents seem to contain instructions to a model, such as the grade that it should give."""
    number = count_of(n, "document seems", "documents seem")
    return f"{number} to tell the model which grade to give"


@finding("info")
def judged_items_not_asked(n: int) -> str:
    """A model has not been asked about some of the items that people judged."""
    return f"the model has not graded {n} judged items yet; agreement and bias leave them out"


@finding("warning")
def model_favours(model: str, better: str, worse: str, bias: str) -> str:
    """The bias of a model differs between two systems, so that its grades decide between them."""
    return f"{model} favours {better} over {worse}: its bias differs by {bias}"
