"""`rankwell trec-eval` on 1,000 worlds of pathological judgments, against what trec_eval
printed.
"""

import io
import json
from pathlib import Path

import pytest

from golden import make_conventions as made
from rankwell.compat import trec_eval

RECORDED = json.loads(made.OUT.read_text(encoding="utf-8"))


def test_the_worlds_are_those_that_trec_eval_was_run_on():
    assert RECORDED["about"]["tools"] == made.COMMITS
    assert RECORDED["about"]["seed"] == made.SEED
    assert {version: set(commands) for version, commands in RECORDED["digests"].items()} == {
        version: set(made.TREC_COMMANDS) for version in made.COMMITS
    }


@pytest.mark.parametrize("command", made.TREC_COMMANDS)
@pytest.mark.parametrize("version", made.COMMITS)
def test_every_world_prints_what_trec_eval_printed(
    version: str, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    for name, text in made.trec_files(made.all_worlds(), comments=version == "10.0").items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    stdout = io.StringIO()

    code = trec_eval.main(
        [f"--v{version.partition('.')[0]}", *command.split(), "qrels", "run"], stdout
    )

    recorded = RECORDED["digests"][version][command]
    expected = [recorded[at : at + 8] for at in range(0, len(recorded), 8)]
    found = made.digests(stdout.getvalue())
    assert code == 0
    assert len(expected) == made.WORLDS + 1
    assert [
        number
        for number, pair in enumerate(zip(found, expected, strict=True))
        if pair[0] != pair[1]
    ] == []
