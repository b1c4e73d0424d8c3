"""Whether the answers that a reader gives are right: exactly, in part, or at all."""

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Literal, NamedTuple

import numpy as np

from rankwell.data.registry import measure
from rankwell.data.tables import Bools, Floats, Ints, take_segments
from rankwell.errors import BadUsage, flag
from rankwell.tasks.qa.answer_pairs import AnswerPairs, NormalForms, is_blank
from rankwell.vectors.media.texts import NormalizerName

Rule = Literal[
    "overlap",
    "intersect",
    "span",
    "span-f1",
    "text",
    "token-f1",
    "char-f1",
    "contains",
    "contains-tokens",
    "either",
]
NoAnswer = Literal["blank", "explicit", "normalized", "squad2", "wrong", "never", "refuse"]
Population = Literal["all", "answerable", "impossible"]
Retrieval = Literal["ignored", "only", "required"]

EXEMPT = {
    "empty": "an impossible question is answered rightly by an empty list",
    "unjudged tail": "an empty list is not an answer, a list with something in it is",
}
_SQUAD = "Rajpurkar and others 2016, SQuAD: 100,000+ questions for machine comprehension of text"
_PIAF = "Haystack 0.9 eval.py, deepset 2021, which PIAF's evaluation calls"


class Counting(NamedTuple):
    """How the values of single answers become those of questions; see `AnswerEM`.

    k: number of first answers that are read; None for all.
    population: the questions that are counted.
    retrieval: the treatment of questions for which nothing relevant was retrieved.
    no_answer: the right answer to an impossible question.
    na_threshold: the no-answer number above which no answer is given; None for no such rule.
    over: whether the `best` of the first answers counts or their `mean`.
    """

    k: int | None
    population: Population
    retrieval: Retrieval
    no_answer: NoAnswer = "blank"
    na_threshold: float | None = None
    over: Literal["best", "mean"] = "best"


def _values(
    pairs: AnswerPairs, rule: Rule, normalizer: NormalizerName | None, counting: Counting
) -> Floats:
    """The values by a rule: (questions,). Raises BadUsage for a normaliser of positions, which are
    compared as they are, and for a rule about positions where there are none.
    """
    has_positions = rule in _SPANS
    if has_positions and normalizer is not None:
        raise BadUsage(
            f"normalizer={normalizer!r}: positions are compared, not texts; leave the normalizer "
            "out."
        )
    if has_positions and pairs.positions:
        raise BadUsage(pairs.positions)
    # `strip` says which answers are blank.
    name = "strip" if has_positions else normalizer or "squad"
    return over_questions(pairs, _scores(pairs, rule, name, counting.no_answer), counting)


def _scores(pairs: AnswerPairs, rule: Rule, normalizer: str, no_answer: NoAnswer) -> Floats:
    """The value of every answer, best over the right answers, (answers,); computed once for every
    cut-off and population.

    rule: `overlap` positions that share a character or touch, `intersect` share one, `span` the
    same positions, `span-f1` of shared positions (all four: in the same document); `text` equal,
    `token-f1` and `char-f1` of shared tokens or characters, `contains` the right answer's text,
    `contains-tokens` its tokens in a row, `either` contains the other; all in their
    normal form. no_answer: see `AnswerEM`.
    """
    key = (rule, normalizer, no_answer)
    if key not in pairs.cache:
        none = _says_none(pairs, normalizer, no_answer)
        best = _best_right(pairs, rule, normalizer, no_answer)
        pairs.cache[key] = np.where(pairs.impossible[pairs.question_of_row], none, best)
    return pairs.cache[key]


def _says_none(pairs: AnswerPairs, normalizer: str, no_answer: NoAnswer) -> Bools:
    """Whether an answer says that there is none: (answers,)."""
    if no_answer in _LEGACY:
        return np.zeros(len(pairs.texts), dtype=np.bool_)
    if no_answer in ("normalized", "squad2"):
        forms = pairs.normal_forms(normalizer)
        return forms.vanished[forms.answers]
    blank = (lambda text: text is None) if no_answer == "explicit" else is_blank
    return np.array(list(map(blank, pairs.texts)), dtype=np.bool_)


def _best_right(pairs: AnswerPairs, rule: Rule, normalizer: str, no_answer: NoAnswer) -> Floats:
    """The best value of each answer over the right answers of its question: (answers,)."""
    gold, bounds = take_segments(pairs.right_offsets, pairs.question_of_row)
    answer = np.repeat(np.arange(len(pairs.texts), dtype=np.int64), np.diff(bounds))
    if rule in _SPANS:
        value = _compare_spans(pairs, rule, answer, gold)
    else:
        value = _compare_texts(pairs.normal_forms(normalizer), rule, answer, gold, no_answer)
    best = np.zeros(len(pairs.texts))
    filled = np.flatnonzero(np.diff(bounds))
    if len(filled):
        best[filled] = np.maximum.reduceat(value, bounds[:-1][filled])
    return np.where(list(map(is_blank, pairs.texts)), 0.0, best) if no_answer == "never" else best


def _compare_spans(pairs: AnswerPairs, rule: Rule, answer_rows: Ints, gold_rows: Ints) -> Floats:
    start, end = pairs.starts[answer_rows], pairs.ends[answer_rows]
    first, last = pairs.right_starts[gold_rows], pairs.right_ends[gold_rows]
    comparable = (
        (pairs.documents[answer_rows] == pairs.right_documents[gold_rows])
        & (start >= 0)
        & (end >= start)
        & (first >= 0)
    )
    shared = np.minimum(end, last) - np.maximum(start, first)
    if rule == "span-f1":
        common = np.where(comparable, shared, 0)
        lengths = (column.tolist() for column in (common, end - start, last - first))
        return np.array(list(map(_harmonic, *lengths)))
    # Ends are exclusive and the bounds inclusive, as in Haystack: spans that only touch overlap.
    touch, same = (first <= end) & (start <= last), (start == first) & (end == last)
    right = {"overlap": touch, "intersect": shared > 0, "span": same}[rule]
    return (comparable & right).astype(np.float64)


def _compare_texts(
    forms: NormalForms, rule: Rule, answer: Ints, gold: Ints, no_answer: NoAnswer
) -> Floats:
    answers, right, vanished = forms.answers[answer], forms.right[gold], forms.vanished
    value = (answers == right).astype(np.float64)
    if rule in _TEXTS:
        # An answer that equals one of the right ones has F1 = 1 and need not be compared with the
        # others.
        same = np.bincount(answer[value > 0], minlength=len(forms.answers)) > 0
        open_rows = np.flatnonzero(~same[answer] & ~vanished[answers] & ~vanished[right])
        pairs = zip(answers[open_rows].tolist(), right[open_rows].tolist(), strict=True)
        compare, texts = _TEXTS[rule], forms.texts
        value[open_rows] = [compare(texts[first], texts[second]) for first, second in pairs]
    if rule in ("contains", "contains-tokens", "either") or (
        rule != "text" and no_answer in _LEGACY
    ):
        # The older scripts give two answers of nothing EM 1 and F1 0; nothing is contained in
        # nothing here.
        value[vanished[answers] & vanished[right]] = 0.0
    if no_answer == "squad2":
        # The right answers that normalise to nothing are dropped, unless the question has no other.
        left = np.bincount(answer[~vanished[right]], minlength=len(forms.answers)) > 0
        value[vanished[right] & left[answer]] = 0.0
    return value


def _f1_by(units_of: Callable[[str], list[str]]) -> "Compare":
    """Compares the units of texts, as many times as each is there."""

    def _f1(answer: str, right: str) -> float:
        first, second = Counter(units_of(answer)), Counter(units_of(right))
        return _harmonic((first & second).total(), first.total(), second.total())

    return _f1


def _spaced(text: str) -> str:
    return f" {' '.join(text.split())} "


Compare = Callable[[str, str], float]
"""Of the normal forms of an answer and a right one: their value."""
_LEGACY = ("wrong", "never", "refuse")
_SPANS = ("overlap", "intersect", "span", "span-f1")
_TEXTS: Mapping[str, Compare] = {
    "token-f1": _f1_by(str.split),
    "char-f1": _f1_by(list),
    "contains": lambda answer, right: right in answer,
    "contains-tokens": lambda answer, right: _spaced(right) in _spaced(answer),
    "either": lambda answer, right: right in answer or answer in right,
}


def over_questions(view: AnswerPairs, scores: Floats, counting: Counting) -> Floats:
    """The best or the mean of the first k answers, (questions,); NaN where a question is not
    counted.

    An empty list is right for an impossible question, or not. scores: (answers,).
    """
    k, population, retrieval, no_answer, na_threshold, over = counting
    counts = np.diff(view.offsets)
    rows = scores if k is None else np.where(view.ranks <= k, scores, 0.0)
    value = (view.impossible & (no_answer not in ("explicit", *_LEGACY))).astype(np.float64)
    filled = np.flatnonzero(counts)
    if over == "mean":
        total = np.bincount(view.question_of_row, weights=rows, minlength=len(value))
        lengths = counts if k is None else np.minimum(counts, k)
        value[filled] = total[filled] / lengths[filled]
    elif len(filled):
        value[filled] = np.maximum.reduceat(rows, view.offsets[:-1][filled])
    if na_threshold is not None:
        abstained = np.nan_to_num(view.no_answer, nan=-np.inf) > na_threshold
        value = np.where(abstained, view.impossible, value)
    counted = {
        "all": np.ones_like(view.missing),
        "impossible": view.impossible,
        "answerable": ~view.impossible,
    }[population]
    lost = view.missing
    if retrieval != "ignored":
        if view.retrieved is None:
            raise BadUsage(
                "this measure asks whether a relevant document was retrieved; give the "
                f"retriever's run ({flag('--retrieved')})."
            )
        if retrieval == "only":
            counted = counted & view.retrieved
        else:
            lost = lost | ~view.retrieved
    if no_answer == "refuse" and (counted & view.impossible).any():
        query = view.queries[int(np.flatnonzero(counted & view.impossible)[0])]
        raise BadUsage(
            f"question {query!r} has no right answer, and this convention has no rule for such "
            "questions; take squad2, or leave it out."
        )
    return np.where(counted, np.where(lost, 0.0, value), np.nan)


@measure(
    "AnswerEM", source=_SQUAD + "; match='offset': " + _PIAF, aliases="exact_match", exempt=EXEMPT
)
def answer_em(
    pairs: AnswerPairs,
    *,
    match: Literal["text", "offset"] = "text",
    normalizer: NormalizerName | None = None,
    no_answer: NoAnswer = "blank",
    na_threshold: float | None = None,
    population: Population = "all",
    retrieval: Retrieval = "ignored",
    k: int | None = None,
) -> Floats:
    """1 if one of the first `k` answers equals a right answer, else 0; for an impossible question,
    1 if there is no answer.

    Exact match (EM), for short answers that must match exactly:

        AnswerEM@k = 1 if one of the first k answers equals a right one, else 0

    A question without a prediction scores 0. normalizer: the rules that normalise texts, `squad` by
    default. match: compare normalised `text`, or `offset`s in the same document. no_answer: the
    right reply to an impossible question: `blank`, an empty answer or list; `explicit`, only None;
    `normalized`, an answer that is empty after normalisation, or an empty list; `squad2`, the same,
    and right answers that normalise to nothing are dropped; `wrong`, none; `never`, none, and a
    blank answer is always wrong; `refuse`, such a question is an error. na_threshold: a question
    with a higher no-answer probability counts as unanswered. population: the questions that count:
    `all`, `answerable` or `impossible`. retrieval: `only` counts questions whose evidence was
    retrieved; `required` gives the others 0.

    >>> from rankwell.tasks.qa.answer_pairs import answer_pairs
    >>> pairs = answer_pairs({"q": ["the Paris metro", "Paris"]}, {"q": ["Lyon", "Paris Metro!"]})
    >>> (
    ...     answer_em(pairs, k=1).tolist(),
    ...     answer_em(pairs).tolist(),
    ...     answer_em(pairs, normalizer="none").tolist(),
    ... )
    ([0.0], [1.0], [0.0])
    """
    rule: Rule = "span" if match == "offset" else "text"
    counting = Counting(k, population, retrieval, no_answer, na_threshold)
    return _values(pairs, rule, normalizer, counting)


@measure(
    "AnswerF1",
    source=_SQUAD + "; unit='offset': " + _PIAF,
    aliases="token_f1 char_f1(unit='char')",
    exempt=EXEMPT,
)
def answer_f1(
    pairs: AnswerPairs,
    *,
    unit: Literal["token", "char", "offset"] = "token",
    normalizer: NormalizerName | None = None,
    over: Literal["best", "mean"] = "best",
    no_answer: NoAnswer = "blank",
    na_threshold: float | None = None,
    population: Population = "all",
    retrieval: Retrieval = "ignored",
    k: int | None = None,
) -> Floats:
    """The best F1 of the first `k` answers, each compared with the right answer that it overlaps
    most.

    Token F1, for short answers, with credit for nearly right ones:

        AnswerF1 = 2 · P · R / (P + R)
        P, R: the shared tokens over the tokens of the answer, and of the right answer

    A repeated unit counts each time. Two texts that are both empty after normalisation have F1 1,
    but 0 if no_answer is `wrong`, `never` or `refuse`. unit: what is compared: the `token`s or
    `char`acters of normalised texts, or the characters by position in the same document (`offset`).
    over: the `best` or the `mean` of the first `k` answers. no_answer, na_threshold, population,
    retrieval, normalizer: see AnswerEM.

    >>> from rankwell.tasks.qa.answer_pairs import answer_pairs
    >>> pairs = answer_pairs({"q": ["Paris"]}, {"q": ["Paris, France", "Lyon"]})
    >>> answer_f1(pairs).round(4).tolist(), answer_f1(pairs, over="mean").round(4).tolist()
    ([0.6667], [0.3333])
    >>> (answer_f1(pairs, unit="char", normalizer="none") * 18).round(9).tolist()
    [10.0]
    """
    rules: dict[str, Rule] = {"token": "token-f1", "char": "char-f1", "offset": "span-f1"}
    counting = Counting(k, population, retrieval, no_answer, na_threshold, over)
    return _values(pairs, rules[unit], normalizer, counting)


@measure(
    "AnswerAccuracy",
    source=_PIAF + "; match='contains': KILT, Petroni and others 2021",
    exempt=EXEMPT,
)
def answer_accuracy(
    pairs: AnswerPairs,
    *,
    match: Literal["overlap", "intersect", "contains", "contains-tokens", "either"] = "overlap",
    normalizer: NormalizerName | None = None,
    no_answer: NoAnswer = "blank",
    na_threshold: float | None = None,
    population: Population = "all",
    retrieval: Retrieval = "ignored",
    k: int | None = None,
) -> Floats:
    """1 if one of the first `k` answers overlaps a right answer, else 0; for an impossible
    question, 1 if there is no answer.

    Answer accuracy, for answers that contain or touch a right one:

        AnswerAccuracy@k = 1 if one of the first k answers overlaps or contains a right one, else 0

    match: in the same document, the spans of the answer and of a right one `overlap` or touch, or
    `intersect` in at least one character; after normalisation, the answer `contains` a right one,
    or `contains-tokens` of it in sequence, or `either` contains the other. no_answer, na_threshold,
    population, retrieval, normalizer: see AnswerEM.

    >>> from rankwell.tasks.qa.answer_pairs import answer_pairs
    >>> pairs = answer_pairs({"q": ["Paris"]}, {"q": ["in Parisian style", "in Paris itself"]})
    >>> (
    ...     answer_accuracy(pairs, match="contains", k=1).tolist(),
    ...     answer_accuracy(pairs, match="contains-tokens", k=1).tolist(),
    ... )
    ([1.0], [0.0])
    """
    counting = Counting(k, population, retrieval, no_answer, na_threshold)
    return _values(pairs, match, normalizer, counting)


def _harmonic(shared: int, answer: int, right: int) -> float:
    """2 P R / (P + R), 0 where nothing is shared; computed as in the official scripts, so that the
    last bit agrees, too.
    """
    if shared <= 0:
        return 0.0
    precision, recall = shared / answer, shared / right
    return 2 * precision * recall / (precision + recall)
