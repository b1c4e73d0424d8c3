"""What a person reads first of search for instances: how many photographs are recognised."""

import json
from typing import Any

from rankwell.reporting import Answer
from rankwell.reporting.answers import score_answer

_WORST = 2


def images_answer(result: Any) -> Answer:
    """The share of queries whose best reference is right, the scores, and the worst queries; of
    several runs the scores.
    """
    answer, rows = score_answer(result), result.summary
    if len(result.views) > 1:
        hint = "The highest mean need not be significantly higher; rankwell compare tests it."
        return answer._replace(legend=[hint])
    run, first = rows[0]["run"], next((row for row in rows if row["measure"] == "P@1"), None)
    if first is None or first["mean"] is None:
        return answer
    whole = 100 if first["unit"] == "percent" else 1
    share = first["mean"] / whole
    known = first.get("chance")
    chance = "" if known is None else f"; chance is {known / whole:.0%}"
    right, n = share * first["n"], first["n"]
    # A tie counts in part.
    is_whole = abs(right - round(right)) < 1e-6
    number, percentage = (f"{right:.0f}", f" ({share:.0%})") if is_whole else (f"{share:.0%}", "")
    sentence = f"{run} recognises {number} of {n} photographs{percentage}{chance}."
    details = result.details or {}
    columns = [details.get(name, ()) for name in ("query", "item", "rank", "detail")]
    taken_for = {
        query: f", taken for {json.loads(detail).get('label', item)}"
        for query, item, rank, detail in zip(*columns, strict=True)
        if rank == 1
    }
    worst = (query + taken_for.get(query, "") for query in result.worst(run)[:_WORST])
    measures = " and ".join(row["label"] for row in rows[:2])
    legend = [f"Worst by {measures}: {'; '.join(worst)}"] if right < n else []
    return answer._replace(sentence=sentence, legend=legend)
