"""Two lists of ids side by side: what a measure says of one pair of lists, without files or embeddings."""

from collections.abc import Hashable, Mapping, Sequence

from rankwell.conventions import CONVENTIONS
from rankwell.core.registry import parse_measure
from rankwell.core.views.judged import JudgedRankings
from rankwell.core.views.ranking_pairs import RankingPairs
from rankwell.errors import BadUsage
from rankwell.io.mapping import ranking_pairs
from rankwell.tasks.agreement.conventions import cuts_gold

Listed = Sequence[Hashable] | Mapping[Hashable, float]


def compare_lists(
    reference: Listed, candidate: Listed, measure: str, *, gold_depth: int | None = None, convention: str = "scholar-stream"
) -> float:
    """What a measure says of a candidate's list, with the first items of the reference's list as the truth.

    reference, candidate: ids from first to last, or item -> similarity. measure: a name, or a word of the convention: Recall@k,
    NDCG@k, MRR@k and MAP@k are those of the paper recommender. gold_depth: how many first items of the reference are relevant;
    the cut-off where the convention says so, else all of them. Raises BadUsage for a measure of something else than lists.

    >>> compare_lists([7, 23, 156, 89, 42], [7, 89, 12, 23, 99], "Recall@5")
    0.6
    >>> round(compare_lists([7, 23, 156], [7, 99, 23, 156, 12], "NDCG@5", gold_depth=3), 3)
    0.906
    >>> compare_lists([7, 23, 156, 89, 42], [99, 7, 23], "MRR@5")
    0.5
    >>> round(compare_lists([7, 23, 156, 89, 42], [7, 99, 23, 156, 12], "MAP@5"), 3)
    0.806
    """
    rules = CONVENTIONS[convention]
    asked = parse_measure(measure, rules.words)
    pairs = ranking_pairs(reference, candidate)
    if asked.entry.view is RankingPairs:
        return float(asked(pairs)[0])
    if asked.entry.view is not JudgedRankings:
        raise BadUsage(f"{asked} reads {asked.entry.view.__name__}, which two lists do not make.")
    depth = gold_depth or (asked.cutoff if cuts_gold(rules) else None)
    return float(asked(pairs.judged(depth))[0])
