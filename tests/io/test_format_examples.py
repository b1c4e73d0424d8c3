"""The examples of docs/reference/formats.md are read as what the page says."""

import re
import sys
from pathlib import Path

import pytest

from formats_page import Example, examples, formats_page
from rankwell import cli
from rankwell.io.formats import Request, read_as
from rankwell.tasks.images.images import read_images
from rankwell.tasks.qa.formats import read_na_probs, read_predictions, read_questions

READ = {"questions": read_questions, "predictions": read_predictions, "na-probs": read_na_probs}


@pytest.mark.parametrize(
    "example", list(examples()), ids=lambda example: f"{example.name} {example.holds}"
)
def test_an_example_is_recognised(example: Example, tmp_path: Path) -> None:
    file = tmp_path / example.file
    file.write_text(example.text, encoding="utf-8")

    if example.holds in READ:
        found = READ[example.holds](str(file))
        table, name = found.table, found.format
    elif example.holds == "images":
        table, name = read_images(str(file)), "tables"
    else:
        table, name = read_as(str(file), example.holds, example.reading or None, Request())

    assert name == example.name
    assert table is not None


def test_the_command_at_the_top_of_the_page_runs_on_its_examples(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for example in examples():
        if (example.name, example.holds) in (("trec", "judgments"), ("csv", "run")):
            (tmp_path / example.file).write_text(example.text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    (command,) = re.findall(r"^```sh\n(.+)\n```$", formats_page(), re.MULTILINE)
    monkeypatch.setattr(sys, "argv", command.split())

    assert cli.main() == 0
