"""The items that a judge is asked next: a batch, and with --double, --repeat and --gold others
mixed in.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from rankwell.errors import BadInput
from rankwell.io.files import find_judgments
from rankwell.stats.priority_sampling import permanent_numbers
from rankwell.store import encode_id
from rankwell.tasks.study.batches import Batch, lease_batch
from rankwell.tasks.study.folder import Study
from rankwell.tasks.study.journal import JournalLine, read_journals
from rankwell.tasks.study.options import JudgeOptions

GOLD_SHARE = 0.05
"""Share of known items among those that a judge is asked."""

Pair = tuple[str, str]


class Ask(NamedTuple):
    """A query and an item to judge. purpose: as in the journal, "" for a judgment that counts."""

    query: str
    item: str
    purpose: str = ""


class SittingItems(NamedTuple):
    """The items of one sitting. batch: None where only mixed-in items are left. lines: those of the
    judge so far.
    """

    batch: Batch | None
    asks: tuple[Ask, ...]
    lines: tuple[JournalLine, ...]


class GoldItems(NamedTuple):
    """The pairs of a file of known items that can be shown, and notes on the others."""

    pairs: tuple[Pair, ...]
    notes: tuple[str, ...]

    @classmethod
    def of(cls, study: Study, options: JudgeOptions) -> "GoldItems":
        """The known items in a file of judgments. Raises BadInput where the study has the texts of
        none.
        """
        if (place := options.gold) is None:
            return cls((), ())
        found = find_judgments(place, qrels_columns=options.qrels_columns)
        rows = found.table.to_dict()
        queries = set(study.queries)
        known = study.texts_of(
            {item for query, own in rows.items() if query in queries for item in own}
        )
        pairs = tuple(
            (query, item)
            for query, own in rows.items()
            if query in queries
            for item in own
            if item in known
        )
        lost = sum(map(len, rows.values())) - len(pairs)
        if not pairs:
            raise BadInput(
                f"{place}: none of its items is in the pool of {study.place}; --gold takes "
                "judgments of pooled items."
            )
        verb = "is" if lost == 1 else "are"
        outside = (
            f"{lost} of the items in {place} {verb} not in the pool, and {verb} not shown",
        ) * bool(lost)
        return cls(pairs, (*found.notes, *outside))


def next_asks(
    study: Study, judge: str, options: JudgeOptions, gold: Sequence[Pair] = ()
) -> SittingItems | None:
    """Leases the judge's batch and mixes in further items; None where nothing is left.

    Items that another judge has answered are left out; the judge's own answers stay, to be looked
    at again. Everything is arranged by query, except for items of this batch that are shown again,
    which come last.
    """
    batch = lease_batch(study, judge)
    lines = read_journals(study).lines
    first = _first_judges(lines)
    own = [pair for pair in batch.pairs if first.get(pair, judge) == judge] if batch else []
    mixed = [Ask(*pair) for pair in own]
    mixed += [Ask(*pair) for pair in _doubles(study, judge, options.double, own, (first, lines))]
    earlier, again = _repeats(study, judge, options.repeat, own, lines)
    mixed += [Ask(*pair, "repeat") for pair in earlier]
    mixed += [Ask(*pair, "gold") for pair in _gold(study, judge, gold, own, lines)] if batch else []
    if not mixed:
        return None
    number = dict(
        zip(mixed, _numbers(study, [(ask.query, ask.item) for ask in mixed]), strict=True)
    )
    mixed.sort(key=lambda ask: (encode_id(ask.query), number[ask], ask.purpose))
    asks = (*mixed, *(Ask(*pair, "repeat") for pair in again))
    return SittingItems(batch, asks, tuple(line for line in lines if line.judge == judge))


def _first_judges(lines: Iterable[JournalLine]) -> dict[Pair, str]:
    """The judge who answered each item first."""
    found: dict[Pair, tuple[str, str]] = {}
    for line in lines:
        if line.is_answer:
            found[line.pair] = min(
                found.get(line.pair, (line.time, line.judge)), (line.time, line.judge)
            )
    return {pair: judge for pair, (_, judge) in found.items()}


def _numbers(study: Study, pairs: Sequence[Pair], *purpose: str) -> list[float]:
    """The permanent number of each pair, another one for each purpose."""
    ids = [[encode_id(pair[place]) for pair in pairs] for place in (0, 1)]
    return permanent_numbers(
        study.seed, *([each.encode()] * len(pairs) for each in purpose), *ids
    ).tolist()


def _drawn(study: Study, pairs: Iterable[Pair], share: float, purpose: str) -> list[Pair]:
    """The pairs whose number for a purpose is below a share, in the order of these numbers."""
    found = list(dict.fromkeys(pairs))
    numbered = sorted(zip(_numbers(study, found, purpose), found, strict=True))
    return [pair for number, pair in numbered if number < share]


def _doubles(
    study: Study,
    judge: str,
    share: float,
    own: Sequence[Pair],
    known: tuple[Mapping[Pair, str], Sequence[JournalLine]],
) -> list[Pair]:
    """Items that one other judge alone has answered: up to the share of the judge's own ones, all
    once none is left.
    """
    first, lines = known
    by: dict[Pair, set[str]] = {}
    for line in lines:
        if line.is_answer:
            by.setdefault(line.pair, set()).add(line.judge)
    candidates = [
        pair
        for pair, judges in by.items()
        if judges <= {judge, first[pair]} and first[pair] != judge
    ]
    chosen = _drawn(study, candidates, share, "double")
    open_ = [pair for pair in chosen if judge not in by[pair]]
    if not own:
        return open_
    mine = {*own, *(pair for pair, who in first.items() if who == judge)}
    return open_[: max(0, math.ceil(share * len(mine)) - (len(chosen) - len(open_)))]


def _repeats(
    study: Study, judge: str, share: float, own: Sequence[Pair], lines: Sequence[JournalLine]
) -> tuple[list[Pair], list[Pair]]:
    """The judge's own items to show again: those of earlier batches, and those of the first half of
    this one, for its end.
    """
    mine = [line for line in lines if line.judge == judge]
    done = {line.pair for line in mine if line.purpose == "repeat"}
    judged = [line.pair for line in mine if line.is_answer and line.pair not in done]
    here, half = set(own), own[: len(own) // 2]
    earlier = [pair for pair in judged if pair not in here]
    again = [pair for pair in half if pair not in done]
    return _drawn(study, earlier, share, "repeat"), _drawn(study, again, share, "repeat")


def _gold(
    study: Study,
    judge: str,
    gold: Sequence[Pair],
    own: Sequence[Pair],
    lines: Sequence[JournalLine],
) -> list[Pair]:
    """Known items that the judge has not seen: as many as their share of the judge's own ones."""
    mine = [line for line in lines if line.judge == judge]
    done = {line.pair for line in mine if line.purpose == "gold"}
    seen = {line.pair for line in mine if line.is_answer} | set(own)
    limit = math.ceil(GOLD_SHARE * len(seen)) - len(done)
    return _drawn(
        study, (pair for pair in gold if pair not in seen and pair not in done), 1.0, "gold"
    )[: max(0, limit)]
