"""Questions with right answers, predicted answers, no-answer probabilities and retrieved documents,
in any format.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Generic, Literal, NamedTuple, TypeVar, get_args

from rankwell.data.columns import Repeats
from rankwell.data.findings import Finding
from rankwell.data.findings.kinds import ranks_contradict_scores, reading_choice
from rankwell.data.options import ColumnChoice, Table, own_arithmetic
from rankwell.data.rankings import Ranking
from rankwell.data.registry import Catalogue, suggest
from rankwell.errors import BadInput, NothingToEvaluate, UnknownName
from rankwell.io import formats
from rankwell.io.formats import scored
from rankwell.io.records import Content, load, shown
from rankwell.store import Head, Source
from rankwell.tasks.qa.answer_pairs import Predictions, Questions
from rankwell.tasks.qa.formats.rows import AnswerRows, EntryRows, QuestionRows, RetrievedRows

AnswerHolds = Literal["questions", "predictions", "na-probs", "retrieved"]
Read = TypeVar("Read", bound=Callable[..., Any])
Rows = TypeVar("Rows", bound=EntryRows)
Pairs = TypeVar("Pairs")
_WORDS = {
    "questions": "questions with right answers",
    "predictions": "predictions",
    "na-probs": "no-answer probabilities",
    "retrieved": "retrieved documents",
}
_RANKINGS = {"run": "a run", "judgments": "judgments"}


@dataclass(frozen=True)
class AnswerFormat:
    """A format of questions, predictions, no-answer probabilities or retrieved documents.

    name: the name in options; formats of different contents may share it.
    holds: the kind of content.
    read: fills rows from their document.
    fits: confidence that a document has this form; from 0.5 on it is read in it.
    parts: words that may follow a colon in the format's name.
    """

    name: str
    holds: AnswerHolds
    read: Callable[[Any], None]
    fits: Callable[[Content], float] = lambda _: 0.0
    parts: tuple[str, ...] = ()


ANSWER_FORMATS: Catalogue[AnswerFormat] = Catalogue("tasks.qa.formats", "format")


def answer_format(name: str, holds: AnswerHolds, **fields: Any) -> Callable[[Read], Read]:
    """Registers the function that reads a format and returns it unchanged; see `AnswerFormat` for
    the other fields.
    """
    return ANSWER_FORMATS.register(
        f"{name} {holds}", lambda read: AnswerFormat(name, holds, read, **fields)
    )


def has(*patterns: str, sure: float = 0.95) -> Callable[[Content], float]:
    """The confidence `sure` for a document with the features of any pattern, else 0.

    A pattern is a list of features: `key` (of the first records), `key[]` (its first value is a
    list), `*.key` (of the values of an object), `a|b` (either), `!a` (absent), `form=table`, `[]`
    and `{}` (a list, an object), `no-header`.
    """
    alternatives = [[word.split("|") for word in pattern.split()] for pattern in patterns]

    def _fits(content: Content) -> float:
        features = content.features
        met = [
            all(
                any((word[0] == "!") != (word.lstrip("!") in features) for word in words)
                for words in pattern
            )
            for pattern in alternatives
        ]
        return sure if any(met) else 0.0

    return _fits


class FoundTable(NamedTuple, Generic[Pairs]):
    """A table that was read.

    table: questions, predictions, retrieved documents or no-answer numbers.
    format: name of the format; `table` for a table in memory.
    findings: findings of the reader.
    counts: kind of oddity -> number of questions: `without_id`, `empty` (left out),
        `duplicate_texts` (questions that share theirs), `unmarked`, `answered_impossible`,
        `blank_answers`, `misaligned`, `no_start` (right answers), `no_list`, `same_title`,
        `negative`; a kind that is absent is 0.
    contexts: texts of retrieved documents, where the file has them.
    ordered: whether the file's lists are in a definite order, so that equal scores are not ties
        (tie rule `input`).
    claims: (question, document) -> whether the document holds an answer, where the file says so.
    """

    table: Pairs
    format: str
    findings: tuple[Finding, ...] = ()
    counts: Mapping[str, int] = {}
    contexts: Mapping[str, str] = {}
    ordered: bool = False
    claims: Mapping[tuple[str, str], bool] = {}


def answer_formats(holds: AnswerHolds) -> list[AnswerFormat]:
    """Every format of questions, predictions, no-answer probabilities or retrieved documents, by
    name.
    """
    forms = (ANSWER_FORMATS[name] for name in ANSWER_FORMATS)
    return [form for form in forms if form.holds == holds]


@own_arithmetic
def read_questions(
    place: Table | Questions, *, format: str | None = None, empty: Literal["drop", "keep"] = "drop"
) -> FoundTable[Questions]:
    """Reads questions with their right answers.

    Returns the questions as `table`, with the format and the reader's findings.
    Raises BadInput for rows that cannot be read, with their path inside the file, DuplicateItem for
    an id that appears twice, with both places, NothingToEvaluate where there is no question,
    UnknownName for a format that does not exist.

    Parameters
    ----------
    place
        A path, `-`, what a JSON file would hold, any data frame, Questions, or what this function
        returned.
    format
        Name of the format. By default it is recognised from the content.
    empty
        Whether questions with an empty text, which some files use as filler, are kept.

    >>> import rankwell as rw
    >>> rows = [{"id": "q1", "question": "Capital of France?", "answers": ["Paris"]}]
    >>> rw.read_questions(rows).table.answers
    ('Paris',)
    """
    found: Any = place if isinstance(place, FoundTable) else FoundTable(place, "table")
    if isinstance(found.table, Questions):
        return found
    rows, name = _rows(
        place, "questions", format, partial(QuestionRows, keep_empty=empty == "keep")
    )
    table = rows.table()
    rows.note_oddities()
    if not table.ids:
        left_out = rows.counts["empty"]
        clause = f" beside {left_out} with an empty text" if left_out else ""
        raise NothingToEvaluate(
            f"{rows.content.name}: there is no question in it{clause}; expected at least one."
        )
    return FoundTable(table, name, tuple(rows.findings), dict(rows.counts))


@own_arithmetic
def read_predictions(
    place: Table | Predictions, *, format: str | None = None, questions: Questions | None = None
) -> FoundTable[Predictions]:
    """Reads the ranked answers of one system.

    Returns the answers as `table`, with the format and the reader's findings.
    Raises BadInput for rows that cannot be read, DuplicateItem for a question that appears twice,
    NothingToEvaluate where there is no answer, UnknownName for a format that does not exist.

    Parameters
    ----------
    place
        A path, `-`, what a JSON file would hold (question id -> answer), any data frame, or
        Predictions.
    format
        Name of the format. By default it is recognised from the content.
    questions
        The questions, whose texts identify those of a file without ids, and of Haystack's, which
        has ids of its own.

    >>> import rankwell as rw
    >>> rw.read_predictions({"q1": "Paris", "q2": ""}).table.texts
    ('Paris', '')
    """
    found: Any = place if isinstance(place, FoundTable) else FoundTable(place, "table")
    if isinstance(found.table, Predictions):
        return found
    rows, name = _rows(place, "predictions", format, AnswerRows)
    table = rows.table(questions)
    if not table.ids:
        raise NothingToEvaluate(
            f"{rows.content.name}: there is no prediction in it; expected at least one."
        )
    return FoundTable(table, name, tuple(rows.findings))


def read_na_probs(place: Any) -> FoundTable[Mapping[str, float]]:
    """Probabilities of there being no answer, or scores of it (null odds), by question id. Raises
    BadInput for other values.
    """
    rows, name = _rows(place, "na-probs", None, EntryRows)
    table = rows.numbers
    scores = sum(not 0 <= value <= 1 for value in table.values())
    if scores:
        rows.note(
            f"{scores} of {len(table)} values are not between 0 and 1: scores, not probabilities",
            reading_choice,
        )
    return FoundTable(table, name, tuple(rows.findings))


def read_retrieved(
    place: Any,
    *,
    format: str | None = None,
    questions: Questions | None = None,
    duplicates: Repeats = "error",
    columns: ColumnChoice | None = None,
) -> FoundTable[Ranking]:
    """Documents by question: any run file, or retrieval results; `keep` leaves repeated ones at all
    their places.
    """
    if isinstance(place, Ranking):
        return FoundTable(place, "table")
    document = _retrieved(place, format)
    if document is None:
        reading: dict[str, Any] = {"format": format, "columns": columns}
        checked = formats.check_ranking(
            place, repeats="keep" if duplicates == "keep" else "first", **reading
        )
        table, findings = checked.table, list(checked.findings)
        if duplicates == "best":
            table = formats.read_ranking(place, duplicates="best", **reading)
        elif checked.duplicated and duplicates == "error":
            formats.read_ranking(place, **reading)
        if checked.contradicting:
            findings.append(ranks_contradict_scores(str(place), checked.contradicting))
        return FoundTable(table, checked.format, tuple(findings))
    rows, name = _rows(document, "retrieved", format, RetrievedRows)
    table, claims = rows.table(questions, duplicates)
    return FoundTable(
        table, name, tuple(rows.findings), contexts=rows.contexts, ordered=True, claims=claims
    )


def _retrieved(place: Any, name: str | None) -> Any:
    """The place of retrieval results, or their document; None where the place is a run, which its
    own readers know.
    """
    if name is not None:
        names = {form.name for form in answer_formats("retrieved")}
        return place if name.partition(":")[0] in names else None
    if isinstance(place, (str, Path, Source)):
        head = Head.of(place if isinstance(place, Source) else Source(place))
        head.refuse_foreign()
        # Runs may be large, and all but JSON show at their beginning that they are none of these
        # documents.
        if head.text[:1] not in ("{", "[") and not (
            head.lines and b"query" in head.lines[0] and b"node" in head.lines[0]
        ):
            return None
    content = load(place, "questions and answers")
    return None if _surest(content, "retrieved") is None else content


def _surest(content: Content, holds: AnswerHolds) -> AnswerFormat | None:
    form = max(answer_formats(holds), key=lambda form: (form.fits(content), form.name))
    return form if form.fits(content) >= 0.5 else None


def _rows(
    place: Any, holds: AnswerHolds, name: str | None, kind: Callable[[Content, str], Rows]
) -> tuple[Rows, str]:
    """The rows of a document, and the name of its format. name: it may carry a part:
    `haystack:isolated`.
    """
    bare, _, part = (name or "").partition(":")
    forms = {form.name: form for form in answer_formats(holds)}
    if name is not None and bare not in forms:
        raise UnknownName(f"there is no format {bare!r} of {_WORDS[holds]}; {suggest(bare, forms)}")
    content = place
    if not isinstance(place, Content):
        content = load(place, "questions and answers")
    form = forms[bare] if name is not None else _surest(content, holds)
    if form is None:
        raise _unknown(place, content, holds)
    if part and part not in form.parts:
        parts = ", ".join(form.parts)
        advice = f"its parts are {parts}" if parts else f"it has no parts; write {bare!r}"
        raise UnknownName(f"the format {bare!r} has no part {part!r}; {advice}.")
    if content.problem is not None:
        raise content.problem
    rows = kind(content, part)
    form.read(rows)
    return rows, form.name


def _unknown(place: Any, content: Content, holds: AnswerHolds) -> BadInput:
    """The error that says what a document of no known form looks like instead."""
    begin = f"{content.name}: this looks like"
    for role in get_args(AnswerHolds):
        form = None if role == holds else _surest(content, role)
        if form is not None:
            return BadInput(
                f"{begin} {_WORDS[role]} ({form.name}); expected {_WORDS[holds]}; questions "
                "come before predictions: name another file, or the format of this one."
            )
    if isinstance(place, (str, Path)):
        head = Head.of(Source(place))
        entries = [(sure, entry) for sure, entry in scored(head) if entry.holds in _RANKINGS]
        if entries and entries[0][0] >= 0.5:
            # Both may have the same form, as in JSON.
            held = {entry.holds for sure, entry in entries if sure == entries[0][0]}
            kinds = " or ".join(words for kind, words in _RANKINGS.items() if kind in held)
            return BadInput(
                f"{begin} {kinds} ({entries[0][1].name}); expected {_WORDS[holds]}. "
                "`rankwell evaluate` reads judgments and runs."
            )
    names = ", ".join(form.name for form in answer_formats(holds))
    keys = ", ".join(map(repr, content.header or sorted(content.keys)))[:80]
    content_text = f"the document {shown(content.value)}"
    if keys and content.form == "table":
        content_text = f"the columns are {keys}"
    elif keys:
        content_text = f"the first objects have {keys}"
    return BadInput(
        f"{content.name}: {content_text}; known forms of {_WORDS[holds]} are {names}; convert it, "
        "or name the format."
    )
