"""Print the script that completes commands in a shell."""

from argparse import ArgumentParser
from typing import Any, Literal, get_args

from rankwell.conventions import convention_names
from rankwell.data.catalogue import DROP_IN, Words, command_function, command_summaries, subcommands
from rankwell.data.options import IGNORE, SWITCHES, THREADS, Argument, arguments_of, texts_of
from rankwell.data.registry import MEASURES
from rankwell.data.tables import TieRule
from rankwell.reporting.options import Output


def completion(shell: Literal["bash", "zsh", "fish"], /) -> Output:
    """Print the script that completes commands in a shell.

    Completes commands, options, choices, measures and conventions in bash, zsh or fish.

    Save the script where the shell looks for it; for zsh, in any folder of $fpath, before compinit
    runs:

      rankwell completion bash > ~/.local/share/bash-completion/completions/rankwell
      rankwell completion zsh > ~/.zfunc/_rankwell
      rankwell completion fish > ~/.config/fish/completions/rankwell.fish

    Parameters
    ----------
    shell
        The shell that reads the script.
    """
    import shtab

    return Output(text=_with_files(shtab.complete(_program(), shell), shell))


# Before the arguments of a command whose first word may also be a second word, such as `answers
# grid`; shtab offers either.
_ZSH = """
{name}() {{
  if (( CURRENT > 2 )) && [[ $words[2] == ({seconds}) ]]; then
    local options="{name}_$words[2]_options"
    shift words
    (( CURRENT -= 1 ))
    _arguments -C -s "${{(@P)options}}"
    return
  fi
  (( CURRENT == 2 )) && {name}_commands
"""


def _with_files(script: str, shell: str) -> str:
    """The script with file names besides the second words of commands such as `qa`, which take
    arguments of their own.
    """
    for word in sorted(
        {
            words[0]
            for words in command_summaries()
            if len(words) == 2 and words[:1] in command_summaries()
        }
    ):
        name = f"_shtab_rankwell_{word}"
        if shell == "fish":
            where = f"_shtab_rankwell_using {word}; and test $_shtab_rankwell_npos -ge 0"
            script += (
                f"complete -c rankwell -n '{where}' -ka '(__fish_complete_path (commandline "
                "-ct))'\n"
            )
        elif shell == "zsh":
            seconds = "|".join(second for (second,) in subcommands(word))
            script = script.replace(f"\n{name}() {{\n", _ZSH.format(name=name, seconds=seconds))
    return script.replace("complete -o bashdefault -F", "complete -o bashdefault -o default -F")


def _program() -> ArgumentParser:
    """The parser of the whole program, made for completion alone: commands parse their own words,
    see `core.options.bind`.
    """
    lines = {**command_summaries(), (DROP_IN,): "Print what trec_eval prints."}
    parsers: dict[Words, ArgumentParser] = {(): ArgumentParser("rankwell", add_help=False)}
    parsers[()].add_argument("--version", "-V", action="store_true", help="Print the version.")
    nested = dict[Words, Any]()
    for words in lines:
        for depth, word in enumerate(words):
            parent, prefix = words[:depth], words[: depth + 1]
            if prefix not in parsers:
                nested[parent] = nested.get(parent) or parsers[parent].add_subparsers()
                parsers[prefix] = nested[parent].add_parser(
                    word, help=_plain(lines.get(prefix, word)), add_help=False
                )
    for words, parser in parsers.items():
        parser.add_argument("--help", "-h", action="store_true", help="Print the help page.")
        if words in command_summaries():
            for flags, text in SWITCHES.items():
                parser.add_argument(*flags, action="store_true", help=_plain(text))
            parser.add_argument("--threads", metavar="INT", help=_plain(THREADS.partition(". ")[0]))
            parser.add_argument("--ignore", metavar="NAME", help=_plain(IGNORE.partition(";")[0]))
            _, texts = texts_of(command_function(words))
            for argument in arguments_of(command_function(words)):
                _declare(parser, argument, texts.get(argument.name, ""))
        elif words == (DROP_IN,):
            _complete_files(parser.add_argument("files", nargs="*"))
    return parsers[()]


def _declare(parser: ArgumentParser, argument: Argument, text: str) -> None:
    choices_by_name: dict[str, Any] = {"convention": convention_names(), "ties": get_args(TieRule)}
    choices_by_name |= dict.fromkeys(("measure", "measures"), MEASURES.builtin_names)
    if parser.prog == "rankwell explain":
        choices_by_name["name"] = MEASURES.builtin_names
    described: dict[str, Any] = {"help": _plain(text.partition(". ")[0])}
    if argument.form in ("switch", "pair"):
        for word in argument.words:
            parser.add_argument(word, action="store_true", **described)
        return
    choices = argument.choices or sorted(choices_by_name.get(argument.name, ()))
    several = {"many": "+", "rest": "*"}.get(argument.form)
    names = argument.flags or (argument.name,)
    action = parser.add_argument(*names, nargs=several, choices=choices or None, **described)
    if not choices and argument.kind not in (int, float):
        _complete_files(action)


def _complete_files(added: Any) -> None:
    import shtab

    added.complete = shtab.FILE


def _plain(text: str) -> str:
    # argparse fills in what follows a percent sign.
    return text.replace("%", "%%").replace("`", "'")
