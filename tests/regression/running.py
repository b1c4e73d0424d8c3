"""Runs cases: command lines in a folder of drawn inputs, in this process, and what they print and
write.
"""

import contextlib
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
import types
from collections.abc import Callable, Generator, Mapping, Sequence
from pathlib import Path
from typing import Any

import rankwell
from rankwell import reporting
from regression import readable

Parts = dict[str, list[str]]
"""What a case left: name of the part (`1 stdout`, `file out/summary.csv`) -> its lines."""


def command_line() -> int:
    """The process's arguments as a command: the one place that knows where rankwell's entry is."""
    from rankwell.cli import main

    return main()


class Workspace:
    """A folder with inputs, in which cases run one after the other; whatever a case writes or
    changes is undone after it.
    """

    def __init__(self, folder: Path, build: Callable[[Path], None]) -> None:
        self.folder = folder.resolve()
        self.folder.mkdir(parents=True, exist_ok=True)
        build(self.folder)
        self._before = self._state()
        self._inputs = {name: (self.folder / name).read_bytes() for name in self._before}
        self._folders = {path.name for path in self.folder.iterdir()}

    def run(self, lines: str) -> Parts:
        """Runs one command a line and returns their output streams, exit codes and, at the end, the
        files that they wrote.
        """
        parts: Parts = {}
        for place, line, code, out, err in self._outputs(lines.split("\n")):
            parts[f"{place} $ rankwell {line}"] = [f"exit {code}"]
            parts[f"{place} stdout"] = readable.of_text(self._clean(out))
            parts[f"{place} stderr"] = readable.of_text(self._clean(err))
        for name in self._changed():
            shown = readable.of_file(self.folder / name, self._clean)
            parts[f"file {readable.of_name(name)}"] = shown
        self._restore()
        return parts

    def printed(
        self, lines: Sequence[str], read: Callable[[Path], Any]
    ) -> tuple[list[str], dict[str, Any]]:
        """The standard output of each command as it is, and what `read` finds in the files that
        they wrote.
        """
        printed = [""] * len(lines)
        for place, _, _, out, _ in self._outputs(lines):
            printed[place - 1] = out
        found = {name: read(self.folder / name) for name in self._changed()}
        self._restore()
        return printed, found

    def _outputs(self, lines: Sequence[str]) -> Generator[tuple[int, str, int, str, str]]:
        """Runs the commands and yields number, line, exit code, output and standard error of each
        but copies of files. `< FILE` before a command is its standard input, `COLUMNS=80` the width
        of its terminal.
        """
        with _surroundings(self.folder), _measurements():
            for place, line in enumerate(lines, 1):
                words = shlex.split(line)
                if words[0] == "cp":
                    shutil.copyfile(words[1], words[2])
                elif words[0] == "<":
                    yield place, line, *_with_input(Path(words[1]), words[2:])
                elif words[0].startswith("COLUMNS="):
                    with _terminal(int(words[0].removeprefix("COLUMNS="))):
                        yield place, line, *in_process(words[1:])
                else:
                    yield place, line, *in_process(words)

    def called(self, function: Callable[[], Mapping[str, Any]]) -> Mapping[str, Any]:
        """The named values that a function returns in the folder."""
        with _surroundings(self.folder), _measurements():
            found = function()
        self._restore()
        return found

    def _changed(self) -> list[str]:
        now = self._state()
        return [name for name in sorted(now) if now[name] != self._before.get(name)]

    def _restore(self) -> None:
        """Removes new files and writes changed ones as they were."""
        now = self._state()
        for name in now:
            if name not in self._before:
                (self.folder / name).unlink()
        for path in self.folder.iterdir():
            if path.is_dir() and path.name not in self._folders:
                shutil.rmtree(path)
        restored = [name for name in self._before if now.get(name) != self._before[name]]
        for name in restored:
            (self.folder / name).write_bytes(self._inputs[name])
        if restored:
            self._before = self._state()

    def _state(self) -> dict[str, tuple[int, int]]:
        """Size and time of each file by its path."""
        found: dict[str, tuple[int, int]] = {}
        folders = [("", str(self.folder))]
        for within, folder in folders:
            with os.scandir(folder) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        # The plans and records of work folders have times and hosts.
                        folders += (
                            []
                            if entry.name in ("__pycache__", "work")
                            else [(f"{within}{entry.name}/", entry.path)]
                        )
                    elif not entry.is_dir():
                        stat = entry.stat()
                        found[f"{within}{entry.name}"] = (stat.st_size, stat.st_mtime_ns)
        return found

    def _clean(self, text: str) -> str:
        version = rankwell.__version__
        for before, after in (
            ("rankwell ", ""),
            ("version=", ""),
            ('version": "', '"'),
            ('rankwell": "', '"'),
        ):
            text = text.replace(f"{before}{version}{after}", f"{before}<version>{after}")
        text = re.sub(r'(rapidfuzz(?:=|": "))[0-9.]+', r"\1<version>", text)
        text = re.sub(r"\d+\.\d+ s\b", "<time> s", text)
        return text.replace(str(self.folder), "<folder>")


def in_process(words: list[str]) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of a command line."""
    out, err = (
        io.TextIOWrapper(io.BytesIO(), "utf-8", "surrogateescape", newline="", write_through=True)
        for _ in range(2)
    )
    before, sys.argv = sys.argv, ["rankwell", *words]
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = command_line()
    finally:
        sys.argv = before
    said, complained = (
        each.buffer.getvalue().decode("utf-8", "surrogateescape") for each in (out, err)
    )
    return code, said, complained


def _with_input(file: Path, words: list[str]) -> tuple[int, str, str]:
    """The same of a process of its own that reads the file as its standard input."""
    here = str(Path(rankwell.__file__).resolve().parent.parent)
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, [here, os.environ.get("PYTHONPATH", "")])),
    }
    with file.open("rb") as stream:
        done = subprocess.run(
            [sys.executable, "-m", "rankwell", *words],
            stdin=stream,
            capture_output=True,
            env=environment,
        )
    return (
        done.returncode,
        done.stdout.decode("utf-8", "surrogateescape"),
        done.stderr.decode("utf-8", "surrogateescape"),
    )


@contextlib.contextmanager
def _terminal(width: int) -> Generator[None]:
    """A terminal of a width, for which tables are laid out."""
    before = reporting.terminal_of
    reporting.terminal_of = lambda *_: reporting.Terminal(width)
    try:
        yield
    finally:
        reporting.terminal_of = before


@contextlib.contextmanager
def _surroundings(folder: Path) -> Generator[None]:
    """The folder as the current one, a terminal of a fixed width, no network, and charts as their
    specifications.
    """
    fixed = {
        "COLUMNS": "120",
        "LINES": "50",
        "NO_COLOR": "1",
        "TERM": "dumb",
        "HF_HUB_OFFLINE": "1",
    }
    before, here, path = {name: os.environ.get(name) for name in fixed}, Path.cwd(), list(sys.path)
    os.environ.update(fixed)
    os.chdir(folder)
    # Code of the cases is found as that of installed packages is.
    sys.path += [str(each) for each in (folder, folder / "answers")]
    try:
        with specifications():
            yield
    finally:
        os.chdir(here)
        sys.path[:] = path
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.__setitem__(name, value)


@contextlib.contextmanager
def specifications() -> Generator[None]:
    """Charts are written as their Vega-Lite specifications, which say all that a picture shows, at
    a hundredth of the time.
    """
    import json

    import vl_convert

    drawn = {name: getattr(vl_convert, name) for name in ("vegalite_to_svg", "vegalite_to_png")}
    vl_convert.vegalite_to_svg = lambda spec, **_: json.dumps(spec)
    vl_convert.vegalite_to_png = lambda spec, **_: json.dumps(spec).encode()
    try:
        yield
    finally:
        for name, function in drawn.items():
            setattr(vl_convert, name, function)


@contextlib.contextmanager
def _measurements() -> Generator[None]:
    """A machine that is the same everywhere: its clock advances by 1/1024 s, which is exact,
    whenever rankwell reads it in a thread; its peak of memory, its name and its number of
    processors are constant. Live engines are asked in this process.
    """
    import platform
    import resource
    import time

    from rankwell import threads
    from rankwell.tasks.engine import loops, measuring

    clock, processor, usage, ticks = (
        time.perf_counter,
        time.process_time,
        resource.getrusage,
        threading.local(),
    )
    named, kind, count, machine = platform.platform, platform.machine, os.cpu_count, threads.machine

    def read() -> float:
        if not sys._getframe(1).f_globals.get("__name__", "").startswith("rankwell."):  # pyright: ignore[reportPrivateUsage]
            return clock()
        ticks.count = getattr(ticks, "count", 0) + 1
        return ticks.count / 1024

    time.perf_counter = time.process_time = read
    resource.getrusage = lambda who: types.SimpleNamespace(ru_maxrss=512 * 1024)
    measuring.ProcessHost = loops.LocalHost  # pyright: ignore[reportAttributeAccessIssue]
    platform.platform, platform.machine, os.cpu_count = lambda: "Linux", lambda: "x86_64", lambda: 2
    threads.machine = lambda: {
        "system": "Linux",
        "processor": "x86_64",
        "processors": 2,
        "threads": 2,
    }
    try:
        yield
    finally:
        time.perf_counter, time.process_time, resource.getrusage, os.cpu_count = (
            clock,
            processor,
            usage,
            count,
        )
        platform.platform, platform.machine, threads.machine = named, kind, machine
        measuring.ProcessHost = loops.ProcessHost


@contextlib.contextmanager
def workspace(build: Callable[[Path], None]) -> Generator[Workspace]:
    """A workspace in a folder that is removed afterwards, with the modules that were imported from
    it.
    """
    with tempfile.TemporaryDirectory(prefix="goldens-") as folder:
        try:
            yield Workspace(Path(folder) / "world", build)
        finally:
            for name, module in list(sys.modules.items()):
                if str(getattr(module, "__file__", None) or "").startswith(folder):
                    del sys.modules[name]
