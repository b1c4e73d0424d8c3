"""Every file that an option names is an input in the manifest of the folder that is written."""

import json
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rankwell.data.catalogue import command_summaries
from regression.cases import LINES, Runner

COMMANDS = sorted(map(" ".join, command_summaries()), key=len, reverse=True)
NO_INPUTS = {
    "--convention": "its rules are in the manifest",
    "-c": "its rules are in the manifest",
    "--columns": "it names columns",
    "-m": "its definition is in the manifest",
    "--output": "it is written",
    "-o": "it is written",
}
"""Options whose value is a file that is no input, and why."""
SHOWN = {("compare", "--documents")}
"""Files that are shown on a page, and decide no figure."""


def files_of(line: str, folder: Path) -> Iterator[tuple[str, str]]:
    """The options of a command line with the files of the folder that they name."""
    option = ""
    for word in shlex.split(line):
        if word.startswith("-"):
            option = word
        file = word.rpartition("=")[2].partition(":")[0]
        if option not in NO_INPUTS and (folder / file).is_file():
            yield option, file


def manifest_of(file: Path) -> Any:
    return json.loads(file.read_text()) if file.name == "manifest.json" else None


def test_a_manifest_has_every_file_that_an_option_names():
    missing, tried = dict[tuple[str, str], str](), set[tuple[str, str]]()
    with Runner() as runner:
        folder = runner.workspace.folder
        for case, line in LINES.items():
            command = next((name for name in COMMANDS if line.startswith(f"{name} ")), "")
            pairs = {(command, option): file for option, file in files_of(line, folder)}
            pairs = {pair: file for pair, file in pairs.items() if pair[1] and pair not in tried}
            is_whole = "\n" not in line and " -o out" in line
            if not is_whole or not pairs or runner.absent(case):
                continue
            _, files = runner.workspace.printed([line], manifest_of)
            manifest = files.get("out/manifest.json") or {}
            if "inputs" not in manifest:
                continue
            tried |= {*pairs}
            recorded = {each["file"].partition(":")[0] for each in manifest["inputs"].values()}
            missing |= {pair: file for pair, file in pairs.items() if file not in recorded}
            missing = {pair: file for pair, file in missing.items() if pair not in SHOWN}

    assert missing == {}
    assert len(tried) >= 40, sorted(tried)
