"""Findings that tasks have not named yet."""

from collections.abc import Iterable

from rankwell.data.findings import Finding, finding


@finding("info")
def remark(text: str) -> str:
    """A remark of a task on its data or its figures."""
    return text


def remarks(texts: Iterable[str]) -> list[Finding]:
    """Findings of these texts; those that are findings stay as they are."""
    return [text if isinstance(text, Finding) else remark(text) for text in texts]
