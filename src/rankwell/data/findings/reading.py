"""Findings of the readers of files."""

from collections.abc import Sequence

from rankwell.data.findings import finding
from rankwell.errors import count_of


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
    return f"read as {format}, although {' or '.join(others)} would fit, too; name the format"


@finding("warning")
def doubtful_columns(doubt: str, file: str = "") -> str:
    """A column was chosen by its name where another one could be meant, too.

    Name the column with `--columns` or `--qrels-columns`.
    """
    return doubt


@finding("info")
def distance_as_score(column: str, file: str = "") -> str:
    """The numbers of a run are distances, of which the smallest is the best.

    They are read as scores with their signs turned, so that the nearest item ranks first.
    """
    return (
        f"{column!r} is a distance: the smallest ranks first, and scores are distances with their "
        "signs turned"
    )


@finding("warning")
def no_column_of_grades(columns: Sequence[str], file: str = "") -> str:
    """A table of judgments has no column of grades, so that every row counts as relevant.

    If one of the columns that are not read is the grade, name it with `--qrels-columns grade=…`.
    """
    names = ", ".join(map(repr, columns))
    return f"no column is a grade, so that each row counts 1; not read: {names}"


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
