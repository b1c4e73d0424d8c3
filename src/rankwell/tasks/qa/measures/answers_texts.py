"""Generated answers against right ones: by n-grams, by vectors, or by the grade that a user's
function gives.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from importlib.metadata import version
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from rankwell.data.code import code_name, load_object, origin_of
from rankwell.data.registry import Measure, Scale, measure
from rankwell.data.tables import Floats, unmasked
from rankwell.errors import BadInput, MissingExtra, shown
from rankwell.tasks.qa.answer_pairs import AnswerPairs, is_blank
from rankwell.tasks.qa.judges import Grade, judge_of
from rankwell.tasks.qa.measures.answers import (
    EXEMPT,
    Counting,
    Population,
    Retrieval,
    over_questions,
)

if TYPE_CHECKING:
    from rankwell.vectors.encoders import TextEncoder


def _values(pairs: AnswerPairs, key: tuple[Any, ...], grade: Grade, counting: Counting) -> Floats:
    """The best grade of the first k answers: (questions,). A blank answer is 1 for an impossible
    question, and else 0.
    """
    key = (*key, counting.k)
    if key not in pairs.cache:
        rights = [
            pairs.right_answers[start:stop]
            for start, stop in pairwise(pairs.right_offsets.tolist())
        ]
        grades = np.zeros(len(pairs.texts))
        for row in np.flatnonzero(pairs.ranks <= (counting.k or np.inf)).tolist():
            query, text = int(pairs.question_of_row[row]), pairs.texts[row]
            if text is None or is_blank(text):
                grades[row] = pairs.impossible[query]
            elif rights[query]:
                question = pairs.question_texts[query] or pairs.queries[query]
                grades[row] = grade(question, text, rights[query])
        pairs.cache[key] = grades
    return over_questions(pairs, pairs.cache[key], counting)


def libraries(measures: Iterable[Measure]) -> dict[str, str]:
    """The library of each of these measures that has one: name and version, with the signature or
    the model.
    """
    versions: dict[str, str] = {}
    for parsed in measures:
        parameters, name = parsed.parameters, str(parsed)
        if parsed.name == "AnswerROUGE":
            versions[name] = f"rouge-score {version('rouge-score')}"
        elif parsed.name == "AnswerBLEU":
            rules = f"tok:{parameters['tokenize']}|smooth:{parameters['smoothing']}"
            versions[name] = f"sacrebleu case:mixed|eff:yes|{rules}|version:{version('sacrebleu')}"
        elif (code := parameters.get("judge") or parameters.get("encoder")) and code_name(code):
            if origin := origin_of(judge_of(code)):
                versions[name] = origin
        elif parsed.name == "AnswerSimilarity":
            about = _model(parameters["encoder"]).describe()
            words = [about.get(key) for key in ("model", "revision", "model_hash")]
            words += [" ".join(pair) for pair in about.get("versions", {}).items()]
            versions[name] = " ".join(filter(None, words))
    return versions


@cache
def _model(name: str) -> "TextEncoder":
    from rankwell.vectors.encoders import load_encoder

    return load_encoder(name)


def _encode(name: str, texts: Sequence[str]) -> Any:
    """The vectors of texts by an encoder, a function of the user or a model."""
    if code_name(name) is None:
        return _model(name).encode(texts)
    function: Callable[[Sequence[str]], Any] = load_object(name)
    try:
        return unmasked(function(texts), "its array", np.float64)
    except Exception as error:
        raise BadInput(
            f"{name} on {len(texts)} texts fails: {type(error).__name__}: {error}; expected a "
            "vector of as many numbers for each."
        ) from error


@measure(
    "AnswerSimilarity",
    source="Risch and others 2021, Semantic answer similarity for evaluating question answering "
    "models; Haystack 3.4.1, SAS",
    scale=Scale((-1.0, 1.0), "higher", "score"),
    exempt=EXEMPT,
)
def answer_similarity(
    pairs: AnswerPairs,
    *,
    encoder: str,
    population: Population = "all",
    retrieval: Retrieval = "ignored",
    k: int | None = None,
) -> Floats:
    """The highest cosine similarity between the vector of one of the first `k` answers and that of
    a right answer.

    Semantic answer similarity (SAS), for answers that paraphrase a right one:

        AnswerSimilarity = u · v / (|u| · |v|)
        u, v: the vectors of the answer and of a right one

    A blank answer scores 1 for an impossible question, else 0. encoder: the name or folder of a
    sentence-transformers model, or a function from a list of texts to an array (texts, d):
    `./FILE.py:FUNCTION`, or an installed `module:function`. population, retrieval: see AnswerEM.
    Raises BadInput for vectors that are not finite, and for zero vectors of compared texts, since
    they have no direction.

    >>> import sys, types
    >>> sys.modules["vowels"] = types.SimpleNamespace(
    ...     count=lambda texts: [[text.count(x) for x in "aeiou"] for text in texts]
    ... )
    >>> from rankwell.tasks.qa.answer_pairs import answer_pairs
    >>> pairs = answer_pairs({"q": ["a big apple"]}, {"q": ["big apple"]})
    >>> answer_similarity(pairs, encoder="vowels:count").round(4).tolist()
    [0.9428]
    """
    texts = list(
        dict.fromkeys(text for text in (*pairs.texts, *pairs.right_answers) if text is not None)
    )
    key, vectors = ("AnswerSimilarity", encoder), dict[str, Floats]()
    if (*key, k) not in pairs.cache and texts:
        array = np.asarray(_encode(encoder, texts), dtype=np.float64)
        if array.ndim != 2 or len(array) != len(texts) or not np.isfinite(array).all():
            raise BadInput(
                f"{encoder} gives {array.shape} of {len(texts)} texts; expected a vector of "
                "finite numbers for each."
            )
        lengths = np.linalg.norm(array, axis=1, keepdims=True)
        vectors = dict(zip(texts, array / np.where(lengths > 0, lengths, 1), strict=True))

    def _cosine(_: str, answer: str, rights: Sequence[str]) -> float:
        zero = next((text for text in (answer, *rights) if not vectors[text].any()), None)
        if zero is not None:
            raise BadInput(
                f"{encoder}: the vector of {shown(zero)} is zero and has no direction; name "
                "another encoder, or correct the text."
            )
        return min(max(float(vectors[answer] @ vectors[right]) for right in rights), 1.0)

    return _values(pairs, key, _cosine, Counting(k, population, retrieval))


@measure(
    "AnswerROUGE",
    source="Lin 2004, ROUGE: A package for automatic evaluation of summaries; rouge-score 0.1.2",
    exempt=EXEMPT,
)
def answer_rouge(
    pairs: AnswerPairs,
    *,
    form: Literal["rougeL", "rouge1", "rouge2"] = "rougeL",
    stemmer: bool = False,
    population: Population = "all",
    retrieval: Retrieval = "ignored",
    k: int | None = None,
) -> Floats:
    """The best F1 of the first `k` answers with a right answer, by their longest common subsequence
    of words.

    ROUGE of an answer, for longer answers, by words in the same order:

        AnswerROUGE = 2 · P · R / (P + R)
        P = L / (words of the answer), R = L / (words of a right answer)
        L: the length of the longest common subsequence of words

    As in rouge-score, words are runs of a-z and 0-9 in lower case, so texts in other scripts have
    none. form: `rouge1` compares single words, `rouge2` pairs of words. stemmer: stem words of more
    than 3 letters (Porter). population, retrieval: see AnswerEM. Raises MissingExtra without
    rouge-score.

    >>> from rankwell.tasks.qa.answer_pairs import answer_pairs
    >>> answer_rouge(answer_pairs({"q": ["the red car waits"]}, {"q": ["a red car"]})).round(
    ...     4
    ... ).tolist()
    [0.5714]
    """
    try:
        from rouge_score.rouge_scorer import RougeScorer
    except ImportError as error:
        raise MissingExtra("AnswerROUGE needs rouge-score: pip install 'rankwell[qa]'.") from error
    scorer = RougeScorer([form], use_stemmer=stemmer)

    def _f1(_: str, answer: str, rights: Sequence[str]) -> float:
        return max(float(scorer.score(right, answer)[form].fmeasure) for right in rights)

    key = ("AnswerROUGE", form, stemmer)
    return _values(pairs, key, _f1, Counting(k, population, retrieval))


@measure(
    "AnswerBLEU",
    source="Papineni and others 2002, BLEU; Post 2018, A call for clarity in reporting BLEU "
    "scores; "
    "sacrebleu 2.6.0",
    exempt=EXEMPT,
)
def answer_bleu(
    pairs: AnswerPairs,
    *,
    tokenize: Literal["13a", "none"] = "13a",
    smoothing: Literal["exp", "none"] = "exp",
    population: Population = "all",
    retrieval: Retrieval = "ignored",
    k: int | None = None,
) -> Floats:
    """The best BLEU of the first `k` answers, from 0 to 1, with all right answers as references.

    BLEU of an answer, for longer answers, by shared phrases:

        AnswerBLEU = B · exp(mean of ln p_n over n = 1…4)
        p_n: the share of the answer's n-grams that a right answer has
        B: the brevity penalty

    sacrebleu's signature is `case:mixed|eff:yes|tok:<tokenize>|smooth:<smoothing>`: a short answer
    is scored only by the n-gram orders that it has. The mean over questions is not corpus BLEU.
    tokenize, smoothing: as in sacrebleu. population, retrieval: see AnswerEM. Raises MissingExtra
    without sacrebleu.

    >>> from rankwell.tasks.qa.answer_pairs import answer_pairs
    >>> answer_bleu(answer_pairs({"q": ["the red car waits"]}, {"q": ["the red car"]})).round(
    ...     4
    ... ).tolist()
    [0.7165]
    """
    try:
        from sacrebleu.metrics.bleu import BLEU
    except ImportError as error:
        raise MissingExtra("AnswerBLEU needs sacrebleu: pip install 'rankwell[qa]'.") from error
    bleu = BLEU(tokenize=tokenize, smooth_method=smoothing, effective_order=True)

    def _bleu(_: str, answer: str, rights: Sequence[str]) -> float:
        return min(float(bleu.sentence_score(answer, list(rights)).score) / 100, 1.0)

    key = ("AnswerBLEU", tokenize, smoothing)
    return _values(pairs, key, _bleu, Counting(k, population, retrieval))


@measure(
    "AnswerJudge",
    source="a function of the user; Zheng and others 2023, Judging LLM-as-a-judge",
    exempt=EXEMPT,
)
def answer_judge(
    pairs: AnswerPairs,
    *,
    judge: str,
    population: Population = "all",
    retrieval: Retrieval = "ignored",
    k: int | None = None,
) -> Floats:
    """The best grade, from 0 to 1, that a function gives to one of the first `k` answers.

    Answer grade of a judge, for grades by your own function, such as a language model:

        AnswerJudge@k = max over the first k answers of judge(question, answer, right answers)

    judge: `./FILE.py:FUNCTION`, an installed `module:function`, or in Python the name of a
    `rankwell.answer_judge`. The function takes the question, the answer and the list of right
    answers. It is called for each answer that is not blank, if the question has a right one. An
    exception, or anything but a number from 0 to 1, is an error that names the question; no grade
    is filled in. population, retrieval: see AnswerEM.

    >>> import sys, types
    >>> sys.modules["mine"] = types.SimpleNamespace(
    ...     judge=lambda question, answer, right: float(answer in right)
    ... )
    >>> from rankwell.tasks.qa.answer_pairs import answer_pairs
    >>> answer_judge(
    ...     answer_pairs({"q": ["Paris"]}, {"q": ["Lyon", "Paris"]}), judge="mine:judge"
    ... ).tolist()
    [1.0]
    """
    function: Callable[..., Any] = judge_of(judge)

    def _grade(question: str, answer: str, rights: Sequence[str]) -> float:
        case = f"{judge} on question {shown(question)}, answer {shown(answer)}"
        try:
            value = function(question, answer, list(rights))
        except Exception as error:
            raise BadInput(
                f"{case} fails: {type(error).__name__}: {error}; correct the function, or "
                "leave it out."
            ) from error
        if (
            not isinstance(value, (bool, int, float, np.bool_, np.number))
            or not 0 <= value <= 1  # nor NaN
        ):
            raise BadInput(f"{case} gives {shown(value)}; expected a number from 0 to 1.")
        return float(value)

    return _values(pairs, ("AnswerJudge", judge), _grade, Counting(k, population, retrieval))
