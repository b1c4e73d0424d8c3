"""French answers: rules of rankwell's own, since no published ones treat elisions and typographic apostrophes."""

from rankwell.conventions import Convention, Reading, convention

_RULES = "normalizer='french',no_answer='normalized'"
_GROUPS = {"": "", "HasAns_": ",population='answerable'", "NoAns_": ",population='impossible'"}

FRENCH = convention(
    Convention(
        name="french",
        title="French, rankwell's own rules",
        source="rankwell 2025, after the French of FQuAD and PIAF",
        words={
            f"{group}{name}": f"{measure}({_RULES}{population})@1"
            for group, population in _GROUPS.items()
            for name, measure in (("exact", "AnswerEM"), ("f1", "AnswerF1"))
        },
        defaults=("exact", "f1"),
        unit="percent",
        reading=Reading(
            labels=tuple(f"{group}{name}" for group in _GROUPS for name in ("exact", "f1")),
            languages={"fr": "french"},
        ),
        notes=(
            "L'Ouganda, L’Ouganda and Ouganda are one answer; an answer that would vanish keeps its last form.",
            "FQuAD scored submissions privately; parity with its script is not claimed.",
        ),
    )
)
