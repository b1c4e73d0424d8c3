"""Every `--format json` and every manifest fits its JSON Schema."""

import json
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from rankwell import cli
from rankwell.data.catalogue import command_function, command_summaries
from rankwell.data.options import arguments_of
from rankwell.errors import UnknownName
from rankwell.files.schemas import MANIFEST, json_schema, schema_names
from regression.cases import LINES, Runner

COMMANDS = sorted(command_summaries(), key=len, reverse=True)


def takes_json(words: tuple[str, ...]) -> bool:
    return any(
        "--format" in argument.flags and "json" in argument.choices
        for argument in arguments_of(command_function(words))
    )


def as_json(line: str) -> tuple[str, str]:
    """The name of the command of a line, and the line with `--format json`; unchanged where the
    command prints no JSON, or the line names another format.
    """
    parts = shlex.split(line)
    for words in COMMANDS:
        if tuple(parts[: len(words)]) == words:
            names_format = {"-f", "--format", "--dry-run", "-h", "--help"} & set(parts)
            return " ".join(words), line if names_format or not takes_json(words) else (
                f"{line} --format json"
            )
    return "", line


def test_every_command_that_prints_json_has_a_schema():
    printing = {" ".join(words) for words in command_summaries() if takes_json(words)}

    assert {*schema_names()} == printing | {MANIFEST}


@pytest.mark.parametrize("name", schema_names())
def test_a_schema_is_valid_and_is_printed(name: str, capsys: Any, monkeypatch: Any):
    Draft202012Validator.check_schema(json_schema(name))

    monkeypatch.setattr("sys.argv", ["rankwell", "explain", "--schema", name])
    assert cli.main() == 0
    assert json.loads(capsys.readouterr().out) == json_schema(name)


def test_without_a_name_the_schemas_are_listed(capsys: Any, monkeypatch: Any):
    monkeypatch.setattr("sys.argv", ["rankwell", "explain", "--schema"])

    assert cli.main() == 0
    assert capsys.readouterr().out == f"There is a JSON Schema of: {', '.join(schema_names())}.\n"


def test_a_schema_has_one_format(capsys: Any, monkeypatch: Any):
    monkeypatch.setattr("sys.argv", ["rankwell", "explain", "--schema", "--format", "json"])

    assert cli.main() == 2
    assert "leave it out with --schema" in capsys.readouterr().err


def test_an_unknown_name_is_answered_with_the_nearest():
    with pytest.raises(UnknownName, match="did you mean 'judge plan'"):
        json_schema("judge plans")


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    with Runner() as runner:
        yield runner


def problems(name: str, value: Any) -> list[str]:
    return [
        f"{error.json_path}: {error.message[:200]}"
        for error in Draft202012Validator(json_schema(name)).iter_errors(value)
    ]


def manifest_of(file: Path) -> Any:
    return json.loads(file.read_text()) if file.name == "manifest.json" else None


@pytest.mark.parametrize(
    "case", [name for name in LINES if not name.startswith(("demo", "shared"))]
)
def test_what_a_command_prints_as_json_fits_its_schema(case: str, runner: Runner):
    if reason := runner.absent(case):
        pytest.skip(reason)
    names, lines = zip(*map(as_json, LINES[case].split("\n")), strict=True)

    printed, files = runner.workspace.printed(lines, manifest_of)

    for name, line, text in zip(names, lines, printed, strict=True):
        if line.startswith("explain --schema"):
            continue
        if text.startswith(("{", "[")) and name in schema_names() and "jsonl" not in case:
            assert problems(name, json.loads(text)) == []
    for manifest in files.values():
        if isinstance(manifest, Mapping) and "rules" in manifest:
            assert problems(MANIFEST, manifest) == []
