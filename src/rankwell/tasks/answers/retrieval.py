"""The retriever's part: which documents are relevant to a question, and where they stand in its list."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from rankwell.core.registry import Measure, parse_measure
from rankwell.core.tables import Bools, Floats, TieRule
from rankwell.core.tables.judgments import Judgments
from rankwell.core.tables.ranking import Hits, Ranking
from rankwell.core.views.aspects import GroupRankings
from rankwell.core.views.judged import JudgedRankings
from rankwell.errors import BadInput
from rankwell.evaluation.details import Details, details_of
from rankwell.io import find_hits
from rankwell.tasks.answers.formats import FoundRetrieved
from rankwell.tasks.answers.questions import Questions
from rankwell.tasks.answers.truth import Vanished, by_answer, by_context, by_document

Relevance = Literal["document", "dpr", "kilt", "lower", "raw", "context"]
DETAIL_DEPTH = 20


@dataclass(frozen=True, eq=False)
class Retrieval:
    """One retriever's lists under one truth; queries are all questions, in their order.

    rprec: whether a question counts as retrieved only where the first documents are just its evidence, as KILT has it.
    free: (questions,) those that have 1 for every measure, as there is nothing to find; None for none. texts: document -> what
    it says, as far as that is known.
    """

    run: str
    questions: Questions
    judgments: Judgments
    hits: Hits
    ties: TieRule
    notes: tuple[str, ...]
    k: int
    rprec: bool
    free: Bools | None = None
    texts: Mapping[str, str] = field(default_factory=dict[str, str])

    @cached_property
    def view(self) -> JudgedRankings:
        """The judged documents that were retrieved, each list in its definite order."""
        return JudgedRankings.join(self.judgments, self.hits).resolve(self.ties)

    @cached_property
    def evidence(self) -> GroupRankings:
        """The lists judged by sets of documents, each of which is enough to answer; without such sets, each document is one."""
        rows: list[tuple[str, str, str]] = []
        bounds = self.judgments.offsets.tolist()
        for place, name in enumerate(self.questions.ids):
            sets = self.questions.evidence.get(name) or [
                [item] for item in self.judgments.items[bounds[place] : bounds[place + 1]]
            ]
            rows += [(name, item, str(number)) for number, each in enumerate(sets) for item in dict.fromkeys(each)]
        queries, items, aspects = zip(*rows, strict=True) if rows else ((), (), ())
        grouped = Judgments.from_rows(queries, items, [1.0] * len(rows), aspects=aspects, all_queries=self.questions.ids)
        return GroupRankings.join(grouped, self.hits)

    def values(self, measure: Measure) -> Floats:
        """(questions,) the value of each; NaN where it is not counted."""
        values = measure(self.evidence if measure.entry.view is GroupRankings else self.view)
        return values if self.free is None else np.where(self.free, 1.0, values)

    @cached_property
    def found(self) -> Bools:
        """(questions,) whether what an answer needs is among the first `k` documents."""
        if self.rprec:
            return self.values(parse_measure("EvidenceRprec")) >= 1
        return self.values(parse_measure(f"Success@{self.k}")) > 0

    @cached_property
    def first_ranks(self) -> list[int | None]:
        """The rank of each question's first relevant document, None where there is none in its list."""
        ranks = self.view.first_rank(self.view.relevant(1))
        return [int(rank) if np.isfinite(rank) else None for rank in ranks]

    @cached_property
    def details(self) -> Details:
        """The first documents of each list, and every relevant one wherever it stands."""
        return details_of(self.judgments, self.hits, self.view)

    @property
    def missing(self) -> int:
        """How many questions have no list."""
        return int(np.count_nonzero(~self.hits.present))

    @property
    def without_relevant(self) -> int:
        """For how many questions no document is relevant."""
        none = self.view.n_relevant(1) == 0
        return int(np.count_nonzero(none if self.free is None else none & ~self.free))


def retrieval_of(
    found: FoundRetrieved,
    questions: Questions,
    *,
    run: str,
    relevance: Relevance,
    frozen: bool,
    corpus: Mapping[str, str] | None,
    context_share: float,
    ties: TieRule,
    k: int,
    rprec: bool,
    free: Bools | None = None,
) -> Retrieval:
    """What a retriever found, judged.

    frozen: the rule for answers is as its source has it, by which an answer of nothing is in every text.
    corpus: document id -> text, beside the texts that the questions and the retrieved documents bring.
    Raises BadInput where relevance cannot be told: the questions name no documents, or texts are missing.
    """
    texts = {**questions.contexts, **(corpus or {}), **found.contexts}
    # Where the lists bring their own texts, the rest of the collection is unknown.
    pooled = bool(found.contexts) and corpus is None
    lists = [found.table] if pooled else []
    notes: list[str] = []
    if relevance == "document":
        judgments = by_document(questions, impossible=free is None)
        if not judgments.items and (free is None or not free.all()):
            advice = "take relevance dpr or kilt, which look for the answers in the retrieved texts"
            raise BadInput(f"no question names a document, so that retrieval cannot be judged by documents; {advice}.")
    elif relevance == "context":
        judgments = by_context(questions, texts, share=context_share, retrieved=lists or [found.table], impossible=free is None)
    else:
        vanished: Vanished = "all" if frozen else "none"
        if not pooled:
            _refuse_unknown(found, texts)
        judgments = by_answer(questions, texts, rule=relevance, retrieved=lists, vanished=vanished)
        if pooled:
            notes.append(f"{run}: relevant are retrieved documents that hold an answer; others count nowhere, without a corpus")
        notes += _contradictions(run, found, judgments)
    if relevance == "document":
        notes += strangers(run, list(dict.fromkeys(found.table.items)), questions, "retrieved", corpus or ())
    notes += _repeated(run, found.table)
    order: TieRule = "input" if found.ordered else ties
    hits = find_hits(found.table, judgments, ties=order, keep=DETAIL_DEPTH).hits
    return Retrieval(run, questions, judgments, hits, order, tuple(notes), k, rprec, free, texts)


def strangers(run: str, documents: Collection[str], questions: Questions, what: str, known: Collection[str] = ()) -> list[str]:
    """The note that none of some documents is one of the questions' own or of those known besides: ids that never match."""
    own = {*questions.documents, *questions.answer_documents, *questions.contexts, *known}
    own |= {item for sets in questions.evidence.values() for each in sets for item in each}
    own.discard(None)
    if not documents or not own or not own.isdisjoint(documents):
        return []
    examples = f"these like {next(iter(documents))!r}, those like {min(own, key=str)!r}"
    return [f"WARNING: {run}: none of the {what} documents is known to the questions: {examples}; are ids written in two ways?"]


def _contradictions(run: str, found: FoundRetrieved, judgments: Judgments) -> list[str]:
    """The note that a file's own `has_answer` is not what its texts say."""
    held = {
        (judgments.queries[query], item) for query, item in zip(judgments.query_of_row.tolist(), judgments.items, strict=True)
    }
    pairs = [(pair, claim) for pair, claim in found.claims.items() if pair[0] in judgments.index]
    odd = [(pair, claim) for pair, claim in pairs if claim != (pair in held)]
    if not odd:
        return []
    (query, item), claim = odd[0]
    what = f"{run}: {len(odd)} of {len(pairs)} has_answer of the file are not what the texts say"
    return [f"{what} (question {query!r}, passage {item!r}: {str(claim).lower()}); the texts decide"]


def _repeated(run: str, ranking: Ranking) -> list[str]:
    bounds = ranking.offsets.tolist()
    extra = [stop - start - len(set(ranking.items[start:stop])) for start, stop in pairwise(bounds)]
    if not any(extra):
        return []
    return [f"{run}: {sum(extra)} documents stand again in {sum(map(bool, extra))} lists, and count at each of their places"]


def _refuse_unknown(found: FoundRetrieved, texts: Mapping[str, Any]) -> None:
    away = [item for item in dict.fromkeys(found.table.items) if item not in texts]
    if away:
        what = f"{len(away)} retrieved documents have no text (such as {min(away)!r})"
        raise BadInput(f"{what}; relevance by answers needs the texts of all: give the corpus.")
