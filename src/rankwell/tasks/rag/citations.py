"""Cited statements: the documents that each statement cites, and which sets of them entail it, as
someone has judged.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from rankwell.errors import BadInput

Citations = frozenset[str]


class Statement(NamedTuple):
    """A statement of an answer.

    name: id of the statement, unique in the answer.
    cited: the documents that it cites.
    entailed: set of documents -> whether they entail the statement together.
    """

    name: str
    cited: Citations
    entailed: Mapping[Citations, bool]

    def entails(self, citations: Citations) -> bool:
        """Whether some of the cited documents entail it together. Raises BadInput where that is not
        judged.
        """
        if citations not in self.entailed:
            cited_documents = ", ".join(sorted(citations)) or "nothing"
            raise BadInput(
                f"whether {{{cited_documents}}} entails the statement {self.name!r} is not judged; "
                "add a line for it."
            )
        return self.entailed[citations]

    @property
    def is_supported(self) -> bool:
        """Whether all that it cites entails it; what cites nothing is not supported."""
        return bool(self.cited) and self.entails(self.cited)

    @property
    def precise(self) -> int:
        """The number of citations that support it: in a set that does, by themselves, or as one
        that it cannot do without.
        """
        if not self.is_supported:
            return 0
        if len(self.cited) == 1:
            return 1
        return sum(
            self.entails(Citations([citation])) or not self.entails(self.cited - {citation})
            for citation in self.cited
        )


@dataclass(frozen=True, eq=False)
class CitedStatements:
    """The statements of the answer to each question.

    queries: ids of the questions.
    statements: the statements of the answer to each question.
    """

    needs: ClassVar[str] = "statements with their citations and whether these entail them"
    command: ClassVar[str] = "rag citations"
    queries: tuple[str, ...]
    statements: tuple[tuple[Statement, ...], ...]
