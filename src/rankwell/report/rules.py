"""The rules of a result in words: one line below a table, or a name and a value for each."""

from collections.abc import Mapping
from itertools import chain
from typing import Any

from rankwell.errors import count_of
from rankwell.report import visible

# Counts that have a noun of their own: for one and for several. The others count queries.
_NOUNS = {
    "queries": ("query", "queries"),
    "queries_counted": ("query counted", "queries counted"),
    "references_missing": ("reference missing", "references missing"),
    "rows": ("row", "rows"),
    "impressions": ("impression", "impressions"),
    "statements": ("statement", "statements"),
}
_OF_QUERIES = {
    "queries_missing": "missing from the run",
    "queries_unknown": "in the run without judgments",
    "queries_without_relevant": "with no relevant item",
    "queries_best_relevant_tied": "whose best relevant item is tied with one that is not",
    "no_keywords": "without keywords",
    "fewer_results_than_k": "with fewer results than k",
    "queries_tied": "with values that depend on the order of ties",
}


def rules_line(rules: Mapping[str, Any]) -> str:
    """The rules in one line: the counts, once where they are the same for all runs, then every
    plain entry as name=value.
    """
    counted = _counted(rules)
    shared_counts = ", ".join(
        count_of(int(number), *_words(name)) if number.isdigit() else f"{number} {_words(name)[1]}"
        for name, number, same in counted
        if same
    )
    differing_counts = [
        f"{'' if name in _NOUNS else 'queries '}{_words(name)[1]}: {number}"
        for name, number, same in counted
        if not same
    ]
    settings = " ".join(f"{name}={value}" for name, value in _settings(rules))
    return "; ".join(filter(None, (shared_counts, *differing_counts, settings)))


def rule_pairs(rules: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The rules as pairs of a name and a value."""
    return [*((_words(name)[1], number) for name, number, _ in _counted(rules)), *_settings(rules)]


def _settings(rules: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [
        (
            visible(name.replace("_", "-")),
            visible("yes" if value is True else "no" if value is False else value),
        )
        for name, value in rules.items()
        if isinstance(value, (str, int, float))
    ]


def _counted(rules: Mapping[str, Any]) -> list[tuple[str, str, bool]]:
    """The counts: their names, their numbers, and whether the number is the same for all runs."""
    counts: Mapping[str, Mapping[str, Any]] = rules.get("counts", {})
    counted: list[tuple[str, str, bool]] = []
    for name in dict.fromkeys(chain.from_iterable(counts.values())):
        numbers = {run: _how_many(run_counts.get(name, 0)) for run, run_counts in counts.items()}
        same = len(set(numbers.values())) == 1
        number = (
            next(iter(numbers.values()))
            if same
            else ", ".join(f"{value} in {visible(run)}" for run, value in numbers.items())
        )
        counted.append((name, number, same))
    return counted


def _words(name: str) -> tuple[str, str]:
    """The words of a count of one and of several; those of queries follow the noun."""
    words = _OF_QUERIES.get(name, name.removeprefix("queries_").replace("_", " "))
    return _NOUNS.get(name, (words, words))


def _how_many(value: Any) -> str:
    """A count; of counts by measure the largest."""
    if not isinstance(value, Mapping):
        return str(value)
    most = max(value.values(), default=0)
    return f"{most}" if len(set(value.values())) <= 1 else f"at most {most}"
