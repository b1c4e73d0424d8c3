"""The options of a command: read from its function and from classes of options, and bound to the
words of a command line.
"""

import ast
import math
import re
from argparse import (
    SUPPRESS,
    Action,
    ArgumentError,
    ArgumentParser,
    ArgumentTypeError,
    HelpFormatter,
    Namespace,
)
from collections import defaultdict
from collections.abc import Callable, Collection, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import partial, wraps
from inspect import Parameter, Signature, cleandoc, signature
from numbers import Integral, Real
from pathlib import Path
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    NamedTuple,
    ParamSpec,
    Protocol,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from rankwell.data.catalogue import suggest
from rankwell.errors import BadUsage, Unfinished, UnknownName, flag, kind_of, offering, shown
from rankwell.store import KEEPING, reading, refuse_file_name


def given_parameters(inner: str, text: str) -> dict[str, Any]:
    """The values of `name=value,…` in the brackets of a text. Raises BadUsage."""
    values: dict[str, Any] = {}
    for part in _split(inner):
        key, equals, value = (text.strip() for text in part.partition("="))
        if not equals:
            raise BadUsage(f"{part!r} in {text!r} is not of the form parameter=value.")
        if key in values:
            raise BadUsage(f"{text!r} names the parameter {key!r} twice; keep one of the two.")
        values[key] = read_value(value)
    return values


def named_parameters(
    text: str, parameters_by_name: Callable[[str], Mapping[str, Any]], noun: str, example: str
) -> tuple[str, dict[str, Any]]:
    """The name and the parameters of `name(parameter=value,…)`. Raises UnknownName, BadUsage.

    parameters_by_name: name -> the defaults of its parameters, empty for those without one.
    """
    match = re.fullmatch(r"(?P<name>[\w-]+)(\((?P<inner>.*)\))?", text.strip())
    if match is None:
        raise BadUsage(
            f"{text!r} is not a {noun}; the form is name(parameter=value,…), as in {example}."
        )
    name, known = match["name"], parameters_by_name(match["name"])
    values = given_parameters(match["inner"] or "", text)
    for parameter in values:
        if parameter not in known:
            advice = suggest(parameter, known) if known else "it takes none."
            raise UnknownName(f"{name} has no parameter {parameter!r} (in {text!r}); {advice}")
    for parameter, default in known.items():
        if default is Parameter.empty and parameter not in values:
            raise BadUsage(
                f"{name} needs {parameter} (in {text!r}): write it as {name}({parameter}=…)."
            )
    return name, {parameter: values[parameter] for parameter in known if parameter in values}


_LARGEST = 2**53 - 1


_WORDS = {
    int: "an integer",
    float: "a number",
    bool: "True or False",
    str: "a string",
    NoneType: "None",
}


def check_value(measure: str, parameter: Parameter, value: Any, text: str) -> Any:
    """The value converted to the parameter's type. Raises BadUsage."""
    hint = parameter.annotation
    kinds = (hint,) if get_origin(hint) in (Literal, tuple) else get_args(hint) or (hint,)
    for kind in kinds:
        number = _number(value)
        if get_origin(kind) is Literal:
            if isinstance(value, str) and value in get_args(kind):
                return value
        elif get_origin(kind) is tuple:
            element = get_args(kind)[0]
            if isinstance(value, tuple) and _has_elements(value, element):
                return value if element is float else tuple(sorted(value))
        elif kind is float and number is not None:
            return number
        elif kind is int and number is not None and number.is_integer():
            if abs(number) <= _LARGEST and (parameter.name != "k" or number >= 1):
                return int(number)
        elif kind in (NoneType, bool, str) and isinstance(value, kind):
            return value
    expected = (
        "a positive integer"
        if parameter.name == "k"
        else " or ".join(
            " or ".join(map(repr, get_args(kind)))
            if get_origin(kind) is Literal
            else _WORDS.get(kind, "pairs as in {1:3,2:9}")
            for kind in kinds
        )
    )
    value_text = write_value(value) if isinstance(value, tuple) else repr(value)
    import difflib

    words = [word for kind in kinds if get_origin(kind) is Literal for word in get_args(kind)]
    near = difflib.get_close_matches(value, words, n=1) if isinstance(value, str) else []
    hint = f"; did you mean {near[0]!r}?" if near else "."
    raise BadUsage(f"{parameter.name}={value_text} in {text!r}: {measure} takes {expected}{hint}")


def _number(value: Any) -> float | None:
    """The value as a finite float64, or None."""
    with suppress(OverflowError):
        if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
            return float(value)
    return None


def _has_elements(values: tuple[Any, ...], kind: Any) -> bool:
    """Whether all are finite numbers, or pairs of them, of which no two begin alike."""
    if kind is float:
        return all(_number(number) is not None for number in values)
    pairs = all(
        isinstance(pair, tuple) and len(pair) == 2 and _has_elements(pair, float) for pair in values
    )
    return pairs and len(dict(values)) == len(values)


def split_names(text: str) -> list[str]:
    """The measures in a text that separates them by blanks or commas; those inside brackets
    separate nothing.
    """
    return [part.strip() for words in _split(text, " ") for part in _split(words)]


def _split(text: str, separator: str = ",") -> list[str]:
    """The parts between separators that stand outside brackets and quotes."""
    parts, depth, quote, start = list[str](), 0, "", 0
    for position, letter in enumerate(text):
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "'\"":
            quote = letter
        else:
            depth += (letter in "{[(") - (letter in ")]}")
            if letter == separator and depth == 0:
                parts.append(text[start:position])
                start = position + 1
    return [part for part in [*parts, text[start:]] if part.strip()]


_LONGEST = 3_000


def read_value(text: str) -> Any:
    """A parameter's value from its text: a number, True, False, None, a quoted or bare word, a
    mapping or a list as a tuple.
    """
    if len(text) > _LONGEST:
        raise BadUsage(
            f"a parameter's value has {len(text)} characters, {text[:20]!r}…; at most "
            f"{_LONGEST} are read."
        )
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return text
    if isinstance(value, float) and not value and re.search(r"[1-9]", re.split("[eE]", text)[0]):
        return text  # 1e-400 is not 0
    if isinstance(value, dict):
        # A key that is there twice has no single meaning.
        return text if len(value) < len(_split(text[1:-1])) else tuple(value.items())
    return tuple(value) if isinstance(value, (list, tuple)) else value


def write_value(value: Any) -> str:
    """The text of a value, from which `read_value` gives it again."""
    if isinstance(value, tuple):
        pairs = all(isinstance(pair, tuple) and len(pair) == 2 for pair in value)
        inner = ",".join(
            ":".join(map(write_value, element)) if pairs else write_value(element)
            for element in value
        )
        return f"{{{inner}}}" if pairs else f"[{inner}]"
    return repr(int(value)) if isinstance(value, float) and value.is_integer() else repr(value)


Inputs = ParamSpec("Inputs")
Made = TypeVar("Made")


def own_arithmetic(function: Callable[Inputs, Made]) -> Callable[Inputs, Made]:
    """The function under NumPy's own choice: an underflow is 0, anything else a warning."""

    @wraps(function)
    def _call(*arguments: Inputs.args, **keywords: Inputs.kwargs) -> Made:
        # A command that computes nothing starts without NumPy.
        import numpy as np

        with np.errstate(divide="warn", over="warn", under="ignore", invalid="warn"):
            return function(*arguments, **keywords)

    return _call


REQUIRED = Parameter.empty
Chosen = TypeVar("Chosen")
Outcome = TypeVar("Outcome")
_MAY_OVERWRITE: ContextVar[bool] = ContextVar("overwrite", default=False)
_SHOWS_DETAILS: ContextVar[bool] = ContextVar("_SHOWS_DETAILS", default=False)
_DIGITS: ContextVar[int | None] = ContextVar("_DIGITS", default=None)


class Option(NamedTuple):
    """A mark in `Annotated`: how an option is written, where its parameter's name and type do not
    say.
    """

    names: tuple[str, ...] = ()
    """With hyphens; by default the parameter's name, `--query-ids` for query_ids, `-k` for k."""
    takes_all: bool = False
    """Whether a list takes all words up to the next option, not one each time it is given."""
    kind: Any = None
    """The type that a command line reads, where Python takes more: `list[str]` for a parameter that
    is a sequence or a text.
    """
    writes: Literal["", "folder", "file", "page"] = ""
    """The output that it names: a folder of results, a file (or a folder for files without a
    manifest), or a page or its folder. Each comes with `--overwrite`.
    """
    own_words: str = ""
    """Words at the beginning of the command's own files, which it may replace."""


Group = Literal["Input", "Method", "Measures and rules", "Statistics", "Output", "Scaling"]
"""A heading of a help page. Options of which nothing decides it stand under `Method`."""
_MEMBERS: Mapping[Group, str] = {
    "Input": (
        "bench columns holds item_ids option query_groups query_ids root schema source_format "
        "thumbnails url"
    ),
    "Method": "encoder",
    "Measures and rules": (
        "average_over convention exclude_group exclude_self k measure measures min_grade "
        "no_relevant relevance ties unjudged"
    ),
    "Statistics": (
        "baseline confidence difference folds intervals looks pairs_planned samples seed test"
    ),
    "Output": "format open output overwrite per_query status strict title",
    "Scaling": "backend batch_size device dry_run",
}
_GROUPS: Mapping[str, Group] = {
    name: group for group, names in _MEMBERS.items() for name in names.split()
}
"""The groups of options by their names, which are those of all commands; a mark goes before."""


class Doc(NamedTuple):
    """A mark in `Annotated`: what a field is, for help and the documentation. The last one
    counts.

    text: a sentence or more; the first stands in `-h`.
    group: its heading; "" for that of its class (`help_group`), of what is read or written.
    is_common: whether `-h` shows it. Options with a one-letter form and required ones always are.
    """

    text: str
    group: Group | Literal[""] = ""
    is_common: bool = False


class Injected(NamedTuple):
    """A mark in `Annotated`: the program passes this parameter, not the command line."""


class Input(NamedTuple):
    """Marks an option that names files or folders (PLACE, NAME=PLACE, PLACE:PART), whose content a
    bench digests.

    perhaps: whether its text may be something else as well, such as a word or the name of a model.
    """

    perhaps: bool = False


class DataFrame(Protocol):
    """A table in memory: a data frame of pandas, Polars, PyArrow or DuckDB, or what else offers an
    Arrow stream. They have no member in common, so a type checker takes any object.
    """


class Array(Protocol):
    """Numbers or ids in memory: an array of NumPy, a tensor of PyTorch, a column of a data frame,
    or what else offers `__array__` or DLPack. A type checker takes any object.
    """


CountProgress = Callable[[int, int], None]
"""A function that is called with the number done and the total."""
NamedProgress = Callable[[str, int, int], None]
"""A function that is called with what is being done, too."""
Place = str | Path
Lists = Sequence[Any] | Mapping[Any, Any]
"""Several, in order or by name."""
Rows = Place | Sequence[Any] | DataFrame
"""A file of rows, or the rows themselves."""
Table = Place | Lists | DataFrame
Ids = Place | Sequence[Any] | Array
"""A file with an id or a number for each row, or these themselves."""
Vectors = Place | Lists | Array
TableData = Annotated[Table | None, Input()]
IdData = Annotated[Ids | None, Input()]
VectorData = Annotated[Vectors | None, Input()]
MappingData = Annotated[Place | Mapping[Any, Any] | None, Input()]
"""A file, or the mapping that it would hold."""
ConventionName = Annotated[Place, Option(("--convention", "-c"), kind=str)]
MeasureName = str | Callable[..., Any]
"""A measure by its name, a Measure, or a function that is one."""
MeasureNames = Annotated[
    Sequence[MeasureName] | MeasureName | None, Option(("--measure", "-m"), kind=list[str])
]
_QUERY_TEXTS = Doc(
    "File of query texts (BEIR queries.jsonl, or any table with an id column); further columns "
    "are attributes to group and filter by.",
    "Input",
)
_DOCUMENT_TEXTS = Doc(
    "File of item texts (BEIR corpus.jsonl, or any table with an id column).", "Input"
)
QueryTexts = Annotated[TableData, _QUERY_TEXTS]
DocumentTexts = Annotated[TableData, _DOCUMENT_TEXTS]
ShownQueryTexts = Annotated[str | None, _QUERY_TEXTS]
"""Texts that a page shows; they decide no result."""
ShownDocumentTexts = Annotated[str | None, _DOCUMENT_TEXTS]
Pictures = Annotated[
    str | None, Doc("Pictures of the items: a folder, or a pattern such as 'img/{id}.jpg'.")
]
TargetFormat = Annotated[
    str | None,
    Option(("--to",)),
    Doc("Format of the target, if its suffix does not determine it.", "Output"),
]


ColumnChoice = Mapping[str, str | int] | str
"""Columns by what they hold, each a name or a number from 1: `query=1,item=docno,score=3`, or the
same as a mapping.
"""
RunColumns = Annotated[
    ColumnChoice | None,
    Option(("--columns",), kind=str),
    Doc(
        "Columns of the runs, by name or by number from 1: query=1,item=2,score=3, or rank= "
        "instead of score=.",
        "Input",
    ),
]
JudgmentColumns = Annotated[
    ColumnChoice | None,
    Option(("--qrels-columns",), kind=str),
    Doc(
        "Columns of the judgments, in the same form: query=1,item=2,grade=3, or only some of "
        "these for a table with a header.",
        "Input",
    ),
]
Cutoffs = Annotated[
    Sequence[int] | int | str, Option(kind=str), Doc("Cut-offs, separated by commas: 1,5,10.")
]
CutoffNumbers = Annotated[Sequence[int] | int | str | None, Option(kind=str)]


class Argument(NamedTuple):
    """One parameter of a command, or one field of its options.

    name: the name of the parameter or field in Python.
    flags: the flags as they are typed; empty for an argument that stands by itself.
    kind: the type of each of its words.
    choices: all possible values; empty where any value of the type will do.
    form: `one` word; a `switch`; a `pair` of switches, the second with `no-`; a list of words, one
        `each` time it is given, `many` at a time, or all the `rest`.
    default: the default value; REQUIRED where there is none.
    marks: the marks in its annotation.
    owner: the parameter whose options it belongs to; "" for a parameter itself.
    class_group: the group of the class of options that declares it; "" where that names none.
    """

    name: str
    flags: tuple[str, ...]
    kind: type
    choices: tuple[str, ...]
    form: Literal["one", "switch", "pair", "each", "many", "rest"]
    default: Any
    marks: tuple[Any, ...]
    owner: str = ""
    class_group: Group | Literal[""] = ""

    @property
    def group(self) -> Group:
        """Its heading on the help page."""
        for mark in reversed(self.marks):
            if isinstance(mark, Doc) and mark.group:
                return mark.group
        if self.name in _GROUPS:
            return _GROUPS[self.name]
        if any(isinstance(mark, Input) for mark in self.marks):
            return "Input"
        return "Output" if self.option.writes else self.class_group or "Method"

    @property
    def is_common(self) -> bool:
        """Whether `-h` shows it."""
        return self.default is REQUIRED or any(
            [
                *(len(word) == 2 for word in self.flags),
                *(mark.is_common for mark in self.marks if isinstance(mark, Doc)),
            ]
        )

    @property
    def option(self) -> Option:
        """What is said of its writing."""
        return next((mark for mark in self.marks if isinstance(mark, Option)), Option())

    @property
    def negative_flag(self) -> str:
        """The second of a pair of switches, which says no."""
        return self.flags[0].replace("--", "--no-", 1)

    @property
    def words(self) -> tuple[str, ...]:
        """All that a command line may call it: its flags, and the denial of a pair."""
        return (*self.flags, self.negative_flag) if self.form == "pair" else self.flags


def parameters_of(function: Callable[..., Any]) -> dict[str, Parameter]:
    """The parameters of a function, or the fields of a class of options: its own, then those of
    its bases.
    """
    parameters = signature(function).parameters
    classes = function.__mro__ if isinstance(function, type) else ()
    names = [name for base_class in classes for name in vars(base_class).get("__annotations__", ())]
    return {name: parameters[name] for name in dict.fromkeys([*names, *parameters])}


def arguments_of(function: Callable[..., Any]) -> list[Argument]:
    """The arguments that a command line can give a function, in its order; a class of options
    stands for its fields.
    """
    hints = get_type_hints(function, include_extras=True)
    arguments: list[Argument] = []
    classes = function.__mro__ if isinstance(function, type) else ()
    for parameter in parameters_of(function).values():
        hint = hints[parameter.name]
        if is_dataclass(hint):
            arguments += [
                argument._replace(owner=parameter.name)
                for argument in arguments_of(hint)  # pyright: ignore[reportArgumentType]
            ]
        elif Injected() not in getattr(hint, "__metadata__", ()):
            groups = (
                vars(base_class).get("help_group", "")
                for base_class in classes
                if parameter.name in vars(base_class).get("__annotations__", ())
            )
            arguments.append(_argument(parameter, hint)._replace(class_group=next(groups, "")))
            if arguments[-1].option.writes and all(
                argument.name != "overwrite" for argument in arguments
            ):
                arguments.append(
                    Argument("overwrite", ("--overwrite",), bool, (), "switch", False, ())
                )
    return arguments


@contextmanager
def overwriting(allowed: bool, *, keeping: bool = False) -> Generator[None]:
    """Whether a block may replace changed results, `--overwrite`. keeping: whether it is needed for
    single files, too.
    """
    token, files = _MAY_OVERWRITE.set(allowed), KEEPING.set(keeping and not allowed)
    try:
        yield
    finally:
        KEEPING.reset(files)
        _MAY_OVERWRITE.reset(token)


def files_to_write(
    function: Callable[..., Any],
    positionals: Sequence[Any],
    keywords: Mapping[str, Any],
    allowed: bool,
) -> list[Path]:
    """The files to write among the arguments, without those of its own that a command replaces.

    Raises BadUsage for an input, for one that is there unless `allowed`, and for a folder with the
    name of a file.
    """
    arguments = signature(function).bind(*positionals, **keywords).arguments
    inputs, outputs = dict(arguments), dict[Path, str]()
    for argument in arguments_of(function):
        writes, place = argument.option.writes, arguments.get(argument.name)
        if writes == "folder" and place is not None:
            refuse_file_name(Path(place))
        elif writes == "file" and place is not None:
            outputs[Path(inputs.pop(argument.name))] = argument.option.own_words
    others: list[Path] = []
    for path, own_words in outputs.items():
        is_own = False
        if path.is_file():
            refuse_input(path, _flat(list(inputs.values())))
            with path.open("rb") as stream:
                is_own = bool(own_words) and own_words.encode() in stream.read(1000)
            if not allowed and not is_own:
                raise exists_error(path)
        if not is_own:
            others.append(path)
    return others


def exists_error(path: Path) -> BadUsage:
    """The error of a file that a command or function would replace without being allowed to."""
    return BadUsage(f"{path} exists; name another file, or {flag('--overwrite', True)}.")


def refuse_input(path: Path, inputs: Iterable[str | Path]) -> None:
    """Raises BadUsage for a file to write that one of the places to read means."""
    if any(
        candidate.exists() and candidate.samefile(path)
        for value in inputs
        for candidate in candidate_paths(value)
    ):
        raise BadUsage(f"{path} is an input of this command; name another file to write.")


def _flat(value: Any) -> Iterable[str | Path]:
    """The texts and paths among the arguments of a command, in lists and options, too."""
    if isinstance(value, (str, Path)):
        return [value]
    if is_dataclass(value):
        value = list(vars(value).values())
    return (
        [text for part in value for text in _flat(part)] if isinstance(value, list | tuple) else []
    )


def candidate_paths(value: str | Path) -> list[Path]:
    """The paths that an argument may mean: PLACE, NAME=PLACE, PLACE:PART."""
    text = str(value)
    texts = [name for name in (text, text.partition("=")[2]) if name and "\0" not in name]
    beginnings = [name[:at] for name in texts for at in range(1, len(name)) if name[at] == ":"]
    return [Path(text) for text in (*texts, *beginnings)]


@contextmanager
def showing(*, details: bool = False, digits: int | None = None) -> Generator[None]:
    """Whether a block prints all details, `--verbose`, and the decimals of scores, `--digits`."""
    token, token_of_digits = _SHOWS_DETAILS.set(details), _DIGITS.set(digits)
    try:
        yield
    finally:
        _DIGITS.reset(token_of_digits)
        _SHOWS_DETAILS.reset(token)


def shows_details() -> bool:
    """Whether tables are printed with all details."""
    return _SHOWS_DETAILS.get()


def shown_digits() -> int | None:
    """The decimals of scores in text; None for those of the convention."""
    return _DIGITS.get()


def may_overwrite() -> bool:
    """Whether a result may replace files that were changed since they were written."""
    return _MAY_OVERWRITE.get()


def _argument(parameter: Parameter, hint: Any) -> Argument:
    marks: tuple[Any, ...] = getattr(hint, "__metadata__", ())
    option = next((mark for mark in marks if isinstance(mark, Option)), Option())
    hint = option.kind or (hint.__origin__ if marks else hint)
    kinds = [kind for kind in get_args(hint) if kind is not NoneType]
    kind = kinds[0] if NoneType in get_args(hint) else hint
    bare = parameter.kind in (Parameter.POSITIONAL_ONLY, Parameter.VAR_POSITIONAL)
    form = "one"
    if parameter.kind is Parameter.VAR_POSITIONAL:
        form = "rest"
    elif kind is bool:
        form = "switch" if parameter.default is False else "pair"
    elif get_origin(kind) is list:
        form, kind = "many" if option.takes_all else "each", get_args(kind)[0]
    choices = get_args(kind) if get_origin(kind) is Literal else ()
    word = parameter.name.replace("_", "-")
    flags = () if bare else option.names or (f"--{word}" if len(word) > 1 else f"-{word}",)
    kind = str if choices or kind is Any else kind
    return Argument(parameter.name, flags, kind, choices, form, parameter.default, marks)


def takes_options(
    kind: type, *positional_fields: str
) -> Callable[[Callable[..., Outcome]], Callable[..., Outcome]]:
    """Lets Python call a function of `options` with the fields of a class as keywords, with
    `options=`, or with both.

    kind: the class, a frozen dataclass whose fields have defaults. positional_fields: may follow
    the positional arguments. A keyword replaces a field of `options`. The function raises BadUsage
    or UnknownName for a value that its field's type excludes. A function with a parameter `*name`
    has no further places.
    """

    def _decorate(function: Callable[..., Outcome]) -> Callable[..., Outcome]:
        parameters, fields = signature(function).parameters, parameters_of(kind)
        places = [
            parameter
            for parameter in parameters.values()
            if parameter.kind in (Parameter.POSITIONAL_OR_KEYWORD, Parameter.VAR_POSITIONAL)
        ]
        is_open = any(place.kind is Parameter.VAR_POSITIONAL for place in places)
        plain, most = None if is_open else len(places), len(places) + len(positional_fields)

        @wraps(function)
        def _call(*positionals: Any, options: Any = None, **keywords: Any) -> Outcome:
            if not is_open and len(positionals) > most:
                raise TypeError(f"{function.__name__}() takes at most {most} positional arguments")
            field_values = dict(zip(positional_fields, positionals[len(places) :], strict=False))
            if twice := field_values.keys() & keywords:
                raise TypeError(
                    f"{function.__name__}() got multiple values for argument {twice.pop()!r}"
                )
            field_values |= {name: keywords.pop(name) for name in [*keywords] if name in fields}
            if options is not None and (isinstance(options, type) or not is_dataclass(options)):
                raise BadUsage(
                    f"options is {kind_of(options)}; give options as keywords, or as one "
                    f"{kind.__name__}."
                )
            checked = with_options(kind() if options is None else options, field_values)
            with reading(), offering(fields):
                return own_arithmetic(function)(*positionals[:plain], options=checked, **keywords)

        declared = Signature(
            [
                *places,
                *(
                    _bare(fields[name], Parameter.POSITIONAL_OR_KEYWORD)
                    for name in positional_fields
                ),
                *(
                    _bare(parameter, Parameter.KEYWORD_ONLY)
                    for name, parameter in sorted(
                        {**fields, **parameters}.items(),
                        key=lambda each: each[1].default is not Parameter.empty,
                    )
                    if parameter.kind is Parameter.KEYWORD_ONLY
                    and name not in ("options", *positional_fields)
                ),
                parameters["options"].replace(default=None, annotation=kind | None),
            ]
        )
        vars(_call)["__signature__"] = declared
        _call.__doc__ = _with_parameters(function.__doc__ or "", declared, fields)
        return _call

    return _decorate


def _bare(parameter: Parameter, kind: Any) -> Parameter:
    """A parameter of another kind, with its type alone as its annotation."""
    hint = parameter.annotation
    return parameter.replace(
        kind=kind, annotation=hint.__origin__ if hasattr(hint, "__metadata__") else hint
    )


_PYTHON_TEXTS = {
    "options": "One object with all options, in place of keywords.",
    "details": "Keep single queries and items for the report.",
    "progress": (
        "Function called as the work proceeds, with the name of the step, the number done and the "
        "total."
    ),
}
_MODULE = re.compile(r"\b(typing|collections\.abc|pathlib[\w.]*|rankwell[\w.]*)\.")
_FLAG = re.compile(r"(?<![\w-])--?[a-z][\w-]*")


def _with_parameters(
    documentation: str, declared: Signature, fields: Mapping[str, Parameter]
) -> str:
    """A docstring with the type, the default and the text of every parameter, before the examples.

    Flags in texts become the names of parameters.
    """
    text, example, examples = cleandoc(documentation).partition("\n\n>>> ")
    about, own_texts = _described(text)
    texts, names = _PYTHON_TEXTS | own_texts, dict[str, str]()
    for name, parameter in fields.items():
        argument = _argument(parameter, parameter.annotation)
        names |= dict.fromkeys(argument.flags, f"`{name}`")
        if argument.form == "pair":
            names[argument.negative_flag] = f"`{name}=False`"
        texts[name] = own_texts.get(name) or _doc(argument)
    lines = [about.rstrip(), "", "Parameters", "----------"]
    for name, parameter in declared.parameters.items():
        if name != "self":
            line = _MODULE.sub("", str(parameter))
            lines.append(re.sub(r"Optional\[(.*?\])\]", r"\1 | None", line))
            lines += [f"    {texts[name]}"] if texts.get(name) else []
    whole = _FLAG.sub(lambda flag: names.get(flag[0], flag[0]), "\n".join(lines))
    for typed_text, python_text in _PYTHON_WORDS.items():
        whole = whole.replace(typed_text, python_text)
    return whole + example + examples


_PYTHON_WORDS = {
    "repeat it": "a list",
    "Repeat it": "A list",
    "separated by commas": "as a list or separated by commas",
    "query=1,item=2,score=3": '"query=1,item=2,score=3" or `{"query": 1, "item": 2, "score": 3}`',
}
"""Words on the typing of options, with those that replace them in Python's documentation."""


def _doc(argument: Argument) -> str:
    return ["", *(mark.text for mark in argument.marks if isinstance(mark, Doc))][-1]


def refuse_options(options: Any, allowed: Collection[str], reason: str) -> None:
    """Raises BadUsage for a field that has another value than its default and is not allowed.

    reason: why, after the name of the option.
    """
    for field in fields(options):
        value = getattr(options, field.name)
        if field.name not in allowed and value != field.default:
            raise BadUsage(f"{flag(_FLAGS.get(field.name, field.name))} {reason}; leave it out.")


_FLAGS = {"measures": "measure"}
"""The names of options that are not those of their fields."""


def with_options(options: Chosen, field_values: Mapping[str, Any]) -> Chosen:
    """The options with other values for some fields, each checked against its field's type. Raises
    UnknownName, BadUsage.
    """
    hints = get_type_hints(type(options)) if field_values else {}
    for name, value in field_values.items():
        is_union = get_origin(hints[name]) in (Union, UnionType)
        kinds = get_args(hints[name]) if is_union else (hints[name],)
        if value is None and NoneType in kinds:
            continue
        kinds = [kind for kind in kinds if kind is not NoneType]
        kind = kinds[0]
        choices = get_args(kind) if get_origin(kind) is Literal else ()
        if choices and not (isinstance(value, str) and value in choices):
            raise UnknownName(
                f"{name}: there is no {value!r}; {suggest(str(value), map(str, choices))}"
            )
        expected = [_PLAIN[kind][1] for kind in kinds if kind in _PLAIN]
        if len(expected) == len(kinds) and not any(_fits(value, kind) for kind in kinds):
            raise BadUsage(f"{name} is {value!r}; expected {' or '.join(expected)}.")
        if problem := out_of_range(name, value):
            raise BadUsage(f"{name} is {problem}")
    return replace(options, **field_values)  # pyright: ignore[reportArgumentType, reportCallIssue]


def _fits(value: Any, kind: Any) -> bool:
    """Whether a value is of a plain type; True and False are no numbers, and a text is no list."""
    kind_of_value, _ = _PLAIN[kind]
    if kind_of_value is Collection:
        elements = value.tolist() if hasattr(value, "tolist") else value
        is_list = isinstance(elements, Collection) and not isinstance(elements, (str, Mapping))
        return is_list and all(_fits(element, get_args(kind)[0]) for element in elements)
    return isinstance(value, kind_of_value) and (kind is bool or not isinstance(value, bool))


def out_of_range(name: str, value: Any) -> str:
    """The complaint about an integer that no option takes; "" for any other value."""
    if isinstance(value, Integral) and not -(1 << 63) <= int(value) < 1 << 63:
        return f"{shown(str(value))}; expected an integer of 64 bits."
    return (
        f"{value}; expected a non-negative integer."
        if name == "seed" and isinstance(value, Integral) and int(value) < 0
        else ""
    )


_PLAIN: dict[Any, tuple[Any, str]] = {
    bool: (bool, "True or False"),
    int: (Integral, "an integer"),
    float: (Real, "a number"),
    str: (str, "a string"),
    Path: (Path, "a path"),
    Mapping[str, str | int]: (Mapping, "a mapping"),
    list[str]: (Collection, "a list of strings"),
    Sequence[str]: (Collection, "a list of strings"),
    Sequence[float]: (Collection, "a list of numbers"),
}
"""The classes of values of each plain type, and their name in messages."""


def cutoffs(k: Sequence[int] | int | str) -> tuple[int, ...]:
    """The cut-offs that a text (`1,5,10`), a number or several name, ascending. Raises BadUsage."""
    words = (
        k.replace(",", " ").split()
        if isinstance(k, str)
        else list(k)
        if isinstance(k, Iterable)
        else [k]
    )
    if not words or not all(str(word).isdecimal() and int(word) for word in words):
        raise BadUsage(
            f"{flag('-k', name='k')} is {k!r}; expected positive integers separated by commas, "
            "such as 1,3,5,10."
        )
    return tuple(sorted(set(map(int, words))))


def sample_size(samples: int | str, total: int) -> int:
    """The size of a sample, `all` of the total. Raises BadUsage."""
    if samples == "all":
        return total
    if isinstance(samples, str) and not (samples.isdecimal() and len(samples) < 19):
        raise BadUsage(
            f"{flag('--samples')} {shown(samples)}: expected a positive integer, or all."
        )
    return int(samples)


def texts_of(function: Callable[..., Any]) -> tuple[str, dict[str, str]]:
    """The docstring of a command without its parameters, and the text of each parameter by its
    name, in the command's order.
    """
    about, parameters = _described(function.__doc__ or "")
    texts: dict[str, str] = {}
    for argument in arguments_of(function):
        texts[argument.name] = (
            parameters.get(argument.name) or _doc(argument) or _COMMON_TEXTS.get(argument.name, "")
        )
    return about, {name: text for name, text in texts.items() if text}


_COMMON_TEXTS = {"overwrite": "Replace existing files."}
"""The texts of parameters that no function declares."""
THREADS = "Number of threads. [env: RANKWELL_THREADS] [default: all available cores]"
"""The text of `--threads`, which every command takes."""
IGNORE = "Hide a warning or note by its name; repeat it for more."
"""The text of `--ignore`, which every command takes."""
SWITCHES: Mapping[tuple[str, ...], str] = {
    ("--quiet", "-q"): "Print only results, warnings and errors.",
    ("--verbose", "-v"): "Print all details: rules, settings and every finding.",
}
"""The switches that every command takes, each with its text."""


def _described(documentation: str) -> tuple[str, dict[str, str]]:
    about, _, section = cleandoc(documentation).partition("\n\nParameters\n----------\n")
    blocks = [block.partition("\n") for block in re.split(r"\n+(?=\S)", section) if block]
    return about, {name: " ".join(text.split()) for name, _, text in blocks}


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
    missing = [
        argument
        for argument in arguments
        if argument.default is REQUIRED
        and argument.form != "rest"
        and (
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
    by_owner = defaultdict[str, dict[str, Any]](dict)
    for argument in arguments:
        if argument.name in values:
            by_owner[argument.owner][argument.name] = values[argument.name]
    named_values = by_owner[""]
    for owner, kind in get_type_hints(function).items():
        if is_dataclass(kind):
            named_values[owner] = kind(**by_owner[owner])  # pyright: ignore[reportCallIssue]
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
    parser.add_argument(*argument.flags, dest=argument.name, type=partial(_read, argument), **how)


def _read_positionals(words: Sequence[str], arguments: Sequence[Argument]) -> list[Any]:
    """The words that stand by themselves, each read as what stands at its place."""
    owners = list(arguments)
    if owners and owners[-1].form == "rest":
        owners += [owners.pop()] * len(words)
    if len(words) > len(owners):
        raise BadUsage(
            f"{' '.join(map(repr, words[len(owners) :]))}: too many arguments; leave them out."
        )
    try:
        return [_read(owner, word) for word, owner in zip(words, owners, strict=False)]
    except ArgumentTypeError as error:
        raise BadUsage(str(error)) from error


def _read(argument: Argument, text: str) -> Any:
    """A word as the value of an argument. Raises ArgumentTypeError."""
    if argument.choices and text not in argument.choices:
        advice = suggest(text, argument.choices)
        if not advice.startswith("known"):
            advice = f"known are {', '.join(argument.choices)}; {advice}"
        raise ArgumentTypeError(f"there is no {text!r}; {advice}")
    try:
        # Python reads 1_000 as a thousand, and the digits of every script.
        if argument.kind in (int, float) and (not text.isascii() or "_" in text):
            raise ValueError(text)
        value = argument.kind(text)
    except ValueError:
        expected = {int: "an integer", float: "a number"}.get(argument.kind, "a text")
        raise ArgumentTypeError(f"{shown(text)} is not {expected}.") from None
    if problem := out_of_range(argument.name, value):
        raise ArgumentTypeError(problem)
    return value


class _Once(Action):
    """Keeps the value of an option, which may be given once."""

    def __call__(
        self, _: ArgumentParser, namespace: Namespace, values: Any, __: str | None = None
    ) -> None:
        if hasattr(namespace, self.dest):
            raise ArgumentError(self, "given twice; once is enough.")
        setattr(namespace, self.dest, self.const if self.nargs == 0 else values)


ExecutorOption = Annotated[
    str | None,
    Doc(
        "Where to run the parts: here, processes:N, ray, ray:HOST:PORT, or array, which prints "
        "what to submit to a cluster. [default: here]",
        "Scaling",
    ),
]
MemoryOption = Annotated[
    str | None, Doc("Memory per part, such as 500M or 8G. [default: 2G]", "Scaling")
]
DeviceOption = Annotated[
    str | None,
    Doc("Where to compute, such as cpu or cuda. [default: the library's choice]", "Scaling"),
]
WorkOption = Annotated[
    Place | None,
    Option(kind=str),
    Doc(
        "Work directory or s3:// URL. Run the same work again to resume it. [default: a temporary "
        "folder]",
        "Scaling",
    ),
]
GpusOption = Annotated[
    int | None,
    Doc(
        "GPUs per part: each process sees only its own, Ray places parts on nodes with enough "
        "GPUs, and an array job requests them. [default: none]",
        "Scaling",
    ),
]
PartTimeoutOption = Annotated[
    float | None,
    Doc(
        "Time limit per part, in seconds; processes and Ray stop a part that exceeds it and "
        "restart it, at most 3 times. [default: none]",
        "Scaling",
    ),
]


@dataclass(frozen=True, kw_only=True)
class PartOptions:
    """The choices of work that is done in parts."""

    help_group = "Scaling"

    executor: ExecutorOption = None
    work: WorkOption = None
    memory: MemoryOption = None
    shards: Annotated[
        int | None,
        Doc(
            "Number of ranges to split the input into. [default: as many as the memory and the "
            "executor need]"
        ),
    ] = None
    gpus: GpusOption = None
    part_timeout: PartTimeoutOption = None
    dry_run: Annotated[
        bool, Doc("Print the plan (parts, passes, products and bytes) without reading vectors.")
    ] = False

    @property
    def is_used(self) -> bool:
        """Whether the work is done in parts at all."""
        return any(getattr(self, field.name) != field.default for field in fields(PartOptions))


class PartOutcome(NamedTuple):
    """The outcome of work in parts.

    result: the result; None where there is none yet.
    text: the text that a command prints in place of a result, such as the script to submit to a
        cluster.
    messages: lines on the plan and on missing parts.
    missing: the parts that a cluster has not computed; None where the plan is new.
    """

    result: Any = None
    text: str = ""
    messages: tuple[str, ...] = ()
    missing: tuple[int, ...] | None = None

    @property
    def exit_code(self) -> int:
        """The exit code of a command without a result: 0 where the plan is new."""
        return 0 if self.missing is None else Unfinished.exit_code

    def finished(self) -> Any:
        """The result. Raises Unfinished with the messages and the text where there is none yet."""
        if self.result is None:
            raise Unfinished("\n".join([*self.messages, self.text]).strip())
        return self.result


def refusal(parts: PartOptions, check: Callable[[], None]) -> tuple[str, ...]:
    """The note of a dry run on an output that the work itself could not write. check: raises
    BadUsage, as do other runs.
    """
    try:
        check()
    except BadUsage as error:
        if not parts.dry_run:
            raise
        return (f"without {flag('--dry-run', True)} this is refused: {error}",)
    return ()
