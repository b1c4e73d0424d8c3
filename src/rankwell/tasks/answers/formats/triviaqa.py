"""TriviaQA: `{Data: [{QuestionId, Question, Answer: {Value, Aliases, NormalizedAliases, …}, …}]}`."""

from collections.abc import Mapping
from typing import Any

from rankwell.tasks.answers.formats import answer_format
from rankwell.tasks.answers.formats.content import Content, Where
from rankwell.tasks.answers.formats.rows import QuestionRows

_PAGES = ("EntityPages", "SearchResults")


def _fits(content: Content) -> float:
    return 0.95 if isinstance(content.value, Mapping) and isinstance(content.value.get("Data"), list) else 0.0


@answer_format("triviaqa", "questions", fits=_fits)
def read(content: Content, rows: QuestionRows) -> None:
    """The questions, whose right answers are `NormalizedAliases` and `HumanAnswers`, as the official script has them.

    In the domain `Web` a question is asked of each of its pages, and goes by `question--page`. Of a verified set only verified
    questions are read. `Value` is an attribute. Source: Joshi et al. 2017.
    """
    whole = content.value if isinstance(content.value, Mapping) else {}
    paired, verified = whole.get("Domain") == "Web", whole.get("VerifiedEval") is True
    for index, record in enumerate(content.items(whole, (), "Data")):
        where: Where = ("Data", index)
        if not isinstance(record, dict):
            raise content.wrong(where, record, "an object with QuestionId, Question and Answer")
        if verified and not record.get("QuestionPartOfVerifiedEval"):
            continue
        name = content.id(record.get("QuestionId"), (*where, "QuestionId"))
        pages = [page for key in _PAGES for page in _pages(content, record, (*where, key))]
        for page in dict.fromkeys(pages) if paired and name is not None and pages else [None]:
            _add(content, rows, record, where, name, page)


def _add(content: Content, rows: QuestionRows, record: dict[str, Any], where: Where, name: str | None, page: str | None) -> None:
    answer = record.get("Answer")
    if not isinstance(answer, Mapping):
        raise content.wrong((*where, "Answer"), answer, "an object with NormalizedAliases")
    key = name if page is None else f"{name}--{page}"
    value = {"Value": answer["Value"]} if "Value" in answer else {}
    if not rows.add(where, key, content.text(record, where, "Question"), document=page, attributes=value):
        return
    aliases = "NormalizedAliases" if "NormalizedAliases" in answer else "Aliases"
    for kind in (aliases, "HumanAnswers"):
        for index, text in enumerate(content.items(answer, (*where, "Answer"), kind)):
            place = (*where, "Answer", kind, index)
            if not isinstance(text, str):
                raise content.wrong(place, text, "a text")
            rows.answer(text, place)
    rows.end(None)


def _pages(content: Content, record: dict[str, Any], where: Where) -> list[str]:
    pages = content.items(record, where[:-1], str(where[-1]))
    return [content.text(page, (*where, index), "Filename") for index, page in enumerate(pages) if isinstance(page, Mapping)]
