"""The retriever's part: the documents relevant to a question, which are those it is about, those
that hold an answer or those that share their text, and their ranks in its list.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import chain

import numpy as np

from rankwell.data.findings import Finding
from rankwell.data.findings.kinds import odd_entries, recall_of_retrieved
from rankwell.data.judged_rankings import GroupRankings, JudgedRankings
from rankwell.data.rankings import Hits, Ranking
from rankwell.data.registry import Measure, parse_measure
from rankwell.data.tables import Bools, Judgments, TieRule, grouped, sort_ids
from rankwell.errors import BadInput, count_of, flag
from rankwell.evaluation.details import Details, details_of
from rankwell.evaluation.judged import JudgedRun, MeasuredQueries
from rankwell.evaluation.results import DETAIL_DEPTH
from rankwell.io.formats import find_hits
from rankwell.tasks.qa.answer_pairs import Questions
from rankwell.tasks.qa.findings import documents_unmatched, odd_answers
from rankwell.tasks.qa.formats import FoundTable
from rankwell.tasks.qa.plan import AnswerPlan
from rankwell.vectors.media.texts import Containment, TextSimilarity, containment, similarity_of

_WORD = re.compile(r"\w+")
# Long enough that two texts on one subject do not share many, short enough that a changed word
# spoils only a few.
_WORDS_IN_A_ROW = 3


@dataclass(frozen=True, eq=False, kw_only=True)
class RetrieverRun(JudgedRun):
    """The judged lists of one retriever. The queries are all questions, in their order.

    judgments: the documents that are relevant to each question.
    hits: ranks of the relevant documents in the lists, and the first documents of each list.
    findings: findings on how relevance was decided, and on unknown and repeated documents.
    plan: the measures and rules.
    nothing_to_find: (questions,) whether every measure is 1, as the question is impossible; None
        without such a rule.
    texts: document id -> text, for documents whose text is known.
    """

    judgments: Judgments
    hits: Hits
    findings: tuple[Finding, ...]
    plan: AnswerPlan
    nothing_to_find: Bools | None
    texts: Mapping[str, str]

    @classmethod
    def of(
        cls,
        name: str,
        lists: FoundTable[Ranking],
        questions: Questions,
        plan: AnswerPlan,
        corpus: Mapping[str, str] | None,
        nothing_to_find: Bools | None,
    ) -> "RetrieverRun":
        """The lists of a retriever, judged. corpus: texts by document. Raises BadInput where
        relevance cannot be decided.
        """
        texts, items = {**questions.contexts, **(corpus or {}), **lists.contexts}, lists.table.items
        impossible, findings = nothing_to_find is None, list[Finding]()
        relevance = plan.relevance
        # Where the lists bring their own texts, the rest of the collection is unknown.
        pooled = bool(lists.contexts) and corpus is None
        if relevance == "document":
            findings = unknown_documents(
                name, list(dict.fromkeys(items)), questions, "retrieved", corpus or ()
            )
            judgments = by_document(questions, impossible=impossible)
            if not judgments.items and (nothing_to_find is None or not nothing_to_find.all()):
                raise BadInput(
                    "no question names a document, so that retrieval cannot be judged by "
                    "documents; take relevance dpr or kilt, which look for the answers in the "
                    "retrieved texts."
                )
        elif relevance == "context":
            judgments = by_context(
                questions, texts, lists.table, impossible=impossible, **plan.context_rules
            )
        else:
            if pooled:
                what = (
                    "the retrieved documents that hold an answer; others count nowhere, without "
                    f"the texts of all ({flag('--documents')})"
                )
                labels = [labelled.label for labelled in plan.measures.retriever]
                findings.append(recall_of_retrieved(name, labels, what))
            else:
                _refuse_without_text(items, texts, "answers")
            judgments = by_answer(
                questions,
                texts,
                rule=relevance,
                retrieved=lists.table if pooled else None,
                as_published=plan.options.relevance is None,
            )
            findings += _contradictions(name, lists, judgments)
        order: TieRule = "input" if lists.ordered else plan.ties
        hits = find_hits(lists.table, judgments, ties=order, keep=DETAIL_DEPTH).hits
        return cls(
            name=name,
            attributes={"part": "retriever"},
            view=JudgedRankings.join(judgments, hits),
            ties=order,
            other_views=cache(lambda _: _by_evidence(questions, judgments, hits)),
            judgments=judgments,
            hits=hits,
            findings=(*findings, *_repeated(name, lists.table)),
            plan=plan,
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
    def found(self) -> dict[str, bool]:
        """Whether what its answer needs is among the first documents, by question; under KILT's
        rules, whether they are just its evidence.
        """
        measures = {labelled.measure.name for labelled in self.plan.measures.retriever}
        decisive = f"Success@{self.plan.depths[-1]}"
        if "EvidenceRprec" in measures:
            decisive = "EvidenceRprec"
        values = self.evaluate(parse_measure(decisive)).values
        is_found = values >= 1 if decisive == "EvidenceRprec" else values > 0
        return dict(zip(self.view.queries, is_found.tolist(), strict=True))

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
    for name in questions.ids:
        items_of_query = judgments.items[judgments.rows_of(name)]
        sets = questions.evidence.get(name) or [[item] for item in items_of_query]
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
    run: str, documents: Collection[str], questions: Questions, kind: str, corpus: Collection[str]
) -> list[Finding]:
    """The finding that none of some documents is one of the questions' own or of the corpus: ids
    that never match.

    Where some match, that others do not, while documents of the questions are in no list:
    ids that seldom match.
    """
    sources = {*questions.documents, *questions.answer_documents, *questions.contexts, *corpus}
    sources |= {item for sets in questions.evidence.values() for items in sets for item in items}
    sources.discard(None)
    if not documents or not sources:
        return []
    if sources.isdisjoint(documents):
        return [
            documents_unmatched(
                run,
                f"none of the {kind} documents is known to the questions: these like "
                f"{next(iter(documents))!r}, those like {min(sources, key=str)!r}; are ids written "
                "in two ways?",
            )
        ]
    unknown = [document for document in documents if document not in sources]
    sought = {document for document in questions.documents if document is not None}
    lost = sort_ids(sought - set(documents))
    if not unknown or not lost or kind != "retrieved":
        return []
    return [
        documents_unmatched(
            run,
            f"{len(lost)} of the {len(sought)} documents of the questions are in no list, such as "
            f"{lost[0]!r}, and {count_of(len(unknown), 'document is', 'documents are')} of no "
            f"question, such as {unknown[0]!r}; are ids written in two ways?",
        )
    ]


def _contradictions(run: str, lists: FoundTable[Ranking], judgments: Judgments) -> list[Finding]:
    """The finding that a file's own `has_answer` is not what its texts say."""
    held = set(zip(judgments.row_queries, judgments.items, strict=True))
    claims = {pair: claim for pair, claim in lists.claims.items() if pair[0] in judgments.index}
    wrong = [pair for pair, claim in claims.items() if claim != (pair in held)]
    if not wrong:
        return []
    query, item = wrong[0]
    return [
        odd_answers(
            run,
            f"{len(wrong)} of {len(claims)} has_answer of the file are not what the texts say "
            f"(question {query!r}, passage {item!r}: {str(claims[wrong[0]]).lower()}); the texts "
            "decide",
        )
    ]


def _repeated(run: str, ranking: Ranking) -> list[Finding]:
    lists = [ranking.items[ranking.rows_of(query)] for query in ranking.queries]
    repeats = list(filter(None, (len(items) - len(set(items)) for items in lists)))
    if not repeats:
        return []
    return [
        odd_entries(
            f"{sum(repeats)} documents appear again in {len(repeats)} lists, and count at each of "
            "their places",
            run,
        )
    ]


def by_document(questions: Questions, *, impossible: bool = True) -> Judgments:
    """The documents that each question was asked about, that hold its answers, or are its evidence;
    if `impossible`, too.
    """
    return _judgments(zip(questions.ids, _documents(questions, impossible=impossible), strict=True))


def by_answer(
    questions: Questions,
    texts: Mapping[str, str],
    *,
    rule: str = "dpr",
    retrieved: Ranking | None = None,
    as_published: bool = False,
) -> Judgments:
    """The documents whose text holds any right answer of a question. Source: Karpukhin and others
    2020, Petroni and others 2021.

    rule: a name from `rankwell.vectors.media.texts.CONTAINMENTS`. retrieved: only documents that
    this ranking lists are searched, as in pooling. as_published: an answer of which the rule leaves
    nothing, such as `.`, is in all texts, as in DPR's own script, and not in none. Raises BadInput
    for a retrieved document without a text, UnknownName for a rule that does not exist.
    """
    contained = containment(rule)
    needles: list[set[str]] = []
    for rights in questions.rights.values():
        prepared = {contained.prepare(right.text) for right in rights}
        needles.append({text for text in prepared if as_published or text.strip()})
    if retrieved is not None:
        lists, prepare = _lists(retrieved, texts), cache(contained.prepare)
        return _judgments(
            (
                name,
                [
                    item
                    for item in lists.get(name, ())
                    if any(contained.holds(prepare(texts[item]), needle) for needle in answers)
                ],
            )
            for name, answers in zip(questions.ids, needles, strict=True)
        )
    items = list(texts)
    prepared_texts = [contained.prepare(text) for text in texts.values()]
    # Many questions have the same answers.
    find = cache(_find_holding(prepared_texts, contained))
    return _judgments(
        (name, [items[row] for needle in answers for row in find(needle)])
        for name, answers in zip(questions.ids, needles, strict=True)
    )


def by_context(
    questions: Questions,
    texts: Mapping[str, str],
    retrieved: Ranking,
    *,
    share: float = 0.65,
    similarity: TextSimilarity | None = None,
    threshold: float = 0.5,
    impossible: bool = True,
) -> Judgments:
    """The retrieved documents that share their text with a document of the question, however either
    was cut into passages.

    share: the least part of the shorter one's runs of three words that the longer one has.
    similarity: a name of `rankwell.vectors.media.texts`, by which whole texts are compared
    instead, and are the same from the threshold on: for paraphrases. Raises BadInput without texts.
    """
    if questions.contexts.keys().isdisjoint(set().union(*_documents(questions))):
        raise BadInput(
            "no text of the questions' own documents is known; relevance by context needs them, "
            "use documents or answers."
        )
    compare = None if similarity is None else similarity_of(similarity)
    runs = cache(_runs)

    @cache
    def _is_alike(text: str, retrieved_text: str) -> bool:
        if compare is not None:
            return compare(text, retrieved_text) >= threshold
        wanted, held = runs(text), runs(retrieved_text)
        common = len(wanted & held)
        return common > 0 and common >= share * min(len(wanted), len(held))

    lists, relevant = _lists(retrieved, texts), dict[str, list[str]]()
    documents = _documents(questions, impossible=impossible)
    for name, names in zip(questions.ids, documents, strict=True):
        contexts = [questions.contexts[item] for item in names if item in questions.contexts]
        relevant[name] = [
            item
            for item in lists.get(name, ())
            if any(_is_alike(context, texts[item]) for context in contexts)
        ]
    return _judgments(relevant.items())


def _judgments(relevant: Iterable[tuple[str, Iterable[str]]]) -> Judgments:
    return Judgments.from_dict({name: dict.fromkeys(items, 1.0) for name, items in relevant})


def _documents(questions: Questions, *, impossible: bool = True) -> Iterator[set[str]]:
    """The documents of each question, however its file says what they are; none of impossible ones
    unless they count.
    """
    for name, document, is_impossible in zip(
        questions.ids, questions.documents, questions.impossible.tolist(), strict=True
    ):
        documents: set[str] = set()
        if impossible or not is_impossible:
            rights = (right.document for right in questions.rights[name])
            items = chain((document,), rights, *questions.evidence.get(name, ()))
            documents = {item for item in items if item is not None}
        yield documents


def _lists(retrieved: Ranking, texts: Mapping[str, str]) -> dict[str, set[str]]:
    """The documents that are listed for each question. Raises BadInput for one without a text."""
    _refuse_without_text(retrieved.items, texts, "answers or context")
    return {query: set(retrieved.items[retrieved.rows_of(query)]) for query in retrieved.queries}


def _refuse_without_text(items: Iterable[str], texts: Mapping[str, str], relevance: str) -> None:
    """Raises BadInput where an item has no text."""
    missing = {item for item in items if item not in texts}
    if missing:
        raise BadInput(
            f"{len(missing)} retrieved documents have no text (such as {min(missing)!r}); "
            f"relevance by {relevance} needs the texts of all: give {flag('--documents')}."
        )


def _find_holding(prepared: Sequence[str], contained: Containment) -> Callable[[str], list[int]]:
    """A function that finds the texts that hold an answer; where tokens are compared it looks only
    into those with the rarest of them.
    """
    holders = grouped(
        (token, row)
        for row, text in enumerate(prepared if contained.whole_tokens else ())
        for token in set(text.split())
    )

    def _find(needle: str) -> list[int]:
        tokens = needle.split() if contained.whole_tokens else ()
        rows = [holders.get(token, []) for token in tokens]
        rarest = min(rows, key=len, default=range(len(prepared)))
        return [row for row in rarest if contained.holds(prepared[row], needle)]

    return _find


def _runs(text: str) -> set[tuple[str, ...]]:
    """The runs of words in a text; a shorter text is one run."""
    words = _WORD.findall(text.casefold())
    starts = range(max(len(words) - _WORDS_IN_A_ROW, 0) + 1) if words else ()
    return {tuple(words[start : start + _WORDS_IN_A_ROW]) for start in starts}
