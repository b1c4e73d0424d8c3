"""The command line: finds the commands, prints what they return, draws progress, and turns errors into exit codes."""

import contextlib
import os
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cyclopts import App

_DESCRIPTION = "Measures how well anything retrieves: exact, explained, with uncertainty."


def script() -> None:
    """The process `rankwell`: runs the command and leaves at once.

    Looking for garbage costs a short process a tenth of its time, and taking the modules apart at its end as much again.
    """
    import gc

    gc.set_threshold(100_000)
    code = main()
    if sys.argv[1:2] != ["trec-eval"]:
        # Other commands run code of others, which may want to tidy up.
        sys.exit(code)
    with contextlib.suppress(OSError, ValueError):
        sys.stderr.flush()
    os._exit(code)


def main() -> int:
    """Runs the command that the process's arguments name and returns its exit code."""
    arguments = sys.argv[1:]
    try:
        code = _dispatch(arguments)
        sys.stdout.flush()
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        return _abandon_output(0)
    except OSError as error:
        _say(f"rankwell: output: {error.strerror or error}.")
        return _abandon_output(2)
    return code


def _abandon_output(code: int) -> int:
    """Keeps Python from writing what is left, and failing again, when it closes standard output."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return code


def _dispatch(arguments: list[str]) -> int:
    if arguments in (["--version"], ["-V"]):
        from rankwell import __version__
        from rankwell.kernels import native

        print(f"rankwell {__version__}\nreader: {native.name()}")  # noqa: T201
        return 0
    from rankwell.errors import RankwellError

    _spare_threads(arguments)
    try:
        if arguments[:1] == ["trec-eval"]:
            from rankwell.compat import trec_eval

            return trec_eval.main(arguments[1:], sys.stdout)
        return _run(arguments)
    except RankwellError as error:
        _say(f"rankwell: {error}")
        return error.exit_code
    except (KeyboardInterrupt, BrokenPipeError):
        raise
    except OSError as error:
        _say(f"rankwell: {error.filename or 'output'}: {error.strerror or error}.")
        return 2
    except MemoryError:
        _say("rankwell: out of memory.")
        return 3
    except Exception:
        import traceback

        _say(traceback.format_exc() + "rankwell: internal error; the lines above help to mend it, please report them.")
        return 3


def _spare_threads(arguments: list[str]) -> None:
    # OpenBLAS starts its threads while NumPy is imported, a fifth of a small run; some commands multiply no matrix.
    plain = arguments[:1] == ["evaluate"] and "--intervals none" in " ".join(arguments).replace("=", " ")
    if (plain or arguments[:1] == ["trec-eval"]) and "numpy" not in sys.modules:
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def _run(arguments: list[str]) -> int:
    from cyclopts import CycloptsError

    # The parser takes a lone hyphen for an option.
    arguments = ["/dev/stdin" if argument == "-" else argument for argument in arguments]
    app = build(arguments)
    try:
        command, bound, injected = app.parse_args(arguments, print_error=False, exit_on_error=False)
    except CycloptsError as error:
        known = bool(arguments) and any(words[0] == arguments[0] for words, _ in commands())
        _say(f"rankwell: {' '.join(str(error).split())}\nTry `rankwell {f'{arguments[0]} ' if known else ''}--help`.")
        return 2
    with _Bars() as bars:
        output: Any = command(*bound.args, **bound.kwargs, **({"progress": bars.update} if "progress" in injected else {}))
    if output is None:
        return 0
    for note in output.notes:
        _say(note)
    if output.text:
        sys.stdout.write(output.text if output.text.endswith("\n") else output.text + "\n")
    return output.exit_code


def _say(text: str) -> None:
    sys.stderr.write(text + "\n")


def build(arguments: Sequence[str] = ()) -> "App":
    """The application: one command per file of `protocols/`, none of them imported before it is called.

    arguments: what is to be run. A command that has others below it (`demo`, for there is `demo agree`) can be called where they
    begin with its word and do not go on with one of those.
    """
    from cyclopts import App, Parameter

    app = App(
        name="rankwell",
        help=_DESCRIPTION,
        version_flags=["--version", "-V"],
        help_format="plaintext",
        default_parameter=Parameter(negative_iterable=()),
    )
    found = dict(commands())
    below = {words for words in found if len(words) > 1}
    groups = {words[0]: App(name=words[0], help=found.get((words[0],), "")) for words in sorted(below)}
    for words, line in found.items():
        name = " ".join(words).replace("_", "-")
        if name not in groups:
            # With a blank in its name this is a line in the list of commands and no more: the words arrive one by one.
            app.command(_target(words), name=name, help=line)
        if len(words) > 1:
            groups[words[0]].command(_target(words), name=name.partition(" ")[2], help=line)
    for name, group in groups.items():
        if (name,) not in found:
            group.show = False
        elif tuple(word.replace("-", "_") for word in arguments[:2]) not in below and [*arguments[:1]] == [name]:
            group.default(_load(_target((name,))))
            group.usage = f"Usage: rankwell {name} [OPTIONS]\n       rankwell {name} COMMAND"
        app.command(group, name=name)
    app.command(_trec_eval, name="trec-eval")
    return app


def _target(words: tuple[str, ...]) -> str:
    return f"rankwell.protocols.{'_'.join(words)}:{words[-1]}"


def _load(target: str) -> Callable[..., Any]:
    import importlib

    module, _, function = target.partition(":")
    return getattr(importlib.import_module(module), function)


def _trec_eval() -> None:
    """Print what trec_eval prints, byte for byte, so that a script changes one word."""


def commands() -> list[tuple[tuple[str, ...], str]]:
    """The words of every command with its one line of help, in alphabetical order; read from the files without importing them."""
    from pathlib import Path

    found: list[tuple[tuple[str, ...], str]] = []
    for path in sorted(Path(__file__).with_name("protocols").glob("[a-z]*.py")):
        # Taking all of them apart properly would be a tenth of the time of a small evaluation.
        with path.open(encoding="utf-8") as file:
            line = file.readline().strip().removeprefix('"""').removesuffix('"""')
        found.append((tuple(path.stem.split("_", 1)), line))
    return found


class _Bars:
    """Progress bars on standard error: only on a terminal, and only for work that has taken a second."""

    def __init__(self) -> None:
        self._started: float | None = None
        self._progress: Any = None
        self._tasks: dict[str, Any] = {}

    def __enter__(self) -> "_Bars":
        return self

    def __exit__(self, *_: object) -> None:
        if self._progress is not None:
            self._progress.stop()

    def update(self, name: str, done: int, total: int) -> None:
        """Moves the bar of one piece of work."""
        if not sys.stderr.isatty():
            return
        import time

        now = time.monotonic()
        self._started = now if self._started is None else self._started
        if self._progress is None and now - self._started < 1.0:
            return
        if self._progress is None:
            from rich.console import Console
            from rich.progress import Progress

            self._progress = Progress(console=Console(stderr=True), transient=True)
            self._progress.start()
        if name not in self._tasks:
            self._tasks[name] = self._progress.add_task(name, total=total)
        self._progress.update(self._tasks[name], completed=done, total=total)


if __name__ == "__main__":
    script()
