"""Every error that rankwell raises on purpose. Each carries the exit code that the command line
returns for it.
"""

import os
from collections.abc import Container, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from numbers import Integral, Real


def shown(value: object, size: int = 40) -> str:
    """The beginning of a value as Python writes it, for messages; the kind of one that Python
    cannot write out.
    """
    try:
        text = repr(value)
    except (RecursionError, ValueError):
        return f"<{type(value).__name__} too long or too deep to show>"
    return text if len(text) <= size else f"{text[:size]}…"


_KINDS: tuple[tuple[type | tuple[type, ...], str], ...] = (
    (type(None), "nothing"),
    (bool, "a boolean"),
    (str, "a string"),
    (bytes, "bytes"),
    (Integral, "an integer"),
    (Real, "a number"),
    (Mapping, "a mapping"),
    (list, "a list"),
    (tuple, "a tuple"),
    ((set, frozenset), "a set"),
)


def kind_of(value: object) -> str:
    """The kind of a value with its article, in plain words where there are any; otherwise the name
    of its class.
    """
    name = type(value).__name__
    article = "an" if name[:1].lower() in "aeiou" or name == "ndarray" else "a"
    return next((words for kind, words in _KINDS if isinstance(value, kind)), f"{article} {name}")


def first_of(texts: Iterable[str], most: int = 5) -> str:
    """The first texts, and how many more there are: `a, b and 3 more`."""
    text_list = list(texts)
    more = f" and {len(text_list) - most} more" if len(text_list) > most else ""
    return ", ".join(text_list[:most]) + more


def count_of(n: int, one: str, several: str = "") -> str:
    """A count with its words: `one` for 1, else `several`, by default the same with an s.

    >>> count_of(1, "item"), count_of(2, "item"), count_of(0, "item has", "items have")
    ('1 item', '2 items', '0 items have')
    """
    return f"{n} {one if n == 1 else several or one + 's'}"


def sentence(text: str) -> str:
    """The message of another program with a full stop, where it has no end of its own.

    >>> sentence("ValueError: boom"), sentence("Is it up?")
    ('ValueError: boom.', 'Is it up?')
    """
    return text if text.rstrip().endswith((".", "!", "?", "…")) else f"{text.rstrip()}."


_TYPED = "RANKWELL_TYPED"


@contextmanager
def at_the_command_line() -> Generator[None]:
    """A block in which messages name options as they are typed, those of processes that it starts,
    too.
    """
    before = os.environ.get(_TYPED)
    os.environ.setdefault(_TYPED, "1")
    try:
        yield
    finally:
        del os.environ[_TYPED]
        os.environ.update({} if before is None else {_TYPED: before})


def typed_variables() -> dict[str, str]:
    """The environment of processes that are to name options as this one does."""
    return {_TYPED: os.environ.get(_TYPED, "")}


def flag(option: str, value: object = "", *, name: str = "") -> str:
    """An option in a message, as its user writes it: `--unjudged skip` on the command line,
    `unjudged='skip'` in Python.

    option: the flag, or the argument `no_relevant` of `--no-relevant`. value: True for a switch,
    `--overwrite` and `pass overwrite=True`. name: that of the argument, where it is not the flag's.
    """
    if os.environ.get(_TYPED):
        option = option if option.startswith("-") else f"--{option.replace('_', '-')}"
        shown_value = repr(value).removesuffix(".0") if isinstance(value, float) else value
        return option if value == "" or value is True else f"{option} {typed(shown_value)}"
    argument = name or option.lstrip("-").replace("-", "_")
    if value is True:
        return f"pass {argument}=True"
    return argument if value == "" else f"{argument}={value!r}"


def typed(*words: object) -> str:
    """Words of a command line in a message, each as a shell takes it.

    >>> typed("rankwell", "report", "my results")
    "rankwell report 'my results'"
    """
    import shlex

    return shlex.join(map(str, words))


def printable(text: str, exempt: frozenset[str] = frozenset()) -> str:
    """Text on one line: control characters, direction marks and bytes that are not UTF-8 as
    escapes, except for those kept.
    """
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() or character in exempt else ascii(character)[1:-1]
        for character in text
    )


# A port, digits up to the path, is not a password; a password may have any character, so that the
# last @ ends it.
_USER = r"(?i)(?P<scheme>[a-z][a-z0-9+.-]{0,30}:/{1,2})(?P<user>[^:?#\s]*):(?!\d+(?:[?#]|/[^?#@]*(?:[?#]|$)))"  # noqa: E501
CREDENTIALS = rf"{_USER}(?P<password>(?s:.*))@"
"""The beginning of an address with a user and a password."""
_SHOWN_CREDENTIALS = rf"{_USER}(?!\$\{{\w+\}}@)(?:\S*@|\S*…)"
USER_ALONE = r"(?i)(?P<scheme>https?://)(?!\$\{\w+\}@)[^/:?#@\s]+@"
"""The beginning of an address of the web with a user alone, which may be a token; elsewhere it is
the user of a database.
"""
HIDDEN_PARAMETER = (
    r"(?i)(?P<name>[?&][^=&?\s]*(?:authori[sz]ation|pass(?:word|wd)?|pwd|secret|token(?!i[sz])|key|cookie|sig|signature|credential)=)"
    r"(?!\$\{\w+\})(?P<value>[^&\s]+)"
)
"""A parameter of an address that is a secret by its name, and written out."""


def without_credentials(text: str) -> str:
    """A text without users, passwords and tokens in its addresses, also where one was cut at a mark
    of omission.
    """
    if ":/" in text:
        import re  # Patterns take a millisecond, which only some messages are worth.

        text = re.sub(
            _SHOWN_CREDENTIALS,
            lambda match: f"{match['scheme']}…{'@' * match[0].endswith('@')}",
            text,
        )
        text = re.sub(USER_ALONE, r"\g<scheme>…@", text)
        text = re.sub(HIDDEN_PARAMETER, r"\g<name>…", text)
    return text


class RankwellError(Exception):
    """An error with a message for the user, which contains no credentials; `exit_code` is what the
    command line returns for it.
    """

    exit_code = 2

    def __init__(self, *parts: object) -> None:
        super().__init__(
            *(without_credentials(part) if isinstance(part, str) else part for part in parts)
        )


class BadInput(RankwellError):
    """A file, table or array that cannot be read in the form it should have."""


def missing_column(
    wanted: str | Mapping[str, Sequence[str]],
    names: Iterable[str],
    option: str = "",
    place: str = "",
) -> BadInput:
    """The error for a table without a column.

    wanted: the chosen name, or what columns hold with the names that they go by. names: of the
    columns that are there. option: would choose a column. place: the table, or the option that
    chose; `naming` adds it otherwise.

    >>> missing_column({"id": ["id", "qid"]}, ["a", "b"], "--columns").args[0]
    "no column for the id (id, qid); found are 'a', 'b'; rename one, or name it by --columns."
    """
    missing, advice = repr(wanted), ""
    if not isinstance(wanted, str):
        roles = [f"the {holds} ({', '.join(words)})" for holds, words in wanted.items()]
        missing = f"for {' and '.join(roles)}"
        advice = f"; rename one{option and f', or name it by {option}'}"
    return BadInput(
        f"{place}{place and ': '}no column {missing}; found are "
        f"{', '.join(map(repr, names)) or 'none'}{advice}."
    )


class BadLine(BadInput):
    """A line of a text file that does not have the form of its format; the message names file, line
    and text.
    """


class BadScore(BadInput):
    """A score that is not a finite number."""


class DuplicateItem(BadInput):
    """An item that appears twice where it may appear once; the message names the query, the item
    and both places.
    """


class TieRefused(BadInput):
    """Items with equal scores where the tie rule `error` forbids them."""


class RankwellWarning(UserWarning):
    """A warning that the command line shows as one sentence."""


class BadUsage(RankwellError):
    """Options or arguments that cannot be understood or do not go together."""


class CodeRefused(BadUsage):
    """Code that something names which may not: a plan in a work folder."""


class UnknownName(BadUsage):
    """A measure, format, convention or option value that does not exist; the message offers the
    nearest names.
    """


class MissingExtra(RankwellError):
    """An optional package that a command needs is not installed; the message says how to install
    it.
    """


@contextmanager
def needing(problem: str) -> Generator[None]:
    """A block that imports an optional package. Raises MissingExtra with the problem where it is
    not installed.
    """
    try:
        yield
    except ImportError as error:
        raise MissingExtra(problem) from error


class NothingToEvaluate(RankwellError):
    """Valid input without anything to evaluate, such as a run and judgments that share no query."""

    exit_code = 4


class Unfinished(RankwellError):
    """Work with parts still missing; the message lists them. The same call resumes it."""

    exit_code = 5


class GateFailed(RankwellError):
    """A requirement that the user stated does not hold."""

    exit_code = 1


KEEP_ONE = "keep one of them"
"""The advice on an item that is there twice."""
_OFFERED: ContextVar[Container[str] | None] = ContextVar("offered", default=None)


@contextmanager
def offering(options: Container[str] | None) -> Generator[None]:
    """A block whose messages name no options but these, None for any; inside another such block it
    changes nothing: a command may call functions of Python, which have options of their own.
    """
    token = _OFFERED.set(options if _OFFERED.get() is None else _OFFERED.get())
    try:
        yield
    finally:
        _OFFERED.reset(token)


def is_offered(option: str) -> bool:
    """Whether messages may name an option, by the name of its argument."""
    options = _OFFERED.get()
    return options is None or option in options


@contextmanager
def naming(name: str) -> Generator[None]:
    """Adds the name of a file or option to an error about its content that lacks it; an empty name
    adds nothing.
    """
    try:
        yield
    except BadInput as error:
        import re

        if not name or re.search(rf"(?<!\w){re.escape(name.rstrip('/'))}(?!\w)", str(error)):
            raise
        raise type(error)(f"{name}: {error}") from error
