"""Asking a model for grades: over HTTP (chat completions) or a function; faults that pass are
retried with back-off.
"""

import time
from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from queue import SimpleQueue
from threading import Thread
from typing import Any, NamedTuple, Protocol

import numpy as np

from rankwell.data.code import load_object
from rankwell.data.secrets import Secrets, refuse_literal
from rankwell.engines import EngineFailure
from rankwell.engines.http_client import HttpClient, HttpFailure
from rankwell.errors import BadInput, BadUsage, sentence, shown
from rankwell.processes import interrupts_held, is_interrupted
from rankwell.reporting.options import Progress
from rankwell.tasks.study.folder import Pair, Study
from rankwell.tasks.study.journal import now
from rankwell.tasks.study.model_prompts import ModelPrompt, grade_of, orders_a_grade
from rankwell.tasks.study.model_replies import ModelReply, append_reply, read_replies, settings_of
from rankwell.tasks.study.options import ModelOptions

_PASSING = (408, 425, 429)
_LONGEST_PAUSE = 120.0
_TICK = 0.25
_MOST_FAILED = 3
"""So many items in a row without an answer end the run."""


class ItemToGrade(NamedTuple):
    """An item to grade, with the texts that are sent. flagged: whether one of them looks as if it
    ordered a grade.
    """

    query: str
    item: str
    query_text: str
    document: str

    @property
    def flagged(self) -> bool:
        """Whether the document looks as if it ordered a grade."""
        return orders_a_grade(self.document)


class ModelAnswer(NamedTuple):
    """An answer of a model: a reply as text, a grade, or the error in place of both; and the
    seconds that it took.
    """

    question: ItemToGrade
    found: str | float | Exception
    seconds: float


class AskingOutcome(NamedTuple):
    """The outcome of a run: new replies, replies that were there, items without an answer, items
    left; the last failure.
    """

    new: int
    known: int
    failed: int
    left: int
    failure: str


class ModelJudge(Protocol):
    """A model that answers questions."""

    @property
    def model(self) -> str:
        """The name of the model."""
        ...

    @property
    def prompt(self) -> str:
        """The digest of the prompt."""
        ...

    @property
    def parameters(self) -> Mapping[str, Any]:
        """All that decides a reply besides the prompt."""
        ...

    def answer(self, question: ItemToGrade) -> str | float:
        """The reply as text, or a grade. Raises EngineFailure where there is no answer."""
        ...


def _wait(seconds: float) -> None:
    """Waits, unless the call is interrupted."""
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0 and not is_interrupted():
        time.sleep(min(left, _TICK))


@dataclass(frozen=True, eq=False)
class HttpJudge:
    """A server with chat completions, as of vLLM, llama.cpp, Ollama and many others. pause: waits
    for some seconds.
    """

    study: Study
    options: ModelOptions
    template: ModelPrompt
    secrets: Secrets = field(default_factory=Secrets)
    pause: Callable[[float], None] = _wait

    def __post_init__(self) -> None:
        refuse_literal("url", str(self.options.url))
        refuse_literal("--key", self.options.key or "", secret=True)
        self.authorization  # noqa: B018 - raises BadUsage
        self.client  # noqa: B018 - raises BadUsage

    @property
    def model(self) -> str:
        """The name of the model."""
        return str(self.options.model)

    @property
    def prompt(self) -> str:
        """The digest of the prompt."""
        return self.template.digest(self.study)

    @property
    def parameters(self) -> dict[str, Any]:
        """All that decides a reply besides the prompt."""
        return {**self.options.sent_parameters, "longest": self.options.longest}

    @property
    def authorization(self) -> dict[str, str]:
        """The header with the key."""
        return (
            {"Authorization": f"Bearer {self.secrets.expand(self.options.key)}"}
            if self.options.key
            else {}
        )

    @property
    def client(self) -> HttpClient:
        """A connection for one question; servers close those that are idle while a model thinks."""
        return HttpClient(self.secrets.expand(str(self.options.url)), self.options.timeout)

    def answer(self, question: ItemToGrade) -> str:
        """The text of the reply. Raises EngineFailure after the last attempt, BadInput for a
        request that is refused.
        """
        content = self.template.filled(
            self.study, self.model, question.query_text, question.document
        )
        body = {
            "model": self.model,
            "messages": [{"role": "user", "content": content}],
            **self.options.sent_parameters,
        }
        wait = 1.0
        for attempt in range(1, self.options.attempts + 1):
            try:
                return self._reply(body)
            except EngineFailure as failure:
                text = self.secrets.redact(str(failure))
                status = getattr(failure, "status", None)
                if status is not None and status not in _PASSING and status < 500:
                    parameter = next(
                        (name for name in self.options.sent_parameters if name in text), None
                    )
                    advice = (
                        f" --parameter {parameter}= leaves {parameter} out, and NAME=VALUE sends "
                        "another."
                        if parameter
                        else ""
                    )
                    raise BadInput(
                        f"{self.model} refuses item {shown(question.item)}: "
                        f"{sentence(text)}{advice}"
                    ) from None
                if attempt == self.options.attempts or is_interrupted():
                    raise EngineFailure(failure.kind, text) from None
                self.pause(_pause(failure, wait))
                wait = min(2 * wait, _LONGEST_PAUSE)
        raise AssertionError(wait)

    def _reply(self, body: Mapping[str, Any]) -> str:
        """One answer. Raises EngineFailure."""
        client = self.client
        try:
            reply = client.json("POST", "/chat/completions", body, self.authorization)
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
        return self.secrets.redact(str(text or ""))


def _pause(failure: EngineFailure, wait: float) -> float:
    """Seconds to wait: those that the server names, else a doubled wait."""
    retry_after = failure.retry_after if isinstance(failure, HttpFailure) else None
    return (
        min(float(retry_after), _LONGEST_PAUSE)
        if retry_after is not None and retry_after.isdecimal()
        else wait
    )


@dataclass(frozen=True, eq=False)
class FunctionJudge:
    """A function of two texts, the query's and the document's, that returns a grade or a reply."""

    options: ModelOptions
    function: Callable[[str, str], Any]

    @property
    def model(self) -> str:
        """The name of the model."""
        return str(self.options.model or self.options.callable)

    @property
    def prompt(self) -> str:
        """None is sent."""
        return ""

    @property
    def parameters(self) -> dict[str, Any]:
        """All that decides a reply."""
        return {"callable": self.options.callable, "longest": self.options.longest}

    def answer(self, question: ItemToGrade) -> str | float:
        """The value of the function. Raises BadInput where it fails or returns neither a number nor
        a string.
        """
        try:
            value = self.function(question.query_text, question.document)
        except (Exception, SystemExit) as error:
            problem = (
                f"{self.options.callable} fails on item {shown(question.item)}: "
                f"{type(error).__name__}: {error}"
            )
            raise BadInput(f"{problem}; correct the function.") from error
        if isinstance(value, (bool, np.bool_)) or not isinstance(
            value, (int, float, str, np.integer, np.floating)
        ):
            raise BadInput(
                f"{self.options.callable} returned {shown(value)}; expected a grade or a string."
            )
        return value if isinstance(value, str) else float(value)


def judge_of(study: Study, options: ModelOptions) -> ModelJudge:
    """The model that options name. Raises BadUsage unless they name a server with a model, or a
    function.
    """
    if (options.url is None) == (options.callable is None):
        raise BadUsage(
            "say --url http://HOST:PORT/v1 with --model, or --callable ./FILE.py:FUNCTION."
        )
    if options.callable is not None:
        unused = next(
            (name for name in ("key", "prompt") if getattr(options, name) is not None), None
        )
        if unused is not None:
            raise BadUsage(f"--{unused} has no effect with --callable; leave it out.")
        return FunctionJudge(options, load_object(options.callable))
    if not options.model:
        raise BadUsage("--url needs --model, the name of the model on that server.")
    return HttpJudge(study, options, ModelPrompt.read(options.prompt))


def ask(
    study: Study,
    judge: ModelJudge,
    *,
    at_most: int | None,
    longest: int,
    jobs: int = 1,
    progress: Progress = None,
) -> AskingOutcome:
    """Asks for every item of the pool that has no reply under these settings, and keeps each reply
    when it arrives.

    Raises BadInput for a request that is refused, and KeyboardInterrupt; the replies to those
    before it, and on their way, are kept.
    """
    settings = settings_of(judge.prompt, judge.parameters)
    replied = {
        reply.pair for reply in read_replies(study, judge.model) if reply.settings == settings
    }
    pairs = _pairs(study)
    missing = [pair for pair in pairs if pair not in replied]
    asked_pairs = missing if at_most is None else missing[:at_most]
    new, failed, in_a_row, failure, refusal = 0, 0, 0, "", None
    questions = _questions(study, asked_pairs, longest)
    with interrupts_held(
        "waiting for the replies that are on their way; a second Ctrl-C loses them"
    ):
        for answer in _answers(judge, questions, jobs):
            reply = answer.found
            if isinstance(reply, EngineFailure):
                failed, in_a_row, failure = failed + 1, in_a_row + 1, str(reply)
            elif isinstance(reply, Exception):
                refusal = refusal or reply
            else:
                append_reply(study, _kept(study, judge, answer.question, reply, answer.seconds))
                new, in_a_row = new + 1, 0
                if progress is not None:
                    progress("ask", new, len(asked_pairs))
            if in_a_row == _MOST_FAILED or refusal is not None or is_interrupted():
                questions.close()  # no more are asked; answers on their way still arrive
    if refusal is not None:
        raise refusal
    return AskingOutcome(new, len(pairs) - len(missing), failed, len(missing) - new, failure)


def _answers(
    judge: ModelJudge, questions: Iterator[ItemToGrade], jobs: int
) -> Iterator[ModelAnswer]:
    """The answers as they arrive, of at most so many questions at once."""
    if jobs == 1:
        yield from (_answer(judge, question) for question in questions)
        return
    waiting, arrived = SimpleQueue[ItemToGrade | None](), SimpleQueue[ModelAnswer]()

    def _work() -> None:
        while (question := waiting.get()) is not None:
            arrived.put(_answer(judge, question))

    n_sent, workers = 0, list[Thread]()
    try:
        for question in islice(questions, jobs):
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


def _kept(
    study: Study, judge: ModelJudge, question: ItemToGrade, reply: str | float, seconds: float
) -> ModelReply:
    is_text = isinstance(reply, str)
    grade = grade_of(reply, study.grades) if is_text else reply if reply in study.grades else None
    return ModelReply(
        time=now(),
        model=judge.model,
        prompt=judge.prompt,
        parameters=judge.parameters,
        query=question.query,
        item=question.item,
        status="invalid" if grade is None else "grade",
        grade=grade,
        flagged=question.flagged,
        seconds=round(seconds, 3),
        text=reply if is_text else f"{reply:g}",
    )


def _pairs(study: Study) -> list[Pair]:
    """The items to ask for: of sampled items those that decide, else all; in the order of the
    pool.
    """
    sizes = study.pool.sizes
    is_asked = sizes.max(axis=1) > 0 if study.design == "items" else np.ones(len(sizes), np.bool_)
    return study.pairs(np.flatnonzero(is_asked))


def _questions(
    study: Study, pairs: list[Pair], longest: int, piece: int = 200
) -> Generator[ItemToGrade]:
    """The questions with their texts, read in pieces; an item without a text is asked by its id."""
    for start in range(0, len(pairs), piece):
        part = pairs[start : start + piece]
        queries = study.query_texts(query for query, _ in part)
        documents = study.texts_of(item for _, item in part)
        for query, item in part:
            document = documents.get(item, {}).get("text")
            title = documents.get(item, {}).get("title")
            text = item if document is None else f"{title}\n{document}" if title else str(document)
            yield ItemToGrade(
                query, item, str(queries.get(query, {}).get("text") or query), text[:longest]
            )
