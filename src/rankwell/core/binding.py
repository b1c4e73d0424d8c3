"""The words of a command line, bound to the parameters of its function."""

from argparse import (
    SUPPRESS,
    Action,
    ArgumentError,
    ArgumentParser,
    ArgumentTypeError,
    HelpFormatter,
    Namespace,
)
from collections.abc import Callable, Sequence
from dataclasses import is_dataclass
from functools import partial
from typing import Any, get_type_hints

from rankwell.core.catalogue import suggest
from rankwell.core.options import REQUIRED, Argument, arguments_of, out_of_range
from rankwell.errors import BadUsage, shown

# Options are checked by one when they are declared; without a width it would load what looks at the
# terminal.
_FORMATTER = partial(HelpFormatter, width=80)


def bind(function: Callable[..., Any], words: Sequence[str]) -> tuple[list[Any], dict[str, Any]]:
    """The positional and named arguments with which a command line calls a function; options as
    their class. Raises BadUsage.
    """
    arguments = arguments_of(function)
    parser = ArgumentParser(
        add_help=False,
        allow_abbrev=False,
        exit_on_error=False,
        argument_default=SUPPRESS,
        formatter_class=_FORMATTER,
    )
    for argument in arguments:
        if argument.flags:
            _declare(parser, argument)
    end = words.index("--") if "--" in words else len(words)
    try:
        namespace, bare = parser.parse_known_args(words[:end])
    except ArgumentError as error:
        text, flag = str(error.message), str(error.argument_name).partition("/")[0]
        if text.startswith("expected "):
            text = f"expected a value; one that begins with a hyphen is written {flag}=-…"
        elif text.startswith("ignored "):
            text = "takes no value."
        raise BadUsage(f"{error.argument_name}: {text}") from error
    values = vars(namespace)
    unknown = next((word for word in bare if word.startswith("-") and word != "-"), None)
    if unknown is not None:
        option = unknown.partition("=")[0]
        near = suggest(option, [word for argument in arguments for word in argument.words])
        raise BadUsage(
            f"there is no option {option}" + (f"; {near}" if near.startswith("did") else ".")
        )
    bare += words[end + 1 :]
    positionals = [argument for argument in arguments if not argument.flags]
    required = [
        argument
        for argument in arguments
        if argument.default is REQUIRED and argument.form != "rest"
    ]
    missing = [
        argument
        for argument in required
        if (
            argument.name not in values
            if argument.flags
            else positionals.index(argument) >= len(bare)
        )
    ]
    if missing:
        names = [
            argument.flags[0] if argument.flags else argument.name.upper() for argument in missing
        ]
        raise BadUsage(f"{' and '.join(names)} {'is' if len(names) == 1 else 'are'} missing.")
    named_values = {
        argument.name: values[argument.name]
        for argument in arguments
        if argument.name in values and not argument.owner
    }
    for owner, kind in get_type_hints(function).items():
        if is_dataclass(kind):
            fields = {
                argument.name: values[argument.name]
                for argument in arguments
                if argument.name in values and argument.owner == owner
            }
            named_values[owner] = kind(**fields)  # pyright: ignore[reportCallIssue]
    return _read_positionals(bare, positionals), named_values


def _declare(parser: ArgumentParser, argument: Argument) -> None:
    if argument.form in ("switch", "pair"):
        parser.add_argument(*argument.flags, dest=argument.name, action=_Once, nargs=0, const=True)
        if argument.form == "pair":
            parser.add_argument(
                argument.negative_flag, dest=argument.name, action=_Once, nargs=0, const=False
            )
        return
    several: dict[str, Any] = {
        "each": {"action": "append"},
        "many": {"action": "extend", "nargs": "+"},
    }
    how = several.get(argument.form, {"action": _Once})
    parser.add_argument(*argument.flags, dest=argument.name, type=_reader(argument), **how)


def _read_positionals(words: Sequence[str], arguments: Sequence[Argument]) -> list[Any]:
    """The words that stand by themselves, each read as what stands at its place."""
    last = arguments[-1] if arguments and arguments[-1].form == "rest" else None
    owners = [argument for argument in arguments if argument is not last] + (
        [last] * len(words) if last else []
    )
    if len(words) > len(owners):
        raise BadUsage(
            f"{' '.join(map(repr, words[len(owners) :]))}: more than this command takes."
        )
    try:
        return [_reader(owner)(word) for word, owner in zip(words, owners, strict=False)]
    except ArgumentTypeError as error:
        raise BadUsage(str(error)) from error


def _reader(argument: Argument) -> Callable[[str], Any]:
    expected = {int: "an integer", float: "a number"}.get(argument.kind, "a text")

    def _read(text: str) -> Any:
        if argument.choices and text not in argument.choices:
            near = suggest(text, argument.choices)
            advice = (
                near
                if near.startswith("known")
                else f"known are {', '.join(argument.choices)}; {near}"
            )
            raise ArgumentTypeError(f"there is no {text!r}; {advice}")
        try:
            # Python reads 1_000 as a thousand, and the digits of every script.
            if argument.kind in (int, float) and (not text.isascii() or "_" in text):
                raise ValueError(text)
            value = argument.kind(text)
        except ValueError:
            raise ArgumentTypeError(f"{shown(text)} is not {expected}.") from None
        if problem := out_of_range(argument.name, value):
            raise ArgumentTypeError(problem)
        return value

    return _read


class _Once(Action):
    """Keeps the value of an option, which may be given once."""

    def __call__(
        self, _: ArgumentParser, namespace: Namespace, values: Any, __: str | None = None
    ) -> None:
        if hasattr(namespace, self.dest):
            raise ArgumentError(self, "given twice; once is enough.")
        setattr(namespace, self.dest, self.const if self.nargs == 0 else values)
