"""An option on the look of a table of scores has an effect, or is refused, in every command and
every format.
"""

import re
from collections.abc import Iterator
from itertools import chain
from typing import get_args

import pytest

from rankwell.data.catalogue import command_function, command_summaries
from rankwell.data.options import arguments_of
from rankwell.reporting import Format
from regression.cases import Runner

SHOWN = {
    "--caption": ("Mine", r"\bMine\b"),
    "--label": ("tab:mine", "tab:mine"),
    "--digits": ("7", r"\d\.\d{7}\b"),
}
"""By option: a value, and what a text has where it has an effect."""
PLACES = {
    "--caption": ("md", "latex", "html"),
    "--label": ("latex", "html"),
    "--digits": ("table", "md", "latex", "html"),
}
"""By option: the formats that must have it."""
FORMATS = [
    form if form in ("table", "csv", "md") else pytest.param(form, marks=pytest.mark.slow)
    for form in get_args(Format)
]


LINES = {
    "bench": "bench bench.toml --only 'runs/*'",
    "beyond": "beyond beyond/mine.run",
    "clicks": "clicks logs/log.csv",
    "clicks credit": "clicks credit logs/lists.jsonl logs/clicks.csv",
    "compare": "compare qrels.txt a.run b.run",
    "crossmodal": "crossmodal captions/square.npy",
    "embeddings": "embeddings --reference a.run b.run c.run",
    "engine run": "engine run live_engine:search --queries live/asked.tsv --qrels live/judged.txt",
    "evaluate": "evaluate qrels.txt a.run b.run",
    "images": "images images/table.csv --scores images/scores.npy --query-ids "
    "images/queries.ids.txt --item-ids images/references.ids.txt",
    "pairs": "pairs vectors/targets.txt vectors/model.txt",
    "qa": "qa answers/gold.json answers/ranked.jsonl",
    "rag": "rag rag/gold.jsonl rag/bm25.jsonl",
    "rag citations": "rag citations rag/supports.jsonl",
}


def test_every_command_with_such_options_is_tried():
    styled = {
        " ".join(words)
        for words in command_summaries()
        if "caption" in {argument.name for argument in arguments_of(command_function(words))}
    }

    assert {*LINES} == styled


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    with Runner() as runner:
        yield runner


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("command", sorted(LINES))
def test_an_option_of_tables_has_an_effect_or_is_refused(command: str, form: str, runner: Runner):
    for option, (value, pattern) in SHOWN.items():
        styled = f"{LINES[command]} -f {form} {option} {value}"
        printed = "\n".join(chain(*runner.workspace.run(styled).values()))

        is_shown = bool(re.search(pattern, printed))
        assert is_shown or "has no effect" in printed, (styled, printed)
        assert is_shown or form not in PLACES[option], (styled, printed)
