"""The documents relevant to a question: those it is about, those that hold an answer, those that
share their text.
"""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from functools import cache
from itertools import accumulate, pairwise
from typing import Literal

from rankwell.data.rankings import Ranking
from rankwell.data.tables import Judgments
from rankwell.errors import BadInput, BadUsage, UnknownName
from rankwell.tasks.answers.answer_pairs import Questions
from rankwell.vectors.media.similarity import TextSimilarity, similarity_of
from rankwell.vectors.media.texts import Containment, containment

Vanished = Literal["none", "all"]
_Find = Callable[[str, Set[str]], set[str]]

_WORD = re.compile(r"\w+")
# Long enough that two texts on one subject do not share many, short enough that a changed word
# spoils only a few.
_WORDS_IN_A_ROW = 3


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
    retrieved: Sequence[Ranking] = (),
    vanished: Vanished = "none",
) -> Judgments:
    """The documents whose text holds any right answer of a question. Source: Karpukhin and others
    2020, Petroni and others 2021.

    rule: a name from `rankwell.vectors.media.texts.CONTAINMENTS`. retrieved: only documents that
    these rankings list are searched, as in pooling. vanished: an answer of which the rule leaves
    nothing, such as `.`, is in no text, or in `all`, as in DPR's own script. Raises BadInput for a
    retrieved document without a text, UnknownName for a rule that does not exist.
    """
    if vanished not in ("none", "all"):
        raise UnknownName(f"vanished={vanished!r}; known are 'none' and 'all'.")
    contained = containment(rule)
    needles: list[set[str]] = []
    for rights in questions.rights.values():
        prepared = {contained.prepare(right.text) for right in rights}
        needles.append({text for text in prepared if vanished == "all" or text.strip()})
    if retrieved:
        lists = _lists(retrieved, texts)
        pooled = {item: contained.prepare(texts[item]) for item in set().union(*lists.values())}
        return _judgments(
            (
                name,
                [
                    item
                    for item in lists.get(name, ())
                    if any(contained.holds(pooled[item], needle) for needle in answers)
                ],
            )
            for name, answers in zip(questions.ids, needles, strict=True)
        )
    items = list(texts)
    prepared_texts = [contained.prepare(text) for text in texts.values()]
    # Many questions have the same answers.
    find = cache(
        _find_tokens(prepared_texts, contained)
        if contained.whole_tokens
        else _find_parts(prepared_texts)
    )
    return _judgments(
        (name, [items[row] for needle in answers for row in find(needle)])
        for name, answers in zip(questions.ids, needles, strict=True)
    )


def by_context(
    questions: Questions,
    texts: Mapping[str, str],
    *,
    share: float = 0.65,
    similarity: TextSimilarity | None = None,
    threshold: float = 0.5,
    retrieved: Sequence[Ranking] = (),
    impossible: bool = True,
) -> Judgments:
    """The documents that share their text with a document of the question, however either was cut
    into passages.

    share: the least part of the shorter one's runs of three words that the longer one has.
    similarity: a name of `rankwell.vectors.media.similarity`, by which whole texts are compared
    instead, and are the same from the threshold on: for paraphrases. Raises BadInput without texts.
    """
    for name, value in (("share", share), ("threshold", threshold)):
        if not 0 < value <= 1:
            raise BadUsage(f"{name} is {value}; expected a number above 0 and at most 1.")
    documents = list(_documents(questions, impossible=impossible))
    if questions.contexts.keys().isdisjoint(set().union(*_documents(questions))):
        raise BadInput(
            "no text of the questions' own documents is known; relevance by context needs them, "
            "use documents or answers."
        )
    lists = _lists(retrieved, texts) if retrieved else None
    if lists is not None:
        texts = {item: texts[item] for item in set().union(*lists.values())}
    find = (
        _find_shared(texts, share)
        if similarity is None
        else _find_similar(texts, similarity, threshold)
    )
    relevant: dict[str, set[str]] = {}
    for name, names in zip(questions.ids, documents, strict=True):
        candidates = texts.keys() if lists is None else lists.get(name, set[str]())
        contexts = [questions.contexts[item] for item in names if item in questions.contexts]
        relevant[name] = set[str]().union(*(find(context, candidates) for context in contexts))
    return _judgments(relevant.items())


def _find_shared(texts: Mapping[str, str], share: float) -> _Find:
    """A function that finds the texts, among some, that share enough runs of words with a text."""
    runs = {name: _runs(text) for name, text in texts.items()}
    holders: dict[tuple[str, ...], list[str]] = {}
    for name, of_text in runs.items():
        for run in of_text:
            holders.setdefault(run, []).append(name)

    @cache
    def _alike(text: str) -> set[str]:
        wanted = _runs(text)
        common = Counter(name for run in wanted for name in holders.get(run, ()))
        return {
            name for name, n in common.items() if n >= share * min(len(wanted), len(runs[name]))
        }

    return lambda text, candidates: _alike(text) & candidates


def _find_similar(texts: Mapping[str, str], similarity: TextSimilarity, threshold: float) -> _Find:
    """A function that finds the texts, among some, that are similar enough to a text."""
    compare = similarity_of(similarity)

    @cache
    def _is_similar(text: str, name: str) -> bool:
        return compare(text, texts[name]) >= threshold

    return lambda text, candidates: {name for name in candidates if _is_similar(text, name)}


def _judgments(relevant: Iterable[tuple[str, Iterable[str]]]) -> Judgments:
    return Judgments.from_dict({name: dict.fromkeys(items, 1.0) for name, items in relevant})


def _documents(questions: Questions, *, impossible: bool = True) -> Iterator[set[str]]:
    """The documents of each question, however its file says what they are; none of impossible ones
    unless they count.
    """
    for name, document, is_impossible in zip(
        questions.ids, questions.documents, questions.impossible.tolist(), strict=True
    ):
        documents = {document, *(right.document for right in questions.rights[name])}
        documents |= {item for items in questions.evidence.get(name, ()) for item in items}
        yield (
            {item for item in documents if item is not None}
            if impossible or not is_impossible
            else set()
        )


def _lists(retrieved: Sequence[Ranking], texts: Mapping[str, str]) -> dict[str, set[str]]:
    """The documents that any ranking lists for each question. Raises BadInput for one without a
    text.
    """
    lists: dict[str, set[str]] = {}
    for ranking in retrieved:
        for query, (start, stop) in zip(
            ranking.queries, pairwise(ranking.offsets.tolist()), strict=True
        ):
            lists.setdefault(query, set()).update(ranking.items[start:stop])
    refuse_without_text(set().union(*lists.values()), texts, "answers or context")
    return lists


def refuse_without_text(items: Iterable[str], texts: Mapping[str, str], relevance: str) -> None:
    """Raises BadInput where an item has no text."""
    missing = {item for item in items if item not in texts}
    if missing:
        raise BadInput(
            f"{len(missing)} retrieved documents have no text (such as {min(missing)!r}); "
            f"relevance by {relevance} needs the texts of all: give the corpus."
        )


def _find_tokens(prepared: Sequence[str], contained: Containment) -> Callable[[str], list[int]]:
    """A function that finds the texts that hold an answer, looking only into those with the rarest
    of its tokens.
    """
    holders: dict[str, list[int]] = {}
    for row, text in enumerate(prepared):
        for token in set(text.split()):
            holders.setdefault(token, []).append(row)

    def _find(needle: str) -> list[int]:
        rows = [holders.get(token, []) for token in needle.split()]
        rarest = min(rows, key=len, default=range(len(prepared)))
        return [row for row in rarest if contained.holds(prepared[row], needle)]

    return _find


def _find_parts(prepared: Sequence[str]) -> Callable[[str], list[int]]:
    """A function that finds the texts that hold an answer anywhere, in one search through all of
    them.
    """
    starts = [0, *accumulate(len(text) + 1 for text in prepared)]
    haystack = "".join(f"{text}\0" for text in prepared)

    def _find(needle: str) -> list[int]:
        rows, at = list[int](), haystack.find(needle)
        while 0 <= at < len(haystack):
            rows.append(bisect_right(starts, at) - 1)
            at = haystack.find(needle, starts[rows[-1] + 1])
        return rows

    return _find


def _runs(text: str) -> set[tuple[str, ...]]:
    """The runs of words in a text; a shorter text is one run."""
    words = _WORD.findall(text.casefold())
    starts = range(max(len(words) - _WORDS_IN_A_ROW, 0) + 1) if words else ()
    return {tuple(words[start : start + _WORDS_IN_A_ROW]) for start in starts}
