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

from rankwell.core.tables import Judgments
from rankwell.core.tables.ranking import Ranking
from rankwell.errors import BadInput, BadUsage, UnknownName
from rankwell.media.similarity import TextSimilarity, similarity_of
from rankwell.media.texts import Containment, containment
from rankwell.tasks.answers.answer_pairs import Questions

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

    rule: a name from `rankwell.media.texts.CONTAINMENTS`. retrieved: only documents that these
    rankings list are searched, as in pooling. vanished: an answer of which the rule leaves nothing,
    such as `.`, is in no text, or in `all`, as in DPR's own script. Raises BadInput for a retrieved
    document without a text, UnknownName for a rule that does not exist.
    """
    if vanished not in ("none", "all"):
        raise UnknownName(f"vanished={vanished!r}; known are 'none' and 'all'.")
    how = containment(rule)
    bounds = pairwise(questions.offsets.tolist())
    every = [
        {how.prepare(answer) for answer in questions.answers[start:stop]} for start, stop in bounds
    ]
    needles = [{needle for needle in each if vanished == "all" or needle.strip()} for each in every]
    if retrieved:
        listed = _listed(retrieved, texts)
        prepared = {item: how.prepare(texts[item]) for item in set().union(*listed.values())}
        return _judgments(
            (
                name,
                [
                    item
                    for item in listed.get(name, ())
                    if any(how.holds(prepared[item], needle) for needle in wanted)
                ],
            )
            for name, wanted in zip(questions.ids, needles, strict=True)
        )
    items = list(texts)
    whole = [how.prepare(text) for text in texts.values()]
    # Many questions have the same answers.
    find = cache(_find_tokens(whole, how) if how.whole_tokens else _find_parts(whole))
    return _judgments(
        (name, [items[place] for needle in wanted for place in find(needle)])
        for name, wanted in zip(questions.ids, needles, strict=True)
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
    similarity: a name of `rankwell.media.similarity`, by which whole texts are compared instead,
    and are the same from the threshold on: for paraphrases. Raises BadInput without texts.
    """
    for name, value in (("share", share), ("threshold", threshold)):
        if not 0 < value <= 1:
            raise BadUsage(f"{name} is {value}; expected a number above 0 and at most 1.")
    if not any(
        document in questions.contexts
        for documents in _documents(questions)
        for document in documents
    ):
        what = "no text of the questions' own documents is known"
        raise BadInput(f"{what}; relevance by context needs them, use documents or answers.")
    listed = _listed(retrieved, texts) if retrieved else None
    known = (
        texts if listed is None else {item: texts[item] for item in set().union(*listed.values())}
    )
    find = (
        _find_shared(known, share)
        if similarity is None
        else _find_similar(known, similarity, threshold)
    )
    relevant: dict[str, set[str]] = {}
    for name, documents in zip(
        questions.ids, _documents(questions, impossible=impossible), strict=True
    ):
        among = known.keys() if listed is None else listed.get(name, set[str]())
        own = [
            questions.contexts[document] for document in documents if document in questions.contexts
        ]
        relevant[name] = set[str]().union(*(find(text, among) for text in own))
    return _judgments(relevant.items())


def _find_shared(texts: Mapping[str, str], share: float) -> _Find:
    """A function that finds the texts, among some, that share enough runs of words with a text."""
    runs = {name: _runs(text) for name, text in texts.items()}
    holders: dict[tuple[str, ...], list[str]] = {}
    for name, mine in runs.items():
        for run in mine:
            holders.setdefault(run, []).append(name)

    @cache
    def _alike(text: str) -> set[str]:
        mine = _runs(text)
        common = Counter(name for run in mine for name in holders.get(run, ()))
        return {name for name, n in common.items() if n >= share * min(len(mine), len(runs[name]))}

    return lambda text, among: _alike(text) & among


def _find_similar(texts: Mapping[str, str], similarity: TextSimilarity, threshold: float) -> _Find:
    """A function that finds the texts, among some, that are similar enough to a text."""
    compare = similarity_of(similarity)

    @cache
    def _is_similar(text: str, name: str) -> bool:
        return compare(text, texts[name]) >= threshold

    return lambda text, among: {name for name in among if _is_similar(text, name)}


def _judgments(relevant: Iterable[tuple[str, Iterable[str]]]) -> Judgments:
    return Judgments.from_dict({name: dict.fromkeys(items, 1.0) for name, items in relevant})


def _documents(questions: Questions, *, impossible: bool = True) -> Iterator[set[str]]:
    """The documents of each question, however its file says what they are; none of impossible ones
    unless they count.
    """
    bounds = questions.offsets.tolist()
    for place, (name, hopeless) in enumerate(
        zip(questions.ids, questions.impossible.tolist(), strict=True)
    ):
        named = (
            questions.documents[place],
            *questions.answer_documents[bounds[place] : bounds[place + 1]],
        )
        evidence = {document for each in questions.evidence.get(name, ()) for document in each}
        yield (
            {document for document in named if document is not None} | evidence
            if impossible or not hopeless
            else set()
        )


def _listed(retrieved: Sequence[Ranking], texts: Mapping[str, str]) -> dict[str, set[str]]:
    """The documents that any ranking lists for each question. Raises BadInput for one without a
    text.
    """
    listed: dict[str, set[str]] = {}
    for ranking in retrieved:
        for query, (start, stop) in zip(
            ranking.queries, pairwise(ranking.offsets.tolist()), strict=True
        ):
            listed.setdefault(query, set()).update(ranking.items[start:stop])
    refuse_without_text(set().union(*listed.values()), texts, "answers or context")
    return listed


def refuse_without_text(items: Iterable[str], texts: Mapping[str, str], relevance: str) -> None:
    """Raises BadInput where an item has no text."""
    away = {item for item in items if item not in texts}
    if away:
        what = f"{len(away)} retrieved documents have no text (such as {min(away)!r})"
        raise BadInput(f"{what}; relevance by {relevance} needs the texts of all: give the corpus.")


def _find_tokens(prepared: Sequence[str], how: Containment) -> Callable[[str], list[int]]:
    """A function that finds the texts that hold an answer, looking only into those with the rarest
    of its tokens.
    """
    holders: dict[str, list[int]] = {}
    for place, text in enumerate(prepared):
        for token in set(text.split()):
            holders.setdefault(token, []).append(place)

    def _find(needle: str) -> list[int]:
        tokens = needle.split()
        rarest = (
            min((holders.get(token, []) for token in tokens), key=len)
            if tokens
            else range(len(prepared))
        )
        return [place for place in rarest if how.holds(prepared[place], needle)]

    return _find


def _find_parts(prepared: Sequence[str]) -> Callable[[str], list[int]]:
    """A function that finds the texts that hold an answer anywhere, in one search through all of
    them.
    """
    starts = [0, *accumulate(len(text) + 1 for text in prepared)]
    whole = "".join(f"{text}\0" for text in prepared)

    def _find(needle: str) -> list[int]:
        places, found = list[int](), whole.find(needle)
        while 0 <= found < len(whole):
            places.append(bisect_right(starts, found) - 1)
            found = whole.find(needle, starts[places[-1] + 1])
        return places

    return _find


def _runs(text: str) -> set[tuple[str, ...]]:
    """The runs of words in a text; a shorter text is one run."""
    words = _WORD.findall(text.casefold())
    last = len(words) - _WORDS_IN_A_ROW
    return (
        {tuple(words[place : place + _WORDS_IN_A_ROW]) for place in range(max(last, 0) + 1)}
        if words
        else set()
    )
