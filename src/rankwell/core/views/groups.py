"""Rankings judged by several groups of people, each with its own judgments of a query (trec_eval's qrels_jg)."""

from dataclasses import dataclass, replace
from functools import cached_property

from rankwell.core.views.aspects import AspectRankings
from rankwell.core.views.judged import JudgedRankings


@dataclass(frozen=True, eq=False)
class GroupRankings(AspectRankings):
    """A ranking per query and a truth per query and judgment group; the aspects are the groups.

    own_items_only: whether each group sees the ranking without the items that it did not judge.
    """

    own_items_only: bool = False

    @property
    def condensed(self) -> "GroupRankings":
        """The view of rankings without the items that a group did not judge, for each group on its own, as under trec_eval -J."""
        return replace(self, own_items_only=True)

    @cached_property
    def by_aspect(self) -> JudgedRankings:
        """The rankings judged by each group alone; its `queries` are the groups, its `items` rows of the truth here."""
        view = self.join_aspects()
        return view.condensed if self.own_items_only else view
