"""Findings of pools and of judges."""

from rankwell.data.findings import finding
from rankwell.errors import count_of


@finding("warning")
def line_cut_off(file: str) -> str:
    """The last line of a journal is incomplete, for example after a power failure.

    Its item is judged again.
    """
    return "the last line is incomplete, and was dropped"


@finding("info")
def pooled_file_gone(name: str, file: str) -> str:
    """A pooled file no longer exists. The study has a copy of what it needs."""
    return f"{name} no longer exists; the study uses what was pooled"


@finding("warning")
def known_items_unpooled(file: str, n: int) -> str:
    """Items with known grades are not in the pool, so judges do not see them."""
    return count_of(
        n,
        "of its items is not in the pool, and is not shown",
        "of its items are not in the pool, and are not shown",
    )


@finding("warning")
def items_without_document(n: int) -> str:
    """Some pooled items have no text, so judges see only their ids.

    Give their texts with `--documents`.
    """
    return count_of(
        n,
        "item has no document; it is judged by its id",
        "items have no document; they are judged by their ids",
    )


@finding("info")
def nothing_graded_twice(reason: str) -> str:
    """No item has two grades that could be compared."""
    return reason


@finding("warning")
def grades_of_study(file: str, judged: str, meaning: str) -> str:
    """These judgments come from a study that sampled them, so not every measure is valid on them.

    `rankwell judge estimate` takes the sampling into account.
    """
    return f"{judged}; {meaning}"


@finding("warning", "rankwell judge estimate --model")
def grades_of_model(file: str, n: int, model: str) -> str:
    """These grades come from a language model. Correct them with a sample of human grades."""
    return f"{n} pooled items are graded by the model {model}; these are not judgments"


@finding("warning")
def replies_unused(problem: str) -> str:
    """Some replies of a model do not count: they give no grade, or belong to another prompt."""
    return problem


@finding("warning")
def documents_order_grades(n: int, file: str) -> str:
    """Some documents seem to contain instructions to a model, such as the grade to give.

    Read them before you trust the model's grades.
    """
    number = count_of(n, "document seems", "documents seem")
    return f"{number} to tell the model which grade to give"


@finding("info")
def judged_items_not_asked(n: int) -> str:
    """The model was not asked about some of the items that people judged."""
    return f"the model has not graded {n} judged items yet; agreement and bias leave them out"


@finding("warning")
def model_favours(model: str, better: str, worse: str, bias: str) -> str:
    """The model's bias differs between two systems, so its grades could decide between them."""
    return f"{model} favours {better} over {worse}: its bias differs by {bias}"
