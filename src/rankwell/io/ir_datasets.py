"""ir_datasets: judgments and queries of a data set by its id, `irds:beir/scifact/test`; the package
fetches the data.
"""

import logging
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from rankwell.data.columns import unique_rows
from rankwell.data.findings.kinds import reading_choice
from rankwell.data.registry import suggest
from rankwell.data.tables import Judgments
from rankwell.errors import BadInput, UnknownName, needing
from rankwell.io.formats import Request, Texts, file_format
from rankwell.store.places import is_data_set_id


@file_format("python ir_datasets", "judgments", accepts=is_data_set_id)
def read_judgments(place: Any, request: Request) -> Judgments:
    """The qrels of a data set; groups and intents are its subtopics, or else the iteration of
    TREC's qrels.

    Raises MissingExtra without ir_datasets, UnknownName for an unknown id, BadInput for a data set
    without qrels or with qrels that have no grade, and where the data is neither on this machine
    nor can be fetched.
    Source: MacAvaney et al. 2021, Simplified Data Wrangling with ir_datasets.
    """
    data = _data_set(place, "qrels")
    with _fetched(place):
        rows = list(data.qrels_iter())
        grades = [float(getattr(row, "relevance", 0)) for row in rows]
    fields = rows[0]._fields if rows else ()
    if "relevance" not in fields:
        raise BadInput(
            f"{place}: its qrels have no relevance, only {', '.join(fields) or 'no row'}; "
            "name other judgments."
        )
    request.findings.append(reading_choice(f"judgments: {place}"))
    queries, items = [row.query_id for row in rows], [row.doc_id for row in rows]
    if request.aspects == "none":
        return Judgments.from_rows(*unique_rows(queries, items, grades, request.duplicates))
    aspect = next((name for name in ("subtopic_id", "iteration") if name in fields), None)
    if aspect is None:
        raise BadInput(
            f"{place}: its qrels have no {request.aspects}, only {', '.join(fields)}; name "
            "other judgments."
        )
    return Judgments.from_rows(
        queries, items, grades, aspects=[str(getattr(row, aspect)) for row in rows]
    )


@file_format("python ir_datasets", "texts", accepts=is_data_set_id)
def read_texts(place: Any, request: Request) -> Texts:  # noqa: ARG001 - texts are small
    """The queries of a data set: the text that ir_datasets calls the default, and every other field
    as an attribute.

    Raises what the judgments raise.
    """
    data = _data_set(place, "queries")
    with _fetched(place):
        query_rows = list(data.queries_iter())
    rows = {row.query_id: row for row in query_rows}
    if len(rows) < len(query_rows):
        raise BadInput(f"{place}: its queries have an id twice; name a file of queries.")
    attributes = {
        name: {
            field: str(value)
            for field, value in row._asdict().items()
            if field not in ("query_id", "text") and value
        }
        for name, row in rows.items()
    }
    return Texts({name: row.default_text() for name, row in rows.items()}, attributes)


def _data_set(place: Any, part: str) -> Any:
    """The data set of an id. Raises MissingExtra, UnknownName, BadInput where it lacks the part."""
    with needing(f"{place} needs ir_datasets: pip install 'rankwell[ir-datasets]'."):
        import ir_datasets
    name = str(place).partition(":")[2]
    try:
        data_set = ir_datasets.load(name)
    except KeyError as error:
        raise UnknownName(
            f"ir_datasets has no data set {name!r}; "
            f"{suggest(name, ir_datasets.registry, 'https://ir-datasets.com lists them.')}"
        ) from error
    if not data_set.has(part):
        complete_subsets = [
            subset
            for subset in ir_datasets.registry
            if subset.startswith(f"{name}/") and ir_datasets.load(subset).has(part)
        ]
        hint = (
            f"those of {', '.join(f'irds:{subset}' for subset in complete_subsets[:5])} are there"
            if complete_subsets
            else "name another data set"
        )
        raise BadInput(f"{place} has no {part}; {hint}.")
    return data_set


@contextmanager
def _fetched(place: Any) -> Generator[None]:
    """Raises BadInput where ir_datasets fails: each data set and each download has errors of its
    own.

    Its log is silent, for the error has the reason; its bars of progress are not.
    """
    from ir_datasets.util import home_path

    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        yield
    except Exception as error:
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        raise BadInput(
            f"{place}: the data is not in {home_path()} or damaged, and cannot be fetched "
            f"({reason}); go online, or copy the folder from a machine that has it."
        ) from error
    finally:
        logging.disable(before)
