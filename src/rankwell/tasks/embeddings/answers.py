"""What a person reads first of a comparison of models: the share of neighbours that each keeps."""

from typing import Any

from rankwell.reporting import Answer
from rankwell.reporting.outputs.answers import score_answer


def embeddings_answer(result: Any) -> Answer:
    """The share of the reference's neighbours that each candidate keeps, and all scores."""
    answer = score_answer(result)
    rows = [
        row
        for row in result.summary
        if row["measure"] == f"Overlap@{row['k']}" and row["mean"] is not None
    ]
    deepest = max((row["k"] for row in rows), default=None)
    rows = sorted(
        (row for row in rows if row["k"] == deepest), key=lambda row: row["mean"], reverse=True
    )
    if not rows:
        return answer
    items = "nearest neighbour" if result.panel.rows else "first result"
    items = items if deepest == 1 else f"{deepest} {items}s"
    kept = [f"{row['run']} keeps {row['mean']:.0%}" for row in rows]
    chance = rows[0].get("chance")
    by_chance = "" if chance is None else f" Chance: {chance:.1%}."
    sentence = f"Of the {items} of {result.reference}, {', '.join(kept)}.{by_chance}"
    return answer._replace(sentence=sentence)
