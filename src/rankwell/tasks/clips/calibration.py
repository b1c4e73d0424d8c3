"""Precision, recall and F1 of a mapper of texts to keywords, at each threshold."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from rankwell.errors import NothingToEvaluate
from rankwell.tasks.clips.mapping import KeywordMapper
from rankwell.tasks.clips.vocabulary import Keyword


class MappingTally(NamedTuple):
    """Keywords over all texts. right: mapped and meant. mapped, meant: of either kind. texts: how many there are."""

    right: int
    mapped: int
    meant: int
    texts: int

    @property
    def precision(self) -> float | None:
        """Of the mapped keywords the share that is meant; None where nothing is mapped."""
        return self.right / self.mapped if self.mapped else None

    @property
    def recall(self) -> float | None:
        """Of the meant keywords the share that is mapped; None where nothing is meant."""
        return self.right / self.meant if self.meant else None

    @property
    def f1(self) -> float | None:
        """Twice the right ones by all that are mapped or meant (micro F1); None where there are none."""
        return 2 * self.right / (self.mapped + self.meant) if self.mapped + self.meant else None


def tally(mapper: KeywordMapper, meant: Mapping[str, Iterable[Keyword]], *, threshold: float | None = None) -> MappingTally:
    """Counts the keywords that a mapper finds correctly in labelled texts. Raises NothingToEvaluate without a text."""
    if not meant:
        raise NothingToEvaluate("no text is labelled with keywords, so that nothing can be compared.")
    right = mapped = wanted = 0
    for text, keywords in meant.items():
        found, truth = set(mapper.map_text(text, threshold=threshold).keywords), set(keywords)
        right, mapped, wanted = right + len(found & truth), mapped + len(found), wanted + len(truth)
    return MappingTally(right, mapped, wanted, len(meant))


def best_threshold(tallies: Mapping[float, MappingTally]) -> float:
    """The threshold with the highest micro F1; the middle one of those that share it.

    Raises NothingToEvaluate where no keyword is meant, or none that is meant is mapped at any threshold: then none is best.
    """
    if not any(each.meant for each in tallies.values()):
        raise NothingToEvaluate("no text means a keyword, so that no threshold is best; label some texts with what they mean.")
    scored = {threshold: each.f1 for threshold, each in sorted(tallies.items()) if each.f1 is not None}
    highest = max(scored.values())
    if not highest:
        raise NothingToEvaluate("no keyword that a text means is mapped at any threshold, so that none is best.")
    best = [threshold for threshold, f1 in scored.items() if f1 == highest]
    return best[(len(best) - 1) // 2]


def hold_back(texts: Sequence[str], every: int) -> tuple[list[str], list[str]]:
    """The texts to choose by, and those held back from that: the last of every `every` texts, none where it is 0."""
    held = set(texts[every - 1 :: every]) if every else set[str]()
    return [text for text in texts if text not in held], [text for text in texts if text in held]
