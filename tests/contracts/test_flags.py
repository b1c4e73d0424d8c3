"""Messages name options as the user wrote them: flags on the command line, arguments in Python."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from inspect import signature
from pathlib import Path
from typing import Any

import pytest

import rankwell as rw
from rankwell import errors
from rankwell.data.catalogue import command_function, command_summaries
from rankwell.data.options import arguments_of
from rankwell.results import Results
from regression.running import in_process

SOURCE = Path(rw.__file__).parent


def named_flags() -> Iterator[tuple[str, str, str]]:
    """Place, flag and argument of each call of `flag` with a text."""
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Name)
                and node.func.id == "flag"
            ):
                typed = node.args[0]
                if isinstance(typed, ast.Constant):
                    other = {each.arg: each.value for each in node.keywords}.get("name")
                    word = (
                        other.value
                        if isinstance(other, ast.Constant)
                        else typed.value[2:].replace("-", "_")
                    )
                    yield f"{path.relative_to(SOURCE)}:{node.lineno}", typed.value, word


def parameters() -> set[str]:
    """The arguments of all public functions and of the methods of results."""
    found = set[str]()
    things: list[Any] = [
        *(getattr(rw, name) for name in rw.__all__),
        Results.save,
        Results.gate,
        Results.compare,
        Results.report,
        Results.to_latex,
        Results.to_html,
        Results.to_markdown,
    ]
    for thing in things:
        if callable(thing) and not (isinstance(thing, type) and issubclass(thing, Exception)):
            found |= set(signature(thing).parameters)
    return found


def test_every_flag_of_a_message_is_one_of_a_command():
    known = {
        word
        for words in command_summaries()
        for each in arguments_of(command_function(words))
        for word in each.words
    }

    assert [(place, typed) for place, typed, _ in named_flags() if typed not in known] == []


def commands_of(path: Path) -> list[tuple[str, ...]]:
    """The commands that print the messages of a module: those of its task, or its own; all for
    another module.
    """
    every = list(command_summaries())
    if path.parts[0] == "tasks" and len(path.parts) > 2:
        task = "evaluate" if path.parts[1] == "runs" else path.parts[1]
        return [words for words in every if task in words]
    if path.parts[:2] == ("cli", "commands"):
        return [words for words in every if "_".join(words) == path.stem]
    return every


def test_a_command_has_the_options_that_its_messages_name():
    # The messages of `worker` are about the command that planned its work.
    known = {
        words: {word for each in arguments_of(command_function(words)) for word in each.words}
        for words in command_summaries()
        if words != ("worker",)
    }
    wrong = list[tuple[str, str]]()
    for place, typed, _ in named_flags():
        commands = [words for words in commands_of(Path(place.partition(":")[0])) if words in known]
        typed = typed if typed.startswith("-") else f"--{typed.replace('_', '-')}"
        if commands and all(typed not in known[words] for words in commands):
            wrong.append((place, typed))

    assert wrong == []


def test_every_option_of_a_command_is_read():
    text = "\n".join(path.read_text(encoding="utf-8") for path in SOURCE.rglob("*.py"))

    assert [
        (words, each.name)
        for words in command_summaries()
        for each in arguments_of(command_function(words))
        if each.owner and not re.search(rf"\.{each.name}\b|[\"']{each.name}[\"']", text)
    ] == []


def test_help_shows_no_empty_default():
    for words in command_summaries():
        _, out, _ = in_process([*words, "--help"])
        assert not re.search(r"\[default:\s*(\(\)|\[\]|\{\}|None)?\]", out), words


TYPED_ALONE = re.compile(
    r"cli/|.*/commands/|tasks/judge/|compat/|.*/task\.py|tasks/keywords/(presentation|lint|options)"
    r"|engines/conformance|runtime/executors/array|runtime/parts/(execution|plans)|threads|data/"
    r"|.*/measures/|measures/|comparison/(fusion/runs|gate|planning|bench/__init__)"
    r"|files/(explanations|image_encoding)|tasks/images/(local_features|runs)"
    r"|vectors/encoders/images_|tasks/embeddings/evaluation|tasks/engine/measuring"
    r"|tasks/keywords/mapping"
)
"""Modules whose flags are those of command lines, in text that Python does not print, or that names
both surfaces.
"""


def spelt_flags() -> Iterator[tuple[str, str]]:
    """Place and text of each string with a flag that `flag` did not write."""
    for path in sorted(SOURCE.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        others = {
            id(part)
            for node in ast.walk(tree)
            if (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
            or (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Name)
                and node.func.id in ("flag", "finding", "Doc", "Option")
            )
            for part in ast.walk(node)
        }
        for node in ast.walk(tree):
            if (
                isinstance(node, ast.Constant)
                and isinstance(node.value, str)
                and id(node) not in others
                and re.search(r"(?<![\w-])--[a-z]", node.value)
                and not re.fullmatch(r"\S+", node.value)
            ):
                yield path.relative_to(SOURCE).as_posix(), node.value


def test_messages_of_python_spell_no_flag():
    assert [each for each in spelt_flags() if not TYPED_ALONE.match(each[0])] == []


def test_every_argument_of_a_message_is_one_of_a_public_function():
    known = parameters()

    assert [(place, word) for place, _, word in named_flags() if word not in known] == []


def test_a_message_names_the_flag_on_the_command_line_and_the_argument_in_python():
    with errors.at_the_command_line():
        assert errors.flag("--unjudged", "skip") == "--unjudged skip"
        assert errors.flag("--overwrite", True) == "--overwrite"
        assert errors.flag("--allow-load", "my host") == "--allow-load 'my host'"
    assert errors.flag("--unjudged", "skip") == "unjudged='skip'"
    assert errors.flag("--overwrite", True) == "pass overwrite=True"
    assert errors.flag("--self", "after", name="self_rule") == "self_rule='after'"
    assert errors.flag("na_threshold", 0.0) == "na_threshold=0.0"


def test_command_lines_in_messages_quote_what_a_user_has_named():
    line = re.compile(
        r"rankwell (?!and |compare tests )[a-z][a-z -]* \{(?!typed\(|inputs\})[^}]*\}"
    )
    texts = {
        path.relative_to(SOURCE): path.read_text(encoding="utf-8") for path in SOURCE.rglob("*.py")
    }
    # This one is formatted with a quoted place.
    del texts[Path("tasks/judge/commands/demo_judge.py")]

    assert [
        (str(path), found[0]) for path, text in texts.items() for found in line.finditer(text)
    ] == []


def test_processes_name_options_as_the_process_that_started_them_does():
    code = "from rankwell.errors import flag; print(flag('no_results', 'skip'))"

    assert (
        subprocess.run(
            [sys.executable, "-c", code], check=True, capture_output=True, text=True
        ).stdout
        == "no_results='skip'\n"
    )
    with errors.at_the_command_line():
        assert errors.flag("no_results", "skip") == "--no-results skip"
        typed = subprocess.run(
            [sys.executable, "-c", code], check=True, capture_output=True, text=True
        ).stdout
    assert typed == "--no-results skip\n"


def test_an_error_of_python_names_arguments_and_not_options(tmp_path: Path):
    (tmp_path / "intents.txt").write_text("q 1 a 1\nq 2 b 1\n")
    with pytest.raises(
        rw.BadUsage, match=r"unjudged='nonrelevant', average_over='judged' or both"
    ) as found:
        rw.evaluate(tmp_path / "intents.txt", {"q": {"a": 1.0}}, ["alpha_nDCG@10"], unjudged="skip")
    assert "--" not in str(found.value)
