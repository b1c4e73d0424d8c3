"""The options of a command: read from the function that it is, and bound to the words of a command line."""

from argparse import SUPPRESS, Action, ArgumentError, ArgumentParser, ArgumentTypeError, HelpFormatter, Namespace
from collections.abc import Callable, Sequence
from inspect import Parameter, cleandoc, signature
from types import NoneType
from typing import Any, Literal, NamedTuple, get_args, get_origin, get_type_hints

from rankwell.core.catalogue import suggest
from rankwell.errors import BadUsage

REQUIRED = Parameter.empty


class Option(NamedTuple):
    """A mark in `Annotated`: how an option is written, where its parameter's name and type do not say.

    names: with their hyphens; by default the parameter's own, `--k-values` for k_values, `-k` for k. many: a list takes all the
    words up to the next option, and not one each time it is given.
    """

    names: tuple[str, ...] = ()
    many: bool = False


class Passed(NamedTuple):
    """A mark in `Annotated`: the program passes this parameter, not the command line."""


class Argument(NamedTuple):
    """One parameter of a command. flags: as written, none for what stands by itself. kind: what each of its words becomes.

    choices: all that it may say; empty where it may say anything. form: `one` word; a `switch`; a `pair` of switches, the second
    with `no-`; a list of words, one `each` time it is given, `many` at a time, or all the `rest`. default: REQUIRED where it must
    be given. marks: what its type is annotated with.
    """

    name: str
    flags: tuple[str, ...]
    kind: type
    choices: tuple[str, ...]
    form: Literal["one", "switch", "pair", "each", "many", "rest"]
    default: Any
    marks: tuple[Any, ...]

    @property
    def denial(self) -> str:
        """The second of a pair of switches, which says no."""
        return self.flags[0].replace("--", "--no-", 1)

    @property
    def words(self) -> tuple[str, ...]:
        """All that a command line may call it: its flags, and the denial of a pair."""
        return (*self.flags, self.denial) if self.form == "pair" else self.flags


def arguments_of(function: Callable[..., Any]) -> list[Argument]:
    """What a command line can say to a function, in its order."""
    hints = get_type_hints(function, include_extras=True)
    named = [(each, hints[each.name]) for each in signature(function).parameters.values()]
    return [_argument(each, hint) for each, hint in named if Passed() not in getattr(hint, "__metadata__", ())]


def _argument(parameter: Parameter, hint: Any) -> Argument:
    marks: tuple[Any, ...] = getattr(hint, "__metadata__", ())
    option = next((mark for mark in marks if isinstance(mark, Option)), Option())
    hint = hint.__origin__ if marks else hint
    kind = next(each for each in get_args(hint) if each is not NoneType) if NoneType in get_args(hint) else hint
    bare = parameter.kind in (Parameter.POSITIONAL_ONLY, Parameter.VAR_POSITIONAL)
    form = "one"
    if parameter.kind is Parameter.VAR_POSITIONAL:
        form = "rest"
    elif kind is bool:
        form = "switch" if parameter.default is False else "pair"
    elif get_origin(kind) is list:
        form, kind = "many" if option.many else "each", get_args(kind)[0]
    choices = get_args(kind) if get_origin(kind) is Literal else ()
    word = parameter.name.replace("_", "-")
    flags = () if bare else option.names or (f"--{word}" if len(word) > 1 else f"-{word}",)
    return Argument(parameter.name, flags, str if choices else kind, choices, form, parameter.default, marks)


def texts_of(function: Callable[..., Any]) -> tuple[str, dict[str, str]]:
    """What the docstring of a command says of it, and of each parameter by its name."""
    about, _, section = cleandoc(function.__doc__ or "").partition("\n\nParameters\n----------\n")
    texts: dict[str, list[str]] = {}
    for line in section.splitlines():
        if line and not line.startswith(" "):
            texts[line] = []
        elif line:
            texts[[*texts][-1]].append(line.strip())
    return about, {name: " ".join(lines) for name, lines in texts.items()}


def bind(function: Callable[..., Any], words: Sequence[str]) -> tuple[list[Any], dict[str, Any]]:
    """The arguments, by position and by name, with which the words of a command line call a function.

    Words that stand by themselves may stand between options; after `--` all do. Raises BadUsage for an option that there is not,
    that is given twice, that lacks its value or has one it may not have, for words too many, and for what is missing.
    """
    known = arguments_of(function)
    parser = ArgumentParser(
        add_help=False, allow_abbrev=False, exit_on_error=False, argument_default=SUPPRESS, formatter_class=_formatter
    )
    for argument in known:
        if argument.flags:
            _declare(parser, argument)
    end = words.index("--") if "--" in words else len(words)
    try:
        found, bare = parser.parse_known_args(words[:end])
    except ArgumentError as error:
        raise BadUsage(_told(error)) from error
    given = vars(found)
    unknown = next((word for word in bare if word.startswith("-") and word != "-"), None)
    if unknown is not None:
        raise BadUsage(_no_such(unknown, known))
    bare += words[end + 1 :]
    places = [argument for argument in known if not argument.flags]
    needed = [each for each in known if each.default is REQUIRED and each.form != "rest"]
    missing = [each for each in needed if (each.name not in given if each.flags else places.index(each) >= len(bare))]
    if missing:
        names = [each.flags[0] if each.flags else each.name.upper() for each in missing]
        raise BadUsage(f"{' and '.join(names)} {'is' if len(names) == 1 else 'are'} missing.")
    return _placed(bare, places), given


def _declare(parser: ArgumentParser, argument: Argument) -> None:
    if argument.form in ("switch", "pair"):
        parser.add_argument(*argument.flags, dest=argument.name, action=_Once, nargs=0, const=True)
        if argument.form == "pair":
            parser.add_argument(argument.denial, dest=argument.name, action=_Once, nargs=0, const=False)
        return
    several: dict[str, Any] = {"each": {"action": "append"}, "many": {"action": "extend", "nargs": "+"}}
    how = several.get(argument.form, {"action": _Once})
    parser.add_argument(*argument.flags, dest=argument.name, type=_reader(argument), **how)


def _placed(words: Sequence[str], known: Sequence[Argument]) -> list[Any]:
    """The words that stand by themselves, each read as what stands at its place."""
    last = known[-1] if known and known[-1].form == "rest" else None
    owners = [each for each in known if each is not last] + ([last] * len(words) if last else [])
    if len(words) > len(owners):
        raise BadUsage(f"{' '.join(map(repr, words[len(owners) :]))}: more than this command takes.")
    try:
        return [_reader(owner)(word) for word, owner in zip(words, owners, strict=False)]
    except ArgumentTypeError as error:
        raise BadUsage(str(error)) from error


def _reader(argument: Argument) -> Callable[[str], Any]:
    wanted = {int: "a whole number", float: "a number"}.get(argument.kind, "a text")

    def _read(text: str) -> Any:
        if argument.choices and text not in argument.choices:
            near = suggest(text, argument.choices)
            known = near if near.startswith("known") else f"known are {', '.join(argument.choices)}; {near}"
            raise ArgumentTypeError(f"there is no {text!r}; {known}")
        try:
            return argument.kind(text)
        except ValueError:
            raise ArgumentTypeError(f"{text!r} is not {wanted}.") from None

    return _read


class _Once(Action):
    """Keeps the value of an option, which may be given once."""

    def __call__(self, _: ArgumentParser, namespace: Namespace, values: Any, __: str | None = None) -> None:
        if hasattr(namespace, self.dest):
            raise ArgumentError(self, "given twice; once is enough.")
        setattr(namespace, self.dest, self.const if self.nargs == 0 else values)


def _formatter(prog: str) -> HelpFormatter:
    # Options are checked by one when they are declared; without a width it would load what looks at the terminal.
    return HelpFormatter(prog, width=80)


def _told(error: ArgumentError) -> str:
    told, flag = str(error.message), str(error.argument_name).partition("/")[0]
    if told.startswith("expected "):
        told = f"a value is wanted; one that begins with a hyphen is written {flag}=-…"
    elif told.startswith("ignored "):
        told = "takes no value."
    return f"{error.argument_name}: {told}"


def _no_such(word: str, known: Sequence[Argument]) -> str:
    option = word.partition("=")[0]
    near = suggest(option, [each for argument in known for each in argument.words])
    return f"there is no option {option}" + (f"; {near}" if near.startswith("did") else ".")
