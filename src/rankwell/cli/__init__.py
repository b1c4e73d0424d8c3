"""The command line: finds the commands, prints what they return, draws progress, and turns errors
into exit codes.
"""

import os
import sys

# `from rankwell import` would look for a public name first, in every task.
import rankwell.startup as startup

# `typing` itself takes a tenth of what `rankwell --version` does.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any


_LONGEST = 4000
"""Characters of a message that a person may still read."""
_CTRL_C = 2
_WIDE = 70
"""Columns of a terminal that has room for a bar before a note."""


def script() -> None:
    """The process `rankwell`: runs the command and leaves at once."""
    startup.leave_working_directory()
    startup.share_arenas()
    try:
        startup.catch_interrupts()
        startup.collect_garbage_rarely()
        startup.start_one_thread(sys.argv[1:])
        _open_streams()
        code = main()
    except KeyboardInterrupt:
        code = _interrupted()
    startup.leave(sys.argv[1:], code)


def _open_streams() -> None:
    """Files and pipes get UTF-8, and ids as the bytes that they were, a terminal what it can show;
    closed streams go nowhere.
    """
    from io import TextIOWrapper

    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), mode, encoding="utf-8"))
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper) and stream.isatty():
            stream.reconfigure(errors="backslashreplace")
        elif isinstance(stream, TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="surrogateescape")


def main() -> int:
    """Runs the command that the process's arguments name and returns its exit code."""
    arguments = sys.argv[1:]
    try:
        code = _dispatch(arguments)
        sys.stdout.flush()
    except KeyboardInterrupt:
        return _interrupted()
    except BrokenPipeError:
        return _abandon_output(0)
    except OSError as error:
        _say(f"rankwell: output: {error.strerror or error}.")
        return _abandon_output(2)
    return code


def _interrupted() -> int:
    """Says that the command was interrupted; its exit code. A further interruption does not cut the
    sentence.
    """
    number = startup.end_interrupts()
    # A terminal shows ^C where the cursor is.
    newline = "\n" * sys.stderr.isatty()
    word = "interrupted" if number == _CTRL_C else "ended by SIGTERM"
    _say(
        f"{newline}rankwell: {word}; nothing is half-written. Run the same command again: "
        "where it keeps its work, it goes on."
    )
    return 128 + number


def _abandon_output(code: int) -> int:
    """Keeps Python from writing what is left, and failing again, when it closes standard output."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return code


def _dispatch(arguments: list[str]) -> int:
    if arguments[:1] in (["--version"], ["-V"]):
        from rankwell import __version__
        from rankwell._native import native

        kernel = (
            "yes" if native.name() == "native" else "no; the figures are the same, but take longer"
        )
        print(f"rankwell {__version__}\ncompiled kernel: {kernel}")  # noqa: T201
        return 0
    from rankwell.errors import at_the_command_line, offering

    if arguments[:1] == ["help"]:
        arguments = [*arguments[1:], "--help"]
    try:
        if arguments[:1] == ["trec-eval"]:
            from rankwell.compat import trec_eval

            with offering(()):
                return trec_eval.main(arguments[1:], sys.stdout)
        with at_the_command_line():
            return _run(arguments)
    except (KeyboardInterrupt, BrokenPipeError):
        raise
    except Exception as error:
        if startup.is_interruption(error):
            raise KeyboardInterrupt from error
        return _failed(error)


def _failed(error: Exception) -> int:
    """Says why a command failed; its exit code."""
    from rankwell.errors import RankwellError

    if isinstance(error, RankwellError):
        _say(f"rankwell: {_one_line(error)}")
        return error.exit_code
    if isinstance(error, OSError):
        _say(f"rankwell: {_one_line(error.filename or 'output')}: {error.strerror or error}.")
        return 2
    if isinstance(error, MemoryError) or str(error) == "can't start new thread":
        _say("rankwell: out of memory.")
        return 3
    import traceback

    text = "".join(traceback.format_exception(error))
    _say(text + "rankwell: internal error; please report it with the lines above.", fold=False)
    return 3


def _run(arguments: list[str]) -> int:
    import re
    from contextlib import ExitStack

    from rankwell.errors import BadUsage, shown

    for word in arguments:
        try:
            word.encode("utf-8", "surrogateescape")
        except UnicodeEncodeError as error:
            raise BadUsage(f"{shown(word)} has half a character; correct it.") from error
        if len(word) > 399 and re.search(r"\d{400}", word):
            raise BadUsage(f"{shown(word)} has a number of 400 digits or more; correct it.")
    end = arguments.index("--") if "--" in arguments else len(arguments)
    options, common = _without_common(arguments[:end])
    arguments = [*options, *arguments[end:]]
    with ExitStack() as stack:
        if common["--threads"]:
            from rankwell.threads import threads_from

            if len(common["--threads"]) > 1:
                raise BadUsage("--threads: given twice; once is enough.")
            stack.enter_context(threads_from(common["--threads"][0]))
        if common["--ignore"]:
            from rankwell.data.findings import ignoring

            stack.enter_context(ignoring(common["--ignore"]))
        return _run_command(arguments)


def _without_common(arguments: list[str]) -> tuple[list[str], dict[str, list[str]]]:
    """The arguments without `--threads N` and `--ignore NAME`, which every command takes, and the
    values of these two.
    """
    other_arguments = list[str]()
    common: dict[str, list[str]] = {"--threads": [], "--ignore": []}
    words = iter(arguments)
    for word in words:
        name, equals, value = word.partition("=")
        if name in common:
            common[name].append(value if equals else next(words, ""))
        else:
            other_arguments.append(word)
    return other_arguments, common


def _run_command(arguments: list[str]) -> int:
    from rankwell.cli.command_line import find_command
    from rankwell.data.catalogue import (
        HELP,
        Words,
        command_function,
        command_summaries,
        subcommands,
    )
    from rankwell.data.options import (
        SWITCHES,
        arguments_of,
        bind,
        files_to_write,
        overwriting,
        showing,
    )
    from rankwell.errors import BadUsage, offering
    from rankwell.store import reading

    # All that read standard input know it by this name.
    arguments = ["/dev/stdin" if argument == "-" else argument for argument in arguments]
    words: Words = ()
    try:
        words = find_command(arguments)
        command_arguments = arguments[len(words) :]
        end = command_arguments.index("--") if "--" in command_arguments else len(command_arguments)
        options = command_arguments[:end]
        if words not in command_summaries() or not HELP.isdisjoint(options):
            from rich.console import Console

            from rankwell.cli.help import page

            is_short = "--help" not in options
            Console().print(page(words, Console().width, is_short=is_short))
            return 0
        command = command_function(words)
        given_switches = {flags[0] for flags in SWITCHES if not {*flags}.isdisjoint(options)}
        switches = {word for flags in SWITCHES for word in flags}
        options = with_lists(command, [word for word in options if word not in switches])
        positionals, keywords = bind(command, [*options, *command_arguments[end:]])
        if "style" in keywords:
            keywords["style"].refuse_unused(keywords.get("format", "table"), keywords.get("output"))
        # Some commands have an option of this name.
        allowed = "overwrite" not in command.__annotations__ and keywords.pop("overwrite", False)
        # A dry run writes nothing, and notes what the work itself would be refused for.
        is_dry = any(getattr(value, "dry_run", False) for value in keywords.values())
        files = files_to_write(command, positionals, keywords, allowed or is_dry)
    except BadUsage as error:
        command_words = words or (arguments[:1] if subcommands(arguments[0]) else ())
        _say(
            f"rankwell: {_one_line(error)}\nTry "
            f"`{' '.join(['rankwell', *command_words, '--help'])}`."
        )
        return 2
    import warnings

    is_quiet, is_verbose = "--quiet" in given_switches, "--verbose" in given_switches
    digits = next((value.digits for value in keywords.values() if hasattr(value, "digits")), None)
    with (
        reading(),
        showing(details=is_verbose, digits=digits),
        overwriting(allowed, keeping=bool(files)),
        warnings.catch_warnings(),
        _Bars() as bars,
    ):
        warnings.showwarning = _show_warning
        if "progress" in command.__annotations__:
            keywords["progress"] = bars if sys.stderr.isatty() else None
        # The tables of a bench have the options of other commands.
        names = None if words == ("bench",) else {each.name for each in arguments_of(command)}
        with offering(names):
            output: Any = command(*positionals, **keywords)
    if output is None:
        return 0
    _print_text(output)
    if output.findings:
        _print_findings(output.findings, is_quiet=is_quiet, is_verbose=is_verbose)
    for message in output.messages:
        # `report.StatusNote`, which is loaded where there is one.
        if not (is_quiet and type(message).__name__ == "StatusNote"):
            _say(message)
    if output.next_step and not is_quiet:
        _say(f"Next: {output.next_step}", fold=False)
    return output.exit_code


def with_lists(function: "Any", words: "Sequence[str]") -> list[str]:
    """The words of a command, with every list of cut-offs as one word, and every measure with an
    option of its own: `-k 1 3 5` is `-k 1,3,5`, `-m P@10 AP` is `-m P@10 -m AP`.

    A word after the first belongs to the list where it is a whole number (`-k`) or names a measure
    (`-m`), and no file has its name; so a list never takes a file. Commas leave no doubt.
    """
    from rankwell.data.options import arguments_of

    flags = {
        flag: argument
        for argument in arguments_of(function)
        if argument.kind is str and not argument.choices and {"-k", "-m"} & {*argument.flags}
        for flag in argument.flags
    }
    new_words, option, is_value = list[str](), "", False
    for word in words:
        flag = next((flag for flag in flags if word == flag), "")
        joined = next(
            (flag for flag in flags if word.startswith(f"{flag}=" if flag[1] == "-" else flag)), ""
        )
        if flag or joined:
            option, is_value = flag or joined, bool(flag)
        elif is_value:
            is_value = False
        elif option and _belongs(flags[option].flags, word):
            if flags[option].form == "one":
                new_words[-1] += f",{word}"
                continue
            new_words.append(option)
        else:
            option = ""
        new_words.append(word)
    return new_words


def _belongs(flags: "Sequence[str]", word: str) -> bool:
    """Whether a word that follows a value of an option is a further one."""
    import re

    from rankwell.data.options import candidate_paths

    if word.startswith("-"):
        return False
    if "-m" in flags and ".py:" in word:
        return True
    if any(path.exists() for path in candidate_paths(word)):
        return False
    return bool(re.fullmatch(r"[\d,]+", word)) if "-k" in flags else _names_measures(word)


def _names_measures(text: str) -> bool:
    """Whether a text names measures by a word of rankwell or of a convention, or ends in a cut-off
    as a misspelt one does.
    """
    import re

    from rankwell.data.registry import split_names
    from rankwell.errors import BadUsage
    from rankwell.files.explanations import meanings

    if re.search(r"[/\\]|://", text):
        return False
    for name in split_names(text):
        if not re.fullmatch(r"[^@]+@\d+", name):
            try:
                meanings(name)
            except BadUsage:
                return False
    return True


_MOST_FINDINGS, _MOST_LINES = 3, 2
"""How many findings are printed without `--verbose`, and on how many lines of a terminal each."""


def _print_findings(findings: "Any", *, is_quiet: bool, is_verbose: bool) -> None:
    """Prints the most serious findings to standard error, one of each kind, or all with their
    names, and how many more there are; quiet leaves out information.
    """
    from rankwell.data.findings import by_level, first_of_each_kind

    ordered = by_level(findings)
    if is_quiet:
        ordered = [finding for finding in ordered if finding.level != "info"]
    shown = ordered if is_verbose else first_of_each_kind(ordered)[:_MOST_FINDINGS]
    if shown and sys.stdout.isatty() and sys.stderr.isatty():
        _say("")
    for finding in shown:
        mark = "" if finding.level == "info" else "! "
        if is_verbose:
            _say(f"{mark}{finding} [{finding.name}]")
        else:
            _say(f"{mark}{finding}", most_lines=_MOST_LINES)
    if more := len(ordered) - len(shown):
        _say(f"{more} more finding{'s' * (more > 1)}: --verbose")


def _print_text(output: "Any") -> None:
    """Prints the text of a command."""
    if not output.text:
        return
    text = output.text if output.text.endswith("\n") else output.text + "\n"
    if sys.stdout.isatty():
        import re

        # Whatever steers a terminal, except the colours of tables, whose cells are escaped.
        steering = (
            r"\x1b(?!\[[0-9;]*m)|[\0-\x08\x0b-\x1a\x1c-\x1f\x7f-\x9f"
            r"\u200e\u200f\u2028-\u202e\u2066-\u2069]"
        )
        text = re.sub(steering, lambda match: ascii(match[0])[1:-1], text)
    sys.stdout.write(text)
    sys.stdout.flush()


def _show_warning(message: "Warning | str", category: type[Warning], *where: "Any") -> None:
    """A warning of rankwell as a sentence, that of a library as Python shows it."""
    import warnings

    from rankwell.errors import RankwellWarning

    is_own = issubclass(category, RankwellWarning)
    _say(
        f"rankwell: {_one_line(message)}"
        if is_own
        else warnings.formatwarning(message, category, *where[:2]).rstrip()
    )


def _one_line(message: object) -> str:
    """A message whose ends of lines, which come of names and texts, are escapes; of a very long one
    the two ends.
    """
    text = str(message).replace("\n", "\\n")
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST // 2]} … {text[-_LONGEST // 2 :]}"


def _say(text: str, *, fold: bool = True, most_lines: int | None = None) -> None:
    """Writes a message with control characters as escapes, except ends of lines and bytes of ids
    that are not UTF-8.

    fold: whether a terminal gets it on lines of its width. most_lines: how many of these at most.
    """
    from rankwell.errors import printable, without_credentials

    text = printable(
        without_credentials(text), frozenset(("\n", "\t", *map(chr, range(0xDC80, 0xDD00))))
    )
    if fold and sys.stderr.isatty():
        from rankwell.reporting import terminal_of

        lines = _folded(text).split("\n")
        shown = lines if (terminal_of(sys.stderr).width or 80) < _WIDE else lines[:most_lines]
        text = "\n".join(shown)
        if len(lines) > len(shown):
            text = f"{text.rpartition(' ')[0]} …"
    try:
        sys.stderr.write(text + "\n")
        sys.stderr.flush()
    except OSError:
        # The stream is closed or full; the exit code must not change by that.
        sys.stderr = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8")


def _folded(text: str) -> str:
    """A message on lines of the terminal's width, broken at blanks: none within quotes or within a
    name on the command line.
    """
    import re
    from pathlib import Path

    from rankwell.reporting import folded, terminal_of

    names = [*sys.argv[1:], *(Path(word).stem for word in sys.argv[1:])]
    name_patterns = [
        re.escape(name) for name in sorted(names, key=len, reverse=True) if " " in name.strip()
    ]
    pattern = "|".join([*name_patterns, r"(?<!\w)'[^']*'(?!\w)", '"[^"]*"', "`[^`]*`"])
    protected_text = re.sub(pattern, lambda match: match[0].replace(" ", "\0"), text)
    return folded(protected_text, terminal_of(sys.stderr), "  ").replace("\0", " ")


class _Bars:
    """Progress bars on standard error, a terminal, for work that has taken a second."""

    def __init__(self) -> None:
        self._started: float | None = None
        self._progress: Any = None
        self._tasks: dict[str, Any] = {}

    def __enter__(self) -> "_Bars":
        return self

    def __exit__(self, *_: object) -> None:
        if self._progress is not None:
            self._progress.stop()

    def __call__(self, name: str, done: int, total: int) -> None:
        """Moves the bar of one piece of work."""
        self.noted(name, done, total, "")

    def noted(self, name: str, done: int, total: int, note: str) -> None:
        """The same, with a note behind the bar."""
        import time

        now = time.monotonic()
        self._started = now if self._started is None else self._started
        if self._progress is None and now - self._started < 1.0:
            return
        if self._progress is None:
            self._progress = _new_bars(is_noted=bool(note))
            self._progress.start()
        if name not in self._tasks:
            from rich.markup import escape

            from rankwell.errors import printable

            self._tasks[name] = self._progress.add_task(
                escape(printable(name)), total=total, completed=done, note=note
            )
        self._progress.update(self._tasks[name], completed=done, total=total, note=note)


def _new_bars(*, is_noted: bool) -> "Any":
    """Bars of one line each; what is too long for a terminal is cut at its end."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeRemainingColumn,
    )
    from rich.table import Column

    note = TextColumn(
        "{task.fields[note]}", table_column=Column(ratio=1, no_wrap=True, overflow="ellipsis")
    )
    console = Console(stderr=True)
    bar = [BarColumn(), TaskProgressColumn(), TimeRemainingColumn()]
    if is_noted:
        bar = [
            MofNCompleteColumn(),
            *([BarColumn(10), TimeRemainingColumn()] if console.width >= _WIDE else []),
        ]
    return Progress(
        TextColumn("{task.description}"), *bar, note, console=console, transient=True, expand=True
    )


if __name__ == "__main__":
    script()
