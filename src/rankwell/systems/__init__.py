"""Things that we run to be judged: search engines, readers, whatever ranks items for a question. One file each."""

from typing import Protocol


class System(Protocol):
    """What ranks documents for a question."""

    def search(self, query: str, k: int) -> list[tuple[str, float]]:
        """The best `k` documents as (id, score), best first; fewer where fewer match, none for an empty query."""
        ...
