"""Open-domain question answering: DPR and Pyserini, KILT, TriviaQA."""

from collections.abc import Iterator, Mapping
from typing import Any

from rankwell.tasks.answers.formats import answer_format
from rankwell.tasks.answers.formats.content import MISSING, Content, Where, has
from rankwell.tasks.answers.formats.rows import AnswerRows, QuestionRows, RetrievedRows
from rankwell.tasks.answers.formats.squad import add_answers

_POSITIVE = "positive_ctxs"
_IDS = ("id", "passage_id", "docid")
_KILT = has("id output", sure=0.9)


@answer_format("dpr", "questions", fits=has("question answers ctxs|positive_ctxs"))
def read_dpr(content: Content, rows: QuestionRows) -> None:
    """The questions of retrieval results or training data; of the latter `evidence` holds each positive passage.

    Source: Karpukhin et al. 2020.
    """
    for where, record in content.each():
        if not rows.add(where, content.id(record.get("id"), (*where, "id")), content.text(record, where, "question")):
            continue
        add_answers(content, rows, record.get("answers"), (*where, "answers"), None)
        positive: dict[str, None] = {}
        for place, passage in _passages(content, record, where, _POSITIVE):
            name = _passage_name(content, passage, place)
            if name is not None:
                positive[name] = None
                rows.context(name, content.text(passage, place, "text", ""), (*place, "text"))
        if positive:
            rows.evidence[rows.last] = tuple((name,) for name in positive)
        rows.end(None)


@answer_format("dpr", "retrieved", fits=has("question ctxs"))
def read_retrieved(content: Content, rows: RetrievedRows) -> None:
    """The passages of each question, best first, without their titles; scores are numbers or texts of numbers."""
    for where, record in content.each():
        rows.add(where, content.id(record.get("id"), (*where, "id")), content.text(record, where, "question", ""))
        _add_passages(content, rows, record, where, "ctxs")


@answer_format("pyserini", "questions", fits=has("*.question *.contexts"))
def read_pyserini(content: Content, rows: QuestionRows) -> None:
    """The questions of `{id: {question, answers, contexts}}`."""
    for where, name, record in _by_id(content):
        if rows.add(where, name, content.text(record, where, "question")):
            add_answers(content, rows, record.get("answers"), (*where, "answers"), None)
            rows.end(None)


@answer_format("pyserini", "retrieved", fits=has("*.question *.contexts"))
def read_pyserini_retrieved(content: Content, rows: RetrievedRows) -> None:
    """The passages of each question, best first: the second line of a text whose first is the title."""
    for where, name, record in _by_id(content):
        rows.add(where, name, content.text(record, where, "question", ""))
        _add_passages(content, rows, record, where, "contexts")


def _by_id(content: Content) -> Iterator[tuple[Where, str, Mapping[str, Any]]]:
    content.refuse_repeated_keys()
    if not isinstance(content.value, Mapping):
        raise content.wrong((), content.value, "an object {id: {question, answers, contexts}}")
    for name, record in content.value.items():
        if not isinstance(record, Mapping):
            raise content.wrong((name,), record, "an object with question, answers and contexts")
        yield (name,), name, record


def _passages(content: Content, record: Mapping[str, Any], where: Where, key: str) -> Iterator[tuple[Where, Mapping[str, Any]]]:
    for index, passage in enumerate(content.items(record, where, key)):
        if not isinstance(passage, Mapping):
            raise content.wrong((*where, key, index), passage, "an object with id, text and score")
        yield (*where, key, index), passage


def _passage_name(content: Content, passage: Mapping[str, Any], where: Where) -> str | None:
    key = next((name for name in _IDS if name in passage), "id")
    return content.id(passage.get(key), (*where, key))


def _add_passages(content: Content, rows: RetrievedRows, record: Mapping[str, Any], where: Where, key: str) -> None:
    for place, passage in _passages(content, record, where, key):
        name = _passage_name(content, passage, place)
        if name is None:
            raise content.wrong((*place, "id"), MISSING, "the id of a passage")
        text = content.text(passage, place, "text") if passage.get("text") is not None else None
        # Both scripts look for answers in the passage alone: DPR's has the title apart, Pyserini's takes the second line.
        if key == "contexts" and text is not None and "\n" in text:
            text = text.split("\n")[1]
        claim = passage.get("has_answer")
        if claim is not None and not isinstance(claim, bool):
            raise content.wrong((*place, "has_answer"), claim, "true or false")
        rows.item(name, content.number(passage.get("score"), (*place, "score")), text, claim=claim)


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


@answer_format("kilt", "questions", fits=_KILT)
def read_kilt(content: Content, rows: QuestionRows) -> None:
    """The questions; `evidence` holds the pages of each output, which together are one set. Source: Petroni et al. 2021.

    An answer stands in the page of its output where there is a single one; positions inside paragraphs are not read_kilt.
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


@answer_format("kilt", "predictions", fits=_KILT)
def read_guesses(content: Content, rows: AnswerRows) -> None:
    """The answer of each guess. Raises BadInput for a guess with several outputs, as KILT's own script does."""
    for where, record in content.each():
        rows.add(where, content.id(record.get("id"), (*where, "id")), record.get("input"))
        found = list(_outputs(content, record, where))
        if len(found) > 1:
            raise content.wrong((*where, "output"), record["output"], "a list of one output, as a guess has")
        for place, output, pages in found:
            if output.get("answer") is not None:
                rows.answer(content.text(output, place, "answer"), document=pages[0] if pages else None)


@answer_format("kilt", "retrieved", fits=_KILT)
def read_pages(content: Content, rows: RetrievedRows) -> None:
    """The pages of each guess in order; a page that comes again, as for another of its paragraphs, counts once."""
    for where, record in content.each():
        rows.add(where, content.id(record.get("id"), (*where, "id")), record.get("input"))
        found = list(_outputs(content, record, where))
        if len(found) > 1:
            raise content.wrong((*where, "output"), record["output"], "a list of one output, as a guess has")
        for _, _, pages in found:
            for page in pages:
                rows.item(page)


_PAGES = ("EntityPages", "SearchResults")


@answer_format("triviaqa", "questions", fits=has("{} Data[]"))
def read_triviaqa(content: Content, rows: QuestionRows) -> None:
    """The questions, whose right answers are `NormalizedAliases` and `HumanAnswers`, as in the official script.

    In the domain `Web` a question is asked of each of its pages, and goes by `question--page`. Of a verified set only verified
    questions are read_triviaqa. `Value` is an attribute. Source: Joshi et al. 2017.
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
            _add_trivia(content, rows, record, where, name, page)


def _add_trivia(
    content: Content, rows: QuestionRows, record: dict[str, Any], where: Where, name: str | None, page: str | None
) -> None:
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
                raise content.wrong(place, text, "a string")
            rows.answer(text, place)
    rows.end(None)


def _pages(content: Content, record: dict[str, Any], where: Where) -> list[str]:
    pages = content.items(record, where[:-1], str(where[-1]))
    return [content.text(page, (*where, index), "Filename") for index, page in enumerate(pages) if isinstance(page, Mapping)]
