"""One name of an option has one meaning, one meaning has one name, and there are few names."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from io import StringIO
from typing import Any, NamedTuple

from rich.console import Console

from rankwell.cli import with_lists
from rankwell.cli.help import page
from rankwell.data.catalogue import command_function, command_summaries
from rankwell.data.options import Argument, Doc, arguments_of, texts_of

MOST_NAMES = 170


class Use(NamedTuple):
    """An option of one command."""

    command: str
    argument: Argument
    help: str

    @property
    def meaning(self) -> tuple[Any, ...]:
        """What is the same in all commands."""
        argument = self.argument
        default = repr(argument.default)
        return argument.form, argument.kind, argument.choices, default, self.help


def uses() -> dict[str, list[Use]]:
    """All uses of each option, by its longest name."""
    found = defaultdict[str, list[Use]](list)
    for words in command_summaries():
        function = command_function(words)
        _, texts = texts_of(function)
        for argument in arguments_of(function):
            if argument.flags:
                name = max(argument.flags, key=len)
                found[name].append(Use(" ".join(words), argument, texts.get(argument.name, "")))
    return found


def differing(found: Mapping[str, list[Use]]) -> dict[str, list[str]]:
    """The options that differ between commands without a stated reason, and their commands."""
    odd = dict[str, list[str]]()
    for name, same_name in found.items():
        reasons = [_commands(text, same_name) for text in _REASONS.get(name, {}).values()]
        unexplained = [
            use for use in same_name if not any(use.command in commands for commands in reasons)
        ]
        if len({use.meaning for use in unexplained}) > 1:
            odd[name] = [use.command for use in unexplained]
    return odd


def test_an_option_has_one_type_one_default_and_one_help_in_all_commands() -> None:
    assert differing(uses()) == {}


def test_cut_offs_are_a_list_in_every_command_that_has_them() -> None:
    """A search for neighbours and an interleaved list have a number of results, which is one:
    `--neighbours` and `--depth`, never `-k`.
    """
    for use in uses()["-k"]:
        function = command_function(tuple(use.command.split()))
        typed = with_lists(function, ["-k", "1", "3", "5"])
        assert typed == with_lists(function, ["-k", "1,3,5"]) == ["-k", "1,3,5"], use.command
        assert use.argument.kind is str, use.command


def test_every_reason_is_of_commands_that_have_the_option() -> None:
    found = uses()
    for name, reasons in _REASONS.items():
        commands = {use.command for use in found[name]}
        for text in reasons.values():
            named = text.removeprefix("all but ").split(", ")
            assert set(filter(None, named)) <= commands, (name, text)


def test_python_calls_an_option_as_the_command_line_does() -> None:
    other_names = {
        f"{use.command} {name}: {use.argument.name}"
        for name, same_name in uses().items()
        for use in same_name
        if use.argument.name not in _names_in_python(use.argument)
    }

    assert other_names == set(_OTHER_NAMES)


def test_there_are_few_names_of_options() -> None:
    """On the help pages as they are printed, hidden commands and second names included. The page
    of `trec-eval` has that tool's own options.
    """
    groups = {(words[0],) for words in command_summaries()}
    names = set[str]().union(*map(names_on_page, {(), *groups, *command_summaries()}))

    typed = {
        flag for same_name in uses().values() for use in same_name for flag in use.argument.words
    }
    assert {name for name in typed if name.startswith("--")} <= names
    assert len(names) <= MOST_NAMES, sorted(names)


def names_on_page(words: tuple[str, ...]) -> set[str]:
    """The long names in the first column of a help page, all that stand for one option."""
    console = Console(width=200, file=StringIO())
    console.print(page(words, 200, is_short=False))
    first_columns = re.findall(r"^  +((?:--?[a-zA-Z][\w-]*,? )+)", console.file.getvalue(), re.M)
    return set(re.findall(r"--[a-z][a-z0-9-]*", " ".join(first_columns)))


def in_several_groups(found: Mapping[str, list[Use]]) -> dict[str, set[str]]:
    """The options that stand under several headings without another meaning."""
    groups = {
        name: {
            use.argument.group for use in same_name if (name, use.command) not in _OTHER_MEANINGS
        }
        for name, same_name in found.items()
    }
    return {name: headings for name, headings in groups.items() if len(headings) > 1}


def test_an_option_stands_under_one_heading_in_all_commands() -> None:
    assert in_several_groups(uses()) == {}


def test_an_option_under_two_headings_is_found() -> None:
    [use, *others] = uses()["--metric"]
    mark = Doc("Where vectors are read.", "Input")
    moved = use._replace(argument=use.argument._replace(marks=(mark,)))

    assert in_several_groups({"--metric": [moved, *others]}) == {"--metric": {"Input", "Method"}}


def test_every_other_meaning_is_of_a_command_that_has_the_option() -> None:
    found = {(name, use.command) for name, same_name in uses().items() for use in same_name}

    assert found >= _OTHER_MEANINGS


def test_options_stand_under_the_heading_that_says_what_they_are() -> None:
    groups = {name: same_name[0].argument.group for name, same_name in uses().items()}

    assert {name: groups[name] for name in _PLACED} == _PLACED


def test_two_uses_that_differ_without_a_reason_are_found() -> None:
    def first(*, depth: int = 1) -> None:
        """One.

        Parameters
        ----------
        depth
            How many are read.
        """

    def second(*, depth: int = 2) -> None:
        """Two.

        Parameters
        ----------
        depth
            How many are read.
        """

    found = {
        "--depth": [
            Use(function.__name__, arguments_of(function)[0], texts_of(function)[1]["depth"])
            for function in (first, second)
        ]
    }

    assert differing(found) == {"--depth": ["first", "second"]}


_OTHER_NAMES = {
    "judge label --import: import_": "Python reserves the word",
    "convert --from: source_format": "Python reserves the word",
    "convert --to: target_format": "as --from",
    "fuse --to: target_format": "as in convert",
}
"""Options that Python calls otherwise, and why."""


def _names_in_python(argument: Argument) -> set[str]:
    """The names that a parameter may have: that of a flag, or its plural of a list."""
    names = {re.sub("^-+", "", flag).replace("-", "_") for flag in argument.flags}
    plurals = {f"{name}s" for name in names} | {f"{name[:-1]}ies" for name in names}
    return names | (plurals if argument.form in ("each", "many") else set())


_OTHER_MEANINGS = {("--schema", "explain"), ("--batch-size", "judge pool")}
"""Options that share no more than a name: a schema to print, and a batch for people."""
_PLACED = {
    **dict.fromkeys(("--queries", "--documents", "--tune", "--columns"), "Input"),
    **dict.fromkeys(("--encoder", "--metric", "--depth"), "Method"),
    **dict.fromkeys(("--measure", "-k", "--convention", "--ties"), "Measures and rules"),
    **dict.fromkeys(("--seed", "--intervals", "--baseline"), "Statistics"),
    **dict.fromkeys(("--output", "--caption", "--label", "--digits", "--to", "--open"), "Output"),
    **dict.fromkeys(("--device", "--dry-run"), "Scaling"),
}
_REASONS: Mapping[str, Mapping[str, str]] = {
    "--baseline": {
        "an experiment has no first system": "bench",
        "it may be another folder, and nothing is compared without it": "gate",
    },
    "--batch-size": {"a judge takes more than a model does": "judge pool"},
    "--clients": {"its load is not measured": "judge llm"},
    "--columns": {
        "a log has columns of its own": "clicks",
        "texts have columns of their own": "encode",
    },
    "--confidence": {"one reference is the answer": "images"},
    "--convention": {"each task has conventions of its own": "all but "},
    "--depth": {
        "a list for people is short": "clicks interleave",
        "so many are asked for": "engine run",
        "most conventions cut no list": "images",
        "by default what the measure reads": "judge pool",
        "a reader sees the first documents": "qa",
    },
    "--device": {"torch alone has devices": "knn"},
    "--difference": {"the power of a study's plan is 80 %": "judge plan"},
    "--documents": {
        "their ids alone count": "beyond",
        "they are indexed": "engine run",
        "they decide what is relevant": "qa",
    },
    "--dry-run": {"it has cells": "bench"},
    "--duplicates": {
        "the first of two is the better": "engine run",
        "conventions have rules of their own": "qa",
    },
    "--encoder": {
        "it is what encode runs": "encode",
        "it encodes queries": "engine run",
        "it encodes pictures": "images",
        "its threshold is sought": "keywords calibrate",
    },
    "--estimate": {"by default that of the pool": "judge estimate"},
    "--exclude-group": {
        "groups are columns of the data set": "images",
        "groups are columns of the annotations": "keywords",
        "queries have groups of their own": "knn",
    },
    "--executor": {"matching runs on this machine alone": "images, images match"},
    "--folds": {"it has no effect without --tune": "fuse"},
    "--format": {
        "not every output has every format": "all but engine check, engine list, fuse",
        "it has no effect without --tune": "fuse",
    },
    "--group": {"pairs have no attributes, and targets": "pairs"},
    "--intervals": {
        "they may be over rows": "clicks",
        "they are of differences": "clicks credit, compare, gate",
        "they are over pairs": "pairs",
    },
    "--item-ids": {
        "columns of scores have ids, too": "crossmodal",
        "scores have ids, too": "images",
        "queries have ids of their own": "knn",
    },
    "--item-vectors": {
        "they are compared with each other": "beyond",
        "they replace scores": "crossmodal",
        "they are indexed": "engine run",
        "several systems are compared": "images",
    },
    "--keyword-groups": {
        "they are further columns": "keywords check",
        "they become columns": "keywords template",
    },
    "--local-features": {"it is what match runs": "images match"},
    "--max-requests": {"it is in items, by default all": "judge llm"},
    "--measure": {
        "each command has measures of its own": "all but bench, judge estimate, judge pool",
        "a study has one measure": "judge estimate, judge pool",
    },
    "--method": {"each command has methods of its own": "clicks interleave"},
    "--metric": {
        "neighbours are always sought by one": "embeddings, knn",
        "several are compared at once": "pairs",
    },
    "--model": {"it names replies that are kept": "judge estimate"},
    "--no-relevant": {"by default they are left out": "keywords"},
    "--open": {"a page is often written for others": "report"},
    "--option": {"each program has parameters of its own": "judge llm"},
    "--output": {"each command writes files of its own": "all but gate"},
    "--overwrite": {"a command that redoes work says what it redoes": "all but encode"},
    "--qrels": {
        "most measures need none": "beyond",
        "diagonal is usual": "crossmodal",
        "the reference is judged beside the candidates": "embeddings",
        "labels are usual": "images",
        "they are compared with, and decide no value": "judge agreement",
        "they are shown to the judge": "judge label",
    },
    "--qrels-format": {"files of questions have formats of their own": "qa"},
    "--queries": {
        "by default they are those beside the source": "convert",
        "equal captions hold the ceiling down": "crossmodal",
        "a few texts will do": "engine check",
        "they are asked": "engine run",
        "they search for clips": "keywords",
        "they are checked": "keywords check",
    },
    "--query-ids": {
        "rows of scores have ids, too": "crossmodal",
        "scores have ids, too": "images",
        "they are chosen among the clips": "keywords",
    },
    "--query-vectors": {
        "they replace scores": "crossmodal",
        "random ones will do": "engine check",
        "they are asked": "engine run",
        "they are of texts": "keywords",
    },
    "--reference": {"pairs may have targets instead": "pairs"},
    "--relevance": {"documents hold answers or not": "qa"},
    "--request-timeout": {"a model takes longer than a search": "judge llm"},
    "--retries": {"what is measured is not asked for again unless it is wanted": "judge llm"},
    "--run-format": {"files of questions have formats of their own": "qa"},
    "--samples": {
        "a demo has data of its own": "demo embeddings",
        "lists are drawn, not queries": "clicks interleave",
        "pairs are drawn, not queries": "pairs",
    },
    "--schema": {
        "elsewhere it is a file of the user's, the schema of annotations": "explain",
        "its groups become columns": "keywords template",
    },
    "--scores": {"a list of pairs is no matrix": "pairs"},
    "--seed": {
        "scholar-stream has a seed of its own": "embeddings",
        "tfidf-svd alone draws": "encode",
        "it has no effect without --tune": "fuse",
    },
    "--strategy": {"one threshold is sought": "keywords calibrate"},
    "--strict": {"its findings have no levels": "keywords check"},
    "--test": {"impressions are won and lost": "clicks credit"},
    "--thumbnails": {"they make contact sheets": "keywords"},
    "--ties": {
        "sources have rules of their own": "crossmodal",
        "by default it depends on what ranks": "keywords",
        "a reader sees one order": "qa",
    },
    "--transform": {"scores are changed once": "crossmodal"},
    "--unjudged": {"a clip without annotation may be a mistake": "keywords"},
    "--url": {"it is no engine": "judge llm"},
    "-k": {
        "named measures have cut-offs of their own": "beyond, rag",
        "conventions have cut-offs of their own": "crossmodal, images",
        "lists of neighbours are longer": "embeddings",
        "it cuts answers and documents": "qa",
    },
}
"""By option: why its type, default or help differs from other commands, and where."""


def _commands(text: str, same_name: Sequence[Use]) -> set[str]:
    """The commands that a text names, or all but these."""
    names = set(text.removeprefix("all but ").split(", ")) - {""}
    return {use.command for use in same_name} - names if text.startswith("all but ") else names
