"""SQuAD 1.1 and 2.0, and what others have made of it: PIAF, FQuAD, XQuAD, Haystack's evaluation data, JSON lines of articles."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from rankwell.tasks.answers.formats import answer_format
from rankwell.tasks.answers.formats.content import MISSING, Content, Where
from rankwell.tasks.answers.formats.gold import add_answers, marked_impossible
from rankwell.tasks.answers.formats.rows import QuestionRows

_OWN = {"id", "question", "answers", "is_impossible"}


def _fits(content: Content) -> float:
    if "paragraphs" in content.keys:
        return 0.95
    whole = content.value if isinstance(content.value, Mapping) else {}
    # Nothing in `data`, or something else than a list of articles, is told by its path.
    return 0.6 if "data" in whole and (not content.keys or not content.prefix) else 0.0


@answer_format("squad", "questions", fits=_fits)
def read(content: Content, rows: QuestionRows) -> None:
    """The questions of every paragraph. A document is a paragraph: its id is its own `id`, else `title#index`.

    Paragraphs of a title that comes again are numbered on. What else an article, a paragraph or a question says is an attribute
    of the question. Source: Rajpurkar et al. 2016 and 2018.
    """
    if isinstance(content.value, Mapping) and "data" in content.value and not content.prefix:
        raise content.wrong(("data",), content.value["data"], "a list of articles")
    numbered: Counter[str] = Counter()
    for number, (where, article) in enumerate(content.each()):
        title = article.get("title", article.get("displaytitle"))
        title = str(number) if title is None or title == "" else content.text({"title": title}, where, "title")
        if numbered[title]:
            rows.odd("same_title", where)
        about = _plain(article, "article", {"paragraphs"})
        if "paragraphs" not in article:
            raise content.wrong((*where, "paragraphs"), MISSING, "a list of paragraphs, each with context and qas,")
        for index, paragraph in enumerate(content.items(article, where, "paragraphs")):
            place = (*where, "paragraphs", index)
            if not isinstance(paragraph, dict):
                raise content.wrong(place, paragraph, "an object with context and qas")
            own = content.id(paragraph.get("id"), (*place, "id"))
            document = own or f"{title}#{numbered[title]}"
            numbered[title] += 1
            rows.context(document, content.text(paragraph, place, "context"), (*place, "context"))
            attributes = about | _plain(paragraph, "paragraph", {"context", "qas", "id"})
            _read_paragraph(content, rows, paragraph, place, document, attributes)


def _read_paragraph(
    content: Content, rows: QuestionRows, paragraph: dict[str, Any], place: Where, document: str, attributes: dict[str, Any]
) -> None:
    if paragraph.get("qas") == "":
        rows.odd("no_list", (*place, "qas"))
    for index, question in enumerate(content.items(paragraph, place, "qas")):
        where = (*place, "qas", index)
        if not isinstance(question, dict):
            raise content.wrong(where, question, "an object with id, question and answers")
        text = question.get("question", MISSING)
        if not isinstance(text, str):
            raise content.wrong((*where, "question"), text, "a text")
        name = question.get("id")
        if type(name) is not str or not name:
            name = content.id(name, (*where, "id"))
        more = {key: value for key, value in question.items() if key not in _OWN} if len(question) > 3 else {}
        added = rows.add(
            where,
            name,
            text,
            document=document,
            otherwise=f"{document}#{index}",
            attributes=attributes | more if more else attributes,
        )
        if added:
            if question.get("answers") == "":
                rows.odd("no_list", (*where, "answers"))
            add_answers(content, rows, question.get("answers"), (*where, "answers"), document)
            marked = marked_impossible(content, question, where)
            if "answers" not in question and marked is None:
                rows.odd("silent", where)
            rows.end(marked)


def _plain(thing: Mapping[str, Any], kind: str, without: set[str]) -> dict[str, Any]:
    """What an article or a paragraph says of itself in plain values; its `id` under a name that is not the question's."""
    return {
        f"{kind}_id" if key == "id" else key: value
        for key, value in thing.items()
        if key not in without and isinstance(value, (str, int, float, bool))
    }
