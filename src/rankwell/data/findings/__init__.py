"""Findings: what there is to say about data, or about how to read a number. Each kind is a function
that words it, declared once, here or in the `findings.py` of the task that alone has it.
"""

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from inspect import getdoc
from typing import Any, Generic, Literal, NamedTuple, ParamSpec, get_args

from rankwell.data.catalogue import Catalogue, suggest
from rankwell.errors import BadInput, BadUsage, UnknownName, flag, is_offered, typed

Level = Literal["error", "warning", "info"]
LEVELS: tuple[Level, ...] = get_args(Level)
"""The levels, the most serious first: an `error` makes a number wrong, a `warning` changes how to
read one, an `info` is worth knowing.
"""
_SUBJECT = ("run", "file", "line", "queries", "figures")
_Words = ParamSpec("_Words")
_IGNORED: ContextVar[frozenset[str]] = ContextVar("_IGNORED", default=frozenset())
_COMMAND: ContextVar[str] = ContextVar("_COMMAND", default="")


class Finding(str):
    """A finding on some data; as a string it is its sentence.

    name: name of its kind, which `explain` and `--ignore` take.
    level: `error`, `warning` or `info`.
    subject: the run, file and line, and the queries that it is about with their figures, as far as
        they are known.
    """

    name: str
    level: Level
    subject: Mapping[str, Any]

    def __new__(cls, sentence: str, name: str, level: Level, **subject: Any) -> "Finding":
        """The finding, whose parts are its sentence and its fields."""
        finding = super().__new__(cls, sentence)
        finding.name, finding.level, finding.subject = name, level, subject
        return finding

    def __reduce__(self) -> tuple[Any, ...]:
        return Finding.of, (self.as_dict(),)

    @classmethod
    def of(cls, facts: Mapping[str, Any]) -> "Finding":
        """The finding of these facts, which `as_dict` has given."""
        return cls(**{"sentence" if key == "message" else key: facts[key] for key in facts})

    @property
    def queries(self) -> Sequence[str]:
        """The queries that it is about."""
        return self.subject.get("queries", ())

    @property
    def figures(self) -> Sequence[float]:
        """A figure of each of these queries, the worst first, where it is about figures."""
        return self.subject.get("figures", ())

    def as_dict(self) -> dict[str, Any]:
        """The facts for JSON: name, level and message, then what it is about."""
        return {"name": self.name, "level": self.level, "message": str(self), **self.subject}

    def under(self, place: str) -> "Finding":
        """The same finding with the name of a place in front, which may have that of its run."""
        run = self.subject.get("run")
        sentence = self.removeprefix(f"{run}: ") if run and run in place else self
        return Finding(f"{place}: {sentence}", self.name, self.level, **self.subject)


class FindingKind(NamedTuple, Generic[_Words]):
    """A kind of finding, which a call turns into a finding.

    name: name of its function, with hyphens.
    level: level of all its findings.
    resolves: option with its value that resolves it, or `rankwell` with a command; "" for none.
    function: returns the sentence. Those of its parameters that are called run, file, line,
        queries and figures are what the finding is about; its docstring is the explanation.
    """

    name: str
    level: Level
    resolves: str
    function: Callable[_Words, str]

    def __call__(self, *words: _Words.args, **named: _Words.kwargs) -> Finding:
        """The finding; a run or a file goes before the sentence, what resolves it behind it."""
        arguments: dict[str, Any] = dict(
            zip(self.function.__code__.co_varnames, words, strict=False)
        )
        arguments |= named
        subject = {key: arguments[key] for key in _SUBJECT if arguments.get(key)}
        place = subject.get("run") or ":".join(
            str(subject[key]) for key in ("file", "line") if key in subject
        )
        sentence = f"{place}: " * bool(place) + self.function(*words, **named)
        return Finding(
            f"{sentence}; {advice}" if (advice := self.advice) else sentence,
            self.name,
            self.level,
            **{
                key: list(value) if key in ("queries", "figures") else value
                for key, value in subject.items()
            },
        )

    @property
    def advice(self) -> str:
        """What resolves it, as the user writes it; "" for an option that the command lacks."""
        if not self.resolves or self.resolves.startswith("rankwell"):
            return self.resolves and f"try `{self.resolves}`"
        option, _, value = self.resolves.partition(" ")
        if is_offered(option.lstrip("-").replace("-", "_")):
            return f"try {flag(option, value)}"
        command = _COMMAND.get()
        return command and f"try {flag(option, value)} in `{command}`"

    @property
    def paragraphs(self) -> list[str]:
        """The explanation, paragraph by paragraph."""
        return (getdoc(self.function) or "").split("\n\n")


FINDINGS: Catalogue[FindingKind[...]] = Catalogue("data.findings", "finding")


def examples(queries: Sequence[str]) -> str:
    """The first of some queries, which a sentence names in brackets."""
    return f"{queries[0]!r}{', …' * (len(queries) > 1)}"


def finding(
    level: Level, resolves: str = ""
) -> Callable[[Callable[_Words, str]], FindingKind[_Words]]:
    """Registers a function that words a finding as a kind of findings, under its name."""

    def _kind(function: Callable[_Words, str]) -> FindingKind[_Words]:
        name = function.__name__.replace("_", "-")
        kind = FindingKind(name, level, resolves, function)
        FINDINGS.add(name, kind)
        return kind

    return _kind


@contextmanager
def advising(command: str) -> Generator[None]:
    """A block whose findings name the options of another command, which its own lacks."""
    token = _COMMAND.set(command)
    try:
        yield
    finally:
        _COMMAND.reset(token)


@contextmanager
def ignoring(names: Iterable[str]) -> Generator[None]:
    """A block without the findings of these names. Raises UnknownName for another name, BadUsage
    for that of an error.
    """
    ignored = frozenset(names)
    for name in ignored:
        if name not in FINDINGS:
            advice = suggest(name, FINDINGS, "docs/reference/findings.md lists them all.")
            raise UnknownName(f"there is no finding {name!r}; {advice}")
        if FINDINGS[name].level == "error":
            raise BadUsage(
                f"{name} is an error: a number would be wrong. Correct the data; warnings and "
                "information alone can be ignored."
            )
    token = _IGNORED.set(ignored)
    try:
        yield
    finally:
        _IGNORED.reset(token)


def unignored(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """The findings that are not ignored, each once, in order."""
    ignored = _IGNORED.get()
    return tuple(finding for finding in dict.fromkeys(findings) if finding.name not in ignored)


def settled(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """The findings on numbers that may be shown, as `unignored`. Raises BadInput with the errors
    among them.
    """
    remaining = unignored(findings)
    if errors := errors_among(remaining):
        raise BadInput(refusal_for(errors))
    return remaining


def errors_among(findings: Iterable[Finding]) -> list[Finding]:
    """Those of level error."""
    return [finding for finding in findings if finding.level == "error"]


def refusal_for(errors: Sequence[Finding]) -> str:
    """The message of a command that errors stop, with the command that explains the first."""
    return f"{' '.join(errors)} (`{typed('rankwell', 'explain', errors[0].name)}`)"


def first_of_each_kind(findings: Iterable[Finding]) -> list[Finding]:
    """The first finding of each kind, the most serious kinds first."""
    by_name: dict[str, Finding] = {}
    for finding in by_level(findings):
        by_name.setdefault(finding.name, finding)
    return list(by_name.values())


def by_level(findings: Iterable[Finding]) -> list[Finding]:
    """The findings, the most serious first."""
    return sorted(findings, key=lambda finding: LEVELS.index(finding.level))
