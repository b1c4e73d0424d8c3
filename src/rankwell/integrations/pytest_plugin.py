"""The pytest plugin: the fixture `rankwell`, whose `gate` fails a test in a sentence and a table,
without a traceback.
"""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

# pytest imports this file in every run: what it needs beyond pytest is imported when the fixture is
# used.
if TYPE_CHECKING:
    from rankwell.results import Results


class RankwellFixture:
    """The fixture `rankwell`: `evaluate`, `gate`, and every other public name of the package."""

    def __getattr__(self, name: str) -> Any:
        import rankwell

        return getattr(rankwell, name)

    def evaluate(self, judgments: Any, runs: Any, *measures: Any, **options: Any) -> "Results":
        """The results of `rankwell.evaluate`. Bad input fails the test with the sentence of the
        error.
        """
        __tracebackhide__ = True
        import rankwell

        return _called(rankwell.evaluate, judgments, runs, *measures, **options)

    def gate(self, results: "Results | str | Path", *required: str, **options: Any) -> None:
        """Fails the test where results do not meet the requirements, which it lists above the table
        of the results.

        results: of any task, or a folder that a command wrote with -o. required: such as `nDCG@10
        >= 0.38`. options: the fields of `GateOptions`, such as `baseline`. A requirement that
        is about nothing fails the test, too.
        """
        __tracebackhide__ = True
        sentences, n_lines, table = _called(_outcome, results, required, options)
        if sentences:
            total = f"rankwell gate: {len(sentences)} of {n_lines} failed"
            pytest.fail("\n".join([*sentences, total, "", table]), pytrace=False)


def _outcome(
    results: Any, required: tuple[str, ...], options: dict[str, Any]
) -> tuple[list[str], int, str]:
    """The requirements that do not hold as sentences, how many there are, and the table of the
    results with its rules.
    """
    from rankwell.comparison.data import GateOptions
    from rankwell.comparison.gate import check_requirements
    from rankwell.data.options import with_options
    from rankwell.integrations.folders import content_of
    from rankwell.reporting import Terminal, render, visible
    from rankwell.results import ComparisonResults

    chosen = with_options(GateOptions(), options).requiring(
        required, results.baseline if isinstance(results, ComparisonResults) else None
    )
    content, rows = content_of(results)
    lines, _ = check_requirements(content, rows, chosen)
    # Where a build fails, the rules behind its figures are at hand.
    table = render(rows, None, content.rules, (), terminal=Terminal(details=True))
    failed = [visible(line.explanation) for line in lines if not line.passed]
    return failed, len(lines), table.rstrip("\n")


def _called(function: Callable[..., Any], *arguments: Any, **keywords: Any) -> Any:
    """The value of a function. An error of rankwell fails the test with its sentence."""
    __tracebackhide__ = True
    from rankwell.errors import RankwellError, printable

    try:
        return function(*arguments, **keywords)
    except RankwellError as error:
        message = printable(str(error), frozenset("\n"))
    # Outside of the handler: otherwise pytest prints the error of rankwell as well.
    pytest.fail(f"rankwell: {message}", pytrace=False)


@pytest.fixture(scope="session")
def rankwell() -> RankwellFixture:
    """Retrieval quality as a test: `rankwell.gate(rankwell.evaluate(judgments, run), "nDCG@10 >=
    0.38")`.
    """
    return RankwellFixture()
