"""SQuAD 2.0: the official script."""

from rankwell.conventions import Convention, Reading, convention

_RULES = "no_answer='squad2',na_threshold=1"
_GROUPS = {"": "", "HasAns_": ",population='answerable'", "NoAns_": ",population='impossible'"}

SQUAD2 = convention(
    Convention(
        name="squad2",
        title="SQuAD 2.0, evaluate-v2.0.py",
        source="Rajpurkar, Jia and Liang 2018, Know what you don't know: Unanswerable questions for SQuAD",
        words={
            f"{group}{name}": f"{measure}({_RULES}{population})@1"
            for group, population in _GROUPS.items()
            for name, measure in (("exact", "AnswerEM"), ("f1", "AnswerF1"))
        },
        defaults=("exact", "f1"),
        unit="percent",
        reading=Reading(labels=tuple(f"{group}{name}" for group in _GROUPS for name in ("exact", "f1"))),
        notes=(
            "No answer is given where the no-answer probability is above the threshold, which is 1 unless it is set.",
            "The script's best_exact and best_f1 depend on the order of the file where probabilities tie; ours do not.",
            "The script fails on a question without a prediction; here it is 0, or the value requested.",
        ),
    )
)
