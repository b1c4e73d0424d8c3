"""The pages of docs/reference/commands/: a list of all commands, and a page for each one, from its
function and from its section of examples/commands/.

A section has the name of the command as its heading. What stands before the first section of a file
opens the examples of each of its commands. A line `See also: ` names pages of docs/, public names
of Python and other commands, as in `guide/compare.md, rw.evaluate, rankwell report`.
"""

import posixpath
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from rankwell.cli.help import COMMANDS, default_text, option_groups, usage, value_word
from rankwell.compat.trec_eval import HELP
from rankwell.data.catalogue import DROP_IN, Words, command_function, command_summaries, subcommands
from rankwell.data.options import (
    IGNORE,
    REQUIRED,
    SWITCHES,
    THREADS,
    Argument,
    arguments_of,
    texts_of,
)

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "examples" / "commands"
FOLDER = "reference/commands"
NOTE = "<!-- Written by `make docs` from the code; do not edit. -->"
_HELP = """\
Every command has a page with its options and examples.
`rankwell COMMAND -h` shows the common options of a command, `--help` all of them;
`rankwell help COMMAND` is the same as `rankwell COMMAND --help`."""
_LISTS = """\
Lists of measures and cut-offs may be written in three ways: `-m P@10,AP`, `-m P@10 AP` or
`-m P@10 -m AP`, and `-k 1,5,10` or `-k 1 5 10`. With blanks, a further word belongs to the list
where it names a measure or is a whole number, and no file has that name. So a list never takes a
file from the command; commas leave no doubt."""
_COMMAND = "|".join(sorted(map(" ".join, command_summaries()), reverse=True))
_MARKS = re.compile(
    rf"`rankwell (?P<command>{_COMMAND})`|\brankwell (?P<bare>{_COMMAND})(?![\w-])"
    r"|(?P<code>`[^`]+`|(?<![^\s(])\{(?:[^{}]|\{[^{}]*\})*\}"
    r"|\b[a-z_]+ = (?:true|\"[^\"]*\"|\[[^\]]*\]))"
    r"|(?<![\w=])(?P<quote>['\"])(?P<quoted>(?:(?!(?P=quote)).)+)(?P=quote)(?!\w)"
    r"|(?<![\w-])(?P<option>--[a-z][\w-]*[a-z]|-[a-zA-Z](?![\w-]))"
    r"|docs/(?P<page>[\w/-]+\.md)"
    r"|(?P<sign>[\\*\[\]<|])"
)
_DROP_IN_ROW = re.compile(r"^  (-.*?)  +(\S.*(?:\n {20,}\S.*)*)$", re.MULTILINE)
_DROP_IN_DEFAULT = re.compile(r"(\S+) \(default\)| \(default (\S+)\)")
_DROP_IN_GROUPS = {
    "Input": ("-R", "-T", "-Z"),
    "Measures and rules": ("-m", "-c", "-l", "-M", "-J", "-N", "--v9", "--v10"),
    "Output": ("-q", "-n", "-D", "-o", "-v", "-h"),
}
_HEAD = "## Examples"
Row = tuple[str, str, str]
"""The cells of a table: a name, its meaning, its default."""


def command_pages(names: str) -> dict[str, str]:
    """Pages by their place in docs/. names: the page that links to those of public names."""
    pages = {f"{FOLDER}/index.md": _index(), f"{FOLDER}/.nav.yml": _navigation()}
    for name, (opening, text) in sections().items():
        words = tuple(name.split(" "))
        parts = _drop_in_parts() if name == DROP_IN else _command_parts(words)
        examples = re.sub(r"^See also: .*$", "", text, flags=re.MULTILINE).strip()
        place = parts.index(_HEAD) + 1
        parts[place:place] = filter(None, [opening, examples])
        links = "\n".join(f"* {link}" for link in _links(text, names))
        pages[f"{FOLDER}/{'-'.join(words)}.md"] = "\n\n".join(
            [f"# rankwell {name}", NOTE, *parts, "## See also", links]
        )
    return pages


def sections() -> dict[str, tuple[str, str]]:
    """What opens the examples of each command, and its section, by the command's words."""
    found: dict[str, tuple[str, str]] = {}
    for file in sorted(EXAMPLES.glob("*.md")):
        head, *parts = re.split(
            r"^## rankwell ", file.read_text(encoding="utf-8"), flags=re.MULTILINE
        )
        for part in parts:
            name, _, text = part.partition("\n")
            found[name] = head.partition("\n")[2].strip(), text.strip()
    names = {" ".join(words) for words in command_summaries()} | {DROP_IN}
    if names != found.keys():
        raise SystemExit(
            "examples/commands/ and the commands differ; write or remove the section "
            f"`## rankwell {min(names ^ found.keys())}`."
        )
    return found


def _command_parts(words: Words) -> list[str]:
    """The paragraphs and tables of a command's page."""
    function = command_function(words)
    about, texts = texts_of(function)
    arguments = arguments_of(function)
    anchors = {flag: _anchor(each.flags[0]) for each in arguments for flag in each.flags}
    parts = [command_summaries()[words], *_about(about, anchors)]
    command = usage(words, arguments).replace("\n       ", "\n")
    parts.append(f"## Usage\n\n```text\n{command}\n```")
    nested = subcommands(words[0]) if len(words) == 1 else {}
    parts += _commands({(*words, *each): text for each, text in nested.items()}) if nested else []
    parts.append(_HEAD)
    if places := [_row(each, texts, anchors) for each in arguments if not each.flags]:
        parts += ["## Arguments", _table("Argument", places)]
    parts.append("## Options")
    for title, options in option_groups(arguments).items():
        if options:
            parts += _group(title, [_row(each, texts, anchors) for each in options])
    usual = ", ".join(f"[`{flags[0]}`](index.md#{flags[0][2:]})" for flags, _ in _usual())
    return [*parts, f"Every command also takes {usual}."]


def _drop_in_parts() -> list[str]:
    """Those of the command that takes the words of another program."""
    text = HELP.read_text(encoding="utf-8")
    command, about = text[: text.index("\n  -q, ")].strip().split("\n\n")
    line, _, sentences = about.partition(". ")
    rows: dict[str, Row] = {}
    for words, meaning in _DROP_IN_ROW.findall(text):
        names = re.findall(r"(?<!\S)-[\w-]+", words)
        value = words.rpartition(names[-1])[2].strip()
        stated = _DROP_IN_DEFAULT.search(meaning) if value else None
        default = f"`{stated[1] or stated[2]}`" if stated else ""
        meaning = _DROP_IN_DEFAULT.sub(r"\1", meaning) if stated else meaning
        rows[names[0]] = (_named(_anchor(names[-1]), names, value), _prose(meaning, {}), default)
    groups = [
        _group(title, [rows[name] for name in names]) for title, names in _DROP_IN_GROUPS.items()
    ]
    command = re.sub(r"\n {15,}", "\n    ", command)
    exits = text[text.rindex("Exit codes:") :]
    return [
        f"{line}.",
        _prose(sentences, {}),
        f"## Usage\n\n```text\n{command}\n```",
        _HEAD,
        "## Options",
        *(part for group in groups for part in group),
        _prose(exits, {}),
    ]


def _links(section: str, names: str) -> list[str]:
    """The links at the end of a page."""
    found = re.search(r"^See also: (.*)$", section, re.MULTILINE)
    links = list[str]()
    for name in found[1].split(", ") if found else ():
        if name.startswith("rw."):
            place = re.search(rf"\[`(?:rw\.)?{name[3:]}(?:\(\))?`\]\(([^)]+)\)", names)
            if place is None:
                raise SystemExit(f"examples/commands/: {name} is no public name; correct it.")
            links.append(f"[`{name}`](../python/{place[1]}) in Python")
        elif name.startswith("rankwell "):
            links.append(f"[`{name}`]({name[9:].replace(' ', '-')}.md)")
        else:
            links.append(_page_link(name))
    return [*links, "[Exit codes](../results.md#exit-codes), [all commands](index.md)"]


def _page_link(name: str) -> str:
    text = (ROOT / "docs" / name).read_text(encoding="utf-8")
    title = re.findall("^# (.*)", text, re.MULTILINE)[0]
    return f"[{title}]({posixpath.relpath(name, FOLDER)})"


def _row(argument: Argument, texts: Mapping[str, str], anchors: Mapping[str, str]) -> Row:
    text = texts.get(argument.name, "")
    stated = re.search(r" ?\[default: ([^\]]*)\] ?", text)
    default = stated[1] if stated else default_text(argument)
    meaning = _prose(text.replace(stated[0], " ") if stated else text, anchors)
    if argument.choices:
        meaning += f" One of {', '.join(f'`{choice}`' for choice in argument.choices)}."
    if argument.default is REQUIRED:
        default = "" if argument.form == "rest" else "*required*"
    elif default:
        default = _prose(default, anchors) if " " in default else f"`{default}`"
    if not argument.flags:
        return f"`{argument.name.upper()}`", meaning, default
    value = "" if argument.form in ("switch", "pair") else value_word(argument)
    return _named(anchors[argument.flags[0]], argument.words, value), meaning, default


def _named(anchor: str, names: Iterable[str], value: str) -> str:
    """The names of an option, the first of which leads to itself, and the word for its value."""
    first, *others = sorted(names, key=len, reverse=True)
    words = [f'<a id="{anchor}"></a>[`{first}`](#{anchor})', *(f"`{name}`" for name in others)]
    return ", ".join(words) + (f" <var>{value}</var>" if value else "")


def _usual() -> list[tuple[tuple[str, ...], str]]:
    """The options of every command: how each is typed, and its text."""
    return [*SWITCHES.items(), (("--ignore", "NAME"), IGNORE), (("--threads", "INT"), THREADS)]


def _group(title: str, rows: Sequence[Row]) -> tuple[str, str]:
    """The options under a heading."""
    return f"### {title} {{ #{_anchor(title)}-options }}", _table("Option", rows)


def _table(head: str, rows: Sequence[Row]) -> str:
    """A table, which small screens show as a list; without defaults where no row has one."""
    has_defaults = any(default for _, _, default in rows)
    heads = [head, "Meaning", "Default"][: 2 + has_defaults]
    lines = [f"| {' | '.join(heads)} |", f"|{' --- |' * len(heads)}"]
    lines += [f"| {' | '.join(row[: len(heads)])} |" for row in rows]
    return '<div class="options" markdown>\n\n' + "\n".join(lines) + "\n\n</div>"


def _commands(lines: Mapping[Words, str]) -> list[str]:
    rows = [f"| [`{' '.join(words)}`]({'-'.join(words)}.md) | {lines[words]} |" for words in lines]
    table = "\n".join(["| Command | Meaning |", "| --- | --- |", *rows])
    return [f'<div class="options" markdown>\n\n{table}\n\n</div>']


def _headings() -> dict[str, dict[Words, str]]:
    """The commands with their lines, under the headings of the program's help."""
    lines = {**command_summaries(), (DROP_IN,): "Print what trec_eval prints, byte for byte."}
    found = {
        title: {words: lines.pop(words) for name in names for words in [*lines] if words[0] == name}
        for title, names in COMMANDS.items()
    }
    return {**found, "Shells, clusters and trec_eval": lines}


def _index() -> str:
    parts = ["# Commands", NOTE, _HELP]
    for title, lines in _headings().items():
        parts += [f"## {title}", *_commands(lines)]
    usual = list[Row]()
    for flags, text in _usual():
        names = [flag for flag in flags if flag.startswith("-")]
        sentence, *stated = re.split(r" \[default: (.*)\]", text)
        value = "" if len(names) > 1 else flags[-1]
        meaning = _prose(sentence.replace("[env: ", "Environment: `").replace("]", "`."), {})
        usual.append((_named(_anchor(flags[0]), names, value), meaning, "".join(stated)))
    parts += ["## Options of every command", _table("Option", usual)]
    return "\n\n".join([*parts, "## Lists of measures and cut-offs", _LISTS])


def _navigation() -> str:
    """The order of the pages, as MkDocs reads it."""
    parts = ["# Written by `make docs`.\nnav:\n  - index.md"]
    for title, lines in _headings().items():
        parts += [f"  - {title}:", *(f"      - {'-'.join(words)}.md" for words in lines)]
    return "\n".join(parts)


def _anchor(name: str) -> str:
    return name.lstrip("-").lower().replace(" ", "-")


def _about(text: str, anchors: Mapping[str, str]) -> list[str]:
    """The paragraphs of a docstring between its first and its examples."""
    parts = list[str]()
    own = text.partition("\n\n  rankwell ")[0].partition("\n\n")[2]
    for part in re.split(r"\n\n(?=\S)", own):
        sentences, _, code = part.partition("\n\n    ")
        parts.append(_prose(sentences, anchors) if code else _prose(sentences.rstrip(":"), anchors))
        if code:
            lines = "\n".join(line.removeprefix("    ") for line in code.splitlines())
            parts.append(f"```{'toml' if '[[' in code else 'text'}\n{lines}\n```")
    return parts


def _prose(text: str, anchors: Mapping[str, str]) -> str:
    """A sentence of help as Markdown: options lead to their rows, commands and files of docs/ to
    their pages, quoted words and objects are code, and signs of Markdown themselves.
    """

    def _marked(found: re.Match[str]) -> str:
        if option := found["option"]:
            return f"[`{option}`](#{anchors[option]})" if option in anchors else f"`{option}`"
        if found["page"]:
            return _page_link(found["page"])
        if name := found["command"] or found["bare"]:
            return f"[`rankwell {name}`]({name.replace(' ', '-')}.md)"
        if found["quoted"]:
            return f"`{found[0]}`"
        if found["code"]:
            return f"`{found['code'].strip('`')}`"
        return "&lt;" if found["sign"] == "<" else f"\\{found['sign']}"

    return _MARKS.sub(_marked, " ".join(text.split()))
