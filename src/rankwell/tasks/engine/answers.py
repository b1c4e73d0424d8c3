"""What a person reads first of an engine: its scores and costs, or the best of its settings."""

from collections.abc import Mapping
from typing import Any

from rankwell.data.frames import Heading
from rankwell.data.tables import format_value
from rankwell.errors import count_of
from rankwell.reporting import Answer, PrintedFigure
from rankwell.reporting.outputs.answers import score_answer, score_digits

_MOST_SETTINGS = 5
_COST = "p50 service time (ms)"
_MARKS = {"best": "* no significant difference from the best", "recall": "* reaches the recall"}


def engine_answer(result: Any) -> Answer:
    """The scores and costs of a setting; of several the verdicts, the best settings by the first
    measure, and the one with the engine's defaults.
    """
    settings: list[Mapping[str, Any]] = list(result.settings)
    if len(settings) == 1:
        rows = [_with_unit(row) for row in result.summary if row["mean"] is not None]
        return score_answer(result, rows)
    labels = {labelled.label for labelled in result.measures}
    scores = [name for name in settings[0] if name in labels or name.startswith("Recall@")]
    if scores:
        better = result.measures[0].measure.entry.better if result.measures else "higher"
        sign = 1.0 if better == "lower" else -1.0
        settings.sort(key=lambda row: sign * (row[scores[0]] or 0.0))
    baseline = result.gain[0]["baseline"] if result.gain else None
    shown = [
        row
        for place, row in enumerate(settings)
        if place < _MOST_SETTINGS or (baseline and row["run"].endswith(f" {baseline}"))
    ]
    units = {values.label: values.unit for values in result.values} | {_COST: "ms"}
    rules = result.describe()

    def _cell(name: str, value: float | None) -> PrintedFigure:
        unit = units.get(name, "share")
        return PrintedFigure(format_value(value, unit, digits=score_digits(rules, unit)))

    # Of one engine all names begin with its name.
    first_word = settings[0]["run"].partition(" ")[0] + " "
    skipped = len(first_word) if all(row["run"].startswith(first_word) for row in settings) else 0
    table = [
        {
            "setting": row["run"][skipped:] + " *" * (row.get("best") == "best" or _reaches(row)),
            **{Heading(name): _cell(name, row[name]) for name in (*scores, _COST) if name in row},
        }
        for row in shown
    ]
    legend = [mark for name, mark in _MARKS.items() if name in settings[0]][-1:]
    if hidden := len(settings) - len(shown):
        legend.append(count_of(hidden, "more setting", "more settings"))
    verdicts = "\n".join(row["text"] for row in result.verdicts)
    return Answer(verdicts, table=table, legend=[" · ".join(legend)] if legend else [])


def _reaches(row: Mapping[str, Any]) -> bool:
    return row.get("recall") == "accepted"


def _with_unit(row: Any) -> Any:
    """A row of the summary, whose word has the unit of a cost."""
    if row["unit"] in ("share", "percent", "count", "score", "rank"):
        return row
    return type(row)({**row, "label": f"{row['label']} ({row['unit']})", "n": None})
