"""The contract of the kill harness: every command that writes, caches or resumes is killed by
it.
"""

import pytest

from kill_commands import CASES, EXEMPT, WRITES
from rankwell.data.catalogue import command_function, command_summaries
from rankwell.data.options import arguments_of

WRITING = [
    " ".join(words)
    for words in command_summaries()
    if WRITES & {each.name for each in arguments_of(command_function(words))}
]


@pytest.mark.parametrize("command", WRITING)
def test_a_command_that_writes_is_killed(command: str):
    known = {case.words for case in CASES} | EXEMPT.keys()

    assert command in known, (
        f"{command} has no case: write its command lines in tests/robustness/kill_commands.py"
    )


def test_cases_are_of_commands_that_write():
    assert {case.words for case in CASES} | EXEMPT.keys() <= set(WRITING)
