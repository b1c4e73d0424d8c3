"""The pages of help: of the program, of a word that begins several commands, and of a command."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import get_args

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from rankwell.data.catalogue import Words, command_function, command_summaries, subcommands
from rankwell.data.options import (
    IGNORE,
    REQUIRED,
    SWITCHES,
    THREADS,
    Argument,
    arguments_of,
    texts_of,
)
from rankwell.data.options import Group as Heading

ABOUT = (
    "Evaluates search and retrieval: search engines, RAG, embedding models and recommenders. "
    "It tells you which system is better, and where it fails."
)
COMMANDS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "Evaluate and compare": (
            *("evaluate", "compare", "report", "check", "gate", "explain", "demo"),
        ),
        "Other kinds of data": (
            *("qa", "rag", "embeddings", "crossmodal", "images", "keywords", "pairs", "clicks"),
            "beyond",
        ),
        "Judgments, search engines, benchmarks": ("judge", "engine", "bench"),
        "Files": ("convert", "fuse", "encode", "knn"),
    }
)
"""The first words of commands under their headings, in the order of the page. Others are hidden."""
_WORDS = {
    "judge": "Make relevance judgments with few labels",
    "engine": "Query a live search engine and evaluate it",
}
"""The lines of first words that are no commands themselves."""
_EXAMPLES = """\
rankwell demo
rankwell evaluate qrels.txt bm25.run dense.run
rankwell compare qrels.txt bm25.run dense.run -o results"""
_NARROW = 60
_KINDS = {int: "INT", float: "FLOAT", Path: "PATH"}


def page(words: Words, width: int, *, is_short: bool = False) -> Group:
    """The page of a command, of a word that begins several, or of the program where there are no
    words. is_short: only the common options of a command, `-h`.
    """
    if words in command_summaries():
        return _command_page(words, width, is_short=is_short)
    usage = Text(" ".join(["Usage: rankwell", *words, "COMMAND"]))
    if words:
        about = Text(f"\n{_WORDS.get(words[0], '')}.")
        return Group(usage, about, *_section("Commands", _rows(subcommands(words[0])), width))
    lines = {words: line for words, line in command_summaries().items() if len(words) == 1}
    lines |= {(word,): line for word, line in _WORDS.items()}
    sections = [
        part
        for title, names in COMMANDS.items()
        for part in _section(
            title, _rows({(name,): lines[(name,)] for name in names if (name,) in lines}), width
        )
    ]
    closing = Text("\nrankwell COMMAND -h: its common options; --help: all of them.")
    return Group(usage, Text(f"\n{ABOUT}"), *sections, *_examples(_EXAMPLES), closing)


def _rows(lines: Mapping[Words, str]) -> list[tuple[Text, Text]]:
    return [
        (Text(" ".join(words).ljust(10), "cyan"), Text(line.removesuffix(".")))
        for words, line in lines.items()
    ]


def _command_page(words: Words, width: int, *, is_short: bool) -> Group:
    function = command_function(words)
    about, texts = texts_of(function)
    arguments = arguments_of(function)
    paragraphs = about.split("\n\n")
    examples = [text for text in paragraphs if text.startswith("  rankwell ")]
    sentences = [
        text if text.startswith(" ") else " ".join(text.split())
        for text in paragraphs
        if text not in examples
    ]
    positionals = [argument for argument in arguments if not argument.flags]
    nested_commands = subcommands(words[0]) if len(words) == 1 else {}
    parts: list[RenderableType] = [
        Text(f"Usage: {usage(words, arguments)}"),
        Text("\n" + "\n\n".join(sentences[:1] if is_short else sentences)),
    ]
    if nested_commands:
        parts += _section("Commands", _rows(nested_commands), width)
    if positionals:
        rows = [_row(argument, texts, is_short=is_short) for argument in positionals]
        parts += _section("Arguments", rows, width)
    groups = option_groups(arguments)
    if is_short:
        options = [argument for argument in arguments if argument.flags and argument.is_common]
        groups = {"Common options": options}
    rows_of = {
        title: [_row(argument, texts, is_short=is_short) for argument in group]
        for title, group in groups.items()
    }
    if not is_short:
        rows_of["Output"] += [
            (Text(" ".join(flags), "cyan"), Text(text)) for flags, text in SWITCHES.items()
        ]
        rows_of["Output"].append((Text("--ignore NAME", "cyan"), Text(IGNORE)))
        rows_of["Scaling"].append((Text("--threads INT", "cyan"), Text(THREADS)))
    for title, rows in rows_of.items():
        parts += _section(title, rows, width) if rows else []
    parts += _examples("\n".join(examples))
    if is_short:
        parts.append(Text(f"\nAll options: rankwell {' '.join(words)} --help"))
    return Group(*parts)


def option_groups(arguments: Iterable[Argument]) -> dict[str, list[Argument]]:
    """The options of a command under the titles of its help, some of them empty."""
    groups: dict[str, list[Argument]] = {title: [] for title in get_args(Heading)}
    for argument in arguments:
        if argument.flags:
            groups[argument.group].append(argument)
    return groups


def usage(words: Words, arguments: Iterable[Argument]) -> str:
    """How a command is typed, and below it how its subcommands are."""
    required = [
        f"{argument.flags[0]} {value_word(argument)}"
        for argument in arguments
        if argument.flags and argument.default is REQUIRED
    ]
    places = [_positional_word(argument) for argument in arguments if not argument.flags]
    line = " ".join(["rankwell", *words, *required, "[OPTIONS]", *places])
    has_commands = len(words) == 1 and subcommands(words[0])
    return line + (f"\n       rankwell {words[0]} COMMAND" if has_commands else "")


def _section(
    title: str, rows: Iterable[tuple[Text, Text]], width: int
) -> tuple[RenderableType, RenderableType]:
    """A title, and the rows below it."""
    table = Table.grid(padding=(0, 2, 0, 0), expand=True)
    if width < _NARROW:
        table.add_column(overflow="fold")
        for name, description in rows:
            table.add_row(name)
            table.add_row(Padding(description, (0, 0, 0, 2)))
    else:
        table.add_column(max_width=26, overflow="fold")
        table.add_column(ratio=1, overflow="fold")
        for row in rows:
            table.add_row(*row)
    return Text(f"\n{title}", "bold"), Padding(table, (0, 0, 0, 2))


def _examples(lines: str) -> list[RenderableType]:
    commands = "\n".join(f"  {line.strip()}" for line in lines.splitlines() if line.strip())
    return [Text("\nExamples", "bold"), Text(commands)] if commands else []


def _row(argument: Argument, texts: Mapping[str, str], *, is_short: bool) -> tuple[Text, Text]:
    name = Text(" ".join(argument.words) or argument.name.upper(), "cyan")
    if argument.flags and argument.form not in ("switch", "pair"):
        name.append(f" {value_word(argument)}", "")
    text = texts.get(argument.name, "")
    if is_short:
        computed_default = re.search(r" \[default: .*?\]$", text)
        text = re.split(r"(?<=[.?;]) (?=[A-Za-z`])", text)[0].rstrip(".;") + "."
        if computed_default and computed_default[0] not in text:
            text += computed_default[0]
    description = Text(text)
    if argument.choices:
        description.append(f" [{', '.join(argument.choices)}]", "dim")
    if argument.default is REQUIRED and argument.form != "rest":
        description.append(" [required]", "red")
    elif default := default_text(argument):
        description.append(f" [default: {default}]", "dim")
    return name, description


def default_text(argument: Argument) -> str:
    """The default value as it is typed; "" where there is none to show."""
    value = argument.default
    if argument.form == "pair":
        return argument.flags[0] if value else ""
    if argument.form in ("switch", "rest") or value is None or value == ():
        return ""
    return ",".join(map(str, value)) if isinstance(value, tuple | list) else str(value)


def value_word(argument: Argument) -> str:
    """The word that stands for the value of an option."""
    word = "CHOICE" if argument.choices else _KINDS.get(argument.kind, "TEXT")
    return f"{word}..." if argument.form in ("each", "many") else word


def _positional_word(argument: Argument) -> str:
    name = argument.name.upper()
    if argument.form == "rest":
        return f"[{name}...]"
    return name if argument.default is REQUIRED else f"[{name}]"
