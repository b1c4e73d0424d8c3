"""Environments of their own for frameworks and servers that no extra installs, kept in
build/full-run.
"""

import json
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path

import pytest

from rankwell.store.locks import locked

ROOT = Path(__file__).resolve().parents[2]
_FOLDER = ROOT / "build" / "full-run"
_INSTALLING = 1200
"""Seconds after which an installation is given up."""


def environment(
    name: str, packages: Sequence[str], *, with_rankwell: bool = True, alone: Sequence[str] = ()
) -> Path:
    """The folder of the programs of an environment that has these packages; made if need be, and
    skipped without an index.

    with_rankwell: whether it has what rankwell depends on, so that a program there can read it from
    src. alone: packages that are installed without what they depend on, whatever version of Python
    they state.
    """
    own = (
        tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
            "dependencies"
        ]
        if with_rankwell
        else []
    )
    folder, stamp = _FOLDER / name, _FOLDER / f"{name}.json"
    expected, programs = json.dumps([sys.version, *packages, *own, *alone]), folder / "bin"
    _FOLDER.mkdir(parents=True, exist_ok=True)
    with locked(stamp, wait=_INSTALLING):
        if not stamp.exists() or stamp.read_text(encoding="utf-8") != expected:
            stamp.unlink(missing_ok=True)
            subprocess.run(
                [sys.executable, "-m", "venv", "--clear", str(folder)],
                check=True,
                timeout=_INSTALLING,
            )
            pip = [
                str(programs / "python"),
                "-m",
                "pip",
                "install",
                "--quiet",
                "--disable-pip-version-check",
            ]
            calls = [
                [*packages, *own],
                *([["--no-deps", "--ignore-requires-python", *alone]] if alone else []),
            ]
            for words in calls:
                done = subprocess.run(
                    [*pip, *words], capture_output=True, encoding="utf-8", timeout=_INSTALLING
                )
                if done.returncode:
                    pytest.skip(
                        f"{', '.join(words)} cannot be installed: "
                        f"{done.stderr.strip().splitlines()[-1]}"
                    )
            stamp.write_text(expected, encoding="utf-8")
    return programs
