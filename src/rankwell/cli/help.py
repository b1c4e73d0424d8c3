"""The pages of help: of the program, of a word that begins several commands, and of a command."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from rich import box
from rich.console import Group
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from rankwell.data.catalogue import DROP_IN, Words, command_function, command_summaries, subcommands
from rankwell.data.options import QUIET, REQUIRED, THREADS, Argument, arguments_of, texts_of

ABOUT = "Measures how well anything retrieves: exact, explained, with uncertainty."
_DROP_IN: dict[Words, str] = {
    (DROP_IN,): "Print what trec_eval prints, byte for byte, so that a script changes one word."
}
_NARROW = 60
_KINDS = {int: "INT", float: "FLOAT", Path: "PATH"}


def page(words: Words, width: int) -> Group:
    """The page of a command, of a word that begins several, or of the program where there are no
    words.
    """
    if words in command_summaries():
        return _command_page(words, width)
    usage = Text(" ".join(["Usage: rankwell", *words, "COMMAND\n"]))
    if words:
        return Group(usage, _commands(subcommands(words[0]), width))
    return Group(usage, Text(f"{ABOUT}\n"), _commands({**command_summaries(), **_DROP_IN}, width))


def _commands(lines: Mapping[Words, str], width: int) -> Panel:
    rows = ((Text(" ".join(words), "cyan"), Text(line)) for words, line in sorted(lines.items()))
    return _panel("Commands", rows, width)


def _command_page(words: Words, width: int) -> Group:
    function = command_function(words)
    about, texts = texts_of(function)
    arguments = arguments_of(function)
    positionals, options = (
        [argument for argument in arguments if bool(argument.flags) is flagged]
        for flagged in (False, True)
    )
    required = [
        f"{argument.flags[0]} {_word(argument)}"
        for argument in options
        if argument.default is REQUIRED
    ]
    usage = " ".join(
        ["Usage: rankwell", *words, *required, "[OPTIONS]", *map(_positional_word, positionals)]
    )
    nested_commands = subcommands(words[0]) if len(words) == 1 else {}
    if nested_commands:
        usage += f"\n       rankwell {words[0]} COMMAND"
    paragraphs = "\n\n".join(
        part if part.startswith(" ") else " ".join(part.split()) for part in about.split("\n\n")
    )
    common = [
        (Text("--threads INT", "cyan"), Text(THREADS)),
        (Text("--quiet", "cyan"), Text(QUIET)),
    ]
    panels = [
        _commands(nested_commands, width) if nested_commands else None,
        _panel(
            "Arguments",
            (_row(argument, texts.get(argument.name, "")) for argument in positionals),
            width,
        )
        if positionals
        else None,
        _panel(
            "Options",
            [*(_row(argument, texts.get(argument.name, "")) for argument in options), *common],
            width,
        ),
    ]
    return Group(Text(usage + "\n"), Text(paragraphs + "\n"), *(panel for panel in panels if panel))


def _panel(title: str, rows: Iterable[tuple[Text, Text]], width: int) -> Panel:
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
    return Panel(table, title=title, title_align="left", box=box.ROUNDED, border_style="dim")


def _row(argument: Argument, text: str) -> tuple[Text, Text]:
    name = Text(" ".join(argument.words) or argument.name.upper(), "cyan")
    if argument.flags and argument.form not in ("switch", "pair"):
        name.append(f" {_word(argument)}", "")
    description = Text(text)
    if argument.choices:
        description.append(f" [{', '.join(argument.choices)}]", "dim")
    if argument.default is REQUIRED and argument.form != "rest":
        description.append(" [required]", "red")
    elif argument.form not in ("switch", "rest") and argument.default not in (None, "", (), []):
        description.append(f" [default: {argument.default}]", "dim")
    return name, description


def _word(argument: Argument) -> str:
    word = "CHOICE" if argument.choices else _KINDS.get(argument.kind, "TEXT")
    return f"{word}..." if argument.form in ("each", "many") else word


def _positional_word(argument: Argument) -> str:
    name = argument.name.upper()
    if argument.form == "rest":
        return f"[{name}...]"
    return name if argument.default is REQUIRED else f"[{name}]"
