"""What a person reads first of text-video search: both directions side by side, and what can be
reached at most.
"""

from collections.abc import Sequence
from typing import Any

from rankwell.data.frames import Heading
from rankwell.data.tables import format_value
from rankwell.reporting import Answer, PrintedFigure, Row
from rankwell.reporting.outputs.answers import score_answer, score_digits, short_interval

_NAMES = {
    "t2v": "text to video",
    "v2t": "video to text",
    "v2t-videos": "video to text, among videos",
}


def crossmodal_answer(result: Any) -> Answer:
    """Of one run a column for each direction; of several runs their scores."""
    if len({row["run"] for row in result.summary}) > 1:
        return score_answer(result)
    rules, rows = result.describe(), result.summary
    directions = list(dict.fromkeys(row["direction"] for row in rows if row["direction"] in _NAMES))

    def _text(row: Row, value: float | None) -> str:
        return format_value(value, row["unit"], digits=score_digits(rules, row["unit"]))

    def _cell(row: Row | None) -> PrintedFigure:
        if row is None:
            return PrintedFigure("")
        if row["ci_low"] is None:
            return PrintedFigure(_text(row, row["mean"]))
        ends = f"[{_text(row, row['ci_low'])}, {_text(row, row['ci_high'])}]"
        return PrintedFigure(f"{_text(row, row['mean'])} {short_interval(ends)}")

    sizes = {row["direction"]: row["n"] for row in rows if row["direction"] in directions}
    place = {(row["label"], row["direction"]): row for row in rows}
    table = [
        {
            " ": label,
            **{
                Heading(f"{_NAMES[name]} ({sizes[name]})"): _cell(place.get((label, name)))
                for name in directions
            },
        }
        for label in dict.fromkeys(row["label"] for row in rows if row["direction"] in directions)
    ]
    others = [
        f"{row['label']} ({row['direction']}): {_text(row, row['mean'])}"
        for row in rows
        if row["direction"] not in directions
    ]
    first = [row for row in rows if row["label"] == rows[0]["label"]]
    first = [row for row in first if row["mean"] is not None and row["direction"] in directions]
    figures = [f"{_NAMES[row['direction']]} {_reached(row, _text)}" for row in first]
    sentence = f"{rows[0]['run']}: {rows[0]['label']} {', '.join(figures)}."
    percent = any(row["unit"] == "percent" for row in rows)
    interval = any(row["ci_low"] is not None for row in rows)
    parts = ["mean", *(["95% CI"] if interval else []), *(["R@K in percent"] if percent else [])]
    return Answer(
        sentence, " · ".join(parts), table=table, legend=[*others, *_chance(first, _text)]
    )


def _reached(row: Row, text: Any) -> str:
    ceiling, best = row.get("ceiling"), 100.0 if row["unit"] == "percent" else 1.0
    most = f" of at most {text(row, ceiling)}" if ceiling is not None and ceiling < best else ""
    return f"{text(row, row['mean'])}{most}"


def _chance(rows: Sequence[Row], text: Any) -> list[str]:
    known = [row for row in rows if row.get("chance") is not None]
    figures = [f"{text(row, row['chance'])} {_NAMES[row['direction']]}" for row in known]
    return [f"Chance of {known[0]['label']}: {', '.join(figures)}."] if known else []
