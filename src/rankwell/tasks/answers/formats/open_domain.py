"""Open-domain question answering: DPR and Pyserini, KILT, TriviaQA."""

from collections.abc import Iterator, Mapping

from rankwell.io.records import MISSING, Content, Record
from rankwell.tasks.answers.formats import answer_format
from rankwell.tasks.answers.formats.features import has
from rankwell.tasks.answers.formats.rows import AnswerRows, QuestionRows, RetrievedRows
from rankwell.tasks.answers.formats.squad import add_answers

_KILT = has("id output", sure=0.9)


@answer_format("dpr", "questions", fits=has("question answers ctxs|positive_ctxs"))
def read_dpr(content: Content, rows: QuestionRows) -> None:
    """The questions of retrieval results or training data; of the latter `evidence` holds each
    positive passage.

    Source: Karpukhin et al. 2020.
    """
    for record in content.checked_records():
        if not rows.add(record.where, record.id(), record.text("question")):
            continue
        add_answers(rows, record.value.get("answers"), (*record.where, "answers"))
        for passage in record.objects("positive_ctxs", _PASSAGE):
            name = passage.id(passage.key(*_IDS) or "id")
            if name is not None:
                rows.add_evidence((name,))
                rows.context(name, passage.text("text", ""), (*passage.where, "text"))
        rows.end(None)


@answer_format("dpr", "retrieved", fits=has("question ctxs"))
def read_retrieved(content: Content, rows: RetrievedRows) -> None:
    """The passages of each question, best first, without their titles; scores are numbers or texts
    of numbers.
    """
    for record in content.checked_records():
        rows.begin(record.where, record.id(), record.text("question", ""))
        _add_passages(rows, record, "ctxs")


@answer_format("pyserini", "questions", fits=has("*.question *.contexts"))
def read_pyserini(content: Content, rows: QuestionRows) -> None:
    """The questions of `{id: {question, answers, contexts}}`."""
    for name, record in _by_id(content):
        if rows.add(record.where, name, record.text("question")):
            add_answers(rows, record.value.get("answers"), (*record.where, "answers"))
            rows.end(None)


@answer_format("pyserini", "retrieved", fits=has("*.question *.contexts"))
def read_pyserini_retrieved(content: Content, rows: RetrievedRows) -> None:
    """The passages of each question, best first: the second line of a text whose first is the
    title.
    """
    for name, record in _by_id(content):
        rows.begin(record.where, name, record.text("question", ""))
        _add_passages(rows, record, "contexts")


def _by_id(content: Content) -> Iterator[tuple[str, Record]]:
    for name, record in content.record(
        content.value, (), "an object {id: {question, answers, contexts}}"
    ).value.items():
        yield name, content.record(record, (name,), "an object with question, answers and contexts")


_PASSAGE = "an object with id, text and score"
_IDS = ("id", "passage_id", "docid")


def _add_passages(rows: RetrievedRows, record: Record, key: str) -> None:
    for passage in record.objects(key, _PASSAGE):
        name = passage.id(passage.key(*_IDS) or "id")
        if name is None:
            raise rows.content.wrong((*passage.where, "id"), MISSING, "the id of a passage")
        text = passage.text("text") if passage.value.get("text") is not None else None
        # Both scripts look for answers in the passage alone: DPR's has the title apart, Pyserini's
        # takes the second line.
        if key == "contexts" and text is not None and "\n" in text:
            text = text.split("\n")[1]
        claim = passage.value.get("has_answer")
        if claim is not None and not isinstance(claim, bool):
            raise passage.wrong("true or false", "has_answer")
        rows.item(name, passage.number("score"), text, claim=claim)


def _outputs(record: Record, *, single: bool = True) -> Iterator[tuple[Record, list[str]]]:
    """Each output with its pages, each once, in order. single: several are refused, as KILT's own
    script does of a guess.
    """
    outputs = list(record.objects("output", "an object with answer and provenance"))
    if single and len(outputs) > 1:
        raise record.wrong("a list of one output, as a guess has", "output")
    for output in outputs:
        pages: dict[str, None] = {}
        for page in output.objects("provenance", "an object with wikipedia_id"):
            name = page.id("wikipedia_id")
            if name is None:
                raise page.wrong("an id", "wikipedia_id")
            pages[name] = None
        yield output, list(pages)


@answer_format("kilt", "questions", fits=_KILT)
def read_kilt(content: Content, rows: QuestionRows) -> None:
    """The questions; `evidence` holds the pages of each output, which together are one set. Source:
    Petroni et al. 2021.

    An answer stands in the page of its output where there is a single one; positions inside
    paragraphs are not read.
    """
    for record in content.checked_records():
        text = record.text("input") if record.value.get("input") is not None else None
        if rows.add(record.where, record.id(), text):
            for output, pages in _outputs(record, single=False):
                if output.value.get("answer") is not None:
                    rows.answer(
                        output.text("answer"), output.where, pages[0] if len(pages) == 1 else None
                    )
                if pages:
                    rows.add_evidence(tuple(pages))
            rows.end(None)


@answer_format("kilt", "predictions", fits=_KILT)
def read_guesses(content: Content, rows: AnswerRows) -> None:
    """The answer of each guess. Raises BadInput for a guess with several outputs, as KILT's own
    script does.
    """
    for record in content.checked_records():
        rows.begin(record.where, record.id(), record.value.get("input"))
        for output, pages in _outputs(record):
            if output.value.get("answer") is not None:
                rows.answer(output.text("answer"), document=pages[0] if pages else None)


@answer_format("kilt", "retrieved", fits=_KILT)
def read_pages(content: Content, rows: RetrievedRows) -> None:
    """The pages of each guess in order; a page that comes again, as for another of its paragraphs,
    counts once.
    """
    for record in content.checked_records():
        rows.begin(record.where, record.id(), record.value.get("input"))
        for _, pages in _outputs(record):
            for page in pages:
                rows.item(page)


@answer_format("triviaqa", "questions", fits=has("{} Data[]"))
def read_triviaqa(content: Content, rows: QuestionRows) -> None:
    """The questions, whose right answers are `NormalizedAliases` and `HumanAnswers`, as in the
    official script.

    In the domain `Web` a question is asked of each of its pages, and goes by `question--page`. Of a
    verified set only verified questions are read. `Value` is an attribute. Source: Joshi et al.
    2017.
    """
    document = Record(content, content.value if isinstance(content.value, Mapping) else {}, ())
    paired, verified = (
        document.value.get("Domain") == "Web",
        document.value.get("VerifiedEval") is True,
    )
    for record in document.objects("Data", "an object with QuestionId, Question and Answer"):
        if verified and not record.value.get("QuestionPartOfVerifiedEval"):
            continue
        name, pages = record.id("QuestionId"), dict[str | None, None]()
        for key in ("EntityPages", "SearchResults"):
            for index, page in enumerate(record.items(key)):
                if isinstance(page, Mapping):
                    pages[Record(content, page, (*record.where, key, index)).text("Filename")] = (
                        None
                    )
        for page in pages if paired and name is not None and pages else [None]:
            _add_trivia(rows, record, name if page is None else f"{name}--{page}", page)


def _add_trivia(rows: QuestionRows, record: Record, name: str | None, page: str | None) -> None:
    where = (*record.where, "Answer")
    answer = rows.content.record(
        record.value.get("Answer"), where, "an object with NormalizedAliases"
    )
    value = {"Value": answer.value["Value"]} if "Value" in answer.value else {}
    if not rows.add(record.where, name, record.text("Question"), document=page, attributes=value):
        return
    for kind in (answer.key("NormalizedAliases") or "Aliases", "HumanAnswers"):
        for index, text in enumerate(answer.items(kind)):
            if not isinstance(text, str):
                raise answer.wrong("a string", kind, index)
            rows.answer(text, (*where, kind, index))
    rows.end(None)
