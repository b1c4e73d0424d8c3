"""The smallest command of the task and its inputs."""

import json
from pathlib import Path

COMMAND = "qa gold.json predictions.json --convention squad2"


def write(folder: Path) -> None:
    """Writes the inputs."""
    question = {"id": "q1", "question": "?", "answers": [{"text": "b", "answer_start": 2}]}
    gold = {"data": [{"title": "t", "paragraphs": [{"context": "a b c", "qas": [question]}]}]}
    (folder / "gold.json").write_text(json.dumps(gold), encoding="utf-8")
    (folder / "predictions.json").write_text('{"q1": "b"}', encoding="utf-8")
