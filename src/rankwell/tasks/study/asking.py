"""The items that a judge is asked next: a batch, and with --double, --repeat and --gold others
mixed in.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rankwell.errors import BadInput
from rankwell.io.formats import find_judgments
from rankwell.stats.samples import permanent_numbers
from rankwell.store import encode_id
from rankwell.tasks.study.batches import Batch, lease_batch
from rankwell.tasks.study.folder import Pair, Study
from rankwell.tasks.study.journal import JournalLine, read_journals
from rankwell.tasks.study.options import JudgeOptions

GOLD_SHARE = 0.05
"""Share of known items among those that a judge is asked."""


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
        if (gold_file := options.gold) is None:
            return cls((), ())
        judgments = find_judgments(gold_file, qrels_columns=options.qrels_columns)
        queries = set(study.queries)
        gold_pairs = [
            (query, item) for query, grades in judgments.table.to_dict().items() for item in grades
        ]
        texts = study.texts_of({item for query, item in gold_pairs if query in queries})
        pairs = tuple(
            (query, item) for query, item in gold_pairs if query in queries and item in texts
        )
        lost = len(gold_pairs) - len(pairs)
        if not pairs:
            raise BadInput(
                f"{gold_file}: none of its items is in the pool of {study.place}; --gold takes "
                "judgments of pooled items."
            )
        verb = "is" if lost == 1 else "are"
        outside = f"{lost} of the items in {gold_file} {verb} not in the pool, and {verb} not shown"
        return cls(pairs, (*judgments.notes, *(outside,) * bool(lost)))


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
    pairs = [pair for pair in batch.pairs if first.get(pair, judge) == judge] if batch else []
    mixture = _Mixture(study, judge, pairs, lines, first)
    earlier, again = mixture.repeats(options.repeat)
    gold_pairs = mixture.gold(gold) if batch else []
    mixed = [
        *(Ask(*pair) for pair in (*pairs, *mixture.doubles(options.double))),
        *(Ask(*pair, "repeat") for pair in earlier),
        *(Ask(*pair, "gold") for pair in gold_pairs),
    ]
    if not mixed:
        return None
    numbers = _numbers(study, [(ask.query, ask.item) for ask in mixed])
    number_of = dict(zip(mixed, numbers, strict=True))
    mixed.sort(key=lambda ask: (encode_id(ask.query), number_of[ask], ask.purpose))
    asks = (*mixed, *(Ask(*pair, "repeat") for pair in again))
    return SittingItems(batch, asks, tuple(line for line in lines if line.judge == judge))


def _first_judges(lines: Iterable[JournalLine]) -> dict[Pair, str]:
    """The judge who answered each item first."""
    first_answers: dict[Pair, tuple[str, str]] = {}
    for line in lines:
        if line.is_answer:
            first_answers[line.pair] = min(
                first_answers.get(line.pair, (line.time, line.judge)), (line.time, line.judge)
            )
    return {pair: judge for pair, (_, judge) in first_answers.items()}


def _numbers(study: Study, pairs: Sequence[Pair], *purpose: str) -> list[float]:
    """The permanent number of each pair, another one for each purpose."""
    ids = [[encode_id(pair[part]) for pair in pairs] for part in (0, 1)]
    return permanent_numbers(
        study.seed, *([word.encode()] * len(pairs) for word in purpose), *ids
    ).tolist()


@dataclass(frozen=True)
class _Mixture:
    """What is mixed into the items of a batch. pairs: the judge's own ones. first: who answered
    each item first.
    """

    study: Study
    judge: str
    pairs: Sequence[Pair]
    lines: Sequence[JournalLine]
    first: Mapping[Pair, str]

    def _drawn(self, pairs: Iterable[Pair], share: float, purpose: str) -> list[Pair]:
        """The pairs whose number for a purpose is below a share, in the order of these numbers."""
        distinct = list(dict.fromkeys(pairs))
        numbered = sorted(zip(_numbers(self.study, distinct, purpose), distinct, strict=True))
        return [pair for number, pair in numbered if number < share]

    def _done(self, purpose: str) -> list[Pair]:
        """What the judge has answered for a purpose, in order; "" for judgments that count."""
        return [
            line.pair
            for line in self.lines
            if line.judge == self.judge and (line.purpose == purpose if purpose else line.is_answer)
        ]

    def doubles(self, share: float) -> list[Pair]:
        """Items that one other judge alone has answered: up to the share of the judge's own ones,
        all once none is left.
        """
        judges_of: dict[Pair, set[str]] = {}
        for line in self.lines:
            if line.is_answer:
                judges_of.setdefault(line.pair, set()).add(line.judge)
        candidates = [
            pair
            for pair, judges in judges_of.items()
            if judges <= {self.judge, self.first[pair]} and self.first[pair] != self.judge
        ]
        drawn = self._drawn(candidates, share, "double")
        waiting = [pair for pair in drawn if self.judge not in judges_of[pair]]
        if not self.pairs:
            return waiting
        judged = {*self.pairs, *(pair for pair in self.first if self.first[pair] == self.judge)}
        n_done = len(drawn) - len(waiting)
        return waiting[: max(0, math.ceil(share * len(judged)) - n_done)]

    def repeats(self, share: float) -> tuple[list[Pair], list[Pair]]:
        """The judge's own items to show again: those of earlier batches, and those of the first
        half of this one, for its end.
        """
        out = set(self._done("repeat"))
        left = out.union(self.pairs)
        earlier = [pair for pair in self._done("") if pair not in left]
        again = [pair for pair in self.pairs[: len(self.pairs) // 2] if pair not in out]
        return self._drawn(earlier, share, "repeat"), self._drawn(again, share, "repeat")

    def gold(self, gold: Sequence[Pair]) -> list[Pair]:
        """Known items that the judge has not seen: as many as their share of the judge's own
        ones.
        """
        done, judged = set(self._done("gold")), {*self._done(""), *self.pairs}
        seen_pairs = judged | done
        limit = math.ceil(GOLD_SHARE * len(judged)) - len(done)
        unseen = [pair for pair in gold if pair not in seen_pairs]
        return self._drawn(unseen, 1.0, "gold")[: max(0, limit)]
