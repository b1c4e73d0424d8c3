"""Questions about Python's standard library with the modules that answer them, judged by hand;
their documents: `python_docs`.
"""

from importlib.resources import files
from typing import NamedTuple


class Need(NamedTuple):
    """A question with its id."""

    id: str
    text: str


class Judgment(NamedTuple):
    """The grade of a module for a need: 3 is the module for it, 2 does it well or in part, 1 is
    related, 0 does not help.
    """

    need: str
    module: str
    grade: int


def read_needs() -> list[Need]:
    """The hand-written questions, in the order of their ids."""
    return [Need(*line.split("\t")) for line in _data("needs.tsv").splitlines()]


def read_judgments() -> list[Judgment]:
    """All judgments that ship with the package, those of modules that this interpreter does not
    have included.
    """
    rows = (line.split() for line in _data("qrels.txt").splitlines())
    return [Judgment(need, module, int(grade)) for need, _, module, grade in rows]


def _data(name: str) -> str:
    return (files("rankwell.vectors.media") / "data" / name).read_text(encoding="utf-8")
