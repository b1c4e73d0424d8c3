"""What a person reads first of search for instances: how many photographs are recognised."""

from typing import Any

from rankwell.reporting import Answer
from rankwell.reporting.outputs.answers import score_answer

_WORST = 2


def images_answer(result: Any) -> Answer:
    """The share of queries whose best reference is right, the scores, and the worst queries."""
    answer, run = score_answer(result), result.summary[0]["run"]
    first = next((row for row in result.summary if row["measure"] == "P@1"), None)
    if len(result.views) > 1 or first is None or first["mean"] is None:
        return answer
    whole = 100 if first["unit"] == "percent" else 1
    share = first["mean"] / whole
    known = first.get("chance")
    chance = "" if known is None else f"; chance is {known / whole:.0%}"
    right, n = share * first["n"], first["n"]
    # A tie counts in part.
    is_whole = abs(right - round(right)) < 1e-6
    recognised = f"{right:.0f} of {n} photographs ({share:.0%})"
    recognised = recognised if is_whole else f"{share:.0%} of {n} photographs"
    sentence = f"{run} recognises {recognised}{chance}."
    worst = result.worst(run)[:_WORST]
    return answer._replace(sentence=sentence, legend=[f"Worst: {', '.join(worst)}"])
