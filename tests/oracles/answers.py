"""Answers to questions, judged one by one in plain loops; the normalisers are written as the
official scripts write them.

`ranking` lists the answers as texts, best first, each to be read by `decode`; None: nobody
answered. `grades` is what is known of the question: `golds`, a list of (text, document, start),
`found`, whether what it needs was retrieved, and `na`, how likely it has no answer. A question
without golds is impossible. The sets of evidence at the end read group -> item -> grade.
"""

import math
import re
import string
import unicodedata
from collections import Counter
from collections.abc import Callable
from typing import Any

Answer = tuple[str | None, str | None, int, int]
NOTHING = "∅"


def encode(text: str | None, document: str, start: int, end: int) -> str:
    return "|".join([NOTHING if text is None else text, document, str(start), str(end)])


def decode(item: str) -> Answer:
    parts = item.rsplit("|", 3)
    if len(parts) < 4:
        return item, None, -1, -1
    return None if parts[0] == NOTHING else parts[0], parts[1], int(parts[2]), int(parts[3])


# ---- normalisers
# --------------------------------------------------------------------------------------------------


def fix_white_space(text: str) -> str:
    return " ".join(text.split())


def is_punctuation(letter: str) -> bool:
    return letter in string.punctuation or unicodedata.category(letter)[0] == "P"


def delete_punctuation(text: str) -> str:
    return "".join(letter for letter in text if letter not in set(string.punctuation))


def delete_articles(text: str, words: str = "a an the") -> str:
    return re.sub(r"\b(" + "|".join(words.split()) + r")\b", " ", text)


def squad(text: str) -> str:
    return fix_white_space(delete_articles(delete_punctuation(text.lower())))


def french_bench(text: str) -> str:
    return fix_white_space(
        delete_articles(delete_punctuation(text.lower()), "un une des le la les")
    )


def nq_open(text: str) -> str:
    return squad(unicodedata.normalize("NFD", text))


def triviaqa(text: str) -> str:
    blanks = set(string.punctuation + "‘’´`")
    spaced = "".join(
        " " if letter in blanks else letter for letter in text.replace("_", " ").lower()
    )
    return fix_white_space(delete_articles(spaced)).strip()


def dpr(text: str) -> str:
    tokens: list[str] = []
    word = ""
    for letter in unicodedata.normalize("NFD", text) + " ":
        kind = unicodedata.category(letter)[0]
        if kind in "LNM":
            word += letter
            continue
        tokens += [word] if word else []
        tokens += [letter] if kind not in "ZC" else []
        word = ""
    return " ".join(token.lower() for token in tokens)


MLQA = {
    "en": "a an the",
    "es": "un una unos unas el la los las",
    "de": "ein eine einen einem eines einer der die das den dem des",
    "vi": "của là cái chiếc những",
    "hi": "",
    "zh": "",
}


def mlqa(language: str) -> Callable[[str], str]:
    def normalise(text: str) -> str:
        text = "".join(letter for letter in text.lower() if not is_punctuation(letter))
        if language == "ar":
            text = re.sub("ال", " ", text)
        elif MLQA[language]:
            text = delete_articles(text, MLQA[language])
        if language != "zh":
            return " ".join(text.split())
        tokens, run = [], ""
        for letter in text:
            if re.search("[\u4e00-\u9fa5]", letter):
                tokens += [*run.split(), letter]
                run = ""
            else:
                run += letter
        return " ".join([*tokens, *run.split()])

    return normalise


def english(text: str) -> str:
    lowered = unicodedata.normalize("NFC", text).lower()
    plain = fix_white_space(
        unicodedata.normalize("NFC", "".join(each for each in lowered if not is_punctuation(each)))
    )
    return fix_white_space(delete_articles(plain)) or plain or fix_white_space(lowered)


def french(text: str) -> str:
    lowered = unicodedata.normalize("NFC", text).lower()
    for apostrophe in "’‘ʼ":
        lowered = lowered.replace(apostrophe, "'")
    elided = re.sub(r"\b[ld]'", " ", lowered)
    words = "".join(" " if is_punctuation(letter) else letter for letter in elided).split()
    kept = [
        word
        for word in words
        if word not in ("le", "la", "les", "un", "une", "des", "du", "au", "aux")
    ]
    return " ".join(kept) or " ".join(words) or fix_white_space(elided) or fix_white_space(lowered)


NORMALISERS: dict[str | None, Callable[[str], str]] = {
    "none": lambda text: text,
    "strip": lambda text: text.strip(),
    "lower": lambda text: fix_white_space(text.lower()),
    None: squad,
    "squad": squad,
    "english": english,
    "french": french,
    "french-bench": french_bench,
    "nq-open": nq_open,
    "triviaqa": triviaqa,
    "dpr": dpr,
    **{f"mlqa-{language}": mlqa(language) for language in [*MLQA, "ar"]},
}


# ---- one answer against one right answer
# --------------------------------------------------------------------------------


def f1_of(given: list[str], right: list[str], nothing: float) -> float:
    if not given or not right:
        return nothing if given == right else 0.0
    shared = sum((Counter(given) & Counter(right)).values())
    if shared == 0:
        return 0.0
    precision, recall = shared / len(given), shared / len(right)
    return 2 * precision * recall / (precision + recall)


def spans(answer: Answer, gold: Any) -> tuple[range, range] | None:
    _, document, start, end = answer
    text, other, first = gold
    if document != other or start < 0 or first < 0:
        return None
    return range(start, end), range(first, first + len(text))


def overlaps(answer: Answer, gold: Any) -> float:
    pair = spans(answer, gold)
    return float(
        pair is not None and pair[1].start <= pair[0].stop and pair[0].start <= pair[1].stop
    )


def intersects(answer: Answer, gold: Any) -> float:
    pair = spans(answer, gold)
    return float(pair is not None and bool(set(pair[0]) & set(pair[1])))


def same_span(answer: Answer, gold: Any) -> float:
    pair = spans(answer, gold)
    return float(
        pair is not None and (pair[0].start, pair[0].stop) == (pair[1].start, pair[1].stop)
    )


def span_f1(answer: Answer, gold: Any) -> float:
    pair = spans(answer, gold)
    return (
        0.0
        if pair is None
        else f1_of([str(place) for place in pair[0]], [str(place) for place in pair[1]], 0.0)
    )


def has_tokens(text: str, part: str) -> bool:
    tokens, wanted = text.split(), part.split()
    return any(
        tokens[place : place + len(wanted)] == wanted
        for place in range(len(tokens) - len(wanted) + 1)
    )


# ---- one question
# --------------------------------------------------------------------------------------------------


def judge(
    ranking: list[str] | None,
    known: dict[str, Any],
    compare: Callable[[Answer, Any], float] | None,
    compare_texts: Callable[[str, str], float] | None,
    *,
    normalizer: str | None,
    no_answer: str,
    na_threshold: float | None,
    population: str,
    retrieval: str,
    k: int | None,
    over: str = "best",
) -> float:
    """What a question gets, whatever is compared: positions (`compare`) or normal forms
    (`compare_texts`).
    """
    golds, impossible = known["golds"], not known["golds"]
    normalise = NORMALISERS["strip" if compare is not None else normalizer]
    if (population == "answerable" and impossible) or (
        population == "impossible" and not impossible
    ):
        return math.nan
    if retrieval == "only" and not known["found"]:
        return math.nan
    if ranking is None or (retrieval == "required" and not known["found"]):
        return 0.0
    if na_threshold is not None and known["na"] is not None and known["na"] > na_threshold:
        return float(impossible)
    strict = no_answer in ("wrong", "never", "refuse")
    if not ranking:
        return float(impossible and not strict and no_answer != "explicit")
    values: list[float] = []
    for answer in [decode(item) for item in ranking][:k]:
        text = answer[0]
        blank = text is None or text.strip() == ""
        if impossible:
            nothing = {"blank": blank, "explicit": text is None}.get(
                no_answer, not normalise(text or "").strip()
            )
            values.append(float(nothing and not strict))
        elif no_answer == "never" and blank:
            values.append(0.0)
        elif compare is not None:
            values.append(max(compare(answer, gold) for gold in golds))
        else:
            assert compare_texts is not None
            rights = [normalise(gold[0]) for gold in golds]
            if no_answer == "squad2":
                rights = [each for each in rights if each.strip()] or rights
            values.append(max(compare_texts(normalise(text or ""), each) for each in rights))
    return max(values) if over == "best" else sum(values) / len(values)


def rules(
    normalizer: str | None = None,
    no_answer: str = "blank",
    na_threshold: float | None = None,
    population: str = "all",
    retrieval: str = "ignored",
    k: int | None = None,
) -> dict[str, Any]:
    """The settings that all three measures have."""
    return {
        "normalizer": normalizer,
        "no_answer": no_answer,
        "na_threshold": na_threshold,
        "population": population,
        "retrieval": retrieval,
        "k": k,
    }


def AnswerEM(
    ranking: list[str] | None, grades: dict[str, Any], *, match: str = "text", **given: Any
) -> float:
    """Whether one of the first k answers is a right one."""
    spans_ = same_span if match == "offset" else None
    return judge(ranking, grades, spans_, lambda one, other: float(one == other), **rules(**given))


def AnswerF1(
    ranking: list[str] | None,
    grades: dict[str, Any],
    *,
    unit: str = "token",
    over: str = "best",
    **given: Any,
) -> float:
    """What the best of the first k answers shares with a right one."""
    settings = rules(**given)
    nothing = 0.0 if settings["no_answer"] in ("wrong", "never", "refuse") else 1.0

    def share(one: str, other: str) -> float:
        if one == other and one.strip():
            return 1.0
        if not one.strip() or not other.strip():
            return nothing if one == other else 0.0
        return (
            f1_of(one.split(), other.split(), nothing)
            if unit == "token"
            else f1_of(list(one), list(other), nothing)
        )

    return judge(
        ranking, grades, span_f1 if unit == "offset" else None, share, over=over, **settings
    )


def AnswerAccuracy(
    ranking: list[str] | None, grades: dict[str, Any], *, match: str = "overlap", **given: Any
) -> float:
    """Whether one of the first k answers is right in part."""
    positions = {"overlap": overlaps, "intersect": intersects}.get(match)

    def holds(one: str, other: str) -> float:
        if not one.strip() or not other.strip():
            return 0.0
        if match == "contains-tokens":
            return float(has_tokens(one, other))
        return float(other in one or (match == "either" and one in other))

    return judge(ranking, grades, positions, holds, **rules(**given))


# ---- figures of a whole set
# ---------------------------------------------------------------------------------------------


def best_threshold(scores: list[float], answerable: list[bool], no_answer: list[float]) -> float:
    """The best mean over every threshold there is, each tried on all questions."""
    thresholds = [min(no_answer) - 1, *no_answer]
    rows = list(zip(scores, answerable, no_answer, strict=True))
    return max(
        sum(score if na <= limit else float(not has) for score, has, na in rows)
        for limit in thresholds
    ) / len(rows)


def official_best_threshold(
    scores: list[float], answerable: list[bool], no_answer: list[float]
) -> tuple[float, float]:
    """What SQuAD 2.0's script returns for rows in this order: a threshold is tried after every
    row.
    """
    best = current = float(answerable.count(False))
    threshold = 0.0
    for row in sorted(range(len(scores)), key=lambda row: no_answer[row]):
        current += scores[row] if answerable[row] else (0 if scores[row] > 0 else -1)
        if current > best:
            best, threshold = current, no_answer[row]
    return best / len(scores), threshold


def average_precision(scores: list[float], answerable: list[bool], no_answer: list[float]) -> float:
    """The area below precision and recall of answering, a threshold after every group of rows with
    one number.
    """
    area = last = 0.0
    for limit in sorted(set(no_answer)):
        answered = [row for row in range(len(scores)) if no_answer[row] <= limit]
        gained = sum(scores[row] for row in answered if answerable[row])
        recall = gained / answerable.count(True)
        area += gained / len(answered) * (recall - last)
        last = recall
    return area


# ---- sets of evidence
# --------------------------------------------------------------------------------------------------


def sets_of(grades: dict[str, dict[str, float]], rel: float) -> list[set[str]]:
    found: list[set[str]] = []
    for name in sorted(grades, key=lambda each: each.encode("utf-8", "surrogateescape")):
        items = {item for item, grade in grades[name].items() if grade >= rel}
        if items and items not in found:
            found.append(items)
    return found


def points(ranking: list[str], sets: list[set[str]]) -> list[Any]:
    """The list with each set of evidence as one point, at its last item; True where it is
    complete.
    """
    left = [set(each) for each in sets]
    listed: list[Any] = []
    for item in ranking:
        for number in [number for number, each in enumerate(left) if item in each]:
            partial = f"set {number}"
            if partial in listed:
                listed.remove(partial)
            left[number].remove(item)
            listed.append(partial if left[number] else True)
        if not any(item in each for each in sets):
            listed.append(False)
    return listed


def EvidenceRprec(
    ranking: list[str], grades: dict[str, dict[str, float]], *, rel: float = 1
) -> float:
    """The best R-precision over the sets."""
    return max(
        (len(each & set(ranking[: len(each)])) / len(each) for each in sets_of(grades, rel)),
        default=0.0,
    )


def complete(
    ranking: list[str], grades: dict[str, dict[str, float]], rel: float, k: int | None
) -> int:
    return sum(each is True for each in points(ranking, sets_of(grades, rel))[:k])


def EvidenceP(
    ranking: list[str], grades: dict[str, dict[str, float]], *, k: int, rel: float = 1
) -> float:
    """Complete sets among the first k points, over k."""
    return complete(ranking, grades, rel, k) / k


def EvidenceR(
    ranking: list[str], grades: dict[str, dict[str, float]], *, k: int | None = None, rel: float = 1
) -> float:
    """Complete sets among the first k points, over the distinct sets."""
    sets = sets_of(grades, rel)
    return complete(ranking, grades, rel, k) / len(sets) if sets else 0.0


def EvidenceSuccess(
    ranking: list[str], grades: dict[str, dict[str, float]], *, k: int, rel: float = 1
) -> float:
    """Whether there is a complete set among the first k points."""
    return float(complete(ranking, grades, rel, k) > 0)
