"""The words of a command line: what each form of an option reads, what is refused, and what every
command says of itself.
"""

import inspect
import io
import pickle
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import pytest
from rich.console import Console

from rankwell.cli import help as help_pages
from rankwell.cli.command_line import find_command
from rankwell.data.catalogue import Words, command_function, command_summaries
from rankwell.data.options import (
    REQUIRED,
    Doc,
    Injected,
    MeasureNames,
    Option,
    Place,
    RunColumns,
    TableData,
    arguments_of,
    bind,
    takes_options,
    texts_of,
)
from rankwell.errors import BadUsage, UnknownName

COMMANDS = list(command_summaries())


def command(
    first: Path,
    second: Literal["a", "b"] = "a",
    /,
    *rest: int,
    must: str,
    number: float | None = None,
    k: int = 10,
    quiet: bool = False,
    scaled: bool | None = None,
    browser: bool = True,
    measure: Annotated[list[str] | None, Option(("--measure", "-m"))] = None,
    scores: Annotated[list[float] | None, Option(takes_all=True)] = None,
    kind: Literal["table", "csv"] | None = None,
    progress: Annotated[Any, Injected()] = None,
) -> None:
    """Does one thing.

    And says more of it.

    Parameters
    ----------
    first
        The first one,
        on two lines.
    must
        What must be given.
    """


GIVEN = {
    "x --must y": ([Path("x")], {"must": "y"}),
    "--must y x": ([Path("x")], {"must": "y"}),
    "x --must=y b 1 --number -2.5 3": ([Path("x"), "b", 1, 3], {"must": "y", "number": -2.5}),
    "x --must y -k 3": ([Path("x")], {"must": "y", "k": 3}),
    "x --must y -k3": ([Path("x")], {"must": "y", "k": 3}),
    "x --must y --quiet --scaled --no-browser": (
        [Path("x")],
        {"must": "y", "quiet": True, "scaled": True, "browser": False},
    ),
    "x --must y --no-scaled": ([Path("x")], {"must": "y", "scaled": False}),
    "x --must y -m p -mq --measure r": ([Path("x")], {"must": "y", "measure": ["p", "q", "r"]}),
    "x --must y --scores 1 2 --kind csv": (
        [Path("x")],
        {"must": "y", "scores": [1.0, 2.0], "kind": "csv"},
    ),
    "--scores=1 --scores 2 3 --must y -- x b 5": (
        [Path("x"), "b", 5],
        {"must": "y", "scores": [1.0, 2.0, 3.0]},
    ),
    "--must y -- --must": ([Path("--must")], {"must": "y"}),
}

REFUSED = {
    "": "FIRST and --must are missing.",
    "--mst y x": "there is no option --mst; did you mean '--must'?",
    "--must y": "FIRST is missing.",
    "x": "--must is missing.",
    "x --must": "--must: expected a value; one that begins with a hyphen is written --must=-…",
    "x --must y --number -1e-5": "--number: expected a value; one that begins with a hyphen is "
    "written --number=-…",
    "x --must y --must z": "--must: given twice",
    "x --must y --scaled --no-scaled": "--no-scaled: given twice",
    "x --must y c": "there is no 'c'; known are a, b.",
    "x --must y --kind tabel": "--kind: there is no 'tabel'; known are table, csv; did you "
    "mean 'table'?",
    "x --must y a 1.5": "'1.5' is not an integer.",
    "x --must y --number much": "--number: 'much' is not a number.",
    "x --must y --mesure p": "there is no option --mesure; did you mean '--measure'",
    "x --must y --no-scald": "there is no option --no-scald; did you mean '--no-scaled'",
    "x --must y --zzz=1": "there is no option --zzz.",
    "x --must y --meas p": "there is no option --meas; did you mean '--measure'",
    "x --must y --progress 1": "there is no option --progress",
    "x --must y --no-quiet": "there is no option --no-quiet",
    "x --must y --quiet=maybe": "--quiet: takes no value.",
    "x --must y --scores": "--scores: expected a value",
}


@pytest.mark.parametrize("line", GIVEN)
def test_words_become_the_arguments_of_a_function(line: str):
    assert bind(command, line.split()) == GIVEN[line]


@pytest.mark.parametrize("line", REFUSED)
def test_words_that_cannot_be_understood_are_refused_in_one_line(line: str):
    with pytest.raises(BadUsage) as caught:
        bind(command, line.split())
    assert REFUSED[line] in str(caught.value)
    assert "\n" not in str(caught.value)


@dataclass(frozen=True, kw_only=True)
class Choices:
    """Choices."""

    measures: Annotated[MeasureNames, Doc("The measures.")] = None
    side: Annotated[Literal["left", "right"] | None, Doc("The side.")] = None
    seed: Annotated[int, Doc("The seed.")] = 0
    share: Annotated[float | None, Doc("A share.")] = None
    data: Annotated[TableData, Doc("Data.")] = None
    weights: Annotated[
        Sequence[float] | None, Option(kind=str), Doc("Weights, separated by commas.")
    ] = None
    place: Annotated[Place, Option(kind=str), Doc("A place.")] = "here"
    columns: RunColumns = None


def chooser(*places: str, options: Choices, output: str = "x") -> None:
    """Chooses.

    Parameters
    ----------
    places
        The places.
    output
        The output.
    """


@takes_options(Choices, "measures")
def choose(first: str, *, options: Choices, details: bool = False) -> tuple[str, Choices, bool]:
    """Chooses.

    Parameters
    ----------
    share
        A share, as Python says it.
    """
    return first, options, details


def test_the_options_of_a_command_come_from_their_class():
    places, named = bind(
        chooser,
        [
            "a",
            "-m",
            "P@5",
            "--measure",
            "AP",
            "--side",
            "left",
            "b",
            "--output",
            "y",
            "--data",
            "file",
        ],
    )

    assert places == ["a", "b"]
    assert named == {
        "options": Choices(measures=["P@5", "AP"], side="left", data="file"),
        "output": "y",
    }
    assert [each.name for each in arguments_of(chooser)] == [
        "places",
        "measures",
        "side",
        "seed",
        "share",
        "data",
        "weights",
        "place",
        "columns",
        "output",
    ]
    assert texts_of(chooser)[1] == {
        "places": "The places.",
        "measures": "The measures.",
        "side": "The side.",
        "seed": "The seed.",
        "share": "A share.",
        "data": "Data.",
        "weights": "Weights, separated by commas.",
        "place": "A place.",
        "columns": "Columns of the runs, by name or by number from 1: query=1,item=2,score=3, or "
        "rank= instead of score=.",
        "output": "The output.",
    }


def test_python_gives_options_as_keywords_as_one_or_as_both():
    assert choose("x") == ("x", Choices(), False)
    assert choose("x", "AP", seed=3, details=True) == ("x", Choices(measures="AP", seed=3), True)
    assert choose("x", options=Choices(seed=3)) == ("x", Choices(seed=3), False)
    assert choose("x", options=Choices(seed=3, side="left"), seed=4) == (
        "x",
        Choices(seed=4, side="left"),
        False,
    )
    assert str(inspect.signature(choose)).startswith("(first: str, measures: ")
    assert [*inspect.signature(choose).parameters][2:] == [
        "side",
        "seed",
        "share",
        "data",
        "weights",
        "place",
        "columns",
        "details",
        "options",
    ]


WRONG_OPTIONS: dict[str, tuple[dict[str, Any], type[Exception], str]] = {
    "choice": ({"side": "lefft"}, UnknownName, "side: there is no 'lefft'; did you mean 'left'?"),
    "integer": ({"seed": 1.5}, BadUsage, "seed is 1.5; expected an integer."),
    "boolean": ({"seed": True}, BadUsage, "seed is True; expected an integer."),
    "number": ({"share": "much"}, BadUsage, "share is 'much'; expected a number."),
    "missing": ({"seed": None}, BadUsage, "seed is None; expected an integer."),
    "text of numbers": (
        {"weights": "1,2"},
        BadUsage,
        "weights is '1,2'; expected a list of numbers.",
    ),
    "numbers by name": ({"weights": {1: 2}}, BadUsage, "expected a list of numbers."),
    "texts of numbers": ({"weights": ["1"]}, BadUsage, "expected a list of numbers."),
    "a number for a list": ({"weights": 0.5}, BadUsage, "expected a list of numbers."),
    "place": ({"place": 3}, BadUsage, "place is 3; expected a string or a path."),
    "columns": ({"columns": ["a"]}, BadUsage, "expected a mapping or a string."),
    "unknown": ({"sead": 1}, TypeError, "unexpected keyword argument 'sead'"),
}


@pytest.mark.parametrize("case", WRONG_OPTIONS)
def test_options_of_another_type_are_refused(case: str):
    given, error, message = WRONG_OPTIONS[case]
    with pytest.raises(error, match=re.escape(message)):
        choose("x", **given)


def test_lists_arrays_and_paths_are_taken_as_they_are():
    weights, place = np.array([0.5, 1.5]), Path("there")

    chosen = choose("x", weights=weights, place=place, columns={"query": 1})[1]

    assert chosen.weights is weights
    assert (chosen.place, chosen.columns) == (place, {"query": 1})


def test_a_value_given_twice_or_in_no_place_is_a_type_error():
    with pytest.raises(TypeError, match="multiple values for argument 'measures'"):
        choose("x", "AP", measures="RR")
    with pytest.raises(TypeError, match="at most 2 positional arguments"):
        choose("x", "AP", "RR")


def test_numbers_of_numpy_are_numbers():
    assert choose("x", seed=np.int64(3), share=np.float32(0.5))[1] == Choices(seed=3, share=0.5)


def test_words_too_many_are_refused():
    def _lone(place: str, /) -> None: ...

    with pytest.raises(BadUsage, match="'b' 'c': too many arguments"):
        bind(_lone, ["a", "b", "c"])


def test_a_docstring_is_taken_apart_into_what_it_says_of_each_parameter():
    about, texts = texts_of(command)

    assert about == "Does one thing.\n\nAnd says more of it."
    assert texts == {"first": "The first one, on two lines.", "must": "What must be given."}


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_every_command_says_of_each_of_its_options_what_it_does(words: Words):
    function = command_function(words)
    about, texts = texts_of(function)
    known = arguments_of(function)

    assert " ".join(about.partition("\n\n")[0].split()) == command_summaries()[words]
    assert list(texts) == [each.name for each in known]
    assert all(texts.values())
    assert {each.kind for each in known} <= {str, int, float, bool, Path}
    flags = [flag for each in known for flag in each.words]
    assert len(set(flags)) == len(flags)


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_what_is_not_said_is_left_to_the_function(words: Words):
    if words == ("images", "match"):
        pytest.importorskip("cv2")  # Its options are refused without.
    function = command_function(words)
    needed = [
        each for each in arguments_of(function) if each.default is REQUIRED and each.form != "rest"
    ]
    line = [
        text
        for each in needed
        for text in ([*each.flags[:1], each.choices[0] if each.choices else "1"])
    ]

    places, named = bind(function, line)

    classes = {each.owner for each in arguments_of(function) if each.owner}
    assert set(named) == {each.name for each in needed if each.flags and not each.owner} | classes
    inspect.signature(function).bind(*places, **named)


@pytest.mark.parametrize("width", [40, 80, 200])
@pytest.mark.parametrize("words", [(), ("judge",), *COMMANDS], ids=" ".join)
def test_every_page_of_help_fits_its_terminal_and_loses_no_word(words: Words, width: int):
    stream = io.StringIO()
    Console(file=stream, width=width, color_system=None).print(help_pages.page(words, width))
    text = stream.getvalue()

    assert all(len(line) <= width for line in text.splitlines())
    if words in COMMANDS:
        # Long words are broken between lines, and names stand beside what is said of them.
        shown = [letter for letter in text if letter.isalnum()]
        wanted = [*(flag for each in arguments_of(command_function(words)) for flag in each.flags)]
        wanted += [
            choice for each in arguments_of(command_function(words)) for choice in each.choices
        ]
        about, texts = texts_of(command_function(words))
        wanted += [about, *texts.values()]
        assert not Counter(letter for letter in "".join(wanted) if letter.isalnum()) - Counter(
            shown
        )
        assert text.count("…") == "".join((about, *texts.values())).count("…")


FOUND = {
    "": (),
    "-h": (),
    "--help": (),
    "evaluate a b": ("evaluate",),
    "judge": ("judge",),
    "judge --help": ("judge",),
    "keywords check a --help": ("keywords", "check"),
    "demo": ("demo",),
    "demo embeddings": ("demo", "embeddings"),
    "images stats x": ("images", "stats"),
    "qa other x": ("qa",),
}

NOT_FOUND = {
    "evalute a": "there is no command 'evalute'; did you mean 'evaluate'?",
    "trec_eval a b": "there is no command 'trec_eval'; did you mean 'trec-eval'?",
    "judge lable": "there is no command 'judge lable'; did you mean 'label'?",
    "judge lable --help": "there is no command 'judge lable'; did you mean 'label'?",
    "judge --strict": "there is no command 'judge --strict'; known are",
    "--format json evaluate": "there is no option --format before a command; a command's "
    "options follow it.",
    "-- evaluate a b": "there is no option -- before a command",
}


@pytest.mark.parametrize("line", FOUND)
def test_the_longest_words_that_are_known_are_the_command(line: str):
    assert find_command(line.split()) == FOUND[line]


@pytest.mark.parametrize("line", NOT_FOUND)
def test_an_unknown_command_is_an_error_with_the_nearest_names(line: str):
    with pytest.raises(BadUsage) as caught:
        find_command(line.split())
    assert NOT_FOUND[line] in str(caught.value)


def test_a_python_function_shows_plain_types_and_the_text_of_each_field():
    parameters = inspect.signature(choose).parameters

    assert parameters["seed"].annotation is int
    assert parameters["seed"].default == 0
    said = (choose.__doc__ or "") + "\n"
    assert "\nseed: int = 0\n    The seed.\n" in said
    assert "\n    A share, as Python says it.\n" in said
    assert "\n    Weights, as a list or separated by commas.\n" in said
    assert 'from 1: "query=1,item=2,score=3" or `{"query": 1, "item": 2, "score": 3}`, or' in said


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_another_process_finds_a_command_by_its_name(words: Words):
    function = command_function(words)

    copied = pickle.loads(pickle.dumps(function))

    assert arguments_of(copied) == arguments_of(function)
    assert texts_of(copied) == texts_of(function)
