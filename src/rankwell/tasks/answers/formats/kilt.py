"""KILT: lines `{id, input, output: [{answer, provenance: [{wikipedia_id, …}]}]}`, of which a guess has one output."""

from collections.abc import Iterator, Mapping
from typing import Any

from rankwell.tasks.answers.formats import answer_format
from rankwell.tasks.answers.formats.content import MISSING, Content, Where
from rankwell.tasks.answers.formats.rows import AnswerRows, QuestionRows, RetrievedRows


def _fits(content: Content) -> float:
    return 0.9 if {"id", "output"} <= content.keys else 0.0


def _outputs(content: Content, record: Mapping[str, Any], where: Where) -> Iterator[tuple[Where, Mapping[str, Any], list[str]]]:
    """Each output with its place and its pages, each once, in order."""
    for index, output in enumerate(content.items(record, where, "output")):
        place = (*where, "output", index)
        if not isinstance(output, Mapping):
            raise content.wrong(place, output, "an object with answer and provenance")
        pages: dict[str, None] = {}
        for number, page in enumerate(content.items(output, place, "provenance")):
            inside = (*place, "provenance", number)
            if not isinstance(page, Mapping):
                raise content.wrong(inside, page, "an object with wikipedia_id")
            name = content.id(page.get("wikipedia_id", MISSING), (*inside, "wikipedia_id"))
            if name is None:
                raise content.wrong((*inside, "wikipedia_id"), page.get("wikipedia_id", MISSING), "an id")
            pages[name] = None
        yield place, output, list(pages)


@answer_format("kilt", "questions", fits=_fits)
def read(content: Content, rows: QuestionRows) -> None:
    """The questions; `evidence` holds the pages of each output, which together are one set. Source: Petroni et al. 2021.

    An answer stands in the page of its output where there is a single one; positions inside paragraphs are not read.
    """
    for where, record in content.each():
        text = content.text(record, where, "input") if record.get("input") is not None else None
        if not rows.add(where, content.id(record.get("id"), (*where, "id")), text):
            continue
        sets: list[tuple[str, ...]] = []
        for place, output, pages in _outputs(content, record, where):
            if output.get("answer") is not None:
                rows.answer(content.text(output, place, "answer"), place, pages[0] if len(pages) == 1 else None)
            if pages:
                sets.append(tuple(pages))
        if sets:
            rows.evidence[rows.last] = tuple(dict.fromkeys(sets))
        rows.end(None)


@answer_format("kilt", "predictions", fits=_fits)
def read_guesses(content: Content, rows: AnswerRows) -> None:
    """The answer of each guess. Raises BadInput for a guess with several outputs, as KILT's own script does."""
    for where, record in content.each():
        rows.add(where, content.id(record.get("id"), (*where, "id")), record.get("input"))
        found = list(_outputs(content, record, where))
        if len(found) > 1:
            raise content.wrong((*where, "output"), record["output"], "a list of one output, as a guess has,")
        for place, output, pages in found:
            if output.get("answer") is not None:
                rows.answer(content.text(output, place, "answer"), document=pages[0] if pages else None)


@answer_format("kilt", "retrieved", fits=_fits)
def read_pages(content: Content, rows: RetrievedRows) -> None:
    """The pages of each guess in order; a page that comes again, as for another of its paragraphs, counts once."""
    for where, record in content.each():
        rows.add(where, content.id(record.get("id"), (*where, "id")), record.get("input"))
        found = list(_outputs(content, record, where))
        if len(found) > 1:
            raise content.wrong((*where, "output"), record["output"], "a list of one output, as a guess has,")
        for _, _, pages in found:
            for page in pages:
                rows.item(page)
