"""Asking a model for grades: over HTTP (chat completions) or a function; faults that pass are
retried with back-off. The prompt, and the grade that a reply names.
"""

import hashlib
import re
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from importlib.resources import files
from itertools import islice
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import Any, NamedTuple

import numpy as np

from rankwell.data.code import code_name, load_object
from rankwell.data.secrets import Secrets, refuse_literal
from rankwell.engines import EngineFailure
from rankwell.engines.http_client import HttpClient
from rankwell.errors import BadInput, BadUsage, count_of, sentence, shown
from rankwell.processes import interrupts_held, is_interrupted
from rankwell.reporting.options import Progress, StatusNote
from rankwell.store import split_name
from rankwell.tasks.judge.folder import (
    GUIDELINE,
    ModelReply,
    Pair,
    Study,
    append_reply,
    now,
    read_replies,
    settings_of,
)
from rankwell.tasks.judge.options import ModelOptions

_PASSING = (408, 425, 429)
_LONGEST_PAUSE = 120.0
_TICK = 0.25
_MOST_FAILED = 3
"""So many items in a row without an answer end the run."""
_PLACE = re.compile(r"\{([a-z]+)\}")
_NEEDED = ("query", "document")
_KNOWN = ("model", "grades", "guideline", "query", "document", "fence", "example")
_THOUGHT = re.compile(r"\A\s*<think>.*?</think>", re.DOTALL)
_NUMBER = r"(-?\d+(?:\.\d+)?)(?![\d.]*\d)"
_GRADE = re.compile(rf"\bgrade\b[\s\"'*_`]*(?:[:=]|is\b)[\s\"'*_`]*{_NUMBER}", re.IGNORECASE)
_BARE = re.compile(rf"\s*{_NUMBER}\s*\.?\s*")
_ORDERS = re.compile(
    r"\b(?:ignore|disregard|forget)\b.{0,40}\b(?:instruction|prompt|rule|guideline)s?\b"
    r"|\b(?:grade|score|rating|relevance|label)\b\W{0,3}(?:is|of|as|to|must be|should "
    r"be|:|=)\W{0,3}\d"
    r"|\b(?:give|assign|output|answer|respond|reply|return|write|print|rate|grade|score)\b.{0,40}"
    r"\b(?:grade|score|rating|highest|maximum|perfectly relevant|\d+)\b"
    r"|</?(?:document|query|system|assistant|user)\b",
    re.IGNORECASE | re.DOTALL,
)


@dataclass(frozen=True)
class ModelPrompt:
    """A prompt with places such as {query}.

    text: the prompt with the places not yet filled.
    values: place -> text, for those that are the same for all items.
    seed: seed of the study.
    """

    text: str
    values: Mapping[str, str]
    seed: int

    @classmethod
    def read(cls, study: Study, options: ModelOptions) -> "ModelPrompt":
        """The prompt in a file, or our own. Raises BadInput where it lacks the query or the
        document, or has an unknown place.
        """
        name = options.prompt or "the prompt"
        own = str(files("rankwell.tasks.judge") / "prompts" / "grade.txt")
        try:
            text = Path(options.prompt or own).read_text("utf-8")
        except UnicodeDecodeError as error:
            raise BadInput(f"{name} is not UTF-8; save it as UTF-8.") from error
        except OSError as error:
            raise BadInput(
                f"{name}: {error.strerror}; name a text file with the prompt."
            ) from error
        fields = _PLACE.findall(text)
        for missing in _NEEDED:
            if missing not in fields:
                raise BadInput(
                    f"{name} has no {{{missing}}}; write it where the {missing} belongs."
                )
        for field in fields:
            if field not in _KNOWN:
                raise BadInput(
                    f"{name}: unknown place {{{field}}}; expected "
                    f"{', '.join(f'{{{field}}}' for field in _KNOWN)}."
                )
        values = {
            "model": str(options.model),
            "grades": "\n".join(f"{grade:g}: {name}" for grade, name in study.grades.items()),
            "guideline": (study.folder / GUIDELINE).read_text("utf-8", "replace").strip(),
            "example": f"{min(study.grades):g}",
        }
        return cls(text, values, study.seed)

    @property
    def digest(self) -> str:
        """The digest of the prompt with the scale and guideline of the study."""
        content = "\0".join([self.text, self.values["grades"], self.values["guideline"]])
        return "sha256:" + hashlib.sha256(content.encode()).hexdigest()

    def filled(self, query: str, document: str) -> str:
        """The prompt for an item. A fence has the digest of both texts in it, so that neither text
        can close it.
        """
        content = f"{self.seed}\0{query}\0{document}".encode("utf-8", "surrogatepass")
        fence = hashlib.sha256(content).hexdigest()[:16]
        values = {**self.values, "query": query, "document": document, "fence": fence}
        return _PLACE.sub(lambda match: values[match[1]], self.text)


class ItemToGrade(NamedTuple):
    """An item to grade, with the texts that are sent.

    query, item: ids of the query and the item.
    query_text: the text of the query; its id where it has none.
    document: the title and text of the item, cut to the largest length that is sent; its id where
        it has no text.
    """

    query: str
    item: str
    query_text: str
    document: str


class ModelAnswer(NamedTuple):
    """An answer of a model.

    question: the item that the model was asked to grade.
    reply: a text or a grade; the error where there is neither.
    seconds: time that all attempts took.
    """

    question: ItemToGrade
    reply: str | float | Exception
    seconds: float


class ModelJudge(NamedTuple):
    """A model that grades items.

    model: name of the model.
    prompt: digest of the prompt; empty for none.
    parameters: everything else that decides a reply.
    answer: item -> the reply as text, or a grade. It raises EngineFailure where there is none,
        BadInput for an item that the model refuses.
    """

    model: str
    prompt: str
    parameters: Mapping[str, Any]
    answer: Callable[[ItemToGrade], str | float]


def judge_of(study: Study, options: ModelOptions) -> ModelJudge:
    """The model that options name. Raises BadUsage unless they name a server with a model, or a
    function.
    """
    sent = {"max_characters": options.max_characters}
    if options.url is None:
        name, function = split_name(options.model or "")
        if code_name(function) is None:
            raise BadUsage(
                "say --url http://HOST:PORT/v1 with --model NAME, or --model ./FILE.py:FUNCTION."
            )
        for option in ("key", "prompt"):
            if getattr(options, option) is not None:
                raise BadUsage(f"--{option} has no effect without --url; leave it out.")
        answer = partial(_answer_of_function, function, load_object(function))
        return ModelJudge(name or function, "", {"function": function, **sent}, answer)
    if not options.model:
        raise BadUsage("--url needs --model, the name of the model on that server.")
    prompt = ModelPrompt.read(study, options)
    server = _ChatServer(options, options.model, prompt)
    parameters = {**options.sent_parameters, **sent}
    return ModelJudge(options.model, prompt.digest, parameters, server.answer)


def _answer_of_function(
    name: str, function: Callable[[str, str], Any], question: ItemToGrade
) -> str | float:
    """The value of a function of two texts, the query's and the document's. Raises BadInput where
    it fails or returns neither a number nor a string.
    """
    try:
        value = function(question.query_text, question.document)
    except (Exception, SystemExit) as error:
        problem = f"{name} fails on item {shown(question.item)}: {type(error).__name__}: {error}"
        raise BadInput(f"{problem}; correct the function.") from error
    if isinstance(value, (bool, np.bool_)) or not isinstance(
        value, (int, float, str, np.integer, np.floating)
    ):
        raise BadInput(f"{name} returned {shown(value)}; expected a grade or a string.")
    return value if isinstance(value, str) else float(value)


class _ChatServer:
    """A server with chat completions, as of vLLM, llama.cpp, Ollama and many others."""

    def __init__(self, options: ModelOptions, model: str, prompt: ModelPrompt) -> None:
        refuse_literal("url", str(options.url))
        refuse_literal("--key", options.key or "", secret=True)
        self._options, self._model, self._prompt = options, model, prompt
        self._secrets, self._headers = Secrets(), dict[str, str]()
        if options.key:
            self._headers["Authorization"] = f"Bearer {self._secrets.expand(options.key)}"
        self._url = self._secrets.expand(str(options.url))
        HttpClient(self._url, options.request_timeout)  # raises BadUsage

    def answer(self, question: ItemToGrade) -> str:
        """The text of the reply. Raises EngineFailure after the last attempt, BadInput for a
        request that is refused.
        """
        parameters = self._options.sent_parameters
        content = self._prompt.filled(question.query_text, question.document)
        messages = [{"role": "user", "content": content}]
        body = {"model": self._model, "messages": messages, **parameters}
        wait, retries = 1.0, self._options.retries
        while True:
            try:
                return self._reply(body)
            except EngineFailure as failure:
                text = self._secrets.redact(str(failure))
                status = getattr(failure, "status", None)
                if status is not None and status not in _PASSING and status < 500:
                    name = next((name for name in parameters if name in text), None)
                    advice = f" --option {name}= leaves {name} out, and NAME=VALUE sends another."
                    raise BadInput(
                        f"{self._model} refuses item {shown(question.item)}: "
                        f"{sentence(text)}{advice if name else ''}"
                    ) from None
                if not retries or is_interrupted():
                    raise EngineFailure(failure.kind, text) from None
                retries -= 1
                # A server may name the seconds to wait.
                retry_after = getattr(failure, "retry_after", None) or ""
                pause = float(retry_after) if retry_after.isdecimal() else wait
                _wait(min(pause, _LONGEST_PAUSE))
                wait = min(2 * wait, _LONGEST_PAUSE)

    def _reply(self, body: Mapping[str, Any]) -> str:
        """One answer. Raises EngineFailure."""
        # Servers close connections that are idle while a model thinks: each question has its own.
        client = HttpClient(self._url, self._options.request_timeout)
        try:
            reply = client.json("POST", "/chat/completions", body, self._headers)
        except OSError as error:
            raise EngineFailure(
                "disconnected", f"{type(error).__name__}: {error.strerror or error}"
            ) from error
        finally:
            client.close()
        try:
            text = reply["choices"][0]["message"]["content"]
        except (KeyError, IndexError, TypeError) as error:
            raise EngineFailure(
                "malformed", f"the answer has no choices[0].message.content: {shown(reply, 100)}"
            ) from error
        return self._secrets.redact(str(text or ""))


def _wait(seconds: float) -> None:
    """Waits, unless the call is interrupted."""
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0 and not is_interrupted():
        time.sleep(min(left, _TICK))


def ask(
    study: Study, judge: ModelJudge, options: ModelOptions, progress: Progress = None
) -> tuple[list[str], bool]:
    """Asks for every item of the pool that decides and has no reply under these settings, and keeps
    each reply when it arrives; returns notes, and whether an item has no answer.

    Raises BadInput for a request that is refused, and KeyboardInterrupt; the replies to those
    before it, and on their way, are kept.
    """
    settings = settings_of(judge.prompt, judge.parameters)
    replied = {
        reply.pair for reply in read_replies(study, judge.model) if reply.settings == settings
    }
    rows = np.arange(len(study.pool.item))
    if study.design == "items":  # those that decide
        rows = np.flatnonzero(study.pool.sizes.max(axis=1) > 0)
    pairs = study.pairs(rows)
    missing = [pair for pair in pairs if pair not in replied]
    asked_pairs = missing[: options.max_requests]
    new, failed, in_a_row, failure, refusal = 0, 0, 0, "", None
    questions = _questions(study, asked_pairs, options.max_characters)
    with interrupts_held(
        "waiting for the replies that are on their way; a second Ctrl-C loses them"
    ):
        for answer in _answers(judge, questions, options.clients):
            reply = answer.reply
            if isinstance(reply, EngineFailure):
                failed, in_a_row, failure = failed + 1, in_a_row + 1, str(reply)
            elif isinstance(reply, Exception):
                refusal = refusal or reply
            else:
                append_reply(study, _kept(study, judge, answer, reply))
                new, in_a_row = new + 1, 0
                if progress is not None:
                    progress("ask", new, len(asked_pairs))
            if in_a_row == _MOST_FAILED or refusal is not None or is_interrupted():
                questions.close()  # no more are asked; answers on their way still arrive
    if refusal is not None:
        raise refusal
    counts = (
        f"{count_of(new, 'new reply', 'new replies')}, {len(pairs) - len(missing)} known, "
        f"{count_of(len(missing) - new, 'item')} left"
    )
    notes: list[str] = [StatusNote(counts)]
    if failed:
        lacking = count_of(failed, "item has", "items have")
        notes.append(f"{lacking} no answer ({failure}); run the same command again")
    return notes, bool(failed)


def _answers(
    judge: ModelJudge, questions: Iterator[ItemToGrade], clients: int
) -> Iterator[ModelAnswer]:
    """The answers as they arrive, of at most so many questions at once."""
    if clients == 1:
        yield from (_answer(judge, question) for question in questions)
        return
    waiting, arrived = SimpleQueue[ItemToGrade | None](), SimpleQueue[ModelAnswer]()

    def _work() -> None:
        while (question := waiting.get()) is not None:
            arrived.put(_answer(judge, question))

    n_sent, workers = 0, list[Thread]()
    try:
        for question in islice(questions, clients):
            # A second Ctrl-C does not wait for answers.
            workers.append(Thread(target=_work, daemon=True))
            workers[-1].start()
            waiting.put(question)
            n_sent += 1
        while n_sent:
            yield arrived.get()
            n_sent -= 1
            for question in islice(questions, 1):
                waiting.put(question)
                n_sent += 1
    finally:
        for _ in workers:
            waiting.put(None)
        for worker in workers if not n_sent else ():
            # A thread that is left when Python ends keeps what its extensions then report as leaks.
            worker.join()


def _answer(judge: ModelJudge, question: ItemToGrade) -> ModelAnswer:
    started = time.monotonic()
    reply: str | float | Exception
    try:
        reply = judge.answer(question)
    except Exception as error:
        reply = error
    return ModelAnswer(question, reply, time.monotonic() - started)


def _kept(study: Study, judge: ModelJudge, answer: ModelAnswer, reply: str | float) -> ModelReply:
    grade = grade_of(str(reply), study.grades)
    return ModelReply(
        time=now(),
        model=judge.model,
        prompt=judge.prompt,
        parameters=judge.parameters,
        query=answer.question.query,
        item=answer.question.item,
        status="invalid" if grade is None else "grade",
        grade=grade,
        flagged=orders_a_grade(answer.question.document),
        seconds=round(answer.seconds, 3),
        text=reply if isinstance(reply, str) else f"{reply:g}",
    )


def _questions(
    study: Study, pairs: list[Pair], max_characters: int, piece: int = 200
) -> Generator[ItemToGrade]:
    """The questions with their texts, read in pieces; an item without a text is asked by its id."""
    for start in range(0, len(pairs), piece):
        part = pairs[start : start + piece]
        queries = study.query_texts(query for query, _ in part)
        documents = study.texts_of(item for _, item in part)
        for query, item in part:
            row = documents.get(item, {})
            document, title = row.get("text"), row.get("title")
            text = item if document is None else f"{title}\n{document}" if title else str(document)
            yield ItemToGrade(
                query, item, str(queries.get(query, {}).get("text") or query), text[:max_characters]
            )


def grade_of(reply: str, scale: Mapping[float, str]) -> float | None:
    """The grade that a reply names; None unless there is exactly one, on the scale.

    It is the number after the word grade and a colon, or the whole reply. What a model thinks
    first, between <think> and </think>, is left out.
    """
    text = _THOUGHT.sub("", reply)
    bare = _BARE.fullmatch(text)
    grades = [bare[1]] if bare else _GRADE.findall(text)
    if len(grades) != 1:
        return None
    grade = float(grades[0])
    return grade if grade in scale else None


def orders_a_grade(text: str) -> bool:
    """Whether a text looks as if it ordered a grade or other instructions; such texts are flagged,
    which does not protect.
    """
    return _ORDERS.search(text) is not None
