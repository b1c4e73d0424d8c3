"""The retriever's part: the relevant documents of each question, and their ranks in its list."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import numpy as np

from rankwell.data.judged_rankings import GroupRankings, JudgedRankings
from rankwell.data.rankings import Hits, Ranking
from rankwell.data.registry import Measure, parse_measure
from rankwell.data.tables import Bools, Judgments, TieRule, sort_ids
from rankwell.errors import BadInput, count_of
from rankwell.evaluation.details import Details, details_of
from rankwell.evaluation.judged import JudgedRun, MeasuredQueries
from rankwell.evaluation.results import DETAIL_DEPTH
from rankwell.io.formats import find_hits
from rankwell.tasks.answers.answer_pairs import Questions
from rankwell.tasks.answers.formats import FoundTable
from rankwell.tasks.answers.truth import by_answer, by_context, by_document, refuse_without_text
from rankwell.vectors.media.similarity import TextSimilarity

Relevance = Literal["document", "dpr", "kilt", "lower", "raw", "context"]


class RelevanceRules(NamedTuple):
    """The rules of a retriever's part; `as_published`: an answer of nothing is in every text, as in
    the rule's source.
    """

    relevance: Relevance
    as_published: bool
    context_share: float
    context_similarity: TextSimilarity | None
    context_threshold: float
    ties: TieRule
    k: int
    needs_evidence: bool

    @property
    def of_contexts(self) -> dict[str, Any]:
        """The rules of relevance by context, as results record them; none under another
        relevance.
        """
        if self.relevance != "context":
            return {}
        if self.context_similarity is None:
            return {"context_share": self.context_share}
        return {
            "context_similarity": self.context_similarity,
            "context_threshold": self.context_threshold,
        }


@dataclass(frozen=True, eq=False, kw_only=True)
class RetrieverRun(JudgedRun):
    """The lists of one retriever, judged; queries are all questions, in their order.

    rules.k: the number of first documents that count as retrieved. rules.needs_evidence: only where
    these are just its evidence is a question retrieved, as in KILT. nothing_to_find: (questions,)
    those with 1 for every measure. texts: by document.
    """

    judgments: Judgments
    hits: Hits
    notes: tuple[str, ...]
    rules: RelevanceRules
    nothing_to_find: Bools | None = None
    texts: Mapping[str, str] = field(default_factory=dict[str, str])

    @classmethod
    def of(
        cls,
        name: str,
        lists: FoundTable[Ranking],
        questions: Questions,
        rules: RelevanceRules,
        corpus: Mapping[str, str] | None = None,
        nothing_to_find: Bools | None = None,
    ) -> "RetrieverRun":
        """The lists of a retriever, judged. corpus: texts by document. Raises BadInput where
        relevance cannot be decided.
        """
        texts, items = {**questions.contexts, **(corpus or {}), **lists.contexts}, lists.table.items
        impossible, notes = nothing_to_find is None, list[str]()
        # Where the lists bring their own texts, the rest of the collection is unknown.
        pooled = bool(lists.contexts) and corpus is None
        if rules.relevance == "document":
            notes = unknown_documents(
                name, list(dict.fromkeys(items)), questions, "retrieved", corpus or ()
            )
            judgments = by_document(questions, impossible=impossible)
            if not judgments.items and (nothing_to_find is None or not nothing_to_find.all()):
                raise BadInput(
                    "no question names a document, so that retrieval cannot be judged by "
                    "documents; take relevance dpr or kilt, which look for the answers in the "
                    "retrieved texts."
                )
        elif rules.relevance == "context":
            judgments = by_context(
                questions,
                texts,
                share=rules.context_share,
                similarity=rules.context_similarity,
                threshold=rules.context_threshold,
                retrieved=[lists.table],
                impossible=impossible,
            )
        else:
            if pooled:
                notes.append(
                    f"{name}: relevant are retrieved documents that hold an answer; others count "
                    "nowhere, without a corpus"
                )
            else:
                refuse_without_text(items, texts, "answers")
            judgments = by_answer(
                questions,
                texts,
                rule=rules.relevance,
                retrieved=[lists.table] if pooled else [],
                vanished="all" if rules.as_published else "none",
            )
            notes += _contradictions(name, lists, judgments)
        order: TieRule = "input" if lists.ordered else rules.ties
        hits = find_hits(lists.table, judgments, ties=order, keep=DETAIL_DEPTH).hits
        return cls(
            name=name,
            attributes={"part": "retriever"},
            view=JudgedRankings.join(judgments, hits),
            ties=order,
            other_views=cache(lambda _: _by_evidence(questions, judgments, hits)),
            judgments=judgments,
            hits=hits,
            notes=(*notes, *_repeated(name, lists.table)),
            rules=rules,
            nothing_to_find=nothing_to_find,
            texts=texts,
        )

    def evaluate(self, measure: Measure) -> MeasuredQueries:
        """The values of a measure, 1 where there is nothing to find."""
        measured = super().evaluate(measure)
        if self.nothing_to_find is None:
            return measured
        return measured._replace(values=np.where(self.nothing_to_find, 1.0, measured.values))

    @cached_property
    def is_found(self) -> Bools:
        """(questions,) whether what an answer needs is among the first `k` documents."""
        if self.rules.needs_evidence:
            return self.evaluate(parse_measure("EvidenceRprec")).values >= 1
        return self.evaluate(parse_measure(f"Success@{self.rules.k}")).values > 0

    @cached_property
    def first_ranks(self) -> list[int | None]:
        """The rank of each question's first relevant document, None where there is none in its
        list.
        """
        ranks = self.resolved.first_rank(self.resolved.relevant(1))
        return [int(rank) if np.isfinite(rank) else None for rank in ranks]

    @cached_property
    def details(self) -> Details:
        """The first documents of each list, and every relevant one wherever it is ranked."""
        return details_of(self.judgments, self.hits, self.resolved)


def _by_evidence(questions: Questions, judgments: Judgments, hits: Hits) -> GroupRankings:
    """The lists judged by sets of documents, each of which is enough to answer; without such sets,
    each document is one.
    """
    rows: list[tuple[str, str, str]] = []
    for name, (start, stop) in zip(
        questions.ids, pairwise(judgments.offsets.tolist()), strict=True
    ):
        sets = questions.evidence.get(name) or [[item] for item in judgments.items[start:stop]]
        rows += [
            (name, item, str(number))
            for number, items in enumerate(sets)
            for item in dict.fromkeys(items)
        ]
    queries, items, aspects = zip(*rows, strict=True) if rows else ((), (), ())
    grouped = Judgments.from_rows(
        queries, items, [1.0] * len(rows), aspects=aspects, all_queries=questions.ids
    )
    return GroupRankings.join(grouped, hits)


def unknown_documents(
    run: str,
    documents: Collection[str],
    questions: Questions,
    kind: str,
    corpus: Collection[str] = (),
) -> list[str]:
    """The note that none of some documents is one of the questions' own or of the corpus: ids that
    never match.

    Where some match, the note that others do not, while documents of the questions are in no list:
    ids that seldom match.
    """
    sources = {*questions.documents, *questions.answer_documents, *questions.contexts, *corpus}
    sources |= {item for sets in questions.evidence.values() for items in sets for item in items}
    sources.discard(None)
    if not documents or not sources:
        return []
    if sources.isdisjoint(documents):
        return [
            f"WARNING: {run}: none of the {kind} documents is known to the questions: these like "
            f"{next(iter(documents))!r}, those like {min(sources, key=str)!r}; are ids written in "
            "two ways?"
        ]
    unknown = [document for document in documents if document not in sources]
    sought = {document for document in questions.documents if document is not None}
    lost = sort_ids(sought - set(documents))
    if not unknown or not lost or kind != "retrieved":
        return []
    return [
        f"{run}: {len(lost)} of the {len(sought)} documents of the questions are in no list, such "
        f"as {lost[0]!r}, and {count_of(len(unknown), 'document is', 'documents are')} of no "
        f"question, such as {unknown[0]!r}; are ids written in two ways?"
    ]


def _contradictions(run: str, lists: FoundTable[Ranking], judgments: Judgments) -> list[str]:
    """The note that a file's own `has_answer` is not what its texts say."""
    rows = zip(judgments.query_of_row.tolist(), judgments.items, strict=True)
    held = {(judgments.queries[query], item) for query, item in rows}
    claims = {pair: claim for pair, claim in lists.claims.items() if pair[0] in judgments.index}
    wrong = [pair for pair, claim in claims.items() if claim != (pair in held)]
    if not wrong:
        return []
    query, item = wrong[0]
    return [
        f"{run}: {len(wrong)} of {len(claims)} has_answer of the file are not what the texts say "
        f"(question {query!r}, passage {item!r}: {str(claims[wrong[0]]).lower()}); the texts decide"
    ]


def _repeated(run: str, ranking: Ranking) -> list[str]:
    repeats = [
        stop - start - len(set(ranking.items[start:stop]))
        for start, stop in pairwise(ranking.offsets.tolist())
    ]
    if not any(repeats):
        return []
    return [
        f"{run}: {sum(repeats)} documents appear again in {sum(map(bool, repeats))} lists, and "
        "count at each of their places"
    ]
