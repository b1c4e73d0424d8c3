"""The README's examples run, in order, as a newcomer would type them."""

import re
import shlex
from pathlib import Path

import pytest

from rankwell import cli

README = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.MULTILINE | re.DOTALL)


@pytest.mark.slow
def test_every_command_of_the_readme_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.chdir(tmp_path)
    commands = [line[2:] for block in blocks("console")[1:] for line in block.splitlines() if line.startswith("$ ")]
    assert len(commands) >= 6
    for command in commands:
        monkeypatch.setattr("sys.argv", shlex.split(command))

        assert cli.main() == 0, (command, capsys.readouterr().err)
        assert capsys.readouterr().out or "convert" in command, command


def test_every_python_example_of_the_readme_runs():
    examples = blocks("python")
    assert len(examples) == 6
    for example in examples:
        exec(compile(example, "README.md", "exec"), {})
