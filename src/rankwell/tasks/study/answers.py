"""The answers of all judges to the items of a pool, one grade for each item."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rankwell.data.tables import Bools, Floats
from rankwell.errors import BadInput, BadUsage, shown
from rankwell.tasks.study.folder import Study
from rankwell.tasks.study.journal import JournalLine, last_answers, line_of


@dataclass(frozen=True, eq=False)
class StudyAnswers:
    """The answers to the pool: (items,) grade, NaN where there is none; answered, also without a
    grade. judges: their names.
    """

    grade: Floats
    answered: Bools
    judges: tuple[str, ...]
    guidelines: tuple[str, ...]

    @classmethod
    def of(
        cls, study: Study, lines: Sequence[JournalLine], grade_by: str = "median"
    ) -> "StudyAnswers":
        """The answers of journals. Raises BadInput for an answer to an item outside the pool,
        BadUsage for an unknown judge.
        """
        answers = last_answers(lines)
        used_lines = [line for by_judge in answers.values() for line in by_judge.values()]
        judges = tuple(sorted({line.judge for line in used_lines}))
        if grade_by not in ("median", "first", *judges):
            raise BadUsage(
                f"--grade-by {shown(grade_by)}: expected median, first, or a judge: "
                f"{', '.join(judges) or 'none so far'}."
            )
        n_items = len(study.pool.item)
        grade, answered = np.full(n_items, np.nan), np.zeros(n_items, dtype=np.bool_)
        judged = {query for query, _ in answers}
        is_judged = np.array([query in judged for query in study.queries], dtype=np.bool_)
        rows = np.flatnonzero(is_judged[study.pool.query])
        for row, pair in zip(rows.tolist(), study.pairs(rows), strict=True):
            if by_judge := answers.pop(pair, None):
                answered[row] = True
                grade[row] = _grade(
                    {judge: line.grade for judge, line in by_judge.items()}, grade_by
                )
        if answers:
            raise outside_pool(study, *min(answers))
        return cls(grade, answered, judges, tuple(sorted({line.guideline for line in used_lines})))


def outside_pool(study: Study, query: str, item: str) -> BadInput:
    """The error for a judged item that was never pooled."""
    return BadInput(
        f"{line_of(study, query, item)}: item {shown(item)} of query {shown(query)} is judged, but "
        "not in the pool; remove the line."
    )


def _grade(grades: Mapping[str, float | None], grade_by: str) -> float:
    """The grade that counts of several judges' ones; NaN where none has one."""
    if grade_by not in ("median", "first"):
        grade = grades.get(grade_by)
        return np.nan if grade is None else grade
    by_name = [grade for _, grade in sorted(grades.items()) if grade is not None]
    if not by_name:
        return np.nan
    return by_name[0] if grade_by == "first" else sorted(by_name)[(len(by_name) - 1) // 2]
