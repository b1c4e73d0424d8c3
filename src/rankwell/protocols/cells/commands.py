"""The commands that a bench can hold, found by their words; what a file says becomes their arguments, checked as theirs are."""

import importlib
import pkgutil
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args, get_origin, get_type_hints

from rankwell import protocols
from rankwell.errors import BadInput
from rankwell.files.bench_toml import Cell, Given
from rankwell.protocols import Input, Progress
from rankwell.registry import suggest

if TYPE_CHECKING:
    from cyclopts.argument import Argument

Work = Callable[[Path, Progress], Any]
"""A command with its arguments; it writes its results into a folder."""

_OWN = ("output", "format", "per_query")
"""Options that a bench sets itself."""


@dataclass(frozen=True)
class Option:
    """One option of a command. flag: as on the command line, "" for an argument without one.

    kind: what its text becomes, or each of them where it takes a list. input: how it names files, None where it does not.
    """

    flag: str
    kind: Any
    is_list: bool
    input: Input | None


@dataclass(frozen=True)
class Command:
    """A command by its words, as `clips evaluate`, with its options by the keys of a bench file."""

    words: str
    function: Callable[..., Any]
    options: Mapping[str, Option]

    def arguments(self, given: Mapping[str, Given]) -> list[str]:
        """The command line that says what is given, without the command's words. Raises BadInput for a value of another type."""
        texts = [
            (option.flag, text) for key, option in self.options.items() if key in given for text in _texts(option, given[key])
        ]
        places = [key for key, option in self.options.items() if not option.flag]
        for before, key in pairwise(places):
            if key in given and before not in given:
                raise BadInput(f"{given[key].where}: `{before}` is missing, which stands before {key!r}; give it as well.")
        bare = [text for flag, text in texts if not flag]
        return [f"{flag}={text}" for flag, text in texts if flag] + (["--", *bare] if bare else [])

    def read(self, arguments: Sequence[str], where: str) -> Work:
        """The command with its arguments, ready to run. Raises BadInput for what it does not understand."""
        from cyclopts import App, CycloptsError, Parameter

        app = App(name=self.words, default_parameter=Parameter(negative_iterable=()))
        app.default(self.function)
        try:
            function, bound, injected = app.parse_args([*arguments], print_error=False, exit_on_error=False)
        except CycloptsError as error:
            raise BadInput(f"{where}: {' '.join(str(error).split())}") from error

        def _work(output: Path, progress: Progress) -> Any:
            own = {"progress": progress} if "progress" in injected else {}
            return function(*bound.args, **{**bound.kwargs, **own, "output": output})

        return _work

    def line(self, arguments: Sequence[str]) -> str:
        """What a user would type."""
        return f"rankwell {self.words} {shlex.join(arguments)}"


def _texts(option: Option, given: Given) -> list[str]:
    """What stands for a value on a command line. Raises BadInput for a value of another type."""
    value = given.value
    if option.kind is bool:
        if not isinstance(value, bool):
            raise BadInput(f"{given.where} is {value!r}; true or false is wanted.")
        return [str(value).lower()]
    parts: list[Any] = value if isinstance(value, list) else [value]
    if isinstance(value, list) and not option.is_list:
        # Cut-offs are a list to whoever writes them, and one text to the command.
        if option.kind is not str or not all(_fits(each, int) for each in parts):
            raise BadInput(f"{given.where} is {value!r}; one value is wanted.")
        parts = [",".join(map(str, parts))]
    wrong = next((each for each in parts if not _fits(each, option.kind)), None)
    if wrong is not None:
        wanted = "a whole number" if option.kind is int else "a number" if option.kind is float else "a text"
        raise BadInput(f"{given.where} is {wrong!r}; {wanted} is wanted.")
    return [str(part) for part in parts]


def _fits(value: Any, kind: Any) -> bool:
    wanted = {int: int, float: (int, float)}.get(kind, (str, int, float))
    return isinstance(value, wanted) and not isinstance(value, bool)


def command_of(cell: Cell) -> Command:
    """The command that a cell names. Raises BadInput for one that there is not, or that takes no files to evaluate."""
    text = str(cell.command.value)
    stem = _stem(text)
    found = None if stem is None else load_command(stem)
    if found is None:
        known = [each.words for each in map(load_command, _stems()) if each is not None]
        raise BadInput(f"{cell.command.where}: a bench knows no command {text!r}; {suggest(text, known)}")
    return found


def _stems() -> list[str]:
    return [each.name for each in pkgutil.iter_modules(protocols.__path__) if not each.ispkg and each.name != "bench"]


def _stem(text: str) -> str | None:
    """The file of a command; `clips` is `clips evaluate`."""
    name = "_".join(text.replace("-", "_").split())
    return next((each for each in (name, f"{name}_evaluate") if each in _stems()), None)


@cache
def load_command(stem: str) -> Command | None:
    """The command of a file; None where it writes no results of its own, or names no files that it goes by."""
    from cyclopts import App, Parameter

    module = importlib.import_module(f"{protocols.__name__}.{stem}")
    first, _, last = stem.partition("_")
    function = getattr(module, last or first)
    hints = get_type_hints(function, include_extras=True)
    if "output" not in hints or not any(_input(hint) for hint in hints.values()):
        return None
    app = App(default_parameter=Parameter(negative_iterable=()))
    app.default(function)
    options = {
        key: option
        for each in app.assemble_argument_collection()
        if each.parse and each.field_info.name not in _OWN
        for key, option in _options(each, _input(hints[each.field_info.name]))
    }
    return Command(" ".join(filter(None, (first, last))).replace("_", "-"), function, options)


def _input(hint: Any) -> Input | None:
    return next((each for each in getattr(hint, "__metadata__", ()) if isinstance(each, Input)), None)


def _options(argument: "Argument", marked: Input | None) -> Iterable[tuple[str, Option]]:
    """What one parameter is called in a bench file, and what becomes of it."""
    flags = [name for name in argument.names if name.startswith("-") and name not in argument.negatives]
    long = [flag for flag in flags if flag.startswith("--")]
    flag = (long or flags or [""])[0]
    hint = argument.hint
    kinds = [each for each in get_args(hint) if each is not type(None)] if type(None) in get_args(hint) else [hint]
    is_list = get_origin(kinds[0]) in (list, tuple)
    kind = kinds[0] if kinds[0] in (bool, int, float) else str
    names = [name.removeprefix("--").replace("-", "_") for name in long] or [argument.field_info.name]
    for name in names:
        yield name, Option(flag, kind, is_list, marked)


def refuse_unknown(cells: Sequence[tuple[Cell, Command]]) -> None:
    """Raises BadInput for an option that its command does not have; options of all need one command that has them."""
    known: dict[str, set[str]] = {}
    for cell, command in cells:
        for name, given in cell.options.items():
            wide = given.scope in ("options", "system")
            if name not in command.options and not wide:
                raise BadInput(_unknown(name, given, command.words, command.options))
            if wide:
                known.setdefault(given.where, set()).update(command.options)
    for cell, command in cells:
        for name, given in cell.options.items():
            if given.where in known and name not in known[given.where]:
                raise BadInput(_unknown(name, given, command.words, known[given.where]))


def _unknown(name: str, given: Given, words: str, options: Iterable[str]) -> str:
    if name in _OWN:
        return f"{given.where}: results are written and printed as `rankwell bench` is told to; leave it out."
    return f"{given.where}: `rankwell {words}` has no such option; {suggest(name, options)}"
