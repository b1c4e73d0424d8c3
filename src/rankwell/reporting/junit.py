"""JUnit XML, which continuous integration reads: what passed, what failed and why."""

from collections.abc import Sequence
from typing import NamedTuple

from rankwell.reporting import escaped


class Case(NamedTuple):
    """One test case.

    name: name of the case.
    group: the group that it belongs to, such as a run.
    failure, error: the reason why it failed, and the reason why it could not be tested; empty where
        it passed.
    """

    name: str
    group: str
    failure: str = ""
    error: str = ""


def junit_text(suite: str, cases: Sequence[Case]) -> str:
    """One suite of cases as JUnit XML without times, ending in a line break; what XML cannot hold
    is written as escapes.
    """
    failures, errors = (
        sum(bool(case.failure) for case in cases),
        sum(bool(case.error) for case in cases),
    )
    counts = f'tests="{len(cases)}" failures="{failures}" errors="{errors}"'
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f"<testsuites {counts}>",
        f'  <testsuite name="{escaped(suite)}" {counts}>',
    ]
    for case in cases:
        opened = f'    <testcase classname="{escaped(case.group)}" name="{escaped(case.name)}"'
        outcomes = [
            (kind, escaped(text))
            for kind, text in (("failure", case.failure), ("error", case.error))
            if text
        ]
        inner = [
            f'      <{kind} type="rankwell.{kind}" message="{text}">{text}</{kind}>'
            for kind, text in outcomes
        ]
        lines += [f"{opened}>", *inner, "    </testcase>"] if inner else [f"{opened}/>"]
    return "\n".join([*lines, "  </testsuite>", "</testsuites>"]) + "\n"
