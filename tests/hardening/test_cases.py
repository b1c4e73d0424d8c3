"""Every case of the table is right."""

import os
import shlex
from pathlib import Path

import pytest

from hardening.cases import Case
from hardening.outcomes import Outcome, fault_of, run_case, run_python
from hardening.story import CASES
from regression.running import in_process

EVERY = [(section, case) for section, cases in CASES.items() for case in cases]
PYTHON = "python: "
DETAILS = ["--verbose"]
"""The drop-in for trec_eval, which has no such option, prints all that it has."""
OWN_PROCESS = [
    case
    for section, case in EVERY
    if case.run.split("\n")[-1].startswith(PYTHON) or section == "3 bounded"
]
COMMANDS = [case for _, case in EVERY if case not in OWN_PROCESS]


@pytest.mark.parametrize("case", COMMANDS, ids=lambda case: case.name)
def test_a_command_does_what_is_right(case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    try:
        case.write(tmp_path)
    except ModuleNotFoundError as error:
        pytest.skip(f"could not import {error.name!r}")
    monkeypatch.chdir(tmp_path)

    code, out, err = 0, "", ""
    for line in case.run.split("\n"):
        if line.startswith(PYTHON):
            exec(line.removeprefix(PYTHON), {})
        else:
            code, out, err = in_process([*shlex.split(line), *DETAILS * (line[:4] != "trec")])

    assert fault_of(case, Outcome(code, 0, 0, out + err), tmp_path) == "", err


@pytest.mark.skipif(os.name != "posix", reason="memory is measured on POSIX alone")
@pytest.mark.parametrize("case", OWN_PROCESS, ids=lambda case: case.name)
def test_a_process_does_what_is_right(case: Case):
    outcome, fault = run_case(case)

    assert fault == "", outcome.output


@pytest.mark.skipif(os.name != "posix", reason="memory is measured on POSIX alone")
def test_a_process_that_takes_too_long_is_ended(tmp_path: Path):
    outcome = run_python(["-c", "import time; time.sleep(60)"], tmp_path, 0.2)

    assert outcome.code < 0
    assert outcome.seconds < 30
